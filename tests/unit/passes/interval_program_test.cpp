// Every value that a scalar operation gives of operands in intervals lies in the interval that a
// program finds for it.
#include "passes/analysis/intervals/interval_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ops/scalar_eval.h"

using namespace unisono;
using namespace unisono::passes;
using Kind = IntervalStep::Kind;

namespace {

/// A program over registers a, b, c and one value, which says whether the value is in the interval
/// that a step gives.
class Membership {
  public:
    explicit Membership(IntervalStep step) {
        for (std::int32_t k = 0; k < 4; ++k) {
            program_.inputs.push_back({.to = program_.add_register()});
        }
        const std::int32_t always = program_.add_register({1, 1});
        step.to = program_.add_register();
        const std::int32_t both = program_.add_register(), is_there = program_.add_register();
        program_.steps = {step,
                          {Kind::Both, Op::Add, DType::Int64, both, step.to, 3},
                          {Kind::Runs, Op::Add, DType::Bool, is_there, always, both},
                          {Kind::IsFalse, Op::Add, DType::Bool, -1, is_there, -1, -1, 0, 0}};
    }
    bool holds(Interval a, Interval b, Interval c, std::int64_t value) const {
        const Interval values[] = {a, b, c, {value, value}};
        return program_.run(values) == 0;
    }

  private:
    IntervalProgram program_;
};

class Draw {
  public:
    /// Small numbers, and such as are near the ends of the types.
    std::int64_t number(DType t) {
        const Interval all = Interval::of_type(t);
        const std::int64_t some[] = {all.lo, all.hi, 0, 1, all.hi / 2};
        const auto near = static_cast<std::int64_t>(engine_() % 9) - 4;
        const std::int64_t at = engine_() % 2 ? some[engine_() % 5] : std::int64_t{0};
        const std::int64_t far = engine_() % 2 ? static_cast<std::int64_t>(engine_() % 200) : 0;
        const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(at) +
                                                   static_cast<std::uint64_t>(near + far));
        return std::clamp(sum, all.lo, all.hi);
    }
    Interval interval(DType t) {
        const std::int64_t a = number(t), b = engine_() % 4 ? number(t) : a;
        return {std::min(a, b), std::max(a, b)};
    }
    std::int64_t in(Interval all) {
        const std::uint64_t width =
            static_cast<std::uint64_t>(all.hi) - static_cast<std::uint64_t>(all.lo);
        const std::uint64_t steps[] = {
            0, width, width / 2, std::min<std::uint64_t>(width, 3),
            width == ~std::uint64_t{0} ? engine_() : engine_() % (width + 1)};
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(all.lo) + steps[engine_() % 5]);
    }

  private:
    std::mt19937_64 engine_{7};
};

constexpr DType types[] = {DType::Int8,   DType::UInt8, DType::Int32,
                           DType::UInt32, DType::Int64, DType::UInt64};

std::int64_t number_of(Scalar s) { return s.as<std::int64_t>(); }
Scalar scalar(DType t, std::int64_t value) { return Scalar::of(t, value); }

template <class F>
void for_operands(DType t, const F& check) {
    Draw draw;
    for (int k = 0; k < 600; ++k) {
        const Interval a = draw.interval(t), b = draw.interval(t);
        for (int j = 0; j < 6; ++j) check(a, b, draw.in(a), draw.in(b));
    }
}

}  // namespace

TEST(IntervalProgram, HoldsWhatOperationsGive) {
    const Membership sum({Kind::Binary, Op::Add, DType::Int8, -1, 0, 1});
    EXPECT_TRUE(sum.holds({1, 2}, {3, 4}, {}, 6));
    EXPECT_FALSE(sum.holds({1, 2}, {3, 4}, {}, 7));
    for (DType t : types) {
        for (Op op :
             {Op::Add, Op::Sub, Op::Mul, Op::FloorDiv, Op::Mod, Op::Fmod, Op::Min, Op::Max, Op::And,
              Op::Or, Op::Xor, Op::Shl, Op::Shr, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne}) {
            const Membership known({Kind::Binary, op, t, -1, 0, 1});
            for_operands(t, [&](Interval a, Interval b, std::int64_t x, std::int64_t y) {
                const std::int64_t z = number_of(eval(op, scalar(t, x), scalar(t, y)));
                EXPECT_TRUE(known.holds(a, b, {}, z))
                    << info(op).name << " " << info(t).name << " " << x << " " << y;
            });
        }
        for (Op op : {Op::Neg, Op::Abs, Op::Invert}) {
            const Membership known({Kind::Unary, op, t, -1, 0});
            for_operands(t, [&](Interval a, Interval, std::int64_t x, std::int64_t) {
                EXPECT_TRUE(known.holds(a, {}, {}, number_of(eval(op, scalar(t, x)))))
                    << info(op).name << " " << info(t).name << " " << x;
            });
        }
    }
}

