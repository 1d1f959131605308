// The formulas of ops/complex_rules.h in nodes, without branches, so that loops of them become
// vectors.
#include "passes/lowering/complex_formulas.h"

#include "passes/lowering/formula_numbers.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// Functions of one operand, computed in float64.
bool is_function(Op op) {
    switch (op) {
        case Op::Exp:
        case Op::Exp2:
        case Op::Expm1:
        case Op::Log:
        case Op::Log2:
        case Op::Log10:
        case Op::Log1p:
        case Op::Sqrt:
        case Op::Sin:
        case Op::Cos:
        case Op::Tan:
        case Op::Asin:
        case Op::Acos:
        case Op::Atan:
        case Op::Sinh:
        case Op::Cosh:
        case Op::Tanh:
        case Op::Asinh:
        case Op::Acosh:
        case Op::Atanh: return true;
        default: return false;
    }
}

}  // namespace

bool ComplexFormulas::knows(Op op) {
    if (is_comparison(op) || is_function(op)) return true;
    switch (op) {
        case Op::Neg:
        case Op::Abs:
        case Op::Sign:
        case Op::Rint:
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Div:
        case Op::Power:
        case Op::Min:
        case Op::Max:
        case Op::Fmin:
        case Op::Fmax:
        case Op::IsNan:
        case Op::IsInf:
        case Op::IsFinite: return true;
        default: return false;
    }
}

Parts ComplexFormulas::chosen(E c, Parts yes, Parts no) {
    return {b_.select(c, yes.re, no.re), b_.select(c, yes.im, no.im)};
}

Parts ComplexFormulas::product(Parts a, Parts b) {
    building = &b_;
    N ar = a.re, ai = a.im, br = b.re, bi = b.im;
    return {(ar * br - ai * bi).e, (ar * bi + ai * br).e};
}

/// Smith's algorithm: by the ratio of the divisor's smaller part to its larger one.
Parts ComplexFormulas::quotient(Parts a, Parts b) {
    building = &b_;
    N ar = a.re, ai = a.im, br = b.re, bi = b.im;
    N is_real = name_((fabs(br) >= fabs(bi)).e);
    N large = name_(select(is_real, br, bi).e), small = name_(select(is_real, bi, br).e);
    N ratio = name_((small / large).e);
    N scale = name_((constant(ratio, 1) / (large + small * ratio)).e);
    N first = select(is_real, ar, ai), second = select(is_real, ai, ar);
    N re = (first + second * ratio) * scale;
    N im = select(is_real, ai - ar * ratio, ai * ratio - ar) * scale;
    N is_zero = name_(((br == 0.0) & (bi == 0.0)).e);
    N size = fabs(br);
    return {select(is_zero, ar / size, re).e, select(is_zero, ai / size, im).e};
}

/// sqrt(x^2 + y^2), scaled by powers of two where squares would overflow or vanish.
E ComplexFormulas::magnitude(E given_x, E given_y) {
    building = &b_;
    N x = name_(fabs(given_x).e), y = name_(fabs(given_y).e);
    N above = name_((x < y).e);
    N high = name_(select(above, y, x).e), low = name_(select(above, x, y).e);
    N huge = name_((high > of_range(x.e, 0x1p500, 0x1p60)).e);
    N tiny = name_((high < of_range(x.e, 0x1p-400, 0x1p-50)).e);
    N one = constant(x, 1), up = constant(x, of_range(x.e, 0x1p600, 0x1p100)),
      down = constant(x, of_range(x.e, 0x1p-600, 0x1p-100));
    N scale = name_(select(huge, down, select(tiny, up, one)).e);
    N back = select(huge, up, select(tiny, down, one));
    high = name_((high * scale).e);
    low = name_((low * scale).e);
    N twice = name_((low + low).e);
    N near = name_((twice >= high).e);
    N factor = select(near, twice, high), rest = name_(select(near, high - low, low).e);
    N root = sqrt(fma(factor, high, rest * rest)) * back;
    N endless = (x == infinity) | (y == infinity);
    return select(endless, constant(x, infinity), root).e;
}

E ComplexFormulas::absolute(Parts a) {
    if (a.re->dtype == DType::Float64 || !has_float64_) return magnitude(a.re, a.im);
    building = &b_;
    // Squares of float32 numbers are exact in float64 and stay in its range.
    N x = name_(b_.cast(a.re, DType::Float64)), y = name_(b_.cast(a.im, DType::Float64));
    N root = b_.cast(sqrt(x * x + y * y).e, DType::Float32);
    N endless = is_infinite(a.re) | is_infinite(a.im);
    return select(endless, constant(root, infinity), root).e;
}

