// Singular values, eigenvalues and least squares on devices: small matrices by rotations, a
// work-item each; others by reflections and the QR algorithm.
#include <algorithm>
#include <optional>

#include "core/error.h"
#include "library/linalg/matrix_stack.h"
#include "library/on_device/linalg/hessenberg.h"
#include "library/on_device/linalg/reducing.h"
#include "library/on_device/packed.h"
#include "library/on_device/shifting.h"
#include "library/on_device/vendor/vendor.h"
#include "primitives/primitives.h"
#include "primitives/small_matrices.h"

namespace unisono::library {

namespace {

Scalar precision_of(DType t) {
    const DType real = part_dtype(t);
    return Scalar::of(real, real == DType::Float32 ? 0x1p-23 : 0x1p-52);
}

/// Throws where a matrix failed: the first one's number was written, else `count`.
void require_all(DeviceWork& work, const DeviceVector& failed, std::string_view what,
                 const View& stack, const char* failure) {
    const auto first = work.read<std::int64_t>(failed);
    require_none_failed(what, stack, first < Stack(stack).count ? first : -1, failure);
}

constexpr const char* no_eigenvalues = "Eigenvalues did not converge";
constexpr const char* no_singular_values = "SVD did not converge";

/// By the tridiagonal form.
void find_eigenvalues(DeviceWork& work, const primitives::SymmetricEigen& eigen, Views in,
                      Views out) {
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, Stack(in[0]).count));
    const Scaled a = scaled(work, in[0], eigen.upper ? Part::Upper : Part::Lower, false, failed);
    require_all(work, failed, "eigh", in[0], no_eigenvalues);
    const Reduced r = tridiagonal(work, a, eigen.vectors);
    const std::int64_t n = a.n;
    VectorRows v{{}, n, n};
    if (eigen.vectors) v.memory = vectors_of(work, r.left, n);
    find_values(work, {r.d, r.e, a.count, n, false}, eigen.vectors ? &v : nullptr, nullptr, failed);
    const DeviceVector places = work.scratch(DType::Int64, a.count * n);
    work.run("places_of_values", {r.d, places, n, std::int64_t{0}}, {a.count * n});
    work.run("place_values", {r.d, places, a.scales, vector_of(out[0]), n, std::int64_t{0}},
             {a.count * n});
    if (eigen.vectors)
        work.run("place_vectors",
                 {v.memory, places, r.d, vector_of(out[1]), "same_number", n, n, n, std::int64_t{0},
                  std::int64_t{0}},
                 {v.memory.size});
    require_all(work, failed, "eigh", in[0], no_eigenvalues);
}

/// By the bidiagonal form of the matrix, or of its adjoint where that is taller: u of the adjoint
/// is v.
void find_singular_values(DeviceWork& work, primitives::SvdMode mode, Views in, Views out) {
    const Stack stack(in[0]);
    const bool is_wide = stack.rows < stack.columns, vectors = mode != primitives::SvdMode::Values;
    const DType t = in[0].dtype;
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, stack.count));
    const Scaled a = scaled(work, in[0], Part::All, is_wide, failed);
    require_all(work, failed, "svd", in[0], no_singular_values);
    const Reduced r = bidiagonal(work, a, vectors);
    const std::int64_t m = a.m, n = a.n, kept = mode == primitives::SvdMode::Full ? m : n;
    VectorRows u{{}, kept, m}, v{{}, n, n};
    if (vectors) {
        u.memory = vectors_of(work, r.left, kept);
        v.memory = vectors_of(work, r.right, n);
    }
    find_values(work, {r.d, r.e, a.count, n, true}, vectors ? &v : nullptr, vectors ? &u : nullptr,
                failed);
    const DeviceVector places = work.scratch(DType::Int64, a.count * n);
    work.run("places_of_values", {r.d, places, n, std::int64_t{1}}, {a.count * n});
    work.run("place_values",
             {r.d, places, a.scales, vector_of(out[vectors ? 1 : 0]), n, std::int64_t{1}},
             {a.count * n});
    if (vectors) {
        const char* conjugate = conjugate_of(t);
        const char* same = "same_number";
        work.run("place_vectors",
                 {u.memory, places, r.d, vector_of(out[is_wide ? 2 : 0]),
                  is_wide ? conjugate : same, n, kept, m, std::int64_t{is_wide}, std::int64_t{0}},
                 {u.memory.size});
        work.run("place_vectors",
                 {v.memory, places, r.d, vector_of(out[is_wide ? 0 : 2]),
                  is_wide ? same : conjugate, n, n, n, std::int64_t{!is_wide}, std::int64_t{1}},
                 {v.memory.size});
    }
    require_all(work, failed, "svd", in[0], no_singular_values);
}

}  // namespace

