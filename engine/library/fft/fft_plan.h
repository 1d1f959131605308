// The plan of a transform of one length: factors, roots of unity, and the passes over them.
//
// Stockham's autosorting passes of radix 4, 2, 3, 5 and other primes; lengths with a large prime
// factor go through a convolution (Bluestein). Passes are templates over the element: a vector
// holds one element of each of several lines, so that all arithmetic is vertical. Transforms here
// are forward; backward ones swap real and imaginary parts on the way in and out.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/vectors.h"

namespace unisono::library::fft {

template <class X>
struct Cx {
    X re, im;
};
template <class X>
inline Cx<X> operator+(Cx<X> a, Cx<X> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class X>
inline Cx<X> operator-(Cx<X> a, Cx<X> b) {
    return {a.re - b.re, a.im - b.im};
}
/// a times a root of unity.
template <class X, class T>
inline Cx<X> times(Cx<X> a, const std::complex<T>& w) {
    return {a.re * w.real() - a.im * w.imag(), a.re * w.imag() + a.im * w.real()};
}
/// The same, with a root for each lane.
template <class X>
inline Cx<X> times(Cx<X> a, Cx<X> w) {
    return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}

/// Elements of a vector of 32 bytes.
template <class T>
inline constexpr int lanes = 32 / static_cast<int>(sizeof(T));
template <class T>
using Vector = typename VectorOf<T, 32>::type;

/// exp(-2 pi i k / n), correct to the last bits.
template <class T>
std::complex<T> root(std::int64_t k, std::int64_t n);

template <class T>
class Plan {
  public:
    explicit Plan(std::int64_t n);
    std::int64_t length() const { return n_; }
    /// Cells of scratch memory that run() needs beside the data.
    std::int64_t scratch() const;
    /// Transforms n cells of data; the result lies in the returned one of data and scratch.
    template <class X>
    Cx<X>* run(Cx<X>* data, Cx<X>* scratch) const;

    /// Plans are kept: most programs transform few lengths.
    static std::shared_ptr<const Plan> of(std::int64_t n);

  private:
    struct Pass {
        std::int64_t radix, l1, ido;
        std::vector<std::complex<T>> twiddles;  ///< [radix - 1][ido]
        std::vector<std::complex<T>> roots;     ///< of unity, `radix` of them
    };
    void factor();
    void make_chirp();
    template <class X>
    Cx<X>* passes(Cx<X>* data, Cx<X>* scratch) const;
    template <class X>
    Cx<X>* convolve(Cx<X>* data, Cx<X>* scratch) const;

    std::int64_t n_;
    std::vector<Pass> passes_;
    std::shared_ptr<const Plan> inner_;  ///< of the convolution; null without
    std::vector<std::complex<T>> chirp_, filter_;
};

/// All n roots of unity as products of two from short tables: an error of an ulp, no long table.
template <class T>
class Roots {
  public:
    explicit Roots(std::int64_t n);
    /// exp(-2 pi i k / n) for 0 <= k < n.
    std::complex<T> operator()(std::int64_t k) const {
        const std::complex<T> a = *fine(k), b = *coarse(k);
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    }
    static std::shared_ptr<const Roots> of(std::int64_t n);

    /// Where the factors of a root lie.
    const std::complex<T>* fine(std::int64_t k) const { return fine_.data() + (k & mask_); }
    const std::complex<T>* coarse(std::int64_t k) const { return coarse_.data() + (k >> shift_); }

  private:
    std::vector<std::complex<T>> fine_, coarse_;
    std::int64_t mask_ = 0;
    int shift_ = 0;
};

/// The smallest length of factors 2, 3 and 5 that is at least n.
std::int64_t good_length(std::int64_t n);
/// The largest divisor of n that is at most its root, made of its prime factors; 1 if a factor is
/// too large for passes.
std::int64_t middle_divisor(std::int64_t n);

}  // namespace unisono::library::fft
