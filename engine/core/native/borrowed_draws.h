// Normal and exponential numbers that compiled code draws from the bit generators of NumPy: what is
// common stands in the code, from tables that library/random/ makes and tells while it is loaded.
#pragma once

#include <cstdint>

namespace unisono {

/// numpy/random/bitgen.h
struct BitGenerator {
    void* state;
    std::uint64_t (*next_uint64)(void* state);
    std::uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    std::uint64_t (*next_raw)(void* state);
};

/// The layers of a ziggurat: a fraction of a layer's width is under the curve for certain where it
/// is below the limit.
struct ZigguratLayers {
    std::uint64_t inside[256];
    double width[256];
};

struct BorrowedDraws {
    const ZigguratLayers* (*layers)();
    /// The number whose first word is not below the limit.
    double (*rest)(BitGenerator* from, std::uint64_t first);
};

bool set_borrowed_draws(BorrowedDraws normal, BorrowedDraws exponential);
const ZigguratLayers* normal_layers() noexcept;
const ZigguratLayers* exponential_layers() noexcept;
double rest_of_borrowed_normal(BitGenerator* from, std::uint64_t first) noexcept;
double rest_of_borrowed_exponential(BitGenerator* from, std::uint64_t first) noexcept;

}  // namespace unisono
