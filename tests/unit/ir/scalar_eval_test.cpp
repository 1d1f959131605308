// Scalar operations follow the table of docs/ir.md, edge cases first.
#include "ops/scalar_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"

using namespace unisono;

namespace {

constexpr std::int64_t min64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int32_t min32 = std::numeric_limits<std::int32_t>::min();
constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Scalar i64(std::int64_t v) { return Scalar::of(DType::Int64, v); }
Scalar i32(std::int32_t v) { return Scalar::of(DType::Int32, v); }
Scalar u8(int v) { return Scalar::of(DType::UInt8, v); }
Scalar f64(double v) { return Scalar::of(DType::Float64, v); }
Scalar f32(float v) { return Scalar::of(DType::Float32, v); }
Scalar flag(bool v) { return Scalar::of(DType::Bool, v); }

/// Equal bits, or both NaN.
void expect_same(Scalar got, Scalar want) {
    EXPECT_EQ(got.dtype, want.dtype);
    if (is_float(want.dtype) && std::isnan(want.as<double>())) {
        EXPECT_TRUE(std::isnan(got.as<double>()));
    } else {
        EXPECT_EQ(got.bits, want.bits) << got.as<double>() << " instead of " << want.as<double>();
    }
}

}  // namespace

TEST(ScalarEval, IntegersWrap) {
    expect_same(eval(Op::Add, i64(std::numeric_limits<std::int64_t>::max()), i64(1)), i64(min64));
    expect_same(eval(Op::Mul, i32(1 << 30), i32(4)), i32(0));
    expect_same(eval(Op::Neg, i64(min64)), i64(min64));
    expect_same(eval(Op::Abs, i32(min32)), i32(min32));
    expect_same(eval(Op::Sub, u8(3), u8(5)), u8(254));
    expect_same(eval(Op::Neg, u8(1)), u8(255));
}

TEST(ScalarEval, IntegerDivisionRoundsDown) {
    const std::int64_t cases[][4] = {{7, 2, 3, 1},    {-7, 2, -4, 1}, {7, -2, -4, -1},
                                     {-7, -2, 3, -1}, {5, 0, 0, 0},   {min64, -1, min64, 0},
                                     {6, -3, -2, 0},  {0, -5, 0, 0}};
    for (auto& c : cases) {
        expect_same(eval(Op::FloorDiv, i64(c[0]), i64(c[1])), i64(c[2]));
        expect_same(eval(Op::Mod, i64(c[0]), i64(c[1])), i64(c[3]));
    }
    expect_same(eval(Op::FloorDiv, u8(200), u8(7)), u8(28));
}

TEST(ScalarEval, FloatDivisionIsNumPys) {
    // a, b, numpy.floor_divide(a, b), numpy.remainder(a, b)
    const double cases[][4] = {{7.5, 2, 3, 1.5},
                               {-7.5, 2, -4, 0.5},
                               {7.5, -2, -4, -0.5},
                               {-0.0, 3, -0.0, 0.0},
                               {6, -3, -2, -0.0},
                               {1, 0, inf, nan64},
                               {-1, 0, -inf, nan64},
                               {0, 0, nan64, nan64},
                               {1, inf, 0, 1},
                               {-1, inf, -1, inf},
                               {0.7, 0.1, 6, 0.7 - 0.6000000000000001},
                               {inf, 2, nan64, nan64},
                               {1, nan64, nan64, nan64}};
    for (auto& c : cases) {
        expect_same(eval(Op::FloorDiv, f64(c[0]), f64(c[1])), f64(c[2]));
        if (c[0] == 0.7) continue;  // its remainder has more digits than a decimal literal shows
        expect_same(eval(Op::Mod, f64(c[0]), f64(c[1])), f64(c[3]));
    }
}

TEST(ScalarEval, ShiftsByTheWidthOrMore) {
    expect_same(eval(Op::Shl, i64(1), i64(64)), i64(0));
    expect_same(eval(Op::Shl, i64(1), i64(63)), i64(min64));
    expect_same(eval(Op::Shl, i32(1), i32(-1)), i32(0));
    expect_same(eval(Op::Shr, i64(-8), i64(1)), i64(-4));
    expect_same(eval(Op::Shr, i64(-8), i64(100)), i64(-1));
    expect_same(eval(Op::Shr, i64(8), i64(-1)), i64(0));
    expect_same(eval(Op::Shl, u8(1), u8(8)), u8(0));
    expect_same(eval(Op::Shr, u8(255), u8(9)), u8(0));
}

