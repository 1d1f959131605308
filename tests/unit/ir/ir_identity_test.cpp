// The bytes that caches compare: equal for equal modules, different where any field differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ir/build.h"
#include "unit/ir/random_ir.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// A loop over an array, changed by `change` before its bytes are taken.
std::string bytes_with(const std::function<void(Function&, Stmt& store, Stmt& loop)>& change) {
    Module module;
    Builder b(module.functions.emplace_back("fill"));
    auto a = b.array_param("a", DType::Float64, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    E index[] = {b.read(i)};
    Stmt store = *b.store(a, index, b.constant(Scalar::of(DType::Float64, 1.0)), Access::Checked);
    S body[] = {&store};
    Stmt loop = *b.loop(LoopKind::Serial, i, b.i64(0), b.extent(a, 0), b.i64(1), b.block({}));
    loop.body = body;
    Function& f = module.functions[0];
    f.body = &loop;
    if (change) change(f, store, loop);
    return identity(module);
}

}  // namespace

TEST(IrIdentity, EqualModulesHaveEqualBytes) {
    EXPECT_EQ(bytes_with(nullptr), bytes_with(nullptr));
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        unisono::testing::RandomIr one(seed), same(seed), other(seed + 100);
        one.build();
        same.build();
        other.build();
        EXPECT_EQ(identity(one.module), identity(same.module)) << seed;
        EXPECT_NE(identity(one.module), identity(other.module)) << seed;
    }
}

TEST(IrIdentity, EachFieldCounts) {
    using Change = std::function<void(Function&, Stmt&, Stmt&)>;
    const Change changes[] = {
        [](Function& f, Stmt&, Stmt&) { f.polls = true; },
        [](Function& f, Stmt&, Stmt&) { f.is_kernel = true; },
        [](Function& f, Stmt&, Stmt&) { f.arrays[0].noalias = true; },
        [](Function& f, Stmt&, Stmt&) { f.arrays[0].is_slot = true; },
        [](Function& f, Stmt&, Stmt&) { f.arrays[0].base = 0; },
        [](Function& f, Stmt&, Stmt&) { f.arrays[0].space = Space::Local; },
        [](Function& f, Stmt&, Stmt&) { f.vars[0].dtype = DType::Int32; },
        [](Function& f, Stmt&, Stmt&) {
            f.sites.push_back({ErrorKind::Value, "no", {}, 0});
        },
        [](Function&, Stmt& store, Stmt&) { store.streaming = true; },
        [](Function&, Stmt& store, Stmt&) { store.access = Access::Wrapped; },
        [](Function&, Stmt& store, Stmt&) { store.line.line = 7; },
        [](Function&, Stmt& store, Stmt&) { store.line.column = 7; },
        [](Function&, Stmt&, Stmt& loop) { loop.loop = LoopKind::Parallel; },
        [](Function&, Stmt&, Stmt& loop) { loop.numbers = true; },
        [](Function&, Stmt&, Stmt& loop) { loop.any_order = true; },
    };
    std::vector<std::string> seen{bytes_with(nullptr)};
    for (const Change& change : changes) {
        std::string bytes = bytes_with(change);
        EXPECT_EQ(std::count(seen.begin(), seen.end(), bytes), 0) << "change " << seen.size() - 1;
        seen.push_back(std::move(bytes));
    }
}
