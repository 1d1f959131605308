// Fourier transforms along one axis, or several that follow each other, by the vendor's library.
#include <algorithm>
#include <optional>
#include <vector>

#include "backends/device_libraries.h"
#include "library/on_device/vendor/vendor.h"

namespace unisono::library {

namespace {

using primitives::FftKind;
using primitives::FftStep;

using Lengths = LibraryTransform::Lengths;

/// Axes that number the boxes, with the distances of boxes on both sides.
struct Axis {
    std::int64_t extent, from, to;
};

/// Axes [first, last], which are transformed.
struct Along {
    std::size_t first, last;
    std::size_t count() const { return last - first + 1; }
};

/// All other axes, those that are one axis on both sides put together.
std::vector<Axis> box_axes(Dims shape, Dims from, Dims to, Along along) {
    std::vector<Axis> all;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        const std::int64_t extent = shape[k];
        if ((k >= along.first && k <= along.last) || extent == 1) continue;
        const Axis next{extent, from[k], to[k]};
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
    std::int64_t first;
    std::vector<std::int64_t> strides;
};

/// The extents of boxes in memory, if these axes lie so: each has its elements a multiple of the
/// next one's apart.
std::optional<Lengths> extents_of(Dims shape, Dims strides, Along along) {
    Lengths made{1, 1, 1};
    made[0] = shape[along.first];
    for (std::size_t k = 1; k < along.count(); ++k) {
        const std::int64_t outer = strides[along.first + k - 1], inner = strides[along.first + k];
        if (inner < 1 || outer % inner != 0 || outer / inner < shape[along.first + k]) return {};
        made[k] = outer / inner;
    }
    return made;
}

bool lies_for_library(const View& v, Along along) {
    const Dims strides = v.layout->strides();
    return std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s > 0; }) &&
           extents_of(v.layout->shape(), strides, along);
}

/// Of the copy that packed_lines makes of a view of that shape, in elements of `unit` parts.
std::vector<std::int64_t> packed_strides(Dims shape, std::size_t axis, std::int64_t cells,
                                         std::int64_t unit) {
    std::vector<std::int64_t> strides(shape.size(), unit);
    std::int64_t below = cells * unit;
    for (std::size_t k = shape.size(); k-- > 0;) {
        if (k == axis) continue;
        strides[k] = below;
        below *= shape[k];
    }
    return strides;
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

/// The library's own boxes are those of one axis; the others are walked.
constexpr std::int64_t most_calls = 256;

}  // namespace

bool vendor::transform(DeviceWork& work, const FftStep& step, Views in, Views out) {
    DeviceLibraries* libraries = libraries_of(work.device());
    const View &from = in[0], &to = out[0];
    if (!libraries || !libraries->transforms()) return false;
    if (to.layout->size() == 0 || !to.layout->contiguous()) return false;
    if (step.kind == FftKind::RealForward && !step.forward) return false;  // conjugates
    if (step.kind == FftKind::RealBackward && step.forward) return false;
    const auto last = static_cast<std::size_t>(step.axis);
    const Along along{last + 1 - static_cast<std::size_t>(step.axes), last};
    const bool reads_real = step.kind == FftKind::RealForward;
    const std::int64_t cells =
        step.kind == FftKind::RealBackward ? step.length / 2 + 1 : step.length;
    const DType real = part_dtype(from.dtype);
    const Dims shape = to.layout->shape(), to_strides = to.layout->strides();

    Source source{from.storage->memory,
                  from.offset,
                  {from.layout->strides().begin(), from.layout->strides().end()}};
    // cuFFT may overwrite what transforms to real numbers read.
    const bool is_direct = from.layout->shape()[last] >= cells && lies_for_library(from, along) &&
                           is_complex(from.dtype) != reads_real &&
                           step.kind != FftKind::RealBackward;
    if (!is_direct) {
        // Reals are the first parts of the pairs.
        source = {packed_lines(work, from, step.axis, cells).memory, 0,
                  packed_strides(shape, last, cells, reads_real ? 2 : 1)};
    }
    const auto from_extents = extents_of(from.layout->shape(), source.strides, along),
               to_extents = extents_of(shape, to_strides, along);
    if (!from_extents || !to_extents) return false;
    Lengths lengths{1, 1, 1};
    for (std::size_t k = 0; k < along.count(); ++k) lengths[k] = shape[along.first + k];
    lengths[along.count() - 1] = step.length;
    // The longest axis is the library's.
    std::vector<Axis> axes = box_axes(shape, source.strides, to_strides, along);
    Axis boxes{1, cells, cells};
    std::int64_t calls = 1;
    if (!axes.empty()) {
        const auto longest =
            std::max_element(axes.begin(), axes.end(),
                             [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
        boxes = *longest;
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
                 step.axes,
                 lengths,
                 boxes.extent,
                 step.forward,
                 reads_real,
                 step.kind == FftKind::RealBackward,
                 {source.memory, first, source.strides[last], boxes.from, *from_extents},
                 {to.storage->memory, result, to_strides[last], boxes.to, *to_extents}}))
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
