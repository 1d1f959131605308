// PTX of the sample modules: equal to tests/golden/ptx, rounded as promised, and taken by NVIDIA's
// assembler.
//
// After a wanted change run with UNISONO_UPDATE_GOLDEN=1 and read the difference before committing
// it. The assembler is nvJitLink from the package nvidia-nvjitlink in the tree's environment, or
// UNISONO_NVJITLINK.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "algorithms/algorithms.h"
#include "backends/backend.h"
#include "backends/cuda/ptx.h"
#include "core/error.h"
#include "frontend/compile.h"
#include "frontend/syntax/serialise.h"
#include "ir/build.h"
#include "tape/run/lower_group.h"
#include "tape/run/transposed.h"
#include "unit/backends/opencl_samples.h"

using namespace unisono;
namespace fs = std::filesystem;

namespace {

/// The root of the tree in whose build folder this program lies.
fs::path tree() {
    fs::path at = fs::read_symlink("/proc/self/exe");
    while (at.has_relative_path()) {
        at = at.parent_path();
        if (fs::exists(at / "tests" / "golden")) return at;
    }
    return {};
}

std::string linker_library() {
    if (const char* given = std::getenv("UNISONO_NVJITLINK")) return given;
    std::error_code none;
    for (const auto& version : fs::directory_iterator(tree() / ".venv" / "lib", none)) {
        fs::path packages = version.path() / "site-packages" / "nvidia";
        for (const auto& entry : fs::recursive_directory_iterator(packages, none)) {
            if (entry.path().filename().string().starts_with("libnvJitLink.so."))
                return entry.path();
        }
    }
    return {};
}

std::string ptx_of(ir::Module module) {
    const cuda::PtxTarget target{"sm_75", "+ptx63", false, false};
    return cuda::write_ptx(cuda::lower_for_device(std::move(module)), target);
}

/// The leaves of a sum along contiguous rows: a warp has each, or several rows of `width` elements.
ir::Module sums_by_warps(std::int64_t width = 0) {
    Group group;
    group.inputs = {DType::Float32};
    group.nodes = {{Group::Kind::Input, DType::Float32}};
    group.outputs = {{0, DType::Float32, true, Op::Add, -1}};
    group.reduce_axis = 1;
    using ir::StrideClass;
    GroupShape shape;
    shape.rank = 2;
    shape.reduce_axis = 1;
    shape.strides = {StrideClass::Other, StrideClass::One, StrideClass::One, StrideClass::Zero};
    shape.on_device = true;
    shape.shuffles = width == 0;
    shape.row_width = width;
    shape.row_is_whole = true;
    return lower_leaves(group, shape);
}

/// An int8 array times a float32 one, of neighbours along the last axis.
ir::Module neighbours(int rank) {
    Group group;
    group.inputs = {DType::Int8, DType::Float32};
    group.nodes = {{Group::Kind::Input, DType::Int8, Op::Add, 0},
                   {Group::Kind::Input, DType::Float32, Op::Add, 1},
                   {Group::Kind::Cast, DType::Float32, Op::Add, 0},
                   {Group::Kind::Op, DType::Float32, Op::Mul, 2, 1}};
    group.outputs = {{3, DType::Float32}};
    using ir::StrideClass;
    GroupShape shape;
    shape.rank = rank;
    for (int array = 0; array < 3; ++array) {
        if (rank == 2) shape.strides.push_back(StrideClass::Other);
        shape.strides.push_back(StrideClass::One);
    }
    shape.on_device = true;
    return lower_map(group, shape);
}

/// A copy of an array whose axes are exchanged.
ir::Module transposed_copy() {
    using ir::StrideClass;
    Group group;
    group.inputs = {DType::Float32};
    group.nodes = {{Group::Kind::Input, DType::Float32}};
    group.outputs = {{0, DType::Float32}};
    GroupShape shape;
    shape.rank = 2;
    shape.strides = {StrideClass::One, StrideClass::Other, StrideClass::Other, StrideClass::One};
    shape.on_device = true;
    shape.across = 0;
    shape.tile = 32;
    return lower_transposed(group, shape);
}

/// Nodes of their tree.
ir::Module tree_by_warps() {
    return lower_tree(Op::Add, DType::Float64, 1,
                      {.leaves_last = true, .unrolls = true, .shuffles = true});
}

std::vector<unisono::testing::SampleModule> cuda_samples() {
    auto samples = unisono::testing::sample_modules();
    samples.push_back({"tree_by_warps", tree_by_warps});
    samples.push_back({"sums_by_warps", [] { return sums_by_warps(); }});
    samples.push_back({"sums_of_short_rows", [] { return sums_by_warps(16); }});
    samples.push_back({"neighbours", [] { return neighbours(1); }});
    samples.push_back({"transposed_copy", transposed_copy});
    samples.push_back({"neighbours_in_rows", [] { return neighbours(2); }});
    return samples;
}

}  // namespace

class CudaPtx : public ::testing::TestWithParam<unisono::testing::SampleModule> {};

TEST_P(CudaPtx, IsAsInTheFile) {
    fs::path file = tree() / "tests" / "golden" / "ptx" / (GetParam().name + ".ptx");
    std::string now = ptx_of(GetParam().make());
    if (std::getenv("UNISONO_UPDATE_GOLDEN")) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << now;
        return;
    }
    std::ifstream in(file);
    ASSERT_TRUE(in) << file << " is missing; see the head of this test";
    std::ostringstream expected;
    expected << in.rdbuf();
    EXPECT_EQ(now, expected.str()) << file;
}

