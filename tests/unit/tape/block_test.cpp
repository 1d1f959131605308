// The block executor against a plain reference: every operation, layout, reduction, random groups.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <random>

#include "backends/block/folds.h"
#include "backends/block/loops.h"
#include "core/threads/threads.h"
#include "tape/run/block_program.h"
#include "unit/tape/block_reference.h"

namespace {

using namespace unisono;
using namespace block_reference;
using Shape = std::vector<std::int64_t>;

enum class Layout { Contiguous, Strided, Reversed, Broadcast, Permuted };

constexpr std::array all_dtypes = {
#define UNISONO_DTYPE(Name, ...) DType::Name,
#define UNISONO_COMPLEX_DTYPE(...)
#define UNISONO_HALF_DTYPE(...)
#include "core/dtype.def"
};

class Cases {
  public:
    explicit Cases(std::uint64_t seed) : random_(seed) {}

    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
    }

    /// A value of t: usually small and round, sometimes special or any bits.
    Scalar value(DType t) {
        return dispatch_native(t, [&]<class C>() {
            Scalar s{0, t};
            s.set(this->pick<C>());
            return s;
        });
    }

    Array array(DType t, const Shape& shape, Layout layout) {
        Array a;
        a.dtype = t;
        a.strides.assign(shape.size(), 0);
        std::vector<std::size_t> order(shape.size());
        std::iota(order.rbegin(), order.rend(), std::size_t{0});
        if (layout == Layout::Permuted) std::shuffle(order.begin(), order.end(), random_);
        std::int64_t size = layout == Layout::Strided ? 3 : 1;
        for (std::size_t axis : order) {
            bool reversed = layout == Layout::Reversed && shape[axis] > 0;
            a.strides[axis] = reversed ? -size : size;
            if (reversed) a.origin += size * (shape[axis] - 1);
            size *= std::max<std::int64_t>(shape[axis], 1) + (layout == Layout::Strided ? 1 : 0);
        }
        if (layout == Layout::Broadcast)
            a.strides[static_cast<std::size_t>(below(static_cast<std::int64_t>(shape.size())))] = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            Scalar s = value(t);
            const char* bytes = reinterpret_cast<const char*>(&s.bits);
            a.memory.insert(a.memory.end(), bytes, bytes + size_of(t));
        }
        return a;
    }

    /// From now on floats are ordinary: sums of them show their order instead of ending as NaN.
    void be_ordinary() { ordinary_ = true; }

  private:
    template <class C>
    C pick() {
        using L = std::numeric_limits<C>;
        if constexpr (std::is_same_v<C, bool>) {
            return random_() % 2 == 0;
        } else if constexpr (std::is_floating_point_v<C>) {
            static const C special[] = {0,
                                        C(-0.0),
                                        L::infinity(),
                                        -L::infinity(),
                                        L::quiet_NaN(),
                                        L::denorm_min(),
                                        L::max(),
                                        L::lowest(),
                                        C(2147483648.0),
                                        C(-2147483648.0),
                                        C(-2147483648.5),
                                        C(9.3e18),
                                        C(-9.3e18),
                                        C(4294967295.5),
                                        C(4294967296.0),
                                        C(9223372036854775808.0),
                                        C(1.8e19),
                                        C(1.9e19),
                                        C(65535.5),
                                        C(255.5),
                                        C(0.5),
                                        C(-0.5),
                                        C(1)};
            switch (ordinary_ ? 5 : random_() % 6) {
                case 0: return special[random_() % std::size(special)];
                case 1: return static_cast<C>(below(41) - 20);
                default: return std::uniform_real_distribution<C>(-30, 30)(random_);
            }
        } else {
            static const C special[] = {0, 1, static_cast<C>(-1), L::min(), L::max()};
            switch (random_() % 4) {
                case 0: return special[random_() % std::size(special)];
                case 1: return static_cast<C>(random_());
                default: return static_cast<C>(below(21) - 10);
            }
        }
    }

    std::mt19937_64 random_;
    bool ordinary_ = false;
};

void expect_same_memory(const Array& expected, const Array& got, std::size_t output) {
    const auto bytes = static_cast<std::size_t>(size_of(got.dtype));
    for (std::size_t i = 0; i < got.memory.size(); i += bytes) {
        Scalar a{0, got.dtype}, b{0, got.dtype};
        std::memcpy(&a.bits, expected.memory.data() + i, bytes);
        std::memcpy(&b.bits, got.memory.data() + i, bytes);
        ASSERT_TRUE(block_reference::same(a, b))
            << "output " << output << " element " << i / bytes << " of "
            << got.memory.size() / bytes << ": expected bits " << std::hex << a.bits << ", got "
            << b.bits;
    }
}

