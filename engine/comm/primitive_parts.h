// Primitives on a mesh, by their rules: which of their axes are independent.
#pragma once

#include "comm/steps.h"
#include "primitives/primitive.h"

namespace unisono::comm {

/// Throws where the primitive cannot be run by parts.
void check_primitive(const Entry& entry);

/// Along which axis of each operand and result the ranks share a call; -1: none, all of it.
struct SharedAxes {
    std::vector<int> operands, results;
    std::int64_t extent = 0;
};
/// `preferred`: the axis that each operand is split along, or -1.
SharedAxes shared_axes(const library::PrimitiveCall& call, std::span<const View> operands,
                       std::span<const View> results, std::span<const int> preferred);

/// Operands and results of an entry, those in its tail included.
std::vector<View> reads_of(const Entry& entry);
std::vector<View> writes_of(const Entry& entry);

}  // namespace unisono::comm
