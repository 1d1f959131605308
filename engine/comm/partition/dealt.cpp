// Arrays whose indices are dealt out to the ranks in turn: views may slice them, nothing else.
#include "comm/partition.h"
#include "comm/partition/entries.h"
#include "comm/redistribute.h"

namespace unisono::comm {

/// Whether the window lets an array be held so: nothing steps over what goes round.
bool Partition::may_be(const Block& block, const Held& held) const {
    return !held.is_cyclic() || !stepped_.contains(&block);
}

/// Finds the arrays of the window that views step over.
void Partition::note_steps(std::span<Entry> window) {
    for (const Entry& e : window) {
        auto note = [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const Operand& o = operand(v);
            const auto& steps = o.steps.step;
            const auto shape = v.layout->shape();
            for (std::size_t j = 0; j < steps.size(); ++j) {
                if (shape[j] > 1 && o.steps.axis[j] >= 0 && steps[j] != 1) stepped_.insert(o.block);
            }
            if (!o.steps.further.empty()) stepped_.insert(o.block);
        };
        for_each_write(e, note);
        for_each_read(e, note);
    }
}

/// Puts the array in consecutive parts where its parts go round and the view does more than slice
/// them.
void Partition::straighten(const View& v) {
    if (!is_on_mesh(v)) return;
    const Operand& o = operand(v);
    if (!o.block->is_split() || !is_awkward(o.block->held(), v, o.steps)) return;
    const Held even = default_held(o.block->shape());
    o.block->adopt(even, move_parts(mesh_, o.block->own(), o.block->shape(), o.block->held(), even,
                                    "redistribution of " + o.block->text()));
}

/// As what the operand of a reduction is held, so that what is combined lies in the order of the
/// ranks.
Held Partition::reduced_as(const Entry& e, const Held& has) const {
    const bool goes_round = std::ranges::any_of(has.splits(), [&](const Split& s) {
        return s.cycle && s.axis >= first_reduced(e) && s.axis <= e.axis;
    });
    return goes_round ? default_held(e.in[0].layout->shape()) : has;
}

}  // namespace unisono::comm
