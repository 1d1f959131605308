#include "tape/plan/bands.h"

#include <algorithm>

namespace unisono {

namespace {

constexpr std::size_t most_together = 64;  ///< steps
constexpr std::int64_t line_size = 64;     ///< bytes of a cache line

bool may_run_by_bands(const PlanStep& step, const std::vector<Entry>& segment) {
    const Group& g = step.group;
    return step.opaque < 0 && g.reduce_axis < 0 && g.functions.empty() && step.snapshots.empty() &&
           !step.outputs.empty() && !step.outputs.front().in(segment).storage->device &&
           std::none_of(g.nodes.begin(), g.nodes.end(), [](const Group::Node& n) {
               return n.kind == Group::Kind::Iota;  // numbers the points of the whole space
           });
}

}  // namespace

void note_bands(Plan& plan, const std::vector<Entry>& segment) {
    std::size_t first = 0;
    while (first < plan.steps.size()) {
        std::size_t end = first;
        while (end < plan.steps.size() && end - first < most_together &&
               may_run_by_bands(plan.steps[end], segment))
            ++end;
        for (std::size_t k = first; k < end; ++k)
            plan.steps[k].together = static_cast<std::uint32_t>(end - k);
        first = std::max(end, first + 1);
    }
}

void LineCount::add(const View& view) {
    const std::int64_t size = size_of(view.dtype);
    std::int64_t elements = 1, step = line_size;
    const Dims shape = view.layout->shape(), strides = view.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (strides[axis] == 0 || shape[axis] == 1) continue;
        elements *= shape[axis];
        step = std::min(step, std::abs(strides[axis]) * size);
    }
    const Seen now{view.storage, view.layout,
                   step == line_size ? view.offset * size / line_size : view.offset};
    if (std::find(seen_.begin(), seen_.end(), now) != seen_.end()) return;
    seen_.push_back(now);
    bytes_ += elements * step;
}

}  // namespace unisono
