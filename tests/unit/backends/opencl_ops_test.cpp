// Every operation, cast and constant on every dtype on an OpenCL device, against the scalar
// reference, bit for bit.
#include <bit>
#include <cmath>
#include <limits>

#include "ops/scalar_eval.h"
#include "unit/backends/opencl_harness.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::DeviceArray;
using unisono::testing::OpenCL;
using unisono::testing::run;

namespace {

template <class T>
std::vector<T> special_values() {
    using L = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (L::is_integer && !L::is_signed) {
        return {0, 1, 2, 3, 7, 8, 9, 127, 128, 200, 255};
    } else if constexpr (L::is_integer) {
        constexpr T bits = 8 * sizeof(T);
        return {0,
                1,
                -1,
                2,
                -2,
                3,
                -3,
                7,
                -7,
                10,
                100,
                bits - 1,
                bits,
                bits + 1,
                L::min(),
                L::max(),
                T(L::min() + 1),
                T(L::max() - 1)};
    } else {
        return {T(0),
                T(-0.0),
                T(1),
                T(-1),
                T(0.5),
                T(1.5),
                T(2.5),
                T(-2.5),
                T(3),
                T(-3),
                T(7),
                T(0.1),
                T(-0.1),
                T(1e9),
                T(-3e9),
                T(1e19),
                L::min(),
                L::denorm_min(),
                T(-L::denorm_min()),
                L::max(),
                L::lowest(),
                L::infinity(),
                T(-L::infinity()),
                L::quiet_NaN()};
    }
}

std::vector<Scalar> values(DType t) {
    return dispatch(t, [&]<class C>() {
        std::vector<Scalar> out;
        for (C v : special_values<C>()) out.push_back(Scalar::of(t, v));
        return out;
    });
}

DeviceArray array_of(DType t, const std::vector<Scalar>& items) {
    DeviceArray a =
        DeviceArray::of(std::vector<char>(items.size() * static_cast<std::size_t>(size_of(t))));
    for (std::size_t i = 0; i < items.size(); ++i) {
        std::memcpy(a.host.data() + i * static_cast<std::size_t>(size_of(t)), &items[i].bits,
                    static_cast<std::size_t>(size_of(t)));
    }
    a.shape = {static_cast<std::int64_t>(items.size())};
    return a;
}

Scalar item(const DeviceArray& a, DType t, std::size_t i) {
    Scalar s{0, t};
    std::memcpy(&s.bits, a.host.data() + i * static_cast<std::size_t>(size_of(t)),
                static_cast<std::size_t>(size_of(t)));
    return s;
}

bool is_nan(Scalar s) { return is_float(s.dtype) && std::isnan(s.as<double>()); }

/// Distance in units of the last place; 0 for equal bits and for NaNs.
double ulps(Scalar a, Scalar b) {
    if (a.bits == b.bits || (is_nan(a) && is_nan(b))) return 0;
    if (is_nan(a) || is_nan(b) || !is_float(a.dtype)) return HUGE_VAL;
    if (a.dtype == DType::Float32) {
        float x = a.get<float>(), y = b.get<float>();
        return std::fabs(double(x) - double(y)) /
               (std::nextafter(std::fabs(y), HUGE_VALF) - std::fabs(y));
    }
    if (is_half(a.dtype)) return std::fabs(a.get<Half>() - b.get<Half>()) == 0 ? HUGE_VAL : 1;
    double x = a.get<double>(), y = b.get<double>();
    return std::fabs(x - y) / (std::nextafter(std::fabs(y), HUGE_VAL) - std::fabs(y));
}

std::string show(Scalar s) {
    return is_float(s.dtype) ? std::to_string(s.as<double>())
                             : std::to_string(s.as<std::int64_t>());
}

/// One kernel whose outputs are the results of all operations on dtype t, over pairs of values.
void check_all_operations(Device& device, DType t) {
    std::vector<Scalar> left, right;
    for (Scalar x : values(t)) {
        for (Scalar y : values(t)) {
            left.push_back(x);
            right.push_back(y);
        }
    }
    Module m;
    Builder b(m.functions.emplace_back("operations"));
    auto a0 = b.array_param("left", t, 1, false);
    auto a1 = b.array_param("right", t, 1, false);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    std::vector<S> body;
    std::vector<Op> ops;
    std::vector<DeviceArray> arrays{array_of(t, left), array_of(t, right)};
    for (int k = 0; k < op_count; ++k) {
        Op op = static_cast<Op>(k);
        auto result = result_dtype(op, t);
        if (!result || (op == Op::NextAfter && is_half(t))) continue;
        auto out = b.array_param("out_" + std::string(name(op)), *result, 1, true);
        E x = b.load(a0, at), y = b.load(a1, at);
        body.push_back(b.store(out, at, info(op).arity == 1 ? b.unary(op, x) : b.binary(op, x, y)));
        ops.push_back(op);
        arrays.push_back(array_of(*result, std::vector<Scalar>(left.size(), Scalar{0, *result})));
    }
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a0, 0), b.i64(1),
                               b.block(std::span<const S>(body)));
    std::vector<DeviceArray*> pointers;
    for (DeviceArray& a : arrays) pointers.push_back(&a);
    run(device, std::move(m), pointers);
    for (std::size_t k = 0; k < ops.size(); ++k) {
        for (std::size_t j = 0; j < left.size(); ++j) {
            Scalar want = eval(ops[k], left[j], right[j]);
            Scalar got = item(arrays[k + 2], want.dtype, j);
            EXPECT_EQ(ulps(got, want), 0)
                << name(ops[k]) << " of " << name(t) << " " << show(left[j]) << ", "
                << show(right[j]) << ": got " << show(got) << ", expected " << show(want);
        }
    }
}

}  // namespace

