// Which of its arrays a function reads and writes, through views, slots and calls.
#include "passes/analysis/array_effects.h"

#include <gtest/gtest.h>

#include "ir/build.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// "rw" per array: what the entry of the module reads and writes.
std::string effects(const Module& module) {
    std::string text;
    for (const passes::ArrayEffect& e : passes::array_effects(module))
        text +=
            std::string(text.empty() ? "" : " ") + (e.reads ? "r" : "-") + (e.writes ? "w" : "-");
    return text;
}

/// A builder refers to its function, which must stay where it is.
Module with_room() {
    Module module;
    module.functions.reserve(4);
    return module;
}

struct Three {
    Module module = with_room();
    Builder b{module.functions.emplace_back("entry")};
    std::int32_t x = param("x"), y = param("y"), z = param("z");

    std::int32_t param(const char* name, bool writable = true) {
        return b.array_param(name, DType::Float64, 1, writable, {StrideClass::One});
    }
    E at(std::int32_t array) { return b.load(array, {b.i64(0)}); }
    S put(std::int32_t array, E value) {
        E zero[] = {b.i64(0)};
        return b.store(array, zero, value);
    }
    std::string of(const std::vector<S>& statements) {
        b.function().body = b.block(statements);
        return effects(module);
    }
};

}  // namespace

TEST(ArrayEffects, LoadsAndStores) {
    Three f;
    EXPECT_EQ(f.of({}), "-- -- --");
    EXPECT_EQ(f.of({f.put(f.y, f.at(f.x))}), "r- -w --");
    E zero = f.b.constant(Scalar::of(DType::Float64, 0.0));
    E positive = f.b.binary(Op::Gt, f.at(f.z), zero);
    EXPECT_EQ(f.of({f.b.branch(positive, f.put(f.x, zero))}), "-w -- r-");
}

TEST(ArrayEffects, AViewIsTheArrayThatItSees) {
    Three f;
    std::int32_t v =
        f.b.view("v", f.x, f.b.i64(1), {f.b.i64(2)}, {nullptr}, {StrideClass::One}, true);
    EXPECT_EQ(f.of({f.put(v, f.at(f.y))}), "-w r- --");
    std::int32_t at_z = f.b.view("w", f.x, f.b.cast(f.at(f.z), DType::Int64), {f.b.i64(2)},
                                 {nullptr}, {StrideClass::One}, true);
    EXPECT_EQ(f.of({f.put(f.y, f.at(at_z))}), "r- -w r-") << "what a view's place is read from";
}

TEST(ArrayEffects, ASlotIsAnyArrayThatItPointsTo) {
    Three f;
    std::int32_t s = f.b.slot("s", DType::Float64, true), t = f.b.slot("t", DType::Float64, true);
    EXPECT_EQ(f.of({f.put(t, f.b.zero(DType::Float64)), f.b.point(t, s), f.b.point(s, f.x),
                    f.b.point(s, f.z)}),
              "-w -- -w");
}

TEST(ArrayEffects, AnAddressThatIsPassedOnMayBeUsedInAnyWay) {
    Three f;
    std::int32_t v = f.b.var("v", DType::Int64), frozen = f.param("frozen", false);
    EXPECT_EQ(f.of({f.b.declare(v, f.b.address(f.x)), f.b.assign(v, f.b.address(frozen))}),
              "rw -- -- r-");
}

TEST(ArrayEffects, CallsPassThemOn) {
    Three f;
    Builder inner{f.module.functions.emplace_back("inner")};
    std::int32_t from = inner.array_param("from", DType::Float64, 1, false, {StrideClass::One});
    std::int32_t to = inner.array_param("to", DType::Float64, 1, true, {StrideClass::One});
    E zero[] = {inner.i64(0)};
    inner.function().body = inner.block({inner.store(to, zero, inner.load(from, {inner.i64(0)}))});
    const std::int32_t arrays[] = {f.z, f.x};
    EXPECT_EQ(f.of({f.b.call(1, {}, arrays, {})}), "-w -- r-");
    f.module.functions[1].native = std::make_shared<NativeCode>();  // the body stands for its code
    EXPECT_EQ(effects(f.module), "rw -- r-");
}
