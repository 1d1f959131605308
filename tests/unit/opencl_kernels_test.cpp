// Kernels from loops and work-item functions on an OpenCL device: ranges, views, faults, splits,
// local memory.
#include "opencl_harness.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::DeviceArray;
using unisono::testing::OpenCL;
using unisono::testing::run;

namespace {

/// out[i] = a[i] * s + out[i] for i in range(n), parallel.
Module saxpy() {
    Module m;
    Builder b(m.functions.emplace_back("saxpy"));
    auto a = b.array_param("a", DType::Float64, 1, false);
    auto out = b.array_param("out", DType::Float64, 1, true);
    auto s = b.scalar_param("s", DType::Float64);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    b.line = {0, 4, 3};
    S store = b.store(out, at, b.add(b.mul(b.load(a, at), b.param(s)), b.load(out, at)));
    b.line = {0, 0, 2};
    b.function().body = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(out, 0), b.i64(1), store);
    return m;
}

}  // namespace

TEST_F(OpenCL, RunsAParallelLoop) {
    std::vector<double> a(1000), out(1000, 1.0);
    std::iota(a.begin(), a.end(), 0.0);
    auto da = DeviceArray::of(a), dout = DeviceArray::of(out);
    Fault fault = run(*device, saxpy(), {&da, &dout}, {Scalar::of(DType::Float64, 3.0)});
    EXPECT_EQ(fault.site, -1);
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(dout.get<double>()[i], a[i] * 3.0 + 1.0) << i;
}
