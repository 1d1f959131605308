// The walks over a window, and element-wise statements.
#include "comm/partition.h"

#include "comm/parts/primitive.h"
#include "comm/redistribute.h"
#include "comm/reduce.h"
#include "core/error.h"
#include "tape/record/element_function.h"
#include "tape/record/record.h"
#include "tape/record/recorded.h"

namespace unisono::comm {

namespace {

/// Statements in a window: several sweeps of a time loop lie in one, and few temporaries wait. It
/// ends behind an in-place statement where there is one, so that no expression is cut in two.
constexpr std::size_t usual_statements = 48, most_statements = 256;
/// Halos up to this many elements are kept beside any part, however small.
constexpr std::int64_t small_halo = 16;
/// So many elements beyond each end of a part are computed twice rather than sent: a message costs
/// about as much as their statements.
constexpr std::int64_t most_extra_elements = 1 << 14;

bool is_elementwise(const Entry& e) {
    return e.kind == EntryKind::Map || e.kind == EntryKind::Copy || e.kind == EntryKind::Select ||
           e.kind == EntryKind::Iota || e.kind == EntryKind::Function;
}

/// The same elements in another shape.
struct Reshape final : OpaqueCall {
    void run(std::span<const View>, std::span<const View>) override {
        fail(ErrorKind::Internal, "mesh: a reshape ran as it is");
    }
    std::string name() const override { return "reshape"; }
};

bool is_reshape(const Entry& e) { return dynamic_cast<const Reshape*>(e.call) != nullptr; }

bool is_on_mesh(const View& v) { return v.storage && Block::of(*v.storage) && v.storage->device; }

bool is_spread(const Entry& e) {
    return e.kind == EntryKind::Opaque && e.inputs == 1 && e.in[0].storage &&
           !e.in[0].storage->device;
}

/// Whether halos of that width are kept beside the parts.
bool is_near(const Halo& halo, const Split& split) {
    const std::int64_t most = std::max(small_halo, split.extent / split.ranks + 1);
    return halo.before <= most && halo.after <= most;
}

void widen(Halo& halo, const Halo& more) {
    halo.before = std::max(halo.before, more.before);
    halo.after = std::max(halo.after, more.after);
}

/// An extension in indices of the base as one in indices of an array whose steps are 1 or -1.
Halo in_indices(const Halo& base, const Split& split) {
    return split.step > 0 ? base : base.turned();
}

/// As halo_between, of a rank that computes that far beyond its part.
std::optional<Halo> halo_beyond(const Held& held, const Held& wanted, const Split& split,
                                const Halo& beyond) {
    auto halo = halo_between(held, wanted, split);
    if (!halo || beyond.none()) return halo;
    const Halo more = in_indices(beyond, split);
    return Halo{halo->before + more.before, halo->after + more.after};
}

/// First of the axes that are reduced; `axis` is the last.
int first_reduced(const Entry& e) { return e.axis - e.before; }

std::vector<int> reduced_axes(const Entry& e) {
    std::vector<int> axes;
    for (int k = first_reduced(e); k <= e.axis; ++k) axes.push_back(k);
    return axes;
}

/// As what the result of a reduction is held, whose operand is held so.
Held held_after(const Entry& e, const Held& in, int ranks) {
    if (in.kind != Held::Kind::Along) return Held::all(ranks);
    Split s = in.split;
    if (s.axis >= first_reduced(e) && s.axis <= e.axis) return Held::all(ranks);
    if (s.axis > e.axis) s.axis -= e.before + 1;
    return Held::along(s);
}

Split as_split(const Held& held, int ranks) {
    return held.kind == Held::Kind::Along ? held.split : Split::everywhere(ranks);
}

[[noreturn]] void refuse_view(const View& v) {
    fail(ErrorKind::Unsupported,
         "mesh: a view of shape " + shape_text(v.layout->shape()) +
             " steps along no single axis of its distributed array; copy the array first, or use "
             "slices");
}

}  // namespace

std::size_t Partition::ByView::operator()(const View& v) const {
    const auto storage = reinterpret_cast<std::uintptr_t>(v.storage);
    const auto layout = reinterpret_cast<std::uintptr_t>(v.layout);
    return (storage >> 6) * 31 + (layout >> 4) * 17 + static_cast<std::size_t>(v.offset);
}

const Partition::Operand& Partition::operand(const View& view) {
    const auto known = operands_.find(view);
    if (known != operands_.end()) return known->second;
    Block* block = Block::of(*view.storage);
    auto steps = block->steps(view);
    if (!steps) refuse_view(view);
    return operands_.emplace(view, Operand{block, std::move(*steps)}).first->second;
}

void Partition::check(const Entry& e) {
    for_each_write(e, [&](const View& v) { Block::of(mesh_, v); });
    auto check_view = [&](const View& v) {
        if (is_on_mesh(v) && !Block::of(*v.storage)->steps(v)) refuse_view(v);
    };
    for_each_read(e, check_view);
    for_each_write(e, check_view);
    if (is_elementwise(e) || e.kind == EntryKind::Reduce || is_spread(e) || is_reshape(e)) return;
    check_primitive(e);
}

bool Partition::ends_window(std::span<const Entry> entries) {
    const std::size_t n = entries.size();
    return n >= most_statements ||
           (n >= usual_statements && entries.back().out.storage->version > 1);
}

const Split& Partition::split_of(const Block& block) const {
    return block.is_split() ? block.split() : planned_.at(&block);
}

Held Partition::held(const View& view) {
    const Operand& o = operand(view);
    return held_by(split_of(*o.block), view, o.steps);
}

/// Decides how a block is split that is met for the first time.
void Partition::settle(Block& block) {
    if (block.is_split()) return;
    const auto room = room_.find(&block);
    block.decide(planned_.at(&block), room == room_.end() ? Halo{} : room->second);
}

/// Backward: what is new takes the split that its first consumer wants.
void Partition::want(std::span<Entry> window) {
    for (std::size_t i = window.size(); i-- > 0;) {
        const Entry& e = window[i];
        if (!is_elementwise(e)) continue;
        const Operand& out = operand(e.out);
        if (!out.block->is_split() && !planned_.contains(out.block)) continue;
        const Held iteration = held_by(split_of(*out.block), e.out, out.steps);
        for_each_read(e, [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const Operand& in = operand(v);
            if (in.block->is_split()) return;
            if (auto split = split_for(iteration, in.steps, in.block->shape()))
                planned_.insert_or_assign(in.block, *split);
        });
    }
}

/// Forward: splits that nobody wants otherwise, and halos.
void Partition::plan(std::span<Entry> window) {
    for (const Entry& e : window) plan_entry(e);
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
    if (mesh_.size() == 1) return;
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
    const Split& split = split_of(*out.block);
    const Held iteration = held_by(split, e.out, out.steps);
    auto takes_each = [](const Split& s) { return s.step == 1 || s.step == -1; };
    if (iteration.kind != Held::Kind::Along || !takes_each(split) || !takes_each(iteration.split) ||
        iteration.split.bounds)
        return {};
    std::int64_t row = 1;
    for (std::int64_t n : out.block->shape()) row *= n;
    row /= std::max<std::int64_t>(1, split.extent);
    const std::int64_t most =
        std::min(most_extra_elements / std::max<std::int64_t>(1, row), split.extent / split.ranks);
    if (wanted.before > most || wanted.after > most) return {};
    bool can = true;
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        const Operand& in = operand(v);
        const Held has = held(v);
        const Split& theirs = split_of(*in.block);
        const auto halo = halo_beyond(has, iteration, theirs, wanted);
        can = can && (has.kind == Held::Kind::All ||
                      (halo && takes_each(theirs) && is_near(*halo, theirs)));
    });
    return can ? wanted : Halo{};
}

