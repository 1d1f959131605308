// Forms a plan: assigns entries to groups, then writes each group's program.
#include "tape/plan/form_plan.h"

#include "tape/plan/bands.h"
#include "tape/plan/write_group.h"
#include "tape/run/run_group.h"

namespace unisono {

namespace {

/// Where an operand comes from, as PlanStep::sources has it.
std::int32_t source_of(OperandRef ref, std::int32_t reader,
                       const std::vector<std::int32_t>& step_of, const SegmentData& data) {
    auto slot_of = [&](std::uint32_t entry, std::uint32_t operand) {
        return static_cast<std::uint32_t>(data.operands[4 * entry + operand]);
    };
    std::uint32_t slot = slot_of(ref.entry, ref.operand);
    for (std::uint32_t j = ref.entry; j-- > 0;) {
        std::uint32_t out = slot_of(j, 3);
        if (data.slots[out].storage == data.slots[slot].storage && step_of[j] >= 0 &&
            step_of[j] != reader && data.relation(out, slot) != Overlap::Disjoint)
            return step_of[j];
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
        std::vector<OperandRef> read = step.inputs;
        if (step.opaque >= 0) {
            auto i = static_cast<std::uint32_t>(step.opaque);
            for (std::uint32_t k = 0; k < segment[i].inputs; ++k) read.push_back({i, k});
        }
        for (OperandRef ref : read)
            step.sources.push_back(source_of(ref, static_cast<std::int32_t>(s), step_of, data));
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
    note_bands(*plan, segment, data);
    return plan;
}

}  // namespace unisono
