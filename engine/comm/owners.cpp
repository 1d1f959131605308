#include "comm/owners.h"

#include <algorithm>
#include <functional>

namespace unisono::comm {

namespace {

/// The parts of a split that have some of the indices.
std::vector<int> parts_in(const Split& split, Range indices) {
    std::vector<int> parts;
    if (split.pin >= 0) return {split.pin};
    if (indices.empty()) return parts;
    if (split.cycle == 0) {
        const Split::Parts owners = split.owners(indices);
        for (int part = owners.first; part <= owners.last; ++part) parts.push_back(part);
        return parts;
    }
    const std::int64_t first = (split.start + indices.begin) / split.cycle,
                       last = (split.start + indices.end - 1) / split.cycle;
    const std::int64_t count = std::min<std::int64_t>(last - first + 1, split.ranks);
    for (std::int64_t k = 0; k < count; ++k)
        parts.push_back(static_cast<int>((first + k) % split.ranks));
    std::ranges::sort(parts);
    return parts;
}

/// Ranks by their coordinates along the sides of the grid. Along a side without a split all
/// coordinates have the same.
std::vector<int> ranks_in(const Held& held, const Box& box, int ranks) {
    if (held.kind == Held::Kind::At) return {held.owner};
    std::vector<const Split*> sides;
    for (const Split& s : held.splits()) sides.push_back(&s);
    std::ranges::sort(sides, std::greater{}, [](const Split* s) { return s->stride; });
    std::vector<int> found{0};
    int covered = ranks;  // ranks that agree in the coordinates so far
    auto spread = [&](const std::vector<int>& coordinates, int stride) {
        std::vector<int> more;
        for (const int rank : found) {
            for (const int at : coordinates) more.push_back(rank + at * stride);
        }
        found = std::move(more);
        covered = stride;
    };
    auto spread_to = [&](int stride) {
        std::vector<int> all;
        for (int at = 0; at * stride < covered; ++at) all.push_back(at);
        if (all.size() > 1) spread(all, stride);
    };
    for (const Split* s : sides) {
        spread_to(s->stride * s->ranks);
        const Range indices = s->axis < 0 ? Range{} : box[static_cast<std::size_t>(s->axis)];
        spread(parts_in(*s, indices), s->stride);
    }
    spread_to(1);
    return found;
}

std::vector<OwnedRun> dealt_runs(const Split& split, int rank, Range indices) {
    std::vector<OwnedRun> runs;
    const int part = split.part_of(rank);
    std::int64_t block = (split.start + indices.begin) / split.cycle;
    block += ((part - block) % split.ranks + split.ranks) % split.ranks;
    for (;; block += split.ranks) {
        const std::int64_t at = block * split.cycle - split.start;
        if (at >= indices.end) return runs;
        const std::int64_t begin = std::max(at, indices.begin),
                           end = std::min(at + split.cycle, indices.end);
        if (begin < end) runs.push_back({begin, end, split.dealt_before(rank, begin)});
    }
}

}  // namespace

std::vector<Owned> owners_of(const Held& held, Dims shape, const Box& box, int ranks) {
    std::vector<Owned> owners;
    if (is_empty(box)) return owners;
    for (const int rank : ranks_in(held, box, ranks)) {
        if (!held.takes_part(rank)) continue;
        const Box own = held.box(rank, shape);
        Owned made{rank, {}, {}};
        bool has_some = true;
        for (std::size_t k = 0; k < shape.size(); ++k) {
            made.shape.push_back(own[k].size());
            const Split* split = held.split_along(static_cast<int>(k));
            auto& runs = made.runs.emplace_back();
            if (split && split->cycle) {
                runs = dealt_runs(*split, rank, box[k]);
            } else if (const Range both = intersect(own[k], box[k]); !both.empty()) {
                runs.push_back({both.begin, both.end, both.begin - own[k].begin});
            }
            has_some = has_some && !runs.empty();
        }
        if (has_some) owners.push_back(std::move(made));
    }
    return owners;
}

}  // namespace unisono::comm
