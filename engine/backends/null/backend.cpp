// The back end "null": compiles for the host and for devices without running, so that pipelines can
// be tested anywhere.
//
// "null:host" lowers as a CPU does, "null:device" as a GPU does. Memory has sizes and no contents;
// a launch is an error.
#include "backends/backend.h"
#include "ir/build.h"
#include "passes/lower.h"

namespace unisono::null {
namespace {

class NullExecutable final : public Executable {
  public:
    NullExecutable(ir::Module module, passes::TargetKind kind) : module_(std::move(module)) {
        passes::Target target;
        target.kind = kind;
        passes::lower(module_, target);
        ir::verify(module_);
        sites_ = passes::all_sites(module_);
    }

    Fault launch(const LaunchArgs&) override {
        fail(
            ErrorKind::Unsupported,
            "launch: the device null only compiles; expected a device that runs; see un.devices()");
    }
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return ir::print(module_); }

  private:
    ir::Module module_;
    std::vector<ir::FaultSite> sites_;
};

class NullDevice final : public Device {
  public:
    NullDevice(const char* name, const char* kind, passes::TargetKind target) : target_(target) {
        info_.name = name;
        info_.kind = kind;
        info_.vendor = "Unisono";
        info_.description = "compiles and runs nothing";
        info_.max_work_group_size = 1024;
        info_.max_work_item_sizes = {1024, 1024, 64};
        info_.local_memory_bytes = 48 << 10;
    }

    const DeviceInfo& info() const override { return info_; }
    Memory allocate(std::int64_t bytes) override { return {0, bytes}; }
    void free(Memory) noexcept override {}
    void copy_in(Memory, std::int64_t, const void*, std::int64_t) override { refuse(); }
    void copy_out(void*, Memory, std::int64_t, std::int64_t) override { refuse(); }
    void copy(Memory, std::int64_t, Memory, std::int64_t, std::int64_t) override { refuse(); }
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions&) override {
        return std::make_unique<NullExecutable>(std::move(module), target_);
    }
    void synchronize() override {}

  private:
    [[noreturn]] static void refuse() {
        fail(ErrorKind::Unsupported,
             "copy: the device null holds no data; expected a device that runs; see un.devices()");
    }
    DeviceInfo info_;
    passes::TargetKind target_;
};

class NullBackend final : public Backend {
  public:
    std::string_view name() const override { return "null"; }
    std::vector<Device*> devices() override {
        static NullDevice host("null:host", "cpu", passes::TargetKind::Host);
        static NullDevice device("null:device", "gpu", passes::TargetKind::Device);
        return {&host, &device};
    }
    std::vector<std::string> report() override { return {"null: built in, compiles only"}; }
};

NullBackend backend;
const Registration registration(backend);

}  // namespace
}  // namespace unisono::null
