// The sample modules, built by hand as the front end and the tape would.
#include "unit/backends/opencl_samples.h"

namespace unisono::testing {
using namespace ir;

namespace {

/// One function with a builder; lines are set by `at`.
struct Sample {
    Module module;
    Builder b;
    explicit Sample(const char* name) : b(module.functions.emplace_back(name)) {
        b.function().files = {std::string(name) + ".py"};
    }
    Sample(const Sample&) = delete;
    void at(int line) { b.line = {0, 4, line}; }
    S list(std::initializer_list<S> items) { return b.block(items); }
    S parallel(std::int32_t var, E begin, E end, S body, LoopKind kind = LoopKind::Parallel) {
        return b.loop(kind, var, begin, end, b.i64(1), body);
    }
    Module finish(S body) {
        b.function().body = body;
        return std::move(module);
    }
};

}  // namespace

Module saxpy() {
    Sample s("saxpy");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Float64, 1, false);
    auto out = b.array_param("out", DType::Float64, 1, true);
    auto factor = b.scalar_param("s", DType::Float64);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    s.at(3);
    S store = b.store(out, at, b.add(b.mul(b.load(a, at), b.param(factor)), b.load(out, at)));
    s.at(2);
    return s.finish(s.parallel(i, b.i64(0), b.extent(out, 0), store));
}

Module jacobi() {
    Sample s("jacobi");
    Builder& b = s.b;
    std::vector<StrideClass> rows{StrideClass::Other, StrideClass::One};
    auto u = b.array_param("u", DType::Float64, 2, false, rows);
    auto u_new = b.array_param("u_new", DType::Float64, 2, true, rows);
    auto y = b.var("y", DType::Int64);
    auto x = b.var("x", DType::Int64);
    auto near = [&](int dy, int dx) {
        return b.load(u, {b.add(b.read(y), b.i64(dy)), b.add(b.read(x), b.i64(dx))});
    };
    s.at(4);
    E sum = b.add(b.add(near(-1, 0), near(1, 0)), b.add(near(0, -1), near(0, 1)));
    E to[] = {b.read(y), b.read(x)};
    S store = b.store(u_new, to, b.binary(Op::Div, sum, b.constant(Scalar::of(DType::Float64, 4))));
    s.at(3);
    S inner = s.parallel(x, b.i64(1), b.sub(b.extent(u, 1), b.i64(1)), store, LoopKind::Vector);
    s.at(2);
    return s.finish(s.parallel(y, b.i64(1), b.sub(b.extent(u, 0), b.i64(1)), inner));
}

Module every_second() {
    Sample s("every_second");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Int64, 1, false, {StrideClass::MinusOne});
    auto out = b.array_param("out", DType::Int64, 1, true);
    auto step = b.scalar_param("step", DType::Int64);
    auto n = b.var("n", DType::Int64);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    s.at(2);
    S size = b.declare(n, b.extent(out, 0));
    s.at(4);
    S store = b.store(out, at, b.load(a, at));
    s.at(3);
    S loop =
        b.loop(LoopKind::Parallel, i, b.sub(b.read(n), b.i64(1)), b.i64(-1), b.param(step), store);
    return s.finish(s.list({size, loop}));
}

Module four_axes() {
    Sample s("four_axes");
    Builder& b = s.b;
    auto out = b.array_param("out", DType::Int64, 4, true);
    std::int32_t v[] = {b.var("p", DType::Int64), b.var("q", DType::Int64),
                        b.var("r", DType::Int64), b.var("x", DType::Int64)};
    E value = b.i64(0);
    std::vector<E> at;
    for (auto k : v) {
        value = b.add(b.mul(value, b.i64(10)), b.read(k));
        at.push_back(b.read(k));
    }
    s.at(6);
    S body = b.store(out, at, value);
    for (int k = 3; k >= 0; --k) {
        s.at(2 + k);
        body = s.parallel(v[k], b.i64(0), b.extent(out, k), body);
    }
    return s.finish(body);
}

Module wraps() {
    Sample s("wraps");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Int32, 1, false);
    auto c = b.array_param("b", DType::Int32, 1, false);
    auto out = b.array_param("out", DType::Int32, 1, true);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    s.at(3);
    E x = b.load(a, at), y = b.load(c, at);
    S store = b.store(out, at, b.add(b.mul(x, y), b.binary(Op::FloorDiv, b.unary(Op::Abs, x), y)));
    s.at(2);
    return s.finish(s.parallel(i, b.i64(0), b.extent(out, 0), store));
}

Module checked_gather() {
    Sample s("checked_gather");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Float32, 1, false, {StrideClass::One});
    auto index = b.array_param("index", DType::Int64, 1, false, {StrideClass::One});
    auto out = b.array_param("out", DType::Float32, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    s.at(3);
    S store = b.store(out, at, b.load(a, {b.load(index, at)}, Access::Wrapped));
    s.at(2);
    return s.finish(s.parallel(i, b.i64(0), b.extent(out, 0), store));
}

