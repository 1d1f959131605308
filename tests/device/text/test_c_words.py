"""Functions of OpenCL C and CUDA C in kernels of C text, beside Python's integers and NumPy."""

import math
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pytest
import unisono as un

TYPES = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "float": "float32", "double": "float64",
}  # fmt: skip


def run(expressions, ctype, x, y, out, device):
    """What each of the expressions of x[i], y[i] and i gives, by one kernel."""
    stores = "".join(f"o[{k} * n + i] = {e};\n" for k, e in enumerate(expressions))
    kernel = un.RawKernel(
        f"""__kernel void k(__global const {ctype} *a, __global const {ctype} *b, __global {out} *o, int n) {{
            int i = get_global_id(0);
            {ctype} x = a[i], y = b[i];
            {stores} }}""",
        "k",
    )
    x, y = (un.array(np.asarray(v, TYPES[ctype]), device=device) for v in (x, y))
    o = un.zeros(len(expressions) * x.size, TYPES[out], device=device)
    kernel((1,), (x.size,), (x, y, o, x.size))
    return dict(zip(expressions, np.asarray(o).reshape(-1, x.size), strict=True))


def unsigned(a, bits):
    return a & ((1 << bits) - 1)


def rotated(a, b, bits):
    b %= bits
    return unsigned(a, bits) << b | unsigned(a, bits) >> (bits - b)


INTEGERS = {
    "popcount(x)": lambda a, b, bits: unsigned(a, bits).bit_count(),
    "clz(x)": lambda a, b, bits: bits - unsigned(a, bits).bit_length(),
    "ctz(x)": lambda a, b, bits: bits if a == 0 else (a & -a).bit_length() - 1,
    "rotate(x, y)": rotated,
    "hadd(x, y)": lambda a, b, bits: (a + b) >> 1,
    "rhadd(x, y)": lambda a, b, bits: (a + b + 1) >> 1,
    "mul_hi(x, y)": lambda a, b, bits: (a * b) >> bits,
    "abs_diff(x, y)": lambda a, b, bits: abs(a - b),
}
OF_CUDA = {
    ("__popcll(x)", "ulong"): lambda a, b: a.bit_count(),
    ("__brev(x)", "uint"): lambda a, b: int(f"{a:032b}"[::-1], 2),
    ("__brevll(x)", "ulong"): lambda a, b: int(f"{a:064b}"[::-1], 2),
    ("__ffs(x)", "int"): lambda a, b: 0 if a == 0 else (a & -a).bit_length(),
    ("__clz(x)", "int"): lambda a, b: 32 - unsigned(a, 32).bit_length(),
    ("__mulhi(x, y)", "int"): lambda a, b: (a * b) >> 32,
    ("__umulhi(x, y)", "uint"): lambda a, b: (a * b) >> 32,
    ("__mul64hi(x, y)", "long"): lambda a, b: (a * b) >> 64,
    ("__umul64hi(x, y)", "ulong"): lambda a, b: (a * b) >> 64,
}


