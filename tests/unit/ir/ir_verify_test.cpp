// The verifier accepts sound trees and names the rule that a broken one breaks.
#include <gtest/gtest.h>

#include <functional>

#include "ir/build.h"
#include "ir/fence.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// A module of one function with an array `a`, a read-only array `r` and a scalar `n`.
struct Case {
    Case() {
        module.functions.emplace_back("f");
        b = std::make_unique<Builder>(module.entry());
        a = b->array_param("a", DType::Float64, 1, true);
        r = b->array_param("r", DType::Float64, 1, false);
        n = b->scalar_param("n", DType::Int64);
        i = b->var("i", DType::Int64);
        x = b->var("x", DType::Float64);
    }
    Module module;
    std::unique_ptr<Builder> b;
    std::int32_t a, r, n, i, x;

    S loop(LoopKind kind, S body, std::span<const Reduction> reductions = {}) {
        return b->loop(kind, i, b->i64(0), b->param(n), b->i64(1), body, reductions);
    }
    S store(E index, E value) {
        E at[] = {index};
        return b->store(a, at, value);
    }
    E one() { return b->constant(Scalar::of(DType::Float64, 1.0)); }
};

/// What the verifier says of the body that `make` builds: empty if it is accepted.
std::string verdict(const std::function<S(Case&)>& make) {
    Case c;
    c.module.entry().body = make(c);
    try {
        verify(c.module);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Internal);
        return e.what();
    }
    return "";
}

void expect_broken(const std::string& rule, const std::function<S(Case&)>& make) {
    std::string got = verdict(make);
    EXPECT_NE(got.find(rule), std::string::npos) << "got: '" << got << "'";
}

}  // namespace

TEST(IrVerify, AcceptsSoundLoops) {
    EXPECT_EQ(verdict([](Case& c) {
                  return c.loop(LoopKind::Parallel, c.store(c.b->read(c.i), c.one()));
              }),
              "");
    EXPECT_EQ(
        verdict([](Case& c) {
            Reduction sum[] = {{c.x, Op::Add}};
            S add = c.b->assign(c.x, c.b->add(c.b->read(c.x), c.one()));
            return c.b->block({c.b->declare(c.x, c.one()), c.loop(LoopKind::Parallel, add, sum)});
        }),
        "");
}

TEST(IrVerify, BodiesThatExcludeEachOtherMayDeclareTheSameVariable) {
    EXPECT_EQ(verdict([](Case& c) {
                  S body = c.b->declare(c.x, c.one());
                  return c.b->branch(c.b->boolean(true), body, body);
              }),
              "");
    expect_broken("not declared again; got x", [](Case& c) {
        return c.b->block({c.b->declare(c.x, c.one()), c.b->declare(c.x, c.one())});
    });
}

TEST(IrVerify, VariablesAreDeclaredInAnEnclosingBody) {
    expect_broken("declared before it is read, in an enclosing body; got x",
                  [](Case& c) { return c.store(c.b->i64(0), c.b->read(c.x)); });
    expect_broken("declared before it is read", [](Case& c) {
        return c.b->block({c.b->branch(c.b->boolean(true), c.b->declare(c.x, c.one())),
                           c.store(c.b->i64(0), c.b->read(c.x))});
    });
    expect_broken("declared before it is assigned; got x",
                  [](Case& c) { return c.b->assign(c.x, c.one()); });
    expect_broken("declared before it is read, in an enclosing body; got i", [](Case& c) {
        return c.b->block(
            {c.loop(LoopKind::Serial, c.b->block({})), c.store(c.b->read(c.i), c.one())});
    });
}

TEST(IrVerify, LoopVariablesAreNotAssigned) {
    expect_broken("a loop variable is not assigned; got i",
                  [](Case& c) { return c.loop(LoopKind::Serial, c.b->assign(c.i, c.b->i64(0))); });
}

TEST(IrVerify, IndependentLoopsAssignOnlyWhatTheyReduce) {
    expect_broken("assigns outer variables only where it reduces them; got x", [](Case& c) {
        return c.b->block(
            {c.b->declare(c.x, c.one()), c.loop(LoopKind::Parallel, c.b->assign(c.x, c.one()))});
    });
    expect_broken("only independent loops declare reductions", [](Case& c) {
        Reduction sum[] = {{c.x, Op::Add}};
        return c.b->block(
            {c.b->declare(c.x, c.one()), c.loop(LoopKind::Serial, c.b->block({}), sum)});
    });
    expect_broken("a reduced variable is declared", [](Case& c) {
        Reduction sum[] = {{c.x, Op::Add}};
        return c.loop(LoopKind::Parallel, c.b->block({}), sum);
    });
    expect_broken("an identity on its dtype", [](Case& c) {
        Reduction difference[] = {{c.x, Op::Sub}};
        return c.b->block(
            {c.b->declare(c.x, c.one()), c.loop(LoopKind::Parallel, c.b->block({}), difference)});
    });
}

TEST(IrVerify, BreakAndContinueStandInLoops) {
    expect_broken("break stands in a loop", [](Case& c) { return c.b->leave(); });
    expect_broken("break stands in a loop",
                  [](Case& c) { return c.loop(LoopKind::Parallel, c.b->leave()); });
    expect_broken("continue stands in a loop", [](Case& c) { return c.b->next(); });
    EXPECT_EQ(verdict([](Case& c) { return c.loop(LoopKind::Parallel, c.b->next()); }), "");
    EXPECT_EQ(verdict([](Case& c) {
                  return c.loop(LoopKind::Parallel,
                                c.b->loop_while(c.b->boolean(true), c.b->leave()));
              }),
              "");
}

