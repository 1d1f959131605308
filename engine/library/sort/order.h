// The order in which elements sort: NumPy's, with NaN last; and keys, unsigned integers in that
// order.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace unisono::library {

template <class T>
concept Complex = requires(T v) {
    v.real();
};
/// Floats, and storage types of two bytes that convert to float.
template <class T>
concept Real = std::floating_point<T> ||(std::is_class_v<T> && !Complex<T> && sizeof(T) == 2);

/// The number that a float type computes in.
template <class T>
constexpr auto number(T v) {
    if constexpr (std::floating_point<T> || std::integral<T>) {
        return v;
    } else {
        return static_cast<float>(v);
    }
}

template <class T>
bool is_nan(T v) {
    if constexpr (Complex<T>) {
        return v.real() != v.real() || v.imag() != v.imag();
    } else if constexpr (Real<T>) {
        return number(v) != number(v);
    } else {
        return false;
    }
}

/// Whether a sorts before b: NaN after every number; complex numbers by real, then imaginary part.
template <class T>
bool before(T a, T b) {
    if constexpr (Complex<T>) {
        auto ar = a.real(), br = b.real(), ai = a.imag(), bi = b.imag();
        // As NumPy: R + Rj, R + nanj, nan + Rj, nan + nanj.
        if (ar < br) return ai == ai || bi != bi;
        if (ar > br) return bi != bi && ai == ai;
        if (ar == br || (ar != ar && br != br)) return ai < bi || (bi != bi && ai == ai);
        return br != br;
    } else if constexpr (Real<T>) {
        auto x = number(a), y = number(b);
        return x < y || (y != y && x == x);
    } else {
        return a < b;
    }
}

template <std::size_t bytes>
using UnsignedOf = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using KeyOf = UnsignedOf<sizeof(T)>;

/// Unsigned integers in the order of the elements. Every NaN is the largest key; with `zeros_apart`
/// negative zero comes before positive zero, else they are equal.
template <class T, bool zeros_apart>
KeyOf<T> to_key(T v) {
    using Key = KeyOf<T>;
    constexpr Key sign = static_cast<Key>(Key{1} << (sizeof(T) * 8 - 1));
    if constexpr (std::is_same_v<T, bool> || std::unsigned_integral<T>) {
        return static_cast<Key>(v);
    } else if constexpr (std::integral<T>) {
        return static_cast<Key>(static_cast<Key>(v) ^ sign);
    } else {
        Key bits = std::bit_cast<Key>(v);
        if constexpr (!zeros_apart) {
            if (bits == sign) bits = 0;
        }
        Key flip = (bits & sign) ? static_cast<Key>(~Key{0}) : sign;
        return is_nan(v) ? static_cast<Key>(~Key{0}) : static_cast<Key>(bits ^ flip);
    }
}

/// The element with that key.
template <class T>
T from_key(KeyOf<T> key) {
    using Key = KeyOf<T>;
    constexpr Key sign = static_cast<Key>(Key{1} << (sizeof(T) * 8 - 1));
    if constexpr (std::is_same_v<T, bool>) {
        return key != 0;
    } else if constexpr (std::unsigned_integral<T>) {
        return key;
    } else if constexpr (std::integral<T>) {
        return static_cast<T>(key ^ sign);
    } else {
        Key flip = (key & sign) ? sign : static_cast<Key>(~Key{0});
        return std::bit_cast<T>(static_cast<Key>(key ^ flip));
    }
}

}  // namespace unisono::library
