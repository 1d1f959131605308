// Scans and places of extremes on devices.
#include <algorithm>

#include "core/error.h"
#include "library/lanes.h"
#include "library/on_device/device_work.h"
#include "library/on_device/functions.h"
#include "primitives/primitives.h"

namespace unisono::library {

const char* combining_function(Op op, DType t) {
    switch (op) {
        case Op::Add: return "add";
        case Op::Mul: return "multiply";
        case Op::Min: return is_complex(t) ? "minimum_complex" : "minimum";
        case Op::Max: return is_complex(t) ? "maximum_complex" : "maximum";
        case Op::And: return "bit_and";
        case Op::Or: return "bit_or";
        default: return "bit_xor";
    }
}

namespace {

/// Lanes side by side, cut into blocks.
struct Lanes {
    Lanes(std::int64_t elements, std::int64_t extent)
        : n(extent), blocks((n + block - 1) / block), items(elements / n * blocks) {}
    std::int64_t count() const { return items / blocks; }

    static constexpr std::int64_t block = 512;
    std::int64_t n, blocks, items;  ///< elements of a lane, its blocks, those of all lanes
};

/// Tiles of blocks in a group's memory, in the layout of the kernels by tiles.
struct Tiles {
    static constexpr std::int64_t group = 128, bytes = 16416, warp = 32;

    Tiles(const Lanes& lanes, DType t)
        : rows(std::min(group, bytes / size_of(t) / (std::min(lanes.n, Lanes::block) | 1))) {}
    /// Work-items of groups that take so many blocks each.
    static std::int64_t items_for(const Lanes& lanes, std::int64_t share) {
        return (lanes.items + share - 1) / share * group;
    }
    std::int64_t rows;
};

void scan_by_tiles(DeviceWork& work, const DeviceVector& x, const DeviceVector& to,
                   const char* combine, const Lanes& lanes) {
    /// Groups that keep each multiprocessor busy, where lanes are as many.
    constexpr std::int64_t busy = 6;
    const Tiles tiles(lanes, x.dtype);
    const std::int64_t n = lanes.n, blocks = lanes.blocks, items = lanes.items;
    auto scan_blocks = [&](const DeviceVector& carries, std::int64_t share, std::int64_t finds) {
        work.run("scan_blocks_by_tiles",
                 {x, carries, to, combine, n, blocks, items, share, tiles.rows, finds},
                 {Tiles::items_for(lanes, share)}, Tiles::group);
    };
    if (blocks <= tiles.rows)
        return scan_blocks(x, tiles.rows / blocks * blocks, blocks > 1 ? 1 : 0);
    if (lanes.count() >= busy * work.device().info().compute_units)
        return scan_blocks(x, blocks, 1);
    const DeviceVector carries = work.scratch(x.dtype, items);
    work.run("scan_totals_by_tiles", {x, carries, combine, n, blocks, items, tiles.rows},
             {Tiles::items_for(lanes, tiles.rows)}, Tiles::group);
    if (is_integer(x.dtype) && blocks > Lanes::block) {
        // In any order: their sums and products wrap around.
        const DeviceVector sums = work.scratch(x.dtype, items);
        scan_by_tiles(work, carries, sums, combine, {items, blocks});
        return scan_blocks(sums, tiles.rows, 0);
    }
    if (blocks >= Tiles::warp)
        work.run("scan_carries_by_tiles", {carries, combine, blocks},
                 {lanes.count() * Tiles::group}, Tiles::group);
    else
        work.run("scan_carries", {carries, combine, blocks}, {lanes.count()});
    scan_blocks(carries, tiles.rows, 0);
}

/// Columns of n elements, of which `below` lie side by side.
void scan_columns(DeviceWork& work, const DeviceVector& x, const DeviceVector& to,
                  const char* combine, std::int64_t n, std::int64_t below) {
    /// Work-items that keep a multiprocessor busy, of one column each.
    constexpr std::int64_t busy = 1024;
    const std::int64_t columns = x.size / n, blocks = (n + Lanes::block - 1) / Lanes::block,
                       whole = blocks - 1;
    if (whole == 0 || columns >= busy * work.device().info().compute_units)
        return work.run("scan_columns", {x, to, combine, n, below}, {columns});
    const DeviceVector totals = work.scratch(x.dtype, columns * whole),
                       carries = work.scratch(x.dtype, columns * whole);
    work.run("scan_column_totals", {x, totals, combine, n, below, whole}, {columns * whole});
    work.run("scan_column_carries", {totals, carries, combine, below, whole}, {columns});
    work.run("scan_column_blocks", {x, carries, to, combine, n, below, blocks}, {columns * blocks});
}

}  // namespace

void on_device::scan(const primitives::Scanning& scanning, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), to = vector_of(out[0]);
    const char* combine = combining_function(scanning.op, x.dtype);
    const Dims shape = in[0].layout->shape();
    const auto axis = static_cast<std::size_t>(scanning.axis);
    if (axis + 1 < shape.size())
        return scan_columns(work, x, to, combine, shape[axis],
                            element_count(shape.subspan(axis + 1)));
    const Lanes lanes(x.size, lane_extent(in[0]));
    // Work-items that take short lanes share the lines of memory anyway.
    if (!work.has_cores() && lanes.n >= Tiles::warp)
        return scan_by_tiles(work, x, to, combine, lanes);
    const DeviceVector carries = work.scratch(x.dtype, lanes.items);
    if (lanes.blocks > 1) {
        work.run_pieces("scan_totals", {x, carries, combine, lanes.n, lanes.blocks}, lanes.items);
        work.run("scan_carries", {carries, combine, lanes.blocks}, {lanes.count()});
    }
    work.run_pieces("scan_blocks", {x, carries, to, combine, lanes.n, lanes.blocks}, lanes.items);
}

