// One CUDA device, used through the driver and its primary context.
#pragma once

#include "backends/backend.h"
#include "backends/cuda/api.h"
#include "backends/cuda/queue.h"
#include "backends/launch_memory.h"

namespace unisono::cuda {

class CudaDevice final : public unisono::Device {
  public:
    CudaDevice(const Api& api, int ordinal);

    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override;
    void free(Memory memory) noexcept override;
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override;
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override;
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override;
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override;
    void synchronize() override;
    /// Kernels are launched into the context's default stream, which has no object.
    NativeHandles native() override {
        enter();
        return {"cuda", context_, reinterpret_cast<void*>(static_cast<std::intptr_t>(device_)),
                nullptr};
    }

    CudaQueue* own_queue() override { return &queue_; }
    LaunchMemory& launch_memory() { return launch_memory_; }

    const Api& api() const { return api_; }
    /// Makes the device's context current on this thread.
    void enter() const;
    /// Throws where result is not 0.
    void check(Result result, const char* call) const { cuda::check(api_, result, call); }
    /// What PTX is generated for: "sm_80", "+ptx70".
    const std::string& architecture() const { return architecture_; }
    const std::string& ptx_version() const { return ptx_version_; }

  private:
    int attribute(DeviceAttribute a) const;
    void choose_architecture(int capability);

    const Api& api_;
    cuda::Device device_ = 0;
    Context context_ = nullptr;
    DeviceInfo info_;
    std::string architecture_, ptx_version_;
    CudaQueue queue_{*this};
    LaunchMemory launch_memory_{*this, queue_};
};

}  // namespace unisono::cuda
