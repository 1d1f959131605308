// Our functions over arrays in vectors of 8 float64.
//
// Headers that others use too come first: what they define must not be compiled for AVX-512, since
// the linker may keep this file's copy for all. The templates of functions are instantiated here
// for types of this file only.
#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/functions/loops.h"
#include "ops/math.h"
#include "ops/ops.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))), \
                             apply_to = function)
#else
// The intrinsics themselves leave a register undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif

#define UNISONO_LANES 8
#include "ops/functions/loops_body.h"

namespace unisono::functions {

Loop<double> double_loop_avx512(Op op) { return loop_for<double>(op); }
Loop<float> float_loop_avx512(Op op) { return loop_for<float>(op); }

void* long_form_avx512(Op op) {
    switch (op) {
        case Op::SinLong: return reinterpret_cast<void*>(&long_lanes<Op::Sin>);
        case Op::CosLong: return reinterpret_cast<void*>(&long_lanes<Op::Cos>);
        default: return reinterpret_cast<void*>(&long_lanes<Op::Tan>);
    }
}

void* power_avx512(bool narrow) {
    return narrow ? reinterpret_cast<void*>(&power_lanes<true>)
                  : reinterpret_cast<void*>(&power_lanes<false>);
}

}  // namespace unisono::functions

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
