// As vector_sort.cpp, this file is compiled by Highway once per instruction set.
#include "library/linalg/vector_solve.h"

#if defined(UNISONO_HIGHWAY)

#define HWY_DISABLE_PCLMUL_AES 1
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "library/linalg/vector_solve.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/limits.h"
#include "core/processor.h"
#include "core/threads/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace unisono::library::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t block_rows = 4;

/// The factors of one matrix and the loops over them; Parts is 2 for complex numbers, whose real
/// and imaginary parts lie in rows of their own.
template <class Real, int Parts>
class VectorSolver {
    using Tag = hn::ScalableTag<Real>;
    using Vector = hn::Vec<Tag>;
    using Number = std::conditional_t<Parts == 2, std::complex<Real>, Real>;
    static constexpr Tag tag{};
    static constexpr std::int64_t lanes = hn::MaxLanes(Tag());
    // Four rows of so many vectors are sums in registers; the others hold operands.
    static constexpr int vectors = (HWY_TARGET <= HWY_AVX3 ? 4 : 2) / Parts;

  public:
    static constexpr std::int64_t width = vectors * lanes;

    explicit VectorSolver(std::int64_t n)
        : n_(n),
          padded_((n + block_rows - 1) / block_rows * block_rows),
          packed_(std::make_unique_for_overwrite<Real[]>(
              static_cast<std::size_t>(padded_ * padded_ * Parts))),
          inverses_(static_cast<std::size_t>(padded_), Number(1)),
          order_(static_cast<std::size_t>(n)) {}

    /// Gaussian elimination with exchanged rows; false where a pivot is zero.
    bool factor(const Number* matrix) {
        const std::int64_t stride = n_ + lanes;  // vectors run over the end of a row
        auto rows = std::make_unique<Real[]>(static_cast<std::size_t>(n_ * Parts * stride));
        for (std::int64_t i = 0; i < n_; ++i) {
            Real* row = order_[static_cast<std::size_t>(i)] = rows.get() + i * Parts * stride;
            const Real* from = reinterpret_cast<const Real*>(matrix + i * n_);
            for (std::int64_t j = 0; j < n_; ++j) {
                for (int p = 0; p < Parts; ++p) row[p * stride + j] = from[j * Parts + p];
            }
        }
        for (std::int64_t k = 0; k < n_; ++k) {
            std::swap(order_[static_cast<std::size_t>(k)],
                      order_[static_cast<std::size_t>(pivot_of(k, stride))]);
            const Real* pivot = row(k);
            const Number value = number_at(pivot, k, stride);
            if (value == Number(0)) return false;
            const Number inverse = Number(1) / value;
            inverses_[static_cast<std::size_t>(k)] = inverse;
            const bool is_finite = std::isfinite(std::abs(inverse));
            for (std::int64_t i = k + 1; i < n_; ++i) {
                Number x = number_at(row(i), k, stride);
                x = is_finite ? product(x, inverse) : x / value;
                set_number(row(i), k, stride, x);
            }
            std::int64_t i = k + 1;
            for (; i + block_rows <= n_; i += block_rows) {
                eliminate<block_rows>(pivot, k, i, stride);
            }
            for (; i < n_; ++i) eliminate<1>(pivot, k, i, stride);
        }
        pack(stride);
        for (std::int64_t i = 0; i < n_; ++i) {
            std::ptrdiff_t at = order_[static_cast<std::size_t>(i)] - rows.get();
            source_row_.push_back(at / (Parts * stride));
        }
        return true;
    }

    std::size_t work() const { return static_cast<std::size_t>(padded_ * width * Parts); }

    /// Columns [first, first + count) of the right side, at most `width`.
    void solve(std::int64_t k, std::int64_t first, std::int64_t count, const Number* right,
               Number* x, Real* HWY_RESTRICT work) const {
        for (std::int64_t i = 0; i < padded_; ++i) {
            Real* to = work + i * width * Parts;
            if (i >= n_) {
                std::fill_n(to, width * Parts, Real(0));
                continue;
            }
            const Real* from = reinterpret_cast<const Real*>(
                right + source_row_[static_cast<std::size_t>(i)] * k + first);
            if (count == width)
                take(from, to);
            else
                for (int p = 0; p < Parts; ++p) {
                    for (std::int64_t j = 0; j < width; ++j)
                        to[p * width + j] = j < count ? from[j * Parts + p] : Real(0);
                }
        }
        for (std::int64_t i = 0; i < padded_; i += block_rows) forward(i, work);
        // What is not finite made NaN of the rows that fill the last block: backward reads them.
        std::fill_n(work + n_ * width * Parts, (padded_ - n_) * width * Parts, Real(0));
        for (std::int64_t i = padded_ - block_rows; i >= 0; i -= block_rows) backward(i, work);
        for (std::int64_t i = 0; i < n_; ++i) {
            const Real* from = work + i * width * Parts;
            Real* to = reinterpret_cast<Real*>(x + i * k + first);
            if (count == width)
                give(from, to);
            else
                for (int p = 0; p < Parts; ++p) {
                    for (std::int64_t j = 0; j < count; ++j)
                        to[j * Parts + p] = from[p * width + j];
                }
        }
    }

