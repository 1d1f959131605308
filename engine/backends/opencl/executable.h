// A module compiled for one OpenCL device: its kernels, and the host program that launches them.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/c_source/program.h"
#include "backends/host/program.h"
#include "backends/memory/launch_memory.h"
#include "backends/noted_lines.h"
#include "backends/opencl/device.h"

namespace unisono::opencl {

class OpenCLExecutable final : public Executable {
  public:
    /// Of a user's kernel that has several versions.
    struct Version {
        bool builds_late = false;   ///< at the first launch
        bool fills_groups = false;  ///< is launched where fills_groups() says so
    };
    /// Without a host program the user launches the module's only kernel.
    OpenCLExecutable(OpenCLDevice& device, ir::Module module,
                     std::shared_ptr<const passes::HostProgram> host, c_source::Program program,
                     const CompileOptions& options, Version version);
    ~OpenCLExecutable() override;
    OpenCLExecutable(const OpenCLExecutable&) = delete;
    OpenCLExecutable& operator=(const OpenCLExecutable&) = delete;

    Fault launch(const LaunchArgs& args) override;
    std::shared_ptr<const PendingFault> submit(const LaunchArgs& args) override;
    void check(const LaunchArgs& args) override;
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return program_.source; }
    Listing listing() const override;
    /// Whether no range of a user's kernel would be made larger.
    bool fills_groups(const LaunchArgs& args) const;

  private:
    struct Kernel {
        cl_kernel kernel = nullptr;
        std::int64_t max_group = 1;  ///< work-items of a group with this kernel's registers
        // What its arguments are set to; empty where that is not known.
        std::vector<std::uintptr_t> set;  ///< buffers, by argument
        std::vector<std::byte> numbers;
        std::uint64_t released = 0;  ///< OpenCLDevice::released() at that time
    };
    /// Memory that the kernels of one launch share.
    struct LaunchState {
        LaunchMemory::Block fault, results;
        Memory fault_memory;     ///< in `fault`, or that of the host too
        bool may_fault = false;  ///< a kernel has a record of faults
        std::map<std::int32_t, LaunchMemory::Block> scratch;  ///< by array
        std::optional<LaunchLines> lines;                     ///< of kernels that print
        std::span<const SlotMemory> slots;  ///< by array, of the kernel that is started next
        std::int64_t number = 0;            ///< of that kernel among those started
    };

    void build();
    /// Built, if that was left for the first launch.
    void make_ready();
    void create_kernels();
    void check_local_memory(cl_kernel kernel, std::int64_t declared) const;
    void release() noexcept;
    class Faults;
    class Launcher;
    LaunchState prepare() const;
    /// Starts a launch. `faults` is null where nothing can go wrong any more.
    HostEnd start(const LaunchArgs& args, LaunchState& state, std::shared_ptr<Faults>& faults);
    /// Starts a kernel; false where its range is empty.
    bool start_kernel(std::size_t index, const LaunchArgs& args, const LaunchState& state);
    void set_arguments(std::size_t index, const LaunchArgs& args, const LaunchState& state);
    bool gather_numbers(std::size_t index, std::int64_t bytes, const LaunchArgs& args,
                        const LaunchState& state);
    std::int64_t value_of(const c_source::Number& number, const LaunchArgs& args,
                          const LaunchState& state) const;
    NDRange range_of(std::size_t index, const LaunchArgs& args) const;
    std::int64_t group_items(const NDRange& range) const;
    void choose_local(std::size_t index, NDRange& range) const;
    void fill_local(bool may_round, std::int64_t most, NDRange& range) const;
    void check_local(std::size_t index, const NDRange& range) const;
    void enqueue(std::size_t index, const NDRange& range);

    OpenCLDevice& device_;
    ir::Module module_;
    std::shared_ptr<const passes::HostProgram> host_;
    c_source::Program program_;
    const CompileOptions options_;
    const Version version_;
    std::once_flag built_once_;
    std::shared_ptr<BuiltProgram> built_;
    std::vector<Kernel> kernels_;
    std::vector<std::size_t> kernel_of_;  ///< by function of the module
    std::vector<ir::FaultSite> sites_;
    std::vector<std::int32_t>
        position_;      ///< per parameter: index among the arrays or among the scalars
    std::mutex mutex_;  ///< arguments of a cl_kernel belong to one launch, until it is enqueued
};

}  // namespace unisono::opencl
