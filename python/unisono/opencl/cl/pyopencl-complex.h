// Complex numbers in OpenCL C, by the names that programs for PyOpenCL use: cfloat_t and
// cfloat_add(a, b) and the like, and cdouble_t where PYOPENCL_DEFINE_CDOUBLE is defined.
#pragma once

// T: the type of the parts; N: begin of the names.
#define UNISONO_COMPLEX(T, N)                                                                   \
    typedef union {                                                                             \
        struct {                                                                                \
            T x, y;                                                                             \
        };                                                                                      \
        struct {                                                                                \
            T real, imag;                                                                       \
        };                                                                                      \
    } N##_t;                                                                                    \
    N##_t N##_new(T real, T imag) {                                                             \
        N##_t z;                                                                                \
        z.x = real;                                                                             \
        z.y = imag;                                                                             \
        return z;                                                                               \
    }                                                                                           \
    N##_t N##_fromreal(T a) { return N##_new(a, 0); }                                           \
    T N##_real(N##_t a) { return a.x; }                                                         \
    T N##_imag(N##_t a) { return a.y; }                                                         \
    T N##_abs(N##_t a) { return hypot(a.x, a.y); }                                              \
    T N##_abs_squared(N##_t a) { return a.x * a.x + a.y * a.y; }                                \
    N##_t N##_neg(N##_t a) { return N##_new(-a.x, -a.y); }                                      \
    N##_t N##_conj(N##_t a) { return N##_new(a.x, -a.y); }                                      \
    N##_t N##_add(N##_t a, N##_t b) { return N##_new(a.x + b.x, a.y + b.y); }                   \
    N##_t N##_addr(N##_t a, T b) { return N##_new(a.x + b, a.y); }                              \
    N##_t N##_radd(T a, N##_t b) { return N##_new(a + b.x, b.y); }                              \
    N##_t N##_sub(N##_t a, N##_t b) { return N##_new(a.x - b.x, a.y - b.y); }                   \
    N##_t N##_subr(N##_t a, T b) { return N##_new(a.x - b, a.y); }                              \
    N##_t N##_rsub(T a, N##_t b) { return N##_new(a - b.x, -b.y); }                             \
    N##_t N##_mul(N##_t a, N##_t b) {                                                           \
        return N##_new(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                           \
    }                                                                                           \
    N##_t N##_fma(N##_t a, N##_t b, N##_t c) {                                                  \
        return N##_new(fma(a.x, b.x, fma(-a.y, b.y, c.x)), fma(a.x, b.y, fma(a.y, b.x, c.y)));  \
    }                                                                                           \
    N##_t N##_mulr(N##_t a, T b) { return N##_new(a.x * b, a.y * b); }                          \
    N##_t N##_rmul(T a, N##_t b) { return N##_new(a * b.x, a * b.y); }                          \
    N##_t N##_divider(N##_t a, T b) { return N##_new(a.x / b, a.y / b); }                       \
    /* Smith's method: no square of a part overflows. */                                        \
    N##_t N##_divide(N##_t a, N##_t b) {                                                        \
        if (fabs(b.x) >= fabs(b.y)) {                                                           \
            T r = b.y / b.x, d = b.x + b.y * r;                                                 \
            return N##_new((a.x + a.y * r) / d, (a.y - a.x * r) / d);                           \
        }                                                                                       \
        T r = b.x / b.y, d = b.x * r + b.y;                                                     \
        return N##_new((a.x * r + a.y) / d, (a.y * r - a.x) / d);                               \
    }                                                                                           \
    N##_t N##_rdivide(T a, N##_t b) { return N##_divide(N##_fromreal(a), b); }                  \
    N##_t N##_polar(T r, T angle) { return N##_new(r * cos(angle), r * sin(angle)); }           \
    N##_t N##_exp(N##_t a) { return N##_polar(exp(a.x), a.y); }                                 \
    N##_t N##_log(N##_t a) { return N##_new(log(N##_abs(a)), atan2(a.y, a.x)); }                \
    N##_t N##_sqrt(N##_t a) { return N##_polar(sqrt(N##_abs(a)), atan2(a.y, a.x) / 2); }        \
    N##_t N##_powr(N##_t a, T b) { return N##_polar(pow(N##_abs(a), b), b * atan2(a.y, a.x)); } \
    N##_t N##_pow(N##_t a, N##_t b) {                                                           \
        return a.x == 0 && a.y == 0 ? N##_fromreal(b.x == 0 && b.y == 0)                        \
                                    : N##_exp(N##_mul(b, N##_log(a)));                          \
    }                                                                                           \
    N##_t N##_rpow(T a, N##_t b) { return N##_pow(N##_fromreal(a), b); }                        \
    N##_t N##_sin(N##_t a) { return N##_new(sin(a.x) * cosh(a.y), cos(a.x) * sinh(a.y)); }      \
    N##_t N##_cos(N##_t a) { return N##_new(cos(a.x) * cosh(a.y), -sin(a.x) * sinh(a.y)); }     \
    N##_t N##_sinh(N##_t a) { return N##_new(sinh(a.x) * cos(a.y), cosh(a.x) * sin(a.y)); }     \
    N##_t N##_cosh(N##_t a) { return N##_new(cosh(a.x) * cos(a.y), sinh(a.x) * sin(a.y)); }     \
    N##_t N##_tan(N##_t a) { return N##_divide(N##_sin(a), N##_cos(a)); }                       \
    N##_t N##_tanh(N##_t a) { return N##_divide(N##_sinh(a), N##_cosh(a)); }

UNISONO_COMPLEX(float, cfloat)
#ifdef PYOPENCL_DEFINE_CDOUBLE
UNISONO_COMPLEX(double, cdouble)
#endif
