// Copies of statements with variables of their own: of a loop's body, or of a function that is
// called.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/clone.h"

namespace unisono::passes {

/// Copies statements, of the function itself or of one that it calls; what they declare gets
/// variables of its own.
class Copies {
  public:
    /// `from`: the function whose variables the statements name.
    Copies(ir::Builder& b, const ir::Function& from) : b_(b), from_(from), clone_(b) {
        clone_.replace_expression = [this](ir::E e) -> ir::E {
            if (e->kind == ir::ExprKind::Param && params)
                return (*params)[static_cast<std::size_t>(e->id)];
            if (e->kind != ir::ExprKind::Var) return nullptr;
            if (auto v = values.find(e->id); v != values.end()) return v->second;
            auto name = names.find(e->id);
            return name == names.end() ? nullptr : b_.read(name->second);
        };
        clone_.replace_statement = [this](ir::S s) -> ir::S {
            b_.line = s->line;
            if (s->kind != ir::StmtKind::Declare && s->kind != ir::StmtKind::Assign) return nullptr;
            ir::E value = s->args.empty() ? nullptr : expression(s->args[0]);
            if (s->kind == ir::StmtKind::Declare) return b_.declare(own(s->id), value);
            auto name = names.find(s->id);
            return b_.assign(name == names.end() ? s->id : name->second, value);
        };
    }
    ir::E expression(ir::E e) { return clone_.expression(e); }
    ir::S statement(ir::S s) { return clone_.statement(s); }
    /// A new variable for the one that the statements name.
    std::int32_t own(std::int32_t var) {
        const ir::Var& v = from_.vars[static_cast<std::size_t>(var)];
        const ir::Var known = v;
        return names[var] = b_.var(known.name, known.dtype);
    }

    std::unordered_map<std::int32_t, std::int32_t> names;
    std::unordered_map<std::int32_t, ir::E> values;
    const std::vector<ir::E>* params = nullptr;

  private:
    ir::Builder& b_;
    const ir::Function& from_;
    ir::Cloner clone_;
};

}  // namespace unisono::passes
