// The back end "interp": one device on host memory whose kernels are interpreted and fully checked.
#include <cstring>

#include "backends/backend.h"
#include "backends/host_range.h"
#include "backends/interp/interpreter.h"
#include "core/pool.h"
#include "ir/build.h"
#include "passes/lower.h"

namespace unisono::interp {
namespace {

class InterpExecutable final : public Executable {
  public:
    explicit InterpExecutable(ir::Module module) : module_(std::move(module)) {
        is_kernel_ = module_.entry().is_kernel;
        dimensions_ = module_.entry().dimensions;
        passes::Target target;
        target.keep_checks_visible = true;
        passes::lower(module_, target);
        sites_ = passes::all_sites(module_);
    }

    Fault launch(const LaunchArgs& args) override {
        if (!is_kernel_) return interpret(module_, args.arrays, args.scalars, args.results);
        auto scalars = host_range_scalars(args.scalars, args.range, dimensions_);
        return interpret(module_, args.arrays, scalars, args.results);
    }

    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return ir::print(module_); }

  private:
    ir::Module module_;
    bool is_kernel_;
    int dimensions_;
    std::vector<ir::FaultSite> sites_;
};

class InterpDevice final : public Device {
  public:
    InterpDevice() {
        info_.name = "interp";
        info_.kind = "cpu";
        info_.vendor = "Unisono";
        info_.description = "interpreter of kernel IR, checks every access";
        info_.memory_bytes = pool::limit();
        info_.max_work_group_size = 1024;
        info_.max_work_item_sizes = {1024, 1024, 1024};
        info_.local_memory_bytes = 1 << 20;
        info_.host_memory = true;
    }

    const DeviceInfo& info() const override { return info_; }

    Memory allocate(std::int64_t bytes) override {
        return {reinterpret_cast<std::uintptr_t>(pool::allocate(bytes)), bytes};
    }
    void free(Memory m) noexcept override {
        pool::free(reinterpret_cast<void*>(m.handle), m.bytes);
    }
    void copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) override {
        std::memmove(at(to, offset), from, static_cast<std::size_t>(bytes));
    }
    void copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) override {
        std::memmove(to, at(from, offset), static_cast<std::size_t>(bytes));
    }
    void copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
              std::int64_t bytes) override {
        std::memmove(at(to, to_offset), at(from, from_offset), static_cast<std::size_t>(bytes));
    }
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions&) override {
        return std::make_unique<InterpExecutable>(std::move(module));
    }
    void synchronize() override {}

  private:
    static char* at(Memory m, std::int64_t offset) {
        return reinterpret_cast<char*>(m.handle) + offset;
    }
    DeviceInfo info_;
};

class InterpBackend final : public Backend {
  public:
    std::string_view name() const override { return "interp"; }
    std::vector<Device*> devices() override {
        static InterpDevice device;
        return {&device};
    }
    std::vector<std::string> report() override { return {"interp: built in, present"}; }
};

InterpBackend backend;
const Registration registration(backend);

}  // namespace
}  // namespace unisono::interp
