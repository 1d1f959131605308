// Finds out what the statements of a rare branch use, and copies them into a function of their own.
#include "passes/cleanup/cold_splitting.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

/// What statements use of the function around them.
class Uses final : public Visitor {
  public:
    explicit Uses(const Function& f)
        : f_(f),
          params(f.params.size()),
          arrays(f.arrays.size()),
          made(f.arrays.size()),
          vars(f.vars.size()),
          assigned(f.vars.size()),
          declared(f.vars.size()) {}

    /// What is in `arrays` or `made`, and in `vars`, in order: functions have many that a branch
    /// does not use.
    std::vector<std::int32_t> used_arrays() const { return sorted(seen_arrays_); }
    std::vector<std::int32_t> used_vars() const { return sorted(seen_vars_); }

    void expr(E e) override {
        switch (e->kind) {
            case ExprKind::Var: var(e->id); break;
            case ExprKind::Param:
                if (e->field == Field::Value)
                    mark(params, e->id);
                else
                    array(f_.params[static_cast<std::size_t>(e->id)].array);
                break;
            case ExprKind::Load: array(e->id); break;
            case ExprKind::Memory:
            case ExprKind::WorkItem: can_move = false; break;
            default: break;
        }
        children(e);
    }

    void stmt(S s) override {
        switch (s->kind) {
            case StmtKind::Declare: mark(declared, s->id); break;
            case StmtKind::For:
                mark(declared, s->id);
                numbers = numbers || s->numbers;
                can_move = can_move && s->reductions.empty();
                break;
            case StmtKind::Assign: assign(s->id); break;
            case StmtKind::Store:
            case StmtKind::Atomic:
                array(s->id);
                for (std::int32_t v : s->outs) assign(v);
                break;
            case StmtKind::Allocate:
                mark(made, s->id);
                seen_arrays_.push_back(s->id);
                break;
            case StmtKind::Call:
                for (std::int32_t a : s->arrays) array(a);
                for (std::int32_t v : s->outs) assign(v);
                break;
            case StmtKind::Return: can_move = can_move && s->fault >= 0; break;
            case StmtKind::Try:
            case StmtKind::Native:
            case StmtKind::Make:
            case StmtKind::Point:
            case StmtKind::Retain:
            case StmtKind::Barrier: can_move = false; break;
            default: break;
        }
        children(s);
    }

  private:
    const Function& f_;
    static void mark(std::vector<bool>& list, std::int32_t id) {
        list[static_cast<std::size_t>(id)] = true;
    }
    static std::vector<std::int32_t> sorted(std::vector<std::int32_t> list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }
    void var(std::int32_t id) {
        mark(vars, id);
        seen_vars_.push_back(id);
    }
    void assign(std::int32_t id) {
        var(id);
        mark(assigned, id);
    }
    void array(std::int32_t id) {
        const Array& a = f_.arrays[static_cast<std::size_t>(id)];
        can_move = can_move && !a.is_slot && !a.is_view();
        mark(arrays, id);
        seen_arrays_.push_back(id);
    }
    std::vector<std::int32_t> seen_arrays_, seen_vars_;

  public:
    std::vector<bool> params, arrays, made, vars, assigned, declared;
    bool numbers = false;  ///< a loop's variable is the number of an iteration
    bool can_move = true;
};

/// Copies statements into another function.
class Copy {
  public:
    Copy(const Function& from, Builder& to)
        : from_(from), to_(to), params_(from.params.size(), -1) {}

    void take_param(std::int32_t id) {
        const Param& p = from_.params[static_cast<std::size_t>(id)];
        params_[static_cast<std::size_t>(id)] = to_.scalar_param(p.name, p.dtype);
    }
    void take_array(std::int32_t id, bool is_made_inside) {
        const Array& a = from_.arrays[static_cast<std::size_t>(id)];
        std::int32_t made = is_made_inside
                                ? to_.local_array(a.name, a.dtype, a.rank, a.space)
                                : to_.array_param(a.name, a.dtype, a.rank, a.writable, a.strides);
        arrays_[id] = made;
        to_.function().arrays[static_cast<std::size_t>(made)].noalias = a.noalias;
    }

    std::int32_t var(std::int32_t id) {
        auto [known, is_new] = vars_.emplace(id, -1);
        const Var& v = from_.vars[static_cast<std::size_t>(id)];
        if (is_new) known->second = to_.var(v.name, v.dtype);
        return known->second;
    }

