// Questions about entries of a window, and about who has what.
#include "comm/partition/entries.h"

#include <algorithm>

#include "core/error.h"

namespace unisono::comm {

/// Halos up to this many elements are kept beside any part, however small.
static constexpr std::int64_t small_halo = 16;

bool is_elementwise(const Entry& e) {
    return e.kind == EntryKind::Map || e.kind == EntryKind::Copy || e.kind == EntryKind::Select ||
           e.kind == EntryKind::Iota || e.kind == EntryKind::Function;
}

void Reshape::run(std::span<const View>, std::span<const View>) {
    fail(ErrorKind::Internal, "mesh: a reshape ran as it is");
}

bool is_reshape(const Entry& e) { return dynamic_cast<const Reshape*>(e.call) != nullptr; }

bool is_on_mesh(const View& v) { return v.storage && Block::of(*v.storage) && v.storage->device; }

bool is_spread(const Entry& e) {
    return e.kind == EntryKind::Opaque && e.inputs == 1 && e.in[0].storage &&
           !e.in[0].storage->device;
}

bool brings_number(const Entry& e) {
    return e.call && e.call->transfers() && e.out.layout->rank() == 0;
}

std::uint64_t mark_of(const Entry& e) {
    std::uint64_t mark = static_cast<std::uint64_t>(e.kind) * 64 + static_cast<std::uint64_t>(e.op);
    for (const std::int64_t n : e.out.layout->shape())
        mark = mark * 1000003 + static_cast<std::uint64_t>(n);
    // Where slices begin, too: of distributed arrays that is alike on all ranks. What reads a
    // single element is left out: ranks that know the number have written it into the statement.
    auto add = [&](const View& v) {
        if (is_on_mesh(v)) mark = mark * 1000003 + static_cast<std::uint64_t>(v.offset);
    };
    for_each_write(e, add);
    for_each_read(e, [&](const View& v) {
        if (std::ranges::any_of(v.layout->strides(), [](std::int64_t s) { return s != 0; })) add(v);
    });
    return mark;
}

bool is_near(const Halos& halos, const Held& held) {
    const auto splits = held.splits();
    for (std::size_t k = 0; k < splits.size(); ++k) {
        const std::int64_t most = std::max(small_halo, splits[k].extent / splits[k].ranks + 1);
        if (halos[k].before > most || halos[k].after > most) return false;
    }
    return true;
}

void widen(Halo& halo, const Halo& more) {
    halo.before = std::max(halo.before, more.before);
    halo.after = std::max(halo.after, more.after);
}

void widen(Halos& halos, const Halos& more) {
    for (std::size_t k = 0; k < most_splits; ++k) widen(halos[k], more[k]);
}

Halo in_indices(const Halo& base, const Split& split) {
    return split.step > 0 ? base : base.turned();
}
Halo in_indices(const Halo& base, const Held& held) {
    return base.none() ? Halo{} : in_indices(base, held.split);
}

std::optional<Halos> halos_beyond(const Held& held, const Held& wanted, const Held& array,
                                  const Halo& beyond) {
    auto halos = halos_between(held, wanted, array);
    if (!halos || beyond.none()) return halos;
    const Halo more = in_indices(beyond, array);
    return Halos(Halo{(*halos)[0].before + more.before, (*halos)[0].after + more.after});
}

std::vector<int> reduced_axes(const Entry& e) {
    std::vector<int> axes;
    for (int k = first_reduced(e); k <= e.axis; ++k) axes.push_back(k);
    return axes;
}

Held held_after(const Entry& e, const Held& in, int ranks) {
    std::vector<Split> kept;
    for (Split s : in.splits()) {
        if (s.axis >= first_reduced(e) && s.axis <= e.axis) continue;
        if (s.axis > e.axis) s.axis -= e.before + 1;
        kept.push_back(s);
    }
    return Held::of_grid(std::move(kept), ranks);
}

bool is_of_views_only(const Held& held) {
    return held.crosses() ||
           std::ranges::any_of(held.splits(), [](const Split& s) { return s.pin >= 0; });
}

Held as_array(const Held& held, int ranks) {
    return held.kind == Held::Kind::At || is_of_views_only(held) ? Held::all(ranks) : held;
}

}  // namespace unisono::comm
