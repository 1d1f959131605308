// What the table says of each primitive is true: rules, effects and independent axes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "domains.h"
#include "library/linalg/blas.h"
#include "primitives/primitive.h"
#include "primitives/signature.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {
namespace {

using domains::Example;

std::string bits_of(const Array& a) {
    const Array p = library::packed(a);
    const char* data = host_data(p, false);
    return {data, static_cast<std::size_t>(p.size() * size_of(p.dtype()))};
}

std::vector<View> views_of(const std::vector<Array>& arrays) {
    std::vector<View> views;
    for (const Array& a : arrays) views.push_back(a.view());
    return views;
}

/// Runs the host function alone, into memory that was full of `pattern`.
template <class A>
std::vector<Array> run_alone(const Row<A>& row, const A& attributes,
                             const std::vector<Array>& operands, int pattern) {
    const auto results = library::infer(row, &attributes, operands);
    std::vector<Array> made;
    for (std::size_t k = 0; k < results.size(); ++k) {
        made.push_back(empty(results.shape(k), results.dtype(k), nullptr));
        Storage* s = made.back().view().storage;
        s->allocate();
        std::memset(s->data(), pattern, static_cast<std::size_t>(s->bytes));
    }
    bool is_empty = true;
    for (const Array& a : made) is_empty = is_empty && a.size() == 0;
    if (!is_empty) row.host(attributes, views_of(operands), views_of(made));
    return made;
}

/// Of a result that is used up to a count only, the part that is used.
Array used_part(const Primitive& row, const std::vector<Array>& results, std::size_t k) {
    const bool is_counted = row.peeks == Primitive::Peeks::Count && results.size() > 1;
    if (!is_counted || k == 1 || k == 3) return results[k];
    IndexItem range{IndexItem::Kind::Slice};
    range.stop = item(results[1]).get<std::int64_t>();
    range.has_stop = true;
    return index(results[k], {&range, 1});
}

template <class A>
void check_results(const Row<A>& row, const Example<A>& x) {
    const auto first = run_alone(row, x.attributes, x.operands, 0x00);
    const auto second = run_alone(row, x.attributes, x.operands, 0x55);
    const auto recorded = library::call_wide(row, x.operands, x.attributes);
    const auto rule = library::infer(row, &x.attributes, x.operands);
    ASSERT_EQ(recorded.size(), rule.size());
    for (std::size_t k = 0; k < rule.size(); ++k) {
        EXPECT_EQ(recorded[k].dtype(), rule.dtype(k));
        EXPECT_EQ(shape_text(recorded[k].shape()), shape_text(rule.shape(k)));
        const std::string bits = bits_of(used_part(row, first, k));
        EXPECT_EQ(bits, bits_of(used_part(row, second, k))) << "not all is written";
        EXPECT_EQ(bits, bits_of(used_part(row, recorded, k)));
    }
}

template <class A>
void check_parts(const Row<A>& row, const Example<A>& x) {
    const Array direct = copy(x.target), recorded = copy(x.target);
    host_data(direct, true);
    const View out = direct.view();
    row.host(x.attributes, views_of(x.operands), {&out, 1});
    library::call_into(row, x.operands, recorded, x.attributes);
    EXPECT_EQ(bits_of(direct), bits_of(recorded));
}

/// The array between two places of an axis, packed.
Array part_of(const Array& a, int axis, std::int64_t begin, std::int64_t end) {
    std::vector<IndexItem> items(static_cast<std::size_t>(axis) + 1, {IndexItem::Kind::Slice});
    items.back().start = begin;
    items.back().stop = end;
    items.back().has_start = items.back().has_stop = true;
    const Array part = copy(index(a, items));
    host_data(part, false);
    return part;
}

/// The axis of an array that belongs to the loop axis, or -1.
int axis_of(const primitives::LoopAxes& axes, int loops, int loop) {
    const int at = loop - (loops - static_cast<int>(axes.size()));
    return at < 0 ? -1 : axes[static_cast<std::size_t>(at)];
}

/// Computes both halves of an axis; returns whether there is something to divide.
template <class A>
bool check_axis(const Row<A>& row, const Example<A>& x, const std::vector<Array>& whole,
                const primitives::Independence& axes, int loop) {
    std::int64_t extent = 1;
    for (std::size_t k = 0; k < x.operands.size(); ++k) {
        const int axis = axis_of(axes.operands[k], axes.loops, loop);
        if (axis >= 0)
            extent = std::max(extent, x.operands[k].shape()[static_cast<std::size_t>(axis)]);
    }
    if (extent == 1) return false;
    const std::int64_t half = (extent + 1) / 2;
    for (auto [begin, end] : {std::pair{std::int64_t{0}, half}, std::pair{half, extent}}) {
        std::vector<Array> operands;
        for (std::size_t k = 0; k < x.operands.size(); ++k) {
            const Array& a = x.operands[k];
            const int axis = axis_of(axes.operands[k], axes.loops, loop);
            const bool divides = axis >= 0 && a.shape()[static_cast<std::size_t>(axis)] == extent;
            operands.push_back(divides ? part_of(a, axis, begin, end) : a);
        }
        const auto parts = run_alone(row, x.attributes, operands, 0x00);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const int axis = axis_of(axes.results[k], axes.loops, loop);
            EXPECT_GE(axis, 0);
            if (axis < 0) continue;
            const Array expected = part_of(whole[k], axis, begin, end);
            EXPECT_EQ(shape_text(parts[k].shape()), shape_text(expected.shape()));
            EXPECT_EQ(bits_of(parts[k]), bits_of(expected)) << "axis " << loop;
        }
    }
    return true;
}

