// Compiles algorithms when they are first used.
#include "algorithms/algorithms.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/threads/fork.h"
#include "frontend/compile.h"
#include "frontend/syntax/serialise.h"

namespace unisono::algorithms {

namespace {

constexpr Algorithm table[] = {
#include "algorithms/trees/bulges.tree"
#include "algorithms/trees/combining.tree"
#include "algorithms/trees/counting.tree"
#include "algorithms/trees/drawing.tree"
#include "algorithms/trees/factoring.tree"
#include "algorithms/trees/hessenberg.tree"
#include "algorithms/trees/masking.tree"
#include "algorithms/trees/moving.tree"
#include "algorithms/trees/products.tree"
#include "algorithms/trees/reducing.tree"
#include "algorithms/trees/rotating.tree"
#include "algorithms/trees/scanning.tree"
#include "algorithms/trees/schur.tree"
#include "algorithms/trees/shifting.tree"
#include "algorithms/trees/sorting.tree"
#include "algorithms/trees/tiling.tree"
#include "algorithms/trees/transforms.tree"
};

struct Compiled {
    std::string_view name;
    std::vector<frontend::Type> args;
    int dimensions;
    Device* device;
    std::unique_ptr<Executable> code;
};

/// Kernels of the engine keep inside their arrays and divide by no zero. Where the host can address
/// the memory they are tested, and say so where they do not.
void trust(frontend::Options& options) { options.trusts_indices = options.numpy_errors = true; }

/// Never destroyed: what it holds may be in use while static objects are.
struct Cache {
    LongMutex mutex;
    std::map<std::pair<std::string_view, bool>, std::shared_ptr<const frontend::Source>> programs;
    std::vector<std::unique_ptr<Compiled>> codes;

    static Cache& instance() {
        static Cache& cache = *new Cache;
        return cache;
    }
    const std::shared_ptr<const frontend::Source>& program(std::string_view name, bool trusted) {
        auto& known = programs[{name, trusted}];
        for (const Algorithm& a : table) {
            if (!known && a.name == name)
                known = frontend::read_program(a.tree, trusted ? trust : nullptr);
        }
        UNISONO_ASSERT(known);
        return known;
    }
};

}  // namespace

std::span<const Algorithm> all() { return table; }

frontend::Type function_type(std::string_view name, const Device& device) {
    Cache& cache = Cache::instance();
    std::lock_guard lock(cache.mutex);
    const auto& program = cache.program(name, !device.info().host_memory);
    return frontend::Type::of_function(program, program->name);
}

Executable& compiled(std::string_view name, std::span<const frontend::Type> args, int dimensions,
                     Device& device) {
    Cache& cache = Cache::instance();
    std::lock_guard lock(cache.mutex);
    for (const auto& c : cache.codes) {
        if (c->name == name && c->device == &device && c->dimensions == dimensions &&
            std::equal(args.begin(), args.end(), c->args.begin(), c->args.end()))
            return *c->code;
    }
    frontend::CompileRequest request;
    request.source = cache.program(name, !device.info().host_memory);
    request.args.assign(args.begin(), args.end());
    request.noalias = true;
    request.dimensions = dimensions;
    auto made =
        std::make_unique<Compiled>(Compiled{request.source->name, request.args, dimensions, &device,
                                            device.compile(frontend::compile(request).module, {})});
    return *cache.codes.emplace_back(std::move(made))->code;
}

}  // namespace unisono::algorithms
