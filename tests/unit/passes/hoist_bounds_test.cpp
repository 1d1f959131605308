// Index tests leave loops where that is sound, and only there.
#include "passes/lowering/hoist_bounds.h"

#include <gtest/gtest.h>

#include "backends/interp/interpreter.h"
#include "passes/kernels/wrap_work_items.h"
#include "passes/lower.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// A function over float64 arrays u, v of some rank, an int64 index array r and scalars n, m.
struct Nest {
    explicit Nest(int rank = 1) {
        u = b.array_param("u", DType::Float64, rank, true);
        v = b.array_param("v", DType::Float64, rank, true);
        r = b.array_param("r", DType::Int64, 1, false);
        n = b.scalar_param("n", DType::Int64);
        m = b.scalar_param("m", DType::Int64);
    }
    Module module;
    Builder b{module.functions.emplace_back("f")};
    std::int32_t u, v, r, n, m;

    std::int32_t local(const char* name) { return b.var(name, DType::Int64); }
    E at(std::int32_t array, std::initializer_list<E> i) {
        return b.load(array, i, Access::Wrapped);
    }
    S put(std::int32_t array, std::initializer_list<E> i, E value) {
        return b.store(array, std::span<const E>(i.begin(), i.size()), value, Access::Wrapped);
    }
    S loop(std::int32_t var, E begin, E end, S body, LoopKind kind = LoopKind::Serial,
           std::int64_t step = 1) {
        return b.loop(kind, var, begin, end, b.i64(step), body);
    }
    E plus(std::int32_t var, std::int64_t k) {
        return k < 0   ? b.sub(b.read(var), b.i64(-k))
               : k > 0 ? b.add(b.read(var), b.i64(k))
                       : b.read(var);
    }
    E one() { return b.constant(Scalar::of(DType::Float64, 1.0)); }

    /// The printed body after the pass.
    std::string hoisted(S body, bool may_duplicate = true) {
        b.function().body = body;
        verify(module);
        passes::hoist_bounds(module, may_duplicate);
        verify(module);
        std::string text = print(module);
        return text.substr(text.find('\n') + 1);
    }
};

}  // namespace

TEST(HoistBounds, LaplaceNeedsOneTestOfTheTarget) {
    for (LoopKind outer : {LoopKind::Serial, LoopKind::Parallel}) {
        Nest k(2);
        Builder& b = k.b;
        auto y = k.local("y"), x = k.local("x"), n = k.local("n"), m = k.local("m");
        E sum = b.add(
            b.add(k.at(k.u, {k.plus(y, 1), b.read(x)}), k.at(k.u, {k.plus(y, -1), b.read(x)})),
            b.add(k.at(k.u, {b.read(y), k.plus(x, 1)}), k.at(k.u, {b.read(y), k.plus(x, -1)})));
        S inner = k.loop(x, b.i64(1), k.plus(m, -1), k.put(k.v, {b.read(y), b.read(x)}, sum));
        S body = b.block({b.declare(n, b.extent(k.u, 0)), b.declare(m, b.extent(k.u, 1)),
                          k.loop(y, b.i64(1), k.plus(n, -1), inner, outer)});
        std::string head = outer == LoopKind::Serial ? "for" : "parallel";
        EXPECT_EQ(k.hoisted(body), R"(  var n.2: int64 = u.shape[0]
  var m.2: int64 = u.shape[1]
  if ((v.shape[0] + 1) >= u.shape[0]) & ((v.shape[1] + 1) >= u.shape[1]):
    )" + head + R"( y in 1 to n.2 - 1:
      for x in 1 to m.2 - 1:
        v[y, x] = (u[y + 1, x] + u[y - 1, x]) + (u[y, x + 1] + u[y, x - 1])
  else rarely:
    )" + head + R"( y in 1 to n.2 - 1:
      for x in 1 to m.2 - 1:
        v.wrapped[y, x] = (u[y + 1, x] + u[y - 1, x]) + (u[y, x + 1] + u[y, x - 1])
)");
    }
}

