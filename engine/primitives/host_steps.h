// Which factorisations of arrays on a device contain a step on the host: operands are copied there,
// and results back.
#pragma once

#include "primitives/row.h"

namespace unisono::primitives {

/// Devices factor matrices of these extents themselves, one for each work-item.
constexpr bool rotates_hermitian(std::int64_t n) { return n <= 32; }
constexpr bool rotates_columns(std::int64_t rows, std::int64_t columns) {
    const std::int64_t longer = rows < columns ? columns : rows;
    const std::int64_t shorter = rows < columns ? rows : columns;
    return shorter > 0 && shorter <= 32 && longer <= 128;
}

/// Whether the row does so for an operand of that shape.
bool steps_on_host(const Primitive& row, Dims shape);

}  // namespace unisono::primitives
