// CLBlast in front of the portable algorithms, where the user's machine has it.
//
// Its kernels are tuned for GPUs and know nothing of a CPU's caches: a device that is a CPU
// multiplies by them only where the user names the library's folder.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "backends/device_libraries.h"

namespace unisono::opencl {

class OpenCLDevice;

class OpenCLLibraries final : public DeviceLibraries {
  public:
    explicit OpenCLLibraries(OpenCLDevice& device) : device_(device) {}

    std::vector<std::string> report() override;
    bool multiply(const LibraryProduct& product) override;
    /// Loads the library where it may be used.
    bool are_wanted() const;

  private:
    void note_failure(int status);

    OpenCLDevice& device_;
    std::atomic<bool> work_{true};
};

}  // namespace unisono::opencl
