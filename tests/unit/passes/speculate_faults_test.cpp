// Loops that may raise, in strips that are computed ahead: what the pass makes of small functions.
#include <gtest/gtest.h>

#include "passes/loops/speculate_faults.h"
#include "unit/passes/pass_sample.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// for i: if (e < 0) raise; s = s + exp(a[i]); a[i] = exp(a[i]), where e is an element of a, or
/// else an integer. `is_inner`: in another loop.
std::string raising(bool looks_at_floats, LoopKind kind, bool stores, bool sums,
                    bool is_inner = false) {
    Sample s;
    Builder& b = s.b;
    const std::int32_t i = b.var("i", DType::Int64), sum = b.var("s", DType::Float64);
    const std::int32_t site = b.site(ErrorKind::Value, "no");
    E x = b.load(s.a, {b.read(i)}, Access::Linear);
    E limit = looks_at_floats
                  ? b.binary(Op::Lt, x, s.zero)
                  : b.binary(Op::Lt, b.load(s.r, {b.read(i)}, Access::Linear), b.i64(0));
    std::vector<S> body{b.branch(limit, b.raise(site, {}))};
    E value = b.unary(Op::Exp, x);
    if (sums) body.push_back(b.assign(sum, b.add(b.read(sum), value)));
    E at[] = {b.read(i)};
    if (stores) body.push_back(b.store(s.a, at, value, Access::Linear));
    S loop = b.loop(kind, i, b.i64(0), b.param(s.n), b.i64(1), b.block(std::span<const S>(body)));
    if (is_inner)
        loop = b.loop(LoopKind::Serial, b.var("k", DType::Int64), b.i64(0), b.param(s.n), b.i64(1),
                      loop);
    return s.after(b.block({b.declare(sum, s.zero), loop}), passes::speculate_faults);
}

bool has_strips(const std::string& text) { return text.find("strip in") != std::string::npos; }

}  // namespace

TEST(SpeculateFaults, AStripKeepsWhatItWouldStore) {
    EXPECT_EQ(raising(true, LoopKind::Serial, true, true), R"(  fault 0: ValueError "no"
  var s: float64 = 0.0
  var begin: int64 = 0
  var end: int64 = n
  var at: int64 = begin
  if (end < (begin + 256)) | not(true):
    pass
  else rarely:
    for strip in 0 to (end - begin) >> 6:
      var from: int64 = begin + (strip * 64)
      allocate kept: float64[64] private
      var before: float64 = s
      var raised: int64 = 0
      for lane in 0 to 64:
        var raises: bool = false
        var used: bool = true
        raises = raises | (a.linear[from + lane] < 0.0)
        s = s + exp(a.linear[from + lane])
        kept.linear[lane] = exp(a.linear[from + lane])
        raised = raised | select(raises, 1, 0)
      if raised == 0:
        vector lane.2 in 0 to 64:
          a.linear[from + lane.2] = kept.linear[lane.2]
        at = from + 64
      else:
        s = before
        break
  for i in at to end:
    if a.linear[i] < 0.0:
      raise 0
    s = s + exp(a.linear[i])
    a.linear[i] = exp(a.linear[i])
)");
}

TEST(SpeculateFaults, ThreadsShareStrips) {
    const std::string text = raising(true, LoopKind::Parallel, true, false);
    EXPECT_NE(text.find("parallel strip in"), std::string::npos);
    EXPECT_NE(text.find("  parallel i in at to end"), std::string::npos);
}

TEST(SpeculateFaults, WhatIntegersDecideMayProtectALoad) {
    EXPECT_FALSE(has_strips(raising(false, LoopKind::Serial, true, false)));
}

TEST(SpeculateFaults, RowsInsideOfLoopsMayBeShorter) {
    const std::string text = raising(true, LoopKind::Serial, true, false, true);
    EXPECT_NE(text.find("end < (begin + 128)"), std::string::npos);
}