/// a / |a|, 0 for 0, NaN for NaN.
Parts ComplexFormulas::sign(Parts a) {
    building = &b_;
    N x = a.re, y = a.im, size = name_(absolute(a));
    N zero = constant(x, 0), one = constant(x, 1), nan = constant(x, not_a_number);
    N inf_x = name_(is_infinite(x).e), inf_y = name_(is_infinite(y).e);
    N endless = name_(is_infinite(size).e);
    N re = select(size == zero, zero, x / size), im = select(size == zero, zero, y / size);
    N far_re = select(inf_x, select(inf_y, nan, with_sign(one, x)), zero);
    N far_im = select(inf_y, select(inf_x, nan, with_sign(one, y)), zero);
    N lost = name_((size != size).e);
    return {select(lost, size, select(endless, far_re, re)).e,
            select(lost, size, select(endless, far_im, im)).e};
}

E ComplexFormulas::is_nan(Parts a) {
    building = &b_;
    return ((N(a.re) != N(a.re)) | (N(a.im) != N(a.im))).e;
}

/// Lexicographic order; a NaN in a part that decides makes it false.
E ComplexFormulas::less(Parts a, Parts b, bool or_equal) {
    building = &b_;
    N ar = a.re, ai = a.im, br = b.re, bi = b.im;
    N by_imag = or_equal ? ai <= bi : ai < bi;
    return (((ar < br) & (ai == ai) & (bi == bi)) | ((ar == br) & by_imag)).e;
}

E ComplexFormulas::equal(Parts a, Parts b) {
    building = &b_;
    return ((N(a.re) == N(b.re)) & (N(a.im) == N(b.im))).e;
}

E ComplexFormulas::compare(Op op, Parts a, Parts b) {
    switch (op) {
        case Op::Lt: return less(a, b, false);
        case Op::Le: return less(a, b, true);
        case Op::Gt: return less(b, a, false);
        case Op::Ge: return less(b, a, true);
        case Op::Eq: return equal(a, b);
        default: return b_.unary(Op::Not, equal(a, b));
    }
}

E ComplexFormulas::test(Op op, Parts a) {
    building = &b_;
    N re = call(op, N(a.re)), im = call(op, N(a.im));
    return (op == Op::IsFinite ? re & im : re | im).e;
}

Parts ComplexFormulas::binary(Op op, Parts a, Parts b) {
    auto takes_first = [&](E lost, Parts x, Parts y) {
        E first = b_.binary(Op::Or, lost, less(x, y, true));
        return chosen(name_(first), a, b);
    };
    switch (op) {
        case Op::Add:
        case Op::Sub: return {b_.binary(op, a.re, b.re), b_.binary(op, a.im, b.im)};
        case Op::Mul: return product(a, b);
        case Op::Div: return quotient(a, b);
        case Op::Power: return rounded(power(widened(a), widened(b)), a.re->dtype);
        case Op::Min: return takes_first(is_nan(a), a, b);
        case Op::Max: return takes_first(is_nan(a), b, a);
        case Op::Fmin: return takes_first(is_nan(b), a, b);
        case Op::Fmax: return takes_first(is_nan(b), b, a);
        default: break;
    }
    fail(ErrorKind::Unsupported,
         std::string(name(op)) + ": not supported for complex numbers in compiled code");
}

Parts ComplexFormulas::unary(Op op, Parts a) {
    switch (op) {
        case Op::Neg:
        case Op::Rint: return {b_.unary(op, a.re), b_.unary(op, a.im)};
        case Op::Sign: return sign(a);
        default: break;
    }
    if (!is_function(op)) {
        fail(ErrorKind::Unsupported,
             std::string(name(op)) + ": not supported for complex numbers in compiled code");
    }
    return rounded(wide_unary(op, widened(a)), a.re->dtype);
}

Parts ComplexFormulas::widened(Parts a) {
    if (!has_float64_) return named(a);
    return {name_(b_.cast(a.re, DType::Float64)), name_(b_.cast(a.im, DType::Float64))};
}

Parts ComplexFormulas::rounded(Parts a, DType t) { return {b_.cast(a.re, t), b_.cast(a.im, t)}; }

}  // namespace unisono::passes