TEST(IntervalProgram, HoldsWhatConversionsGive) {
    for (DType from : types) {
        for (DType to : types) {
            const Membership known({Kind::Cast, Op::Add, to, -1, 0});
            const Membership source({Kind::Source, Op::Add, to, -1, 0, 1});
            for_operands(from, [&](Interval a, Interval, std::int64_t x, std::int64_t) {
                const std::int64_t z = number_of(cast(scalar(from, x), to));
                EXPECT_TRUE(known.holds(a, {}, {}, z)) << info(from).name << " " << info(to).name;
                EXPECT_TRUE(source.holds(a, {z, z}, {}, x)) << info(from).name << info(to).name;
            });
        }
    }
}

TEST(IntervalProgram, ConditionsKeepWhatPasses) {
    for (DType t : types) {
        const Membership less({Kind::AtMost, Op::Add, t, -1, 0, 1, -1, -1});
        const Membership more({Kind::AtLeast, Op::Add, t, -1, 1, 0, -1, 1});
        const Membership other({Kind::Unequal, Op::Add, t, -1, 0, 1});
        for_operands(t, [&](Interval a, Interval b, std::int64_t x, std::int64_t y) {
            const bool is_less = eval(Op::Lt, scalar(t, x), scalar(t, y)).bits != 0;
            if (is_less) {
                EXPECT_TRUE(less.holds(a, b, {}, x)) << info(t).name << " " << x << " " << y;
                EXPECT_TRUE(more.holds(a, b, {}, y)) << info(t).name << " " << x << " " << y;
            }
            if (x != y) {
                EXPECT_TRUE(other.holds(a, b, {}, x)) << info(t).name;
            }
        });
    }
}

TEST(IntervalProgram, OperandsFollowFromResults) {
    for (DType t : types) {
        for (Op op : {Op::Add, Op::Sub}) {
            const Membership first({Kind::Operand, op, t, -1, 0, 2, 1});
            const Membership second({Kind::Operand, op, t, -1, 1, 2, 0, op == Op::Sub});
            for_operands(t, [&](Interval a, Interval b, std::int64_t x, std::int64_t y) {
                const std::int64_t z = number_of(eval(op, scalar(t, x), scalar(t, y)));
                EXPECT_TRUE(first.holds(a, b, {z, z}, x)) << info(t).name << " " << x << " " << y;
                EXPECT_TRUE(second.holds(a, b, {z, z}, y)) << info(t).name << " " << x << " " << y;
            });
        }
        const Membership whole({Kind::Whole, Op::Sub, t, -1, 0, 1});
        for_operands(t, [&](Interval a, Interval b, std::int64_t x, std::int64_t y) {
            const Scalar rest = eval(Op::Fmod, scalar(t, x), scalar(t, y));
            const std::int64_t z = number_of(eval(Op::Sub, scalar(t, x), rest));
            EXPECT_TRUE(whole.holds(a, b, {}, z)) << info(t).name << " " << x << " " << y;
        });
    }
}

TEST(IntervalProgram, ProvesSmallIndicesAndNotThoseThatWrap) {
    IntervalProgram program;  // 0 <= id * n + id < extent, in 32 bits
    for (std::int32_t k = 0; k < 3; ++k) program.inputs.push_back({.to = program.add_register()});
    const std::int32_t product = program.add_register(), index = program.add_register();
    program.steps = {{Kind::Binary, Op::Mul, DType::Int32, product, 0, 1},
                     {Kind::Binary, Op::Add, DType::Int32, index, product, 0},
                     {Kind::Inside, Op::Add, DType::Int64, -1, index, 2, -1, 0, 0}};
    const auto run = [&](Interval id, std::int64_t n, std::int64_t extent) {
        const Interval values[] = {id, {n, n}, {extent, extent}};
        return program.run(values);
    };
    EXPECT_EQ(run({0, 15}, 16, 256), -1);
    EXPECT_EQ(run({0, 15}, 16, 255), 0);
    EXPECT_EQ(run({0, 2}, 2147483647, std::int64_t{1} << 40), 0);
    EXPECT_EQ(run(Interval::none(), 16, 0), -1);
}
