// Lowers operators with Python's results for Python scalars and NumPy's for NumPy scalars.
#include "frontend/operators.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// Python's arithmetic makes integers of bools.
static Weak arithmetic_kind(Weak w) { return w == Weak::Bool ? Weak::Int : w; }

/// One array at least, and nothing but arrays and numbers.
static bool are_numbers_and_arrays(const Value& a, const Value& b) {
    auto fits = [](const Value& v) { return v.type.is_array() || v.type.is_scalar(); };
    return (a.type.is_array() || b.type.is_array()) && fits(a) && fits(b);
}

/// The operands where one is an array and the other a tuple or list of numbers, as NumPy takes
/// them: both arrays.
std::optional<std::pair<Value, Value>> Operators::beside_array(const Value& a, const Value& b,
                                                               const Place& place) {
    if (a.type.is_array() == b.type.is_array()) return std::nullopt;
    const Value& other = a.type.is_array() ? b : a;
    if (!other.type.is_list() && !other.type.is_tuple() && !Tables::has_numbers(other.type))
        return std::nullopt;
    Value made = other.type.is_list() ? as_array(other) : as_array(other, place);
    if (!made.type.is_array()) return std::nullopt;
    made.type.weak = Weak::None;
    return a.type.is_array() ? std::pair(a, made) : std::pair(made, b);
}

Value Operators::binary(const std::string& op, const Value& a, const Value& b, const Place& place) {
    const bool is_repeated = op == "*" && (are_bytes(a.type) != are_bytes(b.type));
    if ((op == "+" && are_bytes(a.type) && are_bytes(b.type)) || is_repeated) {
        auto listed = [&](const Value& v) {
            return is_byte_array(v.type) ? bytes_value(v, "bytes", place) : v;
        };
        const Value x = listed(a), y = listed(b);
        if (op == "+") return joined_lists(x, y, place);
        if (x.type.is_scalar() || y.type.is_scalar())
            return x.type.is_list() ? repeated_list(x, y, place) : repeated_list(y, x, place);
    }
    if (auto both = beside_array(a, b, place)) return binary(op, both->first, both->second, place);
    if (a.type.is_table() || b.type.is_table()) return Tables(*this, place).binary(op, a, b);
    if (a.type.is_list() || b.type.is_list()) {
        if (op == "*" && !(a.type.is_list() && b.type.is_list()))
            return a.type.is_list() ? repeated_list(a, b, place) : repeated_list(b, a, place);
        if (op != "+")
            refuse(place, "'" + op + "' of lists is not supported", "use arrays for arithmetic");
        return joined_lists(a, b, place);
    }
    if (a.type.is_text() || b.type.is_text()) return Texts(*this, place).binary(op, a, b);
    bool has_array = a.type.is_array() || b.type.is_array();
    if (!has_array && (a.type.is_complex() || b.type.is_complex()))
        return complex_binary(op, a, b, place);
    if (auto v = operator_method(op, a, b, place)) return *v;
    if (a.type.is_tuple() || b.type.is_tuple()) return tuple_binary(op, a, b, place);
    if (op == "@" && (a.type.is_array() || b.type.is_array())) return product(a, b, place);
    if (op != "@" && are_numbers_and_arrays(a, b)) {
        return elementwise(
            {a, b}, [this, op, place](auto v) { return binary(op, v[0], v[1], place); }, place);
    }
    want_scalar(a, place, "the left operand of '" + op + "'");
    want_scalar(b, place, "the right operand of '" + op + "'");
    if (op == "/" || op == "//" || op == "%") return divide(op, a, b, place);
    if (op == "**") return power(a, b, place);
    if (op != "+" && op != "-" && op != "*") return bitwise(op, a, b, place);
    Type t = promote_types(a.type, b.type);
    Op ir_op = op == "+" ? Op::Add : op == "-" ? Op::Sub : Op::Mul;
    if (t.is_weak()) t = Type::python(arithmetic_kind(t.weak));
    if (is_bool(t.dtype)) {
        if (ir_op == Op::Sub) {
            refuse(place, "NumPy bools have no '-'",
                   "use ^ or 'and not', or convert with int(...)");
        }
        ir_op = ir_op == Op::Add ? Op::Or : Op::And;
    }
    return apply(ir_op, to_type(a, t.dtype, place), to_type(b, t.dtype, place), t.weak);
}