void Partition::plan_entry(const Entry& e) {
    const int ranks = mesh_.size();
    auto even = [&](Dims shape) { return default_split(shape); };
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
        const Held after = held_after(e, held(e.in[0]), ranks);
        if (after.kind == Held::Kind::All)
            planned_.insert_or_assign(&out, Split::everywhere(ranks));
        else if (is_open(out))
            planned_.emplace(&out, after.split);
        return;
    }
    if (is_spread(e)) {
        if (is_open(out)) planned_.emplace(&out, Split::everywhere(ranks));
        return;
    }
    if (!is_elementwise(e)) {
        const auto shared = sharing_of(*this, e);
        const std::vector<View> results = writes_of(e);
        for (std::size_t k = 0; k < results.size(); ++k) {
            Block& made = *Block::of(*results[k].storage);
            if (!is_open(made)) continue;
            planned_.emplace(&made,
                             shared ? as_split(shared->results[k], ranks) : even(made.shape()));
        }
        return;
    }
    if (!is_open(out)) return;
    // A first write of a part says nothing of the whole.
    const bool writes_all = e.out.layout->size() == element_count(out.shape());
    std::optional<Split> split;
    bool has_operand = false, is_everywhere = true;
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        has_operand = true;
        const Held in = held(v);
        is_everywhere = is_everywhere && in.kind == Held::Kind::All;
        if (in.kind == Held::Kind::Along && !split && writes_all) split = in.split;
    });
    if (out.shape().empty() || (has_operand && is_everywhere && writes_all))
        split = Split::everywhere(ranks);
    if (!split) split = even(out.shape());
    planned_.emplace(&out, *split);
    // What the program fills is likely to be read by its neighbours.
    if (!has_operand) widen(room_[&out], {1, 1});
}

