// Factors of tall matrices whose rows are spread (TSQR): each rank factors its rows, all get the
// triangles of all, which are small, and factor them. No rank gets the matrix.
//
// Demmel, Grigori, Hoemmen, Langou, "Communication-optimal parallel and sequential QR and LU
// factorizations" (2012). Signs are those of LAPACK's factors of the whole matrix: Ballard et al.,
// "Reconstructing Householder vectors from tall-skinny QR" (2014), section 4.
#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "core/error.h"
#include "library/linalg/lapack.h"
#include "library/linalg/matmul.h"
#include "primitives/algebra.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

/// Whether each rank has at least as many rows as there are columns.
bool is_tall(const Mesh& mesh, const View& v) {
    const Dims shape = v.layout->shape();
    return mesh.size() > 1 && shape.size() == 2 && shape[1] > 0 && !is_complex(v.dtype) &&
           shape[0] / mesh.size() >= shape[1];
}

Held even_rows(const Mesh& mesh, const View& v) {
    return Held::along(Split::even(0, v.layout->shape()[0], mesh.size()));
}

Array times(const Array& a, const Array& b) {
    const Arg both[] = {a.arg(), b.arg()};
    return apply(Op::Mul, both);
}

/// The rows of all ranks, one behind the other, of which each rank has as many.
Array rows_of_all(Mesh& mesh, const Array& mine, const std::string& what) {
    std::vector<std::int64_t> shape(mine.shape().begin(), mine.shape().end());
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(mesh.size()), shape[0]);
    shape.insert(shape.begin(), mesh.size());
    const Array copies = copy(broadcast_to(mine, shape));
    shape.erase(shape.begin());
    shape[0] *= mesh.size();
    return swap_rows(mesh, reshape(copies, shape), counts, counts, what);
}

/// The sum of what the ranks have, in their order.
Array sum_of_all(Mesh& mesh, const Array& mine, const std::string& what) {
    const std::int64_t rows = mine.shape()[0];
    const Array all = rows_of_all(mesh, mine, what);
    Array sum = rows_of(all, {0, rows});
    for (std::int64_t r = 1; r < mesh.size(); ++r) {
        const Array next = rows_of(all, {r * rows, (r + 1) * rows});
        const Arg both[] = {sum.arg(), next.arg()};
        sum = apply(Op::Add, both);
    }
    return sum;
}

/// For each column whether LAPACK's is the other way round (-1), from the first rows of q.
template <class T>
void find_signs(T* q, std::int64_t n, T* signs) {
    for (std::int64_t k = 0; k < n; ++k) {
        T& pivot = q[k * n + k];
        signs[k] = std::signbit(pivot) ? T(1) : T(-1);
        pivot -= signs[k];
        for (std::int64_t i = k + 1; i < n; ++i) {
            const T factor = q[i * n + k] / pivot;
            for (std::int64_t j = k + 1; j < n; ++j) q[i * n + j] -= factor * q[k * n + j];
        }
    }
}

/// Rank 0 finds them, since it has the first rows.
Array signs_of(Mesh& mesh, const Array& q, const std::string& what) {
    const std::int64_t n = q.shape()[1];
    const bool finds = mesh.rank() == 0;
    const std::int64_t one[] = {1, n};
    Array signs = empty(one, q.dtype(), nullptr);
    if (finds) {
        const Array first = copy(rows_of(q, {0, n}));
        char* const data = host_data(first, true);
        char* const to = host_data(signs, true);
        if (q.dtype() == DType::Float32)
            find_signs(reinterpret_cast<float*>(data), n, reinterpret_cast<float*>(to));
        else
            find_signs(reinterpret_cast<double*>(data), n, reinterpret_cast<double*>(to));
    }
    const std::int64_t copies[] = {finds ? mesh.size() : 0, n};
    const Array given =
        finds ? copy(broadcast_to(signs, copies)) : empty(copies, q.dtype(), nullptr);
    const std::vector<std::int64_t> to_each(static_cast<std::size_t>(mesh.size()), finds ? 1 : 0);
    std::vector<std::int64_t> from_each(to_each.size(), 0);
    from_each[0] = 1;
    return swap_rows(mesh, given, to_each, from_each, "signs of " + what);
}

struct Factors {
    Array q;  ///< this rank's rows
    Array r;
};