namespace {

/// As places, by groups of work-items: one takes several short lanes, or several take pieces of a
/// long one.
void places_by_groups(DeviceWork& work, const DeviceVector& x, const DeviceVector& to,
                      const char* better, std::int64_t n) {
    constexpr std::int64_t group = 256, busy = 16, least = 1 << 12;
    const std::int64_t lanes = x.size / n;
    std::int64_t width = Tiles::warp;
    while (width < group && width * 8 <= n) width *= 2;
    const std::int64_t wanted = busy * work.device().info().compute_units / lanes,
                       pieces = std::clamp<std::int64_t>(wanted, 1, (n + least - 1) / least),
                       size = (n + pieces - 1) / pieces, used = (n + size - 1) / size,
                       items = lanes * used, rows = group / width;
    const DeviceVector found = used > 1 ? work.scratch(DType::Int64, items) : to,
                       values = work.scratch(x.dtype, items);
    work.run("first_extremes_by_groups", {x, found, values, better, n, used, size, width, items},
             {(items + rows - 1) / rows * group}, group);
    if (used > 1)
        work.run("first_of_pieces_by_groups", {found, values, to, better, used}, {lanes * group},
                 group);
}

void places(bool largest, const View& in, const View& out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in);
    const char* better = is_complex(in.dtype)
                             ? (largest ? "is_larger_complex" : "is_smaller_complex")
                             : (largest ? "is_larger" : "is_smaller");
    const std::int64_t n = lane_extent(in), lanes = x.size / n;
    if (!work.has_cores() && n >= Tiles::warp)
        return places_by_groups(work, x, vector_of(out), better, n);
    const std::int64_t pieces = std::min(n, work.pieces(x.size, 1 << 12) / lanes + 1);
    const std::int64_t size = (n + pieces - 1) / pieces, used = (n + size - 1) / size;
    DeviceVector found = work.scratch(DType::Int64, lanes * used),
                 values = work.scratch(in.dtype, lanes * used);
    constexpr std::int64_t least_in_lanes = 64;
    const bool in_lanes = work.has_cores() && size >= least_in_lanes && !is_complex(in.dtype);
    work.run_pieces(in_lanes ? "first_extremes_in_lanes" : "first_extremes",
                    {x, found, values, better, n, used, size}, lanes * used);
    work.run("first_of_pieces", {found, values, vector_of(out), better, used}, {lanes});
}

}  // namespace

void on_device::argmax(const NoAttributes&, Views in, Views out, Device& device) {
    places(true, in[0], out[0], device);
}

void on_device::argmin(const NoAttributes&, Views in, Views out, Device& device) {
    places(false, in[0], out[0], device);
}

}  // namespace unisono::library