/// Runs the group both ways and compares all outputs, the gaps between their elements included.
/// Thread count 0: as it is set.
void expect_reference(const Group& group, const Shape& shape, const std::vector<Array>& inputs,
                      const std::vector<Array>& outputs,
                      const std::vector<std::uint64_t>& scalars = {},
                      const std::vector<int>& thread_counts = {0}) {
    auto array_of = [&](std::size_t o, auto& in, auto& out) -> auto& {
        const int same = group.outputs[o].same_as_input;
        return same >= 0 ? in[static_cast<std::size_t>(same)] : out[o];
    };
    std::vector<Array> expected;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        expected.push_back(array_of(o, inputs, outputs));
    block_reference::run(group, shape, inputs, scalars, expected);
    const BlockProgram program(group);
    for (int threads : thread_counts) {
        SCOPED_TRACE(std::to_string(threads) + " threads");
        ThreadCountScope scope(threads);
        std::vector<Array> in = inputs, out = outputs;
        std::vector<GroupRun::Operand> in_operands, out_operands;
        for (Array& a : in) in_operands.push_back({a.data(), a.strides});
        for (std::size_t o = 0; o < out.size(); ++o) {
            Array& a = array_of(o, in, out);
            out_operands.push_back({a.data(), a.strides});
        }
        program.run({shape, in_operands, out_operands, scalars, group.reduce_axis});
        for (std::size_t o = 0; o < out.size(); ++o) {
            expect_same_memory(expected[o], array_of(o, in, out), o);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

Group::Node input(std::uint16_t i, DType t) { return {Group::Kind::Input, t, Op::Add, i}; }
Group::Node operation(Op op, DType t, std::uint16_t a, std::uint16_t b = 0) {
    return {Group::Kind::Op, *result_dtype(op, t), op, a, b};
}

constexpr std::int64_t sizes[] = {0, 1, 2, 10, 31, 32, 33, 511, 512, 513, 1025};

TEST(Block, EveryOperationOnEveryDtypeAndLayout) {
    Cases cases(1);
    for (int o = 0; o < op_count; ++o) {
        const Op op = static_cast<Op>(o);
        for (DType t : all_dtypes) {
            if (!result_dtype(op, t)) continue;
            Group group;
            group.inputs = {t, t};
            group.nodes = {input(0, t), input(1, t), operation(op, t, 0, 1)};
            group.outputs = {{2, group.nodes[2].dtype}};
            for (Layout a :
                 {Layout::Contiguous, Layout::Strided, Layout::Reversed, Layout::Broadcast}) {
                for (Layout b : {Layout::Contiguous, Layout::Broadcast}) {
                    SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(t)));
                    Shape shape = {sizes[cases.below(std::size(sizes))]};
                    expect_reference(group, shape,
                                     {cases.array(t, shape, a), cases.array(t, shape, b)},
                                     {cases.array(group.nodes[2].dtype, shape,
                                                  cases.below(2)           ? Layout::Contiguous
                                                  : a == Layout::Broadcast ? Layout::Strided
                                                                           : a)});
                    if (::testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(Block, EverySpecialPairOfOperands) {
    // All pairs of 64 values, special ones among them, for operations with rules of their own.
    Cases cases(2);
    for (Op op : {Op::Min, Op::Max, Op::FloorDiv, Op::Mod, Op::Shl, Op::Shr, Op::Abs, Op::Neg,
                  Op::Lt, Op::Ge, Op::Eq, Op::Ne, Op::Mul}) {
        for (DType t : all_dtypes) {
            if (!result_dtype(op, t)) continue;
            SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(t)));
            Group group;
            group.inputs = {t, t};
            group.nodes = {input(0, t), input(1, t), operation(op, t, 0, 1)};
            group.outputs = {{2, group.nodes[2].dtype}};
            Shape shape = {96, 96};
            Array a = cases.array(t, shape, Layout::Contiguous);
            Array b = cases.array(t, shape, Layout::Contiguous);
            a.strides = {1, 0};
            b.strides = {0, 1};
            expect_reference(group, shape, {a, b},
                             {cases.array(group.nodes[2].dtype, shape, Layout::Contiguous)});
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Block, EveryCast) {
    Cases cases(3);
    for (DType from : all_dtypes) {
        for (DType to : all_dtypes) {
            SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)));
            Group group;
            group.inputs = {from};
            group.nodes = {input(0, from), {Group::Kind::Cast, to, Op::Add, 0}};
            group.outputs = {{1, to}};
            Shape shape = {1025};
            expect_reference(group, shape, {cases.array(from, shape, Layout::Contiguous)},
                             {cases.array(to, shape, Layout::Contiguous)});
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Block, SelectOfEveryForm) {
    Cases cases(4);
    for (DType t : all_dtypes) {
        for (int form = 0; form < 8; ++form) {
            Group group;
            group.inputs = {DType::Bool, t, t};
            group.nodes = {input(0, DType::Bool),
                           input(1, t),
                           input(2, t),
                           {Group::Kind::Select, t, Op::Add, 0, 1, 2}};
            group.outputs = {{3, t}};
            Shape shape = {67};
            auto layout = [&](int bit) {
                return form >> bit & 1 ? Layout::Broadcast : Layout::Contiguous;
            };
            expect_reference(group, shape,
                             {cases.array(DType::Bool, shape, layout(0)),
                              cases.array(t, shape, layout(1)), cases.array(t, shape, layout(2))},
                             {cases.array(t, shape, Layout::Contiguous)});
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

/// Loops of two tables give the same bytes for the same operands, but for NaN.
TEST(Block, LoopsOfEveryInstructionSetGiveTheSameBits) {
    Cases cases(12);
    const block::LoopTable narrow = block::loops_x86_64_v3(), wide = block::loops();
    const Shape shape = {531};
    for (DType t : all_dtypes) {
        const Array a = cases.array(t, shape, Layout::Contiguous);
        const Array b = cases.array(t, shape, Layout::Contiguous);
        auto compare = [&](DType result, std::int64_t count, auto&& f) {
            Array x = cases.array(result, shape, Layout::Contiguous), y = x;
            f(narrow, x.data());
            f(wide, y.data());
            x.memory.resize(static_cast<std::size_t>(count * size_of(result)));
            y.memory.resize(x.memory.size());
            expect_same_memory(x, y, 0);
        };
        const char *p = a.memory.data(), *q = b.memory.data();
        for (int o = 0; o < op_count; ++o) {
            const Op op = static_cast<Op>(o);
            if (!result_dtype(op, t)) continue;
            SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(t)));
            for (int form = 0; form < (info(op).arity == 2 ? 3 : 1); ++form) {
                compare(*result_dtype(op, t), shape[0],
                        [&](const block::LoopTable& table, char* out) {
                            table.operation(op, t)[form](out, p, q, q, shape[0]);
                        });
            }
            if (narrow.leaf(op, t) == nullptr) continue;
            compare(t, 1, [&](const block::LoopTable& table, char* out) {
                table.leaf(op, t)(out, p, 500);
            });
            compare(t, 12, [&](const block::LoopTable& table, char* out) {
                table.leaves(op, t)(out, p, 44, 12);
            });
        }
        for (DType to : all_dtypes) {
            compare(to, shape[0], [&](const block::LoopTable& table, char* out) {
                table.cast(t, to)[0](out, p, p, p, shape[0]);
            });
        }
        if (HasFatalFailure()) return;
    }
}

#if defined(__x86_64__)
/// The folds of two instruction sets give the same bytes, whatever the number of elements.
TEST(Block, FoldsOfEveryInstructionSetGiveTheSameBits) {
    Cases cases(13);
    for (DType from : all_dtypes) {
        for (DType to : {from, DType::Bool, DType::Int64}) {
            for (Op op : {Op::Min, Op::Max, Op::Or, Op::And, Op::Add}) {
                for (auto of : {block::FoldOf::Value, block::FoldOf::NonZero}) {
                    const block::RowFold narrow = block::fold_x86_64_v3(op, of, from, to);
                    const block::RowFold wide = block::fold(op, of, from, to);
                    ASSERT_EQ(narrow == nullptr, wide == nullptr);
                    for (std::int64_t n = 1; narrow != nullptr && n < 700; n += 1 + n / 9) {
                        SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(from)));
                        const Array a = cases.array(from, {n}, Layout::Contiguous);
                        Array x = cases.array(to, {1}, Layout::Contiguous), y = x;
                        const bool done = narrow(x.data(), a.memory.data(), n);
                        ASSERT_EQ(done, wide(y.data(), a.memory.data(), n));
                        if (done) expect_same_memory(x, y, 0);
                        if (HasFailure()) return;
                    }
                }
            }
        }
    }
}
#endif

TEST(Block, OutputsThatAreInputsExchangeTheirValues) {
    // x, y = y, x and x = x + y beside y = x - y: reads of a point come before its writes.
    Cases cases(5);
    const DType t = DType::Float64;
    for (Layout layout : {Layout::Contiguous, Layout::Strided, Layout::Reversed}) {
        Shape shape = {1025};
        Group swap;
        swap.inputs = {t, t};
        swap.nodes = {input(0, t), input(1, t)};
        swap.outputs = {{1, t, false, Op::Add, 0}, {0, t, false, Op::Add, 1}};
        std::vector<Array> in = {cases.array(t, shape, layout), cases.array(t, shape, layout)};
        expect_reference(swap, shape, in, in);
        Group both = swap;
        both.nodes.push_back(operation(Op::Add, t, 0, 1));
        both.nodes.push_back(operation(Op::Sub, t, 0, 1));
        both.outputs = {{2, t, false, Op::Add, 0}, {3, t, false, Op::Add, 1}};
        expect_reference(both, shape, in, in);
    }
}

void check_reductions(Cases cases) {
    for (DType t : all_dtypes) {
        for (Op op : {Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor}) {
            if (!result_dtype(op, t)) continue;
            for (int rank = 1; rank <= 3; ++rank) {
                for (int axis = 0; axis < rank; ++axis) {
                    Shape shape(static_cast<std::size_t>(rank));
                    for (auto& extent : shape) extent = 1 + cases.below(5);
                    shape[static_cast<std::size_t>(axis)] = sizes[cases.below(std::size(sizes))];
                    SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(t)) + " axis " +
                                 std::to_string(axis) + " of " + std::to_string(rank));
                    Group group;
                    group.inputs = {t};
                    group.nodes = {input(0, t)};
                    group.outputs = {{0, t, true, op}};
                    group.reduce_axis = axis;
                    Shape rest = shape;
                    rest[static_cast<std::size_t>(axis)] = 1;
                    Array out =
                        cases.array(t, rest, cases.below(2) ? Layout::Contiguous : Layout::Strided);
                    out.strides[static_cast<std::size_t>(axis)] = 0;
                    auto layout = static_cast<Layout>(cases.below(5));
                    expect_reference(group, shape, {cases.array(t, shape, layout)}, {out});
                    if (::testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(Block, ReductionsOfEverySizeAndAxisWithSpecialValues) { check_reductions(Cases(6)); }

TEST(Block, ReductionsOfEverySizeAndAxisInOrder) {
    Cases cases(11);
    cases.be_ordinary();
    check_reductions(cases);
}

TEST(Block, TheRunCountsTheReducedAxisInItsOwnSpace) {
    // The group was recorded over a space with one more axis of extent 1 in front.
    for (bool innermost : {true, false}) {
        Cases cases(13);
        cases.be_ordinary();
        const DType t = DType::Float64;
        const Shape shape = innermost ? Shape{3, 1025} : Shape{1025, 3};
        const int axis = innermost ? 1 : 0;
        Group group;
        group.inputs = {t};
        group.nodes = {input(0, t)};
        group.outputs = {{0, t, true, Op::Add}};
        group.reduce_axis = axis;
        Shape rest = shape;
        rest[static_cast<std::size_t>(axis)] = 1;
        std::vector<Array> in = {cases.array(t, shape, Layout::Contiguous)};
        std::vector<Array> out = {cases.array(t, rest, Layout::Contiguous)};
        out[0].strides[static_cast<std::size_t>(axis)] = 0;
        std::vector<Array> expected = out;
        block_reference::run(group, shape, in, {}, expected);
        group.reduce_axis = axis + 1;
        const GroupRun::Operand from{in[0].data(), in[0].strides};
        const GroupRun::Operand to{out[0].data(), out[0].strides};
        BlockProgram(group).run({shape, {&from, 1}, {&to, 1}, {}, axis});
        expect_same_memory(expected[0], out[0], 0);
    }
}

void check_many_short_rows(Cases cases) {
    // Short rows are taken together: in place, spread, gathered, scattered, and reduced both ways.
    for (std::int64_t columns : {1, 3, 10, 31, 32, 33, 64, 65}) {
        for (DType t : {DType::UInt8, DType::Int32, DType::Float64}) {
            for (int axis = 0; axis < 3; ++axis) {
                SCOPED_TRACE(std::to_string(columns) + " columns, axis " + std::to_string(axis) +
                             " " + std::string(name(t)));
                Shape shape = {2, 1 + cases.below(100), columns};
                Group group;
                group.inputs = {t, t, t};
                group.nodes = {input(0, t),
                               input(1, t),
                               input(2, t),
                               operation(Op::Add, t, 0, 1),
                               operation(Op::Mul, t, 3, 2),
                               {Group::Kind::Iota, DType::Int64}};
                group.outputs = {{4, t},
                                 {5, DType::Int64},
                                 {2, t, false, Op::Add, 2},
                                 {4, t, true, Op::Add},
                                 {2, t, true, Op::Max}};
                group.reduce_axis = axis;
                Shape rest = shape;
                rest[static_cast<std::size_t>(axis)] = 1;
                Array row = cases.array(t, shape, Layout::Contiguous);
                row.strides = {0, 0, 1};
                Array updated = cases.array(t, shape, Layout::Strided);
                std::vector<Array> outputs = {cases.array(t, shape, Layout::Reversed),
                                              cases.array(DType::Int64, shape, Layout::Permuted),
                                              updated, cases.array(t, rest, Layout::Contiguous),
                                              cases.array(t, rest, Layout::Strided)};
                for (std::size_t o : {3, 4}) outputs[o].strides[static_cast<std::size_t>(axis)] = 0;
                auto layout = static_cast<Layout>(cases.below(5));
                expect_reference(group, shape, {cases.array(t, shape, layout), row, updated},
                                 outputs);
                Group sum;  // a lean group: many rows fit a block
                sum.inputs = {t};
                sum.nodes = {input(0, t)};
                sum.outputs = {{0, t, true, Op::Add}};
                sum.reduce_axis = axis;
                expect_reference(sum, shape, {cases.array(t, shape, layout)}, {outputs[4]});
                if (::testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST(Block, ManyShortRowsWithSpecialValues) { check_many_short_rows(Cases(9)); }

TEST(Block, ManyShortRowsInOrder) {
    Cases cases(10);
    cases.be_ordinary();
    check_many_short_rows(cases);
}

TEST(Block, LongReductionsGiveTheSameBitsOnAnyNumberOfThreads) {
    Cases cases(7);
    cases.be_ordinary();
    const DType t = DType::Float64;
    const std::vector<std::pair<Shape, int>> spaces = {{{100007}, 0},     {{3, 70001}, 1},
                                                       {{9000, 3}, 0},    {{1500, 300}, 0},
                                                       {{7, 9001, 5}, 1}, {{50001, 7}, 1}};
    for (const auto& [shape, axis] : spaces) {
        Group group;
        group.inputs = {t};
        group.nodes = {input(0, t), operation(Op::Mul, t, 0, 0), operation(Op::Add, t, 0, 1)};
        group.outputs = {{0, t, true, Op::Add}, {2, t, true, Op::Max}, {1, t}};
        group.reduce_axis = axis;
        Shape rest = shape;
        rest[static_cast<std::size_t>(axis)] = 1;
        Array in = cases.array(t, shape, Layout::Contiguous);
        Array out = cases.array(t, rest, Layout::Contiguous);
        out.strides[static_cast<std::size_t>(axis)] = 0;
        Group sum = group;
        sum.nodes.resize(1);
        sum.outputs.resize(1);
        expect_reference(sum, shape, {in}, {out}, {}, {1, 2, 3});
        expect_reference(group, shape, {in}, {out, out, cases.array(t, shape, Layout::Contiguous)},
                         {}, {1, 2, 3});
    }
}

TEST(Block, LargeElementwiseRunsAreSharedAndStreamed) {
    Cases cases(8);
    const DType t = DType::Float32;
    Group group;
    group.inputs = {t, t};
    group.nodes = {input(0, t),
                   input(1, t),
                   operation(Op::Mul, t, 0, 1),
                   {Group::Kind::Iota, DType::Int64},
                   {Group::Kind::Cast, t, Op::Add, 3},
                   operation(Op::Add, t, 2, 4)};
    group.outputs = {{5, t}};
    Shape shape = {3, 1000003};
    Array a = cases.array(t, {1, 1000003}, Layout::Contiguous);
    a.strides[0] = 0;
    Array out = cases.array(t, shape, Layout::Contiguous);
    expect_reference(group, shape, {a, a}, {out}, {}, {1, 2, 3});
}

/// A random straight-line program over random operands.
void run_random_group(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cases cases(seed);
    auto dtype = [&] {
        return all_dtypes[static_cast<std::size_t>(
            cases.below(static_cast<std::int64_t>(all_dtypes.size())))];
    };
    Shape shape(static_cast<std::size_t>(1 + cases.below(3)));
    for (auto& extent : shape) extent = cases.below(12) == 0 ? 0 : 1 + cases.below(9);
    auto& longest =
        shape[static_cast<std::size_t>(cases.below(static_cast<std::int64_t>(shape.size())))];
    if (longest > 0) longest = std::max<std::int64_t>(1, sizes[cases.below(std::size(sizes))]);

    Group group;
    std::vector<Array> inputs, outputs;
    std::vector<std::uint64_t> scalars;
    const std::int64_t n_inputs = cases.below(4), n_scalars = 1 + cases.below(2);
    for (std::uint16_t i = 0; i < n_inputs; ++i) {
        group.inputs.push_back(dtype());
        group.nodes.push_back(input(i, group.inputs.back()));
        inputs.push_back(
            cases.array(group.inputs.back(), shape, static_cast<Layout>(cases.below(5))));
    }
    for (std::uint16_t i = 0; i < n_scalars; ++i) {
        group.scalars.push_back(dtype());
        group.nodes.push_back({Group::Kind::Scalar, group.scalars.back(), Op::Add, i});
        scalars.push_back(cases.value(group.scalars.back()).bits);
    }
    auto any_node = [&] {
        return static_cast<std::uint16_t>(
            cases.below(static_cast<std::int64_t>(group.nodes.size())));
    };
    auto as = [&](std::uint16_t node, DType t) {
        if (group.nodes[node].dtype == t) return node;
        group.nodes.push_back({Group::Kind::Cast, t, Op::Add, node});
        return static_cast<std::uint16_t>(group.nodes.size() - 1);
    };
    for (std::int64_t i = cases.below(12) + 1; i > 0; --i) {
        Op op = static_cast<Op>(cases.below(op_count));
        std::uint16_t a = any_node();
        DType t = group.nodes[a].dtype;
        if (cases.below(12) == 0) {
            std::uint16_t condition = as(any_node(), DType::Bool), b = as(any_node(), t);
            group.nodes.push_back({Group::Kind::Select, t, Op::Add, condition, a, b});
        } else if (cases.below(12) == 0) {
            group.nodes.push_back({Group::Kind::Iota, DType::Int64});
        } else if (result_dtype(op, t)) {
            std::uint16_t b = info(op).arity == 2 ? as(any_node(), t) : std::uint16_t{0};
            group.nodes.push_back(operation(op, t, a, b));
        }
    }
    if (cases.below(3) == 0)
        group.reduce_axis = static_cast<int>(cases.below(static_cast<std::int64_t>(shape.size())));
    std::vector<bool> taken(inputs.size(), false);
    for (std::int64_t i = 1 + cases.below(3); i > 0; --i) {
        Group::Output output{any_node(), DType::Bool};
        output.dtype = group.nodes[output.node].dtype;
        Shape out_shape = shape;
        const Op ops[] = {Op::Add, Op::Min, Op::Max, Op::Or};
        output.op = ops[cases.below(4)];
        output.reduces =
            group.reduce_axis >= 0 && result_dtype(output.op, output.dtype) && cases.below(2);
        const auto axis = static_cast<std::size_t>(std::max(group.reduce_axis, 0));
        if (output.reduces) out_shape[axis] = 1;
        const Layout layouts[] = {Layout::Contiguous, Layout::Strided, Layout::Reversed,
                                  Layout::Permuted};
        Array out = cases.array(output.dtype, out_shape, layouts[cases.below(4)]);
        if (output.reduces) out.strides[axis] = 0;
        for (std::size_t j = 0; j < inputs.size() && !output.reduces; ++j) {
            bool writable = std::find(inputs[j].strides.begin(), inputs[j].strides.end(), 0) ==
                            inputs[j].strides.end();
            if (writable && !taken[j] && inputs[j].dtype == output.dtype && cases.below(2)) {
                output.same_as_input = static_cast<std::int16_t>(j);
                taken[j] = true;
                break;
            }
        }
        group.outputs.push_back(output);
        outputs.push_back(out);
    }
    expect_reference(group, shape, inputs, outputs, scalars);
}

TEST(Block, RandomGroups) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        run_random_group(seed);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
