// What stays as it is between two places of a function, and what expressions of the later one are
// in terms of what is known at the earlier one: for passes that do work ahead (products_ahead.cpp).
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

/// Which arrays may be one memory.
class Memories {
  public:
    explicit Memories(const ir::Function& f) : f_(f), same_(f.arrays.size() + 1) {
        std::iota(same_.begin(), same_.end(), 0);
        for (std::size_t k = 0; k < f.arrays.size(); ++k) {
            if (f.arrays[k].param >= 0 && !f.arrays[k].noalias) join(k, anyone());
        }
        if (f.body) look(f.body);
    }
    /// The memory that an array, view or slot lies in.
    std::size_t of(std::int32_t array) const {
        const ir::Array& a = f_.arrays[static_cast<std::size_t>(array)];
        return find(static_cast<std::size_t>(a.is_view() ? a.base : array));
    }
    /// Memory that is not visible outside of the function.
    bool is_own(std::int32_t array) const {
        const std::size_t memory = of(array);
        for (std::size_t k = 0; k < f_.arrays.size(); ++k) {
            if (f_.arrays[k].param >= 0 && find(k) == memory) return false;
        }
        return memory != find(anyone());
    }

  private:
    std::size_t anyone() const { return same_.size() - 1; }
    std::size_t find(std::size_t k) const {
        while (same_[k] != k) k = same_[k];
        return k;
    }
    void join(std::size_t a, std::size_t b) { same_[find(a)] = find(b); }
    void look(ir::S s) {
        if (s->kind == ir::StmtKind::Point) {
            const auto other =
                s->arrays.empty() ? anyone() : static_cast<std::size_t>(s->arrays[0]);
            join(static_cast<std::size_t>(s->id), other);
        }
        for (ir::S b : s->body) look(b);
        for (ir::S b : s->orelse) look(b);
    }

    const ir::Function& f_;
    std::vector<std::size_t> same_;  // the last one: what others made
};

/// What statements may change.
struct Changes {
    std::vector<bool> vars, memories;
    bool all = false;     ///< they do what is not looked into
    bool leaves = false;  ///< a break, continue or return
    bool points = false;  ///< a slot gets other memory that exists

    static constexpr std::size_t out_address = 11;  ///< of a product's values

    Changes(const ir::Function& f, const Memories& memories_of)
        : vars(f.vars.size()), memories(f.arrays.size() + 1), of_(memories_of), f_(f) {}

    void note(ir::S s) {
        switch (s->kind) {
            case ir::StmtKind::Call:
            case ir::StmtKind::Try:
            case ir::StmtKind::Barrier: all = true; break;
            case ir::StmtKind::Native: native(s); break;
            case ir::StmtKind::Store:
            case ir::StmtKind::Atomic:
            case ir::StmtKind::Make:
            case ir::StmtKind::Allocate: memories[of_.of(s->id)] = true; break;
            case ir::StmtKind::Point: points = true; break;
            case ir::StmtKind::Break:
            case ir::StmtKind::Continue: leaves = true; break;
            case ir::StmtKind::Return: leaves = leaves || s->fault < 0; break;
            default: break;
        }
        for (ir::S b : s->body) note(b);
        for (ir::S b : s->orelse) note(b);
    }

  private:
    void native(ir::S s) {
        const bool is_product = f_.natives[static_cast<std::size_t>(s->id)].rfind("matmul", 0) == 0;
        if (!is_product || s->args.size() <= out_address) {
            all = true;
            return;
        }
        address(s->args[out_address]);
    }
    void address(ir::E e) {
        bool found = false;
        auto look = [&](auto& self, ir::E part) -> void {
            if (part->kind == ir::ExprKind::Memory) {
                memories[of_.of(part->id)] = true;
                found = true;
            }
            for (ir::E a : part->args) self(self, a);
        };
        look(look, e);
        all = all || !found;
    }

    const Memories& of_;
    const ir::Function& f_;
};

/// What a product's operands are when it is reached later on, in terms of what is known here.
class Later {
  public:
    Later(ir::Builder& b, std::vector<bool> changed) : b_(b), changed_(std::move(changed)) {}

