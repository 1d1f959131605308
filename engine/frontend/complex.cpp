// Complex numbers: pairs of floats, with CPython's arithmetic.
#include <algorithm>

#include "frontend/lowerer.h"

namespace unisono::frontend {

/// What one part of a number of this type is.
static Type part_type(const Type& t) { return t.is_complex() ? t.items[0] : t; }

/// The type of an operation on both, one of which is complex.
static Type common_type(const Type& a, const Type& b) {
    Type part = promote_types(part_type(a), part_type(b));
    if (part.is_weak()) return Type::complex(DType::Float64, Weak::Complex);
    bool is_single = part.dtype == DType::Float32;
    return Type::complex(is_single ? DType::Float32 : DType::Float64, Weak::None);
}

Value FunctionLowerer::complex_of(const Type& type, E re, E im) const {
    Value v;
    v.type = type;
    v.items = {scalar(re, type.items[0].weak), scalar(im, type.items[1].weak)};
    return v;
}

/// The number as one of that complex type.
Value FunctionLowerer::to_complex(const Value& v, const Type& type) {
    DType t = type.items[0].dtype;
    if (v.type.is_complex())
        return complex_of(type, cast(v.items[0].expr, t), cast(v.items[1].expr, t));
    return complex_of(type, cast(v.expr, t), b_->zero(t));
}

const Value& FunctionLowerer::want_number(const Value& v, const Place& place,
                                          const std::string& role) {
    return v.type.is_complex() ? v : want_scalar(v, place, role);
}

Value FunctionLowerer::complex_product(const Value& a, const Value& b) {
    E ar = settle(a.items[0].expr), ai = settle(a.items[1].expr);
    E br = settle(b.items[0].expr), bi = settle(b.items[1].expr);
    auto mul = [&](E x, E y) { return op_binary(Op::Mul, x, y); };
    return complex_of(a.type, op_binary(Op::Sub, mul(ar, br), mul(ai, bi)),
                      op_binary(Op::Add, mul(ar, bi), mul(ai, br)));
}

/// CPython's quotient: scaled by the larger part of the divisor.
Value FunctionLowerer::complex_quotient(const Value& a, const Value& b, const char* by_zero,
                                        const Place& place) {
    DType t = a.items[0].type.dtype;
    E ar = settle(a.items[0].expr), ai = settle(a.items[1].expr);
    E br = settle(b.items[0].expr), bi = settle(b.items[1].expr);
    E zero = b_->zero(t);
    if (a.type.is_weak() && !source_.options.numpy_errors) {
        E is_zero = op_binary(Op::And, op_binary(Op::Eq, br, zero), op_binary(Op::Eq, bi, zero));
        fault_if(is_zero, ErrorKind::ZeroDivision, by_zero, place);
    }
    auto mul = [&](E x, E y) { return op_binary(Op::Mul, x, y); };
    auto add = [&](E x, E y) { return op_binary(Op::Add, x, y); };
    auto sub = [&](E x, E y) { return op_binary(Op::Sub, x, y); };
    auto div = [&](E x, E y) { return op_binary(Op::Div, x, y); };
    E is_real = settle(op_binary(Op::Ge, op_unary(Op::Abs, br), op_unary(Op::Abs, bi)));
    E large = settle(b_->select(is_real, br, bi)), small = settle(b_->select(is_real, bi, br));
    E ratio = settle(div(small, large));
    E denominator = settle(b_->select(is_real, add(br, mul(bi, ratio)), add(mul(br, ratio), bi)));
    E re = div(b_->select(is_real, add(ar, mul(ai, ratio)), add(mul(ar, ratio), ai)), denominator);
    E im = div(b_->select(is_real, sub(ai, mul(ar, ratio)), sub(mul(ai, ratio), ar)), denominator);
    return complex_of(a.type, re, im);
}

/// Products only, as CPython does for small integers.
Value FunctionLowerer::complex_power(const Value& x, const Value& n, const Type& type,
                                     const Place& place) {
    bool is_known = n.type.is_scalar() && n.expr->kind == ir::ExprKind::Const;
    auto known =
        is_known ? std::optional(Scalar{n.expr->bits, n.expr->dtype}.as<double>()) : std::nullopt;
    if (!known || *known != static_cast<double>(static_cast<int>(*known)) || *known > 100 ||
        *known < -100) {
        refuse(place, "'**' of complex numbers takes a constant integer of at most 100",
               "use cmath.exp and cmath.log");
    }
    int count = static_cast<int>(*known);
    DType t = type.items[0].dtype;
    auto one = complex_of(type, b_->constant(Scalar::of(t, 1)), b_->zero(t));
    Value result = one, power = to_complex(x, type);
    for (int mask = 1, left = count < 0 ? -count : count; mask <= left; mask <<= 1) {
        if (left & mask) result = complex_product(result, power);
        if (mask * 2 <= left) power = complex_product(power, power);
    }
    return count < 0 ? complex_quotient(one, result, "0.0 to a negative or complex power", place)
                     : result;
}

Value FunctionLowerer::complex_binary(const std::string& op, const Value& a, const Value& b,
                                      const Place& place) {
    want_number(a, place, "the left operand of '" + op + "'");
    want_number(b, place, "the right operand of '" + op + "'");
    Type type = common_type(a.type, b.type);
    if (op == "**" && a.type.is_complex()) return complex_power(a, b, type, place);
    Value x = to_complex(a, type), y = to_complex(b, type);
    if (op == "*") return complex_product(x, y);
    if (op == "/") return complex_quotient(x, y, "complex division by zero", place);
    if (op != "+" && op != "-") {
        refuse(place, "'" + op + "' is not defined for complex numbers", "use .real and .imag");
    }
    Op plain = op == "+" ? Op::Add : Op::Sub;
    return complex_of(type, op_binary(plain, x.items[0].expr, y.items[0].expr),
                      op_binary(plain, x.items[1].expr, y.items[1].expr));
}

Value FunctionLowerer::complex_compare(const std::string& op, const Value& a, const Value& b,
                                       const Place& place) {
    if (op != "==" && op != "!=") {
        refuse(place, "'" + op + "' is not defined for complex numbers",
               "compare abs(z) or z.real");
    }
    want_number(a, place, "the left operand of '" + op + "'");
    want_number(b, place, "the right operand of '" + op + "'");
    Type type = common_type(a.type, b.type);
    Value x = to_complex(a, type), y = to_complex(b, type);
    E same = op_binary(Op::And, op_binary(Op::Eq, x.items[0].expr, y.items[0].expr),
                       op_binary(Op::Eq, x.items[1].expr, y.items[1].expr));
    return scalar(op == "==" ? same : op_unary(Op::Not, same),
                  type.is_weak() ? Weak::Bool : Weak::None);
}

Value FunctionLowerer::complex_unary(const std::string& op, const Value& a, const Place& place) {
    if (op == "+") return a;
    if (op != "-")
        refuse(place, "'" + op + "' is not defined for complex numbers", "use .real and .imag");
    return complex_of(a.type, op_unary(Op::Neg, a.items[0].expr),
                      op_unary(Op::Neg, a.items[1].expr));
}

Value FunctionLowerer::complex_absolute(const Value& a, const Place& place) {
    E re = settle(a.items[0].expr), im = settle(a.items[1].expr);
    E size = op_binary(*op_from_numpy_name("hypot"), re, im);
    if (!a.type.is_weak()) return scalar(size, Weak::None);
    size = settle(size);
    E infinity = b_->constant(Scalar::of(DType::Float64, __builtin_inf()));
    auto finite = [&](E e) { return op_binary(Op::Lt, op_unary(Op::Abs, e), infinity); };
    E overflows = op_binary(Op::And, op_binary(Op::Eq, size, infinity),
                            op_binary(Op::And, finite(re), finite(im)));
    fault_if(overflows, ErrorKind::Overflow, "absolute value too large", place);
    return scalar(size, Weak::Float);
}

/// complex(x), complex(x, y)
Value FunctionLowerer::complex_call(const std::vector<Value>& args, const Place& place) {
    Type type = Type::complex(DType::Float64, Weak::Complex);
    if (args.empty() || args.size() > 2)
        refuse(place, "complex takes one or two numbers", "write complex(x, y)");
    for (const Value& v : args) want_number(v, place, "an argument of complex");
    Value x = to_complex(args[0], type);
    if (args.size() == 1) return x;
    Value y = to_complex(args[1], type);
    if (!args[0].type.is_complex() && !args[1].type.is_complex())
        return complex_of(type, x.items[0].expr, y.items[0].expr);
    // x + y * 1j, as CPython adds it
    E re = args[1].type.is_complex() ? op_binary(Op::Sub, x.items[0].expr, y.items[1].expr)
                                     : x.items[0].expr;
    E im = args[0].type.is_complex() ? op_binary(Op::Add, x.items[1].expr, y.items[0].expr)
                                     : y.items[0].expr;
    return complex_of(type, re, im);
}

/// The value in the form of a type that holds it.
Value FunctionLowerer::converted_value(const Value& value, const Type& type) {
    if (type.is_complex()) return to_complex(value, type);
    if (type.is_instance() && value.type.kind == Type::Kind::None) {
        std::int32_t slot = b_->slot("none", DType::Int64, true);
        emit(b_->adopt(slot, i64(0), i64(0)));
        return object_in(slot, type);
    }
    Value v = value;
    v.type = type;
    if (type.is_scalar()) v.expr = cast(value.expr, type.dtype);
    for (std::size_t i = 0; i < v.items.size(); ++i)
        v.items[i] = converted_value(v.items[i], type.items[i]);
    return v;
}

}  // namespace unisono::frontend