  private:
    /// So many columns of one row of the right side.
    struct Piece {
        Vector of[Parts][vectors];
    };

    Real* row(std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }

    static Number product(Number a, Number b) {
        if constexpr (Parts == 2)
            return {std::fma(a.real(), b.real(), -(a.imag() * b.imag())),
                    std::fma(a.real(), b.imag(), a.imag() * b.real())};
        else
            return a * b;
    }
    static Number number_at(const Real* row, std::int64_t k, std::int64_t stride) {
        if constexpr (Parts == 2)
            return {row[k], row[stride + k]};
        else
            return row[k];
    }
    static void set_number(Real* row, std::int64_t k, std::int64_t stride, Number x) {
        if constexpr (Parts == 2) {
            row[k] = x.real();
            row[stride + k] = x.imag();
        } else {
            row[k] = x;
        }
    }

    /// The row of the largest element, or of the first NaN.
    std::int64_t pivot_of(std::int64_t k, std::int64_t stride) const {
        std::int64_t best = k;
        Real largest = -1;
        for (std::int64_t i = k; i < n_; ++i) {
            Real size = std::abs(row(i)[k]);
            if (Parts == 2) size += std::abs(row(i)[stride + k]);
            if (size <= largest) continue;
            best = i;
            largest = size;
            if (std::isnan(size)) break;
        }
        return best;
    }

    /// Takes multiples of the pivot's row from rows of [i, i + Count), behind column k.
    template <int Count>
    void eliminate(const Real* HWY_RESTRICT pivot, std::int64_t k, std::int64_t i,
                   std::int64_t stride) const {
        Real* rows[Count];
        Vector factors[Count][Parts];
#pragma GCC unroll 4
        for (int r = 0; r < Count; ++r) {
            rows[r] = row(i + r);
            for (int p = 0; p < Parts; ++p) factors[r][p] = hn::Set(tag, rows[r][p * stride + k]);
        }
        for (std::int64_t j = k + 1; j < n_; j += lanes) {
            const Vector real = hn::LoadU(tag, pivot + j);
            if constexpr (Parts == 2) {
                const Vector imaginary = hn::LoadU(tag, pivot + stride + j);
#pragma GCC unroll 4
                for (int r = 0; r < Count; ++r) {
                    Vector a = hn::LoadU(tag, rows[r] + j);
                    Vector b = hn::LoadU(tag, rows[r] + stride + j);
                    a = hn::NegMulAdd(factors[r][0], real, a);
                    b = hn::NegMulAdd(factors[r][0], imaginary, b);
                    a = hn::MulAdd(factors[r][1], imaginary, a);
                    b = hn::NegMulAdd(factors[r][1], real, b);
                    hn::StoreU(a, tag, rows[r] + j);
                    hn::StoreU(b, tag, rows[r] + stride + j);
                }
            } else {
#pragma GCC unroll 4
                for (int r = 0; r < Count; ++r) {
                    Vector a = hn::LoadU(tag, rows[r] + j);
                    hn::StoreU(hn::NegMulAdd(factors[r][0], real, a), tag, rows[r] + j);
                }
            }
        }
    }

    /// Blocks of four rows, of which each column lies in one piece.
    void pack(std::int64_t stride) {
        Real* to = packed_.get();
        for (std::int64_t i = 0; i < padded_; i += block_rows) {
            for (std::int64_t j = 0; j < padded_; ++j) {
                for (int p = 0; p < Parts; ++p) {
                    for (std::int64_t r = i; r < i + block_rows; ++r)
                        *to++ = r < n_ && j < n_ ? row(r)[p * stride + j] : Real(0);
                }
            }
        }
    }
    /// Column j of the rows from i on.
    const Real* column(std::int64_t i, std::int64_t j) const {
        return packed_.get() + (i * padded_ + j * block_rows) * Parts;
    }