    /// A variable's value from now on; null where it is not known.
    void set(std::int32_t var, ir::E value) {
        values_[var] = value;
        made_.clear();
    }
    /// The value of an expression there; null where it depends on more.
    ir::E value(ir::E e) {
        if (e->kind == ir::ExprKind::Load) return nullptr;
        if (e->kind == ir::ExprKind::Var) {
            auto known = values_.find(e->id);
            if (known != values_.end()) return known->second;
            return changed_[static_cast<std::size_t>(e->id)] ? nullptr : e;
        }
        if (e->kind == ir::ExprKind::Memory) {
            auto known = memories_.find(e->id);
            return known == memories_.end() ? e
                   : known->second          ? b_.address(*known->second)
                                            : nullptr;
        }
        if (e->args.empty()) return e;
        auto [place, is_new] = made_.try_emplace(e, nullptr);
        if (!is_new) return place->second;
        std::vector<ir::E> args;
        for (ir::E a : e->args) {
            args.push_back(value(a));
            if (!args.back()) return nullptr;
        }
        ir::Expr copy = *e;
        copy.args = b_.list(std::span<const ir::E>(args));
        return made_[e] = b_.own(copy);
    }
    /// The way leads past this statement.
    bool pass(ir::S s) {
        if (s->kind == ir::StmtKind::Block) {
            for (ir::S b : s->body) {
                if (!pass(b)) return false;
            }
            return true;
        }
        if (s->kind == ir::StmtKind::Declare || s->kind == ir::StmtKind::Assign) {
            set(s->id, s->args.empty() ? nullptr : value(s->args[0]));
            return true;
        }
        if (s->kind == ir::StmtKind::Point && !s->arrays.empty()) {
            auto known = memories_.find(s->arrays[0]);
            memories_[s->id] = known == memories_.end() ? s->arrays[0] : known->second;
            made_.clear();
            return true;
        }
        forget(s);
        if (s->kind != ir::StmtKind::If) return true;
        const bool here = ends(s->body), there = ends(s->orelse);
        if (!here && !there) return !may_end(s);
        return !(here && there) && may_pass(s->args[0], !here);
    }
    /// The way leads where the condition is so.
    bool may_pass(ir::E condition, bool so) {
        ir::E v = value(condition);
        if (!v) return false;
        if (!so) v = b_.unary(Op::Not, v);
        needs_ = needs_ ? b_.binary(Op::And, needs_, v) : v;
        return true;
    }
    /// As a number that is not 0 where the product will be reached.
    ir::E reached() { return needs_ ? b_.select(needs_, b_.i64(1), b_.i64(0)) : b_.i64(1); }

  private:
    /// What a statement may change that need not run.
    void forget(ir::S s) {
        std::vector<bool> written(changed_.size());
        ir::mark_written(s, written);
        for (std::size_t v = 0; v < written.size(); ++v) {
            if (written[v]) values_[static_cast<std::int32_t>(v)] = nullptr;
        }
        forget_memories(s);
        made_.clear();
    }
    void forget_memories(ir::S s) {
        if (s->kind == ir::StmtKind::Point || s->kind == ir::StmtKind::Make)
            memories_[s->id] = std::nullopt;
        for (ir::S b : s->body) forget_memories(b);
        for (ir::S b : s->orelse) forget_memories(b);
    }
    static bool ends(std::span<const ir::S> list) {
        if (list.empty()) return false;
        ir::S last = list.back();
        if (last->kind == ir::StmtKind::Block) return ends(last->body);
        return last->kind == ir::StmtKind::Return || last->kind == ir::StmtKind::Break ||
               last->kind == ir::StmtKind::Continue;
    }
    static bool may_end(ir::S s) {
        return ir::contains(s, ir::StmtKind::Return) || ir::contains(s, ir::StmtKind::Break) ||
               ir::contains(s, ir::StmtKind::Continue);
    }

    ir::Builder& b_;
    std::vector<bool> changed_;
    std::unordered_map<std::int32_t, ir::E> values_;
    std::unordered_map<std::int32_t, std::optional<std::int32_t>> memories_;  ///< slots that point
    std::unordered_map<ir::E, ir::E> made_;
    ir::E needs_ = nullptr;
};

}  // namespace unisono::passes
