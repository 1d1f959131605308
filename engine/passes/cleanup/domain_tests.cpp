// Finds the variables that never hold a negative number, then the tests that this makes needless.
#include "passes/cleanup/domain_tests.h"

#include <algorithm>
#include <cmath>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Values that variables take, by variable.
class Definitions final : public Visitor {
  public:
    explicit Definitions(const Function& f) : values(f.vars.size()), is_open(f.vars.size()) {
        for (std::size_t v = 0; v < f.vars.size(); ++v) is_open[v] = !is_float(f.vars[v].dtype);
        stmt(f.body);
    }

    void expr(E) override {}
    void stmt(S s) override {
        if ((s->kind == StmtKind::Declare || s->kind == StmtKind::Assign) && !s->args.empty())
            values[at(s->id)].push_back(s->args[0]);
        for (std::int32_t v : s->outs) is_open[at(v)] = true;
        // Copies of its variable start from the operation's identity.
        for (const Reduction& r : s->reductions) {
            if (r.op != Op::Add) is_open[at(r.var)] = true;
        }
        children(s);
    }
    static std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

    std::vector<std::vector<E>> values;
    std::vector<bool> is_open;  ///< takes others, too
};

double number(E e) { return Scalar{e->bits, e->dtype}.get<double>(); }

bool is_even(E e) { return e->kind == ExprKind::Const && std::fmod(number(e), 2.0) == 0.0; }

/// Which variables and expressions are NaN or have no sign: zero counts as negative where it has
/// one, since what is divided by it is.
class WithoutSign {
  public:
    explicit WithoutSign(const Function& f) {
        const Definitions all(f);
        is_.resize(f.vars.size());
        for (std::size_t v = 0; v < is_.size(); ++v) is_[v] = !all.is_open[v];
        // Variables that are updated by themselves count as without a sign until an update says
        // otherwise.
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t v = 0; v < is_.size(); ++v) {
                auto holds = [&](E e) { return (*this)(e); };
                if (!is_[v] || std::all_of(all.values[v].begin(), all.values[v].end(), holds))
                    continue;
                is_[v] = false;
                changed = true;
            }
        }
    }

    bool operator()(E e) const {
        if (!is_float(e->dtype)) return false;
        switch (e->kind) {
            case ExprKind::Const: return !std::signbit(number(e));
            case ExprKind::Var: return is_[static_cast<std::size_t>(e->id)];
            case ExprKind::Select: return (*this)(e->args[1]) && (*this)(e->args[2]);
            case ExprKind::Cast: {
                const DType from = e->args[0]->dtype;
                return is_bool(from) || (is_integer(from) && !is_signed(from)) ||
                       (*this)(e->args[0]);
            }
            case ExprKind::Fma: return is_product(e->args[0], e->args[1]) && (*this)(e->args[2]);
            case ExprKind::Unary: return unary(e);
            case ExprKind::Binary: return binary(e);
            default: return false;
        }
    }

  private:
    bool unary(E e) const {
        switch (e->op) {
            case Op::Abs:
            case Op::Exp:
            case Op::Exp2:
            case Op::Cosh: return true;
            case Op::Sqrt:
            case Op::Floor:
            case Op::Ceil:
            case Op::Trunc:
            case Op::Rint: return (*this)(e->args[0]);
            default: return false;
        }
    }
    bool binary(E e) const {
        const E a = e->args[0], b = e->args[1];
        switch (e->op) {
            case Op::Mul: return is_product(a, b);
            case Op::Add:
            case Op::Div:
            case Op::Min:
            case Op::Max: return (*this)(a) && (*this)(b);
            case Op::Power: return is_even(b) || (*this)(a);
            case Op::Hypot: return true;
            default: return false;
        }
    }
    bool is_product(E a, E b) const { return same(a, b) || ((*this)(a) && (*this)(b)); }

    std::vector<bool> is_;
};

class DomainTests final : public Rewriter {
  public:
    explicit DomainTests(Function& f) : Rewriter(f), without_sign_(f) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        const S before = before_;
        if (s->kind != StmtKind::Block) before_ = s;
        if (s->kind == StmtKind::If && before && is_needless(s, before)) return nullptr;
        return children(s);
    }

  private:
    /// `if (t != t) & (x == x): raise` behind `t = sqrt(x)`.
    bool is_needless(S s, S before) const {
        const bool is_root = before->kind == StmtKind::Declare && !before->args.empty() &&
                             before->args[0]->kind == ExprKind::Unary &&
                             before->args[0]->op == Op::Sqrt;
        const E test = s->args[0];
        if (!is_root || !s->orelse.empty() || !is_binary(test, Op::And)) return false;
        std::vector<S> taken;
        flatten(s->body, taken);
        if (taken.size() != 1 || taken[0]->kind != StmtKind::Return || taken[0]->fault < 0)
            return false;
        const E nan = test->args[0], number = test->args[1], x = before->args[0]->args[0];
        auto is_result = [&](E e) { return e->kind == ExprKind::Var && e->id == before->id; };
        return is_binary(nan, Op::Ne) && is_result(nan->args[0]) && is_result(nan->args[1]) &&
               is_binary(number, Op::Eq) && same(number->args[0], x) && same(number->args[1], x) &&
               without_sign_(x);
    }
    static bool is_binary(E e, Op op) { return e->kind == ExprKind::Binary && e->op == op; }

    WithoutSign without_sign_;
    S before_ = nullptr;  ///< the statement that was visited last
};

}  // namespace

void domain_tests(Module& module) {
    for (Function& f : module.functions) {
        if (f.body) DomainTests(f).run();
    }
}

}  // namespace unisono::passes
