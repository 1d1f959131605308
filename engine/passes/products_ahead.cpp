// Follows the values of a product's operands to a later product, and writes the calls.
#include "passes/products_ahead.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::size_t operand_count = 13;  // of "matmul" (library/native.cpp), without leading axes
constexpr std::size_t left_address = 5, right_address = 8, out_address = 11, axes = 12;

/// Which arrays may be one memory.
class Memories {
  public:
    explicit Memories(const Function& f) : f_(f), same_(f.arrays.size() + 1) {
        std::iota(same_.begin(), same_.end(), 0);
        for (std::size_t k = 0; k < f.arrays.size(); ++k) {
            if (f.arrays[k].param >= 0 && !f.arrays[k].noalias) join(k, anyone());
        }
        if (f.body) look(f.body);
    }
    /// The memory that an array, view or slot lies in.
    std::size_t of(std::int32_t array) const {
        const Array& a = f_.arrays[static_cast<std::size_t>(array)];
        return find(static_cast<std::size_t>(a.is_view() ? a.base : array));
    }

  private:
    std::size_t anyone() const { return same_.size() - 1; }
    std::size_t find(std::size_t k) const {
        while (same_[k] != k) k = same_[k];
        return k;
    }
    void join(std::size_t a, std::size_t b) { same_[find(a)] = find(b); }
    void look(S s) {
        if (s->kind == StmtKind::Point) {
            const auto other =
                s->arrays.empty() ? anyone() : static_cast<std::size_t>(s->arrays[0]);
            join(static_cast<std::size_t>(s->id), other);
        }
        for (S b : s->body) look(b);
        for (S b : s->orelse) look(b);
    }

    const Function& f_;
    std::vector<std::size_t> same_;  // the last one: what others made
};

/// What statements may change, apart from `except`.
struct Changes {
    std::vector<bool> vars, memories;
    bool all = false;     ///< they do what is not looked into
    bool leaves = false;  ///< a break, continue or return
    bool points = false;  ///< a slot gets other memory that exists

    Changes(const Function& f, const Memories& memories_of)
        : vars(f.vars.size()), memories(f.arrays.size() + 1), of_(memories_of), f_(f) {}

    void note(S s) {
        switch (s->kind) {
            case StmtKind::Call:
            case StmtKind::Try:
            case StmtKind::Barrier: all = true; break;
            case StmtKind::Native: native(s); break;
            case StmtKind::Store:
            case StmtKind::Atomic:
            case StmtKind::Make:
            case StmtKind::Allocate: memories[of_.of(s->id)] = true; break;
            case StmtKind::Point: points = true; break;
            case StmtKind::Break:
            case StmtKind::Continue: leaves = true; break;
            case StmtKind::Return: leaves = leaves || s->fault < 0; break;
            default: break;
        }
        for (S b : s->body) note(b);
        for (S b : s->orelse) note(b);
    }

  private:
    void native(S s) {
        const bool is_product = f_.natives[static_cast<std::size_t>(s->id)].rfind("matmul", 0) == 0;
        if (!is_product || s->args.size() <= out_address) {
            all = true;
            return;
        }
        address(s->args[out_address]);
    }
    void address(E e) {
        bool found = false;
        auto look = [&](auto& self, E part) -> void {
            if (part->kind == ExprKind::Memory) {
                memories[of_.of(part->id)] = true;
                found = true;
            }
            for (E a : part->args) self(self, a);
        };
        look(look, e);
        all = all || !found;
    }

    const Memories& of_;
    const Function& f_;
};

/// What a product's operands are when it is reached later on, in terms of what is known here.
class Later {
  public:
    Later(Builder& b, std::vector<bool> changed) : b_(b), changed_(std::move(changed)) {}

