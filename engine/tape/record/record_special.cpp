// Elementwise operations that NumPy's rules make of others.
#include "tape/record/record_special.h"

#include <cstdint>

#include "core/error.h"
#include "ops/scalar_eval.h"
#include "tape/record/dtype_rules.h"
#include "tape/record/operands.h"
#include "tape/tape.h"

namespace unisono {

Array rounded_integer(Op op, const Arg& x, const Array* out) {
    DType t = common_dtype({&x, 1});
    if (!out) {
        if (x.is_scalar()) return Array::known(cast(x.scalar(), t));
        Array made = astype(Array::of(x.view), t, true);
        return made.rank() == 0 ? to_value(made) : made;
    }
    check_writable(info(op).numpy_name, *out);
    check_in_place_cast(info(op).numpy_name, t, out->dtype());
    assign(*out, x);
    return *out;
}

/// A view of float16 as integers of its size, or the other way round.
static Array same_bits(const Array& a, DType t) {
    View v = a.view();
    v.dtype = t;
    return Array::of(v, a.is_value());
}

Array half_next_after(std::span<const Arg> args, const Array* out) {
    Array x[2], bits[2];
    for (std::size_t k = 0; k < 2; ++k) {
        Array given = args[k].is_scalar()
                          ? full({}, args[k].scalar(), common_device("nextafter", args))
                          : Array::of(args[k].view);
        x[k] = astype(given, DType::Float16, true);
        bits[k] = same_bits(x[k], DType::Int16);
    }
    auto op2 = [](Op op, Arg a, Arg b) {
        Arg both[] = {a, b};
        return apply(op, both);
    };
    auto number = [](std::int64_t v) {
        return Arg{scalar_operand(Scalar::of(DType::Int16, v)), Weak::None};
    };
    const Arg a = x[0].arg(), b = x[1].arg();
    Array rising = op2(Op::Lt, a, b), positive = op2(Op::Lt, number(0), bits[0].arg());
    Array away = op2(Op::Eq, rising.arg(), positive.arg());
    Array step = where(away.arg(), number(1), number(-1));
    Array moved = op2(Op::Add, bits[0].arg(), step.arg());
    Array sign = op2(Op::And, bits[1].arg(), number(INT16_MIN));
    Array least = op2(Op::Or, sign.arg(), number(1));
    Array is_zero = op2(Op::Eq, a, {scalar_operand(Scalar::of(DType::Float16, 0)), Weak::None});
    moved = where(is_zero.arg(), least.arg(), moved.arg());
    Array same = op2(Op::Or, op2(Op::Eq, a, b).arg(), op2(Op::Ne, b, b).arg());
    moved = where(same.arg(), bits[1].arg(), moved.arg());
    moved = where(op2(Op::Ne, a, a).arg(), bits[0].arg(), moved.arg());
    Array made = same_bits(astype(moved, DType::Int16, true), DType::Float16);
    if (!out) return made;
    check_writable(info(Op::NextAfter).numpy_name, *out);
    check_in_place_cast(info(Op::NextAfter).numpy_name, DType::Float16, out->dtype());
    Dims shapes[] = {made.shape(), out->shape()};
    check_out_shape(info(Op::NextAfter).numpy_name, *out,
                    Layout::contiguous(broadcast_shapes("nextafter", shapes)));
    assign(*out, made.arg());
    return *out;
}

bool mixes_signs(Op op, std::span<const Arg> args) {
    if (!is_comparison(op) || args.size() != 2) return false;
    for (const Arg& a : args) {
        if (a.weak != Weak::None) return false;
    }
    DType a = args[0].view.dtype, b = args[1].view.dtype;
    return (a == DType::UInt64 && is_signed(b)) || (b == DType::UInt64 && is_signed(a));
}

Array compare_signs(Op op, std::span<const Arg> args, const Array* out) {
    const std::size_t k = is_signed(args[0].view.dtype) ? 0 : 1;  // the signed one
    const DType t = args[k].view.dtype;
    const Arg zero{scalar_operand(Scalar::of(t, 0)), Weak::None};
    Array unsigned_one = args[k].is_scalar() ? Array::known(cast(args[k].scalar(), DType::UInt64))
                                             : astype(Array::of(args[k].view), DType::UInt64, true);
    Arg same[] = {args[0], args[1]};
    same[k] = unsigned_one.arg();
    const bool less = op == Op::Lt || op == Op::Le, greater = op == Op::Gt || op == Op::Ge;
    const bool holds = op == Op::Ne || (k == 0 ? less : greater);  // where it is negative
    Array compared = apply(op, same);
    Arg sign[] = {args[k], zero};
    Array side = apply(holds ? Op::Lt : Op::Ge, sign);
    Arg both[] = {side.arg(), compared.arg()};
    if (out) check_in_place_cast(info(op).numpy_name, DType::Bool, out->dtype());
    return apply(holds ? Op::Or : Op::And, both, out);
}

}  // namespace unisono
