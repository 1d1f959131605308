// Asks the processor what it offers.
#include "core/processor.h"

namespace unisono {

bool has_avx512() {
#if defined(__x86_64__)
    static const bool has =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd");
    return has;
#else
    return false;
#endif
}

bool is_built_for_avx2() {
#if defined(__x86_64__) && !defined(__AVX2__)
    return false;
#else
    return true;
#endif
}

}  // namespace unisono
