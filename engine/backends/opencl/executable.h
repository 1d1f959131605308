// A module compiled for one OpenCL device: its kernels, launched in order.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/c_source/program.h"
#include "backends/launch_memory.h"
#include "backends/opencl/device.h"

namespace unisono::opencl {

class OpenCLExecutable final : public Executable {
  public:
    OpenCLExecutable(OpenCLDevice& device, ir::Module module, c_source::Program program,
                     const CompileOptions& options);
    ~OpenCLExecutable() override;
    OpenCLExecutable(const OpenCLExecutable&) = delete;
    OpenCLExecutable& operator=(const OpenCLExecutable&) = delete;

    Fault launch(const LaunchArgs& args) override;
    std::unique_ptr<PendingFault> submit(const LaunchArgs& args) override;
    void check(const LaunchArgs& args) const override;
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return program_.source; }

  private:
    struct Kernel {
        cl_kernel kernel = nullptr;
        std::int64_t max_group = 1;  ///< work-items of a group with this kernel's registers
    };
    /// Memory that the kernels of one launch share.
    struct LaunchState {
        LaunchMemory::Block fault, results;
        std::map<std::int32_t, LaunchMemory::Block> scratch;  ///< by array
    };

    void create_kernels();
    void release() noexcept;
    class Faults;
    LaunchState prepare() const;
    std::shared_ptr<Faults> enqueue_all(const LaunchArgs& args, const LaunchState& state);
    void set_arguments(std::size_t index, const LaunchArgs& args, const LaunchState& state);
    NDRange range_of(std::size_t index, const LaunchArgs& args) const;
    std::int64_t group_items(const NDRange& range) const;
    void choose_local(std::size_t index, NDRange& range) const;
    void check_local(std::size_t index, const NDRange& range) const;
    void enqueue(std::size_t index, const NDRange& range);

    OpenCLDevice& device_;
    ir::Module module_;
    c_source::Program program_;
    std::shared_ptr<BuiltProgram> built_;
    std::vector<Kernel> kernels_;
    std::vector<ir::FaultSite> sites_;
    std::vector<std::int32_t>
        position_;      ///< per parameter: index among the arrays or among the scalars
    std::mutex mutex_;  ///< arguments of a cl_kernel belong to one launch, until it is enqueued
};

}  // namespace unisono::opencl
