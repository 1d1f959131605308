// Mathematical functions with bits of our own: at most 1 ULP, the same in scalar and vector code.
//
// Until a function is written in IR, SLEEF's `finz` forms stand in; the scalar ones here and the
// vector ones that compiled code calls agree bit for bit.
#pragma once

namespace unisono::math {

double exp(double x);
float exp(float x);
double sin(double x);
float sin(float x);

/// True where the library behind these functions is present; the functions throw a Device error
/// where it is not.
bool available();

}  // namespace unisono::math
