// Which elements show an error: a NaN that came from numbers, an infinity that came from finite
// ones, a result below the normal numbers that lost bits.
//
// The processor's own flags would not do: they see the unused lanes of vectors, both sides of
// selections and the intermediate steps of mathematical functions.
#include "tape/record/float_errors.h"

#include <cmath>

#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::float_errors {

namespace {

std::atomic<Handler> handler{nullptr};
thread_local int unchecked = 0;
thread_local const char* named = nullptr;

Array unary(Op op, const Arg& a) {
    Arg args[] = {a};
    return apply(op, args);
}
Array binary(Op op, const Arg& a, const Arg& b) {
    Arg args[] = {a, b};
    return apply(op, args);
}
Array both(const Array& a, const Array& b) { return binary(Op::And, a.arg(), b.arg()); }
Array either(const Array& a, const Array& b) { return binary(Op::Or, a.arg(), b.arg()); }
Array no(const Array& a) { return unary(Op::Not, a.arg()); }
Arg number(double v) { return {scalar_operand(Scalar::of(DType::Float64, v)), Weak::Float}; }
Array truth(bool v) { return Array::known(Scalar::of(DType::Bool, v)); }

bool is_inexact(DType t) { return is_float(t) || is_complex(t); }
DType dtype_of_arg(const Arg& a) { return a.view.dtype; }

Array is_finite(const Arg& a) {
    return is_inexact(dtype_of_arg(a)) ? unary(Op::IsFinite, a) : truth(true);
}
Array is_nan(const Arg& a) {
    return is_inexact(dtype_of_arg(a)) ? unary(Op::IsNan, a) : truth(false);
}
Array equals(const Arg& a, double v) { return binary(Op::Eq, a, number(v)); }
Array is_below_0(const Arg& a) { return binary(Op::Lt, a, number(0)); }

/// Where an infinite result is exact: the function has a pole there.
Array is_pole(Op op, std::span<const Arg> args) {
    switch (op) {
        case Op::Div:
        case Op::FloorDiv: return equals(args[1], 0);
        case Op::Power:
        case Op::InverseRoot:
        case Op::InverseThreeHalves:
        case Op::Log:
        case Op::Log2:
        case Op::Log10: return equals(args[0], 0);
        case Op::Log1p: return equals(args[0], -1);
        case Op::Atanh: return equals(unary(Op::Abs, args[0]).arg(), 1);
        default: return truth(false);
    }
}

/// Where a result below the normal numbers lost bits.
Array underflows(Op op, std::span<const Arg> args, const Array& made) {
    const DType t = made.dtype();
    if (!is_float(t)) return truth(false);
    const int least = is_half(t) ? -14 : t == DType::Float32 ? -126 : -1022;
    const Array size = unary(Op::Abs, made.arg());
    const Array is_tiny = binary(Op::Lt, size.arg(), number(std::ldexp(1.0, least)));
    switch (op) {
        case Op::Mul: {
            const Array one_is_zero = either(equals(args[0], 0), equals(args[1], 0));
            const Array back = binary(Op::Div, made.arg(), args[1]);
            return both(both(is_tiny, no(one_is_zero)), binary(Op::Ne, back.arg(), args[0]));
        }
        case Op::Div: {
            const Array back = binary(Op::Mul, made.arg(), args[1]);
            const Array differs = binary(Op::Ne, back.arg(), args[0]);
            return both(both(is_tiny, is_finite(args[1])), differs);
        }
        case Op::Exp:
        case Op::Exp2: return both(is_tiny, is_finite(args[0]));
        case Op::ThreeHalves:
        case Op::InverseThreeHalves:
            return both(both(is_tiny, no(equals(args[0], 0))), is_finite(args[0]));
        case Op::Power:
            return both(both(is_tiny, no(equals(args[0], 0))),
                        both(is_finite(args[0]), is_finite(args[1])));
        default: return truth(false);
    }
}

/// Elements of `flag` as that bit of a number, joined to the others.
void add(Array& code, const Array& flag, Flag bit) {
    auto u8 = [](unsigned v) { return Array::known(Scalar::of(DType::UInt8, v)); };
    // An array made of numbers alone would lie on the host, wherever the operands do.
    Array here = flag.is_known() ? u8(flag.scalar().as<bool>() ? unsigned{bit} : 0u)
                                 : where(flag.arg(), u8(bit).arg(), u8(0).arg());
    code = binary(Op::Or, code.arg(), here.arg());
}

void report(const Array& code, std::string_view name) {
    const Array all = reduce(Op::Or, code, std::nullopt, false, DType::UInt8);
    const auto flags = static_cast<unsigned>(item(all).as<std::uint64_t>());
    if (flags == 0) return;
    if (Handler h = handler.load()) h(flags, named ? named : name);
}

Array no_flags() { return Array::known(Scalar::of(DType::UInt8, 0)); }

}  // namespace

