// Follows where values live while a function is split, and gathers statements into serial pieces.
#include "passes/kernels/value_homes.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/evaluate.h"
#include "ir/rewrite.h"

namespace unisono::passes {
using namespace ir;

namespace {

/// Values are written out where they are used; chains that double at each step must not grow
/// without bound.
constexpr int max_tree_size = 500;

int tree_size(E e) {
    int size = 1;
    for (E a : e->args) {
        if (size < max_tree_size) size += tree_size(a);
    }
    return size;
}

}  // namespace

bool has_memory(E e) {
    return e->kind == ExprKind::Memory || std::any_of(e->args.begin(), e->args.end(), has_memory);
}

bool returns(S s) {
    if (s->kind == StmtKind::Return) return s->fault < 0;
    return std::any_of(s->body.begin(), s->body.end(), returns) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), returns);
}

std::vector<std::int32_t> free_variables(std::span<const S> statements) {
    class Uses : public Visitor {
      public:
        std::vector<std::int32_t> used, declared;
        void expr(E e) override {
            if (e->kind == ExprKind::Var) used.push_back(e->id);
            children(e);
        }
        void stmt(S s) override {
            if (s->kind == StmtKind::Declare || s->kind == StmtKind::For) declared.push_back(s->id);
            if (s->kind == StmtKind::Assign) used.push_back(s->id);
            used.insert(used.end(), s->outs.begin(), s->outs.end());
            children(s);
        }
    } uses;
    for (S s : statements) uses.stmt(s);
    std::vector<std::int32_t> out;
    for (std::int32_t v : uses.used) {
        bool is_declared =
            std::find(uses.declared.begin(), uses.declared.end(), v) != uses.declared.end();
        if (!is_declared && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
    std::sort(out.begin(), out.end());
    return out;
}

// ---- Values

Home ValueHomes::home(std::int32_t var) const {
    auto found = homes.find(var);
    return found == homes.end() ? Home{} : found->second;
}

E ValueHomes::known(E e) {
    Cloner cloner(build);
    cloner.replace_expression = [&](E x) -> E {
        if (x->kind != ExprKind::Var) return nullptr;
        const Home h = home(x->id);
        return h.kind == Home::Kind::Known ? h.value : nullptr;
    };
    E out = cloner.expression(e);
    return is_param_expression(out) && tree_size(out) < max_tree_size ? out : nullptr;
}

bool ValueHomes::is_on_host(E e) const {
    switch (e->kind) {
        case ExprKind::Const:
        case ExprKind::Memory:
        case ExprKind::Param: return true;
        case ExprKind::Var: {
            const Home::Kind kind = home(e->id).kind;
            return kind == Home::Kind::Known || kind == Home::Kind::Host;
        }
        case ExprKind::Unary:
        case ExprKind::Binary:
        case ExprKind::Select:
        case ExprKind::Cast:
        case ExprKind::Bitcast:
        case ExprKind::Fma:
            return std::all_of(e->args.begin(), e->args.end(),
                               [this](E a) { return is_on_host(a); });
        default: return false;
    }
}

/// Devices do not know where memory is: the host program computes from it.
bool ValueHomes::uses_address(E e) const {
    return e->kind == ExprKind::Memory || (e->kind == ExprKind::Var && addresses.contains(e->id)) ||
           std::any_of(e->args.begin(), e->args.end(), [this](E a) { return uses_address(a); });
}

E ValueHomes::as_host(E e) {
    Cloner cloner(build);
    cloner.replace_expression = [&](E x) -> E {
        if (x->kind != ExprKind::Var) return nullptr;
        const Home h = home(x->id);
        return h.kind == Home::Kind::Known ? cloner.expression(h.value) : nullptr;
    };
    return cloner.expression(e);
}

E ValueHomes::host_value(E e, const char* name) {
    want_variables(e);
    if (is_on_host(e)) return as_host(e);
    if (e->kind == ExprKind::Var && home(e->id).kind == Home::Kind::Device) {
        close_serial();
        return build.load(keep(e->id), {build.i64(0)}, Access::Linear);
    }
    if (uses_address(e)) {
        Expr made = *e;
        std::vector<E> operands;
        for (E a : e->args) operands.push_back(host_value(a, name));
        made.args = build.list(std::span<const E>(operands));
        return build.own(made);
    }
    build.line = e->line;
    std::int32_t v = build.var(name, e->dtype);
    serial(build.declare(v, e));
    close_serial();
    return build.load(keep(v), {build.i64(0)}, Access::Linear);
}

void ValueHomes::want_variables(E e) {
    if (e->kind == ExprKind::Var) decided.wanted.insert(e->id);
    for (E a : e->args) want_variables(a);
}

void ValueHomes::pass_to_kernels(std::int32_t var) {
    if (split.host_params.contains(var)) return;
    const Var v = f_.vars[static_cast<std::size_t>(var)];
    split.host_params[var] = build.scalar_param(v.name, v.dtype);
}

std::int32_t ValueHomes::keep(std::int32_t var) {
    auto found = split.kept.find(var);
    if (found != split.kept.end()) return found->second;
    const Var v = f_.vars[static_cast<std::size_t>(var)];
    std::int32_t array = build.local_array(v.name + ".kept", v.dtype, 1, Space::Global);
    E one[] = {build.i64(1)};
    split.scratch.push_back(build.allocate(array, one));
    return split.kept[var] = array;
}

void ValueHomes::bring_used(const KernelPiece& piece) {
    std::vector<S> uses = piece.serial;
    uses.insert(uses.end(), piece.nest.begin(), piece.nest.end());
    for (std::int32_t v : free_variables(uses)) {
        auto at = piece.homes.find(v);
        if (at == piece.homes.end()) continue;
        if (at->second.kind == Home::Kind::Device) keep(v);
        if (at->second.kind == Home::Kind::Host) pass_to_kernels(v);
    }
}

// ---- Paths that meet

void ValueHomes::decide(std::set<std::int32_t>& where, std::int32_t var) {
    must_repeat = where.insert(var).second || must_repeat;
}

Home ValueHomes::decided_home(std::int32_t var, const Home& otherwise) const {
    if (decided.on_host.contains(var)) return {Home::Kind::Host, nullptr};
    if (decided.on_device.contains(var)) return {Home::Kind::Device, nullptr};
    return otherwise;
}

Home ValueHomes::merged(std::int32_t var, const Home& a, const Home& b) {
    using K = Home::Kind;
    if (a.kind == K::Unset) return b;
    if (b.kind == K::Unset) return a;
    if (a.kind == b.kind && (a.kind != K::Known || same(a.value, b.value))) return a;
    const bool is_device = a.kind == K::Device || b.kind == K::Device;
    decide(is_device && !decided.wanted.contains(var) ? decided.on_device : decided.on_host, var);
    return is_device ? Home{K::Device, nullptr} : Home{K::Host, nullptr};
}

Homes ValueHomes::merged(const Homes& a, const Homes& b) {
    Homes out = a;
    for (const auto& [var, h] : b) out[var] = merged(var, out[var], h);
    return out;
}

// ---- Serial pieces

void ValueHomes::push(S s) {
    if (current_.empty()) {
        serial_homes_.clear();
        open_.clear();
    }
    class Mentions final : public Visitor {
      public:
        std::set<std::int32_t> all;
        void expr(E e) override {
            if (e->kind == ExprKind::Var) all.insert(e->id);
            children(e);
        }
        void stmt(S s) override {
            if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign ||
                s->kind == StmtKind::For)
                all.insert(s->id);
            all.insert(s->outs.begin(), s->outs.end());
            children(s);
        }
    } mentions;
    mentions.stmt(s);
    for (std::int32_t v : mentions.all) {
        if (open_.insert(v).second) serial_homes_[v] = home(v);
    }
    current_.push_back(s);
}

void ValueHomes::serial(S s) {
    push(s);
    // What a serial kernel assigns stays on the device.
    std::vector<bool> written(f_.vars.size(), false);
    mark_written(s, written);
    std::vector<std::int32_t> to_host;
    for (std::size_t k = 0; k < written.size(); ++k) {
        auto v = static_cast<std::int32_t>(k);
        if (!written[k]) continue;
        homes[v] = {Home::Kind::Device, nullptr};
        if (decided.on_host.contains(v)) to_host.push_back(v);
    }
    if (to_host.empty()) return;
    close_serial();
    for (std::int32_t v : to_host)
        set_on_host(v, build.load(keep(v), {build.i64(0)}, Access::Linear), s->line);
}

void ValueHomes::close_serial() {
    if (current_.empty()) return;
    launch({{}, std::move(current_), std::move(serial_homes_)});
    current_.clear();
}

void ValueHomes::launch(KernelPiece piece) {
    for (S s : piece.serial) piece.returns = piece.returns || returns(s);
    Stmt call{};
    call.kind = StmtKind::Call;
    call.id = static_cast<std::int32_t>(split.pieces.size());
    call.line = (piece.nest.empty() ? piece.serial.front() : piece.nest.front())->line;
    out->push_back(build.own(call));
    split.pieces.push_back(std::move(piece));
}

// ---- Assignments

void ValueHomes::set_on_host(std::int32_t var, E value, Line line) {
    build.line = line;
    out->push_back(build.assign(var, value));
    homes[var] = {Home::Kind::Host, nullptr};
}

void ValueHomes::assign(S s) {
    const std::int32_t v = s->id;
    const bool is_address = has_memory(s->args[0]);
    if (is_address) addresses.insert(v);
    const bool is_kept_back = decided.on_device.contains(v);
    const bool is_open = !current_.empty();
    E value = is_kept_back || decided.on_host.contains(v) ? nullptr : known(s->args[0]);
    if (value) {
        if (is_open) push(s);  // an open serial piece needs it too, in its place
        homes[v] = {Home::Kind::Known, value};
        return;
    }
    if (is_kept_back || !(is_address || is_on_host(s->args[0]))) return serial(s);
    if (!decided.on_host.contains(v)) decide(decided.on_host, v);
    const bool is_known = is_on_host(s->args[0]);
    value = is_known ? as_host(s->args[0]) : host_value(s->args[0], "value");
    if (is_open && open_.contains(v)) close_serial();
    set_on_host(v, value, s->line);
}

void ValueHomes::declare(S s) {
    homes[s->id] = Home{};
    if (!current_.empty()) push(s);
}

}  // namespace unisono::passes