    /// A variable's value from now on; null where it is not known.
    void set(std::int32_t var, E value) {
        values_[var] = value;
        made_.clear();
    }
    /// The value of an expression there; null where it depends on more.
    E value(E e) {
        if (e->kind == ExprKind::Load) return nullptr;
        if (e->kind == ExprKind::Var) {
            auto known = values_.find(e->id);
            if (known != values_.end()) return known->second;
            return changed_[static_cast<std::size_t>(e->id)] ? nullptr : e;
        }
        if (e->kind == ExprKind::Memory) {
            auto known = memories_.find(e->id);
            return known == memories_.end() ? e
                   : known->second          ? b_.address(*known->second)
                                            : nullptr;
        }
        if (e->args.empty()) return e;
        auto [place, is_new] = made_.try_emplace(e, nullptr);
        if (!is_new) return place->second;
        std::vector<E> args;
        for (E a : e->args) {
            args.push_back(value(a));
            if (!args.back()) return nullptr;
        }
        Expr copy = *e;
        copy.args = b_.list(std::span<const E>(args));
        return made_[e] = b_.own(copy);
    }
    /// The way leads past this statement.
    bool pass(S s) {
        if (s->kind == StmtKind::Block) {
            for (S b : s->body) {
                if (!pass(b)) return false;
            }
            return true;
        }
        if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign) {
            set(s->id, s->args.empty() ? nullptr : value(s->args[0]));
            return true;
        }
        if (s->kind == StmtKind::Point && !s->arrays.empty()) {
            auto known = memories_.find(s->arrays[0]);
            memories_[s->id] = known == memories_.end() ? s->arrays[0] : known->second;
            made_.clear();
            return true;
        }
        forget(s);
        if (s->kind != StmtKind::If) return true;
        const bool here = ends(s->body), there = ends(s->orelse);
        if (!here && !there) return !may_end(s);
        return !(here && there) && may_pass(s->args[0], !here);
    }
    /// The way leads where the condition is so.
    bool may_pass(E condition, bool so) {
        E v = value(condition);
        if (!v) return false;
        if (!so) v = b_.unary(Op::Not, v);
        needs_ = needs_ ? b_.binary(Op::And, needs_, v) : v;
        return true;
    }
    /// As a number that is not 0 where the product will be reached.
    E reached() { return needs_ ? b_.select(needs_, b_.i64(1), b_.i64(0)) : b_.i64(1); }

  private:
    /// What a statement may change that need not run.
    void forget(S s) {
        std::vector<bool> written(changed_.size());
        mark_written(s, written);
        for (std::size_t v = 0; v < written.size(); ++v) {
            if (written[v]) values_[static_cast<std::int32_t>(v)] = nullptr;
        }
        forget_memories(s);
        made_.clear();
    }
    void forget_memories(S s) {
        if (s->kind == StmtKind::Point || s->kind == StmtKind::Make)
            memories_[s->id] = std::nullopt;
        for (S b : s->body) forget_memories(b);
        for (S b : s->orelse) forget_memories(b);
    }
    static bool ends(std::span<const S> list) {
        if (list.empty()) return false;
        S last = list.back();
        if (last->kind == StmtKind::Block) return ends(last->body);
        return last->kind == StmtKind::Return || last->kind == StmtKind::Break ||
               last->kind == StmtKind::Continue;
    }
    static bool may_end(S s) {
        return contains(s, StmtKind::Return) || contains(s, StmtKind::Break) ||
               contains(s, StmtKind::Continue);
    }

    Builder& b_;
    std::vector<bool> changed_;
    std::unordered_map<std::int32_t, E> values_;
    std::unordered_map<std::int32_t, std::optional<std::int32_t>> memories_;  ///< slots that point
    std::unordered_map<E, E> made_;
    E needs_ = nullptr;
};

class Ahead final : public Rewriter {
  public:
    explicit Ahead(Function& f) : Rewriter(f), memories_(f) {}

    S stmt(S s) override {
        if (s->kind == StmtKind::For && s->loop != LoopKind::Serial) return s;
        if (s->kind == StmtKind::For) {
            if (S made = loop(s)) return made;
        }
        S made = children(s);
        if (made->body.size() < 2 && made->orelse.size() < 2) return made;
        const std::vector<S> body = pairs(made->body), orelse = pairs(made->orelse);
        return with_body(made, body, orelse);
    }

  private:
    bool is_product(S s) {
        return s->kind == StmtKind::Native && s->args.size() == operand_count &&
               function().natives[static_cast<std::size_t>(s->id)] == "matmul" &&
               s->args[axes]->kind == ExprKind::Const && s->args[axes]->bits == 0;
    }

