// Walks statements for what they assign, store and point elsewhere.
#include "frontend/effects.h"

#include <algorithm>

namespace unisono::frontend {

bool Effects::change(ir::E e) const {
    if (all && (e->kind == ir::ExprKind::Var || e->kind == ir::ExprKind::Memory)) return true;
    if (e->kind == ir::ExprKind::Var && vars.count(e->id)) return true;
    if (e->kind == ir::ExprKind::Memory && slots.count(e->id)) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](ir::E a) { return change(a); });
}

namespace {

class Finder {
  public:
    Finder(const ir::Function& function, std::size_t vars, std::size_t arrays,
           const std::function<bool(std::int32_t)>& may_store)
        : function_(function), vars_(vars), arrays_(arrays), may_store_(may_store) {}

    void walk(std::span<const ir::S> statements) {
        for (ir::S s : statements) visit(*s);
    }

    Effects found() {
        // Slots share the memory of those that they point to.
        for (std::size_t before = 0; before != old_.size();) {
            before = old_.size();
            for (const auto& [slot, from] : points_) {
                if (is_old(from)) old_.insert(slot);
            }
        }
        for (std::int32_t root : stored_) found_.stores = found_.stores || is_old(root);
        return std::move(found_);
    }

  private:
    void visit(const ir::Stmt& s) {
        using Kind = ir::StmtKind;
        switch (s.kind) {
            case Kind::Assign: assigned(s.id); break;
            case Kind::Store:
            case Kind::Atomic: stored_.insert(root(s.id)); break;
            case Kind::Make: slot(s.id); break;
            case Kind::Point:
                slot(s.id);
                if (s.arrays.empty())
                    old_.insert(s.id);  // the memory is someone's
                else
                    points_.emplace_back(s.id, root(s.arrays[0]));
                break;
            case Kind::Native: {
                const std::string& name = function_.natives[static_cast<std::size_t>(s.id)];
                found_.stores = found_.stores || name == "python_block";
                break;
            }
            case Kind::Call: found_.stores = found_.stores || may_store_(s.id); break;
            default: break;
        }
        for (std::int32_t out : s.outs) assigned(out);
        walk(s.body);
        walk(s.orelse);
    }

    void assigned(std::int32_t var) {
        if (static_cast<std::size_t>(var) < vars_) found_.vars.insert(var);
    }
    void slot(std::int32_t array) {
        if (static_cast<std::size_t>(array) < arrays_) found_.slots.insert(array);
    }
    std::int32_t root(std::int32_t array) const {
        const ir::Array& a = function_.arrays[static_cast<std::size_t>(array)];
        return a.is_view() ? a.base : array;
    }
    bool is_old(std::int32_t root) const {
        const ir::Array& a = function_.arrays[static_cast<std::size_t>(root)];
        return a.param >= 0 || static_cast<std::size_t>(root) < arrays_ || old_.count(root) > 0;
    }

    const ir::Function& function_;
    std::size_t vars_, arrays_;
    const std::function<bool(std::int32_t)>& may_store_;
    Effects found_;
    std::set<std::int32_t> stored_, old_;
    std::vector<std::pair<std::int32_t, std::int32_t>> points_;
};

}  // namespace

Effects effects_of(const ir::Function& function, std::span<const ir::S> statements,
                   std::size_t vars, std::size_t arrays,
                   const std::function<bool(std::int32_t)>& may_store) {
    Finder finder(function, vars, arrays, may_store);
    finder.walk(statements);
    return finder.found();
}

}  // namespace unisono::frontend
