// Looks at the slots that a loop sets, and renames them.
#include "passes/kernels/private_slots.h"

#include <map>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "passes/kernels/split_barriers.h"

namespace unisono::passes {
using namespace ir;

namespace {

constexpr std::int64_t most_private_bytes = 16 << 10;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_independent(S s) {
    return s->kind == StmtKind::For &&
           (s->loop == LoopKind::Parallel || s->loop == LoopKind::Vector);
}

/// How often the statements of a loop set each slot, and by what.
class Sets final : public Visitor {
  public:
    struct Of {
        int count = 0;
        S only = nullptr;
        bool in_inner_loop = false;
    };
    explicit Sets(const Function& f) : f_(f) {}
    std::map<std::int32_t, Of> all;

    /// Whether nothing can hold the memory that the slot got in an earlier pass of a serial loop
    /// once it gets memory again: no other slot is pointed to it, or one in its place, at once.
    bool is_alone(std::int32_t made) const {
        const auto pointed = pointed_.find(made);
        if (pointed == pointed_.end()) return true;
        if (pointed->second != 1) return false;
        const auto follows = follows_.find(made);
        return follows != follows_.end() && !pointed_.contains(follows->second) &&
               all.at(follows->second).count == 1;
    }

    void stmt(S s) override {
        if (s->kind == StmtKind::Make || s->kind == StmtKind::Point) {
            Of& of = all[s->id];
            ++of.count;
            of.only = s;
            of.in_inner_loop = serial_depth_ > 0;
            for (const std::int32_t source : s->arrays) ++pointed_[source];
        }
        look_for_pairs(s->body);
        look_for_pairs(s->orelse);
        const bool is_serial =
            s->kind == StmtKind::While || (s->kind == StmtKind::For && !is_independent(s));
        serial_depth_ += is_serial;
        children(s);
        serial_depth_ -= is_serial;
    }

  private:
    /// Memory that a slot gets and another one is pointed to, without a use of the other one in
    /// between.
    void look_for_pairs(std::span<const S> list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i]->kind != StmtKind::Make) continue;
            for (std::size_t j = i + 1; j < list.size(); ++j) {
                const bool is_pair = list[j]->kind == StmtKind::Point && !list[j]->arrays.empty() &&
                                     list[j]->arrays[0] == list[i]->id;
                if (!is_pair) continue;
                Mentions between(f_);
                for (std::size_t k = i + 1; k < j; ++k) between.add(list[k]);
                if (!between.arrays[at(list[j]->id)]) follows_[list[i]->id] = list[j]->id;
                break;
            }
        }
    }

    const Function& f_;
    int serial_depth_ = 0;
    std::map<std::int32_t, int> pointed_;           ///< how many slots are pointed to it
    std::map<std::int32_t, std::int32_t> follows_;  ///< the slot that is pointed to it at once
};

class PrivateSlots final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    /// A kernel is one iteration, that of its work-item.
    void run_function() {
        if (function().is_kernel) is_in_loop_ = look_at(function().body);
        run();
        function().body = with_allocated(function().body);
    }

    S stmt(S s) override {
        if (is_in_loop_) return inside(s);
        if (!is_independent(s)) return children(s);
        if (!look_at(s)) return s;
        is_in_loop_ = true;
        S out = inside(s);
        is_in_loop_ = false;
        return with_allocated(out);
    }

    E expr(E e) override {
        e = children(e);
        if (!is_in_loop_ || e->kind != ExprKind::Load || renamed(e->id) == e->id) return e;
        Expr changed = *e;
        changed.id = renamed(e->id);
        return b_.own(changed);
    }

  private:
    /// Chooses what stands for the slots that the statement sets; false where it sets none.
    bool look_at(S s) {
        Sets sets(function());
        sets.stmt(s);
        names_.clear();
        for (const auto& [slot, of] : sets.all) choose(slot, sets);
        return !sets.all.empty();
    }

    /// Notes what stands for the slot; itself where nothing does.
    std::int32_t choose(std::int32_t slot, const Sets& sets) {
        if (auto known = names_.find(slot); known != names_.end()) return known->second;
        names_[slot] = slot;
        const auto found = sets.all.find(slot);
        if (found == sets.all.end() || found->second.count != 1) return slot;
        S only = found->second.only;
        if (only->kind == StmtKind::Make) return names_[slot] = private_array(found->second, sets);
        if (only->arrays.empty()) return slot;
        const std::int32_t source = only->arrays[0];
        const bool is_outer = !sets.all.contains(source);
        const std::int32_t target = is_outer ? source : choose(source, sets);
        const bool is_left = !is_outer && target == source;
        return names_[slot] = is_left ? slot : target;
    }

    std::int32_t private_array(const Sets::Of& of, const Sets& sets) {
        const Array slot = function().arrays[at(of.only->id)];
        E size = of.only->args[0];
        const bool is_small =
            size->kind == ExprKind::Const &&
            static_cast<std::int64_t>(size->bits) * size_of(slot.dtype) <= most_private_bytes;
        if (!is_small || (of.in_inner_loop && !sets.is_alone(of.only->id))) return of.only->id;
        return b_.local_array(slot.name, slot.dtype, 1, Space::Private);
    }

    std::int32_t renamed(std::int32_t array) const {
        const auto found = names_.find(array);
        return found == names_.end() ? array : found->second;
    }

    S inside(S s) {
        if ((s->kind == StmtKind::Point || s->kind == StmtKind::Make) && renamed(s->id) != s->id) {
            if (s->kind == StmtKind::Point) return nullptr;
            b_.line = s->line;
            allocated_.push_back(b_.allocate(renamed(s->id), s->args));
            return nullptr;
        }
        s = children(s);
        const bool has_array = s->kind == StmtKind::Store || s->kind == StmtKind::Atomic;
        bool is_same = !has_array || renamed(s->id) == s->id;
        std::vector<std::int32_t> arrays(s->arrays.begin(), s->arrays.end());
        for (std::int32_t& id : arrays) {
            is_same = is_same && renamed(id) == id;
            id = renamed(id);
        }
        if (is_same) return s;
        Stmt changed = *s;
        if (has_array) changed.id = renamed(s->id);
        changed.arrays = function().arena->copy(std::span<const std::int32_t>(arrays));
        return b_.own(changed);
    }

    /// The loop, or the kernel's body, with the private arrays at its head: what a branch or an
    /// inner loop makes may be used behind it.
    S with_allocated(S s) {
        if (allocated_.empty()) return s;
        std::vector<S> list = std::move(allocated_);
        allocated_.clear();
        list.insert(list.end(), s->body.begin(), s->body.end());
        return with_body(s, list, s->orelse);
    }

    bool is_in_loop_ = false;
    std::map<std::int32_t, std::int32_t> names_;
    std::vector<S> allocated_;
};

}  // namespace

void private_slots(Module& module) {
    for (Function& f : module.functions) {
        if (f.body && !f.native) PrivateSlots(f).run_function();
    }
}

}  // namespace unisono::passes