def drawn(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    x, y = rng.integers(info.min, info.max, (2, 100), dtype=dtype, endpoint=True)
    x[:6], y[:6] = [0, 1, info.max, info.min, 2, 3], [info.min, info.max, info.max, info.min, 0, 7]
    return x, y


def compare(references, ctype, device):
    x, y = drawn(TYPES[ctype])
    bits = 8 * x.itemsize
    for expression, values in run(list(references), ctype, x, y, ctype, device).items():
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        expected = [unsigned(references[expression](a, b), bits) for a, b in pairs]
        expected = np.array(expected, f"uint{bits}").view(x.dtype)
        np.testing.assert_array_equal(values, expected, err_msg=f"{expression} of {ctype}")


def with_bits(reference, bits):
    return lambda a, b: reference(a, b, bits)


def saturated(exact, info):
    return lambda a, b: min(max(exact(a, b), info.min), info.max)


@pytest.mark.parametrize("ctype", ["uchar", "short", "int", "uint", "long", "ulong"])
def test_integers(ctype, device):
    info = np.iinfo(TYPES[ctype])
    references = {e: with_bits(f, info.bits) for e, f in INTEGERS.items()}
    references["add_sat(x, y)"] = saturated(int.__add__, info)
    references["sub_sat(x, y)"] = saturated(int.__sub__, info)
    references |= {e: f for (e, c), f in OF_CUDA.items() if c == ctype}
    compare(references, ctype, device)


X = np.array([-2.5, 0.5, 3.0, -0.0, 1e-3, 17.25, -0.75])
Y = np.array([1.0, 2.0, -1.5, 3.0, -4.0, 0.5, 0.25])
REALS = {
    "sign(x)": np.sign(X),
    "degrees(x)": np.degrees(X),
    "radians(x)": np.radians(X),
    "mix(x, y, 0.25)": X + (Y - X) * 0.25,
    "step(x, y)": np.where(Y < X, 0.0, 1.0),
    "smoothstep(-3, 3, x)": (t := np.clip((X + 3) / 6, 0, 1)) * t * (3 - 2 * t),
    "fdim(x, y)": np.maximum(X - Y, 0),
    "maxmag(x, y)": np.where(abs(X) > abs(Y), X, Y),
    "minmag(x, y)": np.where(abs(X) < abs(Y), X, Y),
    "exp10(y)": 10.0**Y,
    "pown(x, 3)": X**3,
    "rootn(x, 3)": np.cbrt(X),
    "sinpi(y)": [math.sin(math.pi * v) if v % 1 else 0.0 for v in Y],
    "cospi(y)": [math.cos(math.pi * v) if (v * 2) % 2 != 1 else 0.0 for v in Y],
    "logb(y)": np.floor(np.log2(abs(Y))),
    "ldexp(x, 3)": X * 8,
    "ldexp(0.0 * x, 2097)": 0 * X,
    "select(x, y, i)": [X[0], *Y[1:]],
    "isless(x, y)": X < Y,
    "isgreaterequal(x, y)": X >= Y,
    "isunordered(x, 0 * x / (y - y))": np.ones(7),
    "__dadd_rn(x, y)": X + Y,
}


@pytest.mark.parametrize("ctype, tolerance", [("double", 4e-16), ("float", 4e-7)])
def test_reals(ctype, tolerance, device):
    expressions = [e for e in REALS if "__d" not in e or ctype == "double"]
    for expression, got in run(expressions, ctype, X, Y, ctype, device).items():
        want = np.asarray(REALS[expression], float)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=expression)


def test_conversions(device):
    x = np.array([-2.5, 0.5, 300.7, 3e10, np.nan, -3e10])
    small = np.array([-2.5, 0.5, 1.5, 2.5, -0.5, 300.7])
    limit = 2**31
    expected = {
        "convert_int_sat(x)": ("int", x, [-2, 0, 300, limit - 1, 0, -limit]),
        "convert_uchar_sat(x)": ("uchar", x, [0, 0, 255, 255, 0, 0]),
        "convert_int_rte(x)": ("int", small, [-2, 0, 2, 2, 0, 301]),
        "convert_int_rtp(x)": ("int", small, [-2, 1, 2, 3, 0, 301]),
        "convert_int_rtn(x)": ("int", small, [-3, 0, 1, 2, -1, 300]),
        "convert_short(x)": ("short", small, [-2, 0, 1, 2, 0, 300]),
        "as_long(x)": ("long", x, x.view(np.int64)),
        "as_double(as_ulong(x))": ("double", x, x),
        "__float_as_int((float)x)": ("int", x, x.astype(np.float32).view(np.int32)),
        "__int_as_float(0x3f800000)": ("float", x, np.ones(6)),
        "__longlong_as_double(__double_as_longlong(x))": ("double", x, x),
        "convert_char_sat(x > 3) + as_int(x > 3)": ("int", x, [0, 0, 2, 2, 0, 0]),
        "(double)abs_diff(0, -2147483647 - 1)": ("double", x, np.full(6, 2.0**31)),
    }
    for expression, (out, values, want) in expected.items():
        got = run([expression], "double", values, values, out, device)[expression]
        np.testing.assert_array_equal(got, np.asarray(want, TYPES[out]), err_msg=expression)
    with pytest.raises(un.errors.CompileError, match="bits of a number of its size"):
        run(["as_int(x)"], "double", x, x, "int", device)


