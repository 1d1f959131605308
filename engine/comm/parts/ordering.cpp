// Orders elements that are spread: sample sort.
//
// Each rank samples its part; all get all samples, and between them those that cut the order into
// ranges, some for each rank. Each rank deals its elements out to the ranges, sends every other the
// elements of that one's ranges, and sorts what it gets, range by range. What the samples missed of
// even parts moves to the neighbours then. Equal elements go to the same rank, from ranks in their
// order, so that the order is stable. Where ranks are more than ranges can be dealt to at once, and
// of complex numbers, each rank sorts its part first, and cuts it.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "comm/redistribute.h"
#include "library/reduce/extremes.h"
#include "library/sort/ranges.h"
#include "library/sort/search.h"
#include "library/sort/select.h"
#include "library/sort/sort.h"
#include "library/sort/unique.h"

namespace unisono::comm {

namespace {

Array reversed(const Array& a) {
    IndexItem item{IndexItem::Kind::Slice, 0, 0, -1, false, false};
    return copy(index(a, {&item, 1}));
}

/// Elements of a vector with where they were, on the rank that has their range of the order.
struct Ranged {
    Array values, places;             ///< in order
    std::vector<std::int64_t> sizes;  ///< of all ranks
    bool is_even = false;             ///< these are even parts: equal elements may be on two ranks
};

/// What of an order is wanted.
enum class Wanted { Values, EvenParts, Places };

Held even_parts(Partition& p, const View& v) {
    return Held::along(Split::even(0, v.layout->size(), p.mesh().size()));
}

/// Samples of a part for each rank; of large parts so many in all, that ranges differ little.
constexpr std::int64_t samples_for_rank = 64, samples_of_part = 4096, elements_a_sample = 256;
/// Parts from that many elements on are dealt out to several ranges a rank, for each thread: these
/// are sorted side by side, and in fewer passes over memory.
constexpr std::int64_t several_ranges_from = library::parallel_sort_elements;
constexpr int ranges_for_thread = 4;

/// The samples of all ranks, in order; positions are spread as if drawn.
Array samples_of(Mesh& mesh, const Split& even, const Array& part, const std::string& what) {
    const std::int64_t n = part.size(), ranks = mesh.size();
    auto drawn = [&](Range r) {
        const std::int64_t wanted = std::max(
            samples_for_rank * ranks, std::min(samples_of_part, r.size() / elements_a_sample));
        return r.empty() ? 0 : std::min(r.size(), wanted);
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

/// A part dealt out to ranges of the order, and who gets how much of it.
struct Dealt {
    Array part;
    library::Ranges ranges;
    int each;  ///< ranges of a rank
    /// Elements of this rank's ranges that each rank has for it: by rank, then by range.
    std::vector<std::int64_t> coming;
    std::vector<std::int64_t> sizes = {};  ///< of what all ranks get
    /// Where this rank's ranges begin among what it gets, and the end.
    std::vector<std::int64_t> bounds = {};
};

/// Nothing where there are no elements.
std::optional<Dealt> dealt_out(Mesh& mesh, const Split& even, const Array& given,
                               const std::string& what) {
    const Array samples = samples_of(mesh, even, given, what);
    const std::int64_t m = samples.size(), ranks = mesh.size();
    if (m == 0) return {};
    std::int64_t each = 1;
    if (even.extent / ranks >= several_ranges_from) {
        const auto threads = gather_numbers(mesh, thread_count(), what);
        each = std::clamp<std::int64_t>(ranges_for_thread * std::ranges::max(threads), 1,
                                        library::Ranges::most / ranks);
    }
    std::vector<std::int64_t> places;
    for (std::int64_t q = 1; q < ranks * each; ++q) places.push_back(q * m / (ranks * each));
    const Array cuts = at_positions(samples, vector_of(places)), part = library::packed(given);
    for (const Array& a : {part, cuts}) memory_of(a, false);
    library::Ranges ranges(part.view(), cuts.view());
    const std::vector<std::int64_t> by_rank(static_cast<std::size_t>(ranks), each);
    const Array counts = swap_rows(mesh, vector_of(ranges.sizes()), by_rank, by_rank, what);
    const auto coming = values_of<const std::int64_t>(counts);
    Dealt made{part, std::move(ranges), static_cast<int>(each), {coming.begin(), coming.end()}};
    made.bounds.push_back(0);
    for (std::int64_t q = 0; q < each; ++q) {
        std::int64_t size = 0;
        for (std::int64_t r = 0; r < ranks; ++r)
            size += coming[static_cast<std::size_t>(r * each + q)];
        made.bounds.push_back(made.bounds.back() + size);
    }
    made.sizes = gather_numbers(mesh, made.bounds.back(), what);
    return made;
}

/// Brings what the ranks have for this one's ranges into `got`, range by range and rank by rank.
/// `deal` writes this rank's own items where it is told.
void bring(Mesh& mesh, const Dealt& dealt, const Array& got,
           const std::function<void(std::span<char* const>)>& deal, const std::string& what) {
    const int me = mesh.rank(), each = dealt.each;
    const std::int64_t item = size_of(got.dtype());
    std::int64_t going = dealt.part.size();
    for (int q = 0; q < each; ++q)
        going -= dealt.ranges.sizes()[static_cast<std::size_t>(me * each + q)];
    const std::int64_t shape[] = {going};
    const Array out = empty(shape, got.dtype(), nullptr);
    char* const from = memory_of(out, true);
    char* const here = memory_of(got, true);
    std::vector<Part> sends, receives;
    std::vector<char*> to;
    std::vector<std::int64_t> next = dealt.bounds;  // where the next rank's elements come, by range
    std::int64_t sent = 0;
    for (int r = 0; r < mesh.size(); ++r) {
        for (int q = 0; q < each; ++q) {
            std::int64_t& after = next[static_cast<std::size_t>(q)];
            const std::int64_t n = dealt.coming[static_cast<std::size_t>(r * each + q)];
            const std::int64_t place = std::exchange(after, after + n);
            if (r != me && n > 0) receives.push_back({r, place * item, n * item});
            if (r == me) {
                to.push_back(here ? here + place * item : nullptr);
                continue;
            }
            const std::int64_t size = dealt.ranges.sizes()[static_cast<std::size_t>(r * each + q)];
            to.push_back(from ? from + sent * item : nullptr);
            if (size > 0) sends.push_back({r, sent * item, size * item});
            sent += size;
        }
    }
    deal(to);
    mesh.record(what, out.view(), std::move(sends), got.view(), std::move(receives), false);
}

void bring_values(Mesh& mesh, const Dealt& dealt, const Array& got, const std::string& what) {
    auto deal = [&](std::span<char* const> to) { dealt.ranges.deal(dealt.part.view(), to); };
    bring(mesh, dealt, got, deal, what);
}

Array vector_like(const Array& a, std::int64_t n) {
    const std::int64_t shape[] = {n};
    return empty(shape, a.dtype(), nullptr);
}

Ranged nothing(const Mesh& mesh, const Array& part) {
    return {part, vector_of({}), std::vector<std::int64_t>(static_cast<std::size_t>(mesh.size()))};
}

Ranged places_by_ranges(Mesh& mesh, const Split& even, const Array& part, const std::string& what) {
    const auto dealt = dealt_out(mesh, even, part, what);
    if (!dealt) return nothing(mesh, part);
    const std::int64_t n = dealt->bounds.back(), shape[] = {n};
    const Array values = vector_like(part, n), places = empty(shape, DType::Int64, nullptr);
    bring_values(mesh, *dealt, values, what);
    auto deal = [&](std::span<char* const> to) {
        dealt->ranges.deal_numbers(even.range(mesh.rank()).begin, to);
    };
    bring(mesh, *dealt, places, deal, what);
    const Array order = library::argsort(values, 0, false);
    return {at_positions(values, order), at_positions(places, order), dealt->sizes};
}

/// Of parts that differ little from even ones so much more than the part is kept in memory.
constexpr std::int64_t slack_of_part = 8;

/// Where `may_even` and samples have hit even parts well, these.
Ranged values_by_ranges(Mesh& mesh, const Split& even, const Array& part, bool may_even,
                        const std::string& what) {
    const auto dealt = dealt_out(mesh, even, part, what);
    if (!dealt) return nothing(mesh, part);
    const std::vector<std::int64_t> bounds = bounds_of(dealt->sizes);
    auto has = [&](int r) {
        const auto k = static_cast<std::size_t>(r);
        return Range{bounds[k], bounds[k + 1]};
    };
    // What is missing of even parts arrives beside what was sorted; nothing is copied.
    bool is_near = may_even;
    for (int r = 0; r < mesh.size(); ++r) {
        const Range a = has(r), b = even.range(r);
        const std::int64_t all = std::max(a.end, b.end) - std::min(a.begin, b.begin);
        is_near = is_near && all <= b.size() + b.size() / slack_of_part;
    }
    const int me = mesh.rank();
    const Range mine = has(me), wanted = is_near ? even.range(me) : mine;
    const std::int64_t first = std::min(mine.begin, wanted.begin);
    const Array room = vector_like(part, std::max(mine.end, wanted.end) - first);
    auto at = [&](Range r) { return rows_of(room, {r.begin - first, r.end - first}); };
    const Array got = at(mine);
    bring_values(mesh, *dealt, got, what);
    if (memory_of(got, true)) library::sort_runs(got.view(), dealt->bounds);
    if (!is_near) return {got, {}, dealt->sizes};
    std::vector<std::int64_t> even_sizes;
    std::vector<Part> sends, receives;
    const std::int64_t item = size_of(part.dtype());
    for (int r = 0; r < mesh.size(); ++r) {
        even_sizes.push_back(even.range(r).size());
        if (r == me) continue;
        auto add = [&](std::vector<Part>& pieces, Range piece) {
            if (!piece.empty())
                pieces.push_back({r, (piece.begin - first) * item, piece.size() * item});
        };
        add(sends, intersect(mine, even.range(r)));
        add(receives, intersect(has(r), wanted));
    }
    mesh.record(what, room.view(), std::move(sends), room.view(), std::move(receives), false);
    return {at(wanted), {}, even_sizes, true};
}

bool can_be_dealt(const Mesh& mesh, DType t) {
    return mesh.size() > 1 && mesh.size() <= library::Ranges::most && !is_complex(t);
}

/// The vector in ascending order.
Ranged in_ranges(Partition& p, const View& v, Wanted wanted, const std::string& what) {
    Mesh& mesh = p.mesh();
    const int ranks = mesh.size();
    const Held even = even_parts(p, v);
    const Array part = p.part(v, even);
    Ranged made;
    const bool with_places = wanted == Wanted::Places;
    if (can_be_dealt(mesh, v.dtype)) {
        if (with_places) return places_by_ranges(mesh, even.split, part, what);
        return values_by_ranges(mesh, even.split, part, wanted == Wanted::EvenParts, what);
    }
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

/// A whole order, of equal elements the first one first.
struct Ordered {
    Array values, places;
    Held as;
};

Ordered in_order(Partition& p, View v, bool descending, const std::string& what) {
    const std::int64_t n = v.layout->size();
    Array turned;
    if (descending) {
        // Of the elements from the last to the first, so that equal ones keep their order.
        IndexItem item{IndexItem::Kind::Slice, 0, 0, -1, false, false};
        turned = index(Array::of(v), {&item, 1});
        v = turned.view();
    }
    const Ranged sorted = in_ranges(p, v, Wanted::Places, what);
    const Held as = parts_of_sizes(sorted.sizes, 0);
    if (!descending) return {sorted.values, sorted.places, as};
    const Arg from[] = {Arg{scalar_operand(Scalar::of(DType::Int64, n - 1))}, sorted.places.arg()};
    return {reversed(sorted.values), reversed(apply(Op::Sub, from)), backwards(as)};
}

std::string text_of(const Entry& e) {
    return call_of(e).name() + " of " + shape_text(e.in[0].layout->shape());
}

void store_sorted(Partition& p, const Entry& e, bool descending) {
    const Ranged sorted = in_ranges(p, e.in[0], Wanted::EvenParts, text_of(e));
    const Held as = sorted.is_even ? even_parts(p, e.in[0]) : parts_of_sizes(sorted.sizes, 0);
    if (descending) return p.store(e.out, reversed(sorted.values), backwards(as), "sorted parts");
    p.store(e.out, sorted.values, as, "sorted parts");
}

}  // namespace

void sort_parts(Partition& p, const Entry& e) {
    store_sorted(p, e, attributes_of<primitives::Sorting>(e).descending);
}

/// In order each element is in its place.
void partition_parts(Partition& p, const Entry& e) { store_sorted(p, e, false); }

void argpartition_parts(Partition& p, const Entry& e) {
    const Ranged sorted = in_ranges(p, e.in[0], Wanted::Places, text_of(e));
    p.store(e.out, sorted.places, parts_of_sizes(sorted.sizes, 0), "order of parts");
}

void argsort_parts(Partition& p, const Entry& e) {
    const Ordered ordered =
        in_order(p, e.in[0], attributes_of<primitives::Sorting>(e).descending, text_of(e));
    p.store(e.out, ordered.places, ordered.as, "order of parts");
}

/// All ranks choose from the best of each part; of much, the order begins with what is wanted.
void top_k_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const auto& top = attributes_of<primitives::TopK>(e);
    const std::vector<View> out = writes_of(e);
    const std::string what = text_of(e);
    const Held even = even_parts(p, e.in[0]);
    const std::int64_t n = e.in[0].layout->size();
    if (!is_few(out[0]) && top.k > n / mesh.size() / mesh.size()) {
        const Ordered ordered = in_order(p, e.in[0], top.largest, what);
        const Range first = intersect(ordered.as.split.range(mesh.rank()), {0, top.k});
        const Held as = Held::along(ordered.as.split.seen(0, top.k, 0, 1));
        p.store(out[0], rows_of(ordered.values, {0, first.size()}), as, what);
        return p.store(out[1], rows_of(ordered.places, {0, first.size()}), as, what);
    }
    const Array part = p.part(e.in[0], even);
    auto from_part = [&](int r) { return std::min(top.k, even.split.range(r).size()); };
    const std::int64_t mine = from_part(mesh.rank()), copies[] = {mesh.size(), mine};
    const auto [values, places] = library::top_k(part, 0, mine, top.largest);
    const std::vector<std::int64_t> to_each(static_cast<std::size_t>(mesh.size()), mine);
    std::vector<std::int64_t> from_each;
    for (int r = 0; r < mesh.size(); ++r) from_each.push_back(from_part(r));
    auto of_all = [&](const Array& own) {
        const Array given = reshape(copy(broadcast_to(own, copies)), {copies[0] * mine});
        return swap_rows(mesh, given, to_each, from_each, what);
    };
    const Array candidates = of_all(values);
    const Array where = of_all(plus(places, even.split.range(mesh.rank()).begin));
    const auto [best, at] = library::top_k(candidates, 0, top.k, top.largest);
    p.store(out[0], best, Held::all(mesh.size()), what);
    p.store(out[1], at_positions(where, at), Held::all(mesh.size()), what);
}

void unique_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const auto& distinct = attributes_of<primitives::Distinct>(e);
    const std::vector<View> out = writes_of(e);
    const std::string what = text_of(e);
    const std::int64_t n = e.in[0].layout->size();
    const Ranged sorted =
        in_ranges(p, e.in[0], distinct.places ? Wanted::Places : Wanted::Values, what);
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
