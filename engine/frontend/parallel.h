// What a prange loop means: which variables are private, which are reductions, which array accesses
// carry a dependence.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/syntax/tree.h"
#include "ops/ops.h"

namespace unisono::frontend {

struct ParallelPlan {
    std::set<std::string> privates;        ///< assigned in the body, each iteration has its own
    std::map<std::string, Op> reductions;  ///< combined over the iterations
    std::map<std::string, Op> array_reductions;  ///< arrays that iterations add to, anywhere
    std::set<std::string> rebound;  ///< of these: combined into a new array, `m = np.maximum(m, a)`
    /// Written next to each other by neighbouring iterations: the array and the access.
    std::vector<std::pair<std::string, Place>> neighbours;
    std::vector<std::string> independent;  ///< array accesses proven apart, for the report
    std::vector<std::string> locked;       ///< array accesses under a lock, for the report
    std::vector<std::string> unknown;      ///< array accesses that may meet, for the report
};

/// Infers the plan from the syntax of the loop; `outer` names are those bound before it. Throws a
/// Compile error where a dependence between iterations is proven.
ParallelPlan plan_parallel(const Source& source, const Node& loop,
                           const std::set<std::string>& outer);

/// As plan_parallel for a parallel region, names alone: each thread has its own variables.
ParallelPlan plan_names(const Source& source, const Node& body, const std::set<std::string>& outer);

/// The plan as people read it.
std::string describe(const Source& source, const Node& loop, const ParallelPlan& plan,
                     bool is_inner);

/// Refuses barriers in control flow that may differ between the work-items of a group.
void check_barriers(const Source& source);

}  // namespace unisono::frontend
