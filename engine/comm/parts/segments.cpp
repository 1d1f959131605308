// Reductions of segments of a vector that is spread: each segment goes as a whole to the rank that
// has its first element, so that it is reduced with the bits of one rank.
#include <algorithm>

#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "primitives/primitive.h"

namespace unisono::comm {

namespace {

bool are_ascending(Mesh& mesh, std::span<const std::int64_t> begins, const std::string& what) {
    // Of ranks without any, nothing lies between those beside them.
    constexpr std::int64_t none = -1;
    const auto firsts = gather_numbers(mesh, begins.empty() ? none : begins.front(), what);
    const auto lasts = gather_numbers(mesh, begins.empty() ? none : begins.back(), what);
    const bool mine = std::ranges::is_sorted(begins);
    const auto sorted = gather_numbers(mesh, mine ? 1 : 0, what);
    std::int64_t last = 0;
    for (std::size_t r = 0; r < sorted.size(); ++r) {
        if (sorted[r] == 0) return false;
        if (firsts[r] == none) continue;
        if (firsts[r] < last) return false;
        last = lasts[r];
    }
    return true;
}

}  // namespace

void segment_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const View &from = e.in[0], &begins = e.in[1];
    const std::int64_t n = from.layout->size(), count = begins.layout->size();
    const std::string what = "reduceat of " + shape_text(from.layout->shape()) + " in " +
                             std::to_string(count) + " segments";
    const auto ranks = static_cast<std::size_t>(mesh.size());
    const Split elements = Split::even(0, n, mesh.size());
    const Array share =
        library::packed(p.part(begins, Held::along(Split::even(0, count, mesh.size()))));
    const auto own = values_of<const std::int64_t>(share);
    if (!are_ascending(mesh, own, what)) return run_everywhere(p, e);
    // Who has the first elements of how many segments, which are neighbours then.
    std::vector<std::int64_t> to_each(ranks, 0);
    for (const std::int64_t begin : own) ++to_each[static_cast<std::size_t>(elements.owner(begin))];
    const auto from_each = swap_counts(mesh, to_each, what);
    const Array mine = swap_rows(mesh, share, to_each, from_each, what);
    const auto starts = values_of<const std::int64_t>(mine);
    const auto sizes = gather_numbers(mesh, mine.size(), what);
    const auto firsts = gather_numbers(mesh, starts.empty() ? n : starts.front(), what);
    // Each rank has all elements from its first segment on to the next rank's first one.
    std::vector<std::int64_t> extents(ranks);
    std::int64_t end = n;
    for (std::size_t r = ranks; r-- > 0;) {
        const std::int64_t begin = r == 0 ? 0 : std::min(firsts[r], end);
        extents[r] = end - begin;
        end = begin;
    }
    const Held whole = parts_of_sizes(extents, 0);
    const Array part = library::packed(p.part(from, whole));
    Array made;
    if (mine.size() > 0) {
        const Array operands[] = {part, plus(mine, -whole.split.range(mesh.rank()).begin)};
        made = call_locally(e, operands);
    } else {
        const std::int64_t none[] = {0};
        made = empty(none, e.out.dtype, nullptr);
    }
    p.store(e.out, made, parts_of_sizes(sizes, 0), what);
}

}  // namespace unisono::comm