void on_device::eigh(const primitives::SymmetricEigen& eigen, Views in, Views out, Device& device) {
    if (in[0].layout->size() == 0) return;
    DeviceWork work(device);
    if (vendor::eigh(work, eigen, in, out)) return;
    const Stack a(in[0]);
    const std::int64_t n = a.rows;
    if (!primitives::rotates_hermitian(n)) return find_eigenvalues(work, eigen, in, out);
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, a.count));
    const std::int64_t elements = a.count * n * n;
    const DeviceVector m = work.scratch(in[0].dtype, elements),
                       v = work.scratch(in[0].dtype, elements);
    work.run_pieces(
        "rotate_hermitian",
        {vector_of(in[0]), vector_of(out[0]), eigen.vectors ? vector_of(out[1]) : m, m, v, failed,
         conjugate_of(in[0].dtype), n, std::int64_t{eigen.upper}, std::int64_t{eigen.vectors},
         precision_of(in[0].dtype), least_inverted(in[0].dtype)},
        a.count);
    require_all(work, failed, "eigh", in[0], no_eigenvalues);
}

void on_device::svd(const primitives::SingularValues& values, Views in, Views out, Device& device) {
    if (in[0].layout->size() == 0) return;
    DeviceWork work(device);
    if (vendor::svd(work, values.mode, in, out)) return;
    const Stack a(in[0]);
    const std::int64_t long_side = std::max(a.rows, a.columns);
    const std::int64_t short_side = std::min(a.rows, a.columns);
    if (!primitives::rotates_columns(a.rows, a.columns))
        return find_singular_values(work, values.mode, in, out);
    const bool vectors = values.mode != primitives::SvdMode::Values;
    const std::int64_t kept = values.mode == primitives::SvdMode::Full ? long_side : short_side;
    const DType t = in[0].dtype;
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, a.count)),
                       g = work.scratch(t, a.count * long_side * kept),
                       v = work.scratch(t, a.count * short_side * short_side);
    work.run_pieces(
        "rotate_columns",
        {vector_of(in[0]), vectors ? vector_of(out[0]) : g, vector_of(out[vectors ? 1 : 0]),
         vectors ? vector_of(out[2]) : g, g, v, failed, conjugate_of(t), a.rows, a.columns, kept,
         std::int64_t{vectors}, precision_of(t), least_inverted(t)},
        a.count);
    require_all(work, failed, "svd", in[0], no_singular_values);
}

