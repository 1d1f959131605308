// This rank's part of the statements of a window, and what it reads for them.
#include "comm/partition.h"
#include "comm/partition/entries.h"
#include "comm/parts/exchange.h"
#include "comm/redistribute.h"
#include "comm/reduce.h"
#include "tape/record/element_function.h"
#include "tape/record/record.h"

namespace unisono::comm {

/// What this rank reads of an operand to compute `box` of a statement that the ranks share so.
Array Partition::operand_part(const View& view, const Held& iteration, const Box& box,
                              Halo beyond) {
    const Operand& in = operand(view);
    Block& block = *in.block;
    settle(block);
    const Held has = held_by(block.held(), view, in.steps);
    // The box counts what goes round as its rank has it.
    const bool is_counted = iteration.is_cyclic() && view.layout->size() > 1;
    if ((has.kind == Held::Kind::All && !is_counted) || (has == iteration && beyond.none()))
        return block.part(view, in.steps, box);
    if (const auto halo = halos_beyond(has, iteration, block.held(), beyond);
        halo && is_near(*halo, block.held())) {
        // Of all statements up to the next write.
        Halos wanted = *halo;
        if (const auto all = halos_.find({&block, writes_[&block]}); all != halos_.end())
            widen(wanted, all->second);
        if (!halo->none()) block.ensure_halo(wanted);
        return block.part(view, in.steps, box);
    }
    return fetch(block, view, in.steps, iteration, "redistribution");
}

Array Partition::part(const View& view, const Held& wanted) {
    Box box = wanted.box(mesh_.rank(), view.layout->shape());
    box.resize(static_cast<std::size_t>(view.layout->rank()));
    return operand_part(view, wanted, box);
}

void Partition::elementwise(const Entry& e, Halo beyond) {
    const Operand& out = operand(e.out);
    settle(*out.block);
    const Held iteration = held_by(out.block->held(), e.out, out.steps);
    const Dims shape = e.out.layout->shape();
    const int me = mesh_.rank();
    const bool takes_part = iteration.takes_part(me);
    Box box = iteration.box(me, shape);
    box.resize(shape.size());
    if (!beyond.none()) {
        Range& range = box[static_cast<std::size_t>(iteration.split.axis)];
        range = iteration.split.range_beyond(me, in_indices(beyond, iteration.split));
        out.block->ensure_room(in_indices(beyond, out.block->held()));
        // What is not written there must be what its owners have.
        const auto kept = halos_.find({out.block, writes_[out.block]});
        if (kept != halos_.end()) out.block->ensure_halo(kept->second);
    }
    Entry local = e;
    local.line = {};
    local.call = nullptr;
    Array parts[3];
    for (int k = 0; k < e.inputs; ++k) {
        if (!e.in[k].storage) continue;
        parts[k] = operand_part(e.in[k], iteration, box, beyond);
        local.in[k] = parts[k].view();
    }
    if (!takes_part || is_empty(box)) return;
    const Array target = out.block->part(e.out, out.steps, box);
    local.out = target.view();
    if (e.kind == EntryKind::Iota) {
        // The linear index of an element of the whole.
        if (iteration.is_cyclic()) {
            assign(target, vector_of(iteration.indices(me, 0, shape[0])).arg());
            return;
        }
        const std::int64_t first = box.empty() ? 0 : box[0].begin;
        const Array positions = iota(elements_of(box), nullptr);
        Arg sum[] = {positions.arg(), Arg{scalar_operand(Scalar::of(DType::Int64, first))}};
        const Array counted = apply(Op::Add, sum);
        assign(target, counted.arg());
        return;
    }
    if (e.kind == EntryKind::Function)
        local.call = new ElementCall(static_cast<const ElementCall*>(e.call)->function);
    Tape::current().append(local);
}

/// How a new array is held whose elements must move there and arrive in memory of their own.
std::optional<Held> Partition::moves_to(const View& out, const Held& as) {
    const Operand& to = operand(out);
    const Block& block = *to.block;
    if (block.is_split() || room_.contains(&block)) return {};
    if (out.layout->size() != element_count(block.shape())) return {};
    const int ranks = mesh_.size();
    const Held &planned = planned_.at(&block), mine = as_array(as, ranks);
    if (mine == planned && mine == as) return {};
    const Held wanted = held_by(planned, out, to.steps);
    if (!(as_array(wanted, ranks) == wanted)) return {};
    return wanted;
}

/// Writes what this rank has of a new array, held so.
void Partition::store(const View& out, const Array& given, const Held& as,
                      const std::string& what) {
    const Operand& to = operand(out);
    Block& block = *to.block;
    const Array part = given.is_known() ? full({}, given.scalar(), nullptr) : given;
    const int ranks = mesh_.size();
    if (!block.is_split()) {
        const Held mine = as_array(as, ranks);
        const Held planned = planned_.at(&block);
        if (const auto wanted = moves_to(out, as))
            return block.adopt(planned,
                               move_parts(mesh_, part, out.layout->shape(), as, *wanted, what));
        if (mine == planned && mine == as && !room_.contains(&block))
            return block.adopt(mine, part.view().layout->contiguous() ? part : copy(part));
        settle(block);
    }
    const Held iteration = held_by(block.held(), out, to.steps);
    const Dims shape = out.layout->shape();
    Box box = iteration.box(mesh_.rank(), shape);
    box.resize(shape.size());
    const Array moved =
        as == iteration ? part : move_parts(mesh_, part, shape, as, iteration, what);
    if (iteration.takes_part(mesh_.rank()) && !is_empty(box))
        assign(block.part(out, to.steps, box), moved.arg());
}

void Partition::reduction(const Entry& e) {
    const View& v = e.in[0];
    const Operand& in = operand(v);
    Held has = held_by(in.block->held(), v, in.steps);
    const int ranks = mesh_.size(), me = mesh_.rank();
    const Dims shape = v.layout->shape();
    const std::vector<int> axes = reduced_axes(e);
    // Of the axes that are left: whether there is more than one element behind that axis.
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    auto is_innermost = [&](int axis) {
        return element_count(Dims(extents).subspan(static_cast<std::size_t>(axis) + 1)) == 1;
    };
    auto reduced = [&](const Array& a, const std::vector<int>& over) {
        if (over.empty()) return a;
        const bool innermost = is_innermost(over.back());
        for (std::size_t k = over.size(); k-- > 0;) extents.erase(extents.begin() + over[k]);
        return reduce_part(e.op, a, over, innermost, e.compute);
    };
    const std::string what = "result of a reduction of " + in.block->text();
    if (has.kind == Held::Kind::At) {
        const Array all = fetch(*in.block, v, in.steps, Held::all(ranks), "one row");
        return store(e.out, reduced(all, axes), Held::all(ranks), what);
    }
    Array part;
    if (const Held as = reduced_as(e, has); is_of_views_only(has) || !(as == has)) {
        has = default_held(shape);
        part = fetch(*in.block, v, in.steps, has, "redistribution");
    } else {
        part = in.block->part(v, in.steps, has.box(me, shape));
    }
    // From the innermost axis on: those that are whole at once, those that are split one by one.
    const Held after = held_after(e, has, ranks);
    std::vector<int> whole;
    bool is_combined = false;
    auto reduce_whole = [&] { part = reduced(part, std::exchange(whole, {})); };
    for (std::size_t k = axes.size(); k-- > 0;) {
        const int axis = axes[k];
        const Split* found = has.split_along(axis);
        if (!found) {
            whole.insert(whole.begin(), axis);
            continue;
        }
        reduce_whole();
        Split split = *found;
        if (!is_combined && part.dtype() != e.compute) part = astype(part, e.compute, true);
        is_combined = true;
        part = reduce_along(mesh_, e.op, part, split, is_innermost(axis), e.compute);
        extents.erase(extents.begin() + axis);
    }
    reduce_whole();
    store(e.out, part, after, what);
}

/// An array of the host, which is the same on all ranks: each takes its part.
void Partition::spread(const Entry& e) {
    const Operand& out = operand(e.out);
    settle(*out.block);
    const Held iteration = held_by(out.block->held(), e.out, out.steps);
    Box box = iteration.box(mesh_.rank(), e.out.layout->shape());
    if (is_empty(box)) return;
    if (iteration.is_cyclic()) {
        const Array mine = taken(Array::of(e.in[0]), iteration, mesh_.rank());
        return assign(out.block->part(e.out, out.steps, box), mine.arg());
    }
    std::vector<IndexItem> items;
    for (Range r : box) items.push_back({IndexItem::Kind::Slice, r.begin, r.end, 1, true, true});
    const Array from = index(Array::of(e.in[0]), items);
    assign(out.block->part(e.out, out.steps, box), from.arg());
}

void Partition::flat(const Entry& e) {
    const Operand& in = operand(e.in[0]);
    const Dims from = e.in[0].layout->shape(), to = e.out.layout->shape();
    const int ranks = mesh_.size();
    const Held rows =
        from.empty() ? Held::at(ranks - 1) : Held::along(Split::even(0, from[0], ranks));
    const Array part = fetch(*in.block, e.in[0], in.steps, rows, "reshape");
    const Array made = move_flat(mesh_, part, from, to,
                                 "reshape of " + in.block->text() + " to " + shape_text(to));
    const Held as = to.empty() ? Held::at(ranks - 1) : Held::along(Split::even(0, to[0], ranks));
    store(e.out, made, as, "result of a reshape of " + in.block->text());
}

}  // namespace unisono::comm
