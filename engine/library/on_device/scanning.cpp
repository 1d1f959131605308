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

void on_device::scan(const primitives::Scanning& scanning, Views in, Views out, Device& device) {
    constexpr std::int64_t block = 512;
    constexpr std::int64_t tile = 32, tile_items = 4 * tile;  // of the kernels by tiles
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), to = vector_of(out[0]);
    const char* combine = combining_function(scanning.op, x.dtype);
    const std::int64_t n = lane_extent(in[0]), lanes = x.size / n, blocks = (n + block - 1) / block;
    DeviceVector carries = work.scratch(x.dtype, lanes * blocks);
    const std::int64_t items = lanes * blocks;
    // Work-items that take short lanes share the lines of memory anyway.
    const bool by_tiles = !work.has_cores() && n >= tile;
    if (by_tiles) {
        const std::int64_t all = (items + tile - 1) / tile * tile_items;
        if (blocks > 1) {
            work.run("scan_totals_by_tiles", {x, carries, combine, n, blocks, items}, {all},
                     tile_items);
            if (blocks >= tile)
                work.run("scan_carries_by_tiles", {carries, combine, blocks}, {lanes * tile}, tile);
            else
                work.run("scan_carries", {carries, combine, blocks}, {lanes});
        }
        work.run("scan_blocks_by_tiles", {x, carries, to, combine, n, blocks, items}, {all},
                 tile_items);
        return;
    }
    if (blocks > 1) {
        work.run_pieces("scan_totals", {x, carries, combine, n, blocks}, items);
        work.run("scan_carries", {carries, combine, blocks}, {lanes});
    }
    work.run_pieces("scan_blocks", {x, carries, to, combine, n, blocks}, items);
}

namespace {

void places(bool largest, const View& in, const View& out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in);
    const char* better = is_complex(in.dtype)
                             ? (largest ? "is_larger_complex" : "is_smaller_complex")
                             : (largest ? "is_larger" : "is_smaller");
    const std::int64_t n = lane_extent(in), lanes = x.size / n;
    const std::int64_t pieces = std::min(n, work.pieces(x.size, 1 << 12) / lanes + 1);
    const std::int64_t size = (n + pieces - 1) / pieces, used = (n + size - 1) / size;
    DeviceVector found = work.scratch(DType::Int64, lanes * used),
                 values = work.scratch(in.dtype, lanes * used);
    work.run_pieces("first_extremes", {x, found, values, better, n, used, size}, lanes * used);
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