namespace {

/// What small and other matrices without symmetry come to: values, and vectors where they are
/// wanted.
struct GeneralEigen {
    DeviceVector values, vectors;
    bool wants_vectors;
    DeviceVector order;  ///< of the rows of their matrices
};

/// A work-item finds the values of a matrix, and one each of its vectors.
void find_small(DeviceWork& work, const Scaled& a, const GeneralEigen& made,
                const DeviceVector& failed) {
    const DType t = a.matrices.dtype, real = part_dtype(t);
    const bool is_real = !unisono::is_complex(t);
    const std::int64_t n = a.n, count = a.count;
    const DeviceVector w = made.values, h = a.matrices, v = work.scratch(t, h.size),
                       u = work.scratch(t, count * n), norms = work.scratch(real, count);
    if (is_real)
        work.run_pieces("real_schur", {h, v, u, w.as(real), norms, failed, n, precision_of(t)},
                        count);
    else
        work.run_pieces("complex_schur",
                        {h, v, u, w, norms, failed, n, precision_of(t), least_square(t)}, count);
    if (made.wants_vectors)
        work.run_pieces("schur_vectors",
                        {h, v, w, work.scratch(w.dtype, count * n * n), made.order, made.vectors,
                         norms, n, std::int64_t{is_real}, precision_of(t)},
                        count * n);
}

/// Rows of `x`, which are vectors of triangular matrices, become those of the matrices.
DeviceVector multiply_rows(DeviceWork& work, const DeviceVector& x, const DeviceVector& v,
                           std::int64_t count, std::int64_t n) {
    const std::int64_t shape[] = {count, n, n};
    const Packed first(work.device(), x, shape), second(work.device(), v, shape),
        made(work.device(), work.scratch(x.dtype, x.size), shape);
    const View in[] = {first, second}, out[] = {made};
    on_device::matmul({}, in, out, work.device());
    return vector_of(made);
}

/// By the Hessenberg form.
void find_large(DeviceWork& work, const Scaled& a, const GeneralEigen& made,
                const DeviceVector& failed) {
    const DType t = a.matrices.dtype, real = part_dtype(t);
    const std::int64_t n = a.n, count = a.count, is_real = unisono::is_complex(t) ? 0 : 1;
    const DeviceVector w = made.values, scales = work.scratch(real, count * n),
                       norms = work.scratch(real, count);
    const Spaced h = balanced(work, a, scales);
    const Reflectors r = hessenberg(work, h);
    DeviceVector v;
    if (made.wants_vectors) v = vectors_of(work, r, n);
    find_schur_form(work, h, made.wants_vectors ? &v : nullptr, norms, failed);
    const Scalar least = Scalar::of(real, real == DType::Float32 ? 0x1p-126 : 0x1p-1022);
    work.run("values_of_schur", {h.matrices, w.as(real), n, h.row, is_real, least}, {count * n});
    if (!made.wants_vectors) return;
    DeviceVector x = work.scratch(w.dtype, count * n * n);
    work.run_pieces("triangular_vectors",
                    {h.matrices, w, x, norms, n, h.row, is_real, precision_of(t)}, count * n);
    if (is_real) {
        const DeviceVector parts = work.scratch(t, count * n * n);
        work.run("parts_of_vectors", {x, w, parts, n}, {parts.size});
        x = parts;
    }
    x = multiply_rows(work, x, v, count, n);
    work.run_pieces("finish_vectors", {x, w, scales, made.order, made.vectors, n, is_real},
                    count * n);
}

}  // namespace

void on_device::eig(const primitives::Eigen& eigen, Views in, Views out, Device& device) {
    if (in[0].layout->size() == 0) return;
    DeviceWork work(device);
    const std::int64_t n = Stack(in[0]).rows, count = Stack(in[0]).count;
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, count));
    const Scaled a = scaled(work, in[0], Part::All, false, failed);
    if (work.read<std::int64_t>(failed) < count)
        fail(ErrorKind::LinAlg, "eig: Array must not contain infs or NaNs");
    const GeneralEigen made{vector_of(out[0]), eigen.vectors ? vector_of(out[1]) : DeviceVector{},
                            eigen.vectors, work.scratch(DType::Int64, count * n)};
    const Scaled alone = isolated(work, a, made.order);
    const bool is_small = primitives::rotates_general(n, work.has_cores());
    (is_small ? find_small : find_large)(work, alone, made, failed);
    work.run("scale_values", {made.values, a.scales, n}, {count * n});
    require_all(work, failed, "eig", in[0], no_eigenvalues);
}

