// Tests of square roots: which of them can raise.
#include "passes/cleanup/domain_tests.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/passes/pass_sample.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

struct Roots {
    Sample s;
    Builder& b = s.b;
    std::int32_t x = b.var("x", DType::Float64), sum = b.var("sum", DType::Float64),
                 root = b.var("root", DType::Float64), i = b.var("i", DType::Int64);

    E number(double v) { return b.constant(Scalar::of(DType::Float64, v)); }
    E square(E e) { return b.mul(e, e); }

    /// Whether `for i: x = a[i]; sum = update; root = sqrt(of); if (root != root) & (of == of):
    /// raise` keeps its test; sum starts from `first`.
    bool raises(E first, E update, E of) {
        const std::int32_t site = b.site(ErrorKind::Value, "no");
        E nan = b.binary(Op::Ne, b.read(root), b.read(root));
        S test = b.branch(b.binary(Op::And, nan, b.binary(Op::Eq, of, of)), b.raise(site, {}));
        S body[] = {b.declare(x, b.load(s.a, {b.read(i)}, Access::Linear)), b.assign(sum, update),
                    b.declare(root, b.unary(Op::Sqrt, of)), test};
        S loop = b.loop(LoopKind::Serial, i, b.i64(0), b.param(s.n), b.i64(1),
                        b.block(std::span<const S>(body)));
        const std::string text =
            s.after(b.block({b.declare(sum, first), loop}), passes::domain_tests);
        return text.find("raise") != std::string::npos;
    }
};

/// The same where only the operand counts.
bool raises(const std::function<E(Roots&, E x)>& operand) {
    Roots r;
    return r.raises(r.number(1.0), r.b.read(r.sum), operand(r, r.b.read(r.x)));
}

}  // namespace

TEST(DomainTests, SquaresAndWhatIsMadeOfThemDoNotRaise) {
    EXPECT_FALSE(raises([](Roots& r, E x) { return r.square(x); }));
    EXPECT_FALSE(raises([](Roots& r, E x) { return r.b.add(r.square(x), r.number(0.0)); }));
    EXPECT_FALSE(raises([](Roots& r, E x) { return r.b.mul(r.square(x), r.b.unary(Op::Abs, x)); }));
    EXPECT_FALSE(raises([](Roots& r, E x) {
        return r.b.binary(Op::Div, r.number(2.0), r.b.unary(Op::Sqrt, r.square(x)));
    }));
    EXPECT_FALSE(raises([](Roots& r, E x) { return r.b.binary(Op::Power, x, r.number(4.0)); }));
}

TEST(DomainTests, WhatMayBeNegativeRaises) {
    EXPECT_TRUE(raises([](Roots&, E x) { return x; }));
    EXPECT_TRUE(raises([](Roots& r, E x) { return r.b.sub(r.square(x), r.number(1.0)); }));
    EXPECT_TRUE(raises([](Roots& r, E x) { return r.b.mul(x, r.number(2.0)); }));
    EXPECT_TRUE(raises([](Roots& r, E x) { return r.b.add(r.square(x), r.number(-1.0)); }));
    EXPECT_TRUE(raises([](Roots& r, E x) { return r.b.binary(Op::Power, x, r.number(3.0)); }));
    // A negative zero makes a negative infinity.
    EXPECT_TRUE(
        raises([](Roots& r, E x) { return r.b.binary(Op::Div, r.square(x), r.number(-0.0)); }));
}

TEST(DomainTests, SumsOverIterations) {
    Roots squares;
    EXPECT_FALSE(squares.raises(
        squares.number(0.0),
        squares.b.add(squares.b.read(squares.sum), squares.square(squares.b.read(squares.x))),
        squares.b.read(squares.sum)));
    Roots others;
    EXPECT_TRUE(others.raises(others.number(0.0),
                              others.b.add(others.b.read(others.sum), others.b.read(others.x)),
                              others.b.read(others.sum)));
    Roots negative;
    EXPECT_TRUE(negative.raises(
        negative.number(-1.0),
        negative.b.add(negative.b.read(negative.sum), negative.square(negative.b.read(negative.x))),
        negative.b.read(negative.sum)));
}
