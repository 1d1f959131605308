// Mathematical functions with bits of our own: at most 1 ULP, the same in scalar and vector code.
//
// Our own are templates in ops/functions/. For the others SLEEF's `finz` forms stand in; the scalar
// ones here and the vector ones that compiled code calls agree bit for bit.
#pragma once

#include <cstdint>
#include <string>

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

/// Name of the library's function: "d" or "f", lanes (1: scalar), instruction set of vectors.
std::string library_name(Op op, char letter, int lanes, const char* extension);

/// True where the library behind SLEEF's functions is present; they throw an Unsupported error
/// where it is not.
bool available();
/// Whether op can be computed: it needs no library, or that is there.
bool is_present(Op op);
/// Throws that error where op needs the library and it is missing.
void require(Op op);

}  // namespace unisono::math
