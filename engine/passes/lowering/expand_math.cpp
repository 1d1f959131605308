// A number type whose operations make IR nodes, and the rewriter that calls the functions with it.
#include "passes/lowering/expand_math.h"

#include <concepts>
#include <unordered_map>
#include <utility>

#include "ops/functions/number.h"
#include "passes/cleanup/statements_before.h"

namespace unisono::functions {

using ir::E;

namespace {

/// Where operators put nodes: constants in templates come from nothing but a number.
thread_local ir::Builder* building = nullptr;

struct Flag {
    E e;
};
struct Integer {
    E e;
    explicit Integer(E node) : e(node) {}
    template <std::integral T>
    explicit Integer(T c) : e(building->i64(c)) {}
};
struct Real {
    E e;
    explicit Real(E node) : e(node) {}
    explicit Real(double c) : e(building->constant(Scalar::of(DType::Float64, c))) {}
};

Real operator+(Real a, Real b) { return Real(building->add(a.e, b.e)); }
Real operator-(Real a, Real b) { return Real(building->sub(a.e, b.e)); }
Real operator*(Real a, Real b) { return Real(building->mul(a.e, b.e)); }
Real operator/(Real a, Real b) { return Real(building->binary(Op::Div, a.e, b.e)); }
Real operator-(Real a) { return Real(building->unary(Op::Neg, a.e)); }
[[maybe_unused]] Flag operator<(Real a, Real b) { return {building->binary(Op::Lt, a.e, b.e)}; }
[[maybe_unused]] Flag operator>(Real a, Real b) { return {building->binary(Op::Gt, a.e, b.e)}; }
[[maybe_unused]] Flag operator<=(Real a, Real b) { return {building->binary(Op::Le, a.e, b.e)}; }
[[maybe_unused]] Flag operator>=(Real a, Real b) { return {building->binary(Op::Ge, a.e, b.e)}; }
[[maybe_unused]] Flag operator==(Real a, Real b) { return {building->binary(Op::Eq, a.e, b.e)}; }
[[maybe_unused]] Flag operator!=(Real a, Real b) { return {building->binary(Op::Ne, a.e, b.e)}; }
[[maybe_unused]] Flag operator==(Integer a, Integer b) {
    return {building->binary(Op::Eq, a.e, b.e)};
}
[[maybe_unused]] Flag operator<(Integer a, Integer b) {
    return {building->binary(Op::Lt, a.e, b.e)};
}
[[maybe_unused]] Flag operator>(Integer a, Integer b) {
    return {building->binary(Op::Gt, a.e, b.e)};
}
[[maybe_unused]] Flag operator&(Flag a, Flag b) { return {building->binary(Op::And, a.e, b.e)}; }
[[maybe_unused]] Flag operator|(Flag a, Flag b) { return {building->binary(Op::Or, a.e, b.e)}; }
[[maybe_unused]] Flag operator!(Flag a) { return {building->unary(Op::Not, a.e)}; }
Integer operator&(Integer a, Integer b) { return Integer(building->binary(Op::And, a.e, b.e)); }
[[maybe_unused]] Integer operator|(Integer a, Integer b) {
    return Integer(building->binary(Op::Or, a.e, b.e));
}
Integer operator^(Integer a, Integer b) { return Integer(building->binary(Op::Xor, a.e, b.e)); }
Integer operator*(Integer a, Integer b) { return Integer(building->mul(a.e, b.e)); }
Integer plus(Integer a, Integer b) { return Integer(building->add(a.e, b.e)); }
Integer minus(Integer a, Integer b) { return Integer(building->sub(a.e, b.e)); }
Integer shift_left(Integer a, int n) {
    return Integer(building->binary(Op::Shl, a.e, building->i64(n)));
}
Integer shift_right(Integer a, int n) {
    return Integer(building->binary(Op::Shr, a.e, building->i64(n)));
}
Real fma(Real a, Real b, Real c) { return Real(building->fma(a.e, b.e, c.e)); }
[[maybe_unused]] Real square_root(Real a) { return Real(building->unary(Op::Sqrt, a.e)); }
Real round_even(Real a) { return Real(building->unary(Op::Rint, a.e)); }
Real magnitude(Real a) { return Real(building->unary(Op::Abs, a.e)); }
[[maybe_unused]] Real with_sign(Real size, Real sign) {
    return Real(building->binary(Op::CopySign, size.e, sign.e));
}
Real select(Flag c, Real a, Real b) { return Real(building->select(c.e, a.e, b.e)); }
Integer select(Flag c, Integer a, Integer b) { return Integer(building->select(c.e, a.e, b.e)); }
Integer bits_of(Real a) { return Integer(building->bitcast(a.e, DType::Int64)); }
Real number_of(Integer a) { return Real(building->bitcast(a.e, DType::Float64)); }

bool is_one_number(Real a, double& number) {
    if (a.e->kind != ir::ExprKind::Const) return false;
    number = Scalar{a.e->bits, a.e->dtype}.as<double>();
    return true;
}
/// Of flags that expressions compute: what they select is computed in any case.
bool any(Flag) { return true; }

/// table[index], found by halves.
E entry_between(const double* table, std::size_t count, std::size_t first, E index) {
    if (count == 1) return Real(table[0]).e;
    std::size_t half = count / 2;
    E below =
        building->binary(Op::Lt, index, building->i64(static_cast<std::int64_t>(first + half)));
    return building->select(below, entry_between(table, half, first, index),
                            entry_between(table + half, count - half, first + half, index));
}
template <std::size_t N>
Real entry(const double (&table)[N], Integer index) {
    return Real(entry_between(table, N, 0, index.e));
}

}  // namespace

template <>
struct WholeOf<Real> {
    using type = Integer;
};

}  // namespace unisono::functions

