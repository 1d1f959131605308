// Which factorisations of arrays on a device contain a step on the host: operands are copied there,
// and results back.
#pragma once

#include "primitives/row.h"

namespace unisono::primitives {

/// Devices factor matrices of these extents one for each work-item.
constexpr bool rotates_hermitian(std::int64_t n) { return n <= 32; }
constexpr bool has_schur_form(std::int64_t n) { return n <= 32; }
constexpr bool rotates_columns(std::int64_t rows, std::int64_t columns) {
    const std::int64_t longer = rows < columns ? columns : rows;
    const std::int64_t shorter = rows < columns ? rows : columns;
    return shorter > 0 && shorter <= 32 && longer <= 128;
}

/// Stacks of small matrices are not the vendor's libraries', which take one at a time.
constexpr bool suits_libraries(std::int64_t count, std::int64_t rows, std::int64_t columns) {
    return count == 1 || (rows < columns ? rows : columns) >= 64;
}

/// Whether the row contains such a step for operands on a device.
bool steps_on_host(const Primitive& row, Dims shape);

}  // namespace unisono::primitives