class OpenCLOperations : public OpenCL, public ::testing::WithParamInterface<DType> {};

TEST_P(OpenCLOperations, GiveTheReferenceBits) { check_all_operations(*device, GetParam()); }

TEST_P(OpenCLOperations, CastsGiveTheReferenceBits) {
    DType t = GetParam();
    std::vector<Scalar> from = values(t);
    // The neighbourhood of each integer type's limits.
    if (is_float(t)) {
        for (double v : {2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 2147483646.5,
                         -2147483648.5, 255.0, 256.5, -1.5, 9223372036854775807.0,
                         -9223372036854775808.0, 9223372036854774784.0, -9.3e18, 16777217.0}) {
            from.push_back(Scalar::of(t, v));
        }
    } else if (t == DType::Int64) {
        for (std::int64_t v : {16777217LL, 9007199254740993LL, 4294967296LL, -4294967297LL})
            from.push_back(Scalar::of(t, v));
    }
    Module m;
    Builder b(m.functions.emplace_back("casts"));
    auto a = b.array_param("a", t, 1, false);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    std::vector<S> body;
    std::vector<DeviceArray> arrays{array_of(t, from)};
    for (int k = 0; k < real_dtype_count; ++k) {
        auto to = static_cast<DType>(k);
        auto out = b.array_param("to_" + std::string(name(to)), to, 1, true);
        body.push_back(b.store(out, at, b.cast(b.load(a, at), to)));
        arrays.push_back(array_of(to, std::vector<Scalar>(from.size(), Scalar{0, to})));
    }
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1),
                               b.block(std::span<const S>(body)));
    std::vector<DeviceArray*> pointers;
    for (DeviceArray& x : arrays) pointers.push_back(&x);
    run(*device, std::move(m), pointers);
    for (int k = 0; k < real_dtype_count; ++k) {
        for (std::size_t j = 0; j < from.size(); ++j) {
            Scalar want = cast(from[j], static_cast<DType>(k));
            Scalar got = item(arrays[static_cast<std::size_t>(k) + 1], want.dtype, j);
            EXPECT_EQ(ulps(got, want), 0)
                << name(t) << " " << show(from[j]) << " to " << name(want.dtype) << ": got "
                << show(got) << ", expected " << show(want);
        }
    }
}

