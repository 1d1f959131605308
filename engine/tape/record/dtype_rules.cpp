// NumPy 2's dtypes of operands and results, and which numbers a dtype takes.
#include "tape/record/dtype_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {

namespace {

/// Python integers come as int64, beyond it as uint64, and beyond that as what float() makes of
/// them.
std::string digits(Scalar s) {
    if (is_float(s.dtype)) return "beyond 64 bits";
    return is_unsigned(s.dtype) ? std::to_string(s.as<std::uint64_t>())
                                : std::to_string(s.as<std::int64_t>());
}

bool same_kind(DType from, DType to) {
    auto level = [](DType t) {
        return is_bool(t) ? 0 : is_unsigned(t) ? 1 : is_signed(t) ? 2 : is_float(t) ? 3 : 4;
    };
    return level(from) <= level(to);
}

}  // namespace

int misfit(Scalar s, DType t) {
    if (is_float(s.dtype)) return s.as<double>() < 0 ? -1 : 1;
    auto bits = 8 * size_of(t) - (is_signed(t) ? 1 : 0);
    bool negative = is_signed(s.dtype) && s.as<std::int64_t>() < 0;
    auto v = s.as<std::uint64_t>();
    if (negative) {
        if (is_unsigned(t)) return -1;
        return ~v >> bits ? -1 : 0;
    }
    return bits < 64 && v >> bits ? 1 : 0;
}

void compare_in_range(Op& op, std::span<Arg> args) {
    if (!is_comparison(op) || args.size() != 2) return;
    for (std::size_t k = 0; k < 2; ++k) {
        const Arg& other = args[1 - k];
        if (args[k].weak != Weak::Int || other.weak != Weak::None) continue;
        if (!is_integer(other.view.dtype)) continue;
        int side = misfit(args[k].scalar(), other.view.dtype);
        if (side == 0) continue;
        // Whether (array op number) holds, the number lying below or above all elements.
        bool greater = op == Op::Gt || op == Op::Ge, less = op == Op::Lt || op == Op::Le;
        if (k == 0) std::swap(greater, less);
        bool holds = op == Op::Ne || (side < 0 ? greater : less);
        args[k] = {scalar_operand(identity(Op::Max, other.view.dtype)), Weak::None};
        // Nothing lies below the smallest; everything is equal to it or lies above.
        if (k == 0)
            op = holds ? Op::Le : Op::Gt;
        else
            op = holds ? Op::Ge : Op::Lt;
    }
}

void check_weak(std::string_view what, const Arg& a, DType t) {
    if (a.weak != Weak::Int || !is_integer(t) || a.scalar().dtype == t) return;
    if (misfit(a.scalar(), t) != 0) {
        fail(ErrorKind::Overflow, std::string(what) + ": Python integer " + digits(a.scalar()) +
                                      " out of bounds for " + std::string(name(t)) +
                                      "; convert the array with .astype first");
    }
}

void check_weak_float(const Arg& a, DType t) {
    if (a.weak != Weak::Float || !is_integer(t)) return;
    auto v = a.scalar().as<double>();
    if (v != v) fail(ErrorKind::Value, "assignment: cannot convert float NaN to integer");
    if (v - v != 0) {
        fail(ErrorKind::Overflow, "assignment: cannot convert float infinity to integer");
    }
    double high = std::ldexp(1.0, static_cast<int>(8 * size_of(t)) - (is_signed(t) ? 1 : 0));
    double low = is_signed(t) ? -high : 0;
    if (std::trunc(v) < low || v >= high) {
        char text[32];
        const char* end = std::to_chars(text, text + sizeof text, v).ptr;
        fail(ErrorKind::Overflow, "assignment: Python number " +
                                      std::string(static_cast<const char*>(text), end) +
                                      " out of bounds for " + std::string(name(t)) +
                                      "; convert the array with .astype first");
    }
}

Op bool_form(Op op, DType t) {
    if (!is_bool(t)) return op;
    if (op == Op::Add) return Op::Or;
    if (op == Op::Mul) return Op::And;
    return op;
}

DType checked_compute(Op op, DType common) {
    auto t = compute_dtype(op, common);
    if (!t) {
        std::string hint = is_bool(common) && op == Op::Sub ? "; use the ^ operator or logical_xor"
                           : is_bool(common) && op == Op::Neg
                               ? "; use the ~ operator or logical_not"
                               : "; convert with .astype first";
        fail(ErrorKind::Type, std::string(info(op).numpy_name) + ": not defined for dtype " +
                                  std::string(name(common)) + hint);
    }
    return *t;
}

DType common_dtype(std::span<const Arg> args) {
    DType t{};
    bool any = false;
    for (const Arg& a : args) {
        if (a.weak != Weak::None) continue;
        t = any ? promote(t, a.view.dtype) : a.view.dtype;
        any = true;
    }
    Weak weakest = Weak::None;
    for (const Arg& a : args) weakest = std::max(weakest, a.weak);
    if (any) return promote_weak(t, weakest);
    for (const Arg& a : args) {
        if (weakest == Weak::Int && a.view.dtype != DType::Int64 && !is_bool(a.view.dtype))
            return a.view.dtype;
    }
    return default_dtype(weakest);
}

void check_in_place_cast(std::string_view what, DType result, DType out) {
    if (same_kind(result, out)) return;
    fail(ErrorKind::Type,
         std::string(what) + ": cannot cast the result from " + std::string(name(result)) + " to " +
             std::string(name(out)) +
             " in place (casting rule 'same_kind'); write the result to a new array");
}

DType compute_form(Op& op, std::span<const Arg> args) {
    DType common = common_dtype(args);
    if (args.size() == 2 && is_float_function(op) && op != Op::Div && !is_complex(common) &&
        args[0].weak == Weak::None && args[1].weak == Weak::None) {
        // As NumPy's loops: the smallest float that holds each, where int8 with uint8 is int16.
        common = DType::Float16;
        for (const Arg& a : args) common = promote(common, a.view.dtype);
    }
    op = bool_form(op, common);
    DType compute = checked_compute(op, common);
    for (const Arg& a : args) check_weak(info(op).numpy_name, a, compute);
    return compute;
}

DType elementwise_dtype(Op op, std::span<const Arg> args) {
    if (is_comparison(op)) return DType::Bool;
    DType compute = compute_form(op, args);
    return *result_dtype(op, compute);
}

DType reduced_dtype(Op op, DType t, std::optional<DType> given) {
    bool widens = (op == Op::Add || op == Op::Mul) && !is_float(t) && !is_complex(t);
    DType wide = is_unsigned(t) ? DType::UInt64 : DType::Int64;
    return checked_compute(op, given ? *given : widens ? wide : t);
}

}  // namespace unisono