def test_fma_rounds_once(device):
    x = 1 + np.arange(1, 20) * 2.0**-30
    (got,) = run(["fma(x, x, -1.0)"], "double", x, x, "double", device).values()
    exact = [float(((1 << 30) + k) ** 2 - (1 << 60)) * 2.0**-60 for k in range(1, 20)]
    np.testing.assert_array_equal(got, exact)
    assert not np.array_equal(x * x - 1.0, exact)
    y = np.float32(1) + np.arange(1, 20, dtype=np.float32) * np.float32(2.0**-13)
    (got,) = run(["fma(x, x, -1.0f)"], "float", y, y, "float", device).values()
    np.testing.assert_array_equal(got, (y.astype(float) ** 2 - 1).astype(np.float32))


def test_ldexp_rounds_once_at_the_ends(device):
    rng = np.random.default_rng(2)
    for dtype, ctype, low in ((np.float64, "double", -1074), (np.float32, "float", -149)):
        x = ((1 + rng.random(200)) * 2.0 ** rng.integers(low // 2, -low // 2, 200)).astype(dtype)
        x[:4] = [0.0, -0.0, np.inf, 2.0**low]
        for n in (-2 * low, -low, low // 2, low, 2 * low, -37, 37):
            (got,) = run([f"ldexp(x, {n})"], ctype, x, x, ctype, device).values()
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(got, np.ldexp(x, n), err_msg=f"{ctype} {n}")


def test_functions_with_two_results(device):
    kernel = un.RawKernel(
        """__kernel void k(__global const float *x, __global float *o, __global float4 *v, int n) {
            int i = get_global_id(0);
            float c, whole, floored;
            o[i] = sincos(x[i], &c);
            o[n + i] = c;
            o[2 * n + i] = modf(x[i], &whole);
            o[3 * n + i] = whole;
            o[4 * n + i] = fract(x[i], &floored);
            o[5 * n + i] = floored;
            float4 w;
            v[i] = sincos((float4)(x[i], 0, 1, 2), &w) + w; }""",
        "k",
    )
    x = np.array([-2.5, 0.75, 3.0, -1e-9, np.inf, 100.25], np.float32)
    o, v = un.zeros(6 * x.size, "f4", device=device), un.zeros((x.size, 4), "f4", device=device)
    kernel((1,), (x.size,), (un.array(x, device=device), o, v, x.size))
    got = np.asarray(o).reshape(6, -1)
    rest, whole = np.modf(x)
    down = np.floor(x)
    below = np.nextafter(np.float32(1), np.float32(0))
    with np.errstate(invalid="ignore"):
        expected = [np.sin(x), np.cos(x), rest, whole, np.fmin(x - down, below), down]
    expected[4][4] = 0
    np.testing.assert_allclose(got, np.array(expected), rtol=3e-7)
    angles = np.array([0, 1, 2], np.float32)
    both = np.broadcast_to(np.sin(angles) + np.cos(angles), (x.size, 3))
    np.testing.assert_allclose(np.asarray(v)[:, 1:], both, rtol=3e-7)


def close(expressions, x, y, device, out="double", ctype="double", limit=8):
    """Compares each expression with its reference, in units of the last place."""
    made = run(list(expressions), ctype, x, y, out, device)
    for e, f in expressions.items():
        want = np.array([f(float(a), float(b)) for a, b in zip(x, y, strict=True)])
        want = want.astype(TYPES[out])
        with np.errstate(invalid="ignore"):
            apart = np.abs(made[e] - want) / np.spacing(np.abs(want))
        assert np.nanmax(apart, initial=0) <= limit, (e, np.nanargmax(apart))
        np.testing.assert_array_equal(np.isnan(made[e]), np.isnan(want), err_msg=e)


def quantile(p):
    return NormalDist().inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


SPECIAL = {
    "erf(x)": lambda x, y: math.erf(x),
    "erfc(x)": lambda x, y: math.erfc(x),
    "lgamma(y)": lambda x, y: math.lgamma(y),
    "tgamma(y)": lambda x, y: math.gamma(y),
    "remainder(x, y)": math.remainder,
    "erfcx(x)": lambda x, y: math.exp(x * x) * math.erfc(x),
    "normcdf(x)": lambda x, y: NormalDist().cdf(x) if x > -1 else math.erfc(-x / 2**0.5) / 2,
    "normcdfinv(x * 0.125 + 0.5)": lambda x, y: quantile(x * 0.125 + 0.5),
    "erfinv(x * 0.25)": lambda x, y: quantile(x * 0.125 + 0.5) / 2**0.5,
    "erfcinv(1.0 - x * 0.25)": lambda x, y: quantile(x * 0.125 + 0.5) / 2**0.5,
    "rcbrt(y)": lambda x, y: 1 / y ** (1 / 3),
    "rhypot(x, y)": lambda x, y: 1 / math.hypot(x, y),
    "norm3d(x, y, 2.0)": lambda x, y: math.hypot(x, y, 2.0),
    "scalbn(x, 3)": lambda x, y: x * 8,
    "ilogb(y)": lambda x, y: math.frexp(y)[1] - 1,
    "lrint(x)": lambda x, y: round(x),
    "llround(x)": lambda x, y: math.floor(abs(x) + 0.5) * math.copysign(1, x),
    "nextafter(x, y)": math.nextafter,
    "::sqrt(y) + std::fabs(x)": lambda x, y: math.sqrt(y) + abs(x),
}


def test_special_functions(device):
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(-4, 4, 200), [0, 0.5, -0.5, 1.25, 2.5, -2.5]])
    y = np.concatenate([rng.uniform(0.1, 30, 200), [1, 2, 3, 4, 0.25, 170]])
    close(SPECIAL, x, y, device, limit=64)  # the references round, too


def test_special_functions_of_single_precision(device):
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-3, 3, 200).astype("f"), rng.uniform(0.1, 30, 200).astype("f")
    single = {
        "erff(x)": lambda x, y: math.erf(x),
        "erf(x)": lambda x, y: math.erf(x),
        "tgammaf(y)": lambda x, y: math.gamma(y),
        "rcbrtf(y)": lambda x, y: 1 / y ** (1 / 3),
        "fdimf(x, 1.0)": lambda x, y: max(np.float32(x) - np.float32(1), 0),
        "nextafterf(x, 9.0f)": lambda x, y: float(np.nextafter(np.float32(x), np.float32(9))),
    }
    close(single, x, y, device, "float", "float", 2)