TEST(HoistBounds, OwnExtentsNeedNoTest) {
    Nest k;
    auto i = k.local("i");
    EXPECT_EQ(
        k.hoisted(k.loop(i, k.b.i64(0), k.b.extent(k.u, 0), k.put(k.u, {k.b.read(i)}, k.one()))),
        R"(  for i in 0 to u.shape[0]:
    u[i] = 1.0
)");
    Nest down;
    i = down.local("i");
    E last = down.b.sub(down.b.extent(down.u, 0), down.b.i64(1));
    EXPECT_EQ(down.hoisted(down.loop(i, last, down.b.i64(-1),
                                     down.put(down.u, {down.b.read(i)}, down.one()),
                                     LoopKind::Serial, -1)),
              R"(  for i in u.shape[0] - 1 to -1 step -1:
    u[i] = 1.0
)");
}

TEST(HoistBounds, ParametersAreGuardedAgainstOverflow) {
    Nest k;
    auto i = k.local("i");
    S body = k.loop(i, k.b.i64(0), k.b.param(k.n),
                    k.put(k.u, {k.b.mul(k.b.i64(2), k.b.read(i))}, k.one()));
    EXPECT_EQ(
        k.hoisted(body),
        R"(  if ((n <= 1099511627776) & (n >= -1099511627776)) & ((u.shape[0] + 1) >= (n * 2)):
    for i in 0 to n:
      u[2 * i] = 1.0
  else rarely:
    for i in 0 to n:
      u.wrapped[2 * i] = 1.0
)");
}

TEST(HoistBounds, WithoutDuplicationOnlyProofsCount) {
    Nest k;
    auto i = k.local("i");
    S body = k.loop(i, k.b.i64(0), k.b.extent(k.u, 0),
                    k.put(k.u, {k.b.read(i)}, k.at(k.v, {k.b.read(i)})));
    EXPECT_EQ(k.hoisted(body, false), R"(  for i in 0 to u.shape[0]:
    u[i] = v.wrapped[i]
)");
}

TEST(HoistBounds, FlattenedIndices) {
    Nest k;
    auto i = k.local("i"), j = k.local("j");
    E flat = k.b.add(k.b.mul(k.b.read(i), k.b.param(k.m)), k.b.read(j));
    S inner = k.loop(j, k.b.i64(0), k.b.param(k.m), k.put(k.u, {flat}, k.one()));
    EXPECT_EQ(
        k.hoisted(k.loop(i, k.b.i64(0), k.b.param(k.n), inner)),
        R"(  if (((((n <= 1073741824) & (n >= -1073741824)) & (m <= 1073741824)) & (m >= -1073741824)) & (u.shape[0] <= 1073741824)) & (u.shape[0] >= (m * n)):
    for i in 0 to n:
      for j in 0 to m:
        u[(i * m) + j] = 1.0
  else rarely:
    for i in 0 to n:
      for j in 0 to m:
        u.wrapped[(i * m) + j] = 1.0
)");
}

TEST(HoistBounds, NegativeConstantsCountFromTheEnd) {
    Nest k(2);
    auto i = k.local("i");
    S body =
        k.loop(i, k.b.i64(0), k.b.extent(k.u, 0), k.put(k.u, {k.b.read(i), k.b.i64(-2)}, k.one()));
    EXPECT_EQ(k.hoisted(body), R"(  if u.shape[1] >= 2:
    for i in 0 to u.shape[0]:
      u[i, u.shape[1] - 2] = 1.0
  else rarely:
    for i in 0 to u.shape[0]:
      u.wrapped[i, -2] = 1.0
)");
}

TEST(HoistBounds, IndirectIndicesStayTested) {
    Nest k;
    auto i = k.local("i");
    S body = k.loop(i, k.b.i64(0), k.b.param(k.n), k.put(k.u, {k.at(k.r, {k.b.read(i)})}, k.one()));
    EXPECT_EQ(k.hoisted(body),
              R"(  if ((n <= 1099511627776) & (n >= -1099511627776)) & (r.shape[0] >= n):
    for i in 0 to n:
      u.wrapped[r[i]] = 1.0
  else rarely:
    for i in 0 to n:
      u.wrapped[r.wrapped[i]] = 1.0
)");
}

