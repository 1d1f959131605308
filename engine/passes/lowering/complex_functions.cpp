// Functions of complex numbers, in float64: of complex64 they round once more. On devices without
// float64 those of complex64 are in float32.
//
// Signed zeros, infinities and NaNs give what C99's Annex G and the array API say.
#include "passes/lowering/complex_formulas.h"
#include "passes/lowering/formula_numbers.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr double half_pi = 1.570796326794896619231321691639751442;
constexpr double log_of_two = 0.693147180559945309417232121458176568;
/// From there on |z| +- 1 is |z|, and no square overflows below.
constexpr double far_size = 0x1p300, far_single = 0x1p40;

}  // namespace

Parts ComplexFormulas::wide_unary(Op op, Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    auto times = [&](Parts p, double c) { return Parts{(N(p.re) * c).e, (N(p.im) * c).e}; };
    switch (op) {
        case Op::Exp: return exponential(a);
        case Op::Exp2: return exponential(named(times(a, 0.693147180559945309417232121458176568)));
        case Op::Log: return logarithm(a);
        case Op::Log2: return times(logarithm(a), 1.442695040888963407359924681001892137);
        case Op::Log10: return times(logarithm(a), 0.434294481903251827651128918916605082);
        case Op::Sqrt: return root(a);
        case Op::Expm1: return exponential_less_one(a);
        case Op::Log1p: return logarithm({name_((x + 1.0).e), a.im});
        case Op::Sinh: return hyperbolic_sine(a);
        case Op::Cosh: return hyperbolic_cosine(a);
        case Op::Tanh: return hyperbolic_tangent(a);
        case Op::Asin: return arcsine(a);
        case Op::Acos: return arccosine(a);
        case Op::Atanh: return area_tangent(a);
        case Op::Acosh: {
            // One of the two of +-i acos(z), whose real part is not negative.
            Parts turned = named(arccosine(a));
            return {fabs(turned.im).e, with_sign(turned.re, y).e};
        }
        default: break;
    }
    // Circular functions by hyperbolic ones of i z.
    Parts around{name_((-y).e), a.re};
    if (op == Op::Cos) return hyperbolic_cosine(around);
    Parts turned = op == Op::Sin    ? hyperbolic_sine(around)
                   : op == Op::Tan  ? hyperbolic_tangent(around)
                   : op == Op::Atan ? area_tangent(around)
                                    : arcsine(around);
    return {turned.im, (-N(turned.re)).e};
}

/// e^x (cos y + i sin y); e^x is made in two steps where it would overflow before its product.
Parts ComplexFormulas::exponential(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    const double step = of_range(x.e, 700, 80);
    const double power = of_range(x.e, 0x1.d945df4f8ec8ep1009, 0x1.55779b984f3ebp115);
    N large = name_((x > step).e);
    N size = name_(call(Op::Exp, N(select(large, x - step, x))).e);
    N rest = name_(select(large, constant(x, power), constant(x, 1)).e);
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
    const double down = of_range(x.e, 0x1p-100, 0x1p-20);
    const double back = of_range(x.e, 0x1.15277c52a9c18p6, 0x1.bb9d3beb8c86bp3);
    N huge = name_((high > of_range(x.e, 0x1p1000, 0x1p120)).e);
    N scale = name_(select(huge, constant(x, down), constant(x, 1)).e);
    N size = call(Op::Log, N(magnitude((high * scale).e, (low * scale).e)));
    size = select(huge, size + back, size);  // 100 or 20 log 2
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
    N huge = name_((most > of_range(x.e, 0x1p1020, 0x1p124)).e);
    N tiny = name_((most < of_range(x.e, 0x1p-900, 0x1p-90)).e);
    N one = constant(x, 1), up = constant(x, of_range(x.e, 0x1p200, 0x1p60)),
      down = constant(x, of_range(x.e, 0x1p-100, 0x1p-30));
    N scale = name_(select(huge, constant(x, 0x1p-4), select(tiny, up, one)).e);
    N back = name_(select(huge, constant(x, 0x1p2), select(tiny, down, one)).e);
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
    N far = name_((fabs(x) > of_range(x.e, 22, 12)).e), one = constant(x, 1), zero = constant(x, 0);
    N decay = call(Op::Exp, fabs(x) * -2.0);
    N far_im = call(Op::Sin, y) * call(Op::Cos, y) * 4.0 * decay;
    // The array API's: at the ends the imaginary part is 0 with y's sign.
    N endless = is_infinite(x);
    far_im = select(endless, with_sign(zero, y), far_im);
    N re = select(far, with_sign(one, x), beta * rho * s / below);
    N im = select(far, far_im, t / below);
    N is_real = name_((y == 0.0).e), no_angle = name_((!is_finite(y)).e);
    re = select(no_angle & is_finite(x), select(x == 0.0, x, y - y), re);
    return {re.e, select(is_real, y, im).e};
}

