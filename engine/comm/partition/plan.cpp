// Before a window runs: how new arrays are split, and how far beyond their parts ranks read and
// compute.
#include "comm/partition.h"
#include "comm/partition/entries.h"
#include "comm/parts/primitive.h"
#include "core/limits.h"
#include "tape/record/recorded.h"

namespace unisono::comm {

/// So many elements beyond each end of a part are computed twice rather than sent: a message costs
/// about as much as their statements.
static constexpr std::int64_t most_extra_elements = 1 << 14;
/// So many rows are, whatever their length, where parts have many: sweeps between two messages
/// share passes over memory (tape/run/bands/band_schedule.h).
static constexpr std::int64_t extra_rows = limits::waiting_statements, rows_per_extra_row = 32;

/// Decides how a block is split that is met for the first time.
void Partition::settle(Block& block) {
    if (block.is_split()) return;
    const auto room = room_.find(&block);
    block.decide(planned_.at(&block), room == room_.end() ? Halos{} : room->second);
}

/// Backward: what is new takes the split that its first consumer wants.
void Partition::want(std::span<Entry> window) {
    for (std::size_t i = window.size(); i-- > 0;) {
        const Entry& e = window[i];
        if (!is_elementwise(e)) continue;
        const Operand& out = operand(e.out);
        if (!out.block->is_split() && !planned_.contains(out.block)) continue;
        const Held iteration = held_by(held_of(*out.block), e.out, out.steps);
        for_each_read(e, [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const Operand& in = operand(v);
            if (in.block->is_split()) return;
            auto wanted = held_for(iteration, in.steps, in.block->shape());
            if (wanted && may_be(*in.block, *wanted)) planned_.insert_or_assign(in.block, *wanted);
        });
    }
}

/// Forward: splits that nobody wants otherwise, and halos.
void Partition::plan(std::span<Entry> window) {
    for (const Entry& e : window) {
        plan_entry(e);
        for_each_read(e, [&](const View& v) {
            if (is_on_mesh(v)) unread_.erase(Block::of(*v.storage));
        });
    }
    extend(window);
    for (std::size_t i = 0; i < window.size(); ++i) {
        if (is_elementwise(window[i])) note_halos(window[i], beyond_[i]);
        for_each_write(window[i], [&](const View& v) { ++writes_[Block::of(*v.storage)]; });
    }
    writes_.clear();
}

/// Backward: what later statements of the window read beyond a rank's part, it computes itself
/// where it can, instead of waiting for who owns it.
void Partition::extend(std::span<Entry> window) {
    beyond_.assign(window.size(), {});
    if (mesh_.size() == 1 || !shares_exchanges_) return;
    std::unordered_map<const Block*, Halo> wanted;  // of the contents at that point
    for (std::size_t i = window.size(); i-- > 0;) {
        const Entry& e = window[i];
        if (!is_elementwise(e)) {
            for_each_write(e, [&](const View& v) { wanted.erase(Block::of(*v.storage)); });
            continue;
        }
        const Operand& out = operand(e.out);
        const auto later = wanted.find(out.block);
        const Halo beyond = extension_of(e, later == wanted.end() ? Halo{} : later->second);
        beyond_[i] = beyond;
        // What the statement leaves as it is must be there.
        const bool writes_all = e.out.layout->size() == element_count(out.block->shape());
        wanted[out.block] = writes_all ? Halo{} : beyond;
        const Held iteration = held(e.out);
        for_each_read(e, [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const auto shift = shift_between(held(v), iteration);
            if (!shift) return;
            widen(wanted[Block::of(*v.storage)],
                  {beyond.before + std::max<std::int64_t>(0, -*shift),
                   beyond.after + std::max<std::int64_t>(0, *shift)});
        });
    }
}

/// How far beyond its part a rank computes the entry: as far as wanted, or not at all.
Halo Partition::extension_of(const Entry& e, Halo wanted) {
    if (wanted.none() || e.kind == EntryKind::Iota) return {};
    const Operand& out = operand(e.out);
    const Held iteration = held_by(held_of(*out.block), e.out, out.steps);
    if (iteration.kind != Held::Kind::Along) return {};
    const Split& split = held_of(*out.block).split;
    auto takes_each = [](const Split& s) { return s.step == 1 || s.step == -1; };
    if (!takes_each(split) || !takes_each(iteration.split) || iteration.split.bounds) return {};
    if (split.cycle) return {};
    std::int64_t row = 1;
    for (std::int64_t n : out.block->shape()) row *= n;
    row /= std::max<std::int64_t>(1, split.extent);
    const std::int64_t rows = split.extent / split.ranks;
    const std::int64_t most =
        std::min(std::max(most_extra_elements / std::max<std::int64_t>(1, row),
                          std::min(extra_rows, rows / rows_per_extra_row)),
                 rows);
    if (wanted.before > most || wanted.after > most) return {};
    bool can = true;
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        const Operand& in = operand(v);
        const Held has = held(v);
        const Held& theirs = held_of(*in.block);
        if (has.kind == Held::Kind::All) return;
        if (theirs.kind != Held::Kind::Along) return void(can = false);
        const auto halo = halos_beyond(has, iteration, theirs, wanted);
        can = can && halo && takes_each(theirs.split) && is_near(*halo, theirs);
    });
    return can ? wanted : Halo{};
}

