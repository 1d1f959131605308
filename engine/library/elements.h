// Elements as plain memory of 1, 2, 4, 8 or 16 bytes, for operations that only move them.
#pragma once

#include <cstdint>

#include "core/error.h"

namespace unisono::library {

struct Bytes16 {
    std::uint64_t first, second;
};

/// Calls f.template operator()<T>() with the unsigned type of that many bytes.
template <class F>
void by_size(std::int64_t item_size, F&& f) {
    switch (item_size) {
        case 1: f.template operator()<std::uint8_t>(); return;
        case 2: f.template operator()<std::uint16_t>(); return;
        case 4: f.template operator()<std::uint32_t>(); return;
        case 8: f.template operator()<std::uint64_t>(); return;
        case 16: f.template operator()<Bytes16>(); return;
    }
    UNISONO_ASSERT(!"element size");
}

}  // namespace unisono::library