/// Constants arrive with their bits: written as decimal text, they are read back exactly.
TEST_P(OpenCLOperations, ConstantsKeepTheirBits) {
    DType t = GetParam();
    std::vector<Scalar> all = values(t);
    if (is_float(t)) {
        for (double v : {3.141592653589793, 1e-7, 1.7976931348623157e300, 123456789.125})
            all.push_back(Scalar::of(t, v));
    }
    Module m;
    Builder b(m.functions.emplace_back("constants"));
    auto out = b.array_param("out", t, 1, true);
    std::vector<S> body;
    for (std::size_t k = 0; k < all.size(); ++k) {
        E at[] = {b.i64(static_cast<std::int64_t>(k))};
        body.push_back(b.store(out, at, b.constant(all[k])));
    }
    b.function().body = b.block(std::span<const S>(body));
    DeviceArray got = array_of(t, std::vector<Scalar>(all.size(), Scalar{0, t}));
    run(*device, std::move(m), {&got});
    for (std::size_t k = 0; k < all.size(); ++k)
        EXPECT_EQ(ulps(item(got, t, k), all[k]), 0) << show(all[k]);
}

INSTANTIATE_TEST_SUITE_P(AllDTypes, OpenCLOperations,
                         ::testing::Values(DType::Bool, DType::Int8, DType::UInt8, DType::Int16,
                                           DType::UInt16, DType::Int32, DType::UInt32, DType::Int64,
                                           DType::UInt64, DType::Float16, DType::Float32,
                                           DType::Float64),
                         [](const auto& info) { return std::string(name(info.param)); });

/// a * b + c where one rounding and two differ: a*b is 1 - 2^-60 or so, which rounds to 1, and c is
/// -1.
template <class T>
static void check_nothing_contracts(Device& device, DType t) {
    T e = std::numeric_limits<T>::epsilon();
    std::vector<T> a, x, c;
    for (int k = 1; k < 200; ++k) {
        a.push_back(1 + T(k) * e);
        x.push_back(1 - T(k) * e);
        c.push_back(-1);
    }
    Module m;
    Builder b(m.functions.emplace_back("muladd"));
    auto pa = b.array_param("a", t, 1, false);
    auto px = b.array_param("x", t, 1, false);
    auto pc = b.array_param("c", t, 1, false);
    auto two = b.array_param("two_roundings", t, 1, true);
    auto one = b.array_param("one_rounding", t, 1, true);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    E la = b.load(pa, at), lx = b.load(px, at), lc = b.load(pc, at);
    S body =
        b.block({b.store(two, at, b.add(b.mul(la, lx), lc)), b.store(one, at, b.fma(la, lx, lc))});
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(pa, 0), b.i64(1), body);
    auto da = DeviceArray::of(a), dx = DeviceArray::of(x), dc = DeviceArray::of(c);
    DeviceArray dtwo = DeviceArray::of(c), done = DeviceArray::of(c);
    run(device, std::move(m), {&da, &dx, &dc, &dtwo, &done});
    bool differ = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        volatile T product = a[k] * x[k];
        EXPECT_EQ(dtwo.get<T>()[k], product + c[k]) << k;
        EXPECT_EQ(done.get<T>()[k], std::fma(a[k], x[k], c[k])) << k;
        differ |= dtwo.get<T>()[k] != done.get<T>()[k];
    }
    EXPECT_TRUE(differ) << "the values do not tell fma from two roundings";
}

TEST_F(OpenCL, NothingContractsFloat64) {
    check_nothing_contracts<double>(*device, DType::Float64);
}
TEST_F(OpenCL, NothingContractsFloat32) { check_nothing_contracts<float>(*device, DType::Float32); }

TEST_F(OpenCL, BitcastAndSelect) {
    Module m;
    Builder b(m.functions.emplace_back("bits"));
    auto a = b.array_param("a", DType::Float64, 1, false);
    auto out = b.array_param("out", DType::Int64, 1, true);
    auto flag = b.scalar_param("flag", DType::Bool);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    E as_bits = b.bitcast(b.load(a, at), DType::Int64);
    S body = b.store(out, at, b.select(b.param(flag), as_bits, b.unary(Op::Neg, as_bits)));
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1), body);
    std::vector<double> values{1.5, -0.0, 1e300};
    auto da = DeviceArray::of(values);
    auto dout = DeviceArray::of(std::vector<std::int64_t>(3));
    run(*device, std::move(m), {&da, &dout}, {Scalar::of(DType::Bool, true)});
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(dout.get<std::int64_t>()[k], std::bit_cast<std::int64_t>(values[k]));
}
