// Random kernel IR with arguments: the same for the same seed, so that two executors can be
// compared.
//
// Functions terminate: loops have bounded trip counts, a while counts down. Parallel loops are free
// of races: they store only at their own index, to arrays that they read nowhere else. Indices may
// be out of range: then the function faults, and both executors must fault at the same line with
// the same values.
#pragma once

#include <random>

#include "ir/build.h"
#include "unit/tape/host_arrays.h"

namespace unisono::testing {

struct RandomIr {
    explicit RandomIr(std::uint32_t seed) : random(seed) {}

    std::mt19937 random;
    ir::Module module;
    ir::Builder b{module.functions.emplace_back("random")};
    /// Arrays of arguments: float64 vector, float64 matrix, int64 vector, float32 vector; then
    /// scalars n, x.
    std::vector<double> vector, matrix;
    std::vector<std::int64_t> indices;
    std::vector<float> singles;
    std::int64_t n = 0;
    double x = 0;
    HostArrays arrays;
    std::vector<std::uint64_t> scalars;
    bool has_parallel =
        false;  ///< after a fault in a parallel loop, what later iterations stored is open

    /// Builds the function and its arguments; results: float64, int64.
    void build() {
        make_arguments();
        b.function().results = {DType::Float64, DType::Int64};
        total_ = declare("total", b.constant(Scalar::of(DType::Float64, 0.5)));
        count_ = declare("count", b.i64(pick(0, 3)));
        auto m = declare("rows", b.extent(matrix_, 0));
        integers_ = {m};
        std::vector<ir::S> body = std::move(declared_);
        statements(body, 0, pick(3, 6));
        ir::E out[] = {b.read(total_), b.read(count_)};
        body.push_back(b.ret(out));
        b.function().body = b.block(std::span<const ir::S>(body));
    }

  private:
    using E = ir::E;
    using S = ir::S;

