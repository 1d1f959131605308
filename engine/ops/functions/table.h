// Which functions are our own, and each of them as a template by operation.
#pragma once

#include "ops/functions/exp.h"
#include "ops/functions/inverse.h"
#include "ops/functions/log.h"
#include "ops/functions/power.h"
#include "ops/functions/trig.h"
#include "ops/ops.h"

namespace unisono::functions {

/// Whether ops/functions defines the operation (on floats).
constexpr bool is_own(Op op) {
    switch (op) {
        // clang-format off
#define UNISONO_FUNCTION(Name, name) case Op::Name:
#define UNISONO_FUNCTION2(Name, name) case Op::Name:
#define UNISONO_ANGLE(Name, name, Long) case Op::Name: case Op::Long:
#include "ops/functions/functions.def"
        // clang-format on
        return true;
        default: return false;
    }
}

/// The operation of the long form of a function of angles, which is `op` itself for others.
constexpr Op long_form(Op op) {
    switch (op) {
        // clang-format off
#define UNISONO_FUNCTION(Name, name)
#define UNISONO_ANGLE(Name, name, Long) case Op::Name: return Op::Long;
#include "ops/functions/functions.def"
        // clang-format on
        default: return op;
    }
}
/// Whether op is such a long form.
constexpr bool is_long_form(Op op) {
    return op == Op::SinLong || op == Op::CosLong || op == Op::TanLong;
}

/// f(x) or f(x, y) by its branch-free definition: for angles beyond largest_angle, anything.
template <Op O, bool Narrow, class R>
R value_of(R x, [[maybe_unused]] R y) {
    // clang-format off
    if constexpr (false) return x;
#define UNISONO_FUNCTION(Name, name) else if constexpr (O == Op::Name) return name<Narrow>(x);
#define UNISONO_FUNCTION2(Name, name) else if constexpr (O == Op::Name) return name<Narrow>(x, y);
#include "ops/functions/functions.def"
    // clang-format on
}
/// f(x) of angles beyond largest_angle; O is the function or its long form.
template <Op O, class R>
R long_value_of(R x) {
    // clang-format off
    if constexpr (false) return x;
#define UNISONO_FUNCTION(Name, name)
#define UNISONO_ANGLE(Name, name, Long) \
    else if constexpr (O == Op::Name || O == Op::Long) return name##_long(x);
#include "ops/functions/functions.def"
    // clang-format on
}

/// The whole function of one number.
template <Op O, class T>
T scalar_value(T x, T y) {
    constexpr bool narrow = sizeof(T) == 4;
    const auto a = static_cast<double>(x);
    if constexpr (long_form(O) != O || is_long_form(O)) {
        if (magnitude(a) > largest_angle) return static_cast<T>(long_value_of<O>(a));
    }
    if constexpr (is_long_form(O)) {
        return y;
    } else {
        return static_cast<T>(value_of<O, narrow>(a, static_cast<double>(y)));
    }
}

}  // namespace unisono::functions
