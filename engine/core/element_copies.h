// Elements as bytes: what only moves them goes by their size, not by their dtype.
#pragma once

#include <cstdint>

#include "core/error.h"

namespace unisono {

/// A complex element of 16 bytes, which lies at multiples of its parts' size.
struct ElementPair {
    std::uint64_t parts[2];
};

/// Calls f<T>() with a type of that many bytes: 1, 2, 4, 8 or 16.
template <class F>
void with_size(std::int64_t bytes, F&& f) {
    switch (bytes) {
        case 1: return f.template operator()<std::uint8_t>();
        case 2: return f.template operator()<std::uint16_t>();
        case 4: return f.template operator()<std::uint32_t>();
        case 8: return f.template operator()<std::uint64_t>();
        case 16: return f.template operator()<ElementPair>();
    }
    UNISONO_ASSERT(!"the size of an element");
}

/// Each of n elements `times` times: what np.repeat does, and columns that are broadcast.
template <class T, int times>
void spread(T* to, const T* from, std::int64_t n, std::int64_t step) {
    for (std::int64_t i = 0; i < n; ++i) {
        const T value = from[i * step];
        for (int k = 0; k < times; ++k) to[i * times + k] = value;
    }
}
/// Whether there is a loop for so few.
template <class T>
bool spread_few(T* to, const T* from, std::int64_t n, std::int64_t step, std::int64_t times) {
    switch (times) {
        case 2: spread<T, 2>(to, from, n, step); return true;
        case 3: spread<T, 3>(to, from, n, step); return true;
        case 4: spread<T, 4>(to, from, n, step); return true;
        default: return false;
    }
}

}  // namespace unisono