template <class A>
int check_independence(const Row<A>& row, const Example<A>& x) {
    std::vector<int> operand_ranks, result_ranks;
    const auto whole = run_alone(row, x.attributes, x.operands, 0x00);
    for (const Array& a : x.operands) operand_ranks.push_back(a.rank());
    for (const Array& a : whole) result_ranks.push_back(a.rank());
    const auto axes = primitives::independent_axes(row, &x.attributes, operand_ranks, result_ranks);
    int divided = 0;
    for (int loop = 0; loop < axes.loops; ++loop) divided += check_axis(row, x, whole, axes, loop);
    return divided;
}

template <class A>
void check(const Row<A>& row, const domains::Examples<A>& examples) {
    SCOPED_TRACE(row.id);
    if (row.work == Primitive::Work::Matrices && !library::blas::present()) return;
    ASSERT_FALSE(examples.empty());
    int divided = 0;
    for (std::size_t k = 0; k < examples.size() && !testing::Test::HasFailure(); ++k) {
        SCOPED_TRACE("example " + std::to_string(k));
        for (const Array& a : examples[k].operands) host_data(a, false);
        if (row.effect == Primitive::Effect::Part) {
            check_parts(row, examples[k]);
        } else {
            check_results(row, examples[k]);
            divided += check_independence(row, examples[k]);
        }
    }
    if (row.effect == Primitive::Effect::Part) return;
    const bool is_whole = row.signature.find('*') != std::string_view::npos;
    EXPECT_EQ(divided == 0, is_whole) << "examples that divide an independent axis: " << divided;
}

#define UNISONO_PRIMITIVE(id, ...) \
    TEST(Rows, id) { check(primitives::id, domains::id()); }
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE

struct WithPointer {
    double weights[3];
    const char* data;
};
struct WithMemory {
    std::vector<int> x;
};
static_assert(!primitives::are_plain_attributes<WithPointer>());
static_assert(!primitives::are_plain_attributes<WithMemory>());
static_assert(!primitives::are_plain_attributes<int*>());
static_assert(primitives::are_plain_attributes<primitives::RowMap>());
// A rule is told shapes and dtypes: nothing with memory becomes an operand of one.
static_assert(!std::is_convertible_v<View, primitives::Operand> &&
              !std::is_convertible_v<Array, primitives::Operand> &&
              sizeof(primitives::Operand) <= sizeof(Dims) + sizeof(std::int64_t));

}  // namespace
}  // namespace unisono
