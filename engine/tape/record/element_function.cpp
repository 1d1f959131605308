// Checks element functions and makes the loops that block calls.
#include "tape/record/element_function.h"

#include <algorithm>

#include "core/error.h"
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/rewrite.h"

namespace unisono {

constexpr std::int64_t most_iterations = 1 << 16;

static bool is_few(ir::E e) {
    auto value = static_cast<std::int64_t>(e->bits);
    return e->kind == ir::ExprKind::Const && !is_float(e->dtype) && value <= most_iterations &&
           value >= -most_iterations;
}

/// `n + 1` of the variable n.
static bool is_step(ir::E e, std::int32_t var) {
    return e->kind == ir::ExprKind::Binary && e->op == Op::Add &&
           e->args[0]->kind == ir::ExprKind::Var && e->args[0]->id == var && is_few(e->args[1]) &&
           static_cast<std::int64_t>(e->args[1]->bits) > 0;
}

/// Whether nothing but a small number or a step is ever stored in the variable.
static bool counts_up(ir::S s, std::int32_t var) {
    bool is_store = s->id == var && (s->kind == ir::StmtKind::Assign ||
                                     (s->kind == ir::StmtKind::Declare && !s->args.empty()));
    if (is_store && !is_few(s->args[0]) && !is_step(s->args[0], var)) return false;
    bool is_other = std::find(s->outs.begin(), s->outs.end(), var) != s->outs.end() ||
                    (s->kind == ir::StmtKind::For && s->id == var);
    auto inside = [&](ir::S t) { return counts_up(t, var); };
    return !is_other && std::all_of(s->body.begin(), s->body.end(), inside) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), inside);
}

/// `n < 50` in front of a body that has `n = n + 1`.
static bool is_counted(ir::E condition, ir::S loop, ir::S all) {
    if (condition->kind != ir::ExprKind::Binary) return false;
    if (condition->op == Op::And)
        return is_counted(condition->args[0], loop, all) ||
               is_counted(condition->args[1], loop, all);
    ir::E counter = condition->args[0];
    if ((condition->op != Op::Lt && condition->op != Op::Le) ||
        counter->kind != ir::ExprKind::Var || !is_few(condition->args[1]))
        return false;
    auto steps = [&](ir::S s) {
        return s->kind == ir::StmtKind::Assign && s->id == counter->id &&
               is_step(s->args[0], counter->id);
    };
    std::vector<ir::S> body;
    ir::flatten(loop->body, body);
    return !ir::contains(loop, ir::StmtKind::Continue) && counts_up(all, counter->id) &&
           std::any_of(body.begin(), body.end(), steps);
}

/// Whether no element takes long, since a kernel of the tape cannot be interrupted. `all` is the
/// function.
static bool is_short(ir::S s, ir::S all) {
    if (s->kind == ir::StmtKind::While && !is_counted(s->args[0], s, all)) return false;
    if (s->kind == ir::StmtKind::For && (!is_few(s->args[0]) || !is_few(s->args[1]))) return false;
    auto inside = [&](ir::S t) { return is_short(t, all); };
    return std::all_of(s->body.begin(), s->body.end(), inside) &&
           std::all_of(s->orelse.begin(), s->orelse.end(), inside);
}

bool ElementFunction::accepts(const ir::Module& module) {
    const ir::Function& f = module.entry();
    auto is_pure = [](const ir::Function& g) {
        return g.sites.empty() && g.arrays.empty() && g.natives.empty() && !g.is_kernel &&
               (!g.body || is_short(g.body, g.body));
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
    // It does not poll for Ctrl-C: between kernels is soon enough.
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

void ElementCall::run(std::span<const View>, std::span<const View>) {
    UNISONO_ASSERT(false);  // an entry of kind Function is part of a group
}

}  // namespace unisono