    int pick(int low, int high) {
        return static_cast<int>(random() % static_cast<unsigned>(high - low + 1)) + low;
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    void make_arguments() {
        auto cls = [&] { return chance(50) ? ir::StrideClass::One : ir::StrideClass::Other; };
        std::int64_t size = pick(3, 12);
        std::int64_t rows = pick(2, 9), columns = pick(2, 9);
        std::int64_t gap = pick(1, 2);
        bool reversed = chance(20);
        vector_ = b.array_param("v", DType::Float64, 1, true, {cls()});
        bool dense = b.function().arrays[0].strides[0] == ir::StrideClass::One;
        if (dense) gap = 1;
        reversed = reversed && !dense;
        matrix_ = b.array_param("a", DType::Float64, 2, true, {ir::StrideClass::Other, cls()});
        indices_ = b.array_param("k", DType::Int64, 1, false, {ir::StrideClass::One});
        singles_ = b.array_param("s", DType::Float32, 1, true, {ir::StrideClass::One});
        n_ = b.scalar_param("n", DType::Int64);
        x_ = b.scalar_param("x", DType::Float64);
        vector.resize(static_cast<std::size_t>(size * gap));
        for (double& v : vector) v = real();
        matrix.resize(static_cast<std::size_t>(rows * columns));
        for (double& v : matrix) v = real();
        indices.resize(static_cast<std::size_t>(size + 2));
        for (auto& v : indices) v = pick(-2, static_cast<int>(size) - 1);
        singles.resize(static_cast<std::size_t>(size));
        for (float& v : singles) v = static_cast<float>(real());
        n = pick(-1, 12);
        x = real();
        arrays.add(vector, {size}, {reversed ? -gap : gap}, reversed ? (size - 1) * gap : 0);
        bool transposed = b.function().arrays[1].strides[1] == ir::StrideClass::Other && chance(50);
        if (transposed) {
            arrays.add(matrix, {rows, columns}, {1, rows});
        } else {
            arrays.add(matrix, {rows, columns});
        }
        arrays.add(indices, {size + 2}).add(singles, {size});
        scalars = {static_cast<std::uint64_t>(n), Scalar::of(DType::Float64, x).bits};
    }

    double real() {
        static constexpr double special[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e300, -7.25};
        return chance(25) ? special[pick(0, 7)] : pick(-1000, 1000) / 16.0;
    }

    std::int32_t declare(const char* name, E value) {
        std::int32_t v = b.var(name, value->dtype);
        declared_.push_back(b.declare(v, value));
        return v;
    }

    // ---- Expressions

    E index(int depth) {
        if (loops_.empty() && chance(80)) return b.i64(0);
        int kind = pick(0, 15);
        E base = integer_leaf();
        if (!loops_.empty() && kind != 4) {
            int last = static_cast<int>(loops_.size()) - 1;
            base = b.read(loops_[static_cast<std::size_t>(in_parallel_ ? last : pick(0, last))]);
        }
        if (kind == 0) return b.mul(base, b.i64(pick(-1, 2)));
        if (kind == 1) return b.sub(b.param(n_), base);
        if (kind == 2 && depth < 2) return load_index(base);
        if (kind == 3 && loops_.size() > 1)
            return b.add(b.mul(b.read(loops_[0]), b.read(integers_[0])), base);
        if (kind < 6) return b.add(base, b.i64(pick(-2, 1)));
        return kind < 9 ? b.i64(chance(80) ? 0 : pick(-2, 2)) : base;
    }

    E load_index(E at) { return b.load(indices_, {at}, access()); }

    ir::Access access() { return chance(50) ? ir::Access::Wrapped : ir::Access::Checked; }

    E integer_leaf() {
        switch (pick(0, 4)) {
            case 0: return b.i64(pick(-3, 6));
            case 1: return b.param(n_);
            case 2: return b.extent(matrix_, pick(0, 1));
            case 3: return in_parallel_ ? b.i64(2) : b.read(count_);
            default:
                return b.read(integers_[static_cast<std::size_t>(
                    pick(0, static_cast<int>(integers_.size()) - 1))]);
        }
    }

    E integer(int depth) {
        if (depth >= 3 || chance(30)) return integer_leaf();
        static constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::FloorDiv, Op::Mod, Op::Min,
                                     Op::Max, Op::And, Op::Or,  Op::Xor,      Op::Shl, Op::Shr};
        switch (pick(0, 5)) {
            case 0: return b.select(condition(depth + 1), integer(depth + 1), integer(depth + 1));
            case 1: return b.cast(number(depth + 1), DType::Int64);
            case 2: return b.cast(b.cast(integer(depth + 1), DType::Int32), DType::Int64);
            case 3: return b.unary(chance(50) ? Op::Neg : Op::Abs, integer(depth + 1));
            default: return b.binary(ops[pick(0, 11)], integer(depth + 1), integer(depth + 1));
        }
    }

    E number(int depth) {
        if (depth >= 4 || chance(15)) return b.constant(Scalar::of(DType::Float64, real()));
        static constexpr Op ops[] = {Op::Add,      Op::Sub, Op::Mul, Op::Div,
                                     Op::FloorDiv, Op::Mod, Op::Min, Op::Max};
        switch (pick(0, 8)) {
            case 0: return element(depth + 1);
            case 1: return element(depth + 1);
            case 2: return b.cast(integer(depth + 1), DType::Float64);
            case 3: {
                static constexpr Op unary[] = {Op::Neg,   Op::Abs,  Op::Sqrt,
                                               Op::Floor, Op::Ceil, Op::Trunc};
                return b.unary(unary[pick(0, 5)], number(depth + 1));
            }
            case 4: return b.select(condition(depth + 1), number(depth + 1), number(depth + 1));
            case 5: return b.param(x_);
            case 6: {
                E single = b.cast(number(depth + 1), DType::Float32);
                E other = b.cast(number(depth + 1), DType::Float32);
                return b.cast(b.binary(ops[pick(0, 7)], single, other), DType::Float64);
            }
            default: return b.binary(ops[pick(0, 7)], number(depth + 1), number(depth + 1));
        }
    }

