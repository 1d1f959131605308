#include "tape/run/bands/band_schedule.h"

#include <algorithm>
#include <limits>

#include "tape/record/hazards.h"

namespace unisono {

namespace {

constexpr std::int64_t line_size = 64;  ///< bytes of a cache line
/// The lag of what has nothing in common.
constexpr std::int64_t no_lag = std::numeric_limits<std::int64_t>::min() / 2;

/// The first axis that has several indices; none where there is one point.
std::optional<std::size_t> first_axis(Dims shape) {
    const auto found = std::find_if(shape.begin(), shape.end(), [](auto n) { return n > 1; });
    if (found == shape.end()) return {};
    return static_cast<std::size_t>(found - shape.begin());
}

/// From the first to behind the last byte that a view touches beside its offset, over all axes but
/// one.
struct Extent {
    std::int64_t low = 0, high;
};
Extent extent_without(const View& v, std::optional<std::size_t> left_out) {
    const std::int64_t size = size_of(v.dtype);
    Extent extent{0, size};
    const Dims shape = v.layout->shape(), strides = v.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (axis == left_out || shape[axis] == 0) continue;
        const std::int64_t span = (shape[axis] - 1) * strides[axis] * size;
        (span < 0 ? extent.low : extent.high) += span;
    }
    return extent;
}

/// The row of that many bytes in which the view's first one lies, if the others are as wide.
std::optional<std::int64_t> row_in(const View& v, std::optional<std::size_t> axis,
                                   std::int64_t pitch) {
    const std::int64_t at = v.offset * size_of(v.dtype);
    const Extent extent = extent_without(v, axis);
    const std::int64_t column = at % pitch;
    if (column + extent.low < 0 || column + extent.high > pitch) return {};
    return at / pitch;
}

std::int64_t pitch_of(const View& v, std::size_t axis) {
    return v.layout->strides()[axis] * size_of(v.dtype);
}

/// Elements of a view, over all axes but one, and the bytes of cache lines that each of them costs.
struct Lines {
    std::int64_t elements = 1, step = line_size;
};
Lines lines_of(const View& v, std::optional<std::size_t> left_out) {
    Lines lines;
    const Dims shape = v.layout->shape(), strides = v.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (axis == left_out || strides[axis] == 0 || shape[axis] == 1) continue;
        lines.elements *= shape[axis];
        lines.step = std::min(lines.step, std::abs(strides[axis]) * size_of(v.dtype));
    }
    return lines;
}

/// Bytes of cache lines that a view touches in one of its rows.
std::int64_t row_bytes_of(const View& v, std::optional<std::size_t> left_out) {
    const Lines lines = lines_of(v, left_out);
    return lines.elements == 1 ? size_of(v.dtype) : lines.elements * lines.step;
}

}  // namespace

void LineCount::add(const View& view) {
    const Lines lines = lines_of(view, {});
    const Seen now{
        view.storage, view.layout,
        lines.step == line_size ? view.offset * size_of(view.dtype) / line_size : view.offset};
    if (std::find(seen_.begin(), seen_.end(), now) != seen_.end()) return;
    seen_.push_back(now);
    bytes_ += lines.elements * lines.step;
}

BandSchedule::Field* BandSchedule::known(const Storage* storage) {
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const Field& f) { return f.storage == storage; });
    return found == fields_.end() ? nullptr : &*found;
}

std::optional<std::int64_t> BandSchedule::row_of(const Use& use, std::int64_t pitch) const {
    const Step& step = steps_[use.step];
    std::optional<std::size_t> axis;
    if (!step.is_one_row) axis = step.axis;
    const auto row = row_in(use.view, axis, pitch);
    return row ? std::optional(*row - step.first) : std::nullopt;
}

