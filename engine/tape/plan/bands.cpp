#include "tape/plan/bands.h"

#include <algorithm>

#include "backends/host/shared.h"

namespace unisono {

namespace {

/// Steps; of a device with memory of its own, where they cost it less than the host.
constexpr std::size_t most_together = 64, most_whole = 256;

/// Whether kernels on it use the host's caches, or may have second memories.
bool may_gain(const Storage& s) {
    return !s.device || shared_cache(*s.device) > 0 || has_own_memory(*s.device);
}

bool may_run_by_bands(const PlanStep& step, const std::vector<Entry>& segment) {
    const Group& g = step.group;
    return step.opaque < 0 && g.reduce_axis < 0 && g.functions.empty() && step.snapshots.empty() &&
           !step.outputs.empty() && may_gain(*step.outputs.front().in(segment).storage) &&
           std::none_of(g.nodes.begin(), g.nodes.end(), [](const Group::Node& n) {
               return n.kind == Group::Kind::Iota;  // numbers the points of the whole space
           });
}

std::size_t most_of(const PlanStep& step, const std::vector<Entry>& segment) {
    if (step.opaque >= 0 || step.outputs.empty()) return most_together;
    const Device* device = step.outputs.front().in(segment).storage->device;
    return device && has_own_memory(*device) ? most_whole : most_together;
}

}  // namespace

bool has_own_memory(const Device& device) { return device.info().warp > 0; }

void note_bands(Plan& plan, const std::vector<Entry>& segment) {
    std::size_t first = 0;
    while (first < plan.steps.size()) {
        std::size_t end = first;
        const std::size_t most = most_of(plan.steps[first], segment);
        while (end < plan.steps.size() && end - first < most &&
               may_run_by_bands(plan.steps[end], segment))
            ++end;
        for (std::size_t k = first; k < end; ++k)
            plan.steps[k].together = static_cast<std::uint32_t>(end - k);
        first = std::max(end, first + 1);
    }
}

}  // namespace unisono
