// Orders elements that are spread: sample sort.
//
// Each rank samples its part; all get all samples, and between them p - 1 that cut the order into p
// ranges. Each rank sends every other the elements of that one's range, sorts what it gets, and the
// result is moved to even parts. Equal elements go to the same rank, from ranks in their order, so
// that the order is stable. Few ranks pick the elements for each; many sort first, and cut.
#include <algorithm>

#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "comm/redistribute.h"
#include "library/gather/index.h"
#include "library/gather/join.h"
#include "library/reduce/extremes.h"
#include "library/sort/search.h"
#include "library/sort/sort.h"
#include "library/sort/unique.h"

namespace unisono::comm {

namespace {

Array reversed(const Array& a) {
    IndexItem item{IndexItem::Kind::Slice, 0, 0, -1, false, false};
    return copy(index(a, {&item, 1}));
}

Array at_positions(const Array& a, const Array& positions) {
    library::IndexPart part;
    part.is_array = true;
    part.array = positions;
    return library::get_items(a, {&part, 1});
}

/// Elements of a vector with where they were, on the rank that has their range of the order.
struct Ranged {
    Array values, places;             ///< in order
    std::vector<std::int64_t> sizes;  ///< of all ranks
};

Held even_parts(Partition& p, const View& v) {
    return Held::along(Split::even(0, v.layout->size(), p.mesh().size()));
}

/// Up to so many ranks, elements are picked rank by rank, and sorted once, where they arrive.
constexpr int most_groups = 8;
/// Samples of a part for each rank.
constexpr std::int64_t samples_for_rank = 64;

Array either(Op op, const Array& a, const Array& b) {
    const Arg both[] = {a.arg(), b.arg()};
    return apply(op, both);
}

/// The samples of all ranks, in order; positions are spread as if drawn.
Array samples_of(Mesh& mesh, const Split& even, const Array& part, const std::string& what) {
    const std::int64_t n = part.size(), ranks = mesh.size();
    auto drawn = [&](Range r) {
        return r.empty() ? 0 : std::min(r.size(), samples_for_rank * ranks);
    };
    const std::int64_t count = drawn(even.range(mesh.rank()));
    const std::int64_t shape[] = {count};
    const Array places = empty(shape, DType::Int64, nullptr);
    std::uint64_t state = 0x9e3779b97f4a7c15ull;
    for (std::int64_t& place : values_of<std::int64_t>(places)) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        place = static_cast<std::int64_t>((state >> 11) % static_cast<std::uint64_t>(n));
    }
    std::vector<std::int64_t> counts;
    for (int r = 0; r < mesh.size(); ++r) counts.push_back(drawn(even.range(r)));
    const std::int64_t copies[] = {ranks, count}, flat = ranks * count;
    const Array given = reshape(copy(broadcast_to(at_positions(part, places), copies)), {flat});
    const std::vector<std::int64_t> to_each(static_cast<std::size_t>(ranks), count);
    return library::sort(swap_rows(mesh, given, to_each, counts, "samples of " + what), 0, false);
}

Ranged by_groups(Mesh& mesh, const Split& even, const Array& part, bool with_places,
                 const std::string& what) {
    const int ranks = mesh.size();
    const Array samples = samples_of(mesh, even, part, what);
    const std::int64_t m = samples.size(), first = even.range(mesh.rank()).begin;
    std::vector<Array> values, places;
    std::vector<std::int64_t> to_ranks;
    Array below;  // that go to ranks before this one
    for (int r = 0; r < ranks; ++r) {
        const bool is_last = r + 1 == ranks || m == 0;
        Array reached;
        if (!is_last) {
            const std::int64_t at = (r + 1) * m / ranks;
            const Array cut = rows_of(samples, {at, at + 1});
            // NaN comes last: all are below it.
            reached = either(Op::Or, either(Op::Le, part, cut), either(Op::Ne, cut, cut));
        }
        const bool is_first = below.is_known();
        Array mask;
        if (is_last && is_first) {
            const std::int64_t all[] = {part.size()};
            mask = full(all, Scalar::of(DType::Bool, 1), nullptr);
        } else if (is_last) {
            const Arg one[] = {below.arg()};
            mask = apply(Op::Not, one);
        } else {
            mask = is_first ? reached : either(Op::Gt, reached, below);
        }
        values.push_back(at_positions(part, mask));
        if (with_places) {
            places.push_back(plus(library::nonzero(mask)[0], first));
        }
        to_ranks.push_back(values.back().size());
        below = is_last ? mask : is_first ? reached : either(Op::Or, reached, below);
        if (m == 0) {
            to_ranks.resize(static_cast<std::size_t>(ranks), 0);
            break;
        }
    }
    const auto from_ranks = swap_counts(mesh, to_ranks, what);
    auto moved = [&](const std::vector<Array>& groups) {
        return swap_rows(mesh, library::concatenate(groups, 0, {}), to_ranks, from_ranks, what);
    };
    Ranged made;
    const Array got = moved(values);
    if (with_places) {
        const Array order = library::argsort(got, 0, false);
        made.values = at_positions(got, order);
        made.places = at_positions(moved(places), order);
    } else {
        made.values = library::sort(got, 0, false);
    }
    made.sizes = gather_numbers(mesh, made.values.size(), what);
    return made;
}

/// The vector in ascending order. `with_places`: those of the elements in the vector, too.
Ranged in_ranges(Partition& p, const View& v, bool with_places, const std::string& what) {
    Mesh& mesh = p.mesh();
    const int ranks = mesh.size();
    const Held even = even_parts(p, v);
    const Array part = p.part(v, even);
    Ranged made;
    if (ranks > 1 && ranks <= most_groups && !is_complex(v.dtype))
        return by_groups(mesh, even.split, part, with_places, what);
    if (with_places) {
        const Array order = library::argsort(part, 0, false);
        made.places = plus(order, even.split.range(mesh.rank()).begin);
        made.values = at_positions(part, order);
    } else {
        made.values = library::sort(part, 0, false);
    }
    if (ranks > 1) {
        const Array all = samples_of(mesh, even.split, part, what);
        const std::int64_t n = part.size(), m = all.size();
        std::vector<std::int64_t> to_ranks;
        std::int64_t before = 0;
        for (int r = 0; r + 1 < ranks; ++r) {
            std::int64_t end = 0;
            if (m > 0 && n > 0) {
                const std::int64_t at = (r + 1) * m / ranks;
                const Array place =
                    library::search_sorted(made.values, rows_of(all, {at, at + 1}), true);
                end = values_of<const std::int64_t>(place)[0];
            }
            to_ranks.push_back(end - before);
            before = end;
        }
        to_ranks.push_back(n - before);
        const auto from_ranks = swap_counts(mesh, to_ranks, what);
        const Array values = swap_rows(mesh, made.values, to_ranks, from_ranks, what);
        if (with_places) {
            const Array places = swap_rows(mesh, made.places, to_ranks, from_ranks, what);
            const Array order = library::argsort(values, 0, false);
            made.values = at_positions(values, order);
            made.places = at_positions(places, order);
        } else {
            made.values = library::sort(values, 0, false);
        }
    }
    made.sizes = gather_numbers(mesh, made.values.size(), what);
    return made;
}

/// The other way round: index j is n - 1 - j.
Held backwards(const Held& held) {
    const std::int64_t n = held.split.extent;
    return Held::along(held.split.seen(0, n, n - 1, -1));
}

std::string text_of(const Entry& e) {
    return call_of(e).name() + " of " + shape_text(e.in[0].layout->shape());
}

}  // namespace