/// Evenly along the first axis that gives each rank a part.
static Held evenly(Dims shape, int ranks) {
    const auto found = std::ranges::find_if(shape, [&](std::int64_t n) { return n >= ranks; });
    const auto axis = found == shape.end() ? 0 : found - shape.begin();
    return shape.empty() ? Held::all(ranks)
                         : Held::along(Split::even(static_cast<int>(axis),
                                                   shape[static_cast<std::size_t>(axis)], ranks));
}

void Partition::plan_entry(const Entry& e) {
    const int ranks = mesh_.size();
    auto even = [&](Dims shape) { return default_held(shape); };
    auto is_open = [&](const Block& block) {
        return !block.is_split() && !planned_.contains(&block);
    };
    // Memory that nobody wrote.
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        Block& in = *Block::of(*v.storage);
        if (is_open(in)) planned_.emplace(&in, even(in.shape()));
    });
    Block& out = *Block::of(*e.out.storage);
    if (e.kind == EntryKind::Reduce) {
        const Held after = held_after(e, reduced_as(e, held(e.in[0])), ranks);
        if (after.kind == Held::Kind::All)
            planned_.insert_or_assign(&out, after);
        else if (is_open(out))
            planned_.emplace(&out, may_be(out, after) ? as_array(after, ranks) : even(out.shape()));
        return;
    }
    if (is_spread(e)) {
        if (is_open(out)) planned_.emplace(&out, Held::all(ranks));
        return;
    }
    if (!is_elementwise(e)) {
        const auto shared = sharing_of(*this, e);
        const std::vector<View> operands = reads_of(e), results = writes_of(e);
        // What another primitive made goes at once to who takes it.
        for (std::size_t k = 0; shared && k < operands.size(); ++k) {
            if (!is_on_mesh(operands[k])) continue;
            const Operand& in = operand(operands[k]);
            if (!unread_.contains(in.block)) continue;
            const auto wanted = held_for(shared->operands[k], in.steps, in.block->shape());
            if (wanted && may_be(*in.block, *wanted)) planned_.insert_or_assign(in.block, *wanted);
        }
        for (std::size_t k = 0; k < results.size(); ++k) {
            Block& made = *Block::of(*results[k].storage);
            if (!is_open(made)) continue;
            const bool follows = shared && may_be(made, shared->results[k]);
            planned_.emplace(
                &made, follows ? as_array(shared->results[k], ranks) : evenly(made.shape(), ranks));
            if (follows) unread_.insert(&made);
        }
        return;
    }
    if (!is_open(out)) return;
    // A first write of a part says nothing of the whole, but for axes that it writes all of.
    const bool writes_all = e.out.layout->size() == element_count(out.shape());
    std::optional<Held> chosen;
    auto follow = [&](const Held& in) {
        auto all = held_for(in, operand(e.out).steps, out.shape());
        if (!all || all->kind != Held::Kind::Along || all->is_cyclic() || !may_be(out, *all))
            return;
        const Split& s = all->split;
        if (s.extent == s.base && s.start == 0 && s.step == 1) chosen = as_array(*all, ranks);
    };
    bool has_operand = false, is_everywhere = true;
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v) || operand(v).block->shape().empty()) return;
        has_operand = true;
        const Held in = held(v);
        is_everywhere = is_everywhere && in.kind == Held::Kind::All;
        const bool may_follow = !in.splits().empty() && !is_of_views_only(in) && may_be(out, in);
        if (may_follow && !chosen && writes_all) chosen = in;
        if (may_follow && !chosen && in.kind == Held::Kind::Along) follow(in);
    });
    if (out.shape().empty() || (has_operand && is_everywhere && writes_all))
        chosen = Held::all(ranks);
    if (!chosen) chosen = even(out.shape());
    planned_.emplace(&out, *chosen);
    // What the program fills is likely to be read by its neighbours.
    if (!has_operand) widen(room_[&out], Halos(Halo{1, 1}));
}

void Partition::note_halos(const Entry& e, Halo beyond) {
    const Held iteration = held(e.out);
    if (!beyond.none()) {
        const Operand& out = operand(e.out);
        const Halos own = in_indices(beyond, held_of(*out.block));
        widen(room_[out.block], own);
        if (e.out.layout->size() != element_count(out.block->shape()))
            widen(halos_[{out.block, writes_[out.block]}], own);
    }
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        const Operand& in = operand(v);
        const Held& array = held_of(*in.block);
        const auto halo = halos_beyond(held_by(array, v, in.steps), iteration, array, beyond);
        if (!halo || halo->none() || !is_near(*halo, array)) return;
        widen(halos_[{in.block, writes_[in.block]}], *halo);
        widen(room_[in.block], *halo);
    });
}

}  // namespace unisono::comm
