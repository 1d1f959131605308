// Whether columns of a sum can be taken side by side, and one after the other, each in all rows.
#pragma once

#include "ir/rewrite.h"
#include "passes/analysis/column_sums.h"
#include "passes/analysis/linear_forms.h"

namespace unisono::passes {

/// Whether an iteration for a column meets what that for another one, a known number of columns
/// apart, stores: they cannot go side by side.
bool meets_neighbours(std::span<const NestAccess> all);

/// Of a serial loop `rows` around nothing but the column sum: a test in front of it that iterations
/// for different columns touch different elements, one of them storing to it, in whatever rows they
/// are. Null where none is known.
ir::E columns_apart(ir::Builder& b, const ColumnSum& sum, ir::S rows);

}  // namespace unisono::passes
