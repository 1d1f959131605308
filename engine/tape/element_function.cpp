// Checks element functions and makes the loops that block calls.
#include "tape/element_function.h"

#include <algorithm>

#include "core/error.h"
#include "ir/build.h"
#include "ir/clone.h"

namespace unisono {

bool ElementFunction::accepts(const ir::Module& module) {
    const ir::Function& f = module.entry();
    auto is_pure = [](const ir::Function& g) {
        return g.sites.empty() && g.arrays.empty() && g.natives.empty() && !g.is_kernel;
    };
    return f.results.size() == 1 && !f.params.empty() && f.params.size() <= most_params &&
           std::all_of(module.functions.begin(), module.functions.end(), is_pure);
}

static std::uint32_t next_id() {
    static std::atomic<std::uint32_t> last = 0;
    return ++last;
}

ElementFunction::ElementFunction(ir::Module module) : module_(std::move(module)), id_(next_id()) {
    UNISONO_ASSERT(accepts(module_));
    for (const ir::Param& p : module_.entry().params) params_.push_back(p.dtype);
    // It runs where nobody asks for Ctrl-C: between kernels is soon enough.
    for (ir::Function& f : module_.functions) f.polls = false;
}

static ir::Module element_loop(const ElementFunction& function, unsigned ones) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back(function.name() + "_block");
    ir::Builder b(f);
    std::vector<std::int32_t> in;
    for (std::size_t k = 0; k < function.params().size(); ++k) {
        auto stride = ones >> k & 1 ? ir::StrideClass::Zero : ir::StrideClass::One;
        in.push_back(
            b.array_param("in" + std::to_string(k), function.params()[k], 1, false, {stride}));
        f.arrays.back().noalias = true;
    }
    auto out = b.array_param("out", function.result(), 1, true, {ir::StrideClass::One});
    f.arrays.back().noalias = true;
    auto i = b.var("i", DType::Int64), value = b.var("value", function.result());
    std::vector<ir::E> args;
    for (auto a : in) args.push_back(b.load(a, {b.read(i)}));
    std::int32_t outs[] = {value};
    ir::E at[] = {b.read(i)};
    ir::S body = b.block(
        {b.declare(value, nullptr), b.call(1, args, {}, outs), b.store(out, at, b.read(value))});
    f.body = b.block({b.loop(ir::LoopKind::Vector, i, b.i64(0), b.extent(out, 0), b.i64(1), body)});
    ir::append(module, function.module());
    return module;
}

Executable& ElementFunction::loop(unsigned ones) const {
    if (Executable* made = ready_.at(ones).load(std::memory_order_acquire)) return *made;
    std::lock_guard lock(compiling_);
    auto& made = loops_.at(ones);
    if (made) return *made;
    try {
        made = find_device("cpu").compile(element_loop(*this, ones), {});
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Unsupported) throw;
        made = find_device("interp").compile(element_loop(*this, ones), {});  // no compiler here
    }
    ready_.at(ones).store(made.get(), std::memory_order_release);
    return *made;
}

void ElementFunction::run(char* out, const char* const* in, unsigned ones,
                          std::int64_t count) const {
    const std::int64_t shape[] = {count}, one[] = {1}, zero[] = {0};
    ArrayArg args[most_params + 1];
    std::size_t n = params_.size();
    for (std::size_t k = 0; k < n; ++k) {
        bool is_one = ones >> k & 1;
        std::int64_t bytes = (is_one ? 1 : count) * size_of(params_[k]);
        args[k] = {{reinterpret_cast<std::uintptr_t>(in[k]), bytes}, 0, shape, is_one ? zero : one};
    }
    args[n] = {{reinterpret_cast<std::uintptr_t>(out), count * size_of(result())}, 0, shape, one};
    loop(ones).launch({{args, n + 1}, {}, {}, {}, 1});
}

void ElementCall::run(const View*, int, const View&) {
    UNISONO_ASSERT(false);  // an entry of kind Function is part of a group
}

}  // namespace unisono
