// Runs products of matrices by BLAS on one thread over fixed tiles, or by own loops.
//
// The tiles follow from the shapes alone and the summed axis is never split between them, so the
// bits do not depend on the number of threads. Bools, integers and float16 take own loops.
#include "library/linalg/multiply.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "library/linalg/blas.h"
#include "library/linalg/matvec.h"
#include "library/linalg/multiply_plain.h"
#include "library/linalg/vector_products.h"

namespace unisono::library {

namespace {

template <class T>
struct Matrix {
    T* data;
    std::int64_t row, column;  ///< strides
};

/// Products this small cost less in plain loops than in a call of BLAS.
bool is_tiny(Sizes s) { return s.m * s.n * s.k <= 256; }

/// out = a b + scale out.
template <class T>
void call_gemm(Sizes s, Matrix<const T> a, Matrix<const T> b, T scale, T* out,
               std::int64_t out_row) {
    static void* const gemm = blas::routine_for<T>("gemm");
    auto ta = transposition(s.m, s.k, a.row, a.column);
    auto tb = transposition(s.k, s.n, b.row, b.column);
    blas::call(gemm, tb.letter, ta.letter, s.n, s.m, s.k, T(1), b.data, tb.leading, a.data,
               ta.leading, scale, out, out_row);
}

template <class T>
void multiply_blas(Sizes s, Matrix<const T> a, Matrix<const T> b, T* out, std::int64_t out_row) {
    auto ta = transposition(s.m, s.k, a.row, a.column);
    auto tb = transposition(s.k, s.n, b.row, b.column);
    if (s.n == 1 && b.row > 0 && s.m > 1) {
        static void* const gemv = blas::routine_for<T>("gemv");
        // BLAS is column-major: the transposed matrix lies in memory.
        bool dense_rows = ta.letter == 'N';
        blas::call(gemv, dense_rows ? 'T' : 'N', dense_rows ? s.k : s.m, dense_rows ? s.m : s.k,
                   T(1), a.data, ta.leading, b.data, b.row, T(0), out, out_row);
        return;
    }
    if (s.m == 1 && a.column > 0 && s.n > 1) {
        static void* const gemv = blas::routine_for<T>("gemv");
        bool dense_rows = tb.letter == 'N';
        blas::call(gemv, dense_rows ? 'N' : 'T', dense_rows ? s.n : s.k, dense_rows ? s.k : s.n,
                   T(1), b.data, tb.leading, a.data, a.column, T(0), out, std::int64_t{1});
        return;
    }
    call_gemm(s, a, b, T(0), out, out_row);
}

/// A product with a vector of floats, which finds its own threads; false where it is none.
template <class T>
bool multiply_vector(Sizes s, Matrix<const T> a, Matrix<const T> b, T* out, std::int64_t out_row) {
    if (s.n == 1 && s.m > 1 && out_row == 1) {
        auto t = transposition(s.m, s.k, a.row, a.column);
        if (t.letter == 'N') {
            matrix_times_vector<T>({a.data, s.m, s.k, t.leading}, b.data, b.row, out);
        } else {
            vector_times_matrix<T>({a.data, s.k, s.m, t.leading}, b.data, b.row, out);
        }
        return true;
    }
    if (s.m == 1 && s.n > 1) {
        auto t = transposition(s.k, s.n, b.row, b.column);
        if (t.letter == 'N') {
            vector_times_matrix<T>({b.data, s.k, s.n, t.leading}, a.data, a.column, out);
        } else {
            matrix_times_vector<T>({b.data, s.n, s.k, t.leading}, a.data, a.column, out);
        }
        return true;
    }
    return false;
}

/// The sum of few products, in order: the bits of multiply_plain.
template <class T>
T plain_dot(std::int64_t k, const T* x, std::int64_t x_step, const T* y, std::int64_t y_step) {
    if constexpr (std::is_same_v<T, bool>) {
        T sum = false;
        multiply_plain<T>(1, 1, k, x, 0, x_step, y, y_step, 0, &sum, 1);
        return sum;
    } else {
        using Sum = sum_of<T>;
        Sum sum(0);
        for (std::int64_t p = 0; p < k; ++p)
            sum += times(static_cast<Sum>(x[p * x_step]), static_cast<Sum>(y[p * y_step]));
        return static_cast<T>(sum);
    }
}

template <class T>
T dot(std::int64_t count, const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride) {
    if constexpr (std::is_floating_point_v<T> && blas::letter<T> != 0) {
        if (count >= limits::dot_lanes && x_stride == 1 && y_stride == 1 && blas::present()) {
            static void* const routine = blas::routine_for<T>("dot");
            return blas::call<T>(routine, count, x, x_stride, y, y_stride);
        }
        if (count >= limits::dot_lanes) return dot_product<T>(count, x, x_stride, y, y_stride);
    }
    return plain_dot(count, x, x_stride, y, y_stride);
}

/// Sums of long vectors: pieces of fixed length, added in order.
template <class T>
T dot_in_pieces(std::int64_t count, const T* x, std::int64_t x_stride, const T* y,
                std::int64_t y_stride) {
    constexpr std::int64_t piece = 1 << 15;
    if (count <= piece) return dot(count, x, x_stride, y, y_stride);
    std::int64_t pieces = (count + piece - 1) / piece;
    auto sums = std::make_unique<T[]>(static_cast<std::size_t>(pieces));
    parallel_for(0, pieces, 2, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) {
            std::int64_t from = p * piece;
            sums[static_cast<std::size_t>(p)] =
                dot(std::min(piece, count - from), x + from * x_stride, x_stride,
                    y + from * y_stride, y_stride);
        }
    });
    T total = sums[0];
    for (std::int64_t p = 1; p < pieces; ++p)
        total = add_plain(total, sums[static_cast<std::size_t>(p)]);
    return total;
}

