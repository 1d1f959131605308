// Finds innermost loops whose only stores go to one element.
#include "passes/loops/scalar_promotion.h"

#include <algorithm>

#include "passes/analysis/linear_forms.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

class HoldElements final : public Rewriter {
  public:
    using Rewriter::Rewriter;

    E expr(E e) override {
        if (var_ >= 0 && is_element(e)) return b_.read(var_);
        return children(e);
    }

    S stmt(S s) override {
        if (var_ >= 0) {
            if (s->kind != StmtKind::Store) return children(s);
            b_.line = s->line;
            return b_.assign(var_, expr(s->args.back()));
        }
        S changed = children(s);
        S held = changed->kind == StmtKind::For ? hold(changed) : nullptr;
        return held ? held : changed;
    }

  private:
    S hold(S s) {
        if (!is_plain_loop(s)) return nullptr;
        std::vector<S> body;
        flatten(s->body, body);
        LoopNest nest(b_, s, nullptr);
        std::vector<NestAccess> others;
        bool is_read = false;
        array_ = -1;
        for (S b : body) {
            bool stores = b->kind == StmtKind::Store && b->access == Access::Linear;
            if (!stores && (b->kind != StmtKind::Declare || b->args.empty())) return nullptr;
            if (!stores) continue;
            if (is_complex(dtype_of(b->id)) || !nest.in_front(b->args[0])) return nullptr;
            if (array_ >= 0 && (array_ != b->id || !same(index_, b->args[0]))) return nullptr;
            array_ = b->id;
            index_ = b->args[0];
        }
        if (array_ < 0) return nullptr;
        for (S b : body) {
            E value = b->args.back();
            if (!other_loads(nest, value, others, is_read)) return nullptr;
            if (b->kind == StmtKind::Declare) nest.define(b->id, value);
        }
        NestAccess element{array_, true, nest.form(index_)};
        E test = is_read ? nest.apart_from(element, others) : nullptr;
        if (!test) return nullptr;
        b_.line = s->line;
        for (E assumed : nest.assumed()) test = b_.binary(Op::And, test, assumed);
        test = b_.binary(Op::And, b_.binary(Op::Lt, s->args[0], s->args[1]), test);
        std::int32_t var = b_.var("held", dtype_of(array_));
        std::vector<S> fast{b_.declare(var, load())};
        var_ = var;
        fast.push_back(with_body(s, each(s->body), {}));
        var_ = -1;
        E at = index_;
        fast.push_back(b_.store(array_, std::span<const E>(&at, 1), b_.read(var), Access::Linear));
        return b_.branch(simplified(b_, test), as_one(b_, fast), s);
    }

    DType dtype_of(std::int32_t array) {
        return b_.function().arrays[static_cast<std::size_t>(array)].dtype;
    }
    bool is_element(E e) const {
        return e->kind == ExprKind::Load && e->access == Access::Linear && e->id == array_ &&
               same(e->args[0], index_);
    }
    E load() {
        E at = index_;
        return b_.load(array_, std::span<const E>(&at, 1), Access::Linear);
    }

    /// What the expression loads but for the element; false where that is not understood.
    bool other_loads(LoopNest& nest, E e, std::vector<NestAccess>& out, bool& is_read) const {
        if (is_element(e)) {
            is_read = true;
            return true;
        }
        if (e->kind == ExprKind::Load) return nest.loads(e, out);
        return std::all_of(e->args.begin(), e->args.end(),
                           [&](E a) { return other_loads(nest, a, out, is_read); });
    }

    std::int32_t array_ = -1;  ///< of the element
    E index_ = nullptr;
    std::int32_t var_ = -1;  ///< while a loop is written that holds it
};

}  // namespace

void scalar_promotion(Module& module) {
    for (Function& f : module.functions) HoldElements(f).run();
}

}  // namespace unisono::passes
