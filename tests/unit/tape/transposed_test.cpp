// Elementwise groups whose operands lie along different axes: which tiles they have, and that tiles
// of all shapes give what one point after the other gives. The interpreter finds races.
#include "tape/run/transposed.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "context/context.h"
#include "ir/build.h"
#include "tape/run/iteration_space.h"
#include "unit/backends/opencl_harness.h"

using namespace unisono;
using unisono::testing::DeviceArray;

namespace {

using Numbers = std::vector<std::int64_t>;

/// a + b of that dtype.
Group sum_of_two(DType t) {
    Group group;
    group.inputs = {t, t};
    group.nodes = {{Group::Kind::Input, t, Op::Add, 0},
                   {Group::Kind::Input, t, Op::Add, 1},
                   {Group::Kind::Op, t, Op::Add, 0, 1}};
    group.outputs = {{2, t}};
    return group;
}

/// A space of three operands, the last one stored.
IterationSpace space_of(const Numbers& shape, const std::vector<Numbers>& strides) {
    IterationSpace space;
    space.inputs = 2;
    space.operands = 3;
    space.size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    std::ranges::copy(shape, space.shape);
    for (std::size_t o = 0; o < 3; ++o) std::ranges::copy(strides[o], space.strides[o]);
    space.collapse(static_cast<int>(shape.size()));
    return space;
}

DeviceInfo device_of(std::int64_t memory) {
    DeviceInfo info;
    info.max_work_group_size = 1024;
    info.local_memory_bytes = memory;
    return info;
}

GroupShape tiles_of(DType t, IterationSpace space, std::int64_t memory = 48 << 10) {
    GroupShape shape;
    choose_tiles(sum_of_two(t), space, shape, device_of(memory));
    return shape;
}

}  // namespace

TEST(Transposed, OperandsAlongOneAxisHaveNoTiles) {
    const IterationSpace rows = space_of({100, 200}, {{200, 1}, {0, 1}, {200, 1}});
    EXPECT_EQ(tiles_of(DType::Float32, rows).tile, 0);
    const IterationSpace apart = space_of({100, 200}, {{400, 2}, {1, 0}, {200, 1}});
    EXPECT_EQ(tiles_of(DType::Float32, apart).tile, 0);
}

TEST(Transposed, TheWidestDTypeAndTheMemoryChooseTheTile) {
    const IterationSpace space = space_of({100, 200}, {{1, 100}, {200, 1}, {200, 1}});
    EXPECT_EQ(tiles_of(DType::Float32, space).tile, 64);
    EXPECT_EQ(tiles_of(DType::Float64, space).tile, 32);
    EXPECT_EQ(tiles_of(DType::Float32, space, 8 << 10).tile, 32);
    EXPECT_EQ(tiles_of(DType::Float32, space, 1 << 10).tile, 0);
    const IterationSpace narrow = space_of({3, 200}, {{1, 3}, {200, 1}, {200, 1}});
    EXPECT_EQ(tiles_of(DType::Float32, narrow).tile, 0);
}

TEST(Transposed, TheOutputIsStoredAlongItsOwnAxis) {
    IterationSpace space = space_of({100, 200}, {{1, 100}, {200, 1}, {1, 100}});
    GroupShape shape;
    choose_tiles(sum_of_two(DType::Float32), space, shape, device_of(48 << 10));
    EXPECT_EQ(shape.across, 0);
    EXPECT_EQ(space.shape[0], 200);
    EXPECT_EQ(space.strides[2][1], 1);
    EXPECT_EQ(space.strides[1][0], 1);
    IterationSpace all = space_of({100, 200}, {{1, 100}, {1, 100}, {1, 100}});
    GroupShape none;
    choose_tiles(sum_of_two(DType::Float32), all, none, device_of(48 << 10));
    EXPECT_EQ(none.tile, 0);
    EXPECT_EQ(all.rank, 1);  // neighbours all along
}

TEST(Transposed, LeavesOfRowsGoAlongTheAxisWhereInputsLieSideBySide) {
    using ir::StrideClass;
    Group group;
    group.inputs = {DType::Float32};
    group.nodes = {{Group::Kind::Input, DType::Float32}};
    group.outputs = {{0, DType::Float32, true, Op::Add, -1}};
    group.reduce_axis = 1;
    GroupShape shape;
    shape.rank = 2;
    shape.reduce_axis = 1;
    shape.strides = {StrideClass::One, StrideClass::Other, StrideClass::One, StrideClass::Zero};
    shape.on_device = true;
    const auto is_outside = [&](const char* loop, const char* other) {
        const std::string text = ir::print(lower_leaves(group, shape));
        return text.find(loop) < text.find(other);
    };
    EXPECT_TRUE(is_outside("parallel i in", "parallel leaf in"));
    shape.dense = 0;
    EXPECT_TRUE(is_outside("parallel leaf in", "parallel i in"));
}

TEST(Transposed, TilesOfAllShapesGiveTheSums) {
    std::vector<Device*> devices{&find_device("interp")};
    if (Device* device = unisono::testing::opencl_device()) devices.push_back(device);
    for (const auto& [rows, columns] :
         {std::pair{64, 64}, {16, 17}, {65, 63}, {100, 130}, {31, 200}}) {
        // in0 is the transpose of a matrix, for each of three planes; in1 has rows backwards.
        const std::int64_t plane = std::int64_t{rows} * columns;
        std::vector<float> a(static_cast<std::size_t>(3 * plane)), b(a.size()), wanted(a.size());
        std::iota(a.begin(), a.end(), 0.0F);
        std::iota(b.begin(), b.end(), 0.5F);
        for (std::int64_t k = 0; k < 3 * plane; ++k) {
            const std::int64_t p = k / plane, r = k % plane / columns, c = k % columns;
            wanted[static_cast<std::size_t>(k)] =
                a[static_cast<std::size_t>(p * plane + r + c * rows)] +
                b[static_cast<std::size_t>(p * plane + r * columns + columns - 1 - c)];
        }
        const Numbers extents{3, rows, columns};
        const std::vector<Numbers> strides{
            {plane, 1, rows}, {plane, columns, -1}, {plane, columns, 1}};
        IterationSpace space = space_of(extents, strides);
        const Group group = sum_of_two(DType::Float32);
        GroupShape shape;
        choose_tiles(group, space, shape, device_of(48 << 10));
        ASSERT_GT(shape.tile, 0);
        shape.rank = space.rank;
        for (std::size_t o = 0; o < space.operands; ++o) {
            for (int axis = 0; axis < space.rank; ++axis)
                shape.strides.push_back(class_of(space.strides[o][axis]));
        }
        for (Device* device : devices) {
            auto in0 = DeviceArray::of(a, extents), in1 = DeviceArray::of(b, extents),
                 out = DeviceArray::of(std::vector<float>(a.size()), extents);
            in0.strides = strides[0];
            in1.strides = strides[1];
            in1.offset = (columns - 1) * static_cast<std::int64_t>(sizeof(float));
            const Fault fault =
                unisono::testing::run(*device, lower_transposed(group, shape), {&in0, &in1, &out},
                                      {}, range_of_tiles(space, shape));
            ASSERT_EQ(fault.site, -1);
            ASSERT_EQ(out.get<float>(), wanted) << device->info().name << " " << rows;
        }
    }
}