template <class T>
void multiply(Sizes s, Matrix<const T> a, Matrix<const T> b, T* out, std::int64_t out_row) {
    if constexpr (std::is_floating_point_v<T> && blas::letter<T> != 0) {
        if (s.m == 1 && s.n == 1) {  // one of a stack; BLAS packs both operands of a product
            *out = dot_in_pieces(s.k, a.data, a.column, b.data, b.row);
            return;
        }
        if (!is_tiny(s) && multiply_vector(s, a, b, out, out_row)) return;
    }
    if constexpr (blas::letter<T> != 0) {
        if (!is_tiny(s) && blas::present()) return multiply_blas(s, a, b, out, out_row);
    }
    multiply_plain(s.m, s.n, s.k, a.data, a.row, a.column, b.data, b.row, b.column, out, out_row);
}

/// The largest power of two, up to `most`, that leaves pieces of at least `least` elements.
std::int64_t pieces(std::int64_t extent, std::int64_t least, std::int64_t most) {
    std::int64_t n = 1;
    while (2 * n <= most && extent / (2 * n) >= least) n *= 2;
    return n;
}

struct Tiling {
    std::int64_t rows, columns;  ///< of a tile
    std::int64_t down, across;   ///< numbers of tiles
    std::int64_t grain;          ///< tiles per chunk
};

