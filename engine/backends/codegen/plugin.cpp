// Loads the LLVM plugin when something must be compiled, and says what builds and processors code
// is for.
#include "backends/codegen/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdio>
#include <mutex>

#include "backends/codegen/native_text.h"
#include "core/settings.h"
#include "core/threads/fork.h"
#include "core/version.h"

namespace unisono::codegen {

std::string plugin_path(const std::string& name) {
    Dl_info here{};
    if (!dladdr(reinterpret_cast<void*>(&plugin_path), &here) || !here.dli_fname) return name;
    std::string path = here.dli_fname;
    // The build for newer processors lies in a folder of its own, plugins beside the other.
    auto newer = path.rfind("/glibc-hwcaps/");
    if (newer != std::string::npos) path.resize(newer + 1);
    auto slash = path.rfind('/');
    return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

/// What the code was made for: the processor's own description of itself.
std::string processor_id() {
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

/// Identifies this build: another engine or compiler plugin may make other code.
std::string build_id() {
    std::string text(version());
    for (const char* library : {"libunisono.so", "libunisono_llvm.so"}) {
        struct stat s {};
        if (stat(plugin_path(library).c_str(), &s) != 0) continue;
        text += "," + std::to_string(s.st_size) + "," + std::to_string(s.st_mtim.tv_sec) + "," +
                std::to_string(s.st_mtim.tv_nsec);
    }
    return text;
}

static void log_compiled(const ir::Module& module, const Times& t) {
    if (debug_level() < 2) return;
    char line[160];
    std::snprintf(line, sizeof line, "compiled %s: IR %.0f us, passes %.0f us, code %.0f us",
                  module.entry().name.c_str(), t.emit, t.passes, t.code);
    debug_log(line);
}

static void* plugin_function(const char* symbol) {
    static ProcessMutex& loading = *new ProcessMutex;  // a child of fork finds it loaded, or not
    std::lock_guard lock(loading);
    static std::string why;
    static void* const library = []() -> void* {
        void* found = dlopen(plugin_path("libunisono_llvm.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        const char* error = found ? nullptr : dlerror();
        if (!found) why = error ? error : "unknown error";
        return found;
    }();
    void* function = library ? dlsym(library, symbol) : nullptr;
    if (!function) {
        fail(ErrorKind::Unsupported, "compile: the compiler plugin cannot be loaded; got " + why +
                                         "; expected libunisono_llvm.so beside the engine; build "
                                         "with LLVM 19, or install it");
    }
    return function;
}

CompileFunction llvm_plugin() {
    static const auto function = reinterpret_cast<CompileFunction>(plugin_function(compile_symbol));
    return function;
}

NativeText opencl_text(const ir::NativeCode& code, const std::string& symbol,
                       const std::string& name, std::span<const ir::Space> pointers) {
    static const auto write = reinterpret_cast<WriteNative>(plugin_function(write_native_symbol));
    NativeText made;
    write(code, symbol, name, pointers, made);
    if (made.failed) fail(ErrorKind::Unsupported, made.error);
    return made;
}

Result compile(const ir::Module& module, const Target& target) {
    Result result;
    llvm_plugin()(module, target, result);
    if (result.failed) fail(result.error_kind, result.error);
    log_compiled(module, result.times);
    return result;
}

}  // namespace unisono::codegen
