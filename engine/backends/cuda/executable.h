// A module compiled for one CUDA device: its kernels, and the host program that launches them.
#pragma once

#include <map>
#include <vector>

#include "backends/codegen/compile.h"
#include "backends/cuda/device.h"
#include "backends/host_program.h"
#include "backends/launch_memory.h"

namespace unisono::cuda {

class CudaExecutable final : public Executable {
  public:
    CudaExecutable(CudaDevice& device, ir::Module module, const CompileOptions& options);
    ~CudaExecutable() override;
    CudaExecutable(const CudaExecutable&) = delete;
    CudaExecutable& operator=(const CudaExecutable&) = delete;

    Fault launch(const LaunchArgs& args) override;
    void check(const LaunchArgs& args) const override;
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return ptx_; }
    Listing listing() const override;

  private:
    struct Kernel {
        std::size_t function;  ///< index in the module
        cuda::Function handle = nullptr;
        std::int64_t max_group = 1;  ///< work-items of a group with this kernel's registers
        std::vector<codegen::Scratch> scratch;
    };

    /// Memory that the kernels of one launch share.
    struct LaunchState {
        LaunchMemory::Block fault, results;
        std::map<std::int32_t, LaunchMemory::Block> scratch;  ///< by array
    };

    class Launcher;
    void load();
    /// Starts a kernel and waits for its fault, if there may be one.
    Fault run_kernel(const Kernel& kernel, const LaunchArgs& args, const LaunchState& state);
    void release() noexcept;
    NDRange range_of(const Kernel& kernel, const LaunchArgs& args) const;
    void choose_local(const Kernel& kernel, NDRange& range) const;
    LaunchState prepare() const;
    void start(const Kernel& kernel, const NDRange& range, const LaunchArgs& args,
               const LaunchState& state);
    Fault read_fault(const NDRange& range, const LaunchState& state) const;

    CudaDevice& device_;
    std::shared_ptr<const passes::HostProgram> host_;  ///< null: the user launches the only kernel
    ir::Module module_;                                ///< lowered
    std::string ptx_;
    cuda::Module loaded_ = nullptr;
    std::vector<Kernel> kernels_;
    std::vector<ir::FaultSite> sites_;
    std::vector<std::size_t> position_;  ///< per parameter: among the arrays or the scalars
    std::size_t results_ = 0;            ///< most of any kernel
};

}  // namespace unisono::cuda