TEST(HoistBounds, ConditionsAndEarlyExitsCount) {
    Nest k;
    Builder& b = k.b;
    auto i = k.local("i");
    S inside = b.branch(b.binary(Op::And, b.binary(Op::Gt, b.read(i), b.i64(0)),
                                 b.binary(Op::Lt, b.read(i), b.extent(k.u, 0))),
                        k.put(k.u, {k.plus(i, -1)}, k.one()));
    S skip = b.branch(b.binary(Op::Ge, b.read(i), b.extent(k.v, 0)), b.next());
    EXPECT_EQ(k.hoisted(k.loop(i, b.i64(0), b.param(k.n),
                               b.block({inside, skip, k.put(k.v, {b.read(i)}, k.one())}))),
              R"(  for i in 0 to n:
    if (i > 0) & (i < u.shape[0]):
      u[i - 1] = 1.0
    if i >= v.shape[0]:
      continue
    v[i] = 1.0
)");
}

TEST(HoistBounds, VariablesThatChangeAreNotTrusted) {
    Nest k;
    Builder& b = k.b;
    auto i = k.local("i"), j = k.local("j");
    // j grows inside the loop: nothing is known of it.
    S body =
        b.block({b.declare(j, b.i64(0)),
                 k.loop(i, b.i64(0), b.extent(k.u, 0),
                        b.block({k.put(k.u, {b.read(j)}, k.one()), b.assign(j, k.plus(j, 2))}))});
    EXPECT_EQ(k.hoisted(body), R"(  var j: int64 = 0
  for i in 0 to u.shape[0]:
    u.wrapped[j] = 1.0
    j = j + 2
)");
    Nest q;
    i = q.local("i");
    j = q.local("j");
    // j follows i: it is i's value wherever it is read after the assignment.
    body = q.b.block(
        {q.b.declare(j, q.b.i64(0)),
         q.loop(i, q.b.i64(0), q.b.extent(q.u, 0),
                q.b.block({q.b.assign(j, q.b.read(i)), q.put(q.u, {q.b.read(j)}, q.one())}))});
    EXPECT_EQ(q.hoisted(body), R"(  var j: int64 = 0
  for i in 0 to u.shape[0]:
    j = i
    u[j] = 1.0
)");
}

TEST(HoistBounds, TheTestStandsWhereBoundsAreKnown) {
    Nest k;
    Builder& b = k.b;
    auto t = k.local("t"), i = k.local("i"), c = k.local("c");
    // The inner bound is loaded anew in each outer iteration.
    S inner = k.loop(i, b.i64(0), b.read(c), k.put(k.u, {b.read(i)}, k.one()));
    S body =
        k.loop(t, b.i64(0), b.param(k.n), b.block({b.declare(c, b.load(k.r, {b.i64(0)})), inner}));
    EXPECT_EQ(k.hoisted(body), R"(  for t in 0 to n:
    var c: int64 = r[0]
    if ((c <= 1099511627776) & (c >= -1099511627776)) & (u.shape[0] >= c):
      for i in 0 to c:
        u[i] = 1.0
    else rarely:
      for i in 0 to c:
        u.wrapped[i] = 1.0
)");
}

