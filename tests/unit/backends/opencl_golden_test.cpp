// The OpenCL C of the sample modules equals the files in tests/golden/opencl.
//
// After a wanted change run with UNISONO_UPDATE_GOLDEN=1: the test then writes the files; read
// their difference (git diff tests/golden) before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/c_source/opencl_c.h"
#include "core/error.h"
#include "passes/lower.h"
#include "unit/backends/opencl_samples.h"

using namespace unisono;

namespace {

/// tests/golden/opencl of the tree in whose build folder this program lies.
std::filesystem::path golden_folder() {
    std::filesystem::path at = std::filesystem::read_symlink("/proc/self/exe");
    while (at.has_relative_path()) {
        at = at.parent_path();
        if (std::filesystem::exists(at / "tests" / "golden"))
            return at / "tests" / "golden" / "opencl";
    }
    return {};
}

std::string opencl_c(ir::Module module, const c_source::OpenCLFeatures& features = {}) {
    passes::lower(module, {.kind = passes::TargetKind::Device});
    return c_source::write_opencl_c(module, features).source;
}

std::string message_of(const ir::Module& module, const c_source::OpenCLFeatures& features) {
    try {
        c_source::write_opencl_c(module, features);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
        return e.what();
    }
    return "no error";
}

}  // namespace

class OpenCLGolden : public ::testing::TestWithParam<unisono::testing::SampleModule> {};

TEST_P(OpenCLGolden, IsAsInTheFile) {
    std::filesystem::path file = golden_folder() / (GetParam().name + ".cl");
    std::string now = opencl_c(GetParam().make());
    if (std::getenv("UNISONO_UPDATE_GOLDEN")) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << now;
        return;
    }
    std::ifstream in(file);
    ASSERT_TRUE(in) << file << " is missing; see the head of this test";
    std::ostringstream expected;
    expected << in.rdbuf();
    EXPECT_EQ(now, expected.str()) << file;
}

INSTANTIATE_TEST_SUITE_P(Samples, OpenCLGolden,
                         ::testing::ValuesIn(unisono::testing::sample_modules()),
                         [](const auto& info) { return info.param.name; });

TEST(OpenCLWriter, CountsTheBytesOfLocalArrays) {
    auto bytes = [](ir::Module module) {
        passes::lower(module, {.kind = passes::TargetKind::Device});
        return c_source::write_opencl_c(module, {}).kernels.at(0).local_bytes;
    };
    EXPECT_EQ(bytes(unisono::testing::saxpy()), 0);
    EXPECT_EQ(bytes(unisono::testing::group_sums()), 64 * 4);
    EXPECT_EQ(bytes(unisono::testing::checked_tiles()), 64 * 4 + 4) << "with where it failed";
}

TEST(OpenCLWriter, NamesWhatADeviceWithoutFloat64Lacks) {
    ir::Module module = unisono::testing::saxpy();
    passes::lower(module, {.kind = passes::TargetKind::Device});
    c_source::OpenCLFeatures features;
    features.device = "opencl:gpu:0";
    features.float64 = false;
    EXPECT_EQ(message_of(module, features),
              "saxpy: device 'opencl:gpu:0' has no float64; got array 'a' of float64; use float32, "
              "or a device whose "
              "has_float64 is true");
}

TEST(OpenCLWriter, NamesWhatADeviceWithoutInt64AtomicsLacks) {
    ir::Module module = unisono::testing::histogram();
    passes::lower(module, {.kind = passes::TargetKind::Device});
    c_source::OpenCLFeatures features;
    features.device = "opencl:gpu:0";
    features.int64_atomics = false;
    EXPECT_EQ(message_of(module, features),
              "histogram (line 5): device 'opencl:gpu:0' has no 64-bit atomics; got an atomic "
              "operation on array 'total' "
              "of int64; use int32 or float32, or a device whose has_int64_atomics is true");
}
