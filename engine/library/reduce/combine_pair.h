// How running sums, sums of segments and writes at positions combine two elements, of any dtype.
#pragma once

#include <concepts>
#include <type_traits>

#include "library/sort/order.h"
#include "ops/complex_rules.h"
#include "ops/ops.h"

namespace unisono::library {

template <Op op, class T>
T combine(T a, T b) {
    if constexpr (Complex<T>) {
        if constexpr (op == Op::Mul) {
            return rules::product(a, b);
        } else if constexpr (op == Op::Add) {
            return T(a.real() + b.real(), a.imag() + b.imag());
        } else {
            // NaN first, then lexicographically, as NumPy's maximum.
            bool keep =
                is_nan(a) || (!is_nan(b) && (op == Op::Min ? !before(b, a) : !before(a, b)));
            return keep ? a : b;
        }
    } else if constexpr (op == Op::Min || op == Op::Max) {
        auto x = number(a), y = number(b);
        return x != x || (op == Op::Min ? x <= y : x >= y) ? a : b;
    } else if constexpr (std::is_same_v<T, bool>) {
        return op == Op::Add || op == Op::Or ? (a | b) : op == Op::Xor ? (a ^ b) : (a & b);
    } else if constexpr (std::integral<T>) {
        using U = std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<T>>;
        U x = static_cast<U>(a), y = static_cast<U>(b);
        return static_cast<T>(op == Op::Add   ? x + y
                              : op == Op::Sub ? x - y
                              : op == Op::Mul ? x * y
                              : op == Op::And ? x & y
                              : op == Op::Or  ? x | y
                                              : x ^ y);
    } else {
        auto x = number(a), y = number(b);
        return static_cast<T>(op == Op::Add ? x + y : op == Op::Sub ? x - y : x * y);
    }
}

}  // namespace unisono::library
