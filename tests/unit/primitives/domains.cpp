// Operands for each primitive: small integers in all dtypes, so that results are exact where they
// can be; matrices are well conditioned.
#include "domains.h"

#include <complex>
#include <cstring>
#include <numeric>

#include "library/gather/mask.h"
#include "library/random/random.h"
#include "tape/record/record.h"

namespace unisono::domains {

namespace {

using Shape = std::vector<std::int64_t>;

constexpr DType floats[] = {DType::Float32, DType::Float64};
constexpr DType numbers[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
constexpr DType all_dtypes[] = {
#define UNISONO_DTYPE(Name, ...) DType::Name,
#define UNISONO_COMPLEX_DTYPE(Name, ...) DType::Name,
#include "core/dtype.def"
};
/// Those in which scans and segments compute: the others are cast before.
constexpr DType computed[] = {DType::Int64, DType::Float32, DType::Float64};

const Shape lanes[] = {{9}, {1}, {3, 40}, {2, 3, 5}, {4, 1}, {2, 300}};

template <class T>
struct Cast {
    static T of(double x) { return static_cast<T>(x); }
};
template <class P>
struct Cast<std::complex<P>> {
    static std::complex<P> of(double x) { return {static_cast<P>(x), static_cast<P>(-x / 2)}; }
};

/// Element k is value(k).
template <class F>
Array made(const Shape& shape, DType t, F value) {
    Array a = empty(shape, t, nullptr);
    a.view().storage->allocate();
    dispatch_all(t, [&]<class T>() {
        auto* to = reinterpret_cast<T*>(a.view().data());
        for (std::int64_t k = 0; k < a.size(); ++k) to[k] = Cast<T>::of(value(k));
    });
    return a;
}

/// Whole numbers from 0 to 99 without an order, some of them twice.
double mixed(std::int64_t k) { return static_cast<double>((k * k * 7 + k * 31) % 100); }
Array values(const Shape& shape, DType t) { return made(shape, t, mixed); }
Array indices(std::int64_t n, std::int64_t below) {
    return made({n}, DType::Int64, [=](std::int64_t k) { return (k * 5 + 3) % below; });
}

/// Of rows x columns; square ones have a large diagonal.
Array matrices(const Shape& shape, DType t, bool symmetric = false) {
    const std::int64_t m = shape[shape.size() - 2], n = shape.back();
    return made(shape, symmetric ? part_dtype(t) : t, [=](std::int64_t k) {
        std::int64_t i = k / n % m, j = k % n;
        if (symmetric && i > j) std::swap(i, j);
        const double entry = (mixed(i * n + j + k / (m * n)) - 50) / 100;
        return i == j ? entry + static_cast<double>(n) : entry;
    });
}
Array symmetric(const Shape& shape, DType t) { return astype(matrices(shape, t, true), t, false); }

template <class A>
Examples<A> of_lanes(std::span<const DType> dtypes, std::vector<A> attributes) {
    Examples<A> made;
    for (DType t : dtypes) {
        for (const Shape& shape : lanes) {
            for (const A& a : attributes) made.push_back({a, {values(shape, t)}, {}});
        }
    }
    return made;
}

const Shape squares[] = {{3, 3}, {4, 5, 5}, {2, 3, 12, 12}, {1, 1}, {2, 39, 39}};
const Shape rectangles[] = {{3, 5}, {4, 6, 2}, {2, 3, 12, 12}, {1, 1}, {2, 41, 37}, {35, 70}};

template <class A, class F>
Examples<A> of_matrices(std::span<const Shape> shapes, std::vector<A> attributes, F operand) {
    Examples<A> made;
    for (DType t : numbers) {
        for (const Shape& shape : shapes) {
            for (const A& a : attributes) made.push_back({a, {operand(shape, t)}, {}});
        }
    }
    return made;
}

Array any_matrices(const Shape& shape, DType t) { return matrices(shape, t); }

/// Rows of a table of `width` columns, at positions.
primitives::RowMap rows_of(std::int64_t count, std::int64_t extent, std::int64_t width) {
    primitives::RowMap map;
    map.count = count;
    map.limit = extent;
    map.stride = map.row_stride = width;
    map.inner.add(width, 1, 1);
    return map;
}

Array mask_of(std::int64_t n) {
    return made({n}, DType::Bool, [](std::int64_t k) { return k % 3 == 1; });
}
Array counts_of(const Array& mask) {
    std::vector<std::int64_t> before(library::count_of_counts(mask.size()));
    library::count_mask(reinterpret_cast<const std::uint8_t*>(mask.view().data()), mask.size(),
                        before);
    return made({static_cast<std::int64_t>(before.size())}, DType::Int64,
                [&](std::int64_t k) { return before[static_cast<std::size_t>(k)]; });
}

}  // namespace

Examples<primitives::Sorting> sort() {
    return of_lanes<primitives::Sorting>(all_dtypes, {{false}, {true}});
}
Examples<primitives::Sorting> argsort() { return sort(); }
Examples<primitives::Kth> partition() { return of_lanes<primitives::Kth>(all_dtypes, {{0}}); }
Examples<primitives::Kth> argpartition() { return partition(); }
Examples<primitives::NoAttributes> argmax() {
    return of_lanes<primitives::NoAttributes>(all_dtypes, {{}});
}
Examples<primitives::NoAttributes> argmin() { return argmax(); }
Examples<primitives::TopK> top_k() {
    return of_lanes<primitives::TopK>(all_dtypes, {{1, false}, {0, true}, {1, true}});
}

Examples<primitives::Side> search_sorted() {
    Examples<primitives::Side> all;
    for (DType t : all_dtypes) {
        const Array sorted =
            made({20}, t, [](std::int64_t k) { return static_cast<double>(3 * k); });
        for (const Shape& shape : lanes) {
            for (bool right : {false, true})
                all.push_back({{right}, {sorted, values(shape, t)}, {}});
        }
    }
    return all;
}

Examples<primitives::Distinct> unique() {
    Examples<primitives::Distinct> all;
    for (DType t : all_dtypes) {
        for (std::int64_t n : {1, 9, 3000}) {
            all.push_back({{true, true}, {values({n}, t)}, {}});
            all.push_back({{false, false}, {values({n}, t)}, {}});
        }
    }
    return all;
}

Examples<primitives::Scanning> scan() {
    Examples<primitives::Scanning> all;
    for (DType t : computed) {
        for (const Shape& shape : lanes) {
            const int last = static_cast<int>(shape.size()) - 1;
            for (Op op : {Op::Add, Op::Min}) all.push_back({{op, last}, {values(shape, t)}, {}});
        }
    }
    return all;
}

Examples<primitives::Segments> reduce_segments() {
    Examples<primitives::Segments> all;
    for (DType t : computed) {
        const Array begins = made({3}, DType::Int64, [](std::int64_t k) { return 40 * k; });
        for (Op op : {Op::Add, Op::Max}) all.push_back({{op}, {values({100}, t), begins}, {}});
    }
    return all;
}

Examples<primitives::Counting> count_numbers() {
    const Array x = values({500}, DType::Int64);
    return {{{100, false}, {x, x}, {}}, {{100, true}, {x, values({500}, DType::Float64)}, {}}};
}

Examples<primitives::Binning> count_in_bins() {
    const Array x = values({500}, DType::Float64);
    const Array edges = made({11}, DType::Float64, [](std::int64_t k) { return 10.0 * double(k); });
    return {{{false, true}, {x, edges, x}, {}}, {{true, false}, {x, edges, x}, {}}};
}

Examples<primitives::Taking> take() {
    Examples<primitives::Taking> all;
    for (DType t : all_dtypes) {
        primitives::Taking rows{rows_of(7, 20, 6), primitives::Extents::of(Shape{7, 6})};
        all.push_back({rows, {values({20, 6}, t), indices(7, 20)}, {}});
    }
    return all;
}

Examples<primitives::Taking> take_checked() {
    Examples<primitives::Taking> all;
    for (DType t : all_dtypes) {
        primitives::RowMap map;
        map.count = 50;
        map.extent = 20;
        all.push_back(
            {{map, primitives::Extents::of(Shape{50})}, {values({20}, t), indices(50, 20)}, {}});
    }
    return all;
}

Examples<primitives::RowMap> put() {
    Examples<primitives::RowMap> all;
    for (DType t : all_dtypes)
        all.push_back({rows_of(7, 20, 6), {values({7, 6}, t), indices(7, 20)}, values({20, 6}, t)});
    return all;
}

Examples<primitives::Combining> combine_at() {
    Examples<primitives::Combining> all;
    for (DType t : {DType::Int32, DType::Int64, DType::Float32, DType::Float64})
        all.push_back({{Op::Add, t}, {indices(30, 20), values({30}, t)}, values({20}, t)});
    return all;
}

Examples<primitives::Selecting> select() {
    Examples<primitives::Selecting> all;
    for (DType t : all_dtypes) {
        for (std::int64_t n : {5, 70, 40000}) {
            const Array mask = mask_of(n);
            all.push_back({{(n + 1) / 3}, {values({n}, t), mask, counts_of(mask)}, {}});
        }
    }
    return all;
}

Examples<primitives::NoAttributes> fill() {
    Examples<primitives::NoAttributes> all;
    for (DType t : all_dtypes) {
        const Array mask = mask_of(70);
        all.push_back({{}, {values({23}, t), mask, counts_of(mask)}, values({70}, t)});
    }
    return all;
}

Examples<primitives::NoAttributes> count_true() {
    return {{{}, {mask_of(1)}, {}}, {{}, {mask_of(70)}, {}}, {{}, {mask_of(40000)}, {}}};
}

Examples<primitives::Selecting> nonzero() {
    Examples<primitives::Selecting> all;
    for (const Shape& shape : {Shape{5}, Shape{7, 30}, Shape{2, 3, 9000}}) {
        const Array mask = made(shape, DType::Bool, [](std::int64_t k) { return k % 3 == 1; });
        all.push_back({{(mask.size() + 1) / 3}, {mask, counts_of(mask)}, {}});
    }
    return all;
}

Examples<primitives::NoAttributes> count_repeats() {
    return {{{}, {values({1}, DType::Int64)}, {}}, {{}, {values({500}, DType::Int64)}, {}}};
}

Examples<primitives::Selecting> repeat() {
    const Array ends = made({40}, DType::Int64,
                            [](std::int64_t k) { return double(k * (k + 1) / 2); });  // 0, 1, 2 ...
    return {{{39 * 40 / 2}, {ends}, {}}};
}

Examples<primitives::Joining> join() {
    Examples<primitives::Joining> all;
    for (DType t : all_dtypes) {
        all.push_back({{0}, {values({3}, t), values({1}, t), values({40}, t)}, {}});
        all.push_back(
            {{1}, {values({4, 2, 3}, t), values({4, 0, 3}, t), values({4, 5, 3}, t)}, {}});
        all.push_back({{0}, std::vector<Array>(20, values({5, 2}, t)), {}});
    }
    return all;
}
Examples<primitives::Joining> join_into() {
    return {{{1},
             std::vector<Array>(20, values({3, 2}, DType::Float64)),
             values({3, 40}, DType::Float64)}};
}

Examples<primitives::Product> matmul() {
    Examples<primitives::Product> all;
    for (DType t : all_dtypes) {
        if (is_half(t)) continue;  // in float32 before
        all.push_back({{false, false}, {values({4, 5}, t), values({5, 3}, t)}, {}});
        all.push_back({{false, false}, {values({2, 3, 4, 5}, t), values({2, 3, 5, 3}, t)}, {}});
        all.push_back({{true, false}, {values({3, 1, 5}, t), values({3, 5, 3}, t)}, {}});
        all.push_back({{false, true}, {values({4, 5}, t), values({5, 1}, t)}, {}});
        all.push_back({{true, true}, {values({1, 5}, t), values({5, 1}, t)}, {}});
    }
    return all;
}

Examples<primitives::Scaling> matmul_scaled() {
    Examples<primitives::Scaling> all;
    for (DType t : floats)
        all.push_back({{Scalar::of(t, 3)}, {values({6, 600}, t), values({600}, t)}, {}});
    return all;
}

Examples<primitives::NoAttributes> matmul_into() {
    Examples<primitives::NoAttributes> all;
    for (DType t : numbers)
        all.push_back({{}, {values({4, 5}, t), values({5, 3}, t)}, values({4, 3}, t)});
    return all;
}

Examples<primitives::Sliding> slide() {
    Examples<primitives::Sliding> all;
    for (DType t : floats) all.push_back({{3, 20}, {values({17}, t), values({4}, t)}, {}});
    return all;
}

Examples<primitives::NoAttributes> solve() {
    Examples<primitives::NoAttributes> all;
    for (DType t : numbers) {
        for (Shape shape : squares) {
            const Array a = matrices(shape, t);
            shape.back() = 2;
            all.push_back({{}, {a, values(shape, t)}, {}});
        }
    }
    return all;
}
Examples<primitives::NoAttributes> inv() {
    return of_matrices<primitives::NoAttributes>(squares, {{}}, any_matrices);
}
Examples<primitives::NoAttributes> det() { return inv(); }
Examples<primitives::Triangle> cholesky() {
    return of_matrices<primitives::Triangle>(squares, {{false}, {true}}, symmetric);
}
Examples<primitives::Orthogonal> qr() {
    using enum primitives::QrMode;
    return of_matrices<primitives::Orthogonal>(rectangles, {{Reduced}, {Complete}, {R}, {Raw}},
                                               any_matrices);
}
Examples<primitives::SingularValues> svd() {
    using enum primitives::SvdMode;
    return of_matrices<primitives::SingularValues>(rectangles, {{Values}, {Reduced}, {Full}},
                                                   any_matrices);
}
Examples<primitives::SymmetricEigen> eigh() {
    return of_matrices<primitives::SymmetricEigen>(squares, {{false, false}, {true, true}},
                                                   symmetric);
}
Examples<primitives::Eigen> eig() {
    Examples<primitives::Eigen> all =
        of_matrices<primitives::Eigen>(squares, {{false}, {true}}, any_matrices);
    // Large ones on devices of many lanes; the interpreter would take long for more.
    all.push_back({{true}, {any_matrices({34, 34}, DType::Float64)}, {}});
    return all;
}
Examples<primitives::LeastSquares> lstsq() {
    Examples<primitives::LeastSquares> all;
    for (DType t : numbers) {
        all.push_back({{1e-6}, {matrices({6, 3}, t), values({6, 2}, t)}, {}});
        all.push_back({{1e-6}, {matrices({3, 6}, t), values({3, 1}, t)}, {}});
    }
    return all;
}

Examples<primitives::FftStep> fft() {
    using enum primitives::FftKind;
    Examples<primitives::FftStep> all;
    for (DType t : floats) {
        const DType c = t == DType::Float32 ? DType::Complex64 : DType::Complex128;
        for (std::int64_t length : {1, 4, 7, 12, 64, 67}) {
            for (int axis : {0, 1, 2}) {
                all.push_back({{axis, length, 0.5, true, Complex}, {values({5, 4, 6}, c)}, {}});
                all.push_back({{axis, length, 1, false, RealBackward}, {values({5, 4, 6}, c)}, {}});
                all.push_back({{axis, length, 1, true, RealForward}, {values({5, 4, 6}, t)}, {}});
            }
        }
        for (std::int64_t length : {600, 609}) {  // cut into matrices
            all.push_back({{1, length, 1, false, Complex}, {values({2, 600}, c)}, {}});
            all.push_back({{1, 2 * length, 1, true, RealForward}, {values({2, 1200}, t)}, {}});
            all.push_back({{0, length, 1, false, RealBackward}, {values({600, 2}, c)}, {}});
        }
    }
    return all;
}

Examples<primitives::Drawing> random_numbers() {
    using library::Distribution;
    Examples<primitives::Drawing> all;
    const auto shape = primitives::Extents::of(Shape{3, 700});
    for (DType t : floats)
        all.push_back({{Distribution::Uniform, {1, 2, 3}, {0, 1}, {-1, -1, -1}, t, shape}, {}, {}});
    all.push_back({{Distribution::Normal, {1, 2, 3}, {0, 2}, {0, -1, -1}, DType::Float64, shape},
                   {values({3, 700}, DType::Float64)},
                   {}});
    all.push_back(
        {{Distribution::Poisson, {1, 2, 3}, {4}, {-1, -1, -1}, DType::Int64, shape}, {}, {}});
    return all;
}
Examples<primitives::Range> random_integers() {
    Examples<primitives::Range> all;
    for (DType t : {DType::Int8, DType::UInt16, DType::Int64})
        all.push_back({{3, 20, {1, 2, 3}, t, primitives::Extents::of(Shape{4, 900})}, {}, {}});
    return all;
}
Examples<primitives::Permuting> random_permutations() { return {{{5, 40, {1, 2, 3}}, {}, {}}}; }

}  // namespace unisono::domains