#include "ops/functions/table.h"

namespace unisono::passes {

using namespace ir;
using functions::Real;

namespace {

class ExpandMath final : public StatementsBefore {
  public:
    ExpandMath(Function& f, bool keep_long) : StatementsBefore(f), keep_long_(keep_long) {}

    E expr(E e) override {
        e = children(e);
        bool is_operation = e->kind == ExprKind::Unary || e->kind == ExprKind::Binary;
        if (!is_operation || !is_float(e->dtype) || !functions::is_own(e->op)) return e;
        if (keep_long_ && functions::is_long_form(e->op)) return e;
        const bool is_power = e->op == Op::Power && e->args[1]->kind != ExprKind::Const;
        b_.line = e->line;
        functions::building = &b_;
        E x = named(wide(e->args[0]));
        E y = e->args.size() > 1 ? named(wide(e->args[1])) : x;
        E value = is_power && is_whole(e->args[1]) ? whole_power(e->dtype, Real(x), Real(y))
                  : is_power                       ? power(e->dtype, Real(x), Real(y))
                  : functions::is_long_form(e->op) ? y
                                                   : shared(definition(e->op, e->dtype, x, y));
        Op op = functions::long_form(e->op);
        if (functions::is_long_form(op)) value = with_long_form(op, x, value);
        return e->dtype == DType::Float64 ? value : named(b_.cast(value, e->dtype));
    }

  private:
    E wide(E e) {
        double number = 0;
        if (is_one_number(Real(e), number)) return Real(number).e;
        return b_.cast(e, DType::Float64);
    }

    static bool is_name(E e) {
        return e->kind == ExprKind::Const || e->kind == ExprKind::Var || e->kind == ExprKind::Param;
    }
    /// A variable that holds the value, declared in front of the statement.
    E named(E e) {
        if (is_name(e)) return e;
        std::int32_t v = b_.var("t", e->dtype);
        before_.push_back(b_.declare(v, e));
        return b_.read(v);
    }

    /// The tree of nodes with those that several others use in variables.
    E shared(E root) {
        std::unordered_map<E, int> uses;
        count(root, uses);
        std::unordered_map<E, E> made;
        return rebuilt(root, uses, made);
    }
    void count(E e, std::unordered_map<E, int>& uses) {
        if (is_name(e) || ++uses[e] > 1) return;
        for (E a : e->args) count(a, uses);
    }
    E rebuilt(E e, const std::unordered_map<E, int>& uses, std::unordered_map<E, E>& made) {
        if (is_name(e)) return e;
        if (auto found = made.find(e); found != made.end()) return found->second;
        std::vector<E> args(e->args.begin(), e->args.end());
        for (E& a : args) a = rebuilt(a, uses, made);
        E now = e;
        if (!std::equal(args.begin(), args.end(), e->args.begin())) {
            Expr changed = *e;
            changed.args = b_.list(std::span<const E>(args));
            now = b_.own(changed);
        }
        return made[e] = uses.at(e) > 1 ? named(now) : now;
    }