def test_special_values(device):
    x = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 30, -30])
    want = {
        "erf(x)": [0, -0.0, math.erf(1), -math.erf(1), 1, -1, np.nan, 1, -1],
        "tgamma(x)": [np.inf, -np.inf, 1, np.nan, np.inf, np.nan, np.nan, math.gamma(30), np.nan],
        "erfinv(x)": [0, -0.0, np.inf, -np.inf, *[np.nan] * 5],
        "erfcinv(x)": [np.inf, np.inf, 0, *[np.nan] * 6],
        "normcdf(x)": [0.5, 0.5, *[NormalDist().cdf(v) for v in (1, -1)], 1, 0, np.nan, 1, 4.906713927148187e-198],
    }  # fmt: skip
    scaled = [float(2 * (Decimal(0.01 * v - 26.62) ** 2).exp()) for v in (0, 0, 1, 30)]
    want["erfcx(0.01 * x - 26.62)"] = [*scaled[:3], np.inf, 0, np.inf, np.nan, scaled[3], np.inf]
    made = run(list(want), "double", x, x, "double", device)
    for e, values in want.items():
        np.testing.assert_allclose(made[e], values, rtol=1e-14, err_msg=e)


def test_conversions_of_cuda(device):
    x = np.array([0.5, 1.5, -1.5, 2.7, -2.7, 1e300, -1e300, np.nan])
    most, least = 2**31 - 1, -(2**31)
    want = {
        "__double2int_rn(x)": [0, 2, -2, 3, -3, most, least, 0],
        "__double2int_rz(x)": [0, 1, -1, 2, -2, most, least, 0],
        "__double2int_ru(x)": [1, 2, -1, 3, -2, most, least, 0],
        "__double2int_rd(x)": [0, 1, -2, 2, -3, most, least, 0],
        "__float2ll_rn((float)y)": [1] * 8,
        "(int)__int2float_rn(7)": [7] * 8,
        "(int)__byte_perm(0x33221100u, 0x77665544u, 0x7160u)": [0x77116600] * 8,
        "(int)__funnelshift_l(0x80000000u, 1u, 1u)": [3] * 8,
        "__hiloint2double(__double2hiint(y), __double2loint(y)) == y": [1] * 8,
        "__uhadd(4294967295u, 4294967293u) == 4294967294u": [1] * 8,
    }
    made = run(list(want), "double", x, np.ones(8), "int", device)
    for e, values in want.items():
        assert made[e].tolist() == values, e


