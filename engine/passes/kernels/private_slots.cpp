// Looks at the slots that a loop sets, and renames them.
#include "passes/kernels/private_slots.h"

#include <map>

#include "ir/rewrite.h"

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
    std::map<std::int32_t, Of> all;

    void stmt(S s) override {
        if (s->kind == StmtKind::Make || s->kind == StmtKind::Point) {
            Of& of = all[s->id];
            ++of.count;
            of.only = s;
            of.in_inner_loop = serial_depth_ > 0;
        }
        const bool is_serial =
            s->kind == StmtKind::While || (s->kind == StmtKind::For && !is_independent(s));
        serial_depth_ += is_serial;
        children(s);
        serial_depth_ -= is_serial;
    }

  private:
    int serial_depth_ = 0;
};

class PrivateSlots final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    S stmt(S s) override {
        if (is_in_loop_) return inside(s);
        if (!is_independent(s)) return children(s);
        Sets sets;
        sets.stmt(s);
        if (sets.all.empty()) return s;
        names_.clear();
        for (const auto& [slot, of] : sets.all) choose(slot, sets.all);
        is_in_loop_ = true;
        S out = inside(s);
        is_in_loop_ = false;
        return out;
    }

    E expr(E e) override {
        e = children(e);
        if (!is_in_loop_ || e->kind != ExprKind::Load || renamed(e->id) == e->id) return e;
        Expr changed = *e;
        changed.id = renamed(e->id);
        return b_.own(changed);
    }

  private:
    /// Notes what stands for the slot; itself where nothing does.
    std::int32_t choose(std::int32_t slot, const std::map<std::int32_t, Sets::Of>& sets) {
        if (auto known = names_.find(slot); known != names_.end()) return known->second;
        names_[slot] = slot;
        const auto found = sets.find(slot);
        if (found == sets.end() || found->second.count != 1) return slot;
        S only = found->second.only;
        if (only->kind == StmtKind::Make) return names_[slot] = private_array(found->second);
        if (only->arrays.empty()) return slot;
        const std::int32_t source = only->arrays[0];
        const bool is_outer = !sets.contains(source);
        const std::int32_t target = is_outer ? source : choose(source, sets);
        const bool is_left = !is_outer && target == source;
        return names_[slot] = is_left ? slot : target;
    }

    std::int32_t private_array(const Sets::Of& of) {
        const Array slot = function().arrays[at(of.only->id)];
        E size = of.only->args[0];
        const bool is_small =
            size->kind == ExprKind::Const &&
            static_cast<std::int64_t>(size->bits) * size_of(slot.dtype) <= most_private_bytes;
        if (!is_small || of.in_inner_loop) return of.only->id;
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
            return b_.allocate(renamed(s->id), s->args);
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

    bool is_in_loop_ = false;
    std::map<std::int32_t, std::int32_t> names_;
};

}  // namespace

void private_slots(Module& module) {
    for (Function& f : module.functions) {
        if (f.body && !f.native) PrivateSlots(f).run();
    }
}

}  // namespace unisono::passes
