// Exponents that plans know: those of powers that are products (ops/functions/power.h), which
// kernels write out. Each has a code, 0 is for all other operands.
#pragma once

#include "ops/functions/power.h"
#include "tape/tape.h"

namespace unisono {

inline std::uint16_t known_exponent(const Entry& e, int operand) {
    if (e.op != Op::Power || operand != 1 || e.kind != EntryKind::Map || !is_float(e.compute))
        return 0;
    const View& in = e.in[1];
    if (in.storage || !is_float(in.dtype)) return 0;
    const double value = Scalar{static_cast<std::uint64_t>(in.offset), in.dtype}.as<double>();
    if (!functions::is_product(value)) return 0;
    return static_cast<std::uint16_t>(static_cast<int>(value) + functions::most_factors + 1);
}

inline int exponent_of_code(std::uint16_t code) { return code - functions::most_factors - 1; }

}  // namespace unisono
