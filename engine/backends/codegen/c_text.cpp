// Loads the clang plugin when C text must be compiled.
#include "backends/codegen/c_text.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "backends/codegen/plugin.h"
#include "core/error.h"
#include "core/threads/fork.h"

namespace unisono::codegen {

static CompileC clang_plugin() {
    static ProcessMutex& loading = *new ProcessMutex;  // a child of fork finds it loaded, or not
    std::lock_guard lock(loading);
    static std::string why;
    static const auto function = []() -> CompileC {
        void* library = dlopen(plugin_path(UNISONO_CLANG_PLUGIN).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char* error = dlerror();
            why = error ? error : "unknown error";
            return nullptr;
        }
        return reinterpret_cast<CompileC>(dlsym(library, compile_c_symbol));
    }();
    if (!function) {
        fail(ErrorKind::Unsupported, "c_module: the C compiler plugin cannot be loaded; got " +
                                         why +
                                         "; expected " UNISONO_CLANG_PLUGIN
                                         " beside the engine; build with clang's libraries, "
                                         "version 19 (libclang-19-dev), or install them");
    }
    return function;
}

namespace {

struct Libraries {
    ProcessMutex mutex;
    std::vector<void*> handles;
    std::map<std::string, void*> variables;  ///< of C texts, by symbol
};

Libraries& libraries() {
    static auto* all = [] {
        auto* made = new Libraries;
        for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6"}) {
            if (void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL))
                made->handles.push_back(handle);
        }
        return made;
    }();
    return *all;
}

}  // namespace

void open_library(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* error = dlerror();
        fail(ErrorKind::Value, "c_module: the library cannot be opened; got " +
                                   std::string(error ? error : path) +
                                   "; give the path of a shared library");
    }
    std::lock_guard lock(libraries().mutex);
    libraries().handles.push_back(handle);
}

void* add_variable(const CVariable& variable) {
    constexpr std::size_t line = 64;
    std::size_t bytes = (variable.initial.size() + line - 1) / line * line;
    void* memory = std::aligned_alloc(line, std::max(bytes, line));
    if (!memory) fail(ErrorKind::Memory, "c_module: out of memory for a variable");
    std::memcpy(memory, variable.initial.data(), variable.initial.size());
    std::lock_guard lock(libraries().mutex);
    libraries().variables.emplace(variable.symbol, memory);
    return memory;
}

void* library_symbol(const char* name) {
    std::lock_guard lock(libraries().mutex);
    auto variable = libraries().variables.find(name);
    if (variable != libraries().variables.end()) return variable->second;
    // new and delete must be a pair: a library that replaces them comes before all others.
    const std::string_view wanted(name);
    for (std::string_view allocates : {"_Znw", "_Zna", "_Zdl", "_Zda"}) {
        if (!wanted.starts_with(allocates)) continue;
        if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
    }
    for (void* handle : libraries().handles) {
        if (void* found = dlsym(handle, name)) return found;
    }
    return nullptr;
}

CResult compile_c(const CText& text) {
    CResult result;
    clang_plugin()(text, result);
    if (result.failed) fail(ErrorKind::Compile, result.error);
    return result;
}

}  // namespace unisono::codegen
