// Attributes and rules of random numbers.
#pragma once

#include "primitives/rule.h"

namespace unisono::library {
enum class Distribution : std::uint8_t;
}

namespace unisono::primitives {

/// Which numbers: the key from the seed, the stream of a generator among those of one seed, and the
/// index that the next element takes.
struct RandomKey {
    std::uint64_t key = 0;
    std::uint32_t stream = 0;
    std::uint64_t next = 0;
    /// 0: the engine's own numbers; else those of a library's generator (LibraryDraw::generator),
    /// which devices that have it draw.
    std::uint32_t library = 0;
};

/// Up to three parameters of a distribution: numbers, or operands of float64 in the result's shape.
struct Drawing {
    library::Distribution what;
    RandomKey key;
    double value[3];
    int input[3];  ///< which operand, or -1
    DType dtype;
    Extents shape;
};
/// Integers from `low` to `low + span`.
struct Range {
    std::int64_t low;
    std::uint64_t span;
    RandomKey key;
    DType dtype;
    Extents shape;
};
/// `count` permutations of 0, ..., n - 1 as rows.
struct Permuting {
    std::int64_t count, n;
    RandomKey key;
};

namespace rules {
void drawn(const Drawing& drawing, Operands operands, Results& results);
void drawn_integers(const Range& range, Operands operands, Results& results);
void permutations(const Permuting& permuting, Operands operands, Results& results);
}  // namespace rules

}  // namespace unisono::primitives
