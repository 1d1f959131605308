// The formulas of ops/complex_rules.h in nodes, without branches, so that loops of them become
// vectors. Functions compute in float64 and round once more for complex64.
#include "passes/lowering/complex_formulas.h"

#include <limits>

namespace unisono::passes {

using namespace ir;

namespace {

/// A real number in a formula; builds where `building` points.
thread_local Builder* building = nullptr;

struct N {
    E e;
    N(E node) : e(node) {}
};
N constant(N like, double value) { return building->number(like.e->dtype, value); }
N operator+(N a, N b) { return building->add(a.e, b.e); }
N operator-(N a, N b) { return building->sub(a.e, b.e); }
N operator*(N a, N b) { return building->mul(a.e, b.e); }
N operator/(N a, N b) { return building->binary(Op::Div, a.e, b.e); }
N operator-(N a) { return building->unary(Op::Neg, a.e); }
N operator<(N a, N b) { return building->binary(Op::Lt, a.e, b.e); }
N operator<=(N a, N b) { return building->binary(Op::Le, a.e, b.e); }
N operator>(N a, N b) { return building->binary(Op::Gt, a.e, b.e); }
N operator>=(N a, N b) { return building->binary(Op::Ge, a.e, b.e); }
N operator==(N a, N b) { return building->binary(Op::Eq, a.e, b.e); }
N operator!=(N a, N b) { return building->binary(Op::Ne, a.e, b.e); }
N operator&(N a, N b) { return building->binary(Op::And, a.e, b.e); }
N operator|(N a, N b) { return building->binary(Op::Or, a.e, b.e); }
N operator!(N a) { return building->unary(Op::Not, a.e); }
N operator+(N a, double c) { return a + constant(a, c); }
N operator-(N a, double c) { return a - constant(a, c); }
N operator*(N a, double c) { return a * constant(a, c); }
N operator<(N a, double c) { return a < constant(a, c); }
N operator>(N a, double c) { return a > constant(a, c); }
N operator==(N a, double c) { return a == constant(a, c); }
N select(N c, N a, N b) { return building->select(c.e, a.e, b.e); }
N fabs(N a) { return building->unary(Op::Abs, a.e); }
N sqrt(N a) { return building->unary(Op::Sqrt, a.e); }
N call(Op op, N a) { return building->unary(op, a.e); }
N call(Op op, N a, N b) { return building->binary(op, a.e, b.e); }
N with_sign(N size, N sign) { return building->binary(Op::CopySign, size.e, sign.e); }
N fma(N a, N b, N c) { return building->fma(a.e, b.e, c.e); }
N is_infinite(N a) { return call(Op::IsInf, a); }
N is_finite(N a) { return call(Op::IsFinite, a); }

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Functions of one operand, computed in float64.
bool is_function(Op op) {
    switch (op) {
        case Op::Exp:
        case Op::Exp2:
        case Op::Log:
        case Op::Log2:
        case Op::Log10:
        case Op::Sqrt:
        case Op::Sin:
        case Op::Cos:
        case Op::Tan:
        case Op::Sinh:
        case Op::Cosh:
        case Op::Tanh: return true;
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
    N huge = name_((high > 0x1p500).e), tiny = name_((high < 0x1p-400).e);
    N one = constant(x, 1), up = constant(x, 0x1p600), down = constant(x, 0x1p-600);
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
    if (a.re->dtype == DType::Float64) return magnitude(a.re, a.im);
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
    DType t = a.re->dtype;
    auto wide = [&](E e) { return name_(b_.cast(e, DType::Float64)); };
    Parts made = wide_unary(op, {wide(a.re), wide(a.im)});
    return {b_.cast(made.re, t), b_.cast(made.im, t)};
}

/// Functions of float64 parts.
Parts ComplexFormulas::wide_unary(Op op, Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    auto real = [&](Op f, N v) { return N(name_(call(f, v).e)); };
    auto times = [&](Parts p, double c) { return Parts{(N(p.re) * c).e, (N(p.im) * c).e}; };
    switch (op) {
        case Op::Exp: return exponential(a);
        case Op::Exp2: return exponential(named(times(a, 0.693147180559945309417232121458176568)));
        case Op::Log: return logarithm(a);
        case Op::Log2: return times(logarithm(a), 1.442695040888963407359924681001892137);
        case Op::Log10: return times(logarithm(a), 0.434294481903251827651128918916605082);
        case Op::Sqrt: return root(a);
        case Op::Sin:
            return {(real(Op::Sin, x) * real(Op::Cosh, y)).e,
                    (real(Op::Cos, x) * real(Op::Sinh, y)).e};
        case Op::Cos:
            return {(real(Op::Cos, x) * real(Op::Cosh, y)).e,
                    (-(real(Op::Sin, x) * real(Op::Sinh, y))).e};
        case Op::Sinh:
            return {(real(Op::Sinh, x) * real(Op::Cos, y)).e,
                    (real(Op::Cosh, x) * real(Op::Sin, y)).e};
        case Op::Cosh:
            return {(real(Op::Cosh, x) * real(Op::Cos, y)).e,
                    (real(Op::Sinh, x) * real(Op::Sin, y)).e};
        case Op::Tanh: return hyperbolic_tangent(a);
        default: break;
    }
    // tan(z) = -i tanh(i z)
    Parts turned = hyperbolic_tangent({name_((-y).e), a.re});
    return {turned.im, (-N(turned.re)).e};
}

/// e^x (cos y + i sin y); e^x is made in two steps where it would overflow before its product.
Parts ComplexFormulas::exponential(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    N large = name_((x > 700.0).e);
    N size = name_(call(Op::Exp, N(select(large, x - 700.0, x))).e);
    N rest = name_(select(large, constant(x, 0x1.d945df4ba9037p1009), constant(x, 1)).e);
    N re = size * call(Op::Cos, y) * rest, im = size * call(Op::Sin, y) * rest;
    N is_real = name_((y == 0.0).e), zero = constant(x, 0);
    N odd = name_((!is_finite(y)).e);
    N gone = name_(((x == -infinity) & odd).e), endless = name_(((x == infinity) & odd).e);
    re = select(gone, zero, select(endless, constant(x, infinity), re));
    im = select(gone, with_sign(zero, y), im);
    return {select(is_real, size * rest, re).e, select(is_real, y, im).e};
}

/// log |z|: near 1 by log1p of |z|^2 - 1, whose leading parts cancel exactly.
E ComplexFormulas::log_of_size(Parts a) {
    building = &b_;
    N x = name_(fabs(N(a.re)).e), y = name_(fabs(N(a.im)).e);
    N high = name_(select(x < y, y, x).e), low = name_(select(x < y, x, y).e);
    N huge = name_((high > 0x1p1000).e);
    N scale = name_(select(huge, constant(x, 0x1p-100), constant(x, 1)).e);
    N size = call(Op::Log, N(magnitude((high * scale).e, (low * scale).e)));
    size = select(huge, size + 0x1.15277c52a9c18p6, size);  // 100 log 2
    N p = name_((high * high).e), q = name_((low * low).e);
    N p_rest = fma(high, high, -p), q_rest = fma(low, low, -q);
    N first = name_((p - 1.0).e);
    N sum = name_((first + q).e);
    N turned = name_((sum - first).e);
    N sum_rest = (first - (sum - turned)) + (q - turned);
    N apart = sum + (sum_rest + (p_rest + q_rest));
    N near = (p > 0.5) & (p < 2.0) & (sum < 1.0) & (sum > -0.5);
    return select(near, call(Op::Log1p, apart) * 0.5, size).e;
}

Parts ComplexFormulas::logarithm(Parts a) {
    E size = name_(log_of_size(a));
    building = &b_;
    return {size, call(Op::Atan2, N(a.im), N(a.re)).e};
}

Parts ComplexFormulas::root(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    N size_x = name_(fabs(x).e), size_y = name_(fabs(y).e);
    N most = select(size_x < size_y, size_y, size_x);
    N huge = name_((most > 0x1p1020).e), tiny = name_((most < 0x1p-900).e);
    N one = constant(x, 1);
    N scale = name_(select(huge, constant(x, 0x1p-4), select(tiny, constant(x, 0x1p200), one)).e);
    N back = name_(select(huge, constant(x, 0x1p2), select(tiny, constant(x, 0x1p-100), one)).e);
    N u = name_((size_x * scale).e), v = name_((size_y * scale).e);
    N t = name_(sqrt((u + N(magnitude(u.e, v.e))) * constant(x, 0.5)).e);
    N other = name_((v / (t + t)).e);
    t = name_((t * back).e);
    other = name_((other * back).e);
    N right = name_((!(x < 0.0)).e);
    N re = select(right, t, other), im = with_sign(select(right, other, t), y);
    N is_zero = name_(((x == 0.0) & (y == 0.0)).e), zero = constant(x, 0);
    N end_y = name_(is_infinite(y).e), end_x = name_(is_infinite(x).e);
    N none = name_((y - y).e);
    N far_re = select(right, size_x, fabs(none)), far_im = select(right, none, size_x);
    re = select(is_zero, zero, select(end_x, far_re, re));
    im = select(is_zero, y, select(end_x, with_sign(far_im, y), im));
    return {select(end_y, constant(x, infinity), re).e, select(end_y, y, im).e};
}

/// Kahan's: (t + i tan y) over what keeps it from overflowing.
Parts ComplexFormulas::hyperbolic_tangent(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    N t = name_(call(Op::Tan, y).e), s = name_(call(Op::Sinh, x).e);
    N beta = name_((t * t + 1.0).e), rho = sqrt(s * s + 1.0);
    N below = name_((beta * s * s + 1.0).e);
    N far = name_((fabs(x) > 22.0).e), one = constant(x, 1), zero = constant(x, 0);
    N decay = call(Op::Exp, fabs(x) * -2.0);
    N far_im = call(Op::Sin, y) * call(Op::Cos, y) * 4.0 * decay;
    // The array API's: at the ends the imaginary part is 0 with y's sign.
    N endless = is_infinite(x);
    far_im = select(endless, with_sign(zero, y), far_im);
    N re = select(far, with_sign(one, x), beta * rho * s / below);
    N im = select(far, far_im, t / below);
    N is_real = name_((y == 0.0).e);
    return {re.e, select(is_real, y, im).e};
}

}  // namespace unisono::passes
