// Which matrices devices factor one for each work-item, and which their libraries factor.
#pragma once

#include <cstdint>

namespace unisono::primitives {

/// Devices factor matrices of these extents one for each work-item.
constexpr bool rotates_hermitian(std::int64_t n) { return n <= 32; }
/// Where work-items run on cores with caches, and elsewhere.
constexpr bool rotates_general(std::int64_t n, bool has_cores) {
    return n <= (has_cores ? 64 : 32);
}
constexpr bool rotates_columns(std::int64_t rows, std::int64_t columns) {
    const std::int64_t longer = rows < columns ? columns : rows;
    const std::int64_t shorter = rows < columns ? rows : columns;
    return shorter > 0 && shorter <= 32 && longer <= 128;
}

/// Stacks of small matrices are not the vendor's libraries', which take one at a time.
constexpr bool suits_libraries(std::int64_t count, std::int64_t rows, std::int64_t columns) {
    return count == 1 || (rows < columns ? rows : columns) >= 64;
}

}  // namespace unisono::primitives
