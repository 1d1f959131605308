// Random functions give the same bits and faults on an OpenCL device as in the interpreter.
#include <cstdlib>
#include <limits>

#include "backends/interp/interpreter.h"
#include "core/error.h"
#include "passes/lower.h"
#include "unit/backends/opencl_harness.h"
#include "unit/ir/random_ir.h"

using namespace unisono;
using unisono::testing::OpenCL;
using unisono::testing::Outcome;
using unisono::testing::RandomIr;

namespace {

Outcome collect(const RandomIr& program, const Fault& fault, std::span<const ir::FaultSite> sites,
                std::vector<std::uint64_t> results) {
    Outcome out;
    out.fault = Outcome::describe(fault, {sites.begin(), sites.end()});
    out.results = std::move(results);
    out.vector = program.vector;
    out.matrix = program.matrix;
    out.singles = program.singles;
    return out;
}

Outcome interpreted(std::uint32_t seed) {
    RandomIr program(seed);
    program.build();
    passes::Target target;
    target.keep_checks_visible = true;
    passes::lower(program.module, target);
    std::vector<std::uint64_t> results(2);
    Fault fault =
        interp::interpret(program.module, program.arrays.args(), program.scalars, results);
    return collect(program, fault, passes::all_sites(program.module), results);
}

/// Throws Unsupported where the function cannot be split into kernels.
Outcome on_device(Device& device, std::uint32_t seed) {
    RandomIr program(seed);
    program.build();
    auto executable = device.compile(std::move(program.module), {});
    std::vector<ArrayArg> args(program.arrays.args().begin(), program.arrays.args().end());
    std::vector<Memory> host;
    for (ArrayArg& a : args) {
        host.push_back(a.memory);
        a.memory = device.allocate(a.memory.bytes);
        device.copy_in(a.memory, 0, reinterpret_cast<const void*>(host.back().handle),
                       a.memory.bytes);
    }
    std::vector<std::uint64_t> results(2);
    Fault fault = executable->launch({args, program.scalars, results, {}, 0});
    for (std::size_t k = 0; k < args.size(); ++k) {
        device.copy_out(reinterpret_cast<void*>(host[k].handle), args[k].memory, 0, host[k].bytes);
        device.free(args[k].memory);
    }
    return collect(program, fault, executable->sites(), results);
}

/// Bits, with one NaN for all: sign and payload do not count.
template <class T>
std::string bytes(std::vector<T> v) {
    for (T& x : v) {
        if (x != x) x = std::numeric_limits<T>::quiet_NaN();
    }
    return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}

std::string printed(std::uint32_t seed) {
    RandomIr program(seed);
    program.build();
    std::string text = ir::print(program.module);
    passes::lower(program.module, {.kind = passes::TargetKind::Device});
    return text + ir::print(program.module);
}

}  // namespace

/// UNISONO_TEST_SEEDS=1000 compares as many programs instead of a few (each takes its compile
/// time).
TEST_F(OpenCL, RandomFunctionsGiveTheInterpretersResults) {
    const char* wanted = std::getenv("UNISONO_TEST_SEEDS");
    std::uint32_t seeds = wanted ? static_cast<std::uint32_t>(std::atoi(wanted)) : 24;
    std::uint32_t compared = 0, faulted = 0;
    for (std::uint32_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Outcome got;
        try {
            got = on_device(*device, seed);
        } catch (const Error& e) {
            ASSERT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();
            continue;
        }
        Outcome want = interpreted(seed);
        ++compared;
        faulted += want.fault.empty() ? 0 : 1;
        EXPECT_EQ(got.fault, want.fault) << printed(seed);
        if (!want.fault.empty()) continue;  // what other work-items stored before is open
        EXPECT_EQ(bytes(got.vector), bytes(want.vector)) << printed(seed);
        EXPECT_EQ(bytes(got.matrix), bytes(want.matrix)) << printed(seed);
        EXPECT_EQ(bytes(got.singles), bytes(want.singles)) << printed(seed);
        auto total = [](const Outcome& o) {
            return bytes<double>({Scalar{o.results[0], DType::Float64}.as<double>()});
        };
        EXPECT_EQ(total(got), total(want)) << printed(seed);
        EXPECT_EQ(got.results[1], want.results[1]) << printed(seed);
    }
    // Neither kind may be rare, or the comparison says little.
    EXPECT_GT(compared, seeds / 3);
    EXPECT_GT(faulted, seeds / 20);
    std::printf("%u of %u compared, %u with faults\n", compared, seeds, faulted);
}
