// Linear systems, inverses, determinants, Cholesky and QR on devices, by panels of columns.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "library/linalg/matrix_stack.h"
#include "library/on_device/linalg/factoring.h"
#include "library/on_device/vendor/vendor.h"
#include "primitives/primitives.h"

namespace unisono::library {

using primitives::NoAttributes;
using primitives::QrMode;

Pieces cut(const DeviceWork& work, std::int64_t matrices, std::int64_t columns, std::int64_t rows) {
    constexpr std::int64_t least = 1 << 12, rounded = 8;
    const std::int64_t wanted =
        std::max<std::int64_t>(1, work.pieces(matrices * columns * rows, least) / matrices);
    std::int64_t size = (columns + wanted - 1) / wanted;
    size = std::clamp<std::int64_t>((size + rounded - 1) / rounded * rounded, rounded, 128);
    return {(columns + size - 1) / size, size};
}

void subtract_products(DeviceWork& work, std::int64_t matrices, const Block& a, const Block& b,
                       const Block& c, std::int64_t m, std::int64_t count, std::int64_t n,
                       bool lower) {
    constexpr std::int64_t width = 128;
    const std::int64_t rows = (m + 3) / 4, tiles = (n + width - 1) / width;
    work.run_pieces(
        "subtract_products",
        {a.memory, b.memory, c.memory, a.first, a.row, a.matrix, b.first, b.row, b.matrix, c.first,
         c.row, c.matrix, m, count, n, rows, tiles, width, std::int64_t{lower}},
        matrices * rows * tiles);
}

namespace {

bool has_complex(const DeviceVector& v) { return unisono::is_complex(v.dtype); }
const char* conjugate_of(const DeviceVector& v) { return library::conjugate_of(v.dtype); }

/// Throws where a matrix failed: the first one's number was written, else `count`.
void require_none(DeviceWork& work, const DeviceVector& failed, std::int64_t count,
                  std::string_view what, const View& stack, const char* failure) {
    const auto first = work.read<std::int64_t>(failed);
    if (first < count) require_none_failed(what, stack, first, failure);
}

DeviceVector copy_of(DeviceWork& work, const View& v) {
    const DeviceVector from = vector_of(v), made = work.scratch(v.dtype, from.size);
    if (v.layout->size() > 0)
        work.device().copy(made.memory, 0, from.memory, from.offset * size_of(from.dtype),
                           from.size * size_of(from.dtype));
    return made;
}

/// Columns of a panel of matrices with n columns: on cores wide ones, of which `most` are as fast
/// as the rest of the work, since launches take time.
std::int64_t panel_of(const DeviceWork& work, std::int64_t n, std::int64_t most) {
    return work.has_cores() ? std::clamp(n, panel, most) : panel;
}

/// Factors of a stack of n x n matrices in their place.
struct Lu {
    DeviceVector matrices, pivots, failed;
    std::int64_t count, n;
};

Lu factor_lu(DeviceWork& work, const View& in) {
    const Stack a(in);
    Lu lu{copy_of(work, in), work.scratch(DType::Int64, a.count * a.rows),
          work.filled(1, Scalar::of(DType::Int64, a.count)), a.count, a.rows};
    const std::int64_t n = lu.n, width = panel_of(work, n, 64);
    const DeviceVector u = n > width ? work.scratch(in.dtype, a.count * width * n) : lu.matrices;
    const char* size = has_complex(lu.matrices) ? "magnitude_complex" : "magnitude";
    for (std::int64_t first = 0; first < n; first += width) {
        const std::int64_t last = std::min(n, first + width), rest = n - last;
        work.run_pieces("lu_panel", {lu.matrices, lu.pivots, lu.failed, size, n, first, width},
                        a.count);
        if (n <= width) break;
        const Pieces pieces = cut(work, a.count, n, width * 4);
        work.run_pieces("lu_rows",
                        {lu.matrices, lu.pivots, u, n, first, width, pieces.count, pieces.size},
                        a.count * pieces.count);
        if (rest == 0) break;
        subtract_products(work, a.count, {lu.matrices, last * n + first, n, n * n},
                          {u, last, n, width * n}, {lu.matrices, last * n + last, n, n * n}, rest,
                          width, rest, false);
    }
    return lu;
}

void solve_sides(DeviceWork& work, const Lu& lu, const DeviceVector& x, std::int64_t columns) {
    const Pieces pieces = cut(work, lu.count, columns, lu.n);
    work.run_pieces("solve_by_lu",
                    {lu.matrices, lu.pivots, x, lu.n, columns, pieces.count, pieces.size},
                    lu.count * pieces.count);
}

/// A copy into the memory of a result, which is new.
void copy_into(DeviceWork& work, const View& from, const View& to) {
    const std::int64_t size = size_of(to.dtype);
    work.device().copy(to.storage->memory, to.offset * size, from.storage->memory,
                       from.offset * size, to.layout->size() * size);
}

}  // namespace

void on_device::solve(const NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::solve(work, in, out)) return;
    const Lu lu = factor_lu(work, in[0]);
    copy_into(work, in[1], out[0]);
    solve_sides(work, lu, vector_of(out[0]), Stack(in[1]).columns);
    require_none(work, lu.failed, lu.count, "solve", in[0], "Singular matrix");
}

void on_device::inv(const NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::inv(work, in, out)) return;
    const Lu lu = factor_lu(work, in[0]);
    const DeviceVector x = vector_of(out[0]);
    work.run("identities", {x, lu.n, lu.n}, {x.size});
    solve_sides(work, lu, x, lu.n);
    require_none(work, lu.failed, lu.count, "inv", in[0], "Singular matrix");
}

