// Gives a kernel lowered for the host its NDRange: hidden scalars after its own (see
// passes/lower.h).
#pragma once

#include <algorithm>
#include <vector>

#include "backends/backend.h"

namespace unisono {

/// Scalars of the kernel with global sizes, local sizes and offsets appended, axis by axis. Local
/// sizes left open become tiles that fit the caches; global sizes need not be multiples of local
/// sizes.
inline std::vector<std::uint64_t> host_range_scalars(std::span<const std::uint64_t> scalars,
                                                     const NDRange& range, int dimensions) {
    static constexpr std::int64_t tile[] = {1024, 64, 16};
    std::vector<std::uint64_t> all(scalars.begin(), scalars.end());
    for (int k = 0; k < dimensions; ++k) {
        auto axis = static_cast<std::size_t>(k);
        std::int64_t global = std::max<std::int64_t>(range.global[axis], 0);
        std::int64_t local = range.local[axis];
        if (local <= 0) local = std::clamp<std::int64_t>(global, 1, tile[dimensions - 1]);
        for (std::int64_t v : {global, local, range.offset[axis]})
            all.push_back(static_cast<std::uint64_t>(v));
    }
    return all;
}

}  // namespace unisono