/// `whole`: products with vectors are not cut.
Tiling tile(Sizes s, std::int64_t count, bool whole) {
    double work = static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    Tiling t{s.m, s.n, 1, 1, 1};
    bool vector = s.m == 1 || s.n == 1;
    if (work >= (vector ? 1 : 8) * limits::thread_product_operations && !(vector && whole)) {
        if (vector) {
            // A product with a vector reads the matrix once: blocks of whole rows, or of columns
            // as wide as memory likes.
            auto rows = static_cast<std::int64_t>(limits::thread_product_operations / 4) / s.k;
            t.rows = std::min(s.m, std::max<std::int64_t>(16, rows / 16 * 16));
            t.columns = std::min(s.n, std::max<std::int64_t>(128, s.n / 16 / 64 * 64));
        } else {
            // BLAS packs both operands of each call: wide bands of many rows cost least.
            constexpr std::int64_t band = 240, strip = 512, unroll = 8;
            std::int64_t down = pieces(s.m, band, 16);
            std::int64_t across =
                pieces(s.n, down > 1 ? strip : strip / 4, 8 / std::min<std::int64_t>(down, 8));
            auto is_long = [&] {
                return work > limits::most_tile_operations * static_cast<double>(down * across);
            };
            while (is_long() && s.n / (2 * across) >= strip) across *= 2;
            while (is_long() && s.m / (2 * down) >= strip) down *= 2;
            t.rows = ((s.m + down - 1) / down + unroll - 1) / unroll * unroll;
            t.columns = ((s.n + across - 1) / across + unroll - 1) / unroll * unroll;
        }
        t.down = (s.m + t.rows - 1) / t.rows;
        t.across = (s.n + t.columns - 1) / t.columns;
    }
    double per_tile = work / static_cast<double>(t.down * t.across);
    if (count > 1 || t.down * t.across > 1)
        t.grain = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(limits::thread_product_operations / (vector ? 4 : 1) /
                                         std::max(1.0, per_tile)));
    return t;
}

/// Offset of matrix number `index` of a stack.
std::int64_t stack_offset(const MatrixStack& v, std::int64_t index) {
    Dims shape = v.shape, strides = v.strides;
    std::int64_t offset = 0;
    if (shape.size() == 2) return offset;
    for (std::size_t axis = shape.size() - 3; axis > 0; --axis) {
        offset += index % shape[axis] * strides[axis];
        index /= shape[axis];
    }
    return offset + index * strides[0];
}

/// The row stride of a stack whose rows all lie equally far apart, one matrix after the other; 0 if
/// they do not.
std::int64_t common_row_stride(const MatrixStack& v) {
    Dims shape = v.shape, strides = v.strides;
    std::int64_t stride = 0, next = 0;  // of the rows; of the axis outside of those seen
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
        if (shape[axis] == 1) continue;
        if (stride == 0) stride = next = strides[axis];
        if (strides[axis] != next) return 0;
        next *= shape[axis];
    }
    return stride;
}

/// Whether all matrices of a stack are the same one.
bool is_repeated(const MatrixStack& v) {
    Dims strides = v.strides;
    return std::all_of(strides.begin(), strides.end() - 2, [](auto s) { return s == 0; });
}

/// Whether b is a transposed, so that the product is symmetric.
template <class T>
bool is_transposed(Sizes s, Matrix<const T> a, Matrix<const T> b) {
    return a.data == b.data && s.m == s.n && a.row == b.column && a.column == b.row;
}

/// Copies what lies right of the diagonal in rows [from, to) and columns [left, right) of a square
/// matrix to its mirror image.
template <class T>
void mirror(T* out, std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t left,
            std::int64_t right) {
    constexpr std::int64_t block = 32;  // both sides of a block stay in the first cache
    for (std::int64_t j = left; j < right; j += block) {
        std::int64_t end = std::min(right, j + block);
        for (std::int64_t i = from; i < to; i += block) {
            for (std::int64_t c = j; c < end; ++c) {
                for (std::int64_t r = i; r < std::min({to, i + block, c}); ++r)
                    out[c * size + r] = out[r * size + c];
            }
        }
    }
}

