// Lowers, compiles through the LLVM plugin, assembles through nvJitLink.
#include "backends/cuda/ptx.h"

#include <dlfcn.h>

#include <utility>
#include <vector>

#include "backends/codegen/cache.h"
#include "backends/codegen/plugin.h"
#include "core/error.h"
#include "ir/build.h"
#include "ir/rewrite.h"
#include "passes/lower.h"

namespace unisono::cuda {

namespace {

/// What kernels, and the functions that they call, cannot do.
class Refusals final : public ir::Visitor {
  public:
    explicit Refusals(const ir::Module& module)
        : module_(module), states_(module.functions.size(), State::New) {}

    void function(std::size_t index) {
        if (states_[index] == State::Done || !module_.functions[index].body) return;
        const ir::Function* outer = std::exchange(function_, &module_.functions[index]);
        if (states_[index] == State::Open)
            refuse({}, "a recursive function cannot run on this device; write it as a loop");
        states_[index] = State::Open;
        stmt(function_->body);
        states_[index] = State::Done;
        function_ = outer;
    }

    void stmt(ir::S s) override {
        switch (s->kind) {
            case ir::StmtKind::Make:
            case ir::StmtKind::Point:
            case ir::StmtKind::Retain:
                refuse(s->line,
                       "in a parallel loop on this device an array variable must stay one array, "
                       "and an array that is made must have a constant, small size");
            case ir::StmtKind::Try: refuse(s->line, "exceptions are caught on the host only");
            case ir::StmtKind::Call: function(static_cast<std::size_t>(s->id)); break;
            default: break;
        }
        children(s);
    }

  private:
    enum class State : std::uint8_t { New, Open, Done };

    [[noreturn]] void refuse(ir::Line where, const std::string& what) const {
        SourcePlace place;
        if (where.line > 0) {
            place.line = where.line;
            place.column = where.column;
            if (where.file < function_->files.size()) place.file = function_->files[where.file];
        }
        const std::string at = where.line > 0 ? " (line " + std::to_string(where.line) + ")" : "";
        throw Error(ErrorKind::Unsupported, function_->name + at + ": " + what, place);
    }

    const ir::Module& module_;
    std::vector<State> states_;
    const ir::Function* function_ = nullptr;
};

}  // namespace

ir::Module lower_for_device(ir::Module module, std::shared_ptr<const passes::HostProgram>* host) {
    passes::Target target;
    target.kind = passes::TargetKind::Device;
    target.pack_bytes = 16;
    auto made = passes::lower(module, target);
    if (host) *host = std::move(made);
    Refusals refusals(module);
    for (std::size_t k = 0; k < module.functions.size(); ++k) {
        if (codegen::is_device_kernel(module.functions[k])) refusals.function(k);
    }
    return module;
}

static codegen::Target target_of(const PtxTarget& wanted) {
    codegen::Target target;
    target.kind = codegen::Target::Kind::Ptx;
    target.cpu = wanted.architecture;
    target.features = wanted.ptx_version;
    target.fastmath = wanted.fastmath;
    return target;
}

/// What the disk has under that name for the module and the target, else what `make` makes.
template <class F>
static std::string cached(const char* name, const ir::Module& lowered, const PtxTarget& wanted,
                          F&& make) {
    static const codegen::DiskCache disk;
    const std::string key = "build " + codegen::build_id() + "\n" + name + wanted.architecture +
                            wanted.ptx_version + (wanted.fastmath ? "fastmath\n" : "\n") +
                            ir::print(lowered);
    std::string text = wanted.use_cache ? disk.find(key) : std::string();
    if (!text.empty()) return text;
    text = make();
    if (wanted.use_cache) disk.store(key, text);
    return text;
}

std::string write_ptx(const ir::Module& lowered, const PtxTarget& wanted) {
    return cached("", lowered, wanted,
                  [&] { return codegen::compile(lowered, target_of(wanted)).code; });
}

std::string write_llvm_ir(const ir::Module& lowered, const PtxTarget& wanted) {
    return cached("LLVM IR ", lowered, wanted, [&] {
        codegen::Target target = target_of(wanted);
        target.want_code = false;
        target.want_ir = true;
        return codegen::compile(lowered, target).ir;
    });
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