TEST(HoistBounds, KernelsOverTheGrid) {
    Nest k;
    Builder& b = k.b;
    b.function().is_kernel = true;
    auto i = k.local("i");
    b.function().body = b.block({b.declare(i, b.work_item(WorkItemQuery::GlobalId, 0)),
                                 k.put(k.u, {b.read(i)}, k.at(k.v, {b.read(i)}))});
    passes::wrap_work_items(k.module);
    EXPECT_EQ(k.hoisted(b.function().body),
              R"(  var group_count.0: int64 = ((global_size.0 + local_size.0) - 1) // local_size.0
  if ((((((((((global_size.0 <= 1073741824) & (global_size.0 >= -1073741824)) & (local_size.0 <= 1073741824)) & (local_size.0 >= -1073741824)) & (global_offset.0 <= 1073741824)) & (global_offset.0 >= -1073741824)) & (u.shape[0] <= 1073741824)) & (v.shape[0] <= 1073741824)) & ((global_offset.0 >= 0) & (local_size.0 >= 0))) & (v.shape[0] >= (global_size.0 + global_offset.0))) & (u.shape[0] >= (global_size.0 + global_offset.0)):
    group group in 0 to group_count.0 axis 0:
      var group_id.0: int64 = group
      var first.0: int64 = group_id.0 * local_size.0
      var size.0: int64 = min(local_size.0, global_size.0 - first.0)
      item item.0 in 0 to size.0 axis 0:
        var global_id.0: int64 = (first.0 + item.0) + global_offset.0
        var i: int64 = global_id.0
        u[i] = v[i]
  else rarely:
    group group in 0 to group_count.0 axis 0:
      var group_id.0: int64 = group
      var first.0: int64 = group_id.0 * local_size.0
      var size.0: int64 = min(local_size.0, global_size.0 - first.0)
      item item.0 in 0 to size.0 axis 0:
        var global_id.0: int64 = (first.0 + item.0) + global_offset.0
        var i: int64 = global_id.0
        u.wrapped[i] = v.wrapped[i]
)");
}

TEST(HoistBounds, ABoundThatIsExcludedMovesByOne) {
    Nest t;
    Builder& b = t.b;
    std::int32_t i = t.local("i");
    E is_edge = b.binary(Op::Or, b.binary(Op::Eq, b.read(i), b.i64(0)),
                         b.binary(Op::Eq, b.read(i), b.sub(b.extent(t.u, 0), b.i64(1))));
    S copy = t.put(t.u, {b.read(i)}, t.one());
    S mean = t.put(t.u, {b.read(i)}, b.add(t.at(t.u, {t.plus(i, -1)}), t.at(t.u, {t.plus(i, 1)})));
    std::string text =
        t.hoisted(t.loop(i, b.i64(0), b.extent(t.u, 0), b.branch(is_edge, copy, mean)));
    EXPECT_EQ(text.find("wrapped"), std::string::npos) << text;
    EXPECT_EQ(text.find("rarely"), std::string::npos) << text;
}

TEST(HoistBounds, AnIndexThatIsExcludedElsewhereStaysTested) {
    Nest t;
    Builder& b = t.b;
    std::int32_t i = t.local("i");
    E is_one = b.binary(Op::Eq, b.read(i), b.i64(1));
    S mean = t.put(t.u, {b.read(i)}, t.at(t.u, {t.plus(i, -1)}));
    std::string text =
        t.hoisted(t.loop(i, b.i64(0), b.extent(t.u, 0), b.branch(is_one, b.next(), mean)), false);
    EXPECT_NE(text.find("u[select((i - 1) < 0, u.shape[0] + (i - 1), i - 1)]"), std::string::npos)
        << text;
}

TEST(HoistBounds, PeriodicNeighboursCountFromTheEnd) {
    Nest k(2);
    Builder& b = k.b;
    auto i = k.local("i"), j = k.local("j");
    S inner = k.loop(j, b.i64(0), b.extent(k.u, 1),
                     k.put(k.u, {b.read(i), b.read(j)}, k.at(k.u, {k.plus(i, -1), k.plus(j, -1)})));
    EXPECT_EQ(k.hoisted(k.loop(i, b.i64(0), b.extent(k.u, 0), inner)),
              R"(  for i in 0 to u.shape[0]:
    for j in 0 to u.shape[1]:
      u[i, j] = u[select((i - 1) < 0, u.shape[0] + (i - 1), i - 1), select((j - 1) < 0, u.shape[1] + (j - 1), j - 1)]
)");
    // Of an array with one element there is no second one from the end.
    Nest two;
    i = two.local("i");
    EXPECT_EQ(two.hoisted(two.loop(i, two.b.i64(0), two.b.extent(two.u, 0),
                                   two.put(two.u, {two.plus(i, -2)}, two.one()))),
              R"(  if u.shape[0] >= 2:
    for i in 0 to u.shape[0]:
      u[select((i - 2) < 0, u.shape[0] + (i - 2), i - 2)] = 1.0
  else rarely:
    for i in 0 to u.shape[0]:
      u.wrapped[i - 2] = 1.0
)");
}

