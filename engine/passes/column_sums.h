// The loops that sums_in_lanes runs in lanes: sums of columns, and statements on the columns behind
// them.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// A loop that does nothing but add terms to a variable, in a loop, and may then update columns.
struct ColumnSum {
    ir::S outer = nullptr, inner = nullptr;
    std::vector<ir::S> before, terms,
        after;                  ///< but for tests of faults and what sets the variable
    std::vector<ir::E> faults;  ///< conditions of what raises
    std::vector<ir::E> chosen;  ///< conditions of loops in `after` that have another form
    std::int32_t var = -1;
    bool is_outside = false;  ///< the variable lives on behind the loops
    ir::E first = nullptr, term = nullptr;
};

/// The statement as such a loop, if it is one.
std::optional<ColumnSum> find_column_sum(ir::S s);

/// Whether the expression is there, and the constant one.
bool is_one(ir::E e);

}  // namespace unisono::passes
