// The walks over a window, and element-wise statements.
#include "comm/partition.h"

#include "comm/parts/exchange.h"
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

/// An extension in indices of the base as one in indices of an array whose steps are 1 or -1; there
/// is none on grids.
Halo in_indices(const Halo& base, const Split& split) {
    return split.step > 0 ? base : base.turned();
}
Halo in_indices(const Halo& base, const Held& held) {
    return base.none() ? Halo{} : in_indices(base, held.split);
}

/// As halos_between, of a rank that computes that far beyond its part.
std::optional<Halos> halos_beyond(const Held& held, const Held& wanted, const Held& array,
                                  const Halo& beyond) {
    auto halos = halos_between(held, wanted, array);
    if (!halos || beyond.none()) return halos;
    const Halo more = in_indices(beyond, array);
    return Halos(Halo{(*halos)[0].before + more.before, (*halos)[0].after + more.after});
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
    std::vector<Split> kept;
    for (Split s : in.splits()) {
        if (s.axis >= first_reduced(e) && s.axis <= e.axis) continue;
        if (s.axis > e.axis) s.axis -= e.before + 1;
        kept.push_back(s);
    }
    return Held::of_grid(std::move(kept), ranks);
}

/// Whether the entry only brings a number of the host, which all ranks have. A rank that knows the
/// number already writes it into the statement, so such entries differ between ranks.
bool brings_number(const Entry& e) {
    return e.call && e.call->transfers() && e.out.layout->rank() == 0;
}

bool is_pinned(const Held& held) {
    return std::ranges::any_of(held.splits(), [](const Split& s) { return s.pin >= 0; });
}

/// As a new array is held whose elements lie so: what lies on some ranks only goes to all.
Held as_array(const Held& held, int ranks) {
    return held.kind == Held::Kind::At || is_pinned(held) ? Held::all(ranks) : held;
}

[[noreturn]] void refuse_view(const View& v) {
    fail(ErrorKind::Unsupported,
         "mesh: a view of shape " + shape_text(v.layout->shape()) +
             " steps along no single axis of its distributed array; copy the array first, or use "
             "slices");
}

}  // namespace

/// What a statement does, as a number that is equal on ranks that run the same program.
static std::uint64_t mark_of(const Entry& e) {
    std::uint64_t mark = static_cast<std::uint64_t>(e.kind) * 64 + static_cast<std::uint64_t>(e.op);
    for (const std::int64_t n : e.out.layout->shape())
        mark = mark * 1000003 + static_cast<std::uint64_t>(n);
    return mark;
}

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

bool Partition::forward(const Entry& e) {
    if (mesh_.size() > 1 || !is_elementwise(e) || e.kind == EntryKind::Iota) return false;
    Block& out = Block::of(mesh_, e.out);
    bool is_ready = true;
    const Block* first = nullptr;
    for_each_read(e, [&](const View& v) {
        const Block* in = is_on_mesh(v) ? Block::of(*v.storage) : nullptr;
        is_ready = is_ready && in && in->is_split() && !v.storage->poison;
        if (!first && in && std::ranges::equal(in->shape(), v.layout->shape())) first = in;
    });
    const bool is_new = !out.is_split();
    if (!is_ready || (is_new && (!first || !std::ranges::equal(first->shape(), out.shape()))))
        return false;
    if (is_new) out.decide(first->held());
    Entry local = e;
    local.line = {};
    local.out = out.alone(e.out);
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage) local.in[k] = Block::of(*e.in[k].storage)->alone(e.in[k]);
    }
    local.call = e.kind == EntryKind::Function
                     ? new ElementCall(static_cast<const ElementCall*>(e.call)->function)
                     : nullptr;
    Tape::current().append(local);
    return true;
}

bool Partition::ends_window(std::span<const Entry> entries) {
    // Of a rank alone nothing is gained by waiting.
    if (mesh_.size() == 1) return true;
    if (entries.size() == 1) recorded_ = 0;
    if (!brings_number(entries.back())) ++recorded_;
    return recorded_ >= most_statements ||
           (recorded_ >= usual_statements && entries.back().out.storage->version > 1);
}

const Held& Partition::held_of(const Block& block) const {
    return block.is_split() ? block.held() : planned_.at(&block);
}

Held Partition::held(const View& view) {
    const Operand& o = operand(view);
    return held_by(held_of(*o.block), view, o.steps);
}

