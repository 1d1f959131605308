// Random functions: hoisted and linear accesses give what per-access tests give.
#include "unit/ir/random_ir.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/interp/interpreter.h"
#include "passes/cleanup/cold_splitting.h"
#include "passes/lower.h"
#include "passes/lowering/hoist_bounds.h"
#include "passes/lowering/lower_access.h"

using namespace unisono;
using unisono::testing::Outcome;
using unisono::testing::RandomIr;

namespace {

Outcome run(std::uint32_t seed, void (*lower)(ir::Module&)) {
    RandomIr program(seed);
    program.build();
    lower(program.module);
    ir::verify(program.module);
    Outcome out;
    out.results.resize(2);
    Fault fault =
        interp::interpret(program.module, program.arrays.args(), program.scalars, out.results);
    out.fault = Outcome::describe(fault, passes::all_sites(program.module));
    out.vector = program.vector;
    out.matrix = program.matrix;
    out.singles = program.singles;
    return out;
}

/// Bits, so that NaN equals itself.
template <class T>
std::string bytes(const std::vector<T>& v) {
    return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}

void expect_same(const Outcome& a, const Outcome& b) {
    EXPECT_EQ(a.fault, b.fault);
    EXPECT_EQ(bytes(a.vector), bytes(b.vector));
    EXPECT_EQ(bytes(a.matrix), bytes(b.matrix));
    EXPECT_EQ(bytes(a.singles), bytes(b.singles));
    if (a.fault.empty()) {
        EXPECT_EQ(a.results, b.results);
    }
}

void reference(ir::Module& m) {
    passes::Target target;
    target.keep_checks_visible = true;
    passes::lower(m, target);
}
void linear(ir::Module& m) { passes::lower(m, {}); }
/// Hoisted accesses keep their axes: the interpreter then refuses any that only claims to be
/// inside.
void hoisted(ir::Module& m) {
    ir::verify(m);
    passes::hoist_bounds(m);
    reference(m);
}

/// The same with the checked versions as functions of their own.
void deferred(ir::Module& m) {
    ir::verify(m);
    passes::hoist_bounds(m);
    passes::cold_splitting(m, "checked");
    reference(m);
}

}  // namespace

TEST(RandomIr, CompiledCodeGivesTheReferencesBits) {
    if (!find_backend("cpu") || find_backend("cpu")->devices().empty())
        GTEST_SKIP() << "no compiler";
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Outcome want = run(seed, reference);
        RandomIr program(seed);
        program.build();
        CompileOptions options;
        options.use_cache = false;
        auto executable = find_device("cpu").compile(std::move(program.module), options);
        Outcome got;
        got.results.resize(2);
        LaunchArgs args;
        args.arrays = program.arrays.args();
        args.scalars = program.scalars;
        args.results = got.results;
        got.fault = Outcome::describe(executable->launch(args), executable->sites());
        got.vector = program.vector;
        got.matrix = program.matrix;
        got.singles = program.singles;
        // Later iterations of a parallel loop may have run before a fault was seen.
        if (program.has_parallel && !want.fault.empty()) {
            EXPECT_EQ(got.fault, want.fault);
        } else {
            expect_same(got, want);
        }
        if (::testing::Test::HasFailure()) {
            RandomIr again(seed);
            again.build();
            std::printf("%s\n", ir::print(again.module).c_str());
            return;
        }
    }
}

TEST(RandomIr, LoweringKeepsResultsAndFaults) {
    int faults = 0;
    for (std::uint32_t seed = 1; seed <= 500; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Outcome want = run(seed, reference);
        faults += want.fault.empty() ? 0 : 1;
        expect_same(run(seed, hoisted), want);
        expect_same(run(seed, deferred), want);
        expect_same(run(seed, linear), want);
        if (::testing::Test::HasFailure()) {
            RandomIr program(seed);
            program.build();
            std::printf("%s\n", ir::print(program.module).c_str());
            passes::hoist_bounds(program.module);
            std::printf("%s\n", ir::print(program.module).c_str());
            return;
        }
    }
    // Neither kind of run may be rare, or the comparison says little.
    EXPECT_GT(faults, 100);
    EXPECT_LT(faults, 400);
}
