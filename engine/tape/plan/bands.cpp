#include "tape/plan/bands.h"

#include <algorithm>

#include "backends/host_shared.h"

namespace unisono {

namespace {

constexpr std::size_t most_together = 64;  ///< steps

/// Whether kernels on it use the host's caches.
bool is_by_the_host(const Storage& s) { return !s.device || shared_cache(*s.device) > 0; }

bool may_run_by_bands(const PlanStep& step, const std::vector<Entry>& segment) {
    const Group& g = step.group;
    return step.opaque < 0 && g.reduce_axis < 0 && g.functions.empty() && step.snapshots.empty() &&
           !step.outputs.empty() && is_by_the_host(*step.outputs.front().in(segment).storage) &&
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

}  // namespace unisono
