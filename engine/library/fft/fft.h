// Discrete Fourier transforms along axes of arrays.
#pragma once

#include <string>
#include <vector>

#include "tape/array.h"

namespace unisono::library {

enum class FftKind : std::uint8_t {
    Complex,      ///< complex to complex
    RealForward,  ///< real to the first half of a complex spectrum
    RealBackward  ///< the first half of a spectrum to real
};

struct FftStep {
    int axis;
    std::int64_t
        length;  ///< of the transform: shorter inputs are continued by zeros, longer are cut
    double scale;
    bool forward;
    FftKind kind;
};

/// The transform along one axis.
Array transform(const Array& x, const FftStep& step);

/// The transform of one line in memory, for tests and other libraries: interleaved complex numbers.
template <class T>
void fft_line(std::int64_t n, bool forward, const T* in, T* out);

}  // namespace unisono::library
