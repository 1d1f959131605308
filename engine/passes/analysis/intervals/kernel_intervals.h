// Walks a kernel in program order and writes the interval program of its indices.
//
// Equal expressions of the same values of variables are one value, so that what a condition says of
// one (`if (i < n)`) holds for the other. Values have registers by place: a condition gives the
// ones that it compares new registers until its branch ends, and values made of those are computed
// again. Where branches meet, variables that differ are values of their own, as are variables that
// a loop changes.
#pragma once

#include <optional>

#include "ir/build.h"
#include "passes/analysis/intervals/interval_program.h"

namespace unisono::passes {

struct KernelIntervals {
    IntervalProgram program;
    std::int32_t proofs = 0;
    /// Of each Checked or Wrapped access, and of each statement that only raises, in the order of
    /// the walk (Rewriter's): the proof of its tests, or -1.
    std::vector<std::int32_t> accesses, raises;
};

/// None where the function has statements that are not followed, or very many.
std::optional<KernelIntervals> find_kernel_intervals(ir::Function& f);

/// After steps were removed: where the loops begin.
void number_loops(IntervalProgram& program);

}  // namespace unisono::passes