    /// The way to the only product of a statement: it and what it lies in, from the outside. Empty
    /// where there is none, or another below a loop.
    bool way_to_product(S s, std::vector<S>& way) {
        way.push_back(s);
        if (is_product(s)) return true;
        if (s->kind == StmtKind::Block || s->kind == StmtKind::If) {
            for (auto list : {s->body, s->orelse}) {
                for (S b : list) {
                    if (way_to_product(b, way)) return true;
                }
            }
        }
        way.pop_back();
        return false;
    }

    /// Follows a way, statement by statement, from the beginning of the first one.
    bool follow(Later& later, const std::vector<S>& way) {
        for (std::size_t k = 0; k + 1 < way.size(); ++k) {
            S s = way[k], next = way[k + 1];
            auto has = [&](std::span<const S> list) {
                return std::find(list.begin(), list.end(), next) != list.end();
            };
            const bool is_there = !has(s->body);
            if (s->kind == StmtKind::If && !later.may_pass(s->args[0], !is_there)) return false;
            for (S b : is_there ? s->orelse : s->body) {
                if (b == next) break;
                if (!later.pass(b)) return false;
            }
        }
        return true;
    }

    /// Whether the product reads memory that the changes leave alone.
    bool keeps_operands(S product, const Changes& changes) {
        return keeps(product->args[left_address], changes) &&
               keeps(product->args[right_address], changes);
    }
    bool keeps(E address, const Changes& changes) {
        int found = 0;
        auto look = [&](auto& self, E part) -> bool {
            if (part->kind == ExprKind::Memory) {
                ++found;
                return part->axis == 0 && !changes.memories[memories_.of(part->id)];
            }
            for (E a : part->args) {
                if (!self(self, a)) return false;
            }
            return true;
        };
        return look(look, address) && found == 1;
    }

    /// m, n, k, and of both operands address and strides, there.
    bool operands_there(Later& later, S product, std::vector<E>& values) {
        for (std::size_t k = 2; k < out_address; ++k) {
            E v = later.value(product->args[k]);
            if (!v) return false;
            values.push_back(v);
        }
        return true;
    }

    /// A slot for what one call leaves to others, and the call that empties it.
    std::int32_t state(std::vector<S>& before) {
        const std::int32_t slot = b_.slot("ahead", DType::Int64, true);
        const std::int32_t status = b_.var("native", DType::Int64);
        before.push_back(b_.make(slot, b_.i64(2)));
        before.push_back(b_.declare(status, b_.i64(0)));
        const E values[] = {b_.i64(0), b_.address(slot)};
        before.push_back(b_.native("products_begin", values, std::span(&status, 1)));
        return slot;
    }

    S loop(S s) {
        b_.line = s->line;
        const bool by_one = s->args[2]->kind == ExprKind::Const && s->args[2]->bits == 1;
        std::vector<S> way;
        S body = b_.block(s->body);
        if (!by_one || !way_to_product(body, way)) return nullptr;
        S product = way.back();
        Changes changes(function(), memories_);
        for (S b : s->body) {
            changes.note(b);
            mark_written(b, changes.vars);
        }
        if (changes.all || changes.leaves || changes.points || !keeps_operands(product, changes))
            return nullptr;
        Later before(b_, changes.vars);
        E end = before.value(s->args[1]);
        if (!end) return nullptr;
        constexpr std::int64_t together = 64;
        std::vector<S> call;
        const std::int32_t last = b_.var("last", DType::Int64);
        b_.line = product->line;
        E here = b_.read(s->id);
        Later later(b_, changes.vars);
        later.set(s->id, b_.read(last));
        std::vector<E> there;
        if (!follow(later, way) || !operands_there(later, product, there)) return nullptr;
        std::vector<S> made;
        const std::int32_t slot = state(made);
        std::vector<E> values(product->args.begin(), product->args.begin() + axes);
        call.push_back(b_.declare(
            last, b_.binary(Op::Min, b_.add(here, b_.i64(together - 1)), b_.sub(end, b_.i64(1)))));
        values.insert(values.end(), {b_.address(slot), here, b_.read(last), later.reached()});
        values.insert(values.end(), there.begin(), there.end());
        call.push_back(b_.native("matmul_ahead", values, product->outs));
        made.push_back(replaced(s, product, b_.block(call)));
        return b_.block(made);
    }

