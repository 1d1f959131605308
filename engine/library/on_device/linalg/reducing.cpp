// Reductions by panels of reflections: what finds a reflection and what multiplies with it take
// turns.
#include "library/on_device/linalg/reducing.h"

#include <algorithm>

#include "library/linalg/matrix_stack.h"

namespace unisono::library {

namespace {

/// Columns of the arrays that hold what a panel changes: two for each column of the panel.
constexpr std::int64_t both = 2 * panel;

Scalar of_real(DType t, double single, double wide) {
    const DType real = part_dtype(t);
    return Scalar::of(real, real == DType::Float32 ? single : wide);
}
/// Pieces of the longest row or column, and of shorter ones.
std::int64_t share(std::int64_t size, const Pieces& pieces) {
    return std::max<std::int64_t>(0, (size + pieces.count - 1) / pieces.count);
}

/// Where launches would take longer than what they share, or matrices are work for all.
bool takes_panels_at_once(const DeviceWork& work, std::int64_t count, std::int64_t m,
                          std::int64_t n) {
    constexpr std::int64_t most = 1 << 16;
    return work.has_cores() && (m * n <= most || count >= work.device().info().compute_units);
}

/// Finds the triangles of all panels.
void complete(DeviceWork& work, Reflectors& r) {
    const DType t = r.matrices.dtype;
    const std::int64_t panels = (r.least + panel - 1) / panel, room = r.count * panel * panel;
    const DeviceVector all = work.scratch(t, panels * room);
    work.run_pieces(
        "reflector_triangles",
        {r.matrices, r.factors, all, conjugate_of(t), r.m, r.n, r.least, panels, r.count},
        panels * r.count);
    for (std::int64_t k = 0; k < panels; ++k) r.triangles.push_back(all.from(k * room, room));
}

DeviceVector zeros(DeviceWork& work, DType t, std::int64_t size) {
    const DeviceVector made = work.scratch(t, size), parts = made.as(part_dtype(t));
    work.run("fill_with", {parts, std::int64_t{0}}, {parts.size});
    return made;
}

/// Room for reflectors, each the identity so far.
Reflectors reflectors(DeviceWork& work, DType t, std::int64_t count, std::int64_t m,
                      std::int64_t n) {
    return {zeros(work, t, count * m * n), zeros(work, t, count * n), {}, count, m, n, n};
}

}  // namespace

Scalar least_inverted(DType t) { return of_real(t, 0x1p-126, 0x1p-1022); }

Scalar least_square(DType t) { return of_real(t, 1e-26, 1e-280); }

Scaled scaled(DeviceWork& work, const View& in, Part part, bool adjoint,
              const DeviceVector& failed) {
    const Stack a(in);
    const DType t = in.dtype, real = part_dtype(t);
    const DeviceVector from = vector_of(in), sizes = work.scratch(real, a.count * a.rows);
    Scaled made{work.scratch(t, a.count * a.rows * a.columns), work.scratch(real, a.count), a.count,
                adjoint ? a.columns : a.rows, adjoint ? a.rows : a.columns};
    const std::int64_t sort = part == Part::All ? 0 : part == Part::Lower ? 1 : 2;
    work.run("largest_of_rows", {from, sizes, a.columns, sort}, {a.count * a.rows});
    work.run("scales_of_matrices",
             {sizes, made.scales, failed, a.rows, of_real(t, 1e-3, 1e-3), of_real(t, 1e3, 1e3),
              least_inverted(t)},
             {a.count});
    if (part == Part::All)
        work.run("take_scaled",
                 {from, made.matrices, made.scales, conjugate_of(t), made.m, made.n,
                  std::int64_t{adjoint}},
                 {from.size});
    else
        work.run("take_hermitian",
                 {from, made.matrices, made.scales, conjugate_of(t), made.n,
                  std::int64_t{part == Part::Upper}},
                 {from.size});
    return made;
}

Reduced tridiagonal(DeviceWork& work, const Scaled& a, bool vectors) {
    const DType t = a.matrices.dtype, real = part_dtype(t);
    const std::int64_t n = a.n, count = a.count;
    const char* conjugate = conjugate_of(t);
    Reduced r{work.scratch(real, count * n),
              work.scratch(real, count * n),
              reflectors(work, t, count, n, n),
              {}};
    const bool at_once = takes_panels_at_once(work, count, n, n);
    const Pieces most = at_once ? Pieces{1, n} : cut(work, count, n, n);
    const DeviceVector left = work.scratch(t, count * n * both),
                       right = work.scratch(t, count * n * both), x = work.scratch(t, count * n),
                       y = work.scratch(t, count * n),
                       sums = work.scratch(t, count * most.count * both);
    for (std::int64_t first = 0; first < n; first += panel) {
        const std::int64_t last = std::min(n, first + panel);
        if (at_once)
            work.run_pieces("tridiagonal_panel",
                            {a.matrices, left, right, x, y, sums, r.d, r.e, r.left.factors,
                             r.left.matrices, conjugate, n, first, last, least_square(t)},
                            count);
        for (std::int64_t column = at_once ? last : first; column < last; ++column) {
            work.run_pieces(
                "tridiagonal_column",
                {a.matrices, left, right, x, y, sums, r.d, r.e, r.left.factors, r.left.matrices,
                 conjugate, n, first, column, most.count, least_square(t)},
                count);
            if (column + 1 == n) break;
            work.run_pieces("tridiagonal_products",
                            {a.matrices, left, x, y, sums, conjugate, n, column + 1, column - first,
                             most.count, share(n - column - 1, most)},
                            count * most.count);
        }
        if (last == n) break;
        work.run_pieces(
            "close_hermitian",
            {left, right, x, y, sums, r.left.factors, conjugate, n, panel, last, most.count},
            count);
        subtract_products(work, count, {left, last * both, both, n * both},
                          {right, last, n, n * both}, {a.matrices, last * n + last, n, n * n},
                          n - last, both, n - last, false);
    }
    if (vectors) complete(work, r.left);
    return r;
}

Reduced bidiagonal(DeviceWork& work, const Scaled& a, bool vectors) {
    const DType t = a.matrices.dtype, real = part_dtype(t);
    const std::int64_t m = a.m, n = a.n, count = a.count;
    const char* conjugate = conjugate_of(t);
    Reduced r{work.scratch(real, count * n), work.scratch(real, count * n),
              reflectors(work, t, count, m, n), reflectors(work, t, count, n, n)};
    const bool at_once = takes_panels_at_once(work, count, m, n);
    const Pieces most = at_once ? Pieces{1, std::max(m, n)} : cut(work, count, m, n);
    const DeviceVector left = work.scratch(t, count * m * both),
                       turned = work.scratch(t, count * m * both),
                       right = work.scratch(t, count * n * both), c = work.scratch(t, count * m),
                       x = work.scratch(t, count * m), row = work.scratch(t, count * n),
                       y = work.scratch(t, count * n),
                       sums = work.scratch(t, count * most.count * both);
    for (std::int64_t first = 0; first < n; first += panel) {
        const std::int64_t last = std::min(n, first + panel);
        if (at_once)
            work.run_pieces("bidiagonal_panel",
                            {a.matrices,
                             left,
                             turned,
                             right,
                             c,
                             x,
                             row,
                             y,
                             sums,
                             r.d,
                             r.e,
                             r.left.factors,
                             r.right.factors,
                             r.left.matrices,
                             r.right.matrices,
                             conjugate,
                             m,
                             n,
                             first,
                             last,
                             least_square(t)},
                            count);
        for (std::int64_t column = at_once ? last : first; column < last; ++column) {
            const std::int64_t k = column - first, below = m - column - 1, beside = n - column - 1;
            work.run_pieces(
                "bidiagonal_column",
                {a.matrices, left, turned, right, c, x, sums, r.d, r.left.factors, r.right.factors,
                 r.left.matrices, conjugate, m, n, first, column, most.count, least_square(t)},
                count);
            if (beside == 0) break;
            work.run_pieces("products_of_column",
                            {a.matrices, left, c, y, sums, conjugate, m, n, column, k, most.count,
                             share(beside, most), share(below + 1, most)},
                            count * most.count);
            work.run_pieces(
                "bidiagonal_row",
                {a.matrices, left, right, row, y, sums, r.e, r.left.factors, r.right.factors,
                 r.right.matrices, conjugate, m, n, first, column, most.count, least_square(t)},
                count);
            work.run_pieces("products_of_row",
                            {a.matrices, right, row, x, sums, m, n, column, k + 1, most.count,
                             share(below, most), share(beside, most)},
                            count * most.count);
        }
        if (last == n) break;
        work.run_pieces("close_bidiagonal",
                        {left, turned, x, sums, r.right.factors, m, n, panel, last, most.count},
                        count);
        subtract_products(work, count, {left, last * both, both, m * both},
                          {right, last, n, n * both}, {a.matrices, last * n + last, n, m * n},
                          m - last, both, n - last, false);
    }
    if (vectors) {
        complete(work, r.left);
        complete(work, r.right);
    }
    return r;
}

DeviceVector vectors_of(DeviceWork& work, const Reflectors& r, std::int64_t columns) {
    const DType t = r.matrices.dtype;
    const std::int64_t size = r.count * r.m * columns;
    const DeviceVector q = work.scratch(t, size), rows = work.scratch(t, size);
    work.run("identities", {q, r.m, columns}, {size});
    // Columns before those of a panel are those of the identity still.
    for (std::size_t k = r.triangles.size(); k-- > 0;)
        reflect(work, r, k, q, columns, static_cast<std::int64_t>(k) * panel, false);
    work.run("take_adjoint", {q, rows, "same_number", r.m, columns}, {size});
    return rows;
}

}  // namespace unisono::library
