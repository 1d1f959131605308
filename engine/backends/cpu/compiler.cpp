// Finds machine code: in this process, on disk, else from the LLVM plugin.
#include "backends/cpu/compiler.h"

#include <dlfcn.h>
#include <sys/stat.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <mutex>
#include <unordered_map>

#include "backends/cpu/cache.h"
#include "backends/cpu/runtime.h"
#include "core/settings.h"
#include "core/version.h"
#include "ir/build.h"

namespace unisono::cpu {

namespace {

/// What the code was made for: the processor's own description of itself.
std::string processor() {
    std::string text;
#ifdef __x86_64__
    auto add = [&](unsigned leaf, unsigned sub, unsigned keep_b) {
        unsigned r[4] = {0, 0, 0, 0};
        if (!__get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3])) return;
        r[1] &= keep_b;  // leaf 1: without the number of the core that ran this
        for (unsigned v : r) text += "," + std::to_string(v);
    };
    add(0, 0, ~0u);
    add(1, 0, 0);
    add(7, 0, ~0u);
    add(7, 1, ~0u);
#endif
    return text;
}

/// Identifies this build: another compiler plugin may make other code.
std::string build() {
    struct stat s {};
    std::string text = std::string(version());
    if (stat(plugin_path("libunisono_llvm.so").c_str(), &s) == 0) {
        text += "," + std::to_string(s.st_size) + "," + std::to_string(s.st_mtim.tv_sec) + "," +
                std::to_string(s.st_mtim.tv_nsec);
    }
    return text;
}

std::string key_of(const ir::Module& module, bool streaming) {
    static const std::string prefix = "build " + build() + "\nprocessor " + processor() + "\n";
    return prefix + (streaming ? "streaming\n" : "plain\n") + ir::print(module);
}

/// Kernels that some Executable holds.
class Loaded {
  public:
    std::shared_ptr<LoadedCode> find(const std::string& key) {
        std::lock_guard lock(mutex_);
        auto found = codes_.find(key);
        return found == codes_.end() ? nullptr : found->second.lock();
    }
    void add(const std::string& key, const std::shared_ptr<LoadedCode>& code) {
        std::lock_guard lock(mutex_);
        if (codes_.size() >= sweep_at_) {
            std::erase_if(codes_, [](const auto& entry) { return entry.second.expired(); });
            sweep_at_ = 64 + 2 * codes_.size();
        }
        codes_[key] = code;
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<LoadedCode>> codes_;
    std::size_t sweep_at_ = 64;
};

void log_compiled(const ir::Module& module, const codegen::Times& t, bool streaming) {
    if (debug_level() < 2) return;
    char line[160];
    std::snprintf(line, sizeof line, "compiled %s%s: IR %.0f us, passes %.0f us, code %.0f us",
                  module.entry().name.c_str(), streaming ? " (streaming)" : "", t.emit, t.passes,
                  t.code);
    debug_log(line);
}

}  // namespace

std::string plugin_path(const std::string& name) {
    Dl_info here{};
    if (!dladdr(reinterpret_cast<void*>(&plugin_path), &here) || !here.dli_fname) return name;
    std::string path = here.dli_fname;
    auto slash = path.rfind('/');
    return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

codegen::CompileFunction llvm_plugin() {
    static std::string why;
    static const auto function = []() -> codegen::CompileFunction {
        void* library = dlopen(plugin_path("libunisono_llvm.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char* error = dlerror();
            why = error ? error : "unknown error";
            return nullptr;
        }
        return reinterpret_cast<codegen::CompileFunction>(dlsym(library, codegen::compile_symbol));
    }();
    if (!function) {
        fail(ErrorKind::Unsupported, "compile: the compiler plugin cannot be loaded; got " + why +
                                         "; expected libunisono_llvm.so beside the engine; build "
                                         "with LLVM 19, or install it");
    }
    return function;
}

codegen::Result compile_with_llvm(const ir::Module& module, const codegen::Target& target) {
    codegen::Result result;
    llvm_plugin()(module, target, result);
    if (result.failed) fail(result.error_kind, result.error);
    return result;
}

std::shared_ptr<LoadedCode> machine_code(const ir::Module& module, bool streaming, bool use_cache) {
    static Loaded& loaded = *new Loaded;  // kernels may outlive static destructors
    std::string key = key_of(module, streaming);
    if (auto code = loaded.find(key)) return code;
    static const DiskCache disk;
    std::string why;
    std::shared_ptr<LoadedCode> code;
    if (use_cache) {
        std::string object = disk.find(key);
        if (!object.empty()) code = load_object(object, codegen::kernel_symbol, find_import, why);
    }
    if (!code) {
        codegen::Target target;
        target.streaming = streaming;
        codegen::Result made = compile_with_llvm(module, target);
        log_compiled(module, made.times, streaming);
        code = load_object(made.code, codegen::kernel_symbol, find_import, why);
        if (!code) fail(ErrorKind::Internal, "compile: the generated object was refused: " + why);
        if (use_cache) disk.store(key, made.code);
    }
    loaded.add(key, code);
    return code;
}

}  // namespace unisono::cpu
