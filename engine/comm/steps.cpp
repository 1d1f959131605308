// Takes views apart into steps along the axes of the array.
#include "comm/steps.h"

#include <cstdlib>

namespace unisono::comm {

Box whole_box(Dims shape) {
    Box box;
    for (std::int64_t n : shape) box.push_back({0, n});
    return box;
}

bool is_empty(const Box& box) {
    return std::any_of(box.begin(), box.end(), [](Range r) { return r.empty(); });
}

Box intersect(const Box& a, const Box& b) {
    Box both;
    for (std::size_t k = 0; k < a.size(); ++k) both.push_back(intersect(a[k], b[k]));
    return both;
}

std::int64_t elements_of(const Box& box) {
    std::int64_t n = 1;
    for (Range r : box) n *= r.size();
    return n;
}

Few<std::int64_t> shape_of(const Box& box) {
    Few<std::int64_t> shape;
    for (Range r : box) shape.push_back(r.size());
    return shape;
}

namespace {

using Used = Few<char, 8>;

/// Steps along the axes from k on, but those that other view axes move along, that add up to the
/// stride of a view axis; false where there are none that stay inside.
bool add_steps(std::int64_t stride, std::int64_t count, std::size_t k,
               std::span<const std::int64_t> pitch, Dims shape, const Steps& made, const Used& used,
               std::vector<std::int64_t>& steps) {
    if (stride == 0) return true;
    if (k == shape.size()) return false;
    const std::int64_t near = stride / pitch[k];
    for (const std::int64_t step : {near, near + (stride > 0 ? 1 : -1), std::int64_t{0}}) {
        const std::int64_t last = made.start[k] + step * (count - 1);
        if (last < 0 || last >= shape[k] || (used[k] && step != 0)) continue;
        steps[k] = step;
        if (add_steps(stride - step * pitch[k], count, k + 1, pitch, shape, made, used, steps))
            return true;
    }
    steps[k] = 0;
    return false;
}

/// Of a view axis that moves along several axes of the array; false where it does not.
bool find_diagonal(std::int64_t stride, std::int64_t count, std::size_t view_axis,
                   std::span<const std::int64_t> pitch, Dims shape, Used& used, Steps& made) {
    std::vector<std::int64_t> steps(shape.size(), 0);
    if (!add_steps(stride, count, 0, pitch, shape, made, used, steps)) return false;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (steps[k] == 0) continue;
        used[k] = true;
        if (made.axis[view_axis] < 0) {
            made.axis[view_axis] = static_cast<int>(k);
            made.step[view_axis] = steps[k];
        } else {
            made.further.push_back({static_cast<int>(view_axis), static_cast<int>(k), steps[k]});
        }
    }
    return true;
}

}  // namespace

std::optional<Steps> steps_of(const View& view, Dims shape) {
    const std::size_t rank = shape.size();
    Few<std::int64_t> pitch(rank, 1);
    for (std::size_t k = rank; k-- > 1;)
        pitch[k - 1] = pitch[k] * std::max<std::int64_t>(1, shape[k]);
    Steps made;
    made.start.assign(rank, 0);
    const Layout& layout = *view.layout;
    if (layout.size() > 0) {
        std::int64_t rest = view.offset;
        for (std::size_t k = 0; k < rank; ++k) {
            made.start[k] = rest / pitch[k];
            rest %= pitch[k];
        }
        if (rest != 0) return {};
    }
    const std::size_t axes = layout.shape().size();
    made.axis.assign(axes, -1);
    made.step.assign(axes, 0);
    Used used(rank, false);
    // Axes of extent 1 take what others leave.
    for (const bool moves : {true, false}) {
        for (std::size_t j = 0; j < axes; ++j) {
            const std::int64_t count = layout.shape()[j], stride = layout.strides()[j];
            if ((count > 1) != moves || stride == 0) continue;
            const std::int64_t size = std::abs(stride);
            for (std::size_t k = 0; k < rank; ++k) {
                if (used[k] || size % pitch[k] != 0) continue;
                const std::int64_t step = stride / pitch[k];
                const std::int64_t last = made.start[k] + step * (count - 1);
                const bool fits =
                    moves ? shape[k] > 1 && last >= 0 && last < shape[k] : size == pitch[k];
                if (!fits && layout.size() > 0) continue;
                used[k] = true;
                made.axis[j] = static_cast<int>(k);
                made.step[j] = step;
                break;
            }
            if (moves && made.axis[j] < 0 && layout.size() > 0 &&
                !find_diagonal(stride, count, j, pitch, shape, used, made))
                return {};
        }
    }
    return made;
}