Value Operators::tuple_binary(const std::string& op, const Value& a, const Value& b,
                              const Place& place) {
    const Value& times = a.type.is_tuple() ? b : a;
    if (op == "*" && times.type.is_weak() && is_integer(times.type.dtype)) {
        auto count = constant_int(times.expr);
        if (!count)
            refuse(place, "a tuple is repeated a constant number of times in a compiled function",
                   "write the number, or use a list");
        const Value& tuple = a.type.is_tuple() ? a : b;
        std::vector<Value> items;
        for (std::int64_t k = 0; k < *count; ++k)
            items.insert(items.end(), tuple.items.begin(), tuple.items.end());
        return tuple_of(std::move(items));
    }
    if (op != "+" || !a.type.is_tuple() || !b.type.is_tuple()) {
        refuse(place,
               "'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "tuples can be joined with +, indexed with constants and unpacked");
    }
    Value v = a;
    v.type.record = nullptr;
    v.items.insert(v.items.end(), b.items.begin(), b.items.end());
    v.type.items.insert(v.type.items.end(), b.type.items.begin(), b.type.items.end());
    return v;
}

Value Numbers::divide(const std::string& op, const Value& a, const Value& b, const Place& place) {
    Type t = promote_types(a.type, b.type);
    bool is_true = op == "/";
    Op ir_op = is_true ? Op::Div : op == "//" ? Op::FloorDiv : Op::Mod;
    if (!t.is_weak()) {
        auto compute = compute_dtype(ir_op, t.dtype);
        if (!compute) {
            refuse(place, "'" + op + "' of NumPy bools is not supported",
                   "convert one of them with int(...)");
        }
        return apply(ir_op, to_type(a, *compute, place), to_type(b, *compute, place), Weak::None);
    }
    bool are_ints = t.weak != Weak::Float;
    const char* message = is_true      ? (are_ints ? "division by zero" : "float division by zero")
                          : are_ints   ? "integer division or modulo by zero"
                          : op == "//" ? "float floor division by zero"
                                       : "float modulo";
    DType compute = is_true || !are_ints ? DType::Float64 : DType::Int64;
    E x = cast(a.expr, compute), y = cast(b.expr, compute);
    bool may_be_zero = !is_constant(y) || !constant_of(y).as<bool>();
    if (may_be_zero && !source_.options.numpy_errors) {
        if (has_load(x)) x = temporary(x);
        y = settle(y);
        fault_if(op_binary(Op::Eq, y, b_->zero(compute)), ErrorKind::ZeroDivision, message, place);
        if (is_constant(y))
            return scalar(b_->constant(Scalar::of(compute, 0)),
                          is_true ? Weak::Float : arithmetic_kind(t.weak));
    }
    return apply(ir_op, x, y, is_true ? Weak::Float : arithmetic_kind(t.weak));
}

Value Numbers::power(const Value& a, const Value& b, const Place& place) {
    Type t = promote_types(a.type, b.type);
    Weak weak = t.is_weak() ? arithmetic_kind(t.weak) : Weak::None;
    bool is_constant_exponent = is_constant(b.expr);
    double exponent = is_constant_exponent ? constant_of(b.expr).as<double>() : 0;
    if (!is_float(t.dtype) && is_constant_exponent && exponent < 0) {
        if (weak == Weak::None) {
            refuse(place, "NumPy refuses integers to negative integer powers",
                   "convert the base with float(...)");
        }
        weak = Weak::Float;
    }
    DType compute = is_float(t.dtype) || weak == Weak::Float
                        ? (weak == Weak::None ? t.dtype : DType::Float64)
                    : weak == Weak::None ? t.dtype
                                         : DType::Int64;
    if (is_bool(compute))
        refuse(place, "'**' of NumPy bools is not supported", "convert with int(...)");
    E x = settle(cast(a.expr, compute));
    E one = b_->constant(Scalar::of(compute, 1));
    if (!is_constant_exponent) {
        const bool is_sign =
            compute == DType::Float64 && is_constant(x) && constant_of(x).as<double>() == -1;
        if (is_sign && is_integer(b.type.dtype) && b.type.dtype != DType::UInt64) {
            // Floats from 2**53 on are even.
            E n = settle(cast(b.expr, DType::Int64));
            E limit = i64(std::int64_t{1} << 53);
            E is_exact = op_binary(Op::And, op_binary(Op::Le, n, limit),
                                   op_binary(Op::Ge, n, op_unary(Op::Neg, limit)));
            return scalar(power_of_sign(x, b_->select(is_exact, n, i64(0))), weak);
        }
        E y = cast(settle(b.expr), compute);
        return is_float(compute) ? power_of_floats(x, y, weak, place)
                                 : power_of_integers(x, y, weak, place);
    }
    if (exponent == 0) return scalar(one, weak);
    if (exponent == 1) return scalar(x, weak);
    if (exponent == 2) {
        E square = op_binary(Op::Mul, x, x);
        if (!is_float(compute) || weak == Weak::None) return scalar(square, weak);
        square = settle(square);
        E infinity = b_->constant(Scalar::of(compute, __builtin_inf()));
        E overflows = op_binary(Op::And, op_binary(Op::Eq, square, infinity),
                                op_binary(Op::Lt, op_unary(Op::Abs, x), infinity));
        fault_if(overflows, ErrorKind::Overflow, "(34, 'Numerical result out of range')", place);
        return scalar(square, weak);
    }
    if (is_float(compute) && exponent == -1) {
        if (weak != Weak::None) {
            fault_if(op_binary(Op::Eq, x, b_->zero(compute)), ErrorKind::ZeroDivision,
                     "0.0 cannot be raised to a negative power", place);
        }
        return apply(Op::Div, one, x, weak);
    }
    if (is_float(compute) && exponent == 0.5) {
        if (weak != Weak::None) {
            fault_if(op_binary(Op::Lt, x, b_->zero(compute)), ErrorKind::Value,
                     "a negative number to a fractional power is complex", place);
        }
        // pow(-0.0, 0.5) is 0.0 where sqrt(-0.0) is -0.0.
        return apply(Op::Add, op_unary(Op::Sqrt, x), b_->zero(compute), weak);
    }
    if (is_float(compute)) return power_of_floats(x, cast(b.expr, compute), weak, place);
    if (exponent > 64) return power_of_integers(x, cast(b.expr, compute), weak, place);
    E result = nullptr;
    for (int n = static_cast<int>(exponent); n > 0; n >>= 1) {
        if (n & 1) result = result ? settle(op_binary(Op::Mul, result, x)) : x;
        if (n > 1) x = settle(op_binary(Op::Mul, x, x));
    }
    return scalar(result, weak);
}

/// (-1) ** n, in which only the last bit of n counts; also 1 ** n.
E Numbers::power_of_sign(E sign, E n) {
    E last = op_binary(Op::And, n, b_->constant(Scalar::of(n->dtype, 1)));
    E is_odd = op_binary(Op::Ne, last, b_->zero(n->dtype));
    return b_->select(is_odd, sign, b_->constant(Scalar::of(sign->dtype, 1)));
}

/// Squares and multiplies; wraps as every product does.
Value Numbers::power_of_integers(E x, E n, Weak weak, const Place& place) {
    fault_if(op_binary(Op::Lt, n, b_->zero(n->dtype)), ErrorKind::Value,
             "Integers to negative integer powers are not allowed.", place);
    DType t = x->dtype;
    const auto known = constant_int(x);
    if (known == 2) return scalar(op_binary(Op::Shl, b_->constant(Scalar::of(t, 1)), n), weak);
    if (known == 1 || known == -1) return scalar(power_of_sign(x, n), weak);
    std::int32_t result = b_->var("power", t), base = b_->var("base", t),
                 left = b_->var("exponent", t);
    E one = b_->constant(Scalar::of(t, 1));
    emit(b_->declare(result, one));
    emit(b_->declare(base, x));
    emit(b_->declare(left, n));
    S multiply = b_->assign(result, b_->mul(b_->read(result), b_->read(base)));
    E is_odd = b_->binary(Op::Ne, b_->binary(Op::And, b_->read(left), one), b_->zero(t));
    emit(b_->loop_while(b_->binary(Op::Gt, b_->read(left), b_->zero(t)),
                        b_->block({b_->branch(is_odd, b_->block({multiply})),
                                   b_->assign(base, b_->mul(b_->read(base), b_->read(base))),
                                   b_->assign(left, b_->binary(Op::Shr, b_->read(left), one))})));
    return scalar(b_->read(result), weak);
}

/// Python's floats raise where NumPy's give inf and NaN.
Value Numbers::power_of_floats(E x, E y, Weak weak, const Place& place) {
    auto op = op_from_numpy_name("power");
    if (!op || !result_dtype(*op, x->dtype)) {
        refuse(place, "'**' of floats with this exponent is not supported yet",
               "exponents of floats may be 0, 1, 2, -1 and 0.5; write x * x * x for a cube");
    }
    const auto root = is_constant(y) ? op_of_half_power(constant_of(y).as<double>()) : std::nullopt;
    if (weak == Weak::None) return root ? scalar(op_unary(*root, x)) : apply(*op, x, y, weak);
    x = settle(x);
    const E exponent = y->kind == ir::ExprKind::Cast ? y : settle(y);  // a whole one stays known
    y = settle(y);
    E zero = b_->zero(x->dtype);
    E infinity = b_->constant(Scalar::of(x->dtype, __builtin_inf()));
    E is_negative_power = op_binary(Op::Lt, y, zero);
    fault_if(op_binary(Op::And, op_binary(Op::Eq, x, zero), is_negative_power),
             ErrorKind::ZeroDivision, "0.0 cannot be raised to a negative power", place);
    E result = settle(root ? op_unary(*root, x) : op_binary(*op, x, exponent));
    auto finite = [&](E e) { return op_binary(Op::Lt, op_unary(Op::Abs, e), infinity); };
    E both_finite = op_binary(Op::And, finite(x), finite(y));
    fault_if(op_binary(Op::And, both_finite, op_binary(Op::Ne, result, result)), ErrorKind::Value,
             "a negative number to a fractional power is complex", place);
    fault_if(
        op_binary(Op::And, both_finite, op_binary(Op::Eq, op_unary(Op::Abs, result), infinity)),
        ErrorKind::Overflow, "(34, 'Numerical result out of range')", place);
    return scalar(result, weak);
}

Value Numbers::bitwise(const std::string& op, const Value& a, const Value& b, const Place& place) {
    static const std::map<std::string, Op> ops = {
        {"&", Op::And}, {"|", Op::Or}, {"^", Op::Xor}, {"<<", Op::Shl}, {">>", Op::Shr}};
    auto it = ops.find(op);
    if (it == ops.end()) {
        refuse(place, "operator '" + op + "' is not supported in a compiled function",
               op == "@" ? "write the loops of the product, or multiply outside"
                         : "use + - * / // % ** & | ^ << >>");
    }
    if (is_float(a.type.dtype) || is_float(b.type.dtype)) {
        refuse(place,
               "'" + op + "' is for integers and bools; got " + describe(a.type) + " and " +
                   describe(b.type),
               "convert the operands with int(...)");
    }
    Type t = promote_types(a.type, b.type);
    bool is_shift = it->second == Op::Shl || it->second == Op::Shr;
    if (is_shift && t.is_weak()) t = Type::python(Weak::Int);
    if (is_shift && is_bool(t.dtype))
        refuse(place, "shifts of NumPy bools are not supported", "convert with int(...)");
    if (is_float(t.dtype)) {  // uint64 beside a signed one: bits are kept, as in Numba
        const bool is_signed = !is_shift || info(a.type.dtype).kind == 'i';
        const DType kept = is_signed ? DType::Int64 : DType::UInt64;
        return apply(it->second, cast(a.expr, kept), cast(b.expr, kept), Weak::None);
    }
    E x = to_type(a, t.dtype, place), y = to_type(b, t.dtype, place);
    if (is_shift && t.is_weak() && !(is_constant(y) && *constant_int(y) >= 0)) {
        if (has_load(x)) x = temporary(x);
        y = settle(y);
        fault_if(op_binary(Op::Lt, y, b_->zero(t.dtype)), ErrorKind::Value, "negative shift count",
                 place);
    }
    return apply(it->second, x, y, t.weak);
}

Value Operators::unary(const std::string& op, const Value& a, const Place& place) {
    static const std::map<std::string, std::string> methods = {
        {"-", "__neg__"}, {"+", "__pos__"}, {"~", "__invert__"}};
    if (auto it = methods.find(op); it != methods.end() && a.type.record) {
        if (auto v = special_method(nullptr, it->second, {a}, place)) return *v;
    }
    if (op == "not") return scalar(op_unary(Op::Not, truth(a, place)), Weak::Bool);
    if (a.type.is_array())
        return elementwise(
            {a}, [this, op, place](auto v) { return unary(op, v[0], place); }, place);
    if (a.type.is_complex()) return complex_unary(op, a, place);
    want_scalar(a, place, "the operand of '" + op + "'");
    Weak weak = arithmetic_kind(a.type.weak);
    E x = weak == Weak::Int ? cast(a.expr, DType::Int64) : a.expr;
    if (op == "~") {
        if (is_float(x->dtype))
            refuse(place, "'~' is for integers and bools; got " + describe(a.type),
                   "convert it with int(...)");
        return scalar(op_unary(Op::Invert, x), weak);
    }
    if (is_bool(x->dtype)) {
        refuse(place, "NumPy bools have no unary '" + op + "'",
               "use 'not', or convert with int(...)");
    }
    return scalar(op == "-" ? op_unary(Op::Neg, x) : x, weak);
}

}  // namespace unisono::frontend
