// Follows the values of a product's operands to a later product, and writes the calls.
#include "passes/loops/products_ahead.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "passes/analysis/later_values.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::size_t operand_count = 13;  // of "matmul" (runtime/native.cpp), without leading axes
constexpr std::size_t left_address = 5, right_address = 8, axes = 12;
constexpr std::size_t out_address = Changes::out_address;

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