Held Held::of_grid(std::vector<Split> splits, int size) {
    if (size > 1) std::erase_if(splits, [](const Split& s) { return s.ranks == 1; });
    if (splits.empty()) return all(size);
    if (splits.size() == 1 && splits[0].ranks == size)
        return splits[0].pin >= 0 ? at(splits[0].pin) : along(splits[0]);
    return {Kind::Grid, {}, 0, std::make_shared<const std::vector<Split>>(std::move(splits))};
}

const Split* Held::split_along(int axis) const {
    for (const Split& s : splits()) {
        if (s.axis == axis) return &s;
    }
    return nullptr;
}

bool Held::takes_part(int rank) const {
    if (kind == Kind::At) return rank == owner;
    return std::ranges::all_of(
        splits(), [&](const Split& s) { return s.pin < 0 || s.part_of(rank) == s.pin; });
}

Box Held::box(int rank, Dims shape) const {
    Box box = whole_box(shape);
    if (kind != Kind::Along && !takes_part(rank)) {
        // A box without elements, which has the extents of axes that are whole.
        bool is_split = false;
        for (const Split& s : splits()) {
            if (s.axis < 0) continue;
            box[static_cast<std::size_t>(s.axis)] = {};
            is_split = true;
        }
        if (box.empty()) box.push_back({});
        if (!is_split) box[0] = {};
        return box;
    }
    for (const Split& s : splits()) {
        if (s.axis < 0) continue;
        Range& range = box[static_cast<std::size_t>(s.axis)];
        const Range part = s.range(rank);
        range = split_along(s.axis) == &s ? part : intersect(range, part);
    }
    return box;
}

std::vector<std::int64_t> Held::indices(int rank, int axis, std::int64_t extent) const {
    std::vector<std::int64_t> all;
    if (kind != Kind::Along && !takes_part(rank)) return all;
    Range range{0, extent};
    const Split* dealt = nullptr;
    for (const Split& s : splits()) {
        if (s.axis != axis) continue;
        range = intersect(range, s.range(rank));
        if (s.cycle) dealt = &s;
    }
    for (std::int64_t i = range.begin; i < range.end; ++i)
        all.push_back(dealt ? dealt->dealt_index(rank, i) : i);
    return all;
}

bool Held::crosses() const {
    const auto all = splits();
    return std::ranges::any_of(
        all, [&](const Split& s) { return s.axis >= 0 && split_along(s.axis) != &s; });
}

bool Held::operator==(const Held& o) const {
    if (kind != o.kind) return false;
    if (kind == Kind::At) return owner == o.owner;
    return std::ranges::equal(splits(), o.splits(), [](const Split& a, const Split& b) {
        if (a.axis != b.axis || a.pin != b.pin) return false;
        return a.axis >= 0 ? a.same_parts(b) : a.ranks == b.ranks && a.stride == b.stride;
    });
}

namespace {

/// The axis of a view that moves along an axis of the array, and how; null where none does.
struct Motion {
    int view_axis;
    std::int64_t step;
};
std::optional<Motion> motion_along(int axis, const Steps& steps) {
    for (std::size_t j = 0; j < steps.axis.size(); ++j) {
        if (steps.axis[j] == axis) return Motion{static_cast<int>(j), steps.step[j]};
    }
    for (const Steps::Further& f : steps.further) {
        if (f.axis == axis) return Motion{f.view_axis, f.step};
    }
    return {};
}

bool is_awkward(const Split& split, const View& view, const Steps& steps) {
    if (!split.cycle) return false;
    const auto motion = motion_along(split.axis, steps);
    if (!motion) return false;
    if (view.layout->shape()[static_cast<std::size_t>(motion->view_axis)] > 1 && motion->step != 1)
        return true;
    return std::ranges::any_of(steps.further, [&](const Steps::Further& f) {
        return f.axis == split.axis || f.view_axis == motion->view_axis;
    });
}

Split seen_by(const Split& given, const View& view, const Steps& steps) {
    Split split = given;
    if (is_awkward(given, view, steps)) {
        split = Split::even(given.axis, given.extent, given.ranks);
        split.stride = given.stride;
    }
    const std::int64_t start = steps.start[static_cast<std::size_t>(split.axis)];
    if (const auto motion = motion_along(split.axis, steps)) {
        const std::int64_t count =
            view.layout->shape()[static_cast<std::size_t>(motion->view_axis)];
        return split.seen(motion->view_axis, count, start, motion->step);
    }
    Split pinned = split;
    pinned.axis = -1;
    pinned.cycle = 0;  // one place goes nowhere: a number has no axis whose indices tell who has it
    pinned.pin = split.extent == 0 ? 0 : split.owner(start);
    return pinned;
}

}  // namespace

