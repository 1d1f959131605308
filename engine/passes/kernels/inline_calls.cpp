// Copies a callee's tree into the caller with all ids renamed.
#include "passes/kernels/inline_calls.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/rewrite.h"

namespace unisono::passes {
using namespace ir;

namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_result(S s) { return s->kind == StmtKind::Return && s->fault == -1; }

/// Whether s returns from its function, other than by a fault.
bool returns(S s) {
    return is_result(s) || std::any_of(s->body.begin(), s->body.end(), returns) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), returns);
}

using Allocations = std::map<std::int32_t, S>;  ///< Allocate statements by their arrays

/// Copies the body of one function into another.
class Inliner {
  public:
    /// `allocations`: those of the arrays that the caller has made so far.
    Inliner(Builder& b, const Function& callee, S call, const Allocations& allocations)
        : b_(b), g_(callee), call_(call), allocations_(allocations) {}

    S run() {
        std::vector<S> out;
        b_.line = call_->line;
        for (const Var& v : g_.vars) vars_.push_back(b_.var(v.name, v.dtype));
        bind_parameters(out);
        for (const std::string& name : g_.natives) natives_.push_back(native(name));
        first_site_ = static_cast<std::int32_t>(b_.function().sites.size());
        auto& sites = b_.function().sites;
        sites.insert(sites.end(), g_.sites.begin(), g_.sites.end());
        std::vector<S> list;
        flatten({&g_.body, 1}, list);
        const bool ends = !list.empty() && is_result(list.back());
        const bool leaves_early = std::any_of(list.begin(), list.end() - (ends ? 1 : 0), returns);
        if (!leaves_early) {
            copy(list, out);
        } else {
            // The body of a loop that runs once, which a return breaks out of.
            has_returned_ = b_.var("has_returned", DType::Bool);
            out.push_back(b_.declare(has_returned_, b_.boolean(false)));
            std::vector<S> once;
            in_once_ = true;
            copy(list, once);
            b_.line = call_->line;
            if (!ends) once.push_back(b_.leave());
            out.push_back(b_.loop_while(b_.boolean(true), b_.block(std::span<const S>(once))));
        }
        return b_.block(std::span<const S>(out));
    }

  private:
    // ---- Tables

    void bind_parameters(std::vector<S>& out) {
        params_.resize(g_.params.size(), -1);
        arrays_.resize(g_.arrays.size(), -1);
        std::size_t scalar = 0, array = 0;
        for (std::size_t p = 0; p < g_.params.size(); ++p) {
            const Param& param = g_.params[p];
            if (param.is_array()) {
                arrays_[at(param.array)] = call_->arrays[array++];
                continue;
            }
            params_[p] = b_.var(param.name, param.dtype);
            out.push_back(b_.declare(params_[p], call_->args[scalar++]));
        }
        for (std::size_t a = 0; a < g_.arrays.size(); ++a) {
            if (arrays_[a] >= 0) continue;
            arrays_[a] = static_cast<std::int32_t>(b_.function().arrays.size());
            b_.function().arrays.push_back(g_.arrays[a]);
        }
        for (std::size_t a = 0; a < g_.arrays.size(); ++a) {
            if (g_.arrays[a].is_view()) rename_view(arrays_[a]);
        }
    }

    void rename_view(std::int32_t id) {
        Array view = b_.function().arrays[at(id)];
        const std::int32_t seen = arrays_[at(view.base)];
        view.offset = expr(view.offset);
        for (E& e : view.extents) e = expr(e);
        for (E& e : view.view_strides) e = e ? expr(e) : e;
        // A view of what the caller passes as a view lies in the memory of that one.
        const Array base = b_.function().arrays[at(seen)];
        view.base = base.is_view() ? base.base : seen;
        if (base.is_view()) view.offset = b_.add(base.offset, view.offset);
        b_.function().arrays[at(id)] = std::move(view);
    }

    std::int32_t native(const std::string& name) {
        auto& all = b_.function().natives;
        const auto found = std::find(all.begin(), all.end(), name);
        const auto number = static_cast<std::int32_t>(found - all.begin());
        if (found == all.end()) all.push_back(name);
        return number;
    }

