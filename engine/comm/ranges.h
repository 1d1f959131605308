// Half-open ranges of indices.
#pragma once

#include <algorithm>
#include <cstdint>

namespace unisono::comm {

struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool empty() const { return end <= begin; }
    bool operator==(const Range&) const = default;
};

/// Common part; an empty one is {0, 0}.
inline Range intersect(Range a, Range b) {
    Range r{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    return r.empty() ? Range{} : r;
}

}  // namespace unisono::comm