    HWY_INLINE static Piece load(const Real* from) {
        Piece x;
#pragma GCC unroll 4
        for (int p = 0; p < Parts; ++p) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                x.of[p][v] = hn::LoadU(tag, from + p * width + v * lanes);
        }
        return x;
    }
    HWY_INLINE static void store(const Piece& x, Real* to) {
#pragma GCC unroll 4
        for (int p = 0; p < Parts; ++p) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                hn::StoreU(x.of[p][v], tag, to + p * width + v * lanes);
        }
    }
    /// sum -= factor * x, where the factor is element r of a column.
    HWY_INLINE static void subtract(Piece& sum, const Real* column, int r, const Piece& x) {
        const Vector real = hn::Set(tag, column[r]);
#pragma GCC unroll 4
        for (int p = 0; p < Parts; ++p) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                sum.of[p][v] = hn::NegMulAdd(real, x.of[p][v], sum.of[p][v]);
        }
        if constexpr (Parts == 2) {
            const Vector imaginary = hn::Set(tag, column[block_rows + r]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                sum.of[0][v] = hn::MulAdd(imaginary, x.of[1][v], sum.of[0][v]);
                sum.of[1][v] = hn::NegMulAdd(imaginary, x.of[0][v], sum.of[1][v]);
            }
        }
    }
    HWY_INLINE static Piece scaled(const Piece& x, Number factor) {
        Piece y;
        const Vector real = hn::Set(tag, std::real(factor));
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            if constexpr (Parts == 2) {
                const Vector imaginary = hn::Set(tag, std::imag(factor));
                y.of[0][v] = hn::NegMulAdd(imaginary, x.of[1][v], hn::Mul(real, x.of[0][v]));
                y.of[1][v] = hn::MulAdd(imaginary, x.of[0][v], hn::Mul(real, x.of[1][v]));
            } else {
                y.of[0][v] = hn::Mul(real, x.of[0][v]);
            }
        }
        return y;
    }

    void forward(std::int64_t i, Real* HWY_RESTRICT work) const {
        Real* const rows = work + i * width * Parts;
        constexpr std::int64_t row = width * Parts;
        Piece a = load(rows), b = load(rows + row), c = load(rows + 2 * row),
              d = load(rows + 3 * row);
        subtract_all(a, b, c, d, column(i, 0), work, i);
        subtract(b, column(i, i), 1, a);
        subtract(c, column(i, i), 2, a);
        subtract(d, column(i, i), 3, a);
        subtract(c, column(i, i + 1), 2, b);
        subtract(d, column(i, i + 1), 3, b);
        subtract(d, column(i, i + 2), 3, c);
        store(a, rows);
        store(b, rows + row);
        store(c, rows + 2 * row);
        store(d, rows + 3 * row);
    }
    void backward(std::int64_t i, Real* HWY_RESTRICT work) const {
        Real* const rows = work + i * width * Parts;
        constexpr std::int64_t row = width * Parts;
        const Number* inverse = inverses_.data() + i;
        Piece a = load(rows), b = load(rows + row), c = load(rows + 2 * row),
              d = load(rows + 3 * row);
        const std::int64_t behind = i + block_rows;
        subtract_all(a, b, c, d, column(i, behind), work + behind * row, padded_ - behind);
        d = scaled(d, inverse[3]);
        subtract(c, column(i, i + 3), 2, d);
        subtract(b, column(i, i + 3), 1, d);
        subtract(a, column(i, i + 3), 0, d);
        c = scaled(c, inverse[2]);
        subtract(b, column(i, i + 2), 1, c);
        subtract(a, column(i, i + 2), 0, c);
        b = scaled(b, inverse[1]);
        subtract(a, column(i, i + 1), 0, b);
        store(scaled(a, inverse[0]), rows);
        store(b, rows + row);
        store(c, rows + 2 * row);
        store(d, rows + 3 * row);
    }
    HWY_INLINE static void subtract_all(Piece& a, Piece& b, Piece& c, Piece& d, const Real* column,
                                        const Real* HWY_RESTRICT work, std::int64_t count) {
        for (std::int64_t j = 0; j < count; ++j) {
            const Piece x = load(work + j * width * Parts);
            subtract(a, column, 0, x);
            subtract(b, column, 1, x);
            subtract(c, column, 2, x);
            subtract(d, column, 3, x);
            column += block_rows * Parts;
        }
    }

    /// `width` elements of a row, parts apart.
    static void take(const Real* from, Real* to) {
        for (int v = 0; v < vectors; ++v) {
            if constexpr (Parts == 2) {
                Vector real, imaginary;
                hn::LoadInterleaved2(tag, from + v * lanes * 2, real, imaginary);
                hn::StoreU(real, tag, to + v * lanes);
                hn::StoreU(imaginary, tag, to + width + v * lanes);
            } else {
                hn::StoreU(hn::LoadU(tag, from + v * lanes), tag, to + v * lanes);
            }
        }
    }
    static void give(const Real* from, Real* to) {
        for (int v = 0; v < vectors; ++v) {
            const Vector real = hn::LoadU(tag, from + v * lanes);
            if constexpr (Parts == 2)
                hn::StoreInterleaved2(real, hn::LoadU(tag, from + width + v * lanes), tag,
                                      to + v * lanes * 2);
            else
                hn::StoreU(real, tag, to + v * lanes);
        }
    }

    std::int64_t n_, padded_;
    std::unique_ptr<Real[]> packed_;
    std::vector<Number> inverses_;
    std::vector<Real*> order_;
    std::vector<std::int64_t> source_row_;
};