Factors factors_of(Partition& p, const View& v, const std::string& what, bool with_signs) {
    Mesh& mesh = p.mesh();
    const std::int64_t n = v.layout->shape()[1], first = mesh.rank() * n;
    const auto own = library::qr(p.part(v, even_rows(mesh, v)), primitives::QrMode::Reduced);
    const auto top =
        library::qr(rows_of_all(mesh, own[1], "triangles of " + what), primitives::QrMode::Reduced);
    Factors made{library::matmul(own[0], rows_of(top[0], {first, first + n})), top[1]};
    if (!with_signs) return made;
    const Array signs = signs_of(mesh, made.q, what);
    return {times(made.q, signs), times(made.r, reshape(signs, {n, 1}))};
}

std::string text_of(const Entry& e) {
    return call_of(e).name() + " of " + shape_text(e.in[0].layout->shape());
}

}  // namespace

void qr_parts(Partition& p, const Entry& e) {
    const primitives::QrMode mode = attributes_of<primitives::Orthogonal>(e).mode;
    const bool is_r = mode == primitives::QrMode::R;
    if (!is_tall(p.mesh(), e.in[0]) || (!is_r && mode != primitives::QrMode::Reduced))
        return run_everywhere(p, e);
    const std::string what = text_of(e);
    const Factors made = factors_of(p, e.in[0], what, true);
    const std::vector<View> out = writes_of(e);
    if (!is_r) p.store(out[0], made.q, even_rows(p.mesh(), e.in[0]), what);
    p.store(out.back(), made.r, Held::all(p.mesh().size()), what);
}

void svd_parts(Partition& p, const Entry& e) {
    const primitives::SvdMode mode = attributes_of<primitives::SingularValues>(e).mode;
    if (!is_tall(p.mesh(), e.in[0]) || mode == primitives::SvdMode::Full)
        return run_everywhere(p, e);
    const std::string what = text_of(e);
    const Factors made = factors_of(p, e.in[0], what, false);
    const std::vector<View> out = writes_of(e);
    const Held all = Held::all(p.mesh().size());
    std::vector<Array> small = library::svd(made.r, mode);
    if (mode == primitives::SvdMode::Reduced) {
        p.store(out[0], library::matmul(made.q, small[0]), even_rows(p.mesh(), e.in[0]), what);
        small.erase(small.begin());
    }
    for (std::size_t k = 0; k < small.size(); ++k)
        p.store(out[out.size() - small.size() + k], small[k], all, what);
}

/// Least squares of Q R x = b are those of R x = Qᵀ b.
void lstsq_parts(Partition& p, const Entry& e) {
    const std::vector<View> in = reads_of(e), out = writes_of(e);
    if (!is_tall(p.mesh(), in[0]) || is_complex(in[1].dtype)) return run_everywhere(p, e);
    Mesh& mesh = p.mesh();
    const std::string what = text_of(e);
    const Held rows = even_rows(mesh, in[0]);
    const std::int64_t n = in[0].layout->shape()[1];
    const Factors made = factors_of(p, in[0], what, false);
    const Array b = p.part(in[1], rows);
    const int turned[] = {1, 0};
    const Array product = library::matmul(copy(transpose(made.q, turned)), b);
    const Array right = sum_of_all(mesh, product, "products of " + what);
    const double limit = attributes_of<primitives::LeastSquares>(e).rcond;
    const std::vector<Array> small = library::lstsq(made.r, right, limit);
    // LAPACK leaves what squares add up to the residual's behind the solution.
    const Array x = rows_of(small[0], {0, n});
    const Array reached = library::matmul(p.part(in[0], rows), x);
    const Arg near[] = {b.arg(), reached.arg()};
    const Array off = apply(Op::Sub, near);
    const Array square = reduce(Op::Add, times(off, off), std::vector<int>{0}, true, {});
    const Array total = sum_of_all(mesh, square, "residual of " + what);
    const Arg squared[] = {total.arg()};
    const Range own = rows.split.range(mesh.rank());
    const Array mine = full(b.shape(), Scalar::of(b.dtype(), 0), nullptr);
    auto put = [&](Range at, const Array& from) {
        const Range here = intersect(own, at);
        if (here.empty()) return;
        assign(rows_of(mine, {here.begin - own.begin, here.end - own.begin}),
               rows_of(from, {here.begin - at.begin, here.end - at.begin}).arg());
    };
    put({0, n}, x);
    put({n, n + 1}, apply(Op::Sqrt, squared));
    p.store(out[0], mine, rows, what);
    const Held all = Held::all(mesh.size());
    for (std::size_t k = 1; k < small.size(); ++k) p.store(out[k], small[k], all, what);
}

}  // namespace unisono::comm
