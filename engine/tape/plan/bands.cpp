#include "tape/plan/bands.h"

#include <algorithm>
#include <unordered_map>

namespace unisono {

namespace {

constexpr std::size_t most_together = 64;  ///< steps
constexpr std::int64_t line_size = 64;     ///< bytes of a cache line

/// What the steps of a run touch.
class Touched {
  public:
    Touched(const std::vector<Entry>& segment, const SegmentData& data)
        : segment_(segment), data_(data) {}

    /// Takes one more step; false where it must not run before the others are through.
    bool take(const PlanStep& step) {
        if (!suits(step)) return false;
        const std::uint32_t shape = data_.slots[slot_of(step.space)].shape;
        if (count_ > 0 && (shape != shape_ || count_ == most_together)) return false;
        for (OperandRef ref : step.inputs) {
            if (!agrees(slot_of(ref), false)) return false;
        }
        for (OperandRef ref : step.outputs) {
            if (!agrees(slot_of(ref), true)) return false;
        }
        for (OperandRef ref : step.inputs) note(slot_of(ref), false);
        for (OperandRef ref : step.outputs) note(slot_of(ref), true);
        shape_ = shape;
        ++count_;
        return true;
    }

  private:
    struct Use {
        std::uint32_t slot;
        bool write;
    };

    std::uint32_t slot_of(OperandRef ref) const {
        return static_cast<std::uint32_t>(data_.operands[4 * ref.entry + ref.operand]);
    }

    bool suits(const PlanStep& step) const {
        const Group& g = step.group;
        return step.opaque < 0 && g.reduce_axis < 0 && g.functions.empty() &&
               step.snapshots.empty() && !step.outputs.empty() &&
               !step.outputs.front().in(segment_).storage->device &&
               std::none_of(g.nodes.begin(), g.nodes.end(), [](const Group::Node& n) {
                   return n.kind == Group::Kind::Iota;  // numbers the points of the whole space
               });
    }

    bool agrees(std::uint32_t slot, bool write) const {
        auto it = uses_.find(data_.slots[slot].storage);
        if (it == uses_.end()) return true;
        return std::all_of(it->second.begin(), it->second.end(), [&](const Use& u) {
            if (!u.write && !write) return true;
            if (u.slot == slot) return !overlaps_itself(data_.view(slot));
            return data_.relation(u.slot, slot) == Overlap::Disjoint;
        });
    }

    void note(std::uint32_t slot, bool write) {
        auto& uses = uses_[data_.slots[slot].storage];
        auto known =
            std::find_if(uses.begin(), uses.end(), [&](const Use& u) { return u.slot == slot; });
        if (known == uses.end())
            uses.push_back({slot, write});
        else
            known->write |= write;
    }

    const std::vector<Entry>& segment_;
    const SegmentData& data_;
    std::unordered_map<std::uint32_t, std::vector<Use>> uses_;  ///< of each storage
    std::uint32_t shape_ = 0;
    std::size_t count_ = 0;
};

}  // namespace

void note_bands(Plan& plan, const std::vector<Entry>& segment, const SegmentData& data) {
    std::size_t first = 0;
    while (first < plan.steps.size()) {
        Touched touched(segment, data);
        std::size_t end = first;
        while (end < plan.steps.size() && touched.take(plan.steps[end])) ++end;
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
