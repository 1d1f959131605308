// What the processor offers beyond the instruction set that the engine is built for.
#pragma once

namespace unisono {

/// AVX-512 as servers have had it since 2017 (F, VL, BW, DQ, CD).
bool has_avx512();

/// Whether this library is built for AVX2 and FMA: then vectors of 32 bytes pass in registers, and
/// kernels may be compiled for all that the processor has.
bool is_built_for_avx2();

}  // namespace unisono