/// out = a a^T: bands of rows, of which only what is right of the diagonal is computed. Bands whose
/// products take long are cut into square blocks.
template <class T>
void multiply_symmetric(Sizes s, Matrix<const T> a, T* out) {
    constexpr std::int64_t unroll = 8;
    static void* const syrk = blas::routine_for<T>("syrk");
    auto t = transposition(s.m, s.k, a.row, a.column);
    auto operations = [&](std::int64_t rows, std::int64_t columns) {
        return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(s.k);
    };
    std::int64_t bands = 8;
    while (operations(s.m / bands, s.m / bands) > limits::most_tile_operations) bands *= 2;
    const std::int64_t rows = ((s.m + bands - 1) / bands + unroll - 1) / unroll * unroll;
    const std::int64_t count = (s.m + rows - 1) / rows;
    const bool in_blocks = operations(rows, s.m) > limits::most_tile_operations;
    std::vector<std::pair<std::int64_t, std::int64_t>> tiles;  // first row and column
    for (std::int64_t q = 0; q < count; ++q) {
        // Long and short bands in turn, so that each thread's first ones cost the same.
        const std::int64_t i = (q % 2 ? count - 1 - q / 2 : q / 2) * rows;
        for (std::int64_t j = i; j < s.m; j += in_blocks ? rows : s.m) tiles.emplace_back(i, j);
    }
    parallel_for(0, std::ssize(tiles), 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q) {
            const auto [i, j] = tiles[static_cast<std::size_t>(q)];
            const std::int64_t high = std::min(rows, s.m - i);
            const std::int64_t end = in_blocks ? std::min(j + rows, s.m) : s.m;
            const Matrix<const T> band{a.data + i * a.row, a.row, a.column};
            T* to = out + i * s.m;
            std::int64_t from = j;
            if (j == i) {
                blas::call(syrk, 'L', t.letter == 'N' ? 'T' : 'N', high, s.k, T(1), band.data,
                           t.leading, T(0), to + i, s.m);
                from = i + high;
            }
            if (from < end) {
                const Matrix<const T> rest{a.data + from * a.row, a.column, a.row};
                multiply_blas({high, end - from, s.k}, band, rest, to + from, s.m);
            }
            mirror(out, s.m, i, i + high, j, end);
        }
    });
}

/// Operands of equal leading axes, [..., m, k] and [..., k, n]; `out` is packed.
template <class T>
void run_typed(const MatrixStack& a, const MatrixStack& b, T* out) {
    Dims as = a.shape, bs = b.shape;
    std::size_t rank = as.size();
    Sizes s{as[rank - 2], bs[rank - 1], as[rank - 1]};
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis + 2 < rank; ++axis) count *= as[axis];
    if (s.m * s.n * count == 0) return;
    if (s.k == 0) {
        std::memset(static_cast<void*>(out), 0,
                    sizeof(T) * static_cast<std::size_t>(s.m * s.n * count));
        return;
    }
    Dims ad = a.strides, bd = b.strides;
    Matrix<const T> ma{static_cast<const T*>(a.data), ad[rank - 2], ad[rank - 1]};
    Matrix<const T> mb{static_cast<const T*>(b.data), bd[rank - 2], bd[rank - 1]};
    if (count > 1 && is_repeated(b)) {
        std::int64_t row = common_row_stride(a), rows = s.m * count;
        if (row != 0 && transposition(rows, s.k, row, ma.column).letter) {
            s.m = rows;  // a stack of products with one matrix is one product
            ma.row = row;
            count = 1;
        }
    }
    if (s.m == 1 && s.n == 1 && count == 1) {
        *out = dot_in_pieces(s.k, ma.data, ma.column, mb.data, mb.row);
        return;
    }
    if constexpr (std::is_floating_point_v<T> && blas::letter<T> != 0) {
        const auto right = transposition(s.k, s.n, mb.row, mb.column);
        const DenseRows<T> rows{mb.data, s.k, s.n, right.leading};
        if (count == 1 && right.letter == 'N' && is_worth_one_pass(rows, s.m))
            return few_rows_times_matrix<T>(rows, {ma.data, s.m, ma.row, ma.column}, out);
    }
    Tiling t = tile(s, count, std::is_floating_point_v<T> && blas::letter<T> != 0);
    if constexpr (std::is_floating_point_v<T> && blas::letter<T> != 0) {
        if (count == 1 && t.down * t.across > 1 && blas::present() && is_transposed(s, ma, mb))
            return multiply_symmetric(s, ma, out);
    }
    std::int64_t per_matrix = t.down * t.across;
    if (per_matrix == 1) {  // of small matrices, finding a tile would cost as much as the product
        parallel_for(0, count, t.grain, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t q = first; q < last; ++q) {
                const Matrix<const T> x{ma.data + stack_offset(a, q), ma.row, ma.column};
                const Matrix<const T> y{mb.data + stack_offset(b, q), mb.row, mb.column};
                multiply<T>(s, x, y, out + q * s.m * s.n, s.n);
            }
        });
        return;
    }
    parallel_for(0, count * per_matrix, t.grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q) {
            std::int64_t index = q / per_matrix, i = q % per_matrix / t.across * t.rows,
                         j = q % per_matrix % t.across * t.columns;
            Matrix<const T> x{ma.data + stack_offset(a, index) + i * ma.row, ma.row, ma.column};
            Matrix<const T> y{mb.data + stack_offset(b, index) + j * mb.column, mb.row, mb.column};
            Sizes part{std::min(t.rows, s.m - i), std::min(t.columns, s.n - j), s.k};
            multiply<T>(part, x, y, out + (index * s.m + i) * s.n + j, s.n);
        }
    });
}

