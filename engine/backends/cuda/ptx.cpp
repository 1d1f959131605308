// Lowers, compiles through the LLVM plugin, assembles through nvJitLink.
#include "backends/cuda/ptx.h"

#include <dlfcn.h>

#include "backends/codegen/cache.h"
#include "backends/codegen/plugin.h"
#include "ir/rewrite.h"
#include "passes/lower.h"

namespace unisono::cuda {

namespace {

/// Kernels here know the memory of parameters and scratch only.
class RefuseSlots final : public ir::Visitor {
  public:
    explicit RefuseSlots(const ir::Function& f) : f_(f) {}
    void expr(ir::E e) override {
        if (e->kind == ir::ExprKind::Load) test(e->id, e->line);
        children(e);
    }
    void stmt(ir::S s) override {
        if (s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Atomic) test(s->id, s->line);
        children(s);
    }

  private:
    void test(std::int32_t array, ir::Line line) const {
        if (!f_.arrays[static_cast<std::size_t>(array)].is_slot) return;
        fail(ErrorKind::Unsupported,
             f_.name + " (line " + std::to_string(line.line) +
                 "): an array that is made in the function, or a variable that holds one of "
                 "several, cannot be used on this device; pass it as an argument");
    }
    const ir::Function& f_;
};

}  // namespace

ir::Module lower_for_device(ir::Module module, std::shared_ptr<const passes::HostProgram>* host) {
    passes::Target target;
    target.kind = passes::TargetKind::Device;
    auto made = passes::lower(module, target);
    if (host) *host = std::move(made);
    for (const ir::Function& f : module.functions) {
        if (!f.grid.empty()) RefuseSlots(f).stmt(f.body);
    }
    return module;
}

std::string write_ptx(const ir::Module& lowered, const std::string& architecture,
                      const std::string& ptx_version, bool use_cache) {
    codegen::Target target;
    target.kind = codegen::Target::Kind::Ptx;
    target.cpu = architecture;
    target.features = ptx_version;
    static const codegen::DiskCache disk;
    std::string key = "build " + codegen::build_id() + "\n" + architecture + ptx_version + "\n" +
                      ir::print(lowered);
    std::string ptx = use_cache ? disk.find(key) : std::string();
    if (!ptx.empty()) return ptx;
    ptx = codegen::compile(lowered, target).code;
    if (use_cache) disk.store(key, ptx);
    return ptx;
}

namespace {

/// The functions of nvJitLink; their names carry no version but in some releases.
struct Linker {
    using Handle = struct LinkerHandle*;
    int (*create)(Handle*, std::uint32_t, const char**) = nullptr;
    int (*destroy)(Handle*) = nullptr;
    int (*add_data)(Handle, int, const void*, std::size_t, const char*) = nullptr;
    int (*complete)(Handle) = nullptr;
    int (*cubin_size)(Handle, std::size_t*) = nullptr;
    int (*cubin)(Handle, void*) = nullptr;
    int (*log_size)(Handle, std::size_t*) = nullptr;
    int (*log)(Handle, char*) = nullptr;
};

constexpr int input_is_ptx = 2;

void* open_linker(const std::string& library) {
    if (!library.empty()) return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    for (const char* name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"}) {
        if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    }
    return nullptr;
}

template <class F>
bool find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    // The header maps each name to one with the release's number in front.
    for (int release = 0; !function && release < 10; ++release) {
        for (int major : {12, 13}) {
            std::string versioned = "__" + std::string(name) + "_" + std::to_string(major) + "_" +
                                    std::to_string(release);
            if (!function) function = reinterpret_cast<F>(dlsym(library, versioned.c_str()));
        }
    }
    return function != nullptr;
}

Linker load_linker(const std::string& path) {
    Linker l;
    void* library = open_linker(path);
    bool all = library && find(library, "nvJitLinkCreate", l.create) &&
               find(library, "nvJitLinkDestroy", l.destroy) &&
               find(library, "nvJitLinkAddData", l.add_data) &&
               find(library, "nvJitLinkComplete", l.complete) &&
               find(library, "nvJitLinkGetLinkedCubinSize", l.cubin_size) &&
               find(library, "nvJitLinkGetLinkedCubin", l.cubin) &&
               find(library, "nvJitLinkGetErrorLogSize", l.log_size) &&
               find(library, "nvJitLinkGetErrorLog", l.log);
    if (!all) {
        fail(ErrorKind::Unsupported,
             "assemble: nvJitLink cannot be loaded; got '" + path +
                 "'; expected libnvJitLink.so.12 or later; install the package nvidia-nvjitlink");
    }
    return l;
}

}  // namespace

std::string assemble(const std::string& ptx, const std::string& architecture,
                     const std::string& library) {
    Linker l = load_linker(library);
    std::string option = "-arch=" + architecture;
    const char* options[] = {option.c_str()};
    Linker::Handle handle = nullptr;
    int status = l.create(&handle, 1, options);
    std::string cubin, log;
    if (status == 0)
        status = l.add_data(handle, input_is_ptx, ptx.c_str(), ptx.size() + 1, "kernel");
    if (status == 0) status = l.complete(handle);
    std::size_t size = 0;
    if (status == 0) status = l.cubin_size(handle, &size);
    if (status == 0) {
        cubin.resize(size);
        status = l.cubin(handle, cubin.data());
    } else if (handle && l.log_size(handle, &size) == 0) {
        log.resize(size);
        l.log(handle, log.data());
    }
    if (handle) l.destroy(&handle);
    if (status != 0) {
        fail(ErrorKind::Compile, "assemble: nvJitLink refused the PTX for " + architecture +
                                     "; got code " + std::to_string(status) + ": " + log);
    }
    return cubin;
}

}  // namespace unisono::cuda
