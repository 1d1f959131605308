// The back end "cpu": the host itself, with compiled kernels on threads.
#include <fstream>

#include "backends/codegen/cache.h"
#include "backends/codegen/plugin.h"
#include "backends/cpu/executable.h"
#include "backends/host/device.h"
#include "core/threads/threads.h"

namespace unisono::cpu {

namespace {

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "processor";
}

class CpuDevice final : public HostDevice {
  public:
    CpuDevice() : HostDevice("cpu") {
        info_.description = processor_name();
        info_.vendor = info_.description.substr(0, info_.description.find(' '));
        info_.compute_units = available_cpus();
    }

    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override {
        return std::make_unique<CpuExecutable>(std::move(module), options);
    }
};

class CpuBackend final : public Backend {
  public:
    std::string_view name() const override { return "cpu"; }
    std::vector<Device*> devices() override {
        static CpuDevice& device = *new CpuDevice;  // freed memory may come back very late
        return {&device};
    }
    std::vector<std::string> report() override {
        std::vector<std::string> lines;
        lines.push_back("cpu: " + processor_name() + ", " + std::to_string(thread_count()) +
                        " threads");
        try {
            codegen::llvm_plugin();
            lines.push_back("cpu: compiler plugin present");
        } catch (const Error& e) {
            lines.push_back(std::string("cpu: ") + e.what());
        }
        codegen::DiskCache cache;
        lines.push_back("cpu: kernel cache " + cache.folder() +
                        (cache.refusal().empty() ? "" : " is not used: " + cache.refusal()));
        return lines;
    }
};

CpuBackend backend;
const Registration registration(backend);

}  // namespace

}  // namespace unisono::cpu