    /// A load; in a parallel loop not of the array that the loop stores to.
    E element(int depth) {
        int which = pick(0, 2);
        if (in_parallel_ && which == stored_) which = (which + 1) % 3;
        if (which == 0) return b.load(vector_, {index(depth)}, access());
        if (which == 1) return b.load(matrix_, {index(depth), index(depth)}, access());
        return b.cast(b.load(singles_, {index(depth)}, access()), DType::Float64);
    }

    E condition(int depth) {
        static constexpr Op ops[] = {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};
        Op op = ops[pick(0, 5)];
        if (chance(20)) return b.binary(Op::And, condition(depth + 1), condition(depth + 1));
        return chance(60) || depth > 3 ? b.binary(op, integer(depth + 1), integer(depth + 1))
                                       : b.binary(op, number(depth + 1), number(depth + 1));
    }

    // ---- Statements

    void next_line() { b.line = {0, 0, ++line_}; }

    void statements(std::vector<S>& out, int depth, int count) {
        for (int k = 0; k < count; ++k) {
            next_line();
            out.push_back(statement(depth));
        }
    }

    S list(int depth, int count) {
        std::vector<S> body;
        std::size_t known = integers_.size();
        statements(body, depth, count);
        integers_.resize(known);
        return b.block(std::span<const S>(body));
    }

    S statement(int depth) {
        int kind = pick(0, 10);
        if (depth < 3 && kind <= 2) return loop(depth);
        if (depth < 3 && kind == 3 && !in_parallel_) return parallel(depth);
        if (depth < 4 && kind == 4)
            return b.branch(guard(), list(depth + 1, pick(1, 2)), orelse(depth));
        if (kind == 5 && !in_parallel_) return countdown(depth);
        if (kind == 6 && !loops_.empty() && serial_ > 0)
            return b.branch(condition(2), chance(50) ? b.next() : b.leave());
        if (kind == 7) return declare_integer();
        if (in_parallel_) return store_own();
        if (kind == 8) return b.assign(count_, integer(0));
        if (kind == 9) return b.assign(total_, b.add(b.read(total_), number(1)));
        return store();
    }

    S orelse(int depth) { return chance(50) ? list(depth + 1, 1) : nullptr; }

    /// Half of the conditions are those by which programs keep indices in range.
    E guard() {
        if (loops_.empty() || chance(50)) return condition(0);
        E i = b.read(loops_.back());
        E below = b.binary(Op::Lt, i, b.extent(vector_, 0));
        return b.binary(Op::And, b.binary(Op::Gt, i, b.i64(pick(-1, 1))), below);
    }

    S declare_integer() {
        E value = chance(50) ? index(0) : integer(1);
        std::int32_t v = b.var("j", DType::Int64);
        S s = b.declare(v, value);
        integers_.push_back(v);
        return s;
    }

    S store() {
        switch (pick(0, 2)) {
            case 0: {
                E at[] = {index(0)};
                return b.store(vector_, at, number(0), access());
            }
            case 1: {
                E at[] = {index(0), index(0)};
                return b.store(matrix_, at, number(0), access());
            }
            default: {
                E at[] = {index(0)};
                return b.store(singles_, at, b.cast(number(0), DType::Float32), access());
            }
        }
    }

    S store_own() {
        E i = b.read(parallel_var_);
        E column[] = {i, b.i64(0)};
        E at[] = {i};
        if (stored_ == 0) return b.store(vector_, at, number(1), access());
        if (stored_ == 1) return b.store(matrix_, column, number(1), access());
        return b.store(singles_, at, b.cast(number(1), DType::Float32), access());
    }

