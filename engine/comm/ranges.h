// Which rank owns which rows: one half-open range per rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace unisono::comm {

struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool empty() const { return end <= begin; }
    bool operator==(const Range&) const = default;
};

using Ranges = std::vector<Range>;

/// Common part; an empty one is {0, 0}.
inline Range intersect(Range a, Range b) {
    Range r{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    return r.empty() ? Range{} : r;
}

/// Row blocks: rank r of p owns rows r n / p to (r + 1) n / p. Blocks differ by at most one row;
/// with fewer rows than ranks some are empty.
inline Ranges row_blocks(std::int64_t n, int ranks) {
    Ranges rows;
    for (std::int64_t r = 0; r < ranks; ++r)
        rows.push_back({n / ranks * r + n % ranks * r / ranks,
                        n / ranks * (r + 1) + n % ranks * (r + 1) / ranks});
    return rows;
}

/// The indices i in [0, count) with start + step i in `rows`: they are consecutive. step is not 0.
inline Range indices_in(Range rows, std::int64_t start, std::int64_t step, std::int64_t count) {
    if (rows.empty()) return {};
    auto up = [](std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); };
    Range i;
    if (step > 0) {
        i = {up(rows.begin - start, step), up(rows.end - start, step)};
    } else {
        i = {up(start - (rows.end - 1), -step), up(start - rows.begin + 1, -step)};
    }
    return intersect(i, {0, count});
}

}  // namespace unisono::comm
