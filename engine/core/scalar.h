// A scalar of any dtype in 8 bytes: the bit pattern of its storage type, zero-extended.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/dtype.h"

namespace unisono {

struct Scalar {
    std::uint64_t bits = 0;
    DType dtype = DType::Float64;

    template <class T>
    static Scalar of(DType t, T value) {
        Scalar s;
        s.dtype = t;
        dispatch(t, [&]<class C>() { s.set(static_cast<C>(value)); });
        return s;
    }
    /// The value converted to T by C++'s rules (a caller that needs NumPy's goes through
    /// ops/scalar_eval.h).
    template <class T>
    T as() const {
        return dispatch(dtype, [&]<class C>() { return static_cast<T>(get<C>()); });
    }
    template <class C>
    C get() const {
        C c;
        std::memcpy(&c, &bits, sizeof(C));
        return c;
    }
    template <class C>
    void set(C c) {
        bits = 0;
        std::memcpy(&bits, &c, sizeof(C));
    }
    bool operator==(const Scalar&) const = default;
};

}  // namespace unisono
