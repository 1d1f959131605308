// What the processor offers beyond the instruction set that the engine is built for.
#pragma once

namespace unisono {

/// AVX-512 as servers have had it since 2017 (F, VL, BW, DQ, CD).
bool has_avx512();

}  // namespace unisono
