// Finds where the memory of each slot is seen, and renames the slots that keep theirs.
#include "passes/cleanup/stack_promotion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t most_bytes = 512;          ///< of an array
constexpr std::int64_t most_bytes_in_all = 4096;  ///< of a function

std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

/// Where a slot gets its memory, and whether only what follows there sees it.
struct Origin {
    S set = nullptr;  ///< a Make or Point
    int list = -1;    ///< of the statements that it is one of
    int parallel = -1;
    bool is_local = true;
};

class Origins final : public Visitor {
  public:
    explicit Origins(const Function& f) : of(f.arrays.size()), f_(f) {
        for (const Array& a : f.arrays) {
            if (a.offset) expr(a.offset);
            for (const auto* parts : {&a.extents, &a.view_strides}) {
                for (E e : *parts) {
                    if (e) expr(e);
                }
            }
        }
        list(std::span(&f.body, 1));
    }

    std::vector<Origin> of;  ///< per array; those of slots count
    std::vector<S> points;   ///< that let a slot see what another one has

    void expr(E e) override {
        if (e->kind == ExprKind::Load) use(e->id);
        if (e->kind == ExprKind::Memory) escape(e->id);
        children(e);
    }

    void stmt(S s) override {
        for (E e : s->args) expr(e);
        switch (s->kind) {
            case StmtKind::Make: set(s); break;
            case StmtKind::Point: point(s); return;
            case StmtKind::Store:
            case StmtKind::Atomic: use(s->id); break;
            case StmtKind::Retain: escape(s->id); break;
            default: break;
        }
        for (std::int32_t a : s->arrays) escape(a);
        if (s->kind == StmtKind::Block) {  // no scope
            for (S b : s->body) stmt(b);
            return;
        }
        const bool is_vector = s->kind == StmtKind::For && s->loop == LoopKind::Vector;
        const bool shares = s->kind == StmtKind::For && !is_vector && s->loop != LoopKind::Serial &&
                            s->loop != LoopKind::Unroll;
        const int outer = shares ? std::exchange(parallel_, ++loops_) : parallel_;
        vectors_ += is_vector;
        list(s->body);
        list(s->orelse);
        vectors_ -= is_vector;
        parallel_ = outer;
    }

  private:
    Origin& origin(std::int32_t array) { return of[index(array)]; }
    void list(std::span<const S> statements) {
        const int outer = std::exchange(list_, static_cast<int>(is_open_.size()));
        is_open_.push_back(true);
        for (S s : statements) stmt(s);
        is_open_[static_cast<std::size_t>(list_)] = false;
        list_ = outer;
    }
    void set(S s) {
        Origin& o = origin(s->id);
        // The iterations of a vector loop have one stack.
        o.is_local = o.is_local && !o.set && vectors_ == 0;
        o.set = s;
        o.list = list_;
        o.parallel = parallel_;
    }
    void point(S s) {
        set(s);
        points.push_back(s);
        const Origin* source = s->arrays.size() == 1 ? &origin(s->arrays[0]) : nullptr;
        if (!source || !source->set || source->list != list_ || source->parallel != parallel_)
            escape(s->id);
    }
    void use(std::int32_t array) {
        Origin& o = origin(array);
        const bool follows = o.set && is_open_[static_cast<std::size_t>(o.list)];
        if (f_.arrays[index(array)].is_view()) return escape(array);
        o.is_local = o.is_local && follows && o.parallel == parallel_;
    }
    void escape(std::int32_t array) {
        const Array& a = f_.arrays[index(array)];
        origin(a.is_view() ? a.base : array).is_local = false;
    }

    const Function& f_;
    int list_ = -1, parallel_ = -1, loops_ = 0, vectors_ = 0;
    std::vector<bool> is_open_;  ///< by list: whether its statements are being visited
};

std::int64_t bytes_of(const Function& f, S make) {
    std::int64_t count = 0;
    if (!is_constant(make->args[0], count) || count < 0 || count > most_bytes) return -1;
    return count * size_of(f.arrays[index(make->id)].dtype);
}

/// The private array in place of each array; itself where there is none.
std::vector<std::int32_t> promoted(Function& f) {
    Origins origins(f);
    auto is_small = [&](S s) {
        const std::int64_t bytes = bytes_of(f, s);
        return bytes >= 0 && bytes <= most_bytes;
    };
    for (std::size_t a = 0; a < f.arrays.size(); ++a) {
        Origin& o = origins.of[a];
        o.is_local = o.is_local && o.set && f.arrays[a].is_slot && f.arrays[a].param < 0 &&
                     (o.set->kind == StmtKind::Point || is_small(o.set));
    }
    // All slots that see a memory keep it, or none.
    for (bool changes = true; changes;) {
        changes = false;
        for (S s : origins.points) {
            if (s->arrays.size() != 1) continue;
            Origin &seer = origins.of[index(s->id)], &source = origins.of[index(s->arrays[0])];
            changes = changes || seer.is_local != source.is_local;
            seer.is_local = source.is_local = seer.is_local && source.is_local;
        }
    }
    std::vector<std::int32_t> to(f.arrays.size());
    Builder b(f);
    std::int64_t bytes = 0;
    for (std::size_t a = 0; a < to.size(); ++a) {
        to[a] = static_cast<std::int32_t>(a);
        const Origin& o = origins.of[a];
        if (!o.is_local || o.set->kind != StmtKind::Make) continue;
        bytes += bytes_of(f, o.set);
        if (bytes > most_bytes_in_all) continue;
        const Array slot = f.arrays[a];
        to[a] = b.local_array(slot.name, slot.dtype, 1, Space::Private);
    }
    for (S s : origins.points) {  // in their order: a source's name is known
        if (origins.of[index(s->id)].is_local) to[index(s->id)] = to[index(s->arrays[0])];
    }
    return to;
}

class Rename final : public Rewriter {
  public:
    Rename(Function& f, const std::vector<std::int32_t>& to) : Rewriter(f), to_(to) {}

    E expr(E e) override {
        e = children(e);
        if (e->kind != ExprKind::Load || renamed(e->id) == e->id) return e;
        Expr changed = *e;
        changed.id = renamed(e->id);
        return b_.own(changed);
    }
    S stmt(S s) override {
        s = children(s);
        const bool has_array = s->kind == StmtKind::Make || s->kind == StmtKind::Point ||
                               s->kind == StmtKind::Store || s->kind == StmtKind::Atomic;
        if (!has_array || renamed(s->id) == s->id) return s;
        if (s->kind == StmtKind::Point) return nullptr;
        b_.line = s->line;
        if (s->kind == StmtKind::Make) return b_.allocate(renamed(s->id), s->args);
        Stmt changed = *s;
        changed.id = renamed(s->id);
        return b_.own(changed);
    }

  private:
    std::int32_t renamed(std::int32_t array) const {
        return index(array) < to_.size() ? to_[index(array)] : array;
    }
    const std::vector<std::int32_t>& to_;
};

}  // namespace

void stack_promotion(Module& module) {
    for (Function& f : module.functions) {
        const bool has_slots =
            std::any_of(f.arrays.begin(), f.arrays.end(), [](const Array& a) { return a.is_slot; });
        if (!f.body || f.native || !has_slots) continue;
        const std::vector<std::int32_t> to = promoted(f);
        if (to.size() < f.arrays.size()) Rename(f, to).run();
    }
}

}  // namespace unisono::passes