std::atomic<int> watchers{0};

void watch(int change) { watchers.fetch_add(change, std::memory_order_relaxed); }

void set_handler(Handler h) { handler.store(h); }

Unchecked::Unchecked() { ++unchecked; }
Unchecked::~Unchecked() { --unchecked; }
bool Unchecked::here() { return unchecked > 0; }

Named::Named(const char* name) : is_outermost_(!named) {
    if (is_outermost_) named = name;
}
Named::~Named() {
    if (is_outermost_) named = nullptr;
}

void check(Op op, std::span<const Arg> args, const Array& made) {
    Unchecked guard;
    if (made.size() == 0) return;
    Array code = no_flags();
    const bool divides = op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod;
    if (is_integer(made.dtype())) {
        if (!divides) return;
        add(code, equals(args[1], 0), Divide);
        if (op == Op::FloorDiv && is_signed(made.dtype())) {  // the minimum by -1
            const Array turned = both(is_below_0(args[0]), equals(args[1], -1));
            add(code, both(turned, is_below_0(made.arg())), Over);
        }
        return report(code, info(op).numpy_name);
    }
    if (!is_inexact(made.dtype())) return;
    Array is_number = no(is_nan(args[0])), finite = is_finite(args[0]);
    if (args.size() > 1) {
        is_number = both(is_number, no(is_nan(args[1])));
        // The next number may be asked for towards infinity.
        if (op != Op::NextAfter) finite = both(finite, is_finite(args[1]));
    }
    const Array pole = is_pole(op, args), grown = both(unary(Op::IsInf, made.arg()), finite);
    add(code, both(is_nan(made.arg()), is_number), Invalid);
    add(code, both(grown, pole), Divide);
    add(code, both(grown, no(pole)), Over);
    add(code, underflows(op, args, made), Under);
    report(code, info(op).numpy_name);
}

void check_cast(const Array& x, const Array& made) {
    Unchecked guard;
    if (made.size() == 0 || !is_float(x.dtype()) || is_bool(made.dtype())) return;
    Array code = no_flags();
    if (is_integer(made.dtype())) {
        const Array whole = unary(Op::Trunc, x.arg());
        const Array back = astype(made, x.dtype(), false);
        add(code, binary(Op::Ne, whole.arg(), back.arg()), Invalid);
    } else {
        if (size_of(part_dtype(made.dtype())) >= size_of(x.dtype())) return;
        const Array grown = both(unary(Op::IsInf, made.arg()), is_finite(x.arg()));
        add(code, grown, Over);
    }
    report(code, "cast");
}

void check_reduction(const Array& x, const Array& made, std::string_view how) {
    Unchecked guard;
    if (made.size() == 0 || x.size() == 0 || !is_inexact(made.dtype()) || !is_inexact(x.dtype()))
        return;
    // Over all elements: which of several sums they went into does not matter here.
    auto all = [](const Array& flags) {
        return reduce(Op::And, flags, std::nullopt, false, DType::Bool);
    };
    const Array numbers = all(no(is_nan(x.arg()))), finite = all(is_finite(x.arg()));
    Array code = no_flags();
    add(code, both(is_nan(made.arg()), numbers), Invalid);
    add(code, both(unary(Op::IsInf, made.arg()), finite), Over);
    report(code, how);
}

}  // namespace unisono::float_errors
