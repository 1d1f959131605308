// Fourier transforms along one axis by the vendor's library.
#include <algorithm>
#include <vector>

#include "backends/device_libraries.h"
#include "library/on_device/vendor.h"

namespace unisono::library {

namespace {

using primitives::FftKind;
using primitives::FftStep;

/// Axes that number the lines, with the distances of lines on both sides.
struct Axis {
    std::int64_t extent, from, to;
};

/// All axes but one, those that are one axis on both sides put together.
std::vector<Axis> line_axes(const View& from, const View& to, int axis) {
    std::vector<Axis> all;
    for (int k = 0; k < to.layout->rank(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const std::int64_t extent = to.layout->shape()[at];
        if (k == axis || extent == 1) continue;
        const Axis next{extent, from.layout->strides()[at], to.layout->strides()[at]};
        if (!all.empty() && all.back().from == next.from * extent &&
            all.back().to == next.to * extent) {
            all.back() = {all.back().extent * extent, next.from, next.to};
        } else {
            all.push_back(next);
        }
    }
    return all;
}

/// What the library reads: a view's own memory, or a packed copy of complex lines.
struct Source {
    Memory memory;
    std::int64_t first, stride;
    std::vector<Axis> axes;
};

bool lies_for_library(const View& v) {
    return std::all_of(v.layout->strides().begin(), v.layout->strides().end(),
                       [](std::int64_t s) { return s > 0; });
}

/// Complex lines of n cells, continued by zeros.
DeviceVector packed_lines(DeviceWork& work, const View& v, int axis, std::int64_t n) {
    const DType real = part_dtype(v.dtype);
    const std::int64_t unit = is_complex(v.dtype) ? 2 : 1;
    std::vector<std::int64_t> extents, strides;
    std::int64_t lines = 1;
    for (int k = 0; k < v.layout->rank(); ++k) {
        if (k == axis) continue;
        const auto at = static_cast<std::size_t>(k);
        extents.push_back(v.layout->shape()[at]);
        strides.push_back(v.layout->strides()[at] * unit);
        lines *= extents.back();
    }
    const auto along = static_cast<std::size_t>(axis);
    const std::int64_t have = std::min(n, v.layout->shape()[along]);
    const DeviceVector made = work.scratch(real, 2 * n * lines);
    work.run("gather_lines",
             {storage_of(v).as(real), work.offsets(extents, strides), v.offset * unit,
              v.layout->strides()[along] * unit, std::int64_t{0}, std::int64_t{1}, have,
              unit == 2 ? have : std::int64_t{0}, made, n, n, std::int64_t{0}, Scalar::of(real, 1)},
             {lines, n});
    return made;
}

/// The library's own lines are those of one axis; the others are walked.
constexpr std::int64_t most_calls = 256;

}  // namespace

bool vendor::transform(DeviceWork& work, const FftStep& step, Views in, Views out) {
    DeviceLibraries* libraries = libraries_of(work.device());
    const View &from = in[0], &to = out[0];
    if (!libraries || to.layout->size() == 0 || !to.layout->contiguous()) return false;
    if (step.kind == FftKind::RealForward && !step.forward) return false;  // conjugates
    if (step.kind == FftKind::RealBackward && step.forward) return false;
    const auto along = static_cast<std::size_t>(step.axis);
    const bool reads_real = step.kind == FftKind::RealForward;
    const std::int64_t cells =
        step.kind == FftKind::RealBackward ? step.length / 2 + 1 : step.length;
    const DType real = part_dtype(from.dtype);

    Source source{from.storage->memory, from.offset, from.layout->strides()[along],
                  line_axes(from, to, step.axis)};
    // cuFFT may overwrite what transforms to real numbers read.
    const bool is_direct = from.layout->shape()[along] >= cells && lies_for_library(from) &&
                           is_complex(from.dtype) != reads_real &&
                           step.kind != FftKind::RealBackward;
    if (!is_direct) {
        const DeviceVector packed = packed_lines(work, from, step.axis, cells);
        // Reals are the first parts of the pairs.
        const std::int64_t unit = reads_real ? 2 : 1;
        source = {packed.memory, 0, unit, line_axes(to, to, step.axis)};
        std::int64_t below = cells * unit;
        for (std::size_t k = source.axes.size(); k-- > 0;) {
            source.axes[k].from = below;
            below *= source.axes[k].extent;
        }
    }
    // The longest axis is the library's.
    std::vector<Axis>& axes = source.axes;
    Axis lines{1, cells, cells};
    std::int64_t calls = 1;
    if (!axes.empty()) {
        const auto longest =
            std::max_element(axes.begin(), axes.end(),
                             [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
        lines = *longest;
        axes.erase(longest);
    }
    for (const Axis& a : axes) calls *= a.extent;
    if (calls > most_calls) return false;
    for (std::int64_t call = 0; call < calls; ++call) {
        std::int64_t rest = call, first = source.first, result = to.offset;
        for (std::size_t k = axes.size(); k-- > 0; rest /= axes[k].extent) {
            first += rest % axes[k].extent * axes[k].from;
            result += rest % axes[k].extent * axes[k].to;
        }
        if (!libraries->transform(
                {real,
                 step.length,
                 lines.extent,
                 step.forward,
                 reads_real,
                 step.kind == FftKind::RealBackward,
                 {source.memory, first, source.stride, lines.from},
                 {to.storage->memory, result, to.layout->strides()[along], lines.to}}))
            return false;
    }
    if (step.scale != 1) {
        DeviceVector numbers = vector_of(to).as(real);
        numbers.offset = to.offset * (is_complex(to.dtype) ? 2 : 1);
        work.run("scale_numbers", {numbers, Scalar::of(real, step.scale)}, {numbers.size});
    }
    return true;
}

}  // namespace unisono::library
