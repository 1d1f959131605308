// Loops of our functions over arrays, per instruction set, and what compiled code calls of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/math.h"

namespace unisono::functions {

template <class T>
using Loop = void (*)(math::Operand<T> x, math::Operand<T> y, T* out, std::int64_t count);

/// The loop of one of our functions for the widest vectors that this processor has; null for
/// others.
Loop<double> double_loop(Op op);
Loop<float> float_loop(Op op);

/// What compiled code calls, in vector registers; null for other names. Long forms of angles,
/// (x, y) -> y, or the function of x beyond largest_angle: "unisono_<op>_<lanes>". Powers with
/// exponents that the compiler does not know to be whole: "unisono_power_<lanes>", and
/// "unisono_power_narrow_<lanes>", whose results the caller rounds to float32.
void* called_function(std::string_view name);

// One of each per instruction set.
Loop<double> double_loop_avx2(Op op);
Loop<float> float_loop_avx2(Op op);
void* long_form_avx2(Op op);
void* power_avx2(bool narrow);
Loop<double> double_loop_avx512(Op op);
Loop<float> float_loop_avx512(Op op);
void* long_form_avx512(Op op);
void* power_avx512(bool narrow);

}  // namespace unisono::functions
