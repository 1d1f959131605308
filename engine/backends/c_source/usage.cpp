// Walks function bodies; callees first, since their uses become the caller's.
#include "backends/c_source/usage.h"

#include <utility>

#include "core/error.h"
#include "ir/fence.h"
#include "ir/rewrite.h"

namespace unisono::c_source {
using namespace ir;

namespace {

class Walk : public Visitor {
  public:
    Walk(const Module& module, std::vector<Usage>& all)
        : module_(module), all_(all), done_(all.size(), false) {}

    void function(std::size_t index) {
        if (done_[index]) return;
        done_[index] = true;
        const Function& f = module_.functions[index];
        Usage u;
        u.assignments.assign(f.vars.size(), 0);
        Usage* outer = std::exchange(usage_, &u);
        const Function* outer_function = std::exchange(function_, &f);
        stmt(f.body);
        usage_ = outer;
        function_ = outer_function;
        all_[index] = std::move(u);
    }

    void expr(E e) override {
        if (e->kind == ExprKind::Param) usage_->parts.insert({e->id, e->field, e->axis});
        if (e->kind == ExprKind::WorkItem) {
            usage_->sees_groups |=
                e->query != WorkItemQuery::GlobalId && e->query != WorkItemQuery::GlobalOffset;
        }
        if (e->kind == ExprKind::Load) access(e->id, e->access);
        children(e);
    }

    void stmt(S s) override {
        children(s);
        switch (s->kind) {
            case StmtKind::Declare:
                if (!s->args.empty()) assign(s->id);
                return;
            case StmtKind::Assign: assign(s->id); return;
            case StmtKind::Atomic:
                for (std::int32_t var : s->outs) assign(var);
                [[fallthrough]];
            case StmtKind::Store: access(s->id, s->access); return;
            case StmtKind::Allocate:
                usage_->allocations[s->id] = s;
                usage_->sees_groups |=
                    function_->arrays[static_cast<std::size_t>(s->id)].space == Space::Local;
                return;
            case StmtKind::Call: call(s); return;
            case StmtKind::Barrier: usage_->has_barrier |= is_barrier(s); return;
            case StmtKind::Return: usage_->can_fault |= s->fault >= 0; return;
            case StmtKind::For:
                usage_->assignments[static_cast<std::size_t>(s->id)] += 2;
                return;  // never constant
            default: return;
        }
    }

  private:
    void assign(std::int32_t var) { ++usage_->assignments[static_cast<std::size_t>(var)]; }

    /// An access by one index per axis reads the strides that are not known.
    void access(std::int32_t array, Access how) {
        usage_->arrays.insert(array);
        const Array& a = function_->arrays[static_cast<std::size_t>(array)];
        if (how == Access::Linear || a.param < 0) return;
        for (int axis = 0; axis < a.rank; ++axis) {
            if (a.strides[static_cast<std::size_t>(axis)] == StrideClass::Other) {
                usage_->parts.insert({a.param, Field::Stride, axis});
            }
        }
    }

    void call(S s) {
        auto callee = static_cast<std::size_t>(s->id);
        function(callee);
        usage_->calls.insert(s->id);
        usage_->arrays.insert(s->arrays.begin(), s->arrays.end());
        usage_->can_fault |= all_[callee].can_fault;
        UNISONO_ASSERT(!all_[callee].has_barrier);
        std::vector<std::int32_t> array_of_param(module_.functions[callee].params.size(), -1);
        std::size_t next = 0;
        for (std::size_t p = 0; p < array_of_param.size(); ++p) {
            if (module_.functions[callee].params[p].is_array())
                array_of_param[p] = s->arrays[next++];
        }
        for (auto [param, field, axis] : all_[callee].parts) {
            if (field == Field::Value) continue;
            const Array& mine = function_->arrays[static_cast<std::size_t>(
                array_of_param[static_cast<std::size_t>(param)])];
            if (mine.param >= 0) usage_->parts.insert({mine.param, field, axis});
        }
        for (std::int32_t var : s->outs) assign(var);
    }

    const Module& module_;
    std::vector<Usage>& all_;
    std::vector<bool> done_;
    Usage* usage_ = nullptr;
    const Function* function_ = nullptr;
};

}  // namespace

std::vector<Usage> find_usage(const Module& module) {
    std::vector<Usage> all(module.functions.size());
    Walk walk(module, all);
    for (std::size_t i = 0; i < all.size(); ++i) walk.function(i);
    return all;
}

}  // namespace unisono::c_source