TEST(ScalarEval, MinimumAndMaximumKeepNaN) {
    expect_same(eval(Op::Min, f64(nan64), f64(1)), f64(nan64));
    expect_same(eval(Op::Min, f64(1), f64(nan64)), f64(nan64));
    expect_same(eval(Op::Max, f32(NAN), f32(1)), f32(NAN));
    expect_same(eval(Op::Min, f64(0.0), f64(-0.0)), f64(0.0));
    expect_same(eval(Op::Max, f64(-0.0), f64(0.0)), f64(-0.0));
    expect_same(eval(Op::Min, flag(true), flag(false)), flag(false));
    expect_same(eval(Op::Max, flag(true), flag(false)), flag(true));
}

TEST(ScalarEval, ComparisonsWithNaN) {
    for (Op op : {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq}) {
        expect_same(eval(op, f64(nan64), f64(nan64)), flag(false));
    }
    expect_same(eval(Op::Ne, f64(nan64), f64(nan64)), flag(true));
}

TEST(ScalarEval, BitsOfBoolsAreLogical) {
    expect_same(eval(Op::Invert, flag(true)), flag(false));
    expect_same(eval(Op::Xor, flag(true), flag(true)), flag(false));
    expect_same(eval(Op::Invert, u8(1)), u8(254));
    expect_same(eval(Op::Abs, flag(true)), flag(true));
}

TEST(ScalarEval, CastsOutOfRange) {
    expect_same(cast(f64(nan64), DType::Int64), i64(min64));
    expect_same(cast(f64(9223372036854775808.0), DType::Int64), i64(min64));
    expect_same(cast(f64(-9223372036854775808.0), DType::Int64), i64(min64));
    expect_same(cast(f64(9223372036854774784.0), DType::Int64), i64(9223372036854774784));
    expect_same(cast(f64(2147483647.9), DType::Int32), i32(2147483647));
    expect_same(cast(f64(-2147483648.9), DType::Int32), i32(min32));
    expect_same(cast(f64(2147483648.0), DType::Int32), i32(min32));
    expect_same(cast(f32(-inf), DType::Int32), i32(min32));
    expect_same(cast(f64(-1.5), DType::UInt8), u8(255));
    expect_same(cast(f64(300.0), DType::UInt8), u8(44));
    expect_same(cast(f64(1e10), DType::UInt8), u8(0));
    expect_same(cast(i64(-1), DType::UInt8), u8(255));
    expect_same(cast(i64(4294967297), DType::Int32), i32(1));
    expect_same(cast(f64(nan64), DType::Bool), flag(true));
    expect_same(cast(f64(0.25), DType::Bool), flag(true));
    expect_same(cast(f64(-0.0), DType::Bool), flag(false));
    expect_same(cast(flag(true), DType::Float32), f32(1));
    expect_same(cast(i64(16777217), DType::Float32), f32(16777216.0F));
    expect_same(cast(i64(9007199791611905), DType::Float32), f32(9007200328482816.0F));
}

TEST(ScalarEval, FusedMultiplyAddRoundsOnce) {
    const double a = 1 + 0x1p-30;
    EXPECT_EQ(fused_multiply_add(f64(a), f64(a), f64(-1 - 0x1p-29)).as<double>(), 0x1p-60);
}

TEST(ScalarEval, FunctionsKeepSpecialValues) {
    expect_same(eval(Op::Exp, f64(0)), f64(1));
    expect_same(eval(Op::Exp, f64(-inf)), f64(0));
    expect_same(eval(Op::Sin, f64(-0.0)), f64(-0.0));
    expect_same(eval(Op::Sin, f32(INFINITY)), f32(NAN));
    EXPECT_NEAR(eval(Op::Exp, f64(1)).as<double>(), 2.718281828459045, 5e-16);
}

TEST(ScalarEval, UndefinedCombinationsAreRefused) {
    EXPECT_THROW(eval(Op::Add, flag(true), flag(true)), Error);
    EXPECT_THROW(eval(Op::Shl, f64(1), f64(1)), Error);
    EXPECT_THROW(eval(Op::Add, f64(1), f32(1)), Error);
    EXPECT_EQ(scalar_function(Op::Sqrt, DType::Int64), nullptr);
}

TEST(ScalarEval, EveryOperationIsDefinedWhereItsRuleSays) {
    for (int op = 0; op < op_count; ++op) {
        for (int t = 0; t < real_dtype_count; ++t) {
            EXPECT_EQ(scalar_function(static_cast<Op>(op), static_cast<DType>(t)) != nullptr,
                      result_dtype(static_cast<Op>(op), static_cast<DType>(t)).has_value())
                << name(static_cast<Op>(op)) << " on " << name(static_cast<DType>(t));
        }
    }
}