/// sinh x cos y + i cosh x sin y
Parts ComplexFormulas::hyperbolic_sine(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    N no_angle = name_((!is_finite(y)).e), stays = name_(((x == 0.0) | is_infinite(x)).e);
    N re = call(Op::Sinh, x) * call(Op::Cos, y), im = call(Op::Cosh, x) * call(Op::Sin, y);
    return {select(no_angle & stays, select(x == 0.0, x, fabs(x)), re).e,
            select(y == 0.0, y, im).e};
}

/// cosh x cos y + i sinh x sin y
Parts ComplexFormulas::hyperbolic_cosine(Parts a) {
    building = &b_;
    N x = a.re, y = a.im, zero = constant(x, 0), one = constant(x, 1);
    N no_angle = name_((!is_finite(y)).e);
    N re = call(Op::Cosh, x) * call(Op::Cos, y), im = call(Op::Sinh, x) * call(Op::Sin, y);
    re = select(no_angle & is_infinite(x), fabs(x), re);
    im = select(no_angle & (x == 0.0), zero, im);
    return {re.e, select(y == 0.0, y * with_sign(one, x), im).e};
}

/// Near 0 without cancellation: expm1 x cos y - 2 sin(y / 2)^2.
Parts ComplexFormulas::exponential_less_one(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    N half = name_(call(Op::Sin, y * 0.5).e);
    N near = call(Op::Expm1, x) * call(Op::Cos, y) - half * half * 2.0;
    Parts whole = named(exponential(a));
    building = &b_;
    N far = name_(((x > 30.0) | !is_finite(x) | !is_finite(y)).e);
    // The array API's: no negative zero.
    N re = select(far, N(whole.re) - 1.0, near) + 0.0;
    return {re.e, whole.im};
}

/// Of 1 + z and 1 - z.
std::pair<Parts, Parts> ComplexFormulas::roots_beside_one(Parts a) {
    building = &b_;
    N x = a.re, y = a.im;
    Parts more = named(root({name_((x + 1.0).e), a.im}));
    return {more, named(root({name_((constant(x, 1) - x).e), name_((-y).e)}))};
}

/// Kahan's, by the roots of 1 + z and 1 - z, "Branch cuts for complex elementary functions" (1987).
Parts ComplexFormulas::arcsine(Parts a) {
    building = &b_;
    N x = a.re, y = a.im, size = name_(magnitude(a.re, a.im));
    const auto [more, less] = roots_beside_one(a);
    N p = more.re, q = more.im, r = less.re, s = less.im;
    N re = call(Op::Atan2, x, p * r - q * s);
    N im = call(Op::Asinh, q * r - p * s);
    N far = name_((size > of_range(x.e, far_size, far_single)).e);
    re = select(far, call(Op::Atan2, x, fabs(y)), re);
    im = select(far, with_sign(N(log_of_size(a)) + log_of_two, y), im);
    return {select((x == 0.0) & (y != y), x, re).e, im.e};
}