def test_two_results(device):
    text = """__global__ void k(const double* x, double* o, int n) {
        int i = threadIdx.x, e, *at = nullptr;
        double s, c;
        if (i % 2) at = &e;
        else at = &e;
        o[i] = frexp(x[i], at);
        o[n + i] = *at + (at == NULL);
        sincospi(x[i], &s, &c);
        o[2 * n + i] = s;
        o[3 * n + i] = c;
    }"""
    x = np.array([0.0, 1.0, -3.5, 0.25, 1e-310, 1e300, np.inf])
    o = un.zeros((4, x.size), device=device)
    un.RawKernel(text, "k")((1,), (x.size,), (un.array(x, device=device), o.reshape(-1), x.size))
    o = np.asarray(o)
    parts = [math.frexp(v) for v in x]
    assert o[0].tolist() == [p[0] for p in parts] and o[1].tolist() == [p[1] for p in parts]
    np.testing.assert_allclose(o[2][:4], [0, 0, 1, math.sqrt(0.5)])
    np.testing.assert_allclose(o[3][:4], [1, -1, 0, math.sqrt(0.5)])


def test_pointers_that_get_their_place_later(device):
    text = """
    #include<math.h>
    __global__ void k(float* x, int n) {
        float* at;
        __shared__ float t[8];
        if (threadIdx.x < n / 2) {
            at = t;
            at[threadIdx.x] = x[threadIdx.x];
        }
        __syncthreads();
        if (x != nullptr && threadIdx.x < n / 2) x[n - 1 - threadIdx.x] = *(at + threadIdx.x);
    }"""
    x = un.arange(8, dtype="float32", device=device)
    un.RawKernel(text, "k")((1,), (8,), (x, 8))
    assert np.asarray(x).tolist() == [0, 1, 2, 3, 3, 2, 1, 0]


def test_a_pointer_to_nothing():
    text = "__global__ void k(float* x) { float* at; x[0] = *at; }"
    with pytest.raises(un.CompileError, match="'at' points nowhere"):
        un.RawKernel(text, "k")((1,), (1,), (un.ones(1, "float32"),))