TEST(HoistBounds, ValuesOfFewBitsAndMasksHaveRanges) {
    Nest k;
    Builder& b = k.b;
    auto bytes = b.array_param("bytes", DType::UInt8, 1, false);
    auto table = b.local_array("table", DType::Float64, 1, Space::Private);
    auto i = k.local("i");
    auto value = [&] { return b.cast(b.load(bytes, {b.read(i)}), DType::Int64); };
    auto loop_over = [&](S body) { return k.loop(i, b.i64(0), b.extent(bytes, 0), body); };
    const E extents[] = {b.i64(256)};
    std::string text = k.hoisted(
        b.block({b.allocate(table, extents), loop_over(k.put(table, {value()}, k.one()))}));
    EXPECT_NE(text.find("table[int64(bytes[i])]"), std::string::npos) << text;
    // Tables of as many entries as bytes could count are seldom: no test before the loop.
    EXPECT_EQ(k.hoisted(loop_over(k.put(k.u, {value()}, k.one()))),
              R"(  for i in 0 to bytes.shape[0]:
    u.wrapped[int64(bytes[i])] = 1.0
)");
    auto unknown = [&] { return b.load(k.r, {b.read(i)}); };
    for (E index : {b.binary(Op::And, value(), b.i64(7)), b.binary(Op::And, b.i64(7), unknown()),
                    b.binary(Op::Mod, unknown(), b.i64(8)),
                    b.binary(Op::FloorDiv, b.binary(Op::And, unknown(), b.i64(31)), b.i64(4)),
                    b.binary(Op::Shr, b.binary(Op::And, unknown(), b.i64(31)), b.i64(2))}) {
        text = k.hoisted(loop_over(k.put(k.u, {index}, k.one())));
        EXPECT_NE(text.find("if u.shape[0] >= 8:"), std::string::npos) << text;
    }
}

TEST(HoistBounds, RemaindersOfUnknownNumbersAreBelowThePositiveDivisor) {
    Nest k;
    Builder& b = k.b;
    auto i = k.local("i");
    E index = b.binary(Op::Mod, b.load(k.r, {b.read(i)}), b.extent(k.u, 0));
    EXPECT_EQ(k.hoisted(k.loop(i, b.i64(0), b.extent(k.r, 0), k.put(k.u, {index}, k.one()))),
              R"(  if u.shape[0] >= 1:
    for i in 0 to r.shape[0]:
      u[r[i] % u.shape[0]] = 1.0
  else rarely:
    for i in 0 to r.shape[0]:
      u.wrapped[r[i] % u.shape[0]] = 1.0
)");
}

TEST(HoistBounds, ClampedIndicesAreInRange) {
    Nest k;
    Builder& b = k.b;
    auto i = k.local("i");
    E last = b.sub(b.extent(k.u, 0), b.i64(1));
    E clamped = b.binary(Op::Min, b.binary(Op::Max, k.plus(i, -3), b.i64(0)), last);
    E chosen = b.select(b.binary(Op::Lt, b.read(i), b.param(k.n)), b.i64(0), last);
    EXPECT_EQ(k.hoisted(k.loop(i, b.i64(0), b.extent(k.u, 0),
                               k.put(k.u, {clamped}, k.at(k.u, {chosen})))),
              R"(  for i in 0 to u.shape[0]:
    u[min(max(i - 3, 0), u.shape[0] - 1)] = u[select(i < n, 0, u.shape[0] - 1)]
)");
}
