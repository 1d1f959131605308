// How an axis of an array is spread over the ranks of a mesh, or over those along one side of a
// grid of them: in consecutive parts, or in blocks that go round.
//
// Who owns an index follows by formula, in constant time: nothing has the size of the job but where
// the parts are irregular. The parts are those of a base, 0 .. n - 1 cut into even blocks (or at
// given bounds); index i belongs to whom base index start + step i belongs to. So the result of
// u[2:] + u[:-2] can be spread as the rows of v[1:-1] are. What lies beyond an end of the base
// belongs to the owner of that end.
//
// Blocks that go round (`cycle`) are counted as they lie: first the indices of part 0, then those
// of part 1. Ranges are ranges of that count; where the extent is cut to a slice, what a part has
// of it is still a run of what it has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/ranges.h"

namespace unisono::comm {

struct Split {
    int axis = -1;            ///< that the parts lie along; -1: every rank has all
    std::int64_t extent = 0;  ///< of that axis
    int ranks = 1;            ///< parts
    /// Of a grid of ranks: rank r has part r / stride % ranks.
    int stride = 1;
    /// Of a grid, where axis is -1: the view lies in this part.
    int pin = -1;
    std::int64_t base = 0;
    /// Where the parts of an irregular base begin, and its end; null for even blocks.
    std::shared_ptr<const std::vector<std::int64_t>> bounds;
    std::int64_t start = 0, step = 1;
    /// Blocks of so many indices go to one part after the other; 0: parts are consecutive. Then
    /// step is 1, start counts from a block of part 0, and there are no bounds.
    std::int64_t cycle = 0;

    static Split everywhere(int ranks) {
        Split s;
        s.ranks = ranks;
        return s;
    }
    static Split even(int axis, std::int64_t extent, int ranks) {
        Split s;
        s.axis = axis;
        s.extent = s.base = extent;
        s.ranks = ranks;
        return s;
    }

    static Split cyclic(int axis, std::int64_t extent, int ranks, std::int64_t cycle) {
        Split s = even(axis, extent, ranks);
        s.cycle = cycle;
        return s;
    }

    bool is_everywhere() const { return axis < 0; }
    bool same_base(const Split& o) const {
        if (cycle || o.cycle) return cycle == o.cycle && ranks == o.ranks && stride == o.stride;
        return base == o.base && bounds == o.bounds && ranks == o.ranks && stride == o.stride;
    }
    /// Whether equal indices belong to the same rank by the same formula.
    bool same_parts(const Split& o) const {
        return extent == o.extent && same_base(o) && start == o.start && step == o.step;
    }

    int part_of(int rank) const { return rank / stride % ranks; }
    /// The rank that has that part, and is elsewhere in the grid where `rank` is.
    int rank_of(int part, int rank) const { return rank + (part - part_of(rank)) * stride; }

    /// Indices along the axis that the rank owns; where it owns none, an empty range in its place.
    Range range(int rank) const {
        if (cycle) {
            const int part = part_of(rank);
            return {dealt(part, start + extent) - dealt(part, start),
                    dealt(part + 1, start + extent) - dealt(part + 1, start)};
        }
        const Range all = span(rank);
        const std::int64_t begin = std::clamp<std::int64_t>(all.begin, 0, extent);
        return {begin, std::clamp(all.end, begin, extent)};
    }
    /// What the rank owns and so much around it.
    template <class Halo>
    Range range_beyond(int rank, const Halo& halo) const {
        const Range all = span(rank);
        if (all.empty()) return range(rank);
        const std::int64_t begin = std::clamp<std::int64_t>(all.begin - halo.before, 0, extent);
        return {begin, std::clamp(all.end + halo.after, begin, extent)};
    }
    /// The same of an axis without ends.
    Range span(int rank) const {
        auto up = [](std::int64_t a, std::int64_t b) {
            return a >= 0 ? (a + b - 1) / b : -(-a / b);
        };
        const int part = part_of(rank);
        const std::int64_t begin = begin_of(part), end = begin_of(part + 1);
        if (step > 0) return {up(begin - start, step), up(end - start, step)};
        return {up(start - end + 1, -step), up(start - begin + 1, -step)};
    }
    /// The part (without a grid, the rank) of an index, which may lie beyond the ends of the axis.
    int owner(std::int64_t index) const {
        const std::int64_t at = start + step * index;
        if (cycle) return static_cast<int>(at / cycle % ranks);
        if (at < 0 || base == 0) return base == 0 && at >= 0 ? ranks - 1 : 0;
        if (at >= base) return ranks - 1;
        if (bounds) {
            const auto after = std::upper_bound(bounds->begin() + 1, bounds->end() - 1, at);
            return static_cast<int>(after - bounds->begin()) - 1;
        }
        auto part = static_cast<int>(static_cast<long double>(at) * ranks / base);
        part = std::min(part, ranks - 1);
        while (part > 0 && even_begin(part) > at) --part;
        while (part + 1 < ranks && even_begin(part + 1) <= at) ++part;
        return part;
    }
    /// The parts that own some of these indices: from first to last.
    struct Parts {
        int first = 0, last = -1;
    };
    Parts owners(Range indices) const {
        if (indices.empty()) return {};
        const int a = owner(indices.begin), b = owner(indices.end - 1);
        return {std::min(a, b), std::max(a, b)};
    }

    /// The same parts seen by a view whose index j is index `from + by * j` of this axis.
    Split seen(int view_axis, std::int64_t count, std::int64_t from, std::int64_t by) const {
        Split s = *this;
        s.axis = view_axis;
        s.extent = count;
        if (cycle) {
            const std::int64_t round = cycle * ranks;
            s.start = ((start + from) % round + round) % round;
            return s;
        }
        s.start = start + step * from;
        s.step = step * by;
        return s;
    }

    /// Of parts that go round: how many of the first `index` indices the rank has.
    std::int64_t dealt_before(int rank, std::int64_t index) const {
        const int part = part_of(rank);
        auto owned = [&](std::int64_t at) { return dealt(part + 1, at) - dealt(part, at); };
        return owned(start + index) - owned(start);
    }
    /// The index that stands there in the count of `range`.
    std::int64_t dealt_index(int rank, std::int64_t count) const {
        if (!cycle) return count;
        const int part = part_of(rank);
        const std::int64_t nth =
            count - range(rank).begin + dealt(part + 1, start) - dealt(part, start);
        return (nth / cycle * ranks + part) * cycle + nth % cycle - start;
    }

  private:
    /// Of parts that go round: how many of the first `at` base indices parts before this one have.
    std::int64_t dealt(int part, std::int64_t at) const {
        const std::int64_t round = cycle * ranks;
        return at / round * cycle * part + std::min(at % round, cycle * part);
    }
    static constexpr std::int64_t beyond = std::int64_t{1} << 62;
    std::int64_t even_begin(int part) const {
        return base / ranks * part + base % ranks * part / ranks;
    }
    std::int64_t begin_of(int part) const {
        if (part == 0) return -beyond;
        if (part == ranks) return beyond;
        return bounds ? (*bounds)[static_cast<std::size_t>(part)] : even_begin(part);
    }
};

}  // namespace unisono::comm