bool is_awkward(const Held& array, const View& view, const Steps& steps) {
    return std::ranges::any_of(array.splits(),
                               [&](const Split& s) { return is_awkward(s, view, steps); });
}

Held held_by(const Held& array, const View& view, const Steps& steps) {
    if (array.kind == Held::Kind::All) return array;
    if (array.kind == Held::Kind::Along) {
        const Split seen = seen_by(array.split, view, steps);
        return seen.pin >= 0 ? Held::at(seen.pin) : Held::along(seen);
    }
    std::vector<Split> splits;
    for (const Split& s : array.splits()) splits.push_back(seen_by(s, view, steps));
    return {Held::Kind::Grid, {}, 0, std::make_shared<const std::vector<Split>>(std::move(splits))};
}

std::optional<Held> held_for(const Held& wanted, const Steps& steps, Dims shape) {
    if (wanted.splits().empty() || !steps.further.empty()) return {};
    std::vector<Split> splits;
    for (const Split& s : wanted.splits()) {
        if (s.pin >= 0) return {};
        const auto j = static_cast<std::size_t>(s.axis);
        const int axis = steps.axis[j];
        const std::int64_t step = steps.step[j];
        // The real and imaginary parts of complex numbers are an axis that the array has not.
        if (axis < 0 || static_cast<std::size_t>(axis) >= shape.size()) return {};
        if ((step != 1 && step != -1) || (s.cycle && step != 1)) return {};
        const auto k = static_cast<std::size_t>(axis);
        // Index i of the array is index (i - start) * step of the view.
        splits.push_back(s.seen(axis, shape[k], -steps.start[k] * step, step));
    }
    if (wanted.kind == Held::Kind::Along) return Held::along(splits[0]);
    return Held{Held::Kind::Grid, {}, 0, std::make_shared<const std::vector<Split>>(splits)};
}

namespace {

/// Element j is at base index start + step * j, where it is owned and where it is wanted.
std::optional<std::int64_t> shift_of(const Split& has, const Split& wants) {
    if (has.axis != wants.axis || !has.same_base(wants) || has.step != wants.step) return {};
    // Parts that go round have no neighbours.
    if (has.cycle && has.start != wants.start) return {};
    return has.start - wants.start;
}

/// Whether what is read lies at steps of the array: between them, who owns nothing may have
/// something to compute.
bool is_at_steps(std::int64_t shift, const Split& array) { return shift % array.step == 0; }

Halo halo_of(std::int64_t shift, const Split& array) {
    const std::int64_t far = std::abs(shift / array.step);
    return (shift > 0) == (array.step > 0) ? Halo{0, far} : Halo{far, 0};
}

}  // namespace

std::optional<std::int64_t> shift_between(const Held& held, const Held& wanted) {
    if (held.kind != Held::Kind::Along || wanted.kind != Held::Kind::Along) return {};
    return shift_of(held.split, wanted.split);
}

std::optional<Halos> halos_between(const Held& held, const Held& wanted, const Held& array) {
    if (held.kind == Held::Kind::Along) {
        const auto shift = shift_between(held, wanted);
        if (!shift || !is_at_steps(*shift, array.split)) return {};
        return Halos(halo_of(*shift, array.split));
    }
    if (held.kind != Held::Kind::Grid || held.crosses() || wanted.crosses()) return {};
    Halos halos;
    const std::span<const Split> has = held.splits();
    for (std::size_t k = 0; k < has.size(); ++k) {
        const Split& s = has[k];
        if (s.pin >= 0) {
            // Who computes must be among those that have the part.
            const bool is_there = std::ranges::any_of(wanted.splits(), [&](const Split& w) {
                return w.pin == s.pin && w.ranks == s.ranks && w.stride == s.stride;
            });
            if (!is_there) return {};
            continue;
        }
        const Split* wants = wanted.split_along(s.axis);
        const auto shift = wants ? shift_of(s, *wants) : std::nullopt;
        if (!shift || !is_at_steps(*shift, array.splits()[k])) return {};
        halos[k] = halo_of(*shift, array.splits()[k]);
    }
    return halos;
}

}  // namespace unisono::comm
