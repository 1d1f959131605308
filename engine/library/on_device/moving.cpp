// Gathers and scatters on devices.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "library/on_device/device_work.h"
#include "library/on_device/positions.h"
#include "primitives/primitives.h"

namespace unisono::library {

using primitives::BlockAxes;
using primitives::RowMap;
using primitives::Taking;

namespace {

/// Elements of up to 8 bytes move as unsigned integers; those of 16 as two, by one axis more.
struct Parts {
    DType dtype;
    std::int64_t count;
};
Parts parts_of(DType t) {
    if (size_of(t) <= 8) return {bits_dtype(t), 1};
    return {DType::UInt64, size_of(t) / 8};
}

/// A map in parts of elements.
RowMap in_parts(RowMap m, std::int64_t parts) {
    if (parts == 1) return m;
    m.stride *= parts;
    m.row_stride *= parts;
    for (BlockAxes* axes : {&m.outer, &m.inner}) {
        for (int k = 0; k < axes->rank; ++k) {
            axes->table[k] *= parts;
            axes->rows[k] *= parts;
        }
    }
    m.inner.add(parts, 1, 1);
    return m;
}

/// The offset of each point of some axes.
DeviceVector offsets(DeviceWork& work, const BlockAxes& axes, const std::int64_t* strides) {
    const auto rank = static_cast<std::size_t>(axes.rank);
    return work.offsets({axes.shape, rank}, {strides, rank});
}

std::int64_t only(const BlockAxes& axes, const std::int64_t* strides) {
    return axes.rank ? strides[0] : 0;
}

/// The positions that an index may have, from the extents of what it indexes.
struct Span {
    std::int64_t low, high;
};
Span span_of(const RowMap& m, const View& table) {
    if (m.limit) return {0, m.limit - 1};
    return {table.layout->lowest(), table.layout->highest()};
}

}  // namespace

namespace {

constexpr auto no_place = std::numeric_limits<std::int64_t>::max();

DeviceVector place_outside(DeviceWork& work) {
    return work.filled(1, Scalar::of(DType::Int64, no_place));
}

/// Waits for the place, and throws where there is one.
void check_place(DeviceWork& work, const DeviceVector& index, const DeviceVector& place, int axis,
                 std::int64_t extent) {
    const auto first = work.read<std::int64_t>(place);
    if (first == no_place) return;
    const std::int64_t at = index.dtype == DType::Int32 ? work.read<std::int32_t>(index, first)
                                                        : work.read<std::int64_t>(index, first);
    fail(ErrorKind::Index, "index " + std::to_string(at) + " is out of bounds for axis " +
                               std::to_string(axis) + " with size " + std::to_string(extent));
}

}  // namespace

void check_positions(DeviceWork& work, const DeviceVector& index, int axis, std::int64_t extent) {
    DeviceVector place = place_outside(work);
    work.run("first_outside", {index, place, extent}, {index.size});
    check_place(work, index, place, axis, extent);
}

void on_device::take(const Taking& taking, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const Parts parts = parts_of(in[0].dtype);
    const RowMap m = in_parts(taking.map, parts.count);
    DeviceVector table = storage_of(in[0]).as(parts.dtype), index = vector_of(in[1]),
                 rows = vector_of(out[0]).as(parts.dtype);
    const std::int64_t first = in[0].offset * parts.count, outer = m.outer.size(),
                       inner = m.inner.size();
    if (m.outer.rank <= 1 && m.inner.rank <= 1) {
        work.run("gather",
                 {table, index, rows, first, m.stride, m.extent, m.row_stride,
                  only(m.outer, m.outer.table), only(m.outer, m.outer.rows),
                  only(m.inner, m.inner.table), only(m.inner, m.inner.rows)},
                 {outer, m.count, inner});
        return;
    }
    work.run("gather_blocks",
             {table, index, rows, first, m.stride, m.extent, m.row_stride,
              offsets(work, m.outer, m.outer.table), offsets(work, m.outer, m.outer.rows),
              offsets(work, m.inner, m.inner.table), offsets(work, m.inner, m.inner.rows)},
             {outer, m.count, inner});
}

void on_device::take_checked(const Taking& taking, Views in, Views out, Device& device) {
    const RowMap& map = taking.map;
    const DeviceVector index = vector_of(in[1]);
    DeviceWork work(device);
    const Parts parts = parts_of(in[0].dtype);
    if (work.has_cores() || parts.count > 1) {
        check_positions(work, index, taking.source_axis, map.extent);
        return take(taking, in, out, device);
    }
    constexpr std::int64_t group = 256, group_positions = 1024;
    DeviceVector place = place_outside(work);
    work.run("gather_checked",
             {storage_of(in[0]).as(parts.dtype), index, vector_of(out[0]).as(parts.dtype),
              in[0].offset, map.stride, map.extent, place, index.size},
             {(index.size + group_positions - 1) / group_positions * group}, group);
    check_place(work, index, place, taking.source_axis, map.extent);
}

void on_device::put(const RowMap& map, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const Parts parts = parts_of(in[0].dtype);
    const Span span = span_of(map, out[0]);
    const RowMap m = in_parts(map, parts.count);
    DeviceVector table = storage_of(out[0]).as(parts.dtype), index = vector_of(in[1]),
                 rows = storage_of(in[0]).as(parts.dtype);
    DeviceVector last =
        work.filled(span.high - span.low + 1, Scalar::of(DType::Int64, std::int64_t{-1}));
    work.run("last_rows", {index, last, m.extent, span.low}, {m.count});
    work.run("scatter_blocks",
             {table, index, rows, last, span.low, out[0].offset * parts.count, m.stride, m.extent,
              m.row_stride, in[0].offset * parts.count, offsets(work, m.outer, m.outer.table),
              offsets(work, m.outer, m.outer.rows), offsets(work, m.inner, m.inner.table),
              offsets(work, m.inner, m.inner.rows)},
             {m.outer.size(), m.count, m.inner.size()});
}

}  // namespace unisono::library
