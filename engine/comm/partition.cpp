// The walk over a window, which is planned (partition/plan.cpp) and then recorded statement by
// statement (partition/statements.cpp).
#include "comm/partition.h"

#include "comm/partition/entries.h"
#include "comm/parts/primitive.h"
#include "core/error.h"
#include "tape/record/element_function.h"
#include "tape/record/recorded.h"

namespace unisono::comm {

namespace {

/// Statements in a window: several sweeps of a time loop lie in one, and few temporaries wait. It
/// ends behind an in-place statement where there is one, so that no expression is cut in two.
constexpr std::size_t usual_statements = 48, most_statements = 256;

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
        if (!is_on_mesh(v)) return;
        const Block& block = *Block::of(*v.storage);
        if (!block.shows_all(v) && !block.steps(v)) refuse_view(v);
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
        is_ready = is_ready && in && in->is_split() && in->shows(v) && !v.storage->poison;
        if (!first && in && std::ranges::equal(in->shape(), v.layout->shape())) first = in;
    });
    const bool is_new = !out.is_split();
    if (!is_ready || !out.shows(e.out) ||
        (is_new && (!first || !std::ranges::equal(first->shape(), out.shape()))))
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

void Partition::run(std::span<Entry> window, const std::function<void(Entry&)>& done) {
    Recorded recorded;
    const std::int64_t how = (deals_ ? 1 : 0) + (shares_exchanges_ ? 2 : 0);
    if (mesh_.size() > 1 && plans_.repeat(window, how, done)) return;
    const Forget forget{*this};
    Tape& local = Tape::current();
    if (deals_) {
        note_steps(window);
        for (std::size_t i = 0; i < window.size(); ++i) {
            const Entry& e = window[i];
            local.line = e.line;
            for_each_write(e, [&](const View& v) { straighten(v); });
            for_each_read(e, [&](const View& v) { straighten(v); });
            plans_.note(window, i, false);
        }
    }
    want(window);
    plan(window);
    // Messages stand between statements, never within one, whose parts fuse.
    for (std::size_t i = 0; i < window.size(); ++i) {
        const Entry& e = window[i];
        local.line = e.line;
        for_each_write(e, [&](const View& v) { exchange(v); });
        for_each_read(e, [&](const View& v) {
            if (is_on_mesh(v)) exchange(v);
        });
        plans_.note(window, i, false);
    }
    for (std::size_t i = 0; i < window.size(); ++i) {
        Entry& e = window[i];
        local.line = e.line;
        if (!brings_number(e)) mesh_.note_statement(mark_of(e));
        for_each_read(e, [](const View& v) {
            if (v.storage->poison) throw Error(*v.storage->poison);
        });
        step(e, beyond_[i]);
        plans_.note(window, i, true);
        // A temporary that nobody needs any more is not made.
        done(e);
    }
    plans_.end();
}

Array Partition::adopted(Storage* local, const Layout* packed, DType dtype, const View& like) {
    Block& other = *Block::of(*like.storage);
    if (other.has_shape(packed)) return Block::alike(mesh_, other.spread(), local, packed, dtype);
    if (evenly_.packed != packed) {
        packed->retain();
        if (evenly_.packed) evenly_.packed->release();
        evenly_ = {packed, default_held(packed->shape()), mesh_.next_spread()};
    }
    return Block::alike(mesh_, {&evenly_.held, evenly_.number}, local, packed, dtype);
}

Partition::~Partition() {
    if (evenly_.packed) evenly_.packed->release();
}

Storage* Partition::memory_of(const Storage& storage) {
    const Block* block = Block::of(storage);
    return block && tape_.length() == 0 ? block->here.storage : nullptr;
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
    if (halos_.empty()) return;
    Block& block = *Block::of(*v.storage);
    if (!block.is_split()) return;
    const auto halo = halos_.find({&block, writes_[&block]});
    if (halo != halos_.end()) block.ensure_halo(halo->second);
}

}  // namespace unisono::comm
