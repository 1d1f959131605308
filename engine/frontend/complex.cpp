// Complex numbers: CPython's arithmetic for Python's, NumPy's for NumPy's. Their nodes are complex;
// the pass split_complex makes pairs of real ones of them.
#include "frontend/lazy.h"
#include "frontend/objects.h"

namespace unisono::frontend {

/// The parts of a number that is computed once.
std::pair<E, E> Numbers::parts_of(E e) {
    if (e->kind != ir::ExprKind::Pair) e = settle(e);
    E re = b_->part(e, 0), im = b_->part(e, 1);
    if (e->kind != ir::ExprKind::Pair) return {re, im};
    re = settle(re);
    return {re, settle(im)};
}

E Numbers::part_of(const Value& v, int part) { return b_->part(v.expr, part); }

/// CPython's quotient: scaled by the larger part of the divisor.
Value Numbers::complex_quotient(E a, E b, const char* by_zero, const Place& place) {
    auto [ar, ai] = parts_of(a);
    auto [br, bi] = parts_of(b);
    E zero = b_->zero(br->dtype);
    if (!source_.options.numpy_errors) {
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
    return scalar(b_->pair(re, im), Weak::Complex);
}

/// base to the power of an int64 count from 0 on. CPython's products begin with 1, NumPy's with the
/// base.
E Numbers::whole_power(E base, E count, bool begins_with_one) {
    DType t = base->dtype;
    std::int32_t result = declared("power", b_->number(t, 1)), factor = declared("factor", base);
    std::int32_t left = declared("left", count);
    std::int32_t has = declared("has", b_->boolean(begins_with_one));
    std::vector<S> body = collect([&] {
        E is_odd = op_binary(Op::Ne, op_binary(Op::And, b_->read(left), i64(1)), i64(0));
        E more = b_->select(b_->read(has), b_->mul(b_->read(result), b_->read(factor)),
                            b_->read(factor));
        emit(b_->branch(is_odd,
                        b_->block({b_->assign(result, more), b_->assign(has, b_->boolean(true))})));
        emit(b_->assign(left, op_binary(Op::Shr, b_->read(left), i64(1))));
        emit(b_->assign(factor, b_->mul(b_->read(factor), b_->read(factor))));
    });
    emit(b_->loop_while(op_binary(Op::Gt, b_->read(left), i64(0)), b_->block(body)));
    return b_->read(result);
}

/// x to the power of any y, by size and angle.
E Numbers::polar_power(E x, E y, bool is_weak, const Place& place) {
    auto [xr, xi] = parts_of(x);
    auto [yr, yi] = parts_of(y);
    DType t = xr->dtype;
    E zero = b_->zero(t), one = b_->number(t, 1);
    auto math = [&](const char* name, E a) { return op_unary(*op_from_numpy_name(name), a); };
    auto is_zero = [&](E a) { return op_binary(Op::Eq, a, zero); };
    E from_zero = settle(op_binary(Op::And, is_zero(xr), is_zero(xi)));
    E to_zero = settle(op_binary(Op::And, is_zero(yr), is_zero(yi)));
    E grows = settle(op_binary(Op::And, op_binary(Op::Gt, yr, zero), is_zero(yi)));
    if (is_weak) {
        E pole = op_binary(Op::Or, grows, to_zero);
        fault_if(op_binary(Op::And, from_zero, op_unary(Op::Not, pole)), ErrorKind::ZeroDivision,
                 "0.0 to a negative or complex power", place);
    }
    E size = settle(op_unary(Op::Abs, x));
    E angle = settle(op_binary(Op::Atan2, xi, xr));
    E length = op_binary(Op::Power, size, yr);
    length = op_binary(Op::Div, length, math("exp", op_binary(Op::Mul, angle, yi)));
    E turned = op_binary(Op::Mul, yi, math("log", b_->select(from_zero, one, size)));
    E phase = settle(op_binary(Op::Add, op_binary(Op::Mul, angle, yr), turned));
    length = settle(length);
    E re = settle(op_binary(Op::Mul, length, math("cos", phase)));
    E im = settle(op_binary(Op::Mul, length, math("sin", phase)));
    E lost = b_->select(grows, zero, b_->number(t, __builtin_nan("")));
    E at_zero_re = b_->select(to_zero, one, lost), at_zero_im = b_->select(to_zero, zero, lost);
    E no_turn = op_binary(Op::Or, from_zero, to_zero);
    re = settle(b_->select(no_turn, at_zero_re, re));
    im = settle(b_->select(no_turn, at_zero_im, im));
    return b_->pair(re, im);
}

/// Whole exponents by products, as CPython and NumPy do.
Value Numbers::complex_power(const Value& a, const Value& b, const Type& type, const Place& place) {
    E x = settle(to_type(a, type.dtype, place)), y = to_type(b, type.dtype, place);
    bool is_weak = type.is_weak();
    const char* by_zero = "0.0 to a negative or complex power";
    auto inverted = [&](E e) {
        E one = b_->number(type.dtype, 1);
        return is_weak ? complex_quotient(one, e, by_zero, place).expr : op_binary(Op::Div, one, e);
    };
    auto known = [](E e) {
        return e->kind == ir::ExprKind::Const
                   ? std::optional(Scalar{e->bits, e->dtype}.as<double>())
                   : std::nullopt;
    };
    std::optional<double> exponent, turn;
    if (y->kind == ir::ExprKind::Pair) {
        exponent = known(y->args[0]);
        turn = known(y->args[1]);
    }
    bool is_whole = exponent && turn && *turn == 0 && *exponent >= -100 && *exponent <= 100 &&
                    *exponent == static_cast<int>(*exponent);
    if (is_whole) {
        int count = static_cast<int>(*exponent);
        E result = is_weak || count == 0 ? b_->number(type.dtype, 1) : nullptr;
        E factor = x;
        for (int left = count < 0 ? -count : count; left > 0; left >>= 1) {
            if (left & 1) result = result ? settle(op_binary(Op::Mul, result, factor)) : factor;
            if (left > 1) factor = settle(op_binary(Op::Mul, factor, factor));
        }
        return scalar(count < 0 ? inverted(result) : result, type.weak);
    }
    if (!is_weak && exponent && turn && *turn == 0 && *exponent == 0.5)
        return scalar(op_unary(Op::Sqrt, x), type.weak);
    const auto parts = parts_of(y);  // named below: lambdas do not take bindings
    E re = parts.first, im = parts.second;
    DType t = re->dtype;
    E size = settle(op_unary(Op::Abs, re));
    E most = b_->number(t, 100);
    E is_small = op_binary(is_weak ? Op::Le : Op::Lt, size, most);
    E whole =
        op_binary(Op::And, op_binary(Op::Eq, im, b_->zero(t)),
                  op_binary(Op::And, is_small, op_binary(Op::Eq, op_unary(Op::Trunc, re), re)));
    std::int32_t result = b_->var("result", type.dtype);
    emit(b_->declare(result, nullptr));
    std::vector<S> by_products = collect([&] {
        E power = whole_power(x, cast(size, DType::Int64), is_weak);
        std::vector<S> invert = collect([&] { emit(b_->assign(result, inverted(power))); });
        std::vector<S> plain = collect([&] { emit(b_->assign(result, power)); });
        emit(b_->branch(op_binary(Op::Lt, re, b_->zero(t)), b_->block(invert), b_->block(plain)));
    });
    std::vector<S> by_angle = collect(
        [&] { emit(b_->assign(result, polar_power(x, b_->pair(re, im), is_weak, place))); });
    at(place);
    emit(b_->branch(whole, b_->block(by_products), b_->block(by_angle)));
    return scalar(b_->read(result), type.weak);
}

Value Numbers::complex_binary(const std::string& op, const Value& a, const Value& b,
                              const Place& place) {
    want_number(a, place, "the left operand of '" + op + "'");
    want_number(b, place, "the right operand of '" + op + "'");
    Type type = promote_types(a.type, b.type);
    if (op == "**") return complex_power(a, b, type, place);
    E x = to_type(a, type.dtype, place), y = to_type(b, type.dtype, place);
    if (op == "/" && type.is_weak())
        return complex_quotient(x, y, "complex division by zero", place);
    if (op != "+" && op != "-" && op != "*" && op != "/") {
        refuse(place, "'" + op + "' is not defined for complex numbers", "use .real and .imag");
    }
    Op plain = op == "+" ? Op::Add : op == "-" ? Op::Sub : op == "*" ? Op::Mul : Op::Div;
    return apply(plain, x, y, type.weak);
}

Value Numbers::complex_compare(const std::string& op, const Value& a, const Value& b,
                               const Place& place) {
    static const std::map<std::string, Op> orders = {
        {"<", Op::Lt}, {"<=", Op::Le}, {">", Op::Gt}, {">=", Op::Ge}};
    want_number(a, place, "the left operand of '" + op + "'");
    want_number(b, place, "the right operand of '" + op + "'");
    Type type = promote_types(a.type, b.type);
    auto order = orders.find(op);
    if (order != orders.end() && type.is_weak()) {
        refuse(place, "'" + op + "' is not defined for complex numbers",
               "compare abs(z) or z.real");
    }
    E x = to_type(a, type.dtype, place), y = to_type(b, type.dtype, place);
    Op compared = order != orders.end() ? order->second : op == "==" ? Op::Eq : Op::Ne;
    return apply(compared, x, y, type.is_weak() ? Weak::Bool : Weak::None);
}

Value Numbers::complex_unary(const std::string& op, const Value& a, const Place& place) {
    if (op == "+") return a;
    if (op != "-")
        refuse(place, "'" + op + "' is not defined for complex numbers", "use .real and .imag");
    return scalar(op_unary(Op::Neg, a.expr), a.type.weak);
}

Value Numbers::complex_absolute(const Value& a, const Place& place) {
    if (!a.type.is_weak()) return scalar(op_unary(Op::Abs, a.expr), Weak::None);
    auto [re, im] = parts_of(a.expr);
    E size = settle(op_binary(*op_from_numpy_name("hypot"), re, im));
    E infinity = b_->number(DType::Float64, __builtin_inf());
    auto finite = [&](E e) { return op_binary(Op::Lt, op_unary(Op::Abs, e), infinity); };
    E overflows = op_binary(Op::And, op_binary(Op::Eq, size, infinity),
                            op_binary(Op::And, finite(re), finite(im)));
    fault_if(overflows, ErrorKind::Overflow, "absolute value too large", place);
    return scalar(size, Weak::Float);
}

/// complex(x), complex(x, y)
Value Numbers::complex_call(const std::vector<Value>& args, const Place& place) {
    DType t = DType::Complex128;
    if (args.empty() || args.size() > 2)
        refuse(place, "complex takes one or two numbers", "write complex(x, y)");
    for (const Value& v : args) want_number(v, place, "an argument of complex");
    if (args.size() == 1) return scalar(cast(args[0].expr, t), Weak::Complex);
    bool is_real = !args[0].type.is_complex(), is_real_too = !args[1].type.is_complex();
    E first = cast(args[0].expr, is_real ? DType::Float64 : t);
    E second = cast(args[1].expr, is_real_too ? DType::Float64 : t);
    if (is_real && is_real_too) return scalar(b_->pair(first, second), Weak::Complex);
    // x + y * 1j, as CPython adds it
    auto [xr, xi] = parts_of(is_real ? b_->cast(first, t) : first);
    auto [yr, yi] = parts_of(is_real_too ? b_->cast(second, t) : second);
    E re = is_real_too ? xr : op_binary(Op::Sub, xr, yi);
    E im = is_real ? yr : op_binary(Op::Add, xi, yr);
    return scalar(b_->pair(re, im), Weak::Complex);
}

/// conj, real, imag and angle, of numbers and of arrays.
std::optional<Value> Numbers::complex_function(const std::string& name, const Value& v,
                                               const Place& place) {
    bool is_conjugate = name == "conj" || name == "conjugate", is_angle = name == "angle";
    bool is_part = name == "real" || name == "imag";
    if (!is_conjugate && !is_part && !is_angle) return std::nullopt;
    if (v.type.is_array()) {
        if (is_part) return array_part(v, name == "imag" ? 1 : 0, place);
        if (!is_complex(v.type.dtype)) return is_angle ? std::nullopt : std::optional(v);
        return elementwise(
            {v}, [this, name, place](auto x) { return *complex_function(name, x[0], place); },
            place);
    }
    if (!v.type.is_scalar()) return std::nullopt;
    Weak weak = v.type.is_weak() ? Weak::Float : Weak::None;
    if (!v.type.is_complex()) {
        if (name == "imag") return scalar(b_->zero(v.expr->dtype), v.type.weak);
        return is_angle ? std::nullopt : std::optional(v);
    }
    auto [re, im] = parts_of(v.expr);
    if (is_part) return scalar(name == "real" ? re : im, weak);
    if (is_angle) return scalar(op_binary(Op::Atan2, im, re), weak);
    return scalar(b_->pair(re, op_unary(Op::Neg, im)), v.type.weak);
}

/// cmath's functions, with its errors: what is no number of numbers is outside of the domain, and
/// what is endless of finite ones too large.
Value Numbers::cmath_function(const std::string& name, const std::vector<Value>& args,
                              const Place& place) {
    static const std::map<std::string, Op> functions = {
        {"exp", Op::Exp},          {"log", Op::Log},   {"log10", Op::Log10}, {"sqrt", Op::Sqrt},
        {"sin", Op::Sin},          {"cos", Op::Cos},   {"tan", Op::Tan},     {"sinh", Op::Sinh},
        {"cosh", Op::Cosh},        {"tanh", Op::Tanh}, {"isnan", Op::IsNan}, {"isinf", Op::IsInf},
        {"isfinite", Op::IsFinite}};
    bool is_rect = name == "rect", has_base = name == "log" && args.size() == 2;
    std::size_t arity = is_rect || has_base ? 2 : 1;
    if (args.size() != arity)
        refuse(place, "cmath." + name + " takes " + std::to_string(arity) + " arguments",
               "give them");
    for (const Value& v : args) want_number(v, place, "an argument of cmath." + name);
    if (is_rect) {
        for (const Value& v : args) want_scalar(v, place, "an argument of cmath.rect");
        // What C99 and CPython say of sizes and angles that are not finite.
        E size = settle(cast(args[0].expr, DType::Float64)), zero = b_->zero(DType::Float64);
        E angle = settle(cast(args[1].expr, DType::Float64));
        auto both = [&](E a, E b) { return op_binary(Op::And, a, b); };
        auto mul = [&](E a, E b) { return op_binary(Op::Mul, a, b); };
        auto is_not = [&](Op test, E a) { return op_unary(Op::Not, op_unary(test, a)); };
        E has_size = both(op_binary(Op::Ne, size, zero), is_not(Op::IsNan, size));
        fault_if(both(has_size, op_unary(Op::IsInf, angle)), ErrorKind::Value, "math domain error",
                 place);
        E re = mul(size, op_unary(Op::Cos, angle)), im = mul(size, op_unary(Op::Sin, angle));
        E turned = b_->select(op_binary(Op::Lt, size, zero), op_unary(Op::Neg, angle), angle);
        E flat = b_->select(op_unary(Op::IsFinite, size), mul(size, angle), turned);
        E is_flat = settle(op_binary(Op::Eq, angle, zero));
        E is_nowhere = settle(both(op_binary(Op::Eq, size, zero), is_not(Op::IsFinite, angle)));
        E is_endless = both(op_unary(Op::IsInf, size), op_unary(Op::IsNan, angle));
        re = b_->select(is_endless, op_unary(Op::Abs, size), b_->select(is_flat, size, re));
        re = b_->select(is_nowhere, zero, re);
        im = b_->select(is_nowhere, zero, b_->select(is_flat, flat, im));
        return scalar(b_->pair(re, im), Weak::Complex);
    }
    E z = settle(cast(args[0].expr, DType::Complex128));
    Value number = scalar(z, Weak::Complex);
    if (name == "phase") return *complex_function("angle", number, place);
    if (name == "polar") {
        Value angle = *complex_function("angle", number, place);
        return tuple_of({complex_absolute(number, place), angle});
    }
    auto found = functions.find(name);
    if (found == functions.end())
        refuse(place, "cmath." + name + " is not supported in a compiled function",
               "compute it outside");
    Op op = found->second;
    if (info(op).rule == OpRule::Test) return scalar(op_unary(op, z), Weak::Bool);
    auto test = [&](Op t, E e) { return op_unary(t, e); };
    // CPython's logarithm to a base tests the base alone.
    if ((op == Op::Log || op == Op::Log10) && !has_base)
        fault_if(op_unary(Op::Not, b_->cast(z, DType::Bool)), ErrorKind::Value, "math domain error",
                 place);
    E result = settle(op_unary(op, z));
    if (op != Op::Sqrt) {
        E lost = op_binary(Op::And, test(Op::IsNan, result), op_unary(Op::Not, test(Op::IsNan, z)));
        fault_if(lost, ErrorKind::Value, "math domain error", place);
        E large = op_binary(Op::And, test(Op::IsInf, result), test(Op::IsFinite, z));
        if (!has_base) fault_if(large, ErrorKind::Overflow, "math range error", place);
    }
    Value made = scalar(result, Weak::Complex);
    return has_base ? binary("/", made, cmath_function("log", {args[1]}, place), place) : made;
}

/// Lets a descriptor see its memory, elements of so many bytes, as elements of another dtype, from
/// a byte of the first element on.
void Numbers::look_as(Descriptor& d, std::int64_t bytes, DType to, std::int64_t first,
                      const char* name) {
    const ir::Array root = function_->arrays[static_cast<std::size_t>(d.root)];
    E offset = op_binary(Op::Add, op_binary(Op::Mul, d.offset, i64(bytes)), i64(first));
    E address = temporary(op_binary(Op::Add, b_->address(d.root), offset), "address");
    std::int32_t slot = b_->slot(name, to, d.writable);
    if (root.is_slot) emit(b_->retain(d.root));
    emit(b_->adopt(slot, address, root.is_slot ? b_->block_of(d.root) : i64(0)));
    d.root = slot;
    d.offset = i64(0);
}

/// A view of the parts of a complex array: memory of real numbers, of which every other one is
/// seen.
Value Numbers::part_view(const Value& array, int part, const Place& place) {
    Descriptor d = describe_array(array.array);
    DType t = part_dtype(array.type.dtype);
    at(place);
    look_as(d, size_of(array.type.dtype), t, part * size_of(t), "part");
    for (std::size_t k = 0; k < d.strides.size(); ++k) {
        d.strides[k] = pinned(op_binary(Op::Mul, d.strides[k], i64(2)));
        if (d.classes[k] != ir::StrideClass::Zero) d.classes[k] = ir::StrideClass::Other;
    }
    return view("part", d);
}

/// The real or imaginary parts: an expression, and a view where one is needed.
Value Numbers::array_part(const Value& array, int part, const Place& place) {
    if (!is_complex(array.type.dtype)) {
        if (part == 0) return array;
        DType t = array.type.dtype;
        return computed(extents_of(array), t, {},
                        [this, t](std::span<const E>, bool) { return scalar(b_->zero(t)); });
    }
    Value v = elementwise(
        {array}, [this, part](auto x) { return scalar(part_of(x[0], part)); }, place);
    if (array.lazy && !array.lazy->view) return v;
    Value whole = made(array, place);
    auto lazy = std::make_shared<Lazy>(*v.lazy);
    lazy->view = [this, whole, part, place] { return part_view(whole, part, place); };
    v.lazy = lazy;
    return v;
}

/// The squares of magnitudes, real.
Value Numbers::squared_size(const Value& v, const Place& place) {
    if (!is_complex(v.type.dtype)) return binary("*", v, v, place);
    return elementwise(
        {v},
        [this](auto x) {
            auto [re, im] = parts_of(x[0].expr);
            return scalar(
                op_binary(Op::Add, op_binary(Op::Mul, re, re), op_binary(Op::Mul, im, im)));
        },
        place);
}

}  // namespace unisono::frontend