void Partition::note_halos(const Entry& e, Halo beyond) {
    const Held iteration = held(e.out);
    if (!beyond.none()) {
        const Operand& out = operand(e.out);
        const Halo own = in_indices(beyond, split_of(*out.block));
        widen(room_[out.block], own);
        if (e.out.layout->size() != element_count(out.block->shape()))
            widen(halos_[{out.block, writes_[out.block]}], own);
    }
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v)) return;
        const Operand& in = operand(v);
        const Split& split = split_of(*in.block);
        const auto halo = halo_beyond(held_by(split, v, in.steps), iteration, split, beyond);
        if (!halo || halo->none() || !is_near(*halo, split)) return;
        widen(halos_[{in.block, writes_[in.block]}], *halo);
        widen(room_[in.block], *halo);
    });
}

void Partition::run(std::span<Entry> window, const std::function<void(Entry&)>& done) {
    Recorded recorded;
    const Forget forget{*this};
    want(window);
    plan(window);
    Tape& local = Tape::current();
    // Messages stand between statements, never within one, whose parts fuse.
    for (const Entry& e : window) {
        local.line = e.line;
        for_each_write(e, [&](const View& v) { exchange(v); });
        for_each_read(e, [&](const View& v) {
            if (is_on_mesh(v)) exchange(v);
        });
    }
    for (std::size_t i = 0; i < window.size(); ++i) {
        Entry& e = window[i];
        local.line = e.line;
        for_each_read(e, [](const View& v) {
            if (v.storage->poison) throw Error(*v.storage->poison);
        });
        step(e, beyond_[i]);
        // A temporary that nobody needs any more is not made.
        done(e);
    }
}

namespace {

std::string text_of(const Entry& e) {
    switch (e.kind) {
        case EntryKind::Map: return std::string(info(e.op).numpy_name);
        case EntryKind::Copy: return "copy";
        case EntryKind::Select: return "where";
        case EntryKind::Iota: return "arange";
        case EntryKind::Reduce: return std::string(info(e.op).numpy_name) + " reduction";
        default: return e.call ? e.call->name() : "statement";
    }
}

std::string text_of(const Held& held) {
    if (held.kind == Held::Kind::All) return "on every rank";
    if (held.kind == Held::Kind::At) return "on rank " + std::to_string(held.owner);
    return "split along axis " + std::to_string(held.split.axis);
}

}  // namespace

std::string Partition::describe() {
    std::vector<Entry> window(tape_.pending().begin(), tape_.pending().end());
    if (window.empty()) return "mesh: nothing is recorded\n";
    const Forget forget{*this};
    want(window);
    plan(window);
    std::string text = "mesh: " + std::to_string(window.size()) + " recorded statements\n";
    for (const Entry& e : window) {
        const Held iteration = held(e.out);
        text +=
            "  " + text_of(e) + " " + shape_text(e.out.layout->shape()) + ", " + text_of(iteration);
        if (tape_.hooks.decode_line && e.line.code)
            text += ", line " + std::to_string(tape_.hooks.decode_line(e.line).line);
        for_each_read(e, [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const Operand& in = operand(v);
            const Split& split = split_of(*in.block);
            const Held has = held_by(split, v, in.steps);
            const std::string what = "; of " + shape_text(v.layout->shape());
            if (!is_elementwise(e)) {
                text += what + " " + text_of(has);
                return;
            }
            if (has.kind == Held::Kind::All || has == iteration) return;
            const auto halo = halo_between(has, iteration, split);
            if (halo && is_near(*halo, split)) {
                if (!halo->none())
                    text += what + " a halo of " + std::to_string(halo->before) + " before and " +
                            std::to_string(halo->after) + " after";
            } else {
                text += what + ", " + text_of(has) + ", what others have";
            }
        });
        text += "\n";
    }
    return text;
}

void Partition::step(Entry& e, Halo beyond) {
    for_each_read(e, [&](const View& v) {
        if (is_on_mesh(v)) settle(*Block::of(*v.storage));
    });
    if (is_elementwise(e)) {
        elementwise(e, beyond);
    } else if (e.kind == EntryKind::Reduce) {
        reduction(e);
    } else if (is_spread(e)) {
        spread(e);
    } else if (is_reshape(e)) {
        flat(e);
    } else {
        primitive(e);
    }
    for_each_write(e, [&](const View& v) {
        Block& block = *Block::of(*v.storage);
        block.written(in_indices(beyond, block.split()));
        ++writes_[&block];
        exchange(v);
    });
}

