// Walks statements; what must be computed before one is collected in front of it.
#include "passes/lowering/split_complex.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "passes/cleanup/statements_before.h"
#include "passes/lowering/complex_formulas.h"

namespace unisono::passes {

using namespace ir;

namespace {

bool has_complex(E e) {
    return is_complex(e->dtype) || std::any_of(e->args.begin(), e->args.end(), has_complex);
}

bool is_name(E e) {
    return e->kind == ExprKind::Const || e->kind == ExprKind::Var || e->kind == ExprKind::Param;
}

/// Cheap, and seen through by passes that compare indices.
bool is_plain_index(E e) {
    bool sum =
        e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul);
    return is_name(e) || (sum && std::all_of(e->args.begin(), e->args.end(), is_plain_index));
}

class SplitComplex final : public StatementsBefore {
  public:
    SplitComplex(Function& f, bool has_float64)
        : StatementsBefore(f),
          formulas_(
              b_, [this](E e) { return named(e); }, has_float64) {}

    E expr(E e) override {
        if (!is_involved_) return e;
        b_.line = e->line;
        switch (e->kind) {
            case ExprKind::Part: {
                Parts p = parts(e->args[0]);
                return e->axis == 0 ? p.re : p.im;
            }
            case ExprKind::Unary:
                if (!is_complex(e->args[0]->dtype)) break;
                if (e->op == Op::Abs) return formulas_.absolute(named(parts(e->args[0])));
                return formulas_.test(e->op, named(parts(e->args[0])));
            case ExprKind::Binary: {
                if (!is_complex(e->args[0]->dtype)) break;
                Parts a = named(parts(e->args[0]));
                return formulas_.compare(e->op, a, named(parts(e->args[1])));
            }
            case ExprKind::Cast: {
                if (!is_complex(e->args[0]->dtype)) break;
                Parts a = parts(e->args[0]);
                if (!is_bool(e->dtype)) return b_.cast(a.re, e->dtype);
                return b_.binary(Op::Or, b_.cast(a.re, DType::Bool), b_.cast(a.im, DType::Bool));
            }
            case ExprKind::Load: {
                // Tests of indices stay in the order of the operands.
                bool is_tested = e->access == Access::Checked || e->access == Access::Wrapped;
                E load = children(e);
                return is_tested ? named(load) : load;
            }
            default: break;
        }
        return children(e);
    }

    S stmt(S s) override {
        if (s->kind == StmtKind::Block) return StatementsBefore::stmt(s);
        bool outer_involved = std::exchange(
            is_involved_, std::any_of(s->args.begin(), s->args.end(), has_complex) || is_split(s));
        auto outer_known = std::exchange(known_, {});
        S changed = StatementsBefore::stmt(s);
        known_ = std::move(outer_known);
        is_involved_ = outer_involved;
        return changed;
    }

  private:
    /// A declaration without a value has no complex operand that tells it.
    bool is_split(S s) {
        return s->kind == StmtKind::Declare &&
               is_complex(function().vars[static_cast<std::size_t>(s->id)].dtype);
    }

    S statement(S s) override {
        b_.line = s->line;
        if (is_involved_) {
            switch (s->kind) {
                case StmtKind::Declare:
                    if (is_split(s)) return declare(s);
                    break;
                case StmtKind::Assign:
                    if (is_complex(s->args[0]->dtype)) return assign(s);
                    break;
                case StmtKind::Store:
                case StmtKind::Atomic:
                    if (is_complex(s->args.back()->dtype)) return store(s);
                    break;
                default: break;
            }
            return StatementsBefore::statement(s);
        }
        return bodies(s);
    }

    S declare(S s) {
        auto [re, im] = variables(s->id);
        if (s->args.empty()) return b_.block({b_.declare(re, nullptr), b_.declare(im, nullptr)});
        Parts value = parts(s->args[0]);
        b_.line = s->line;
        return b_.block({b_.declare(re, value.re), b_.declare(im, value.im)});
    }

    /// Both parts are known before the first is assigned.
    S assign(S s) {
        auto [re, im] = variables(s->id);
        // z = z + x stays a sum of each part, which a loop may add in another order.
        E sum = s->args[0];
        bool adds = sum->kind == ExprKind::Binary && sum->op == Op::Add &&
                    sum->args[0]->kind == ExprKind::Var && sum->args[0]->id == s->id;
        if (adds) {
            Parts more = named(parts(sum->args[1]));
            b_.line = s->line;
            return b_.block({b_.assign(re, b_.add(b_.read(re), more.re)),
                             b_.assign(im, b_.add(b_.read(im), more.im))});
        }
        Parts value = parts(s->args[0]);
        b_.line = s->line;
        E held = value.im->kind == ExprKind::Const ? value.im : kept(value.im);
        return b_.block({b_.assign(re, value.re), b_.assign(im, held)});
    }

