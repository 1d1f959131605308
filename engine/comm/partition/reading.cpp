// What is read of arrays and written to them outside of statements: parts, positions, the whole.
#include "comm/partition.h"
#include "comm/partition/entries.h"
#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/place.h"
#include "comm/redistribute.h"
#include "core/error.h"
#include "tape/record/record.h"

namespace unisono::comm {

void Partition::complete(Storage& storage) {
    if (Block* block = Block::of(storage)) block->complete();
}

Held Partition::default_held(Dims shape) const {
    return shape.empty() ? Held::all(mesh_.size())
                         : Held::along(Split::even(0, shape[0], mesh_.size()));
}

Array Partition::make_empty(Dims shape, DType dtype, Device* place, const Held& held) {
    deals_ = deals_ || held.is_cyclic();
    Array made = empty(shape, dtype, place);
    Halos room;
    for (std::size_t k = 0; k < held.splits().size(); ++k) room[k] = {1, 1};
    Block::of(*made.view().storage)->decide(held, room);
    return made;
}

/// An operand whose contents are recorded on this rank's tape. Ends a window.
Partition::Operand Partition::ready(const View& v) {
    if (tape_.length() > 0) tape_.flush_all(FlushReason::Read);
    if (v.storage->poison) throw Error(*v.storage->poison);
    operands_.clear();  // views of other windows
    straighten(v);
    const Operand o = operand(v);
    if (!o.block->is_split()) {
        o.block->decide(default_held(o.block->shape()));
    }
    return o;
}

Partition::LocalPart Partition::local_part(const Array& a) {
    const View& v = a.view();
    const Operand o = ready(v);
    const Held has = held_by(o.block->held(), v, o.steps);
    Box box = has.box(mesh_.rank(), v.layout->shape());
    // One element that another rank has: there is no axis that could be empty.
    constexpr std::int64_t nothing[] = {0};
    if (v.layout->rank() == 0 && is_empty(box)) return {{}, empty(nothing, v.dtype, nullptr), has};
    box.resize(static_cast<std::size_t>(v.layout->rank()));
    return {box, o.block->part(v, o.steps, box), has};
}

Partition::LocalPart Partition::local_window(const Array& a, std::span<const Halo> beyond) {
    if (a.size() == 0) return local_part(a);
    const Array packed = copy(a);  // its indices are those of the array
    LocalPart made = local_part(packed);
    const auto splits = made.held.splits();
    if (splits.empty() || made.held.kind == Held::Kind::At || made.held.is_cyclic()) return made;
    const View& v = packed.view();
    const Operand o = ready(v);
    Halos wanted;
    for (std::size_t k = 0; k < splits.size(); ++k)
        wanted[k] = beyond[static_cast<std::size_t>(splits[k].axis)];
    o.block->ensure_halo(wanted);
    Box box = made.own;
    for (std::size_t k = 0; k < splits.size(); ++k) {
        const auto axis = static_cast<std::size_t>(splits[k].axis);
        Range& range = box[axis];
        if (!range.empty())
            range = intersect({0, v.layout->shape()[axis]},
                              {range.begin - wanted[k].before, range.end + wanted[k].after});
    }
    made.array = o.block->part(v, o.steps, box);
    return made;
}

Array Partition::whole(const Array& a) {
    const View& v = a.view();
    const Operand o = ready(v);
    if (held_by(o.block->held(), v, o.steps).kind == Held::Kind::All)
        return copy(o.block->part(v, o.steps, whole_box(v.layout->shape())));
    const Array all = fetch(*o.block, v, o.steps, Held::all(mesh_.size()), "gather", true);
    return all.view().layout->contiguous() ? all : copy(all);
}

std::optional<Array> Partition::everywhere(const Array& a, bool may_come_to) {
    const View& v = a.view();
    const Operand o = ready(v);
    Block& block = *o.block;
    if (block.held().kind != Held::Kind::All) {
        if (!may_come_to || block.layout()->size() > limits::few_elements) return {};
        const View all{v.storage, block.layout(), 0, block.dtype()};
        const Held wanted = Held::all(mesh_.size());
        block.adopt(wanted, copy(fetch(block, all, operand(all).steps, wanted, "gather", true)));
        operands_.clear();
    }
    return block.part(v, o.steps, whole_box(v.layout->shape()));
}

Array Partition::panel(const Array& a) {
    (void)ready(a.view());  // what is pending may gather
    return mesh_.count_as_panel([&] { return whole(a); });
}

namespace {

/// Positions beside an array on the mesh, which may be the host's.
void add_reads(Entry& e, OpaqueCall& call, std::span<const Array> arrays) {
    for (const Array& a : arrays) {
        if (e.inputs < std::size(e.in)) {
            e.in[e.inputs++] = a.view();
            continue;
        }
        if (!call.tail) call.tail = std::make_unique<OpaqueCall::Tail>();
        call.tail->reads.push_back(a.view());
    }
}

std::vector<Array> with_positions(const Array& first, std::span<const Array> positions,
                                  Device* place) {
    std::vector<Array> all{first};
    for (const Array& a : positions) all.push_back(to_device(a, place));
    return all;
}

}  // namespace

void Partition::record(Entry& e, std::unique_ptr<OpaqueCall> call, std::span<const Array> reads,
                       const Array& out) {
    e.kind = EntryKind::Opaque;
    add_reads(e, *call, reads);
    e.out = out.view();
    e.compute = out.dtype();
    e.call = call.release();  // owned by the tape
    tape_.line = Tape::current().line;
    tape_.hooks = Tape::current().hooks;
    tape_.append(e);
}

Array Partition::take(const Array& table, std::span<const Array> positions) {
    const Dims from = table.shape();
    std::vector<std::int64_t> shape(from.begin() + static_cast<std::ptrdiff_t>(positions.size()),
                                    from.end());
    shape.insert(shape.begin(), positions[0].size());
    // A table of the host is the same on all ranks.
    Device* place = &mesh_.place();
    const Array made = empty(shape, table.dtype(), place);
    if (made.size() == 0) return made;
    const std::vector<Array> reads = with_positions(table, positions, place);
    Entry e{};
    record(e, make_take(), reads, made);
    return made;
}

void Partition::put(const Array& target, std::span<const Array> positions, const Array& rows) {
    if (rows.size() == 0) return;
    Array first = to_device(rows, target.device());
    if (first.view().storage == target.view().storage) first = copy(first);
    const std::vector<Array> reads = with_positions(first, positions, target.device());
    Entry e{};
    record(e, make_put(), reads, target);
}

Array Partition::reshaped(const Array& a, Dims shape) {
    Array made = empty(shape, a.dtype(), a.device());
    if (a.size() == 0) return made;
    Entry e{};
    record(e, std::make_unique<Reshape>(), {&a, 1}, made);
    return made;
}

}  // namespace unisono::comm