void on_device::det(const NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::det(work, in, out)) return;
    const Lu lu = factor_lu(work, in[0]);
    const DType real = out[2].dtype;
    const bool is_single = real == DType::Float32;
    using Single = std::numeric_limits<float>;
    using Double = std::numeric_limits<double>;
    work.run("determinants",
             {lu.matrices, lu.pivots, vector_of(out[0]), vector_of(out[1]), vector_of(out[2]), lu.n,
              Scalar::of(real, is_single ? double{Single::min()} : Double::min()),
              Scalar::of(real, is_single ? double{Single::max()} : Double::max())},
             {lu.count});
}

/// The lower factor; the upper one is its adjoint.
void on_device::cholesky(const primitives::Triangle& triangle, Views in, Views out,
                         Device& device) {
    DeviceWork work(device);
    if (vendor::cholesky(work, triangle.upper, in, out)) return;
    const Stack a(in[0]);
    const std::int64_t n = a.rows, width = panel_of(work, n, 128);
    const DeviceVector to = vector_of(out[0]);
    const bool is_panel = n <= width;
    const DeviceVector l = triangle.upper || !is_panel ? work.scratch(to.dtype, to.size) : to;
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, a.count));
    const DeviceVector u = is_panel ? l : work.scratch(to.dtype, a.count * width * n);
    const char* conjugate = conjugate_of(to);
    work.run("take_lower", {vector_of(in[0]), l, conjugate, n, std::int64_t{triangle.upper}},
             {to.size});
    for (std::int64_t first = 0; first < n; first += width) {
        const std::int64_t last = first + width, rest = n - last;
        work.run_pieces("cholesky_panel", {l, failed, conjugate, n, first, width}, a.count);
        if (rest <= 0) break;
        work.run_pieces("cholesky_rows", {l, u, conjugate, n, first, width, rest}, a.count * rest);
        subtract_products(work, a.count, {l, last * n + first, n, n * n}, {u, last, n, width * n},
                          {l, last * n + last, n, n * n}, rest, width, rest, true);
    }
    // Blocks on the diagonal have something above it, too, where there are several.
    const DeviceVector whole = is_panel ? l : triangle.upper ? work.scratch(to.dtype, to.size) : to;
    if (!is_panel) work.run("take_lower", {l, whole, conjugate, n, std::int64_t{0}}, {to.size});
    if (triangle.upper) work.run("take_adjoint", {whole, to, conjugate, n, n}, {to.size});
    require_none(work, failed, a.count, "cholesky", in[0], "Matrix is not positive definite");
}

void reflect(DeviceWork& work, const Reflectors& r, std::size_t k, const DeviceVector& c,
             std::int64_t c_columns, std::int64_t c_first, bool adjoint) {
    const std::int64_t first = static_cast<std::int64_t>(k) * panel;
    const std::int64_t width = std::min(panel, r.least - first);
    const Pieces pieces = cut(work, r.count, c_columns - c_first, r.m * 8);
    const std::int64_t items = r.count * pieces.count;
    const DeviceVector w = work.scratch(c.dtype, items * width * pieces.size);
    work.run_pieces("reflect_rows",
                    {r.matrices, r.triangles[k], w, c, conjugate_of(c), r.m, r.n, first, width,
                     c_columns, c_first, pieces.count, pieces.size, std::int64_t{adjoint}},
                    items);
}

Reflectors factor_qr(DeviceWork& work, const View& in) {
    const Stack a(in);
    const std::int64_t least = std::min(a.rows, a.columns);
    Reflectors r{copy_of(work, in),
                 work.scratch(in.dtype, a.count * least),
                 {},
                 a.count,
                 a.rows,
                 a.columns,
                 least};
    const std::int64_t widest = std::min(panel, least);
    const DeviceVector x = work.scratch(in.dtype, a.count * r.m * widest),
                       w = work.scratch(in.dtype, a.count * widest);
    for (std::int64_t first = 0; first < least; first += panel) {
        const std::int64_t width = std::min(panel, least - first), size = a.count * r.m * width;
        const DeviceVector t = work.scratch(in.dtype, a.count * width * width);
        work.run("take_panel", {r.matrices, x, r.n, first, width}, {size});
        work.run_pieces("qr_panel",
                        {x, r.factors, t, w, conjugate_of(t), r.m, r.least, first, width}, a.count);
        work.run("put_panel", {x, r.matrices, r.n, first, width}, {size});
        r.triangles.push_back(t);
        if (first + width < r.n)
            reflect(work, r, r.triangles.size() - 1, r.matrices, r.n, first + width, true);
    }
    return r;
}

void on_device::qr(const primitives::Orthogonal& orthogonal, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::qr(work, orthogonal.mode, in, out)) return;
    const Reflectors r = factor_qr(work, in[0]);
    const QrMode mode = orthogonal.mode;
    if (mode == QrMode::Raw) {
        const DeviceVector h = vector_of(out[0]), tau = vector_of(out[1]);
        work.run("take_adjoint", {r.matrices, h, "same_number", r.m, r.n}, {h.size});
        device.copy(tau.memory, tau.offset * size_of(tau.dtype), r.factors.memory, 0,
                    tau.size * size_of(tau.dtype));
        return;
    }
    const bool wants_q = mode != QrMode::R;
    const std::int64_t width = mode == QrMode::Complete ? r.m : r.least;
    const DeviceVector upper = vector_of(out[wants_q ? 1 : 0]);
    work.run("take_upper", {r.matrices, upper, r.m, r.n, width}, {upper.size});
    if (!wants_q) return;
    const DeviceVector q = vector_of(out[0]);
    work.run("identities", {q, r.m, width}, {q.size});
    for (std::size_t k = r.triangles.size(); k-- > 0;) reflect(work, r, k, q, width, 0, false);
}

}  // namespace unisono::library