void sort_parts(Partition& p, const Entry& e) {
    const Ranged sorted = in_ranges(p, e.in[0], false, text_of(e));
    const Held as = parts_of_sizes(sorted.sizes, 0);
    if (attributes_of<primitives::Sorting>(e).descending)
        return p.store(e.out, reversed(sorted.values), backwards(as), "sorted parts");
    p.store(e.out, sorted.values, as, "sorted parts");
}

void argsort_parts(Partition& p, const Entry& e) {
    View v = e.in[0];
    const bool descending = attributes_of<primitives::Sorting>(e).descending;
    const std::int64_t n = v.layout->size();
    Array turned;
    if (descending) {
        // Of the elements from the last to the first, so that equal ones keep their order.
        IndexItem item{IndexItem::Kind::Slice, 0, 0, -1, false, false};
        turned = index(Array::of(v), {&item, 1});
        v = turned.view();
    }
    const Ranged sorted = in_ranges(p, v, true, text_of(e));
    const Held as = parts_of_sizes(sorted.sizes, 0);
    if (!descending) return p.store(e.out, sorted.places, as, "order of parts");
    const Arg from[] = {Arg{scalar_operand(Scalar::of(DType::Int64, n - 1))}, sorted.places.arg()};
    p.store(e.out, reversed(apply(Op::Sub, from)), backwards(as), "order of parts");
}