    /// What runs between a product and the end of the statement that it lies in.
    static void behind(const std::vector<S>& way, std::vector<S>& out) {
        for (std::size_t k = way.size() - 1; k-- > 0;) {
            for (auto list : {way[k]->body, way[k]->orelse}) {
                auto found = std::find(list.begin(), list.end(), way[k + 1]);
                if (found != list.end()) out.insert(out.end(), found + 1, list.end());
            }
        }
    }
    /// What runs between the beginning of the statement that a product lies in and the product.
    static void ahead_of(const std::vector<S>& way, std::vector<S>& out) {
        for (std::size_t k = 0; k + 1 < way.size(); ++k) {
            for (auto list : {way[k]->body, way[k]->orelse}) {
                auto found = std::find(list.begin(), list.end(), way[k + 1]);
                if (found != list.end()) out.insert(out.end(), list.begin(), found);
            }
        }
    }

    /// A list whose products are computed in pairs where that goes.
    std::vector<S> pairs(std::span<const S> given) {
        std::vector<S> list;
        flatten(given, list);
        bool has_some = false;
        for (std::size_t k = 0; k < list.size(); ++k) {
            std::vector<S> first, second;
            if (!way_to_product(list[k], first)) continue;
            std::size_t j = k + 1;
            while (j < list.size() && !way_to_product(list[j], second)) ++j;
            if (j == list.size()) break;
            std::vector<S> before;
            if (!pair(list, k, j, first, second, before)) continue;
            list.insert(list.begin() + static_cast<std::ptrdiff_t>(k), before.begin(),
                        before.end());
            k = j + before.size();
            has_some = true;
        }
        return has_some ? list : std::vector<S>(given.begin(), given.end());
    }

    bool pair(std::vector<S>& list, std::size_t k, std::size_t j, const std::vector<S>& first,
              const std::vector<S>& second, std::vector<S>& before) {
        std::vector<S> rest, between, way;
        behind(first, rest);
        between = rest;
        between.insert(between.end(), list.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                       list.begin() + static_cast<std::ptrdiff_t>(j));
        way = between;
        ahead_of(second, between);
        Changes changes(function(), memories_);
        for (S s : between) {
            changes.note(s);
            mark_written(s, changes.vars);
        }
        S one = first.back(), other = second.back();
        if (changes.all || changes.leaves || !keeps_operands(other, changes)) return false;
        if (!same(one->args[1], other->args[1])) return false;
        b_.line = one->line;
        Later later(b_, changes.vars);
        for (std::int32_t v : one->outs) later.set(v, b_.i64(0));  // else the other is not reached
        for (S s : way) {
            if (!later.pass(s)) return false;
        }
        std::vector<E> there;
        if (!follow(later, second) || !operands_there(later, other, there)) return false;
        const std::int32_t slot = state(before);
        std::vector<E> values(one->args.begin(), one->args.begin() + axes);
        values.insert(values.end(), {b_.address(slot), later.reached()});
        values.insert(values.end(), there.begin(), there.end());
        list[k] = replaced(list[k], one, b_.native("matmul_pair", values, one->outs));
        b_.line = other->line;
        values.assign(other->args.begin(), other->args.begin() + axes);
        values.push_back(b_.address(slot));
        list[j] = replaced(list[j], other, b_.native("matmul_taken", values, other->outs));
        return true;
    }

    /// The statement with another one in place of one below it.
    S replaced(S s, S old, S made) {
        if (s == old) return made;
        std::vector<S> body, orelse;
        for (S b : s->body) body.push_back(replaced(b, old, made));
        for (S b : s->orelse) orelse.push_back(replaced(b, old, made));
        return with_body(s, body, orelse);
    }

    Memories memories_;
};

}  // namespace

void products_ahead(Module& module) {
    for (Function& f : module.functions) {
        if (std::find(f.natives.begin(), f.natives.end(), "matmul") != f.natives.end())
            Ahead(f).run();
    }
}

}  // namespace unisono::passes