Held Partition::held_on_axis(const View& view) {
    const Held has = held(view);
    const bool is_run = has.kind != Held::Kind::Grid && !has.is_cyclic();
    return is_run ? has : default_held(view.layout->shape());
}

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
    const Held iteration = held_by(held_of(*out.block), e.out, out.steps);
    if (iteration.kind != Held::Kind::Along) return {};
    const Split& split = held_of(*out.block).split;
    auto takes_each = [](const Split& s) { return s.step == 1 || s.step == -1; };
    if (!takes_each(split) || !takes_each(iteration.split) || iteration.split.bounds) return {};
    if (split.cycle) return {};
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
        const Held& theirs = held_of(*in.block);
        if (has.kind == Held::Kind::All) return;
        if (theirs.kind != Held::Kind::Along) return void(can = false);
        const auto halo = halos_beyond(has, iteration, theirs, wanted);
        can = can && halo && takes_each(theirs.split) && is_near(*halo, theirs);
    });
    return can ? wanted : Halo{};
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
        const std::vector<View> results = writes_of(e);
        for (std::size_t k = 0; k < results.size(); ++k) {
            Block& made = *Block::of(*results[k].storage);
            if (!is_open(made)) continue;
            const bool follows = shared && may_be(made, shared->results[k]);
            planned_.emplace(&made,
                             follows ? as_array(shared->results[k], ranks) : even(made.shape()));
        }
        return;
    }
    if (!is_open(out)) return;
    // A first write of a part says nothing of the whole.
    const bool writes_all = e.out.layout->size() == element_count(out.shape());
    std::optional<Held> chosen;
    bool has_operand = false, is_everywhere = true;
    for_each_read(e, [&](const View& v) {
        if (!is_on_mesh(v) || operand(v).block->shape().empty()) return;
        has_operand = true;
        const Held in = held(v);
        is_everywhere = is_everywhere && in.kind == Held::Kind::All;
        const bool may_follow = !in.splits().empty() && !is_pinned(in) && may_be(out, in);
        if (may_follow && !chosen && writes_all) chosen = in;
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

void Partition::run(std::span<Entry> window, const std::function<void(Entry&)>& done) {
    Recorded recorded;
    const Forget forget{*this};
    if (deals_) {
        note_steps(window);
        for (const Entry& e : window) {
            Tape::current().line = e.line;
            for_each_write(e, [&](const View& v) { straighten(v); });
            for_each_read(e, [&](const View& v) { straighten(v); });
        }
    }
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
        if (!brings_number(e)) mesh_.note_statement(mark_of(e));
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
    std::string axes;
    for (const Split& s : held.splits()) {
        if (s.axis >= 0) axes += (axes.empty() ? " " : " and ") + std::to_string(s.axis);
    }
    if (axes.empty()) return "on some ranks";
    if (held.is_cyclic()) return "in turns along axis" + axes;
    return (held.kind == Held::Kind::Grid ? "split along axes" : "split along axis") + axes;
}

}  // namespace

Storage* Partition::memory_of(const Storage& storage) {
    const Block* block = Block::of(storage);
    const bool is_here = mesh_.size() == 1 && block && block->is_split() && tape_.length() == 0;
    return is_here ? block->own().view().storage : nullptr;
}

std::string Partition::describe() {
    std::vector<Entry> window(tape_.pending().begin(), tape_.pending().end());
    if (window.empty()) return "mesh: nothing is recorded\n";
    const Forget forget{*this};
    if (deals_) note_steps(window);
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
            const Held& array = held_of(*in.block);
            const Held has = held_by(array, v, in.steps);
            const std::string what = "; of " + shape_text(v.layout->shape());
            if (!is_elementwise(e)) {
                text += what + " " + text_of(has);
                return;
            }
            if (has.kind == Held::Kind::All || has == iteration) return;
            const auto halos = halos_between(has, iteration, array);
            if (halos && is_near(*halos, array)) {
                for (std::size_t k = 0; k < array.splits().size(); ++k) {
                    const Halo& halo = (*halos)[k];
                    if (halo.none()) continue;
                    text += what + " a halo of " + std::to_string(halo.before) + " before and " +
                            std::to_string(halo.after) + " after";
                    if (array.kind == Held::Kind::Grid)
                        text += " along axis " + std::to_string(array.splits()[k].axis);
                }
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
        block.written(in_indices(beyond, block.held()));
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
        const bool as_planned = mine == planned && mine == as;
        const bool has_room = room_.contains(&block);
        if (!as_planned && !has_room && out.layout->size() == element_count(block.shape())) {
            // What moves arrives in memory of its own.
            const Held wanted = held_by(planned, out, to.steps);
            if (as_array(wanted, ranks) == wanted)
                return block.adopt(planned,
                                   move_parts(mesh_, part, out.layout->shape(), as, wanted, what));
        }
        if (as_planned && !has_room)
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

/// As what the operand of a reduction is held, so that what is combined lies in the order of the
/// ranks.
Held Partition::reduced_as(const Entry& e, const Held& has) const {
    const bool goes_round = std::ranges::any_of(has.splits(), [&](const Split& s) {
        return s.cycle && s.axis >= first_reduced(e) && s.axis <= e.axis;
    });
    return goes_round ? default_held(e.in[0].layout->shape()) : has;
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
    if (const Held as = reduced_as(e, has); is_pinned(has) || !(as == has)) {
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
    box.resize(static_cast<std::size_t>(v.layout->rank()));
    return {box, o.block->part(v, o.steps, box), has};
}

Partition::LocalPart Partition::local_window(const Array& a, Halo beyond) {
    if (a.size() == 0) return local_part(a);
    const Array packed = copy(a);  // its indices are those of the array
    LocalPart made = local_part(packed);
    if (made.held.kind != Held::Kind::Along || made.own.empty()) return made;
    const View& v = packed.view();
    const Operand o = ready(v);
    o.block->ensure_halo(beyond);
    Box box = made.own;
    const auto axis = static_cast<std::size_t>(made.held.split.axis);
    Range& range = box[axis];
    if (!range.empty())
        range = intersect({0, v.layout->shape()[axis]},
                          {range.begin - beyond.before, range.end + beyond.after});
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