    // ---- Expressions

    E expr(E e) {
        Expr copy = *e;
        b_.line = e->line;
        switch (e->kind) {
            case ExprKind::Var: copy.id = vars_[at(e->id)]; break;
            case ExprKind::Load: copy.id = arrays_[at(e->id)]; break;
            case ExprKind::Memory: {
                copy.id = arrays_[at(e->id)];
                const Array& seen = b_.function().arrays[at(copy.id)];
                if (!seen.is_view()) break;
                // A parameter has no block of its own.
                return e->axis ? b_.i64(0)
                               : b_.add(b_.address(seen.base),
                                        b_.mul(seen.offset, b_.i64(size_of(seen.dtype))));
            }
            case ExprKind::Param: {
                const Param& p = g_.params[at(e->id)];
                if (!p.is_array()) return b_.read(params_[at(e->id)]);
                const std::int32_t array = arrays_[at(p.array)];
                if (auto made = allocations_.find(array); made != allocations_.end())
                    return part_of_made(made->second->args, *e);
                return e->field == Field::Extent ? b_.extent(array, e->axis)
                                                 : b_.stride(array, e->axis);
            }
            default: break;
        }
        std::vector<E> args;
        for (E a : e->args) args.push_back(expr(a));
        copy.args = b_.list(std::span<const E>(args));
        return b_.own(copy);
    }

    /// Of an array in row-major order.
    E part_of_made(std::span<const E> extents, const Expr& part) {
        const auto axis = static_cast<std::size_t>(part.axis);
        if (part.field == Field::Extent) return extents[axis];
        E stride = b_.i64(1);
        for (std::size_t k = axis + 1; k < extents.size(); ++k) stride = b_.mul(stride, extents[k]);
        return stride;
    }

    // ---- Statements

    void copy(std::span<const S> list, std::vector<S>& out) {
        for (S s : list) {
            out.push_back(stmt(s));
            if (in_once_ && !is_result(s) && returns(s) && is_loop(s)) {
                b_.line = s->line;
                out.push_back(b_.branch(b_.read(has_returned_), b_.leave()));
            }
        }
    }
    static bool is_loop(S s) { return s->kind == StmtKind::For || s->kind == StmtKind::While; }

    std::span<const S> body(std::span<const S> list) {
        std::vector<S> out;
        copy(list, out);
        return b_.list(std::span<const S>(out));
    }

    S stmt(S s) {
        if (is_result(s)) return result(s);
        Stmt copy = *s;
        std::vector<E> args;
        for (E a : s->args) args.push_back(expr(a));
        copy.args = b_.list(std::span<const E>(args));
        switch (s->kind) {
            case StmtKind::Declare:
            case StmtKind::Assign:
            case StmtKind::For: copy.id = vars_[at(s->id)]; break;
            case StmtKind::Store:
            case StmtKind::Atomic:
            case StmtKind::Allocate:
            case StmtKind::Make:
            case StmtKind::Point:
            case StmtKind::Retain: copy.id = arrays_[at(s->id)]; break;
            case StmtKind::Native: copy.id = natives_[at(s->id)]; break;
            default: break;
        }
        if (s->fault >= 0) copy.fault = s->fault + first_site_;
        if (s->kind == StmtKind::Point && !s->arrays.empty()) return point(s, copy);
        copy.arrays = renamed(s->arrays, arrays_);
        copy.outs = renamed(s->outs, vars_);
        std::vector<Reduction> reductions(s->reductions.begin(), s->reductions.end());
        for (Reduction& r : reductions) r.var = vars_[at(r.var)];
        copy.reductions = b_.function().arena->copy(std::span<const Reduction>(reductions));
        copy.body = body(s->body);
        copy.orelse = body(s->orelse);
        return b_.own(copy);
    }

    /// A slot shares the memory that a view sees.
    S point(S s, Stmt copy) {
        std::int32_t source = arrays_[at(s->arrays[0])];
        const Array& a = b_.function().arrays[at(source)];
        if (a.is_view()) source = a.base;
        const std::int32_t list[] = {source};
        copy.arrays = b_.function().arena->copy(std::span<const std::int32_t>(list));
        return b_.own(copy);
    }

