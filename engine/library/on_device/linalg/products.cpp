// Products of matrices on devices, in tiles: the sum of each element adds its products in the order
// of k, each rounded.
#include <algorithm>

#include "library/on_device/device_work.h"
#include "library/on_device/vendor/vendor.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// The last two axes of a result, whose shape may lack those of rows and columns.
struct Target {
    DeviceVector memory;
    std::int64_t row, column, matrix;
};

Target target_of(DeviceWork& work, const View& out, std::int64_t m, std::int64_t n) {
    const Layout& l = *out.layout;
    if (l.contiguous()) return {vector_of(out), n, 1, m * n};
    const auto rank = static_cast<std::size_t>(l.rank());
    if (rank == 2 && l.lowest() == 0)
        return {storage_of(out).from(out.offset, l.highest() + 1), l.strides()[0], l.strides()[1],
                0};
    return {work.scratch(out.dtype, l.size()), n, 1, m * n};
}

void multiply(DeviceWork& work, const View& first, const View& second, const View& out) {
    const Dims a = first.layout->shape(), b = second.layout->shape();
    const std::int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
    const std::int64_t matrices = out.layout->size() / (m * n);
    if (k == 0) {
        work.run("fill_with", {vector_of(out), std::int64_t{0}}, {out.layout->size()});
        return;
    }
    if (vendor::multiply(work, first, second, out)) return;
    const DeviceVector x = work.packed(first), y = work.packed(second);
    const Target to = target_of(work, out, m, n);
    constexpr std::int64_t width = 128;
    const std::int64_t rows = (m + 3) / 4, tiles = (n + width - 1) / width;
    work.run_pieces("multiply_tiles",
                    {x, y, to.memory, m, k, n, to.row, to.column, to.matrix, rows, tiles, width},
                    matrices * rows * tiles);
    if (to.memory.memory.handle == out.storage->memory.handle) return;
    const DeviceVector at = work.offsets(out.layout->shape(), out.layout->strides());
    work.run("copy_to_offsets", {to.memory, at, storage_of(out), out.offset}, {out.layout->size()});
}

}  // namespace

void on_device::matmul(const primitives::Product&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    multiply(work, in[0], in[1], out[0]);
}

void on_device::matmul_into(const primitives::NoAttributes&, Views in, Views out, Device& device) {
    DeviceWork work(device);
    multiply(work, in[0], in[1], out[0]);
}

void on_device::slide(const primitives::Sliding& sliding, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector to = vector_of(out[0]);
    work.run("slide_windows",
             {vector_of(in[0]), vector_of(in[1]), to, Scalar::of(part_dtype(to.dtype), 0),
              sliding.lead, in[0].layout->size(), in[1].layout->size()},
             {to.size});
}

}  // namespace unisono::library
