// Attributes and rules of primitives that move elements at positions and under masks.
#pragma once

#include "ops/ops.h"
#include "primitives/rule.h"

namespace unisono::primitives {

/// Axes that are copied whole: shape, and strides (in elements) in the table and in the rows.
struct BlockAxes {
    int rank = 0;
    std::int64_t shape[max_rank], table[max_rank], rows[max_rank];
    std::int64_t size() const;
    /// Appends an axis inside the others; merged with the last one where strides allow it.
    void add(std::int64_t extent, std::int64_t table_stride, std::int64_t row_stride);
};

/// Position i belongs to row i, a block of elements. Row i lies at i * row_stride, its block in the
/// table at wrap(positions[i]) * stride.
struct RowMap {
    std::int64_t count = 0;  ///< positions
    std::int64_t extent =
        0;  ///< added to negative positions; 0 where there are none (or offsets are given)
    std::int64_t limit = 0;       ///< positions (wrapped) lie below it; 0: unknown
    std::int64_t stride = 1;      ///< of the table, in elements
    std::int64_t row_stride = 1;  ///< of the rows, in elements
    BlockAxes outer, inner;       ///< axes before and after the rows' own in the order of the rows
};

struct Taking {
    RowMap map;
    Extents shape;        ///< of the result
    int source_axis = 0;  ///< of the array that is indexed, for messages
};
struct Combining {
    Op op;
    DType compute;  ///< elements are cast to it, combined, and cast back
};
/// Elements of a mask that are counted together: the counts before each such block and, last, of
/// all are what `count_true` gives and what moves elements under a mask reads.
inline constexpr std::int64_t mask_block = 1 << 14;
/// By counts of an operand: of what is set in a mask, or how often elements are repeated.
struct Selecting {
    std::int64_t total;
};
struct Joining {
    int along;  ///< the axis
};

namespace rules {
void taken(const Taking& taking, Operands operands, Results& results);
void counts_of_blocks(const NoAttributes&, Operands operands, Results& results);
void selected(const Selecting& selecting, Operands operands, Results& results);
void places_of_true(const Selecting& selecting, Operands operands, Results& results);
void repeated(const Selecting& selecting, Operands operands, Results& results);
void joined(const Joining& joining, Operands operands, Results& results);
}  // namespace rules

}  // namespace unisono::primitives