TEST_P(CudaPtx, Assembles) {
    std::string library = linker_library();
    if (library.empty()) GTEST_SKIP() << "the package nvidia-nvjitlink is not installed";
    std::string ptx = ptx_of(GetParam().make());
    for (const char* architecture : {"sm_75", "sm_80", "sm_90"}) {
        std::string cubin = cuda::assemble(ptx, architecture, library);
        EXPECT_EQ(cubin.substr(0, 4),
                  "\x7f"
                  "ELF")
            << architecture;
    }
}

INSTANTIATE_TEST_SUITE_P(Samples, CudaPtx, ::testing::ValuesIn(cuda_samples()),
                         [](const auto& info) { return info.param.name; });

TEST(CudaWriter, NothingContractsFlushesOrApproximates) {
    ir::Module module;
    ir::Builder b(module.functions.emplace_back("f"));
    auto x = b.array_param("x", DType::Float32, 1, true);
    auto i = b.var("i", DType::Int64);
    ir::E at[] = {b.read(i)};
    ir::E v = b.load(x, at);
    ir::E sum = b.add(b.mul(v, v), b.binary(Op::Div, v, b.unary(Op::Sqrt, v)));
    b.function().body = b.block({b.loop(ir::LoopKind::Parallel, i, b.i64(0), b.extent(x, 0),
                                        b.i64(1), b.store(x, at, sum))});
    std::string ptx = ptx_of(std::move(module));
    for (const char* wanted : {"mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"})
        EXPECT_NE(ptx.find(wanted), std::string::npos) << wanted << "\n" << ptx;
    for (const char* refused : {"fma", ".ftz", ".approx", "mad"})
        EXPECT_EQ(ptx.find(refused), std::string::npos) << refused << "\n" << ptx;
}

/// The kernel that scatters keys of 32 bits.
ir::Module scatter_by_votes() {
    const auto all = algorithms::all();
    const auto found = std::ranges::find_if(
        all, [](const algorithms::Algorithm& a) { return a.name == "scatter_by_votes"; });
    frontend::CompileRequest request;
    request.source = frontend::read_program(found->tree, [](frontend::Options& options) {
        options.trusts_indices = options.numpy_errors = true;
    });
    for (DType t :
         {DType::UInt32, DType::Int32, DType::UInt32, DType::Int32, DType::Int32, DType::Int32})
        request.args.push_back(frontend::Type::array(t, {ir::StrideClass::One}, true));
    for (const char* f : {"key_of_float", "float_of_key"})
        request.args.push_back(algorithms::function_type(f, find_device("null")));
    for (int k = 0; k < 6; ++k) request.args.push_back(frontend::Type::python(Weak::Int));
    for (int k = 0; k < 3; ++k) request.args.push_back(frontend::Type::numpy(DType::UInt32));
    request.args.push_back(frontend::Type::python(Weak::Int));
    request.noalias = true;
    request.dimensions = 1;
    return frontend::compile(request).module;
}

TEST(CudaWriter, ArraysThatALoopOfFewStepsIndexesAreRegisters) {
    const std::string ptx = ptx_of(scatter_by_votes());
    EXPECT_EQ(ptx.find(".local"), std::string::npos);
}

TEST(CudaWriter, WarpsVote) {
    const std::string ptx = ptx_of(scatter_by_votes());
    EXPECT_NE(ptx.find("vote.sync.ballot.b32"), std::string::npos);
    EXPECT_NE(ptx.find("bar.warp.sync"), std::string::npos);
}

TEST(CudaWriter, FunctionsWithoutALibraryAssemble) {
    std::string library = linker_library();
    if (library.empty()) GTEST_SKIP() << "the package nvidia-nvjitlink is not installed";
    for (DType t : {DType::Float32, DType::Float64}) {
        ir::Module module;
        ir::Builder b(module.functions.emplace_back("f"));
        auto x = b.array_param("x", t, 1, true);
        auto i = b.var("i", DType::Int64);
        ir::E at[] = {b.read(i)};
        ir::E v = b.load(x, at);
        ir::E value = b.binary(Op::Mod, b.unary(Op::Exp, v), b.binary(Op::FloorDiv, v, v));
        b.function().body = b.block({b.loop(ir::LoopKind::Parallel, i, b.i64(0), b.extent(x, 0),
                                            b.i64(1), b.store(x, at, value))});
        EXPECT_FALSE(cuda::assemble(ptx_of(std::move(module)), "sm_80", library).empty());
    }
}

TEST(CudaWriter, AWrongAssemblerOrTextIsRefused) {
    try {
        cuda::assemble("", "sm_80", "/no/such/library.so");
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    }
    std::string library = linker_library();
    if (library.empty()) GTEST_SKIP() << "the package nvidia-nvjitlink is not installed";
    try {
        cuda::assemble(".version 6.3\n.target sm_75\nnonsense", "sm_80", library);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Compile);
    }
}

TEST(CudaBackend, ReportsWhatItFound) {
    Backend* backend = find_backend("cuda");
    ASSERT_NE(backend, nullptr);
    EXPECT_FALSE(backend->report().empty());
    for (Device* d : backend->devices()) EXPECT_TRUE(d->info().name.starts_with("cuda:"));
}