namespace {

/// A tall system of equations with an upper triangle, whose solutions are those of another.
struct Triangular {
    Packed r;
    DeviceVector b;
    DeviceVector rest;  ///< below b: as long as the residuals; nothing where a library factors
};

Triangular triangular(DeviceWork& work, Views in) {
    const DType t = in[0].dtype;
    const Stack a(in[0]);
    const std::int64_t m = a.rows, n = a.columns, k = Stack(in[1]).columns;
    const std::int64_t square[] = {n, n}, tall[] = {m, n};
    Packed upper(work.device(), work.scratch(t, n * n), square);
    if (vendor::has_factors(work, in[0])) {
        const Packed q(work.device(), work.scratch(t, m * n), tall);
        const View made[] = {q, upper};
        on_device::qr({primitives::QrMode::Reduced}, in.first(1), made, work.device());
        const DeviceVector b = work.scratch(t, n * k);
        work.run("multiply_adjoints", {vector_of(q), vector_of(in[1]), b, conjugate_of(t), m, n, k},
                 {b.size});
        return {std::move(upper), b, {}};
    }
    const Reflectors r = factor_qr(work, in[0]);
    const DeviceVector from = vector_of(in[1]), b = work.scratch(t, m * k);
    work.device().copy(b.memory, 0, from.memory, from.offset * size_of(t), m * k * size_of(t));
    for (std::size_t p = 0; p < r.triangles.size(); ++p) reflect(work, r, p, b, k, 0, true);
    work.run("take_upper", {r.matrices, vector_of(upper), m, n, n}, {n * n});
    return {std::move(upper), b.from(0, n * k), b.from(n * k, (m - n) * k)};
}

}  // namespace

/// By QR factors of tall matrices and singular vectors of what is left. Below x comes what is as
/// long as the residuals.
void on_device::lstsq(const primitives::LeastSquares& squares, Views in, Views out,
                      Device& device) {
    DeviceWork work(device);
    const Stack a(in[0]);
    const std::int64_t m = a.rows, n = a.columns, k = Stack(in[1]).columns, least = std::min(m, n);
    const DType t = in[0].dtype;
    const char* conjugate = conjugate_of(t);
    std::optional<Triangular> tall;
    if (m > n) tall.emplace(triangular(work, in));
    const std::int64_t square[] = {least, least}, wide[] = {least, n};
    const Packed u(device, work.scratch(t, least * least), square),
        vh(device, work.scratch(t, least * n), wide);
    const View rest = tall ? View(tall->r) : in[0];
    const View made[] = {u, out[1], vh};
    try {
        on_device::svd({primitives::SvdMode::Reduced}, {&rest, 1}, made, device);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::LinAlg) throw;
        fail(ErrorKind::LinAlg, "lstsq: SVD did not converge in Linear Least Squares");
    }
    const DeviceVector s = vector_of(out[1]), x = vector_of(out[0]),
                       along = work.scratch(t, least * k), b = tall ? tall->b : vector_of(in[1]);
    const Scalar limit = squares.rcond < 0 ? precision_of(t) : Scalar::of(s.dtype, squares.rcond);
    work.run("ranks_of_matrices", {s, vector_of(out[2]), least, limit}, {1});
    work.run("coefficients_of_vectors",
             {vector_of(u), s, b, along, conjugate, least, least, k, limit}, {least * k});
    work.run("multiply_adjoints", {vector_of(vh), along, x, conjugate, least, n, k}, {n * k});
    if (!tall) return;
    const DeviceVector below = tall->rest;
    if (below.size > 0)
        device.copy(x.memory, (x.offset + n * k) * size_of(t), below.memory,
                    below.offset * size_of(t), below.size * size_of(t));
    else
        work.run("sizes_of_residuals", {vector_of(in[0]), x, vector_of(in[1]), m, n, k}, {k});
}

}  // namespace unisono::library
