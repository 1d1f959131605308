"""Functions of OpenCL C and CUDA C that are made of others, in C text themselves; `words` has those of the engine.

OpenCL's by its specification 1.2, section 6.12; CUDA's by the CUDA Math API. Types of templates follow from the arguments.
"""

from __future__ import annotations

import functools

from ..syntax.lexer import Source, tokens
from ..syntax.parser import Parser

TEXT = r"""
#define DEVICE __device__
#define FLOATS template <typename T> DEVICE T
#define COMPARES template <typename T> DEVICE int

// ---- common functions
FLOATS sign(T x) { return x > (T)0 ? (T)1 : x < (T)0 ? (T)-1 : x == (T)0 ? x : (T)0; }
FLOATS degrees(T x) { return x * (T)57.295779513082320876798; }
FLOATS radians(T x) { return x * (T)0.01745329251994329576924; }
FLOATS mix(T a, T b, T t) { return a + (b - a) * t; }
FLOATS step(T edge, T x) { return x < edge ? (T)0 : (T)1; }
FLOATS smoothstep(T low, T high, T x) {
    T t = (x - low) / (high - low);
    t = t < (T)0 ? (T)0 : t > (T)1 ? (T)1 : t;
    return t * t * ((T)3 - (T)2 * t);
}
FLOATS fdim(T x, T y) { return x > y ? x - y : x <= y ? (T)0 : x + y; }
FLOATS maxmag(T x, T y) {
    T a = fabs(x), b = fabs(y);
    return a > b ? x : b > a ? y : fmax(x, y);
}
FLOATS minmag(T x, T y) {
    T a = fabs(x), b = fabs(y);
    return a < b ? x : b < a ? y : fmin(x, y);
}
FLOATS exp10(T x) { return pow((T)10, x); }
DEVICE float exp10f(float x) { return powf(10.0f, x); }
FLOATS pown(T x, int n) { return pow(x, (T)n); }
FLOATS rootn(T x, int n) {
    if (n == 3) return cbrt(x);
    return x < (T)0 && n % 2 != 0 ? -pow(-x, (T)1 / (T)n) : pow(x, (T)1 / (T)n);
}
FLOATS sinpi(T x) {
    T r = x - (T)2 * rint(x / (T)2);
    if (r > (T)0.5) r = (T)1 - r;
    if (r < (T)-0.5) r = (T)-1 - r;
    return sin(r * (T)3.14159265358979323846);
}
FLOATS cospi(T x) {
    T r = fabs(x - (T)2 * rint(x / (T)2));
    return r > (T)0.5 ? -sin((r - (T)0.5) * (T)3.14159265358979323846) : sin(((T)0.5 - r) * (T)3.14159265358979323846);
}
FLOATS logb(T x) {
    if (x == (T)0) return -(T)INFINITY;
    T a = fabs(x);
    if (!(a < (T)INFINITY)) return a;
    T e = floor(log2(a));
    if (exp2(e) > a) e = e - (T)1;
    if (exp2(e + (T)1) <= a) e = e + (T)1;
    return e;
}
FLOATS ldexp(T x, int n) {  // exact but for the last product: what overflows or is subnormal is rounded once
    int most = sizeof(T) == 8 ? 1000 : 120;
    n = n > 5 * most ? 5 * most : n < -5 * most ? -5 * most : n;
    while (n > most) { x = x * exp2((T)most); n = n - most; }
    if (n >= 0) return x * exp2((T)n);
    // Down: first to where the result's last bits are, by exact steps, as long as it stays normal.
    T least = exp2((T)(sizeof(T) == 8 ? -900 : -100));
    while (n < -60 && fabs(x) * exp2((T)-60) > least) { x = x * exp2((T)-60); n = n + 60; }
    T rest = x;
    while (n < -most) { rest = rest * exp2((T)-(most / 2)); n = n + most / 2; }
    return rest * exp2((T)n);
}
FLOATS scalbn(T x, int n) { return ldexp(x, n); }
FLOATS scalbln(T x, long n) { return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n); }
template <typename T> DEVICE int ilogb(T x) {
    T e = logb(x);
    return x == (T)0 || e != e ? -2147483647 - 1 : e > (T)2147483000 ? 2147483647 : (int)e;
}
FLOATS frexp(T x, int *e) {
    if (x == (T)0 || x - x != (T)0) { *e = 0; return x; }
    int k = (int)logb(x) + 1;
    *e = k;
    return ldexp(x, -k);
}
FLOATS rcbrt(T x) { return (T)1 / cbrt(x); }
FLOATS rhypot(T x, T y) { return (T)1 / hypot(x, y); }
FLOATS norm3d(T x, T y, T z) { return hypot(hypot(x, y), z); }
FLOATS norm4d(T x, T y, T z, T w) { return hypot(hypot(x, y), hypot(z, w)); }
FLOATS rnorm3d(T x, T y, T z) { return (T)1 / norm3d(x, y, z); }
FLOATS rnorm4d(T x, T y, T z, T w) { return (T)1 / norm4d(x, y, z, w); }
template <typename T> DEVICE long lrint(T x) { return (long)rint(x); }
template <typename T> DEVICE long llrint(T x) { return (long)rint(x); }
template <typename T> DEVICE long lround(T x) { return (long)round(x); }
template <typename T> DEVICE long llround(T x) { return (long)round(x); }
// ---- two results
template <typename T> DEVICE void sincospi(T x, T *s, T *c) { *s = sinpi(x); *c = cospi(x); }
FLOATS sincos(T x, T *c) { *c = cos(x); return sin(x); }
template <typename T> DEVICE void sincos3(T x, T *s, T *c) { *s = sin(x); *c = cos(x); }
DEVICE void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
DEVICE void __sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
FLOATS modf(T x, T *whole) {
    T w = trunc(x);
    *whole = w;
    return copysign(x - x == (T)0 ? x - w : x == x ? (T)0 : x, x);
}
FLOATS fract(T x, T *whole) {
    *whole = floor(x);
    if (!(x - x == (T)0)) return x == x ? (T)0 : x;
    T below = (T)(sizeof(T) == 8 ? 0.99999999999999988897769753748 : 0.999999940395355224609375);
    return fmin(x - floor(x), below);
}
template <typename T, typename C> DEVICE T select(T a, T b, C c) { return c ? b : a; }

// ---- relations: of numbers, 1 and 0
COMPARES isequal(T x, T y) { return x == y; }
COMPARES isnotequal(T x, T y) { return x != y; }
COMPARES isgreater(T x, T y) { return x > y; }
COMPARES isgreaterequal(T x, T y) { return x >= y; }
COMPARES isless(T x, T y) { return x < y; }
COMPARES islessequal(T x, T y) { return x <= y; }
COMPARES islessgreater(T x, T y) { return x < y || x > y; }
COMPARES isordered(T x, T y) { return x == x && y == y; }
COMPARES isunordered(T x, T y) { return x != x || y != y; }

// ---- integers
DEVICE int __popcll(unsigned long long x) {
    x = x - ((x >> 1) & 0x5555555555555555ull);
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (int)((x * 0x0101010101010101ull) >> 56);
}
DEVICE int __popc(unsigned int x) { return __popcll(x); }
FLOATS popcount(T x) {
    unsigned long long bits = (unsigned long long)x;
    if (sizeof(T) == 4) bits = bits & 0xffffffffull;
    if (sizeof(T) == 2) bits = bits & 0xffffull;
    if (sizeof(T) == 1) bits = bits & 0xffull;
    return (T)__popcll(bits);
}
DEVICE int __clzll(long long x) {
    unsigned long long bits = (unsigned long long)x;
    bits = bits | (bits >> 1);
    bits = bits | (bits >> 2);
    bits = bits | (bits >> 4);
    bits = bits | (bits >> 8);
    bits = bits | (bits >> 16);
    bits = bits | (bits >> 32);
    return 64 - __popcll(bits);
}
DEVICE int __clz(int x) { return __clzll((long long)(unsigned int)x) - 32; }
FLOATS clz(T x) {
    unsigned long long bits = (unsigned long long)x;
    if (sizeof(T) == 4) bits = bits & 0xffffffffull;
    if (sizeof(T) == 2) bits = bits & 0xffffull;
    if (sizeof(T) == 1) bits = bits & 0xffull;
    return (T)(__clzll((long long)bits) - 64 + 8 * (int)sizeof(T));
}
FLOATS ctz(T x) {
    if (x == (T)0) return (T)(8 * sizeof(T));
    unsigned long long bits = (unsigned long long)x;
    return (T)__popcll((bits & (0ull - bits)) - 1ull);
}
DEVICE int __ffsll(long long x) { return x == 0 ? 0 : (int)ctz(x) + 1; }
DEVICE int __ffs(int x) { return x == 0 ? 0 : ctz(x) + 1; }
DEVICE unsigned long long __brevll(unsigned long long x) {
    x = ((x >> 1) & 0x5555555555555555ull) | ((x & 0x5555555555555555ull) << 1);
    x = ((x >> 2) & 0x3333333333333333ull) | ((x & 0x3333333333333333ull) << 2);
    x = ((x >> 4) & 0x0f0f0f0f0f0f0f0full) | ((x & 0x0f0f0f0f0f0f0f0full) << 4);
    x = ((x >> 8) & 0x00ff00ff00ff00ffull) | ((x & 0x00ff00ff00ff00ffull) << 8);
    x = ((x >> 16) & 0x0000ffff0000ffffull) | ((x & 0x0000ffff0000ffffull) << 16);
    return (x >> 32) | (x << 32);
}
DEVICE unsigned int __brev(unsigned int x) { return (unsigned int)(__brevll(x) >> 32); }
FLOATS rotate(T x, T n) {
    int bits = 8 * (int)sizeof(T), left = (int)n & (bits - 1);
    T low = (T)((x >> ((bits - left) & (bits - 1))) & (((T)1 << left) - (T)1));
    return (T)((x << left) | low);
}
FLOATS hadd(T x, T y) { return (x & y) + ((x ^ y) >> 1); }
FLOATS rhadd(T x, T y) { return (x | y) - ((x ^ y) >> 1); }
DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    unsigned long long a0 = a & 0xffffffffull, a1 = a >> 32, b0 = b & 0xffffffffull, b1 = b >> 32;
    unsigned long long middle = a1 * b0 + ((a0 * b0) >> 32);
    unsigned long long other = a0 * b1 + (middle & 0xffffffffull);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}
DEVICE long long __mul64hi(long long a, long long b) {
    unsigned long long high = __umul64hi((unsigned long long)a, (unsigned long long)b);
    if (a < 0) high = high - (unsigned long long)b;
    if (b < 0) high = high - (unsigned long long)a;
    return (long long)high;
}
DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * (unsigned long long)b) >> 32);
}
DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * (long long)b) >> 32); }
FLOATS mul_hi(T a, T b) {
    bool is_unsigned = (T)-1 > (T)0;
    if (sizeof(T) == 8) {
        if (is_unsigned) return (T)__umul64hi((unsigned long long)a, (unsigned long long)b);
        return (T)__mul64hi((long long)a, (long long)b);
    }
    int bits = 8 * (int)sizeof(T);
    if (is_unsigned) return (T)(((unsigned long long)a * (unsigned long long)b) >> bits);
    return (T)(((long long)a * (long long)b) >> bits);
}
FLOATS mad_hi(T a, T b, T c) { return mul_hi(a, b) + c; }
FLOATS add_sat(T a, T b) {
    bool is_unsigned = (T)-1 > (T)0;
    T sum = (T)(a + b);
    if (is_unsigned) return sum < a ? (T)-1 : sum;
    T least = (T)((T)1 << (8 * (int)sizeof(T) - 1));
    if (b >= (T)0 && sum < a) return (T)(least - (T)1);
    if (b < (T)0 && sum > a) return least;
    return sum;
}
FLOATS sub_sat(T a, T b) {
    bool is_unsigned = (T)-1 > (T)0;
    T rest = (T)(a - b);
    if (is_unsigned) return a < b ? (T)0 : rest;
    T least = (T)((T)1 << (8 * (int)sizeof(T) - 1));
    if (b < (T)0 && rest < a) return (T)(least - (T)1);
    if (b >= (T)0 && rest > a) return least;
    return rest;
}
DEVICE int __hadd(int x, int y) { return hadd(x, y); }
DEVICE int __rhadd(int x, int y) { return rhadd(x, y); }
DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) { return hadd(x, y); }
DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) { return rhadd(x, y); }
DEVICE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
DEVICE unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
DEVICE unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)((((unsigned long long)high << 32 | low) << (n & 31u)) >> 32);
}
DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (n & 31u));
}
DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned int made = 0;
    for (int k = 0; k < 4; ++k) {
        unsigned int choice = (s >> (4 * k)) & 15u;
        unsigned int byte = (unsigned int)(both >> (8 * (choice & 7u))) & 255u;
        if (choice & 8u) byte = byte & 128u ? 255u : 0u;
        made |= byte << (8 * k);
    }
    return made;
}
DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
DEVICE int __double2loint(double x) { return (int)(unsigned int)__double_as_longlong(x); }
DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (long long)(unsigned int)low);
}
DEVICE void __nanosleep(unsigned int ns) { }
FLOATS abs_diff(T a, T b) { return a > b ? a - b : b - a; }
DEVICE unsigned int __sad(int a, int b, unsigned int c) { return (unsigned int)abs_diff((long long)a, (long long)b) + c; }
DEVICE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return abs_diff(a, b) + c; }

// ---- rounded to nearest, as every operation is
DEVICE float __fadd_rn(float a, float b) { return a + b; }
DEVICE float __fsub_rn(float a, float b) { return a - b; }
DEVICE float __fmul_rn(float a, float b) { return a * b; }
DEVICE float __fdiv_rn(float a, float b) { return a / b; }
DEVICE float __frcp_rn(float a) { return 1.0f / a; }
DEVICE float __fsqrt_rn(float a) { return sqrtf(a); }
DEVICE float __frsqrt_rn(float a) { return 1.0f / sqrtf(a); }
DEVICE float __exp10f(float a) { return powf(10.0f, a); }
DEVICE double __dadd_rn(double a, double b) { return a + b; }
DEVICE double __dsub_rn(double a, double b) { return a - b; }
DEVICE double __dmul_rn(double a, double b) { return a * b; }
DEVICE double __ddiv_rn(double a, double b) { return a / b; }
DEVICE double __drcp_rn(double a) { return 1.0 / a; }
DEVICE double __dsqrt_rn(double a) { return sqrt(a); }

// ---- textures: numbers that say how they are read (`textures`), and the elements
DEVICE int texel_index(float at, int n, int mode) {  // -1: the border
    if (mode == 3 && !(at >= 0 && at < n)) return -1;
    if (mode == 1) return at >= n ? n - 1 : at >= 0 ? (int)at : 0;
    int period = mode == 2 ? 2 * n : n;
    int k = (int)(at - floorf(at / period) * period);
    k = k < 0 ? 0 : k >= period ? period - 1 : k;
    return k < n ? k : period - 1 - k;
}
DEVICE float texel(const float* t, float x, float y, float z) {
    int i = texel_index(x, (int)t[0], (int)t[3]), j = texel_index(y, (int)t[1], (int)t[4]), k = texel_index(z, (int)t[2], (int)t[5]);
    if (i < 0 || j < 0 || k < 0) return t[8];
    return t[9 + ((long)k * (int)t[1] + j) * (int)t[0] + i];
}
DEVICE float texel_row(const float* t, float x, float y, float z, float a) {
    return texel(t, x, y, z) * (1.0f - a) + texel(t, x + 1.0f, y, z) * a;
}
DEVICE float texel_plane(const float* t, float x, float y, float z, float a, float b) {
    return texel_row(t, x, y, z, a) * (1.0f - b) + texel_row(t, x, y + 1.0f, z, a) * b;
}
DEVICE float texture_at(const float* t, float x, float y, float z) {
    if (t[7] != 0.0f) { x *= t[0]; y *= t[1]; z *= t[2]; }
    if (t[6] == 0.0f) return texel(t, floorf(x), floorf(y), floorf(z));
    x -= 0.5f; y -= 0.5f; z -= 0.5f;
    float i = floorf(x), j = floorf(y), k = floorf(z);
    float a = x - i, b = y - j, c = z - k;
    if (t[2] == 1.0f) return texel_plane(t, i, j, 0.0f, a, t[1] == 1.0f ? 0.0f : b);
    return texel_plane(t, i, j, k, a, b) * (1.0f - c) + texel_plane(t, i, j, k + 1.0f, a, b) * c;
}
template <typename T> DEVICE T tex1Dfetch(const float* t, int i) { return i < 0 || i >= (int)t[0] ? 0.0f : t[9 + i]; }
template <typename T> DEVICE T tex1D(const float* t, float x) { return texture_at(t, x, 0.5f / t[1], 0.5f / t[2]); }
template <typename T> DEVICE T tex2D(const float* t, float x, float y) { return texture_at(t, x, y, 0.5f / t[2]); }
template <typename T> DEVICE T tex3D(const float* t, float x, float y, float z) { return texture_at(t, x, y, z); }
"""


@functools.cache
def translation():
    """The text, read once; its functions are made as they are called."""
    from .functions import Translation

    source = Source(TEXT, "<functions of C text>")
    parser = Parser(tokens(TEXT, source), source)
    parser.parse()
    return Translation(parser, source)
