// Mathematical functions with bits of our own: at most 1 ULP, the same in scalar and vector code.
//
// They are templates in ops/functions/: one definition for numbers, vectors and the kernel IR.
#pragma once

#include <cstdint>

#include "ops/ops.h"

namespace unisono::math {

/// op(x) or op(x, y) of a mathematical operation (is_math) on floats.
double call(Op op, double x, double y = 0);
float call(Op op, float x, float y = 0);

/// Operands of `run`: count elements, or one that stands for all.
template <class T>
struct Operand {
    const T* at = nullptr;
    bool is_one = false;
};
/// out[i] = op(x[i]) or op(x[i], y[i]) for count elements; out is an operand or overlaps none.
void run(Op op, Operand<double> x, Operand<double> y, double* out, std::int64_t count);
void run(Op op, Operand<float> x, Operand<float> y, float* out, std::int64_t count);

}  // namespace unisono::math