Parts ComplexFormulas::arccosine(Parts a) {
    building = &b_;
    N x = a.re, y = a.im, size = name_(magnitude(a.re, a.im));
    const auto [more, less] = roots_beside_one(a);
    N p = more.re, q = more.im, r = less.re, s = less.im;
    N re = call(Op::Atan2, r, p) * 2.0;
    N im = call(Op::Asinh, p * s - q * r);
    N far = name_((size > of_range(x.e, far_size, far_single)).e);
    re = select(far, call(Op::Atan2, fabs(y), x), re);
    im = select(far, with_sign(N(log_of_size(a)) + log_of_two, -y), im);
    return {select((x == 0.0) & (y != y), constant(x, half_pi), re).e, im.e};
}

/// log1p(4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, (1 - x) (1 + x) - y^2) / 2
Parts ComplexFormulas::area_tangent(Parts a) {
    building = &b_;
    N y = a.im, x = name_(fabs(N(a.re)).e), size = name_(magnitude(a.re, a.im));
    N one = constant(x, 1), zero = constant(x, 0);
    N rest = name_((one - x).e), square = name_((y * y).e);
    N re = call(Op::Log1p, x * 4.0 / (rest * rest + square)) * 0.25;
    N im = call(Op::Atan2, y + y, rest * (x + 1.0) - square) * 0.5;
    // Where the squares vanish: above and below the pole.
    N at_pole = (x == 1.0) & (fabs(y) < 0x1p-50);
    re = select(at_pole, (constant(x, log_of_two) - call(Op::Log, fabs(y))) * 0.5, re);
    N far = name_((size > of_range(x.e, far_size, far_single)).e);
    re = select(far, select(size == infinity, zero, x / size / size), re);
    im = select(far & (y == y), with_sign(constant(x, half_pi), y), im);
    re = select((x == 0.0) & (y != y), zero, re);
    return {with_sign(re, N(a.re)).e, im.e};
}

/// Whole exponents below 100 by products, as NumPy does, others by the logarithm.
Parts ComplexFormulas::power(Parts a, Parts b) {
    building = &b_;
    N zero = constant(a.re, 0), one = constant(a.re, 1), nan = constant(a.re, not_a_number);
    N n = name_(fabs(N(b.re)).e);
    N whole = name_(((N(b.im) == 0.0) & (n < 100.0) & (call(Op::Trunc, n) == n)).e);
    Parts result{one.e, zero.e}, factor = a;
    N left = name_(select(whole, n, zero).e);
    for (int bit = 0; bit < 7; ++bit) {
        building = &b_;
        N half = name_(call(Op::Floor, left * 0.5).e), odd = name_((left - half * 2.0).e);
        // The first factor is taken as it is: a product with 1 would lose signs of zeros.
        N is_first = name_(((N(result.re) == 1.0) & (N(result.im) == 0.0)).e);
        Parts more = chosen(is_first.e, factor, named(product(result, factor)));
        building = &b_;
        result = named(chosen((odd == 1.0).e, more, result));
        factor = named(product(factor, factor));
        left = half;
    }
    Parts inverse = named(quotient({one.e, zero.e}, result));
    building = &b_;
    result = chosen(name_((N(b.re) < 0.0).e), inverse, result);
    Parts size = named(logarithm(a));
    Parts other = named(exponential(named(product(b, size))));
    building = &b_;
    result = named(chosen(whole.e, result, other));
    N of_zero = name_(((N(a.re) == 0.0) & (N(a.im) == 0.0)).e);
    N vanishes = name_((N(b.re) > 0.0).e);
    result =
        chosen(of_zero.e, {select(vanishes, zero, nan).e, select(vanishes, zero, nan).e}, result);
    N to_zero = name_(((N(b.re) == 0.0) & (N(b.im) == 0.0)).e);
    return chosen(to_zero.e, {one.e, zero.e}, result);
}

}  // namespace unisono::passes