    static E definition(Op op, DType t, E x, E y) {
        return t == DType::Float64 ? definition_of<false>(op, x, y) : definition_of<true>(op, x, y);
    }
    template <bool Narrow>
    static E definition_of(Op op, E x, E y) {
        switch (op) {
            // clang-format off
#define UNISONO_FUNCTION(Name, name) \
    case Op::Name: return functions::value_of<Op::Name, Narrow>(Real(x), Real(y)).e;
#define UNISONO_FUNCTION2(Name, name) \
    case Op::Name: return functions::value_of<Op::Name, Narrow>(Real(x), Real(y)).e;
#include "ops/functions/functions.def"
            // clang-format on
            default: fail(ErrorKind::Internal, "expand_math: unknown function");
        }
    }
    static E long_definition(Op op, E x) {
        switch (op) {
            // clang-format off
#define UNISONO_FUNCTION(Name, name)
#define UNISONO_ANGLE(Name, name, Long) \
    case Op::Long: return functions::long_value_of<Op::Long>(Real(x)).e;
#include "ops/functions/functions.def"
            // clang-format on
            default: fail(ErrorKind::Internal, "expand_math: not a trigonometric function");
        }
    }

    /// The value, or for angles that are too large for it the long form's.
    E with_long_form(Op op, E x, E value) {
        if (keep_long_) return b_.binary(op, x, value);
        E is_large = b_.binary(Op::Gt, b_.unary(Op::Abs, x), Real(functions::largest_angle).e);
        return chosen(is_large, value, [&] { return long_definition(op, x); });
    }

    /// A power with an exponent that is not known: by a logarithm, or behind a test by products.
    E power(DType t, Real x, Real y) {
        E value = shared(by_logarithm(t, x, y).e);
        E test = functions::is_product_of(y).e;
        if (!keep_long_) return chosen(test, value, [&] { return products(t, x, y); });
        return b_.select(test, products(t, x, y), value);
    }
    /// Whether it is an integer's value.
    static bool is_whole(E y) { return y->kind == ExprKind::Cast && is_integer(y->args[0]->dtype); }
    /// A power with a whole exponent, which is small most of the time: by products, or behind a
    /// test by a logarithm. The engine's function has that test inside, where vectors branch, too.
    E whole_power(DType t, Real x, Real y) {
        E value = products(t, x, y);
        if (keep_long_) return value;
        E is_large = b_.unary(Op::Not, functions::is_product_of(y).e);
        return chosen(is_large, value, [&] { return by_logarithm(t, x, y).e; });
    }
    /// By products, of exponents that are; on the host by the engine's function, of any whole
    /// exponents.
    E products(DType t, Real x, Real y) {
        if (!keep_long_) return shared(by_products(t, x, y).e);
        const DType kept = t == DType::Float64 ? t : DType::Float32;
        return wide(b_.binary(Op::Power, b_.cast(x.e, kept), b_.cast(y.e, kept)));
    }
    static Real by_logarithm(DType t, Real x, Real y) {
        return t == DType::Float64 ? functions::power_by_logarithm<false>(x, y)
                                   : functions::power_by_logarithm<true>(x, y);
    }
    static Real by_products(DType t, Real x, Real y) {
        return t == DType::Float64 ? functions::power_by_products<false>(x, y)
                                   : functions::power_by_products<true>(x, y);
    }

    /// The value, or where the test holds what `otherwise` makes, in a branch of its own.
    template <class Make>
    E chosen(E test, E value, Make otherwise) {
        std::int32_t v = b_.var("t", DType::Float64);
        before_.push_back(b_.declare(v, value));
        std::vector<S> outer = std::exchange(before_, {});
        E found = shared(otherwise());
        before_.push_back(b_.assign(v, found));
        std::vector<S> inner = std::exchange(before_, std::move(outer));
        before_.push_back(b_.branch(test, b_.block(std::span<const S>(inner))));
        return b_.read(v);
    }

    bool keep_long_;
};

}  // namespace

void expand_math(Module& module, bool keep_long) {
    for (Function& f : module.functions) ExpandMath(f, keep_long).run();
}

}  // namespace unisono::passes
