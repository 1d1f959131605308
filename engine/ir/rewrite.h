// Walking and rewriting trees: base classes that visit children; a pass overrides the cases it
// cares about.
//
// Nodes are never changed in place: a rewriter returns the node itself where nothing changed, so
// that unchanged subtrees are shared. A statement may thus occur in several places (two versions of
// a loop nest), an expression in many; what a pass knows of a node holds for one visit of it, not
// for its address.
#pragma once

#include <vector>

#include "ir/build.h"

namespace unisono::ir {

class Visitor {
  public:
    virtual ~Visitor() = default;
    virtual void expr(E e) { children(e); }
    virtual void stmt(S s) { children(s); }

  protected:
    void children(E e) {
        for (E a : e->args) expr(a);
    }
    /// Operands first, then body and orelse.
    void children(S s) {
        for (E a : s->args) expr(a);
        for (S b : s->body) stmt(b);
        for (S b : s->orelse) stmt(b);
    }
};

class Rewriter {
  public:
    explicit Rewriter(Function& f) : b_(f) {}
    virtual ~Rewriter() = default;
    virtual E expr(E e) { return children(e); }
    /// Returns the new statement; null removes it.
    virtual S stmt(S s) { return children(s); }
    /// Rewrites the body of the function.
    void run() { b_.function().body = body(b_.function().body); }

  protected:
    Function& function() { return b_.function(); }
    /// The node with each operand, and each statement below it, rewritten.
    E children(E e);
    S children(S s);
    /// As children, for the operands or the statements alone.
    S with_args(S s, std::span<const E> args);
    S with_body(S s, std::span<const S> body, std::span<const S> orelse);
    std::vector<S> each(std::span<const S> list);
    S body(S s);

    Builder b_;
};

/// Statements of a list as one: the only one itself, else a block.
S as_one(Builder& b, std::span<const S> list);

/// The statements with nested blocks (which are no scopes) dissolved.
void flatten(std::span<const S> list, std::vector<S>& out);

/// Marks in `out` (sized as Function::vars) the variables that the statement declares, assigns or
/// takes from a call or loop.
void mark_written(S s, std::vector<bool>& out);

bool contains(S s, StmtKind kind);

/// Equal trees (lines aside).
bool same(E a, E b);

}  // namespace unisono::ir
