// Short loops as functions of bits: whether a loop of shifts, masks and branches is linear over the
// field of two elements.
#pragma once

#include <optional>
#include <set>

#include "ir/rewrite.h"

namespace unisono::passes {

/// A loop f with f(a ^ b) = f(a) ^ f(b), where a and b are all that it starts from.
struct LinearLoop {
    struct State {
        std::int32_t var;        ///< has a value of its own each time when the loop starts
        bool is_written;         ///< by the loop
        std::uint64_t decisive;  ///< bits that branches depend on, else several bits at the end
    };
    std::vector<State> states;
    std::set<const void*> decided;  ///< nodes that decisive bits decide

    /// The loop as it runs where no decisive bit is set.
    ir::S otherwise(ir::Function& f, ir::S loop) const;
};

/// The variables that statements read and declare.
class Names final : public ir::Visitor {
  public:
    explicit Names(const ir::Function& f) : read(f.vars.size()), declared(f.vars.size()) {}
    std::vector<bool> read, declared;

    void expr(ir::E e) override {
        if (e->kind == ir::ExprKind::Var) read[static_cast<std::size_t>(e->id)] = true;
        children(e);
    }
    void stmt(ir::S s) override {
        if (s->kind == ir::StmtKind::Declare || s->kind == ir::StmtKind::For)
            declared[static_cast<std::size_t>(s->id)] = true;
        children(s);
    }
};

/// Follows each bit through the iterations of the loop, which are begin to end. `changes` are the
/// variables that the loop around it changes. None where something is not understood.
std::optional<LinearLoop> linear_loop(const ir::Function& f, const std::vector<bool>& changes,
                                      ir::S loop, std::int64_t begin, std::int64_t end);

}  // namespace unisono::passes
