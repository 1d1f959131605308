// An array that is read out of an object is not counted in a short function that lets go of
// nothing.
#include "passes/cleanup/borrowed_blocks.h"

#include <gtest/gtest.h>

#include "unit/passes/pass_sample.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// slot = the array at `n`, whose block is kept for it; then its element is stored into a.
struct Reading : Sample {
    std::int32_t slot = b.slot("memory", DType::Float64, false);
    std::int32_t field =
        b.view("field", slot, b.i64(0), {b.i64(1)}, {b.i64(1)}, {StrideClass::One}, false);
    std::int32_t status = b.var("status", DType::Int64), block = b.var("block", DType::Int64);

    S keep() {
        std::int32_t outs[] = {status, block};
        E values[] = {b.i64(0), b.param(n), b.param(n)};
        return b.block({b.declare(status, nullptr), b.declare(block, nullptr),
                        b.native("block_keep", values, outs),
                        b.adopt(slot, b.param(n), b.read(block))});
    }
    S store() {
        E index[] = {b.i64(0), b.i64(0)};
        return b.store(a, index, b.load(field, {b.i64(0)}, Access::Inside), Access::Inside);
    }
    std::string after(S body) { return Sample::after(body, passes::borrowed_blocks); }
};

bool counts(const std::string& text) { return text.find("block_keep") != std::string::npos; }

}  // namespace

TEST(BorrowedBlocks, AReadDoesNotCount) {
    Reading r;
    std::string text = r.after(r.b.block({r.keep(), r.store()}));
    EXPECT_FALSE(counts(text)) << text;
}

TEST(BorrowedBlocks, ALoopGivesOthersTime) {
    Reading r;
    std::int32_t i = r.b.var("i", DType::Int64);
    S loop = r.b.loop(LoopKind::Serial, i, r.b.i64(0), r.b.param(r.n), r.b.i64(1), r.store());
    std::string text = r.after(r.b.block({r.keep(), loop}));
    EXPECT_TRUE(counts(text)) << text;
}

TEST(BorrowedBlocks, WhatElseLetsGoOfMemoryKeepsTheCount) {
    Reading r;
    std::int32_t outs[] = {r.b.var("done", DType::Int64)};
    E values[] = {r.b.param(r.n)};
    S drop = r.b.native("table_clear", values, outs);
    std::string text =
        r.after(r.b.block({r.b.declare(outs[0], nullptr), r.keep(), drop, r.store()}));
    EXPECT_TRUE(counts(text)) << text;
}

TEST(BorrowedBlocks, ABlockThatGoesElsewhereIsCounted) {
    Reading r;
    r.b.function().results = {DType::Int64};
    E results[] = {r.b.block_of(r.slot)};
    std::string text = r.after(r.b.block({r.keep(), r.store(), r.b.ret(results)}));
    EXPECT_TRUE(counts(text)) << text;
}
