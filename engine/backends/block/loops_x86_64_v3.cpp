// The loops for the instruction set that the whole engine is built for, and the choice of a table.
#include "backends/block/loops_body.h"

namespace unisono::block {

LoopTable loops_x86_64_v3() { return table; }

const LoopTable& loops() {
    static const LoopTable chosen = [] {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
            return loops_avx512();
#endif
        return loops_x86_64_v3();
    }();
    return chosen;
}

}  // namespace unisono::block