Module checked_call() {
    Module module;
    module.functions.reserve(2);
    Builder b(module.functions.emplace_back("checked_call"));
    Builder pick(module.functions.emplace_back("pick"));
    b.function().files = pick.function().files = {"checked_call.py"};
    pick.line = {0, 4, 2};
    auto from = pick.array_param("a", DType::Float32, 1, false);
    auto k = pick.scalar_param("k", DType::Int64);
    pick.function().results = {DType::Float32};
    E value[] = {pick.load(from, {pick.param(k)}, Access::Wrapped)};
    pick.function().body = pick.ret(value);

    auto a = b.array_param("a", DType::Float32, 1, false, {StrideClass::One});
    auto index = b.array_param("index", DType::Int64, 1, false, {StrideClass::One});
    auto out = b.array_param("out", DType::Float32, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    auto picked = b.var("picked", DType::Float32);
    E at[] = {b.read(i)};
    E scalars[] = {b.load(index, at)};
    std::int32_t arrays[] = {a}, outs[] = {picked};
    b.line = {0, 4, 7};
    S body = b.block({b.declare(picked, nullptr), b.call(1, scalars, arrays, outs),
                      b.store(out, at, b.read(picked))});
    b.line = {0, 0, 6};
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(out, 0), b.i64(1), body);
    return module;
}

Module two_steps() {
    Sample s("two_steps");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Float64, 1, true, {StrideClass::One});
    auto out = b.array_param("out", DType::Float64, 1, true, {StrideClass::One});
    auto twice = b.scalar_param("twice", DType::Bool);
    auto n = b.var("n", DType::Int64);
    auto i = b.var("i", DType::Int64);
    auto j = b.var("j", DType::Int64);
    auto half = b.constant(Scalar::of(DType::Float64, 0.5));
    s.at(2);
    S size = b.declare(n, b.extent(a, 0));
    E at_i[] = {b.read(i)}, at_j[] = {b.read(j)}, first[] = {b.i64(0)};
    E mirrored[] = {b.sub(b.sub(b.read(n), b.i64(1)), b.read(j))};
    s.at(4);
    S store = b.store(out, at_i, b.mul(b.load(a, at_i), half));
    s.at(3);
    S loop = s.parallel(i, b.i64(0), b.read(n), store);
    s.at(5);
    S serial = b.store(out, first, b.constant(Scalar::of(DType::Float64, 100)));
    s.at(8);
    S second = b.store(a, at_j, b.load(out, mirrored));
    s.at(7);
    S again = s.parallel(j, b.i64(0), b.read(n), second);
    s.at(6);
    return s.finish(s.list({size, loop, serial, b.branch(b.param(twice), again)}));
}

Module sum_of_squares() {
    Sample s("sum_of_squares");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Float64, 1, false);
    b.function().results = {DType::Float64};
    auto total = b.var("total", DType::Float64);
    auto i = b.var("i", DType::Int64);
    s.at(2);
    S start = b.declare(total, b.zero(DType::Float64));
    s.at(4);
    E x = b.load(a, {b.read(i)});
    S add = b.assign(total, b.add(b.read(total), b.mul(x, x)));
    s.at(3);
    Reduction reduction[] = {{total, Op::Add}};
    S loop = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1), add, reduction);
    s.at(5);
    E result[] = {b.read(total)};
    return s.finish(s.list({start, loop, b.ret(result)}));
}

/// The sum over each work-group in local memory. Checked: of a[index[id]], with Python's indices in
/// all accesses.
static Module tiles(const char* name, bool checked) {
    Sample s(name);
    Builder& b = s.b;
    b.function().is_kernel = true;
    auto a = b.array_param("a", DType::Float32, 1, false, {StrideClass::One});
    auto sums = b.array_param("sums", DType::Float32, 1, true, {StrideClass::One});
    auto index = checked ? b.array_param("index", DType::Int64, 1, false, {StrideClass::One}) : -1;
    Access access = checked ? Access::Wrapped : Access::Inside;
    auto tile = b.local_array("tile", DType::Float32, 1, Space::Local);
    auto lid = b.var("lid", DType::Int64);
    auto half = b.var("half", DType::Int64);  // a word that OpenCL C reserves
    E extents[] = {b.i64(64)};
    E mine[] = {b.read(lid)}, first[] = {b.i64(0)},
      group[] = {b.work_item(WorkItemQuery::GroupId, 0)};
    s.at(3);
    S allocate = b.allocate(tile, extents);
    s.at(4);
    S id = b.declare(lid, b.work_item(WorkItemQuery::LocalId, 0));
    s.at(5);
    E id0 = b.work_item(WorkItemQuery::GlobalId, 0);
    E from = checked ? b.load(index, {id0}, access) : id0;
    S fill = b.store(tile, mine, b.load(a, {from}, access), access);
    s.at(6);
    S start = b.declare(half, b.i64(32));
    s.at(8);
    S wait = b.barrier();
    s.at(10);
    E other = b.load(tile, {b.add(b.read(lid), b.read(half))}, access);
    S add = b.store(tile, mine, b.add(b.load(tile, mine, access), other), access);
    s.at(9);
    S some = b.branch(b.binary(Op::Lt, b.read(lid), b.read(half)), add);
    s.at(11);
    S halve = b.assign(half, b.binary(Op::FloorDiv, b.read(half), b.i64(2)));
    s.at(7);
    S loop = b.loop_while(b.binary(Op::Gt, b.read(half), b.i64(0)), s.list({wait, some, halve}));
    s.at(13);
    S out = b.store(sums, group, b.load(tile, first, access), access);
    s.at(12);
    S last = b.branch(b.binary(Op::Eq, b.read(lid), b.i64(0)), out);
    return s.finish(s.list({allocate, id, fill, start, loop, last}));
}

