// Elements under masks, and joins, on devices.
#include "core/error.h"
#include "library/on_device/device_work.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// Elements of more than 8 bytes move as they are: complex numbers.
DeviceVector movable(const DeviceVector& v) {
    return size_of(v.dtype) <= 8 && !is_complex(v.dtype) ? v.as(bits_dtype(v.dtype)) : v;
}

DeviceVector mask_of(const View& v) { return vector_of(v).as(DType::UInt8); }

}  // namespace

void on_device::count_true(const primitives::NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector counts = vector_of(out[0]), mask = mask_of(in[0]);
    const std::int64_t blocks = counts.size - 1;
    work.run_pieces("count_blocks", {mask, counts, mask.size}, blocks);
    work.run("total_of_blocks", {counts, blocks}, {1});
}

void on_device::select(const primitives::Selecting&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector mask = mask_of(in[1]), counts = vector_of(in[2]);
    work.run_pieces(
        "select_masked",
        {movable(vector_of(in[0])), mask, counts, movable(vector_of(out[0])), mask.size},
        counts.size - 1);
}

void on_device::fill(const primitives::NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector mask = mask_of(in[1]), counts = vector_of(in[2]);
    work.run_pieces(
        "fill_masked",
        {movable(vector_of(in[0])), mask, counts, movable(vector_of(out[0])), mask.size},
        counts.size - 1);
}

void on_device::nonzero(const primitives::Selecting& selecting, Views in, Views out,
                        Device& device) {
    DeviceWork work(device);
    const DeviceVector mask = mask_of(in[0]), counts = vector_of(in[1]), to = vector_of(out[0]);
    const Dims shape = in[0].layout->shape();
    if (shape.size() == 1) {
        work.run_pieces("places_of_set", {mask, counts, to, mask.size}, counts.size - 1);
        return;
    }
    const DeviceVector places = work.scratch(DType::Int64, selecting.total);
    work.run_pieces("places_of_set", {mask, counts, places, mask.size}, counts.size - 1);
    std::int64_t below = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        const auto first = static_cast<std::int64_t>(axis) * selecting.total;
        work.run("index_of_axis", {places, to, first, below, shape[axis]}, {selecting.total});
        below *= shape[axis];
    }
}

void on_device::join(const primitives::Joining& joining, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const auto along = static_cast<std::size_t>(joining.along);
    const DeviceVector to = movable(vector_of(out[0]));
    std::int64_t rows = 1, width = 1;
    const Dims shape = out[0].layout->shape();
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (k < along) rows *= shape[k];
        if (k >= along) width *= shape[k];
    }
    std::int64_t at = 0;
    for (const View& v : in) {
        const std::int64_t run = rows ? v.layout->size() / rows : 0;
        if (run == 0) continue;
        work.run("copy_piece", {movable(work.packed(v)), to, at, run, width}, {rows * run});
        at += run;
    }
}

void on_device::join_into(const primitives::Joining& joining, Views in, Views out, Device& device) {
    on_device::join(joining, in, out, device);
}

}  // namespace unisono::library