template <class Real, int Parts, class T>
bool solve_small(std::int64_t n, std::int64_t k, const T* matrix, const T* right, T* x) {
    using Solver = VectorSolver<Real, Parts>;
    Solver solver(n);
    if (!solver.factor(matrix)) return false;
    constexpr std::int64_t width = Solver::width;
    // Each share is worth waking a thread.
    const std::int64_t grain =
        std::max<std::int64_t>(1, limits::thread_operations / (n * n * width * Parts));
    parallel_for(0, (k + width - 1) / width, grain, [&](std::int64_t begin, std::int64_t end) {
        auto work = std::make_unique_for_overwrite<Real[]>(solver.work());
        for (std::int64_t tile = begin; tile < end; ++tile) {
            const std::int64_t first = tile * width;
            solver.solve(k, first, std::min(width, k - first), right, x, work.get());
        }
    });
    return true;
}

}  // namespace

bool solve_f(std::int64_t n, std::int64_t k, const float* a, const float* b, float* x) {
    return solve_small<float, 1>(n, k, a, b, x);
}
bool solve_d(std::int64_t n, std::int64_t k, const double* a, const double* b, double* x) {
    return solve_small<double, 1>(n, k, a, b, x);
}
bool solve_c(std::int64_t n, std::int64_t k, const std::complex<float>* a,
             const std::complex<float>* b, std::complex<float>* x) {
    return solve_small<float, 2>(n, k, a, b, x);
}
bool solve_z(std::int64_t n, std::int64_t k, const std::complex<double>* a,
             const std::complex<double>* b, std::complex<double>* x) {
    return solve_small<double, 2>(n, k, a, b, x);
}

}  // namespace unisono::library::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unisono::library {

namespace {

#if HWY_TARGETS & HWY_AVX3
#define UNISONO_DISPATCH(function) \
    (has_avx512() ? N_AVX3::function(n, k, a, b, x) : HWY_STATIC_DISPATCH(function)(n, k, a, b, x))
#else
#define UNISONO_DISPATCH(function) HWY_STATIC_DISPATCH(function)(n, k, a, b, x)
#endif

}  // namespace

template <class T>
bool worth_vectors(std::int64_t n, std::int64_t k) {
    constexpr std::int64_t in_cache = 1 << 17;  // bytes of a matrix that is read for each tile
    constexpr std::int64_t few = 8;
    // Kernels of BLAS for tiny systems may multiply by a reciprocal, or infinities by zeros.
    return (k >= few || n <= few) && n * n * static_cast<std::int64_t>(sizeof(T)) <= in_cache;
}

template <>
bool solve_in_vectors(std::int64_t n, std::int64_t k, const float* a, const float* b, float* x) {
    return UNISONO_DISPATCH(solve_f);
}
template <>
bool solve_in_vectors(std::int64_t n, std::int64_t k, const double* a, const double* b, double* x) {
    return UNISONO_DISPATCH(solve_d);
}
template <>
bool solve_in_vectors(std::int64_t n, std::int64_t k, const std::complex<float>* a,
                      const std::complex<float>* b, std::complex<float>* x) {
    return UNISONO_DISPATCH(solve_c);
}
template <>
bool solve_in_vectors(std::int64_t n, std::int64_t k, const std::complex<double>* a,
                      const std::complex<double>* b, std::complex<double>* x) {
    return UNISONO_DISPATCH(solve_z);
}

template bool worth_vectors<float>(std::int64_t, std::int64_t);
template bool worth_vectors<double>(std::int64_t, std::int64_t);
template bool worth_vectors<std::complex<float>>(std::int64_t, std::int64_t);
template bool worth_vectors<std::complex<double>>(std::int64_t, std::int64_t);

}  // namespace unisono::library
#endif  // HWY_ONCE

#else  // UNISONO_HIGHWAY

namespace unisono::library {

template <class T>
bool worth_vectors(std::int64_t, std::int64_t) {
    return false;
}
template <class T>
bool solve_in_vectors(std::int64_t, std::int64_t, const T*, const T*, T*) {
    return false;
}

#define UNISONO_INSTANCES(T)                                    \
    template bool worth_vectors<T>(std::int64_t, std::int64_t); \
    template bool solve_in_vectors(std::int64_t, std::int64_t, const T*, const T*, T*);
UNISONO_INSTANCES(float)
UNISONO_INSTANCES(double)
UNISONO_INSTANCES(std::complex<float>)
UNISONO_INSTANCES(std::complex<double>)

}  // namespace unisono::library

#endif
