// Mathematical functions with bits of our own: at most 1 ULP, the same in scalar and vector code.
//
// Until a function is written in IR, SLEEF's `finz` forms stand in; the scalar ones here and the
// vector ones that compiled code calls agree bit for bit.
#pragma once

#include <cstdint>

namespace unisono::math {

double exp(double x);
float exp(float x);
double sin(double x);
float sin(float x);

/// out[i] = f(in[i]) for count elements; in and out are the same array or do not overlap.
void exp(const double* in, double* out, std::int64_t count);
void exp(const float* in, float* out, std::int64_t count);
void sin(const double* in, double* out, std::int64_t count);
void sin(const float* in, float* out, std::int64_t count);

/// True where the library behind these functions is present; the functions throw an Unsupported
/// error where it is not.
bool available();
/// Throws that error where the library is missing.
void require();

}  // namespace unisono::math