/// Rows by which the later use must be behind the earlier one: no_lag where they have nothing in
/// common, none where no distance is enough.
std::optional<std::int64_t> BandSchedule::lag(const Use& later, const Step& step,
                                              const Use& earlier) const {
    if (!later.writes && !earlier.writes) return no_lag;
    const Step& before = steps_[earlier.step];
    if (later.view.same_as(earlier.view) && later.pitch == earlier.pitch &&
        !overlaps_itself(later.view))
        return before.first - step.first;
    const std::int64_t pitch = std::max(later.pitch, earlier.pitch);
    const bool meet_in_rows = pitch > 0 && (later.pitch == pitch || step.is_one_row) &&
                              (earlier.pitch == pitch || before.is_one_row);
    if (meet_in_rows) {
        std::optional<std::size_t> axis;
        if (!step.is_one_row) axis = step.axis;
        const auto row = row_in(later.view, axis, pitch), other = row_of(earlier, pitch);
        if (row && other) return *row - step.first - *other;
    }
    if (overlap(later.view, earlier.view) == Overlap::Disjoint) return no_lag;
    return {};
}

bool BandSchedule::take(Dims space, std::span<const View> operands, std::size_t inputs) {
    Step step;
    const auto axis = first_axis(space);
    const View& out = operands[inputs];
    const Field* written = known(out.storage);
    const std::int64_t pitch = axis ? pitch_of(out, *axis) : 0;
    if (pitch < 0) return false;
    // What lies in one row of a storage whose rows are known belongs to that row.
    const bool in_one_row = written && written->pitch > pitch && row_in(out, {}, written->pitch);
    step.is_one_row = !axis || pitch == 0 || in_one_row;
    if (!step.is_one_row) {
        step.axis = *axis;
        step.rows = space[*axis];
        step.first = row_in(out, axis, pitch).value_or(0);
    } else if (in_one_row) {
        step.first = *row_in(out, {}, written->pitch);
    }

    const auto number = static_cast<std::uint32_t>(steps_.size());
    std::vector<Use> uses;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const View& v = operands[k];
        const std::int64_t own = step.is_one_row ? 0 : pitch_of(v, step.axis);
        uses.push_back({number, static_cast<std::uint32_t>(k), k >= inputs, v, own});
        const Field* field = known(v.storage);
        if (!field) continue;
        for (const Use& earlier : field->uses) {
            const auto behind = lag(uses.back(), step, earlier);
            if (!behind) return false;
            if (*behind == no_lag) continue;
            step.has_others = step.has_others || *behind != 0;
            const Step& before = steps_[earlier.step];
            step.shift = std::max(step.shift, before.shift + *behind);
            step.shift_down = std::max(step.shift_down, before.shift_down - *behind);
        }
    }
    steps_.push_back(step);
    for (const Use& use : uses) {
        Field* of = known(use.view.storage);
        Field& field = of ? *of : fields_.emplace_back(Field{use.view.storage, 0, {}});
        field.pitch = std::max(field.pitch, use.pitch);
        field.uses.push_back(use);
    }
    return true;
}

void BandSchedule::take_whole(Dims space) {
    Step& step = steps_.emplace_back();
    const auto axis = first_axis(space);
    step.is_one_row = !axis;
    if (!axis) return;
    step.axis = *axis;
    step.rows = space[*axis];
}

BandSchedule::Window BandSchedule::window(const Field& field, std::size_t count) const {
    Window window;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::vector<const View*> seen;
    for (const Use& use : field.uses) {
        if (use.step >= count) continue;
        const Step& step = steps_[use.step];
        const bool is_new = std::none_of(seen.begin(), seen.end(),
                                         [&](const View* v) { return v->same_as(use.view); });
        if (is_new) {
            seen.push_back(&use.view);
            std::optional<std::size_t> axis;
            if (!step.is_one_row) axis = step.axis;
            window.row_bytes += row_bytes_of(use.view, axis);
        }
        const auto row = field.pitch > 0 ? row_of(use, field.pitch) : std::nullopt;
        if (!row) continue;
        first = std::min(first, *row - step.shift);
        last = std::max(last, *row - step.shift);
    }
    if (field.pitch > 0) window.row_bytes = std::min(window.row_bytes, field.pitch);
    if (first <= last) window.rows = last - first;
    return window;
}

}  // namespace unisono
