// Loops over arrays for each of our functions, and the vector forms of what compiled code calls
// (long reductions, powers); built once per instruction set (see lanes.h).
#pragma once

#include <cstring>

#include "ops/functions/lanes.h"
#include "ops/functions/loops.h"
#include "ops/functions/table.h"
#include "ops/math.h"

namespace unisono::functions {
namespace {

/// A vector's worth of elements from position i on, zeros behind the end.
template <class T>
struct Window {
    alignas(64) T held[lanes] = {};
    math::Operand<T> from;

    explicit Window(math::Operand<T> operand) : from(operand) {
        if (from.is_one) {
            for (T& h : held) h = *from.at;
        }
    }
    Reals at(std::int64_t i, std::int64_t count) {
        if (!from.is_one && from.at != nullptr) {
            if (i + lanes <= count) return load_lanes(from.at + i);
            std::memcpy(held, from.at + i, static_cast<std::size_t>(count - i) * sizeof(T));
        }
        return load_lanes(held);
    }
};

/// Puts what the long form gives into the lanes that need it.
template <Op O, class T>
void finish_long(Reals x, T* values) {
    alignas(64) double angles[lanes];
    store_lanes(angles, x);
    for (int l = 0; l < lanes; ++l) {
        if (__builtin_fabs(angles[l]) > largest_angle)
            values[l] = static_cast<T>(math::call(O, angles[l]));
    }
}

/// Flat: numbers pass in registers from one step of a function to the next.
template <Op O, class T>
[[gnu::flatten]] void loop(math::Operand<T> x, math::Operand<T> y, T* out, std::int64_t count) {
    Window<T> a(x), b(y);
    alignas(64) T last[lanes];
    for (std::int64_t i = 0; i < count; i += lanes) {
        const bool whole = i + lanes <= count;
        T* to = whole ? out + i : last;
        Reals v = a.at(i, count);
        store_lanes(to, value_of<O, sizeof(T) == 4>(v, info(O).arity == 2 ? b.at(i, count) : v));
        if constexpr (long_form(O) != O) {
            if (any_above(magnitude(v), largest_angle)) [[unlikely]]
                finish_long<O>(v, to);
        }
        if (!whole) std::memcpy(out + i, last, static_cast<std::size_t>(count - i) * sizeof(T));
    }
}

template <class T>
Loop<T> loop_for(Op op) {
    switch (op) {
        // clang-format off
#define UNISONO_FUNCTION(Name, name) case Op::Name: return &loop<Op::Name, T>;
#define UNISONO_FUNCTION2(Name, name) case Op::Name: return &loop<Op::Name, T>;
#include "ops/functions/functions.def"
        // clang-format on
        default: return nullptr;
    }
}

template <Op O>
Reals::Vector long_lanes(Reals::Vector x, Reals::Vector otherwise) {
    if (any_above(magnitude(Reals(x)), largest_angle)) [[unlikely]] {
        alignas(64) double values[lanes];
        store_lanes(values, Reals(otherwise));
        finish_long<long_form(O)>(Reals(x), values);
        return load_lanes(values).v;
    }
    return otherwise;
}

template <bool Narrow>
[[gnu::flatten]] Reals::Vector power_lanes(Reals::Vector x, Reals::Vector y) {
    return pow<Narrow>(Reals(x), Reals(y)).v;
}

}  // namespace
}  // namespace unisono::functions
