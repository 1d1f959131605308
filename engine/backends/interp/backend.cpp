// The back end "interp": one device on host memory whose kernels are interpreted and fully checked.
#include "backends/host/device.h"
#include "backends/host/range.h"
#include "backends/interp/interpreter.h"
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

class InterpDevice final : public HostDevice {
  public:
    InterpDevice() : HostDevice("interp") {
        info_.vendor = "Unisono";
        info_.description = "interpreter of kernel IR, checks every access";
    }

    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions&) override {
        return std::make_unique<InterpExecutable>(std::move(module));
    }
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
