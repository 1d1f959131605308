// What factorisations on devices share: work in pieces of columns, products, blocks of reflections.
#pragma once

#include <vector>

#include "library/on_device/device_work.h"

namespace unisono::library {

constexpr std::int64_t panel = 32;  ///< columns

/// The name of what conjugates numbers of a dtype (engine/algorithms/factoring.py).
inline const char* conjugate_of(DType t) {
    return unisono::is_complex(t) ? "conjugate" : "same_number";
}

/// How `columns` of each matrix are cut into pieces for work-items.
struct Pieces {
    std::int64_t count, size;
};
Pieces cut(const DeviceWork& work, std::int64_t matrices, std::int64_t columns, std::int64_t rows);

/// Where a block of each packed matrix begins, and its pitches.
struct Block {
    const DeviceVector& memory;
    std::int64_t first, row, matrix;
};

/// c -= a @ b.
void subtract_products(DeviceWork& work, std::int64_t matrices, const Block& a, const Block& b,
                       const Block& c, std::int64_t m, std::int64_t count, std::int64_t n,
                       bool lower);

/// The reflectors of a stack of m x n matrices in their place, and the triangle of each panel.
struct Reflectors {
    DeviceVector matrices, factors;
    std::vector<DeviceVector> triangles;
    std::int64_t count, m, n, least;
};

Reflectors factor_qr(DeviceWork& work, const View& in);

/// The reflectors of panel k, or their adjoint, applied to columns from c_first on.
void reflect(DeviceWork& work, const Reflectors& r, std::size_t k, const DeviceVector& c,
             std::int64_t c_columns, std::int64_t c_first, bool adjoint);

}  // namespace unisono::library
