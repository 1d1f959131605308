// Numbers the statements in their order, finds where each slot is used, and hands slots on.
#include "passes/cleanup/storage_coalescing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Where a slot gets its memory, and the last use of its elements.
struct Life {
    int made = -1, last = -1;
    int end_of_list = -1;  ///< of the statements among which it is made
    int parallel = -1;     ///< the parallel loop around
    bool is_simple = true;
};

class Lives final : public Visitor {
  public:
    explicit Lives(const Function& f) : of(f.arrays.size()), f_(f) {}

    void list(std::span<const S> statements) {
        std::vector<std::int32_t> made;
        std::swap(made, made_here_);
        for (S s : statements) stmt(s);
        std::swap(made, made_here_);
        for (std::int32_t slot : made) life(slot).end_of_list = position_;
    }

    void expr(E e) override {
        if (e->kind == ExprKind::Load) use(e->id);
        if (e->kind == ExprKind::Memory) give_up(e->id);
        children(e);
    }

    void stmt(S s) override {
        ++position_;
        if (s->kind != StmtKind::While) {
            for (E e : s->args) expr(e);
        }
        switch (s->kind) {
            case StmtKind::Make: make(s->id); break;
            case StmtKind::Store:
            case StmtKind::Atomic: use(s->id); break;
            case StmtKind::Point:
            case StmtKind::Retain: give_up(s->id); break;
            default: break;
        }
        for (std::int32_t a : s->arrays) give_up(a);
        bool shares = s->kind == StmtKind::For &&
                      (s->loop == LoopKind::Parallel || s->loop == LoopKind::Group);
        int outer = shares ? std::exchange(parallel_, position_) : parallel_;
        bool repeats = s->kind == StmtKind::For || s->kind == StmtKind::While;
        if (repeats) loops_.push_back({position_, {}});
        if (s->kind == StmtKind::While) expr(s->args[0]);
        if (s->kind == StmtKind::Block) {
            for (S b : s->body) stmt(b);  // no list of its own
        } else {
            list(s->body);
            list(s->orelse);
        }
        parallel_ = outer;
        if (!repeats) return;
        for (std::int32_t slot : loops_.back().uses) life(slot).last = position_;
        loops_.pop_back();
    }

    std::vector<Life> of;  ///< per array; those of slots count

  private:
    struct Loop {
        int begin;
        std::vector<std::int32_t> uses;  ///< slots that are made in front of it
    };
    Life& life(std::int32_t slot) { return of[static_cast<std::size_t>(slot)]; }
    std::int32_t root(std::int32_t array) const {
        const Array& a = f_.arrays[static_cast<std::size_t>(array)];
        return a.is_view() ? a.base : array;
    }
    void make(std::int32_t slot) {
        Life& l = life(slot);
        l.is_simple = l.is_simple && l.made < 0 && l.last < 0;
        l.made = l.last = position_;
        l.parallel = parallel_;
        made_here_.push_back(slot);
    }
    void use(std::int32_t array) {
        Life& l = life(root(array));
        l.is_simple = l.is_simple && l.end_of_list < 0;
        l.last = position_;
        // What a loop uses of what is made in front of it, its next iteration uses, too.
        auto outermost = std::find_if(loops_.begin(), loops_.end(),
                                      [&](const Loop& loop) { return loop.begin > l.made; });
        if (outermost != loops_.end()) outermost->uses.push_back(root(array));
    }
    void give_up(std::int32_t array) { life(root(array)).is_simple = false; }

    const Function& f_;
    int position_ = 0, parallel_ = -1;
    std::vector<std::int32_t> made_here_;
    std::vector<Loop> loops_;
};

class Rename final : public Rewriter {
  public:
    Rename(Function& f, const std::vector<std::int32_t>& to) : Rewriter(f), to_(to) {
        for (Array& a : f.arrays) {
            if (a.is_view()) a.base = to[static_cast<std::size_t>(a.base)];
        }
    }
    E expr(E e) override { return e; }
    S stmt(S s) override {
        s = children(s);
        std::int32_t to = s->kind == StmtKind::Make ? to_[static_cast<std::size_t>(s->id)] : s->id;
        if (to == s->id) return s;
        Stmt changed = *s;
        changed.id = to;
        return b_.own(changed);
    }

  private:
    const std::vector<std::int32_t>& to_;
};

void storage_coalescing(Function& f) {
    bool has_slots = std::any_of(f.arrays.begin(), f.arrays.end(),
                                 [](const Array& a) { return a.is_slot && a.param < 0; });
    if (!f.body || !has_slots) return;
    Lives lives(f);
    lives.list(std::span(&f.body, 1));
    std::vector<std::int32_t> simple, to(f.arrays.size());
    for (std::size_t a = 0; a < to.size(); ++a) {
        to[a] = static_cast<std::int32_t>(a);
        if (f.arrays[a].is_slot && f.arrays[a].writable && lives.of[a].made >= 0 &&
            lives.of[a].is_simple)
            simple.push_back(to[a]);
    }
    auto life = [&](std::int32_t slot) { return lives.of[static_cast<std::size_t>(slot)]; };
    std::sort(simple.begin(), simple.end(),
              [&](auto a, auto b) { return life(a).made < life(b).made; });
    // Those that are taken, by the last use; a few at a time.
    std::map<std::pair<DType, int>, std::vector<std::pair<int, std::int32_t>>> held;
    bool any = false;
    for (std::int32_t slot : simple) {
        Life l = life(slot);
        auto& list = held[{f.arrays[static_cast<std::size_t>(slot)].dtype, l.parallel}];
        auto free = std::find_if(list.begin(), list.end(),
                                 [&](const auto& other) { return other.first < l.made; });
        if (free == list.end()) {
            list.emplace_back(l.last, slot);
            continue;
        }
        free->first = l.last;
        to[static_cast<std::size_t>(slot)] = free->second;
        any = true;
    }
    if (any) Rename(f, to).run();
}

}  // namespace

void storage_coalescing(Module& module) {
    for (Function& f : module.functions) storage_coalescing(f);
}

}  // namespace unisono::passes
