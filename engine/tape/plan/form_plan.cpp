// Forms a plan: assigns entries to groups, then writes each group's program.
#include "tape/plan/form_plan.h"

#include "tape/plan/bands.h"
#include "tape/plan/write_group.h"
#include "tape/run/run_group.h"

namespace unisono {

namespace {

std::uint32_t slot_of(OperandRef ref, const SegmentData& data) {
    return static_cast<std::uint32_t>(data.operands[4 * ref.entry + ref.operand]);
}

/// Where what entry `i` reads through a slot comes from, as PlanStep::sources has it.
std::int32_t source_of(std::uint32_t slot, std::uint32_t i, std::int32_t reader,
                       const std::vector<std::int32_t>& step_of, const SegmentData& data) {
    auto makes = [&](std::uint32_t out) {
        return data.slots[out].storage == data.slots[slot].storage &&
               data.relation(out, slot) != Overlap::Disjoint;
    };
    for (std::uint32_t j = i; j-- > 0;) {
        if (step_of[j] < 0 || step_of[j] == reader) continue;
        if (makes(slot_of({j, 3}, data))) return step_of[j];
        for (const SegmentData::TailUse& use : data.tail_of(j)) {
            if (use.write && makes(use.slot)) return step_of[j];
        }
    }
    return -1 - static_cast<std::int32_t>(data.slots[slot].storage);
}

void note_sources(Plan& plan, const std::vector<Entry>& segment, const SegmentData& data) {
    std::vector<std::int32_t> step_of(segment.size(), -1);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (std::uint32_t i : plan.steps[s].entries) step_of[i] = static_cast<std::int32_t>(s);
    }
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        PlanStep& step = plan.steps[s];
        auto note = [&](std::uint32_t slot, std::uint32_t i) {
            step.sources.push_back(source_of(slot, i, static_cast<std::int32_t>(s), step_of, data));
        };
        for (OperandRef ref : step.inputs) note(slot_of(ref, data), ref.entry);
        if (step.opaque < 0) continue;
        const auto i = static_cast<std::uint32_t>(step.opaque);
        for (std::uint32_t k = 0; k < segment[i].inputs; ++k) note(slot_of({i, k}, data), i);
        for (const SegmentData::TailUse& use : data.tail_of(i)) {
            if (!use.write) note(use.slot, i);
        }
    }
}

}  // namespace

std::unique_ptr<Plan> form_plan(const std::vector<Entry>& segment, const SegmentData& data) {
    const Grouping grouping = group_entries(segment, data);
    auto plan = std::make_unique<Plan>();
    for (std::uint32_t g = 0; g < grouping.groups.size(); ++g) {
        const EntryGroup& b = grouping.groups[g];
        if (b.entries.empty()) continue;
        PlanStep step;
        step.entries = b.entries;
        if (!b.why.empty()) step.why.push_back(b.why);
        if (b.opaque) {
            step.opaque = static_cast<std::int32_t>(b.entries.front());
            if (const std::uint32_t by = grouping.stored_by[b.entries.front()]; by > 0)
                step.stored_by = static_cast<std::int32_t>(by);
            plan->steps.push_back(std::move(step));
            continue;
        }
        write_group(segment, data, grouping, g, step);
        if (step.group.outputs.empty()) {
            plan->dead.insert(plan->dead.end(), b.entries.begin(), b.entries.end());
            continue;
        }
        std::uint32_t front = b.entries.front();
        step.space = {front, segment[front].kind == EntryKind::Reduce ? 0u : 3u};
        step.kernel = GroupKernel::of(step.group);
        plan->steps.push_back(std::move(step));
    }
    note_sources(*plan, segment, data);
    note_bands(*plan, segment);
    return plan;
}

}  // namespace unisono