    std::span<const std::int32_t> renamed(std::span<const std::int32_t> list,
                                          const std::vector<std::int32_t>& names) {
        std::vector<std::int32_t> out;
        for (std::int32_t id : list) out.push_back(names[at(id)]);
        return b_.function().arena->copy(std::span<const std::int32_t>(out));
    }

    S result(S s) {
        std::vector<S> out;
        std::vector<std::int32_t> held;
        b_.line = s->line;
        for (E e : s->args) {
            held.push_back(b_.var("result", e->dtype));
            out.push_back(b_.declare(held.back(), expr(e)));
        }
        b_.line = s->line;
        for (std::size_t k = 0; k < held.size(); ++k)
            out.push_back(b_.assign(call_->outs[k], b_.read(held[k])));
        if (in_once_) {
            out.push_back(b_.assign(has_returned_, b_.boolean(true)));
            out.push_back(b_.leave());
        }
        return b_.block(std::span<const S>(out));
    }

    Builder& b_;
    const Function& g_;
    S call_;
    const Allocations& allocations_;
    std::vector<std::int32_t> vars_, arrays_, params_, natives_;  ///< the caller's, by the callee's
    std::int32_t first_site_ = 0, has_returned_ = -1;
    bool in_once_ = false;
};

/// Whether s asks where memory is.
bool asks_for_memory(S s) {
    class Asks final : public Visitor {
      public:
        bool found = false;
        void expr(E e) override {
            found = found || e->kind == ExprKind::Memory;
            children(e);
        }
    } asks;
    asks.stmt(s);
    return asks.found;
}

void mark_called(const Module& module, std::size_t function, std::vector<bool>& called) {
    class Calls final : public Visitor {
      public:
        std::vector<std::size_t> found;
        void stmt(S s) override {
            if (s->kind == StmtKind::Call) found.push_back(at(s->id));
            children(s);
        }
    } calls;
    called[function] = true;
    if (!module.functions[function].body) return;
    calls.stmt(module.functions[function].body);
    for (std::size_t f : calls.found) {
        if (!called[f]) mark_called(module, f, called);
    }
}

/// Whether a device's kernel cannot run s: it needs the host program.
bool needs_host(S s) {
    if (s->kind == StmtKind::For && s->loop == LoopKind::Parallel) return true;
    for (StmtKind kind : {StmtKind::Make, StmtKind::Point, StmtKind::Retain, StmtKind::Native}) {
        if (s->kind == kind) return true;
    }
    return std::any_of(s->body.begin(), s->body.end(), needs_host) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), needs_host);
}

/// Whether a condition holds of the body of a function, or of one that it calls. Each is looked at
/// once: functions may call themselves, and each other, at several places.
template <class Condition>
bool holds_in_called(const Module& module, std::size_t function, Condition condition) {
    std::vector<bool> called(module.functions.size());
    mark_called(module, function, called);
    for (std::size_t f = 0; f < called.size(); ++f) {
        if (called[f] && module.functions[f].body && condition(module.functions[f].body))
            return true;
    }
    return false;
}

/// Whether s asks for its work-item, or has barriers or arrays of the group or the work-item.
bool acts_in_group(S s) {
    class Acts final : public Visitor {
      public:
        bool found = false;
        void expr(E e) override {
            found = found || e->kind == ExprKind::WorkItem;
            children(e);
        }
        void stmt(S s) override {
            found = found || s->kind == StmtKind::Barrier || s->kind == StmtKind::Allocate;
            children(s);
        }
    } acts;
    acts.stmt(s);
    return acts.found;
}

/// Replaces the calls that are wanted by the bodies of what they call.
class InlineCalls : public Rewriter {
  public:
    InlineCalls(Module& module, std::size_t function)
        : Rewriter(module.functions[function]), module_(module), stack_{function} {}

    S stmt(S s) override {
        if (s->kind == StmtKind::Allocate) allocations_[s->id] = s;
        if (s->kind != StmtKind::Call || !may_inline(s) || !is_wanted(s)) return children(s);
        stack_.push_back(at(s->id));
        const Function& callee = module_.functions[at(s->id)];
        S made = Rewriter::stmt(Inliner(b_, callee, s, allocations_).run());
        stack_.pop_back();
        return made;
    }

