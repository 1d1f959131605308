// The loops that sums_in_lanes runs in lanes: sums of columns, and statements on the columns before
// and behind them.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

/// A statement of such a loop: a store, a declaration, an assignment, or a loop that adds the terms
/// of a sum or updates a column.
struct ColumnStep {
    ir::S statement = nullptr;
    std::int32_t sum =
        -1;  ///< the variable that is assigned or added to, also where it is declared
    std::vector<ir::S> body;  ///< of a loop; of a sum what it declares
    ir::E term = nullptr;     ///< of a loop that adds

    bool is_loop() const { return statement->kind == ir::StmtKind::For; }
};

/// A loop around at least one that does nothing but add terms to a variable or update a column.
struct ColumnSum {
    ir::S outer = nullptr, inner = nullptr;  ///< `inner`: the first loop in it
    std::vector<ColumnStep> steps;           ///< but for tests of faults
    std::vector<ir::E> faults;               ///< conditions of what raises
    std::vector<ir::E> chosen;               ///< conditions of loops that have another form
    std::vector<std::int32_t> outside;       ///< variables that live on behind the loop
};

/// The statement as such a loop, if it is one.
std::optional<ColumnSum> find_column_sum(ir::S s);

/// Whether the expression is there, and the constant one.
bool is_one(ir::E e);

}  // namespace unisono::passes