void unique_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const auto& distinct = attributes_of<primitives::Distinct>(e);
    const std::vector<View> out = writes_of(e);
    const std::string what = text_of(e);
    const std::int64_t n = e.in[0].layout->size();
    const Ranged sorted = in_ranges(p, e.in[0], distinct.places, what);
    const library::Unique own = library::unique(sorted.values, distinct.places, distinct.equal_nan);
    const std::int64_t mine = own.values.size();
    std::vector<std::int64_t> sizes = gather_numbers(mesh, mine, what);
    const std::vector<std::int64_t> bounds = bounds_of(sizes);
    const std::int64_t found = bounds.back(), first = bounds[static_cast<std::size_t>(mesh.rank())];
    p.store(out[1], full({}, Scalar::of(DType::Int64, found), nullptr), Held::all(mesh.size()),
            what);
    // Results are as long as the operand; what lies behind the last value is not used.
    const bool is_last = mesh.rank() + 1 == mesh.size();
    sizes.back() += n - found;
    const Held as = parts_of_sizes(sizes, 0);
    auto store = [&](const View& to, const Array& values) {
        const std::int64_t shape[] = {is_last ? mine + n - found : mine};
        const Array padded = empty(shape, to.dtype, nullptr);
        if (mine > 0) assign(rows_of(padded, {0, mine}), values.arg());
        if (shape[0] > mine) {
            assign(rows_of(padded, {mine, shape[0]}),
                   Arg{scalar_operand(Scalar::of(DType::Int64, 0)), Weak::Int});
        }
        p.store(to, padded, as, what);
    };
    store(out[0], own.values);
    if (!distinct.places) return;
    store(out[2], at_positions(sorted.places, own.index));
    store(out[4], own.counts);
    // The inverse goes back to where the elements were.
    const Array inverse = plus(own.inverse, first);
    const Split even = Split::even(0, n, mesh.size());
    const auto places = values_of<const std::int64_t>(sorted.places);
    std::vector<std::int64_t> to_each(static_cast<std::size_t>(mesh.size()), 0);
    for (std::int64_t place : places) ++to_each[static_cast<std::size_t>(even.owner(place))];
    const Array order = library::argsort(sorted.places, 0, false);
    const auto from_each = swap_counts(mesh, to_each, what);
    const Array there =
        swap_rows(mesh, at_positions(sorted.places, order), to_each, from_each, what);
    const Array values = swap_rows(mesh, at_positions(inverse, order), to_each, from_each, what);
    p.store(out[3], at_positions(values, library::argsort(there, 0, false)), Held::along(even),
            what);
}

void extreme_of_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const std::string what = text_of(e);
    const bool largest = call_of(e).row().id == std::string_view("argmax");
    const Held even = even_parts(p, e.in[0]);
    const Array part = p.part(e.in[0], even);
    const std::int64_t ranks = mesh.size(), mine = part.size() > 0 ? 1 : 0;
    const std::int64_t shape[] = {ranks * mine};
    Array value = empty(shape, part.dtype(), nullptr), place = empty(shape, DType::Int64, nullptr);
    if (mine) {
        const std::int64_t one[] = {1};
        const Array best = reshape(materialised(library::arg_extreme(part, 0, largest)), {1});
        assign(value, broadcast_to(at_positions(part, best), one).arg());
        assign(place, plus(best, even.split.range(mesh.rank()).begin).arg());
    }
    const std::vector<std::int64_t> to_each(static_cast<std::size_t>(ranks), mine);
    std::vector<std::int64_t> from_each;
    for (int r = 0; r < mesh.size(); ++r) from_each.push_back(even.split.range(r).empty() ? 0 : 1);
    const Array values = swap_rows(mesh, value, to_each, from_each, what);
    const Array places = swap_rows(mesh, place, to_each, from_each, what);
    const Array best = reshape(materialised(library::arg_extreme(values, 0, largest)), {1});
    p.store(e.out, reshape(at_positions(places, best), {}), Held::all(mesh.size()), what);
}

}  // namespace unisono::comm
