// Moves complex numbers between lines in memory and the lanes of vectors, a vector at a time.
#pragma once

#include <cstdint>

#include "core/vectors.h"
#include "library/fft/fft_plan.h"

namespace unisono::library::fft {

/// A vector at any address.
template <class T>
using LooseVector = typename UnalignedVectorOf<T, 32>::type;

template <class T>
inline Vector<T> load_vector(const T* p) {
    return *reinterpret_cast<const LooseVector<T>*>(p);
}
template <class T>
inline void store_vector(T* p, Vector<T> v) {
    *reinterpret_cast<LooseVector<T>*>(p) = v;
}

/// Of as many vectors as each has lanes: lane l of vector k becomes lane k of vector l.
inline void transpose(Vector<double>* v) {
    const Vector<double> a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
                         b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7),
                         c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
                         d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
inline void transpose(Vector<float>* v) {
    Vector<float> pairs[8], fours[8];
#pragma GCC unroll 4
    for (int k = 0; k < 8; k += 2) {
        pairs[k] = __builtin_shufflevector(v[k], v[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[k + 1] = __builtin_shufflevector(v[k], v[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 2
    for (int k = 0; k < 8; k += 4) {
        const Vector<float>*a = pairs + k, *b = pairs + k + 2;
        fours[k] = __builtin_shufflevector(a[0], b[0], 0, 1, 8, 9, 4, 5, 12, 13);
        fours[k + 1] = __builtin_shufflevector(a[0], b[0], 2, 3, 10, 11, 6, 7, 14, 15);
        fours[k + 2] = __builtin_shufflevector(a[1], b[1], 0, 1, 8, 9, 4, 5, 12, 13);
        fours[k + 3] = __builtin_shufflevector(a[1], b[1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        v[k] = __builtin_shufflevector(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        v[k + 4] = __builtin_shufflevector(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/// Numbers that lie beside each other, one for each lane.
inline Cx<Vector<double>> load_beside(const double* p) {
    const Vector<double> a = load_vector(p), b = load_vector(p + 4);
    return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
}
inline Cx<Vector<float>> load_beside(const float* p) {
    const Vector<float> a = load_vector(p), b = load_vector(p + 8);
    return {__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
            __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)};
}
inline void store_beside(double* p, Cx<Vector<double>> x) {
    store_vector(p, __builtin_shufflevector(x.re, x.im, 0, 4, 1, 5));
    store_vector(p + 4, __builtin_shufflevector(x.re, x.im, 2, 6, 3, 7));
}
inline void store_beside(float* p, Cx<Vector<float>> x) {
    store_vector(p, __builtin_shufflevector(x.re, x.im, 0, 8, 1, 9, 2, 10, 3, 11));
    store_vector(p + 8, __builtin_shufflevector(x.re, x.im, 4, 12, 5, 13, 6, 14, 7, 15));
}
inline Vector<double> reversed(Vector<double> v) {
    return __builtin_shufflevector(v, v, 3, 2, 1, 0);
}
inline Vector<float> reversed(Vector<float> v) {
    return __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0);
}
/// Numbers that lie beside each other, the last of them in the first lane.
template <class T>
inline Cx<Vector<T>> load_backward(const T* p) {
    const Cx<Vector<T>> x = load_beside(p);
    return {reversed(x.re), reversed(x.im)};
}

/// at(l) is where the number of lane l lies.
template <class T, class At>
inline Cx<Vector<T>> load_each(At&& at) {
    if constexpr (sizeof(T) == 8) {
        auto number = [&](int l) -> VectorOf<T, 16>::type {
            return *reinterpret_cast<const UnalignedVectorOf<T, 16>::type*>(at(l));
        };
        const Vector<T> a = __builtin_shufflevector(number(0), number(2), 0, 1, 2, 3),
                        b = __builtin_shufflevector(number(1), number(3), 0, 1, 2, 3);
        return {__builtin_shufflevector(a, b, 0, 4, 2, 6),
                __builtin_shufflevector(a, b, 1, 5, 3, 7)};
    } else {
        const Vector<T> re{at(0)->real(), at(1)->real(), at(2)->real(), at(3)->real(),
                           at(4)->real(), at(5)->real(), at(6)->real(), at(7)->real()},
            im{at(0)->imag(), at(1)->imag(), at(2)->imag(), at(3)->imag(),
               at(4)->imag(), at(5)->imag(), at(6)->imag(), at(7)->imag()};
        return {re, im};
    }
}
/// The roots of k, k + step, ..., one for each lane.
template <class T>
inline Cx<Vector<T>> load_roots(const Roots<T>& roots, std::int64_t k, std::int64_t step) {
    return times(load_each<T>([&](int l) { return roots.fine(k + l * step); }),
                 load_each<T>([&](int l) { return roots.coarse(k + l * step); }));
}

/// Numbers that a vector holds of one line.
template <class T>
inline constexpr int run = lanes<T> / 2;
/// The next `run` numbers of each line, which lie behind each other there.
template <class T>
inline void load_runs(const T* const* lines, std::int64_t offset, Cx<Vector<T>>* cells) {
    Vector<T> v[lanes<T>];
#pragma GCC unroll 8
    for (int l = 0; l < lanes<T>; ++l) v[l] = load_vector(lines[l] + offset);
    transpose(v);
#pragma GCC unroll 4
    for (int k = 0; k < run<T>; ++k) cells[k] = {v[2 * k], v[2 * k + 1]};
}
template <class T>
inline void store_runs(T* const* lines, std::int64_t offset, const Cx<Vector<T>>* cells) {
    Vector<T> v[lanes<T>];
#pragma GCC unroll 4
    for (int k = 0; k < run<T>; ++k) {
        v[2 * k] = cells[k].re;
        v[2 * k + 1] = cells[k].im;
    }
    transpose(v);
#pragma GCC unroll 8
    for (int l = 0; l < lanes<T>; ++l) store_vector(lines[l] + offset, v[l]);
}

/// Whether a number of each lane lies beside that of the lane before it; it has so many parts.
template <class T>
inline bool are_beside(T* const* lines, int parts = 2) {
    for (int l = 1; l < lanes<T>; ++l) {
        if (lines[l] != lines[0] + parts * l) return false;
    }
    return true;
}

}  // namespace unisono::library::fft
