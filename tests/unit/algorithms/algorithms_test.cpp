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

TEST(Algorithms, EachIsAKernelOfItsName) {
    for (const algorithms::Algorithm& a : algorithms::all()) {
        const auto program = frontend::read_program(a.tree);
        EXPECT_EQ(program->name, a.name);
        EXPECT_TRUE(program->is_kernel);
        EXPECT_EQ(program->file, "engine/algorithms/" + std::string(a.name) + ".py");
    }
}

void check_gather(Device& device) {
    const std::vector<Type> types = {vector_of(DType::Float32), vector_of(DType::Int64),
                                     vector_of(DType::Float32)};
    Executable& code = algorithms::compiled("gather", types, 1, device);
    EXPECT_EQ(&code, &algorithms::compiled("gather", types, 1, device));
    auto x = DeviceArray::of(std::vector<float>{10, 11, 12, 13});
    auto index = DeviceArray::of(std::vector<std::int64_t>{3, 0, 0, 2, 1});
    auto out = DeviceArray::of(std::vector<float>(5, -1));
    NDRange range;
    range.dimensions = 1;
    range.global[0] = 5;
    EXPECT_EQ(unisono::testing::launch(device, code, {&x, &index, &out}, {}, range).site, -1);
    EXPECT_EQ(out.get<float>(), (std::vector<float>{13, 10, 10, 12, 11}));
    auto beyond = DeviceArray::of(std::vector<std::int64_t>{0, 0, 4, 0, 0});
    EXPECT_GE(unisono::testing::launch(device, code, {&x, &beyond, &out}, {}, range).site, 0);
}

TEST(Algorithms, RunInTheInterpreter) { check_gather(find_device("interp")); }
TEST(Algorithms, RunOnTheHost) { check_gather(find_device("cpu")); }

class AlgorithmsOpenCL : public unisono::testing::OpenCL {};
TEST_F(AlgorithmsOpenCL, RunOnTheDevice) { check_gather(*device); }

}  // namespace
}  // namespace unisono