TEST(IrVerify, BarriersStandInKernels) {
    expect_broken("a barrier stands in a kernel", [](Case& c) { return c.b->barrier(); });
    expect_broken("a barrier does not stand in an independent loop", [](Case& c) {
        c.module.entry().is_kernel = true;
        return c.loop(LoopKind::Vector, c.b->barrier());
    });
    expect_broken("the arrival at a barrier is a variable", [](Case& c) {
        const E one[] = {c.b->i64(1)};
        const std::int32_t site = c.b->site(ErrorKind::Runtime, "missed");
        c.module.entry().is_kernel = true;
        return c.b->own(counted(*c.b->barrier(), c.b->list(std::span<const E>(one)), site));
    });
    expect_broken("work-item queries occur in kernels only", [](Case& c) {
        return c.store(c.b->work_item(WorkItemQuery::GlobalId, 0), c.one());
    });
}

TEST(IrVerify, StoresAndIndices) {
    expect_broken("writable array; got r", [](Case& c) {
        E at[] = {c.b->i64(0)};
        return c.b->store(c.r, at, c.one());
    });
    expect_broken("has 1 indices; got 2", [](Case& c) {
        E at[] = {c.b->i64(0), c.b->i64(0)};
        return c.b->store(c.a, at, c.one());
    });
    expect_broken("an index of a has dtype int64; got bool",
                  [](Case& c) { return c.store(c.b->boolean(true), c.one()); });
    expect_broken("allocated before it is used; got t", [](Case& c) {
        auto t = c.b->local_array("t", DType::Float64, 1, Space::Private);
        return c.store(c.b->i64(0), c.b->load(t, {c.b->i64(0)}));
    });
}

TEST(IrVerify, ReturnsGiveResultsOrFaults) {
    expect_broken("a return gives all results", [](Case& c) {
        c.module.entry().results = {DType::Float64};
        return c.b->ret({});
    });
    expect_broken("a result has dtype float64; got int64", [](Case& c) {
        c.module.entry().results = {DType::Float64};
        E out[] = {c.b->i64(0)};
        return c.b->ret(out);
    });
    expect_broken("only a fault leaves an independent loop",
                  [](Case& c) { return c.loop(LoopKind::Parallel, c.b->ret({})); });
    expect_broken("a fault has an id", [](Case& c) { return c.b->raise(0, {}); });
}

TEST(IrVerify, TypesAndIds) {
    expect_broken("the condition of an if has dtype bool",
                  [](Case& c) { return c.b->branch(c.b->param(c.n), c.b->block({})); });
    expect_broken("operand count", [](Case& c) {
        Expr e = *c.b->add(c.one(), c.one());
        e.args = e.args.first(1);
        return c.store(c.b->i64(0), c.b->own(e));
    });
    expect_broken("the second operand of add has dtype float64; got int64", [](Case& c) {
        Expr e = *c.b->add(c.one(), c.one());
        E args[] = {c.one(), c.b->i64(1)};
        e.args = c.b->list(std::span<const E>(args));
        return c.store(c.b->i64(0), c.b->own(e));
    });
    expect_broken("a variable has an id of its table; got 99 of 2", [](Case& c) {
        Expr e = *c.b->read(c.x);
        e.id = 99;
        return c.store(c.b->i64(0), c.b->own(e));
    });
    expect_broken("an axis lies below the rank", [](Case& c) {
        Expr e = *c.b->extent(c.a, 0);
        e.axis = 1;
        return c.store(c.b->own(e), c.one());
    });
    expect_broken("zero beyond its dtype", [](Case& c) {
        Expr e = *c.b->boolean(true);
        e.bits = 0x100;
        return c.b->branch(c.b->own(e), c.b->block({}));
    });
}

TEST(IrVerify, CallsFitTheirCallee) {
    auto make = [](Case& c, DType argument, int outs) {
        c.module.functions.emplace_back("g");
        Builder g(c.module.functions.back());
        g.scalar_param("k", DType::Float64);
        c.module.functions.back().results = {DType::Float64};
        E out[] = {g.zero(DType::Float64)};
        c.module.functions.back().body = g.ret(out);
        c.b = std::make_unique<Builder>(c.module.entry());
        E scalars[] = {c.b->zero(argument)};
        std::int32_t taken[] = {c.x};
        return c.b->block(
            {c.b->declare(c.x, nullptr),
             c.b->call(1, scalars, {}, std::span(taken, static_cast<std::size_t>(outs)))});
    };
    EXPECT_EQ(verdict([&](Case& c) { return make(c, DType::Float64, 1); }), "");
    expect_broken("argument k has dtype float64; got int64",
                  [&](Case& c) { return make(c, DType::Int64, 1); });
    expect_broken("a call takes all results of g",
                  [&](Case& c) { return make(c, DType::Float64, 0); });
}

TEST(IrVerify, NamesTheLine) {
    expect_broken("function f, line 7: a rule is broken", [](Case& c) {
        c.b->line = {0, 0, 7};
        return c.b->leave();
    });
}