template <class T>
void add_typed(const MatrixStack& a, const MatrixStack& b, T* out) {
    const Sizes s{a.shape[0], b.shape[1], a.shape[1]};
    if constexpr (blas::letter<T> != 0) {
        if (s.m > 1 && s.n > 1 && s.k > 0 && !is_tiny(s) && blas::present()) {
            const Tiling t = tile(s, 1, true);
            parallel_for(0, t.down * t.across, t.grain, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t q = first; q < last; ++q) {
                    const std::int64_t i = q / t.across * t.rows, j = q % t.across * t.columns;
                    const Matrix<const T> x{static_cast<const T*>(a.data) + i * a.strides[0],
                                            a.strides[0], a.strides[1]};
                    const Matrix<const T> y{static_cast<const T*>(b.data) + j * b.strides[1],
                                            b.strides[0], b.strides[1]};
                    const Sizes part{std::min(t.rows, s.m - i), std::min(t.columns, s.n - j), s.k};
                    call_gemm(part, x, y, T(1), out + i * s.n + j, s.n);
                }
            });
            return;
        }
    }
    const auto product = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(s.m * s.n));
    run_typed(a, b, product.get());
    for (std::int64_t k = 0; k < s.m * s.n; ++k)
        out[k] = add_plain(out[k], product[static_cast<std::size_t>(k)]);
}

}  // namespace

void add_product(DType t, const MatrixStack& a, const MatrixStack& b, void* out) {
    dispatch_all_native(t, [&]<class T>() { add_typed<T>(a, b, static_cast<T*>(out)); });
}

void multiply_stacks(DType t, const MatrixStack& a, const MatrixStack& b, void* out) {
    dispatch_all_native(t, [&]<class T>() { run_typed<T>(a, b, static_cast<T*>(out)); });
}

bool takes_strides(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
    return transposition(rows, columns, row, column).letter != 0;
}

void multiply_matrices(DType t, Sizes s, const MatrixAt& a, const MatrixAt& b, void* out) {
    dispatch_all(t, [&]<class T>() {
        multiply<T>(s, {static_cast<const T*>(a.data), a.row, a.column},
                    {static_cast<const T*>(b.data), b.row, b.column}, static_cast<T*>(out), s.n);
    });
}

Scalar dot_of(DType t, std::int64_t count, const VectorAt& x, const VectorAt& y) {
    Scalar value;
    value.dtype = t;
    dispatch_native(t, [&]<class T>() {
        if constexpr (sizeof(T) <= sizeof(value.bits)) {
            T sum{};
            if (count > 0) {
                sum = dot_in_pieces(count, static_cast<const T*>(x.data), x.step,
                                    static_cast<const T*>(y.data), y.step);
            }
            value.set(sum);
        }
    });
    return value;
}

}  // namespace unisono::library
