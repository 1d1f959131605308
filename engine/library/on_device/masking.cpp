// Elements under masks, and joins, on devices.
#include "library/on_device/masking.h"
#include "core/error.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// Elements of more than 8 bytes move as they are: complex numbers.
DeviceVector movable(const DeviceVector& v) {
    return size_of(v.dtype) <= 8 && !is_complex(v.dtype) ? v.as(bits_dtype(v.dtype)) : v;
}

MaskOfDevice mask_of(DeviceWork& work, const View& v) {
    return {work, vector_of(v).as(DType::UInt8)};
}

/// Runs a kernel for each block of a mask: a work-item of a device with cores, else a group takes
/// one, by the kernel of the second name.
void run_blocks(DeviceWork& work, const char* by_items, const char* by_groups,
                const MaskOfDevice& mask, const DeviceVector& counts, const DeviceVector& out,
                const DeviceVector* from = nullptr) {
    const DeviceVector& bytes = mask.bytes;
    const std::int64_t blocks = mask.blocks(), items = blocks * mask_group;
    if (work.has_cores() && from)
        work.run_pieces(by_items, {*from, bytes, counts, out, bytes.size}, blocks);
    else if (work.has_cores())
        work.run_pieces(by_items, {bytes, counts, out, bytes.size}, blocks);
    else if (from)
        work.run(by_groups, {*from, bytes, mask.words, counts, out, bytes.size}, {items},
                 mask_group);
    else
        work.run(by_groups, {bytes, mask.words, counts, out, bytes.size}, {items}, mask_group);
}

}  // namespace

MaskOfDevice::MaskOfDevice(DeviceWork& work, const DeviceVector& mask) : bytes(mask) {
    if (work.has_cores()) return;
    constexpr std::int64_t word = size_of(DType::UInt64);
    const auto base = static_cast<std::int64_t>(mask.memory.handle % word);
    if ((base + mask.offset) % word != 0) {
        bytes = work.scratch(DType::UInt8, mask.size);
        work.run("copy_elements", {mask, bytes}, {mask.size});
    }
    words = bytes.as(DType::UInt64);
}

void count_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts) {
    const std::int64_t blocks = mask.blocks();
    if (work.has_cores()) {
        work.run_pieces("count_blocks", {mask.bytes, counts, mask.bytes.size}, blocks);
        work.run("total_of_blocks", {counts, blocks}, {1});
    } else {
        work.run("count_blocks_by_words", {mask.bytes, mask.words, counts, mask.bytes.size},
                 {blocks * mask_group}, mask_group);
        work.run("total_of_blocks_by_pieces", {counts, blocks}, {mask_group}, mask_group);
    }
}

void find_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts,
              const DeviceVector& places) {
    run_blocks(work, "places_of_set", "places_of_set_by_tiles", mask, counts, places);
}

void select_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts,
                const DeviceVector& from, const DeviceVector& to) {
    const DeviceVector moved = movable(from);
    run_blocks(work, "select_masked", "select_masked_by_tiles", mask, counts, movable(to), &moved);
}

void on_device::count_true(const primitives::NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    count_set(work, mask_of(work, in[0]), vector_of(out[0]));
}

void on_device::select(const primitives::Selecting&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    select_set(work, mask_of(work, in[1]), vector_of(in[2]), vector_of(in[0]), vector_of(out[0]));
}

void on_device::fill(const primitives::NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector values = movable(vector_of(in[0]));
    run_blocks(work, "fill_masked", "fill_masked_by_tiles", mask_of(work, in[1]), vector_of(in[2]),
               movable(vector_of(out[0])), &values);
}

void on_device::nonzero(const primitives::Selecting& selecting, Views in, Views out,
                        Device& device) {
    DeviceWork work(device);
    const MaskOfDevice mask = mask_of(work, in[0]);
    const DeviceVector counts = vector_of(in[1]), to = vector_of(out[0]);
    const Dims shape = in[0].layout->shape();
    if (shape.size() == 1) {
        find_set(work, mask, counts, to);
        return;
    }
    const std::int64_t total = selecting.total;
    std::size_t axes = shape.size();
    DeviceVector places;
    if (work.has_cores()) {
        places = work.scratch(DType::Int64, total);
        find_set(work, mask, counts, places);
    } else {
        --axes;
        const DeviceVector inner = to.from(static_cast<std::int64_t>(axes) * total, total);
        places = axes == 1 ? to.from(0, total) : work.scratch(DType::Int64, total);
        work.run("split_places_of_set_by_tiles",
                 {mask.bytes, mask.words, counts, places, inner, mask.bytes.size, shape[axes]},
                 {mask.blocks() * mask_group}, mask_group);
        if (axes == 1) return;
    }
    std::int64_t below = 1;
    for (std::size_t axis = axes; axis-- > 0;) {
        const auto first = static_cast<std::int64_t>(axis) * total;
        work.run("index_of_axis", {places, to, first, below, shape[axis]}, {total});
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
