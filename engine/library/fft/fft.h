// Discrete Fourier transforms along axes of arrays.
#pragma once

#include <string>
#include <vector>

#include "primitives/algebra.h"
#include "tape/array.h"

namespace unisono::library {

using primitives::FftKind;
using primitives::FftStep;

/// The transform along one axis.
Array transform(const Array& x, const FftStep& step);
/// Whether the array's device has a library that transforms several axes at once.
bool transforms_together(const Array& x);

/// The transform of one line in memory, for tests and other libraries: interleaved complex numbers.
template <class T>
void fft_line(std::int64_t n, bool forward, const T* in, T* out);

}  // namespace unisono::library