Module group_sums() { return tiles("group_sums", false); }
Module checked_tiles() { return tiles("checked_tiles", true); }

Module histogram() {
    Sample s("histogram");
    Builder& b = s.b;
    b.function().is_kernel = true;
    auto bins = b.array_param("bins", DType::Int32, 1, true, {StrideClass::One});
    auto total = b.array_param("total", DType::Int64, 1, true, {StrideClass::One});
    auto peak = b.array_param("peak", DType::Float64, 1, true, {StrideClass::One});
    auto seen = b.array_param("seen", DType::UInt8, 1, true, {StrideClass::One});
    auto a = b.array_param("a", DType::Int32, 1, false, {StrideClass::One});
    auto v = b.var("v", DType::Int32);
    E at[] = {b.binary(Op::Mod, b.cast(b.read(v), DType::Int64), b.extent(bins, 0))};
    E first[] = {b.i64(0)};
    s.at(3);
    S value = b.declare(v, b.load(a, {b.work_item(WorkItemQuery::GlobalId, 0)}));
    s.at(4);
    S count = b.atomic(bins, Op::Add, at, b.constant(Scalar::of(DType::Int32, 1)));
    s.at(5);
    S sum = b.atomic(total, Op::Add, first, b.cast(b.read(v), DType::Int64));
    s.at(6);
    S highest = b.atomic(peak, Op::Max, first, b.cast(b.read(v), DType::Float64));
    s.at(7);
    S mark = b.atomic(seen, Op::Add, at, b.constant(Scalar::of(DType::UInt8, 1)));
    return s.finish(s.list({value, count, sum, highest, mark}));
}

Module collatz() {
    Sample s("collatz");
    Builder& b = s.b;
    auto out = b.array_param("out", DType::Int32, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    auto n = b.var("n", DType::Int64);
    auto steps = b.var("steps", DType::Int32);
    E at[] = {b.read(i)};
    E one = b.i64(1), two = b.i64(2);
    s.at(3);
    S start = s.list({b.declare(n, b.add(b.read(i), one)), b.declare(steps, b.zero(DType::Int32))});
    s.at(6);
    S stop = b.branch(b.binary(Op::Gt, b.read(steps), b.constant(Scalar::of(DType::Int32, 100))),
                      b.leave());
    s.at(8);
    S halve = b.assign(n, b.binary(Op::FloorDiv, b.read(n), two));
    s.at(10);
    S back = b.assign(n, one);
    s.at(12);
    S grow = b.assign(n, b.add(b.mul(b.i64(3), b.read(n)), one));
    s.at(9);
    S other = b.branch(b.binary(Op::Lt, b.read(n), b.i64(0)), back, grow);
    s.at(7);
    S step = b.branch(b.binary(Op::Eq, b.binary(Op::Mod, b.read(n), two), b.i64(0)), halve, other);
    s.at(13);
    S count = b.assign(steps, b.add(b.read(steps), b.constant(Scalar::of(DType::Int32, 1))));
    s.at(5);
    S loop = b.loop_while(b.binary(Op::Ne, b.read(n), one), s.list({stop, step, count}));
    s.at(14);
    S store = b.store(out, at, b.read(steps));
    s.at(2);
    return s.finish(s.parallel(i, b.i64(0), b.extent(out, 0), s.list({start, loop, store})));
}

Module flags() {
    Sample s("flags");
    Builder& b = s.b;
    auto a = b.array_param("a", DType::Bool, 1, false, {StrideClass::One});
    auto c = b.array_param("b", DType::Bool, 1, false, {StrideClass::Zero});
    auto out = b.array_param("out", DType::Bool, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    s.at(3);
    E both = b.binary(Op::And, b.load(a, at), b.unary(Op::Invert, b.load(c, at)));
    S store = b.store(out, at, b.binary(Op::Or, both, b.binary(Op::Eq, b.read(i), b.i64(3))));
    s.at(2);
    return s.finish(s.parallel(i, b.i64(0), b.extent(out, 0), store));
}

std::vector<SampleModule> sample_modules() {
    return {
        {"saxpy", saxpy},
        {"jacobi", jacobi},
        {"every_second", every_second},
        {"four_axes", four_axes},
        {"wraps", wraps},
        {"checked_gather", checked_gather},
        {"checked_call", checked_call},
        {"two_steps", two_steps},
        {"sum_of_squares", sum_of_squares},
        {"group_sums", group_sums},
        {"checked_tiles", checked_tiles},
        {"histogram", histogram},
        {"collatz", collatz},
        {"flags", flags},
    };
}

}  // namespace unisono::testing
