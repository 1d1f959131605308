// Finds BLAS and LAPACK, sets their threads to one and looks up routines.
#include "library/linalg/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/settings.h"
#include "core/threads/fork.h"

namespace unisono::library::blas {

std::string (*locate_wheel)() = nullptr;

namespace {

/// How a build of the library spells the routine "dgemm".
struct Spelling {
    const char* prefix = "";
    const char* suffix = "";
    bool wide = false;
};
constexpr Spelling spellings[] = {
    {"scipy_", "_64_", true}, {"scipy_", "_", false}, {"", "_64_", true}, {"", "_", false}};

struct Library {
    std::vector<void*> handles;  ///< never closed: OpenBLAS keeps threads that must find their code
    Spelling spelling{};
    std::string text;  ///< path, or why there is none

    void* find(const std::string& name) const {
        std::string spelled = spelling.prefix + name + spelling.suffix;
        for (void* handle : handles) {
            if (void* found = dlsym(handle, spelled.c_str())) return found;
        }
        return nullptr;
    }
};

bool open(Library& library, const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = dlerror();
        library.text += (library.text.empty() ? "" : "; ") + std::string(why ? why : path);
        return false;
    }
    for (const Spelling& s : spellings) {
        if (!dlsym(handle, (std::string(s.prefix) + "dgemm" + s.suffix).c_str())) continue;
        library.handles.push_back(handle);
        library.spelling = s;
        library.text = path;
        return true;
    }
    library.text += (library.text.empty() ? "" : "; ") + path + " has no routine dgemm";
    return false;
}

void set_one_thread(const Library& library) {
    for (const char* name :
         {"scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
          "openblas_set_num_threads64_", "openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
        for (void* handle : library.handles) {
            if (void* f = dlsym(handle, name)) {
                reinterpret_cast<void (*)(int)>(f)(1);
                return;
            }
        }
    }
}

/// Sets an environment variable while it lives, unless the user has set it.
class EnvironmentScope {
  public:
    EnvironmentScope(const char* name, const char* value) : name_(name) {
        set_ = !std::getenv(name) && setenv(name, value, 0) == 0;
    }
    ~EnvironmentScope() {
        if (set_) unsetenv(name_);
    }
    EnvironmentScope(const EnvironmentScope&) = delete;
    EnvironmentScope& operator=(const EnvironmentScope&) = delete;

  private:
    const char* name_;
    bool set_;
};

Library load() {
    // OpenBLAS reads this when it is loaded: it is not to start threads of its own.
    EnvironmentScope threads("OPENBLAS_NUM_THREADS", "1");
    Library library;
    const std::string& chosen = setting("blas");
    bool found = false;
    if (!chosen.empty()) {
        found = open(library, chosen);
    } else {
        std::string wheel = locate_wheel ? locate_wheel() : std::string();
        found = (!wheel.empty() && open(library, wheel)) || open(library, "libopenblas.so.0") ||
                open(library, "libblas.so.3");
    }
    if (!found) return library;
    if (!library.find("dgetrf")) {
        if (void* lapack = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL))
            library.handles.push_back(lapack);
    }
    set_one_thread(library);
    return library;
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

}  // namespace

bool present() { return !library().handles.empty(); }
bool wide() { return library().spelling.wide; }
std::string description() { return library().text; }

void* find_routine(const std::string& name) noexcept {
    static ProcessMutex guard;
    static std::unordered_map<std::string, void*> known;
    std::lock_guard lock(guard);
    auto [place, fresh] = known.try_emplace(name, nullptr);
    if (fresh) place->second = library().find(name);
    return place->second;
}

void* routine(const std::string& name) {
    if (void* found = find_routine(name)) return found;
    if (present()) {
        fail(ErrorKind::Unsupported, "linalg: " + description() + " has no routine " + name +
                                         "; choose another library with UNISONO_BLAS");
    }
    fail(ErrorKind::Unsupported, "linalg: no BLAS and LAPACK library was found (" + description() +
                                     "); `pip install scipy-openblas64`, or name a library with "
                                     "UNISONO_BLAS");
}

}  // namespace unisono::library::blas