    S stmt(S s) {
        Stmt copy = *s;
        copy.args = each<E>(s->args, [&](E e) { return expr(e); });
        copy.body = each<S>(s->body, [&](S b) { return stmt(b); });
        copy.orelse = each<S>(s->orelse, [&](S b) { return stmt(b); });
        copy.arrays = each<std::int32_t>(s->arrays, [&](std::int32_t a) { return array(a); });
        copy.outs = each<std::int32_t>(s->outs, [&](std::int32_t v) { return var(v); });
        if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For)
            copy.id = var(s->id);
        if (s->fault >= 0) copy.fault = site(s->fault);
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Atomic ||
            s->kind == StmtKind::Allocate)
            copy.id = array(s->id);
        return to_.own(copy);
    }

  private:
    template <class T, class F>
    std::span<const T> each(std::span<const T> list, F copy) {
        std::vector<T> all;
        for (const T& item : list) all.push_back(copy(item));
        return to_.function().arena->copy(std::span<const T>(all));
    }

    /// Shared expressions stay shared.
    E expr(E e) {
        auto known = exprs_.find(e);
        if (known != exprs_.end()) return known->second;
        Expr copy = *e;
        copy.args = each<E>(e->args, [&](E a) { return expr(a); });
        if (e->kind == ExprKind::Var) copy.id = var(e->id);
        if (e->kind == ExprKind::Load) copy.id = array(e->id);
        if (e->kind == ExprKind::Param) {
            auto id = static_cast<std::size_t>(e->id);
            copy.id = e->field == Field::Value ? params_[id] : param_of(from_.params[id].array);
        }
        return exprs_[e] = to_.own(copy);
    }
    std::int32_t array(std::int32_t id) const { return arrays_.at(id); }
    std::int32_t param_of(std::int32_t id) const {
        return to_.function().arrays[static_cast<std::size_t>(array(id))].param;
    }

    std::int32_t site(std::int32_t id) {
        auto [known, is_new] = sites_.emplace(id, 0);
        auto& list = to_.function().sites;
        if (is_new) {
            known->second = static_cast<std::int32_t>(list.size());
            list.push_back(from_.sites[static_cast<std::size_t>(id)]);
        }
        return known->second;
    }

    const Function& from_;
    Builder& to_;
    std::vector<std::int32_t> params_;
    std::unordered_map<E, E> exprs_;
    std::unordered_map<std::int32_t, std::int32_t> arrays_, vars_, sites_;
};

class DeferRare final : public Rewriter {
  public:
    /// New functions go to `made`; the first of them gets the number `next`.
    DeferRare(Function& f, const std::string& suffix, std::vector<Function>& made, std::size_t next)
        : Rewriter(f), suffix_(suffix), made_(made), next_(next) {}

    S stmt(S s) override {
        // What a handler sees of a variable must be what the statements left there.
        if (s->kind == StmtKind::Try) return s;
        bool shares = s->kind == StmtKind::For &&
                      (s->loop == LoopKind::Parallel || s->loop == LoopKind::Group);
        parallel_depth_ += shares;
        s = children(s);
        parallel_depth_ -= shares;
        if (s->kind != StmtKind::If || !s->rare || s->orelse.empty()) return s;
        const bool is_done = s->orelse.size() == 1 && s->orelse[0]->kind == StmtKind::Call;
        if (is_done) return s;  // an earlier run of the pass
        std::optional<S> call = move(s->orelse);
        if (!call) return s;
        Stmt changed = *s;
        changed.orelse = b_.list(std::span<const S>(&*call, 1));
        return b_.own(changed);
    }

  private:
    /// The call that replaces the statements.
    std::optional<S> move(std::span<const S> list) {
        Function& f = function();
        Uses uses(f);
        for (S s : list) uses.stmt(s);
        // A fault names the iteration of the parallel loop around it, which only its own function
        // knows.
        if (!uses.can_move || (uses.numbers && parallel_depth_ > 0)) return std::nullopt;
        std::string name = f.name + "." + suffix_;
        if (!made_.empty()) name += "." + std::to_string(made_.size() + 1);
        Function& g = made_.emplace_back(name);
        g.files = f.files;
        g.polls = f.polls;
        g.is_deferred = true;
        Builder b(g);
        b.line = list.front()->line;
        b_.line = b.line;
        Copy copy(f, b);
        std::vector<std::int32_t> arrays, outs;
        std::vector<E> scalars, results;
        for (std::int32_t id : uses.used_arrays()) {
            auto k = static_cast<std::size_t>(id);
            copy.take_array(id, uses.made[k]);
            if (!uses.made[k]) arrays.push_back(id);
        }
        for (std::size_t k = 0; k < f.params.size(); ++k) {
            auto id = static_cast<std::int32_t>(k);
            if (!uses.params[k]) continue;
            copy.take_param(id);
            scalars.push_back(b_.param(id));
        }
        std::vector<S> body;
        for (std::int32_t id : uses.used_vars()) {
            auto k = static_cast<std::size_t>(id);
            if (uses.declared[k]) continue;
            scalars.push_back(b_.read(id));
            std::int32_t given = b.scalar_param(f.vars[k].name + ".before", f.vars[k].dtype);
            body.push_back(b.declare(copy.var(id), b.param(given)));
            if (!uses.assigned[k]) continue;
            outs.push_back(id);
            results.push_back(b.read(copy.var(id)));
            g.results.push_back(f.vars[k].dtype);
        }
        for (S s : list) body.push_back(copy.stmt(s));
        if (!results.empty()) body.push_back(b.ret(results));
        g.body = b.block(std::span<const S>(body));
        auto number = static_cast<std::int32_t>(next_ + made_.size() - 1);
        return b_.call(number, scalars, arrays, outs);
    }

    const std::string& suffix_;
    std::vector<Function>& made_;
    std::size_t next_;
    int parallel_depth_ = 0;
};

}  // namespace

void cold_splitting(Module& module, const std::string& suffix) {
    std::size_t count = module.functions.size();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<Function> made;
        if (module.functions[k].is_deferred) continue;
        DeferRare(module.functions[k], suffix, made, module.functions.size()).run();
        for (Function& f : made) module.functions.push_back(std::move(f));
    }
}

}  // namespace unisono::passes
