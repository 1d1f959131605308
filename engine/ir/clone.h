// Copies trees from one function to another with the same tables, replacing what a caller chooses.
#pragma once

#include <functional>

#include "ir/build.h"

namespace unisono::ir {

/// Copies nodes into the function of `to`. Hooks may return a replacement, or null to copy.
class Cloner {
  public:
    explicit Cloner(Builder& to) : to_(to) {}
    std::function<E(E)> replace_expression;
    std::function<S(S)> replace_statement;

    E expression(E e);
    S statement(S s);

  private:
    Builder& to_;
};

/// Copies all functions of `from` to the end of `to`; returns the number that its entry gets.
std::int32_t append(Module& to, const Module& from);

}  // namespace unisono::ir
