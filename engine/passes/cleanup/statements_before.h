// A rewriter of expressions whose new form needs statements of its own: those are collected in
// front of the statement that holds the expression.
#pragma once

#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

class StatementsBefore : public ir::Rewriter {
  public:
    using Rewriter::Rewriter;
    ir::S stmt(ir::S s) override;

  protected:
    /// One statement other than a block or a while loop.
    virtual ir::S statement(ir::S s);
    /// The bodies of a statement are rewritten on their own.
    ir::S bodies(ir::S s);

    std::vector<ir::S> before_;  ///< what the statement needs so far

  private:
    /// The statements rewritten, what came in front of each beside it.
    std::vector<ir::S> flat(std::span<const ir::S> list);
    /// What the condition needs is computed in each iteration, which then leaves or goes on.
    ir::S loop_while(ir::S s);
};

}  // namespace unisono::passes
