// Writes the program of a group of entries.
#pragma once

#include "tape/plan/grouping.h"

namespace unisono {

/// Writes the program of group `number` and the operands of its step.
void write_group(const std::vector<Entry>& segment, const SegmentData& data,
                 const Grouping& grouping, std::uint32_t number, PlanStep& step);

}  // namespace unisono
