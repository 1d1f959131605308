// Keeps the code of imported modules, and notes code for those that are built.
#include "backends/codegen/bundle.h"

#include <map>
#include <mutex>

#include "core/threads/fork.h"

namespace unisono::codegen {

static thread_local Recording* current = nullptr;

Recording::Recording() : outer_(std::exchange(current, this)) {}
Recording::~Recording() { current = outer_; }
Recording* recording() { return current; }

namespace {

struct Bundles {
    ProcessMutex mutex;
    std::map<std::string, std::string, std::less<>> codes;
};

Bundles& bundles() {
    static Bundles& all = *new Bundles;
    return all;
}

}  // namespace

void add_bundled(std::string key, std::string code) {
    std::lock_guard lock(bundles().mutex);
    bundles().codes.insert_or_assign(std::move(key), std::move(code));
}

std::string find_bundled(std::string_view key) {
    std::lock_guard lock(bundles().mutex);
    auto it = bundles().codes.find(key);
    return it == bundles().codes.end() ? std::string() : it->second;
}

std::vector<std::string> processor_features() {
    std::vector<std::string> found;
#ifdef __x86_64__
#define UNISONO_FEATURE(name) \
    if (__builtin_cpu_supports(name)) found.emplace_back(name)
    UNISONO_FEATURE("sse3");
    UNISONO_FEATURE("ssse3");
    UNISONO_FEATURE("sse4.1");
    UNISONO_FEATURE("sse4.2");
    UNISONO_FEATURE("popcnt");
    UNISONO_FEATURE("avx");
    UNISONO_FEATURE("avx2");
    UNISONO_FEATURE("fma");
    UNISONO_FEATURE("bmi");
    UNISONO_FEATURE("bmi2");
    UNISONO_FEATURE("avx512f");
    UNISONO_FEATURE("avx512cd");
    UNISONO_FEATURE("avx512bw");
    UNISONO_FEATURE("avx512dq");
    UNISONO_FEATURE("avx512vl");
    UNISONO_FEATURE("avx512ifma");
    UNISONO_FEATURE("avx512vbmi");
    UNISONO_FEATURE("avx512vbmi2");
    UNISONO_FEATURE("avx512vnni");
    UNISONO_FEATURE("avx512bitalg");
    UNISONO_FEATURE("avx512vpopcntdq");
    UNISONO_FEATURE("gfni");
    UNISONO_FEATURE("vpclmulqdq");
#undef UNISONO_FEATURE
#endif
    return found;
}

}  // namespace unisono::codegen
