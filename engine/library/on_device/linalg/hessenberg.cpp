// Panels of reflections, then sweeps of bulges in windows.
#include "library/on_device/linalg/hessenberg.h"

#include <algorithm>

namespace unisono::library {

namespace {

/// How the work-items of a matrix take turns: one does all, or a group shares loops.
struct Lanes {
    std::int64_t count;
    const char *own, *all, *meet;
};

Lanes lanes_of(const DeviceWork& work) {
    if (work.has_cores()) return {1, "lane_alone", "lanes_alone", "meet_alone"};
    return {64, "lane_of_group", "lanes_of_group", "meet_group"};
}

DeviceVector zeros(DeviceWork& work, DType t, std::int64_t size) {
    const DeviceVector made = work.scratch(t, size), parts = made.as(part_dtype(t));
    work.run("fill_with", {parts, std::int64_t{0}}, {parts.size});
    return made;
}

/// What the reflections of a panel need.
struct Panel {
    DeviceVector v_columns, v_rows, y_columns, y_rows, x, y, sums, w;
};

/// Reflections first, ..., last - 1, which belong to the columns before those, of `width`.
void find_panel(DeviceWork& work, const Spaced& a, const Panel& p, const Reflectors& r,
                const DeviceVector& t, std::int64_t first, std::int64_t last, std::int64_t width,
                const Pieces& pieces) {
    const char* conjugate = conjugate_of(t.dtype);
    for (std::int64_t k = std::max<std::int64_t>(first, 1); k < last; ++k) {
        work.run_pieces("hessenberg_column",
                        {a.matrices, p.v_columns, p.v_rows,  p.y_columns,  p.y_rows,
                         p.x,        p.y,         p.sums,    p.w,          t,
                         r.factors,  r.matrices,  conjugate, a.n,          a.row,
                         first,      k,           width,     pieces.count, least_square(t.dtype)},
                        a.count);
        work.run_pieces("hessenberg_products",
                        {a.matrices, p.v_rows, p.x, p.y, p.sums, conjugate, a.n, a.row, k,
                         k - first, pieces.count, pieces.size},
                        a.count * pieces.count);
    }
    work.run_pieces("close_hessenberg",
                    {p.y_columns, p.y_rows, p.y, p.sums, p.w, t, r.factors, a.n, first,
                     last - 1 - first, width, pieces.count},
                    a.count);
}

}  // namespace

Scaled isolated(DeviceWork& work, const Scaled& a, const DeviceVector& order) {
    const std::int64_t n = a.n, count = a.count;
    const Lanes lanes = lanes_of(work);
    Scaled made = a;
    made.matrices = work.scratch(a.matrices.dtype, a.matrices.size);
    work.run("isolate",
             {a.matrices, order, work.scratch(DType::Int64, count * n * 2), lanes.own, lanes.all,
              lanes.meet, n},
             {count * lanes.count}, lanes.count);
    work.run("reorder", {a.matrices, made.matrices, order, n}, {a.matrices.size});
    return made;
}

Spaced balanced(DeviceWork& work, const Scaled& a, const DeviceVector& scales) {
    // Rows a power of two of bytes apart would share few places of a cache.
    const DType t = a.matrices.dtype;
    const std::int64_t n = a.n, row = (n + 7) / 8 * 8 + 8, count = a.count;
    const Spaced made{work.scratch(t, count * n * row), count, n, row};
    work.run("take_rows", {a.matrices, made.matrices, n, row}, {count * n * row});
    const Lanes lanes = lanes_of(work);
    const bool is_single = scales.dtype == DType::Float32;
    work.run("balance",
             {made.matrices, scales, work.scratch(scales.dtype, count * n), lanes.own, lanes.all,
              lanes.meet, n, row, Scalar::of(scales.dtype, is_single ? 1e-18 : 1e-150)},
             {count * lanes.count}, lanes.count);
    return made;
}

Reflectors hessenberg(DeviceWork& work, const Spaced& a) {
    const DType t = a.matrices.dtype;
    const std::int64_t n = a.n, count = a.count;
    Reflectors r{zeros(work, t, count * n * n), zeros(work, t, count * n), {}, count, n, n, n};
    const Pieces most = cut(work, count, n, n);
    const auto room = [&] { return zeros(work, t, count * n * panel); };
    const Panel p{room(),
                  room(),
                  room(),
                  room(),
                  work.scratch(t, count * n),
                  work.scratch(t, count * n),
                  work.scratch(t, count * most.count * panel),
                  work.scratch(t, count * panel)};
    for (std::int64_t first = 0; first < n; first += panel) {
        const std::int64_t width = std::min(panel, n - first),
                           last = std::min(first + width, n - 1);
        const DeviceVector triangle = zeros(work, t, count * width * width);
        r.triangles.push_back(triangle);
        if (last <= std::max<std::int64_t>(first, 1)) break;
        find_panel(work, a, p, r, triangle, first, last, width, most);
        // Reflection k belongs to column k - 1.
        const std::int64_t column = last - 1;
        subtract_products(
            work, count, {p.y_rows, 0, panel, n * panel}, {p.v_columns, column, n, n * panel},
            {a.matrices, column, a.row, n * a.row}, n, last - first, n - column, false);
        reflect(work, r, r.triangles.size() - 1, a.matrices, a.row, column, true);
    }
    return r;
}

void find_schur_form(DeviceWork& work, const Spaced& h, const DeviceVector* v,
                     const DeviceVector& norms, const DeviceVector& failed) {
    const DType t = h.matrices.dtype, real = part_dtype(t);
    const std::int64_t n = h.n, count = h.count, keeps = v ? 1 : 0;
    // A chain of bulges takes half of a window.
    constexpr std::int64_t window = 64, bulges = 10, rounds = 8;
    const Lanes lanes = lanes_of(work);
    const DeviceVector u = work.scratch(t, count * window * window),
                       columns = work.scratch(t, count * window * window),
                       shifts = work.scratch(t, count * bulges * 3),
                       turns = work.scratch(t, count * bulges * 3),
                       block = work.scratch(t, count * bulges * bulges * 4),
                       state = work.scratch(DType::Int64, count * 8),
                       unfinished = work.scratch(DType::Int64, 1);
    const std::int64_t size = work.has_cores() ? 64 : 1, height = work.has_cores() ? 16 : 1;
    const std::int64_t pieces = (n + size - 1) / size, bands = (n + height - 1) / height;
    const std::int64_t items = count * (pieces * (1 + keeps) + bands);
    const DeviceVector held = work.scratch(t, items * window * std::max(size, height));
    const char *conjugate = conjugate_of(t), *same = "same_number";
    const Scalar eps = Scalar::of(real, real == DType::Float32 ? 0x1p-23 : 0x1p-52);
    work.run("begin_sweeps", {h.matrices, norms, state, n, h.row}, {count});
    std::int64_t left_over = 1;
    while (left_over > 0) {
        for (std::int64_t k = 0; k < rounds; ++k) {
            work.run("fill_with", {unfinished, std::int64_t{0}}, {1});
            work.run("move_bulges",
                     {h.matrices, u,         columns,   shifts,
                      turns,      block,     norms,     state,
                      unfinished, failed,    lanes.own, lanes.all,
                      lanes.meet, conjugate, n,         h.row,
                      window,     bulges,    keeps,     std::int64_t{!unisono::is_complex(t)},
                      eps},
                     {count * lanes.count}, lanes.count);
            work.run_pieces("apply_window",
                            {h.matrices, v ? *v : u, u, columns, held, state, conjugate, same, n,
                             h.row, window, pieces, size, bands, height, keeps},
                            items);
        }
        left_over = work.read<std::int64_t>(unfinished);
    }
}

}  // namespace unisono::library
