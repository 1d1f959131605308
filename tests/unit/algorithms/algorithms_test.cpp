// Algorithms that the engine contains as syntax trees: compiled without Python, on each device.
#include "algorithms/algorithms.h"

#include <gtest/gtest.h>

#include <vector>

#include "frontend/syntax/serialise.h"
#include "unit/backends/opencl_harness.h"

namespace unisono {
namespace {

using frontend::Type;
using unisono::testing::DeviceArray;

Type vector_of(DType t) { return Type::array(t, {ir::StrideClass::One}, true); }

TEST(Algorithms, EachHasItsName) {
    for (const algorithms::Algorithm& a : algorithms::all()) {
        const auto program = frontend::read_program(a.tree);
        EXPECT_EQ(program->name, a.name);
        EXPECT_TRUE(program->file.starts_with("engine/algorithms/"));
    }
}

Fault gather(Device& device, const std::vector<std::int64_t>& positions, std::vector<float>& rows) {
    std::vector<Type> types = {vector_of(DType::Float32), vector_of(DType::Int64),
                               vector_of(DType::Float32)};
    const std::int64_t numbers[] = {0, 1, 4, 1, 0, 0, 0, 0};  // from the first element on, packed
    std::vector<Scalar> scalars;
    for (std::int64_t n : numbers) {
        types.push_back(Type::python(Weak::Int));
        scalars.push_back(Scalar::of(DType::Int64, n));
    }
    Executable& code = algorithms::compiled("gather", types, 3, device);
    EXPECT_EQ(&code, &algorithms::compiled("gather", types, 3, device));
    auto x = DeviceArray::of(std::vector<float>{10, 11, 12, 13});
    auto index = DeviceArray::of(positions);
    auto out = DeviceArray::of(rows);
    NDRange range;
    range.dimensions = 3;
    range.global = {1, static_cast<std::int64_t>(positions.size()), 1};
    const Fault fault = unisono::testing::launch(device, code, {&x, &index, &out}, scalars, range);
    rows = out.get<float>();
    return fault;
}

void check_gather(Device& device) {
    std::vector<float> rows(5, -1);
    EXPECT_EQ(gather(device, {3, 0, 0, -2, 1}, rows).site, -1);
    EXPECT_EQ(rows, (std::vector<float>{13, 10, 10, 12, 11}));
}

TEST(Algorithms, AreTestedWhereTheHostCanAddressTheMemory) {
    for (const char* name : {"interp", "cpu"}) {
        std::vector<float> rows(3, -1);
        EXPECT_GE(gather(find_device(name), {0, 4, 0}, rows).site, 0);
    }
}
TEST(Algorithms, RunInTheInterpreter) { check_gather(find_device("interp")); }
TEST(Algorithms, RunOnTheHost) { check_gather(find_device("cpu")); }

/// Counts of more pieces than a group of the kernel takes at once.
void check_prefixes(Device& device) {
    constexpr std::int64_t rows = 2;
    for (std::int64_t pieces : {17, 1024, 1025, 3001}) {
        std::vector<std::int32_t> counts, before, totals;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::int32_t total = 0;
            for (std::int64_t k = 0; k < pieces; ++k) {
                counts.push_back(static_cast<std::int32_t>((k * 7 + row) % 11));
                before.push_back(total);
                total += counts.back();
            }
            totals.push_back(total);
        }
        const std::vector<Type> types = {vector_of(DType::Int32), vector_of(DType::Int32),
                                         Type::python(Weak::Int)};
        Executable& code = algorithms::compiled("prefixes_of_digits", types, 1, device);
        auto given = DeviceArray::of(counts), found = DeviceArray::of(std::vector<std::int32_t>(2));
        const Fault fault = unisono::testing::launch(device, code, {&given, &found},
                                                     {Scalar::of(DType::Int64, pieces)},
                                                     {1, {rows * 128, 1, 1}, {128, 1, 1}, {}});
        ASSERT_EQ(fault.site, -1);
        EXPECT_EQ(given.get<std::int32_t>(), before) << pieces;
        EXPECT_EQ(found.get<std::int32_t>(), totals) << pieces;
    }
}
TEST(Algorithms, FindPrefixesOfCounts) { check_prefixes(find_device("interp")); }

class AlgorithmsOpenCL : public unisono::testing::OpenCL {};
TEST_F(AlgorithmsOpenCL, RunOnTheDevice) {
    check_gather(*device);
    check_prefixes(*device);
}

}  // namespace
}  // namespace unisono
