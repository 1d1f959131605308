// Functions of numbers: Python's math, NumPy's elementwise functions, min, max, abs, int.
#include <algorithm>

#include "frontend/operators.h"
#include "frontend/tables.h"
#include "passes/lowering/split_complex.h"

namespace unisono::frontend {

/// Names by which C, Python and the array API know rows of the table of operations.
static std::string numpy_spelling(const std::string& name) {
    static const std::map<std::string, std::string> others = {
        {"abs", "absolute"},
        {"pow", "power"},
        {"asin", "arcsin"},
        {"acos", "arccos"},
        {"atan", "arctan"},
        {"atan2", "arctan2"},
        {"asinh", "arcsinh"},
        {"acosh", "arccosh"},
        {"atanh", "arctanh"},
        {"true_divide", "divide"},
        {"mod", "remainder"},
        {"bitwise_not", "invert"},
        {"bitwise_invert", "invert"},
        {"bitwise_left_shift", "left_shift"},
        {"bitwise_right_shift", "right_shift"}};
    auto it = others.find(name);
    return it == others.end() ? name : it->second;
}

/// logical_and and its kind: of truth values.
static std::optional<Op> logical_op(const std::string& name) {
    if (name == "logical_not") return Op::Not;
    if (name == "logical_and") return Op::And;
    if (name == "logical_or") return Op::Or;
    return name == "logical_xor" ? std::optional(Op::Xor) : std::nullopt;
}

/// Whether a name is that of an elementwise function, which may be told where its result goes.
bool is_table_function(const std::string& name) {
    if (!name.starts_with("np.") && !name.starts_with("un.")) return false;
    const std::string base = after_dot(name);
    return base == "fabs" || logical_op(base) || op_from_numpy_name(numpy_spelling(base));
}

/// math.NAME, np.NAME, un.NAME: any elementwise row of the table of operations.
Value Operators::call_table(const Node& node, const std::string& name,
                            const std::vector<Value>& args) {
    const Place& place = node.place;
    std::string base = after_dot(name);
    bool is_math = name.rfind("math.", 0) == 0;
    if (name == "math.log" && args.size() == 2)
        return binary("/", call_table(node, name, {args[0]}), call_table(node, name, {args[1]}),
                      place);
    if (name == "un.fma" && args.size() == 3) {
        for (const Value& a : args) want_scalar(a, place, "an argument of fma");
        const Value like = binary("+", binary("*", args[0], args[1], place), args[2], place);
        const DType t = is_float(like.type.dtype) ? like.type.dtype : DType::Float64;
        const E a = to_type(args[0], t, place), b = to_type(args[1], t, place);
        return scalar(b_->fma(a, b, to_type(args[2], t, place)), Weak::None);
    }
    if (is_math && (base == "floor" || base == "ceil" || base == "trunc")) base = "math." + base;
    auto op = op_from_numpy_name(numpy_spelling(base));
    bool is_logical = !is_math && base.rfind("logical_", 0) == 0;
    if (is_logical) op = logical_op(base);
    if (base == "fabs" && !op) op = Op::Abs;
    // C's remainder rounds to nearest; NumPy's is Python's %.
    bool is_other = is_math && base == "remainder";
    std::size_t arity = op ? info(*op).arity : 1;
    if (!op || is_other) {
        if (base.rfind("math.", 0) != 0) {
            refuse(place,
                   Tables::shown_name(node, name) + " is not supported in a compiled function",
                   "compute it outside");
        }
    }
    bool has_out = args.size() == arity + 1 && args.back().array >= 0 && !is_math && op;
    if (has_out) {
        std::vector<Value> operands(args.begin(), args.end() - 1);
        const Value result = call_table(node, name, operands);
        refuse_cast(name, result.type.dtype, args.back().type.dtype, place);
        assign_elements(args.back(), result, place);
        return args.back();
    }
    if (args.size() != arity) {
        refuse(place,
               name + " takes " + std::to_string(arity) + " argument" + (arity == 1 ? "" : "s") +
                   " in a compiled function; got " + std::to_string(args.size()),
               "give " + std::to_string(arity));
    }
    bool has_array =
        std::any_of(args.begin(), args.end(), [](const Value& v) { return v.type.is_array(); });
    if (has_array && op && !is_math) {
        if (arity == 2) {
            if (auto both = beside_array(args[0], args[1], place))
                return call_table(node, name, {both->first, both->second});
        }
        for (const Value& v : args) {
            if (!v.type.is_array()) want_number(v, place, "an argument of " + after_dot(name));
        }
        return elementwise(
            args,
            [this, op = *op, base, place](std::span<const Value> v) {
                return numpy_function(op, base, {v.begin(), v.end()}, place);
            },
            place);
    }
    for (const Value& a : args) {
        if (is_math || base.rfind("math.", 0) == 0) {
            want_scalar(a, place, "an argument of " + after_dot(name));
        } else {
            want_number(a, place, "an argument of " + after_dot(name));
        }
    }
    if (base == "math.floor") return to_python_int(args[0], place, Op::Floor);
    if (base == "math.ceil") return to_python_int(args[0], place, Op::Ceil);
    if (base == "math.trunc") return to_python_int(args[0], place, Op::Trunc);
    return is_math ? python_math(*op, base, args, place) : numpy_function(*op, base, args, place);
}

Value Numbers::absolute(const Value& a, const Place& place) {
    if (a.type.is_complex()) return complex_absolute(a, place);
    Weak weak = a.type.weak == Weak::Bool ? Weak::Int : a.type.weak;
    return scalar(op_unary(Op::Abs, weak == Weak::Int ? cast(a.expr, DType::Int64) : a.expr), weak);
}

/// NumPy's functions give NumPy scalars.
Value Operators::numpy_function(Op op, const std::string& name, const std::vector<Value>& args,
                                const Place& place) {
    if (name.rfind("logical_", 0) == 0) {
        E x = cast(args[0].expr, DType::Bool);
        return scalar(args.size() == 1 ? op_unary(op, x)
                                       : op_binary(op, x, cast(args[1].expr, DType::Bool)));
    }
    static const std::map<Op, std::string> signs = {{Op::Lt, "<"},  {Op::Le, "<="}, {Op::Gt, ">"},
                                                    {Op::Ge, ">="}, {Op::Eq, "=="}, {Op::Ne, "!="}};
    if (auto sign = signs.find(op);  // integers by value: no type holds all of int64 and uint64
        sign != signs.end() && is_integer(args[0].type.dtype) && is_integer(args[1].type.dtype)) {
        Value holds = compare_two(sign->second, args[0], args[1], place);
        holds.type.weak = Weak::None;
        return holds;
    }
    Type t = args.size() == 1 ? args[0].type : promote_types(args[0].type, args[1].type);
    bool rounds = op == Op::Floor || op == Op::Ceil || op == Op::Trunc;
    if (rounds && !is_float(t.dtype)) return scalar(args[0].expr, Weak::None);
    if (is_complex(t.dtype) && (op == Op::Power || !passes::splits(op) || name == "fabs")) {
        if (op == Op::Power) return complex_power(args[0], args[1], t, place);
        refuse(place, "np." + name + " of complex numbers is not supported in a compiled function",
               "compute it outside");
    }
    auto compute = name == "fabs" && !is_float(t.dtype) ? std::optional(DType::Float64)
                                                        : compute_dtype(op, t.dtype);
    if (!compute) {
        refuse(place, "np." + name + " is not defined for " + describe(t),
               "convert the operands to another dtype");
    }
    E x = to_type(args[0], *compute, place);
    if (args.size() == 1) return scalar(op_unary(op, x), Weak::None);
    return apply(op, x, to_type(args[1], *compute, place), Weak::None);
}

/// Of an integer and one that its type may not hold: by value, as CPython compares them.
std::optional<Value> Operators::better_whole(bool is_min, const Value& a, const Value& b,
                                             const Place& place) {
    if (!is_integer(a.type.dtype) || !is_integer(b.type.dtype)) return std::nullopt;
    const bool has_first_sign = is_signed(a.type.dtype);
    const Value &number = has_first_sign ? a : b, &other = has_first_sign ? b : a;
    const Op op = is_min ? Op::Min : Op::Max;
    const auto known = constant_int(number.expr);
    if (is_signed(number.type.dtype) && other.type.dtype == DType::UInt64) {
        if (known && *known >= 0) return std::nullopt;
        E n = settle(cast(number.expr, DType::Int64)), u = settle(other.expr);
        E is_negative = op_binary(Op::Lt, n, i64(0));
        E best = op_binary(op, cast(n, DType::UInt64), u);
        if (!is_min) return scalar(b_->select(is_negative, u, best));
        return scalar(b_->select(is_negative, n, cast(best, DType::Int64)), number.type.weak);
    }
    if (a.type.is_weak() == b.type.is_weak()) return std::nullopt;
    const Value &plain = a.type.is_weak() ? a : b, &narrow = a.type.is_weak() ? b : a;
    const DType t = narrow.type.dtype;
    if (is_bool(plain.type.dtype) || size_of(t) == 8) return std::nullopt;
    E lowest = cast(b_->identity(Op::Max, t), DType::Int64);
    E highest = cast(b_->identity(Op::Min, t), DType::Int64);
    if (const auto value = constant_int(plain.expr)) {
        const bool is_low = *value < *constant_int(lowest);
        if (!is_low && *value <= *constant_int(highest)) return std::nullopt;
        return is_low == is_min ? plain : narrow;
    }
    E n = settle(cast(plain.expr, DType::Int64)), x = settle(narrow.expr);
    fault_if(is_min ? op_binary(Op::Lt, n, lowest) : op_binary(Op::Gt, n, highest),
             ErrorKind::Overflow, "Python integer {0} out of bounds for " + std::string(name(t)),
             place, {n});
    E clamped = op_binary(op, n, is_min ? highest : lowest);
    return scalar(op_binary(op, cast(clamped, t), x));
}

/// Python keeps the first unless the next is strictly better, which decides NaN and signed zero.
Value Operators::better(bool is_min, const Value& a, const Value& b, const Place& place) {
    want_scalar(a, place, "what min and max compare");
    want_scalar(b, place, "what min and max compare");
    if (auto v = better_whole(is_min, a, b, place)) return *v;
    Type t = promote_types(a.type, b.type);
    E x = cast(a.expr, t.dtype), y = cast(b.expr, t.dtype);
    if (!is_float(t.dtype)) return apply(is_min ? Op::Min : Op::Max, x, y, t.weak);
    x = settle(x);
    y = settle(y);
    return scalar(b_->select(op_binary(is_min ? Op::Lt : Op::Gt, y, x), y, x), t.weak);
}

Value Numbers::to_python_int(const Value& a, const Place& place, std::optional<Op> rounding) {
    if (!is_float(a.type.dtype)) return scalar(cast(a.expr, DType::Int64), Weak::Int);
    E x = settle(cast(a.expr, DType::Float64));
    if (rounding) x = settle(op_unary(*rounding, x));
    // Outside of the range the conversion gives the lowest integer, which only one number has.
    E whole = settle(cast(x, DType::Int64));
    std::vector<S> raised = collect([&] {
        fault_if(op_binary(Op::Ne, x, x), ErrorKind::Value, "cannot convert float NaN to integer",
                 place);
        E lowest = b_->constant(Scalar::of(DType::Float64, -0x1p63));
        fault_if(op_binary(Op::Ne, x, lowest), ErrorKind::Overflow,
                 "float is too large for a 64-bit integer", place);
    });
    E lowest = b_->constant(Scalar::of(DType::Int64, std::numeric_limits<std::int64_t>::min()));
    emit(b_->branch(op_binary(Op::Eq, whole, lowest), b_->block(std::move(raised))));
    return scalar(whole, Weak::Int);
}

/// math's functions raise where NumPy's give inf and NaN: NaN made of none is outside of the
/// domain, and so is an infinity made of finite numbers, but where the function grows without
/// bound.
Value Numbers::python_math(Op op, const std::string& name, const std::vector<Value>& args,
                           const Place& place) {
    static const std::set<std::string> growing = {"exp",   "exp2",  "expm1", "sinh", "cosh",
                                                  "hypot", "ldexp", "gamma", "pow"};
    std::vector<E> x;
    for (const Value& a : args) x.push_back(settle(cast(a.expr, DType::Float64)));
    if (!result_dtype(op, DType::Float64)) {
        refuse(place, "math." + name + " is for integers, which compiled functions cannot do yet",
               "compute it outside");
    }
    E result = x.size() == 1 ? op_unary(op, x[0]) : op_binary(op, x[0], x[1]);
    if (is_bool(result->dtype)) return scalar(result, Weak::Bool);
    if (op == Op::Abs || name == "copysign") return scalar(result, Weak::Float);
    result = settle(result);
    E infinity = b_->constant(Scalar::of(DType::Float64, __builtin_inf()));
    auto all = [&](const std::function<E(E)>& test) {
        E both = test(x[0]);
        return x.size() == 1 ? both : op_binary(Op::And, both, test(x[1]));
    };
    E numbers = all([&](E e) { return op_binary(Op::Eq, e, e); });
    E is_nan = op_binary(Op::Ne, result, result);
    fault_if(op_binary(Op::And, is_nan, numbers), ErrorKind::Value, "math domain error", place);
    if (op == Op::Sqrt || op == Op::Sin) return scalar(result, Weak::Float);
    E finite = all([&](E e) { return op_binary(Op::Lt, op_unary(Op::Abs, e), infinity); });
    E overflows =
        op_binary(Op::And, finite, op_binary(Op::Eq, op_unary(Op::Abs, result), infinity));
    if (name == "pow") {
        E is_pole = op_binary(Op::Eq, x[0], b_->zero(DType::Float64));
        fault_if(op_binary(Op::And, overflows, is_pole), ErrorKind::Value, "math domain error",
                 place);
    }
    bool grows = growing.count(name) > 0;
    fault_if(overflows, grows ? ErrorKind::Overflow : ErrorKind::Value,
             grows ? "math range error" : "math domain error", place);
    return scalar(result, Weak::Float);
}

}  // namespace unisono::frontend