/// The halos that are read until the next write, as soon as the contents are there.
void Partition::exchange(const View& v) {
    Block& block = *Block::of(*v.storage);
    if (!block.is_split()) return;
    const auto halo = halos_.find({&block, writes_[&block]});
    if (halo != halos_.end()) block.ensure_halo(halo->second);
}

/// What this rank reads of an operand to compute `box` of a statement that the ranks share so.
Array Partition::operand_part(const View& view, const Held& iteration, const Box& box,
                              Halo beyond) {
    const Operand& in = operand(view);
    Block& block = *in.block;
    settle(block);
    const Held has = held_by(block.split(), view, in.steps);
    if (has.kind == Held::Kind::All || (has == iteration && beyond.none()))
        return block.part(view, in.steps, box);
    if (const auto halo = halo_beyond(has, iteration, block.split(), beyond);
        halo && is_near(*halo, block.split())) {
        // Of all statements up to the next write.
        Halo wanted = *halo;
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
    const Held iteration = held_by(out.block->split(), e.out, out.steps);
    const Dims shape = e.out.layout->shape();
    const int me = mesh_.rank();
    const bool takes_part = iteration.kind != Held::Kind::At || iteration.owner == me;
    Box box = iteration.box(me, shape);
    box.resize(shape.size());
    if (!beyond.none()) {
        Range& range = box[static_cast<std::size_t>(iteration.split.axis)];
        range = iteration.split.range_beyond(me, in_indices(beyond, iteration.split));
        out.block->ensure_room(in_indices(beyond, out.block->split()));
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
        const std::int64_t first =
            iteration.kind == Held::Kind::Along ? box[0].begin : std::int64_t{0};
        Arg sum[] = {iota(elements_of(box), nullptr).arg(),
                     Arg{scalar_operand(Scalar::of(DType::Int64, first))}};
        const Array counted = apply(Op::Add, sum);
        assign(target, counted.arg());
        return;
    }
    if (e.kind == EntryKind::Function)
        local.call = new ElementCall(static_cast<const ElementCall*>(e.call)->function);
    Tape::current().append(local);
}

/// Writes what this rank has of a new array, held so.
void Partition::store(const View& out, const Array& given, const Held& as,
                      const std::string& what) {
    const Operand& to = operand(out);
    Block& block = *to.block;
    const Array part = given.is_known() ? full({}, given.scalar(), nullptr) : given;
    const int ranks = mesh_.size();
    if (!block.is_split()) {
        const Split split = as_split(as, ranks);
        const Split& planned = planned_.at(&block);
        const bool as_planned =
            split.axis == planned.axis && (split.is_everywhere() || split.same_parts(planned));
        const bool has_room = room_.contains(&block);
        if (!as_planned && !has_room && out.layout->size() == element_count(block.shape())) {
            // What moves arrives in memory of its own.
            const Split moved = planned;
            const Held wanted = held_by(moved, out, to.steps);
            if (wanted.kind != Held::Kind::At)
                return block.adopt(moved,
                                   move_parts(mesh_, part, out.layout->shape(), as, wanted, what));
        }
        if (as_planned && !has_room)
            return block.adopt(split, part.view().layout->contiguous() ? part : copy(part));
        settle(block);
    }
    const Held iteration = held_by(block.split(), out, to.steps);
    const Dims shape = out.layout->shape();
    Box box = iteration.box(mesh_.rank(), shape);
    box.resize(shape.size());
    const Array moved =
        as == iteration ? part : move_parts(mesh_, part, shape, as, iteration, what);
    const bool takes_part = iteration.kind != Held::Kind::At || iteration.owner == mesh_.rank();
    if (takes_part && !is_empty(box)) assign(block.part(out, to.steps, box), moved.arg());
}

void Partition::reduction(const Entry& e) {
    const View& v = e.in[0];
    const Operand& in = operand(v);
    const Held has = held_by(in.block->split(), v, in.steps);
    const int ranks = mesh_.size(), me = mesh_.rank();
    const Dims shape = v.layout->shape();
    const std::vector<int> axes = reduced_axes(e);
    auto reduced = [&](const Array& a, std::vector<int> over) {
        return over.empty() ? a : reduce(e.op, a, std::move(over), false, e.compute);
    };
    const std::string what = "result of a reduction of " + in.block->text();
    if (has.kind == Held::Kind::At) {
        const Array all = fetch(*in.block, v, in.steps, Held::all(ranks), "one row");
        return store(e.out, reduced(all, axes), Held::all(ranks), what);
    }
    Box box = has.box(me, shape);
    const Array part = in.block->part(v, in.steps, box);
    const Held after = held_after(e, has, ranks);
    if (has.kind == Held::Kind::All || after.kind == Held::Kind::Along)
        return store(e.out, reduced(part, axes), after, what);
    // Innermost first: behind the split axis, along it, before it.
    Split split = has.split;
    std::vector<int> behind, before;
    for (int axis : axes) {
        if (axis > split.axis) behind.push_back(axis);
        if (axis < split.axis) before.push_back(axis);
    }
    Array inner = part;
    if (behind.empty())
        inner = part.dtype() == e.compute ? part : astype(part, e.compute, true);
    else
        inner = reduced(part, behind);
    const Array everywhere = reduce_along(mesh_, e.op, inner, split, e.compute);
    store(e.out, reduced(everywhere, before), Held::all(ranks), what);
}

/// An array of the host, which is the same on all ranks: each takes its part.
void Partition::spread(const Entry& e) {
    const Operand& out = operand(e.out);
    settle(*out.block);
    const Held iteration = held_by(out.block->split(), e.out, out.steps);
    Box box = iteration.box(mesh_.rank(), e.out.layout->shape());
    if (is_empty(box)) return;
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

void Partition::complete(Storage& storage) {
    if (Block* block = Block::of(storage)) block->complete();
}

Split Partition::default_split(Dims shape) const {
    return shape.empty() ? Split::everywhere(mesh_.size()) : Split::even(0, shape[0], mesh_.size());
}

Array Partition::make_empty(Dims shape, DType dtype, Device* place, const Split& split) {
    Array made = empty(shape, dtype, place);
    Block::of(*made.view().storage)->decide(split, split.is_everywhere() ? Halo{} : Halo{1, 1});
    return made;
}

/// An operand whose contents are recorded on this rank's tape. Ends a window.
Partition::Operand Partition::ready(const View& v) {
    if (tape_.length() > 0) tape_.flush_all(FlushReason::Read);
    if (v.storage->poison) throw Error(*v.storage->poison);
    operands_.clear();  // views of other windows
    const Operand o = operand(v);
    if (!o.block->is_split()) {
        o.block->decide(default_split(o.block->shape()));
    }
    return o;
}

Partition::LocalPart Partition::local_part(const Array& a) {
    const View& v = a.view();
    const Operand o = ready(v);
    const Held has = held_by(o.block->split(), v, o.steps);
    Box box = has.box(mesh_.rank(), v.layout->shape());
    box.resize(static_cast<std::size_t>(v.layout->rank()));
    LocalPart made{-1, {}, o.block->part(v, o.steps, box), has};
    if (has.kind != Held::Kind::Along) return made;
    made.axis = has.split.axis;
    made.range = has.split.range(mesh_.rank());
    return made;
}

Partition::LocalPart Partition::local_window(const Array& a, Halo beyond) {
    if (a.size() == 0) return local_part(a);
    const Array packed = copy(a);  // its indices are those of the array
    const View& v = packed.view();
    const Operand o = ready(v);
    const Held has = held_by(o.block->split(), v, o.steps);
    const Dims shape = v.layout->shape();
    Box box = has.box(mesh_.rank(), shape);
    box.resize(static_cast<std::size_t>(v.layout->rank()));
    if (has.kind != Held::Kind::Along) return {-1, {}, o.block->part(v, o.steps, box), has};
    o.block->ensure_halo(beyond);
    const auto axis = static_cast<std::size_t>(has.split.axis);
    const Range own = box[axis];
    if (!own.empty())
        box[axis] =
            intersect({0, shape[axis]}, {own.begin - beyond.before, own.end + beyond.after});
    return {has.split.axis, own, o.block->part(v, o.steps, box), has};
}

Array Partition::whole(const Array& a) {
    const View& v = a.view();
    const Operand o = ready(v);
    if (held_by(o.block->split(), v, o.steps).kind == Held::Kind::All)
        return copy(o.block->part(v, o.steps, whole_box(v.layout->shape())));
    const Array all = fetch(*o.block, v, o.steps, Held::all(mesh_.size()), "gather", true);
    return all.view().layout->contiguous() ? all : copy(all);
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
    const Array made = empty(shape, table.dtype(), table.device());
    if (made.size() == 0) return made;
    const std::vector<Array> reads = with_positions(table, positions, table.device());
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