  protected:
    virtual bool is_wanted(S s) {
        const Function& callee = module_.functions[at(s->id)];
        bool passes_view = false;
        for (std::int32_t id : s->arrays) {
            const Array& a = function().arrays[at(id)];
            if (a.param < 0 && !a.is_view() && !a.is_slot) return false;
            passes_view = passes_view || a.is_view();
        }
        return passes_view || asks_for_memory(callee.body) ||
               holds_in_called(module_, at(s->id), needs_host);
    }
    const Module& module() const { return module_; }

  private:
    bool may_inline(S s) const {
        const Function& callee = module_.functions[at(s->id)];
        return !callee.native && callee.body &&
               std::find(stack_.begin(), stack_.end(), at(s->id)) == stack_.end();
    }

    Module& module_;
    std::vector<std::size_t> stack_;  ///< the functions whose bodies are being copied
    Allocations allocations_;
};

class InlineGroupFunctions final : public InlineCalls {
  public:
    using InlineCalls::InlineCalls;

    void run() {
        const S body = stmt(function().body);
        made_.push_back(body);
        function().body = b_.block(std::span<const S>(made_));
    }

    S stmt(S s) override {
        if (s->kind != StmtKind::Allocate) return InlineCalls::stmt(s);
        InlineCalls::stmt(s);
        made_.push_back(s);
        return b_.block({});
    }

  private:
    bool is_wanted(S s) override {
        const auto is_of_group = [&](std::int32_t id) {
            return function().arrays[at(id)].space != Space::Global;
        };
        return std::any_of(s->arrays.begin(), s->arrays.end(), is_of_group) ||
               holds_in_called(module(), at(s->id), acts_in_group);
    }

    std::vector<S> made_;  ///< arrays
};

/// C functions of devices are given the memory of views and, behind the other numbers, their
/// offsets.
class PassOffsets final : public Rewriter {
  public:
    PassOffsets(const Module& module, Function& f) : Rewriter(f), module_(module) {}

    S stmt(S s) override {
        s = children(s);
        if (s->kind != StmtKind::Call || !module_.functions[at(s->id)].native) return s;
        std::vector<E> args(s->args.begin(), s->args.end());
        std::vector<std::int32_t> arrays;
        for (std::int32_t id : s->arrays) {
            const Array& a = function().arrays[at(id)];
            args.push_back(a.is_view() ? a.offset : b_.i64(0));
            arrays.push_back(a.is_view() ? a.base : id);
        }
        Stmt call = *s;
        call.args = b_.list(std::span<const E>(args));
        call.arrays = function().arena->copy(std::span<const std::int32_t>(arrays));
        return b_.own(call);
    }

  private:
    const Module& module_;
};

void pass_offsets(Module& module) {
    for (Function& f : module.functions) {
        if (f.body && !f.native) PassOffsets(module, f).run();
    }
    for (Function& f : module.functions) {
        if (!f.native) continue;
        Builder b(f);
        const std::size_t own = f.params.size();
        for (std::size_t k = 0; k < own; ++k) {
            if (f.params[k].is_array()) b.scalar_param("offset", DType::Int64);
        }
    }
}

/// What nobody calls any more may be what a device cannot compile.
void empty_uncalled(Module& module) {
    std::vector<bool> is_called(module.functions.size(), false);
    mark_called(module, 0, is_called);
    for (std::size_t f = 1; f < module.functions.size(); ++f) {
        Function& function = module.functions[f];
        if (is_called[f] || function.native) continue;
        function.body = Builder(function).block({});
        function.results.clear();
    }
}

}  // namespace

void inline_calls(Module& module) {
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
        if (module.functions[f].body && !module.functions[f].native) InlineCalls(module, f).run();
    }
    empty_uncalled(module);
    pass_offsets(module);
}

void inline_group_functions(Module& module) {
    InlineGroupFunctions(module, 0).run();
    empty_uncalled(module);
}

}  // namespace unisono::passes
