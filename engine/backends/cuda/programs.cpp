// Loads modules: machine code that the driver made of the PTX in an earlier process, or makes now.
#include "backends/codegen/cache.h"
#include "backends/cuda/device.h"
#include "backends/cuda/executable.h"
#include "backends/cuda/ptx.h"
#include "core/error.h"
#include "core/settings.h"

namespace unisono::cuda {

namespace {

/// Where the driver writes what it has to say.
struct Log {
    std::string text = std::string(4096, '\0');
    int keys[2] = {error_log, error_log_bytes};
    void* values[2] = {text.data(), reinterpret_cast<void*>(text.size())};
    std::string said() const { return text.substr(0, text.find('\0')); }
};

}  // namespace

LoadedModule::~LoadedModule() {
    if (!module || !device.is_usable() || device.is_lost()) return;
    try {
        const CudaDevice::Entered entered(device);
        device.note_lost(device.api().module_unload(module));
    } catch (const Error&) {  // the device was just lost
    }
}

Result CudaDevice::load_image(const std::string& image, Module& module, std::string& log) const {
    Log said;
    const Result result = api_.module_load_data(&module, image.c_str(), 2, said.keys, said.values);
    log = said.said();
    return result;
}

/// Machine code of the PTX for this device.
std::string CudaDevice::link(const std::string& ptx) const {
    Log said;
    Link link = nullptr;
    check(api_.link_create(2, said.keys, said.values, &link), "cuLinkCreate");
    void* cubin = nullptr;
    std::size_t bytes = 0;
    std::string text = ptx;
    Result result = api_.link_add_data(link, input_is_ptx, text.data(), text.size() + 1, "kernels",
                                       0, nullptr, nullptr);
    if (result == 0) result = api_.link_complete(link, &cubin, &bytes);
    std::string made;
    if (result == 0) made.assign(static_cast<const char*>(cubin), bytes);
    api_.link_destroy(link);
    if (result != 0 && !note_lost(result)) {
        fail(ErrorKind::Internal, "device '" + info_.name +
                                      "': the driver refused the generated PTX; got " +
                                      error_name(api_, result) + ": " + said.said());
    }
    check(result, "cuLinkComplete");
    return made;
}

std::shared_ptr<LoadedModule> CudaDevice::load(const std::string& ptx,
                                               const CompileOptions& options) {
    std::lock_guard lock(modules_mutex_);
    if (auto known = modules_[ptx].lock()) return known;
    const Entered entered(*this);
    auto made = std::make_shared<LoadedModule>(*this);
    static const codegen::DiskCache disk;
    const bool use_disk = options.use_cache && !options.debug;
    const std::string key = "cubin\n" + std::to_string(driver_) + "\n" + info_.description + "\n" +
                            std::to_string(capability_) + "\n" + ptx;
    std::string log;
    const std::string stored = use_disk ? disk.find(key) : std::string();
    if (stored.empty() || load_image(stored, made->module, log) != 0) {
        const std::string cubin = link(ptx);
        check(load_image(cubin, made->module, log), "cuModuleLoadData");
        if (use_disk) disk.store(key, cubin);
    }
    modules_[ptx] = made;
    std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
    return made;
}

std::unique_ptr<Executable> CudaDevice::compile(ir::Module module, const CompileOptions& options) {
    std::shared_ptr<const passes::HostProgram> host;
    ir::Module lowered = lower_for_device(std::move(module), &host);
    const PtxTarget target{architecture_, ptx_version_, options.fastmath, options.use_cache};
    std::string ptx = write_ptx(lowered, target);
    if (debug_level() >= 4) debug_log("PTX for " + info_.name + "\n" + ptx);
    if (api_.take_kernels) api_.take_kernels(ptx.c_str(), write_llvm_ir(lowered, target).c_str());
    return std::make_unique<CudaExecutable>(*this, std::move(lowered), std::move(host),
                                            std::move(ptx), options);
}

}  // namespace unisono::cuda
