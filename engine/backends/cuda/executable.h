// A module compiled for one CUDA device: its kernels, and the host program that launches them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "backends/codegen/compile.h"
#include "backends/cuda/device.h"
#include "backends/host/program.h"
#include "backends/listing.h"
#include "backends/memory/launch_memory.h"
#include "backends/noted_lines.h"

namespace unisono::cuda {

class CudaExecutable final : public Executable {
  public:
    /// Without a host program the user launches the module's only kernel.
    CudaExecutable(CudaDevice& device, ir::Module lowered,
                   std::shared_ptr<const passes::HostProgram> host, std::string ptx,
                   const CompileOptions& options);
    ~CudaExecutable() override;
    CudaExecutable(const CudaExecutable&) = delete;
    CudaExecutable& operator=(const CudaExecutable&) = delete;

    Fault launch(const LaunchArgs& args) override;
    std::shared_ptr<const PendingFault> submit(const LaunchArgs& args) override;
    void check(const LaunchArgs& args) override;
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return ptx_; }
    Listing listing() const override;

  private:
    struct Kernel {
        std::size_t function;  ///< index in the module
        cuda::Function handle = nullptr;
        std::int64_t max_group = 1;  ///< work-items of a group with this kernel's registers
        std::int64_t group = 1, large_group = 1;  ///< that keep the most threads busy
        std::vector<codegen::Scratch> scratch;
        std::vector<std::int32_t> slots;
    };

    /// Memory that the kernels of one launch share.
    struct LaunchState {
        LaunchMemory::Block fault, results;
        std::map<std::int32_t, LaunchMemory::Block> scratch;  ///< by array
        std::optional<LaunchLines> lines;                     ///< of kernels that print
        std::span<const SlotMemory> slots;  ///< by array, of the kernel that is started next
        std::int64_t number = 0;            ///< of that kernel among those started
    };

    class Faults;
    class Launcher;
    void find_kernels();
    void find_groups(Kernel& kernel) const;
    Resources resources_of(const Kernel& kernel) const;
    std::int64_t group_for(const Kernel& kernel, const NDRange& range) const;
    LaunchState prepare() const;
    /// Starts a launch. `faults` is null where nothing can go wrong any more.
    HostEnd start(const LaunchArgs& args, LaunchState& state, std::shared_ptr<Faults>& faults);
    void start_kernel(const Kernel& kernel, const LaunchArgs& args, const LaunchState& state);
    void enqueue(const Kernel& kernel, const NDRange& range, const LaunchArgs& args,
                 const LaunchState& state);
    NDRange range_of(const Kernel& kernel, const LaunchArgs& args) const;
    void choose_local(const Kernel& kernel, std::span<const ArrayArg> arrays, NDRange& range) const;

    CudaDevice& device_;
    ir::Module module_;  ///< lowered
    std::shared_ptr<const passes::HostProgram> host_;
    std::string ptx_;
    std::shared_ptr<LoadedModule> loaded_;
    std::vector<Kernel> kernels_;
    std::vector<ir::FaultSite> sites_;
    std::vector<std::size_t> position_;  ///< per parameter: among the arrays or the scalars
    std::size_t results_ = 0;            ///< most of any kernel
};

}  // namespace unisono::cuda