    S store(S s) {
        Parts value = named(parts(s->args.back()));
        std::vector<E> indices(s->args.begin(), s->args.end() - 1);
        for (E& i : indices) i = index(i);
        b_.line = s->line;
        std::vector<S> both;
        for (int part : {0, 1}) {
            Stmt one = *s;
            one.axis = part;
            std::vector<E> args = indices;
            args.push_back(part == 0 ? value.re : value.im);
            one.args = b_.list(std::span<const E>(args));
            both.push_back(b_.own(one));
        }
        return b_.block(std::span<const S>(both));
    }

    /// The variables of the parts.
    std::pair<std::int32_t, std::int32_t> variables(std::int32_t var) {
        auto found = parts_of_.find(var);
        if (found != parts_of_.end()) return found->second;
        const Var v = function().vars[static_cast<std::size_t>(var)];
        DType t = part_dtype(v.dtype);
        std::int32_t re = b_.var(v.name + ".real", t), im = b_.var(v.name + ".imag", t);
        return parts_of_[var] = {re, im};
    }

    /// Of a node that several others use once only: operands do not change within a statement.
    Parts parts(E e) {
        auto found = known_.find(e);
        if (found != known_.end()) return found->second;
        Parts made = parts_of(e);
        if (!is_name(made.re) || !is_name(made.im)) made = named(made);
        return known_[e] = made;
    }

    Parts parts_of(E e) {
        b_.line = e->line;
        switch (e->kind) {
            case ExprKind::Var: {
                auto [re, im] = variables(e->id);
                return {b_.read(re), b_.read(im)};
            }
            case ExprKind::Pair: {
                E re = expr(e->args[0]);
                return {re, expr(e->args[1])};
            }
            case ExprKind::Load: {
                std::vector<E> at(e->args.begin(), e->args.end());
                for (E& i : at) i = index(i);
                b_.line = e->line;
                return {b_.load_part(e->id, at, 0, e->access),
                        b_.load_part(e->id, at, 1, e->access)};
            }
            case ExprKind::Unary: return formulas_.unary(e->op, named(parts(e->args[0])));
            case ExprKind::Binary: {
                Parts a = named(parts(e->args[0]));
                return formulas_.binary(e->op, a, named(parts(e->args[1])));
            }
            case ExprKind::Select: {
                E condition = named(expr(e->args[0]));
                Parts yes = parts(e->args[1]), no = parts(e->args[2]);
                return {b_.select(condition, yes.re, no.re), b_.select(condition, yes.im, no.im)};
            }
            case ExprKind::Cast: {
                DType t = part_dtype(e->dtype);
                if (!is_complex(e->args[0]->dtype))
                    return {b_.cast(expr(e->args[0]), t), b_.zero(t)};
                Parts a = parts(e->args[0]);
                return {b_.cast(a.re, t), b_.cast(a.im, t)};
            }
            default: break;
        }
        fail(ErrorKind::Internal, "split_complex: no complex number; got " + print(function(), e));
    }

    /// An index is used by both parts.
    E index(E e) {
        e = expr(e);
        return is_plain_index(e) ? e : named(e);
    }

    /// A variable that holds the value, declared in front of the statement.
    E kept(E e) {
        std::int32_t v = b_.var("t", e->dtype);
        before_.push_back(b_.declare(v, e));
        return b_.read(v);
    }
    E named(E e) { return is_name(e) ? e : kept(e); }
    Parts named(Parts a) {
        E re = named(a.re);
        return {re, named(a.im)};
    }

    ComplexFormulas formulas_;
    bool is_involved_ = false;  ///< the statement has complex numbers
    std::unordered_map<E, Parts> known_;
    std::unordered_map<std::int32_t, std::pair<std::int32_t, std::int32_t>> parts_of_;
};

bool has_complex(S s) {
    return std::any_of(s->args.begin(), s->args.end(), [](E e) { return has_complex(e); }) ||
           std::any_of(s->body.begin(), s->body.end(), [](S b) { return has_complex(b); }) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), [](S b) { return has_complex(b); });
}

bool is_concerned(const Function& f) {
    return std::any_of(f.arrays.begin(), f.arrays.end(),
                       [](const Array& a) { return is_complex(a.dtype); }) ||
           std::any_of(f.vars.begin(), f.vars.end(),
                       [](const Var& v) { return is_complex(v.dtype); }) ||
           (f.body && has_complex(f.body));
}

}  // namespace

void split_complex(Module& module, bool has_float64) {
    for (Function& f : module.functions) {
        if (is_concerned(f)) SplitComplex(f, has_float64).run();
    }
}

bool splits(Op op) { return ComplexFormulas::knows(op); }

}  // namespace unisono::passes