    E bound() {
        switch (pick(0, 5)) {
            case 0: return b.i64(pick(-2, 4));
            case 1: return chance(30) ? b.param(n_) : b.extent(vector_, 0);
            case 2: return b.extent(vector_, 0);
            case 3: return b.sub(b.extent(matrix_, pick(0, 1)), b.i64(pick(0, 1)));
            case 4: return b.binary(Op::Min, b.param(n_), b.extent(vector_, 0));
            default: return b.read(integers_[0]);
        }
    }

    S loop(int depth) {
        std::int32_t i = b.var("i", DType::Int64);
        E begin = chance(70) ? b.i64(pick(0, 2)) : bound();
        E end = bound();
        std::int64_t step = chance(70) ? 1 : pick(1, 3);
        if (chance(20)) {
            std::swap(begin, end);
            step = -step;
        }
        loops_.push_back(i);
        ++serial_;
        S body = list(depth + 1, pick(1, 3));
        --serial_;
        loops_.pop_back();
        return b.loop(ir::LoopKind::Serial, i, begin, end, b.i64(step), body);
    }

    S parallel(int depth) {
        has_parallel = true;
        std::int32_t i = b.var("p", DType::Int64);
        E end = bound();
        std::vector<std::int32_t> outer;
        outer.swap(loops_);
        int serial = serial_;
        serial_ = 0;
        loops_ = {i};
        parallel_var_ = i;
        in_parallel_ = true;
        stored_ = pick(0, 2);
        std::vector<S> body;
        std::size_t known = integers_.size();
        statements(body, depth + 1, pick(1, 3));
        bool reduces = chance(50);
        ir::Reduction sum[] = {{total_, Op::Add}};
        if (reduces) body.push_back(b.assign(total_, b.add(b.read(total_), number(2))));
        integers_.resize(known);
        in_parallel_ = false;
        serial_ = serial;
        loops_.swap(outer);
        std::span<const ir::Reduction> reductions(sum, reduces ? 1 : 0);
        return b.loop(ir::LoopKind::Parallel, i, b.i64(pick(0, 1)), end, b.i64(pick(1, 2)),
                      b.block(std::span<const S>(body)), reductions);
    }

    /// A while whose condition reads an array.
    S countdown(int depth) {
        std::int32_t left = b.var("left", DType::Int64);
        S first = b.declare(left, b.i64(pick(0, 4)));
        E more = b.binary(Op::Gt, b.read(left), b.i64(0));
        E also = b.binary(Op::Ne, element(2), b.constant(Scalar::of(DType::Float64, 1e9)));
        S step = b.assign(left, b.sub(b.read(left), b.i64(1)));
        int serial = serial_;
        serial_ =
            0;  // a continue would skip nothing here, but a break must not leave an outer loop
        S body = b.block({step, list(depth + 1, 1)});
        serial_ = serial;
        return b.block({first, b.loop_while(b.binary(Op::And, more, also), body)});
    }

    std::int32_t vector_ = -1, matrix_ = -1, indices_ = -1, singles_ = -1, n_ = -1, x_ = -1;
    std::int32_t total_ = -1, count_ = -1;
    std::vector<std::int32_t> integers_;  // readable int64 variables
    std::vector<std::int32_t> loops_;     // loop variables in scope
    std::vector<S> declared_;
    int serial_ = 0;
    bool in_parallel_ = false;
    int stored_ = -1;
    std::int32_t parallel_var_ = -1;
    int line_ = 0;
};

/// What running a RandomIr gave.
struct Outcome {
    std::string fault;  ///< empty, or kind, message, line and values
    std::vector<std::uint64_t> results;
    std::vector<double> vector, matrix;
    std::vector<float> singles;

    static std::string describe(const Fault& f, std::span<const ir::FaultSite> sites) {
        if (f.site < 0) return "";
        const ir::FaultSite& s = sites[static_cast<std::size_t>(f.site)];
        return std::to_string(static_cast<int>(s.kind)) + " " + s.message + " line " +
               std::to_string(s.line.line) + " " + std::to_string(f.values[0]) + " " +
               std::to_string(f.values[1]);
    }
};

}  // namespace unisono::testing
