// The sample modules on a CUDA device, compared with the interpreter; skipped where there is none.
#include <gtest/gtest.h>

#include "unit/backends/opencl_samples.h"
#include "unit/tape/any_arguments.h"

using namespace unisono;
using unisono::testing::AnyArguments;

TEST(CudaRun, SamplesAgreeWithTheInterpreter) {
    Backend* backend = find_backend("cuda");
    ASSERT_NE(backend, nullptr);
    if (backend->devices().empty()) GTEST_SKIP() << "no CUDA device";
    for (const auto& sample : unisono::testing::sample_modules()) {
        SCOPED_TRACE(sample.name);
        ir::Module module = sample.make();
        AnyArguments want(module.entry()), got(module.entry());
        Fault expected = want.run(find_device("interp"), sample.make(), 1);
        Fault fault = got.run(find_device("cuda:0"), sample.make(), 1);
        EXPECT_EQ(fault.site, expected.site);
        if (expected.site < 0) {
            EXPECT_EQ(got.data, want.data);
            EXPECT_EQ(got.results, want.results);
        } else {
            EXPECT_EQ(fault.iteration, expected.iteration);
            EXPECT_TRUE(std::equal(fault.values, fault.values + 4, expected.values));
        }
    }
}
