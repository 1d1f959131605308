// The back end "cpu": the host itself, with compiled kernels on threads.
#include <cstring>
#include <fstream>

#include "backends/codegen/cache.h"
#include "backends/codegen/plugin.h"
#include "backends/cpu/executable.h"
#include "core/pool.h"
#include "core/threads.h"

namespace unisono::cpu {

namespace {

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "processor";
}

class CpuDevice final : public Device {
  public:
    CpuDevice() {
        info_.name = "cpu";
        info_.kind = "cpu";
        info_.description = processor_name();
        info_.vendor = info_.description.substr(0, info_.description.find(' '));
        info_.compute_units = available_cpus();
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
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions& options) override {
        return std::make_unique<CpuExecutable>(std::move(module), options);
    }
    void synchronize() override {}

  private:
    static char* at(Memory m, std::int64_t offset) {
        return reinterpret_cast<char*>(m.handle) + offset;
    }
    DeviceInfo info_;
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
