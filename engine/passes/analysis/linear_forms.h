// Linear indices as sums over the variables of two nested loops, and tests on what they reach.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/rewrite.h"

namespace unisono::passes {

/// rest + outer * (outer variable) + inner * (inner variable), of expressions that the outer loop
/// does not change; null is zero.
struct LinearForm {
    ir::E rest = nullptr, outer = nullptr, inner = nullptr;
};
bool operator==(const LinearForm& a, const LinearForm& b);

/// Whether sums of such numbers are numbers.
bool is_small(std::int64_t value);
/// Takes two sums (null is zero) that differ by a constant, and gives it; false for others.
bool constant_difference(ir::E to, ir::E from, std::int64_t& out);

/// What an access in the nest touches.
struct NestAccess {
    std::int32_t array;
    bool is_store;
    std::optional<LinearForm> form;
    bool operator==(const NestAccess&) const = default;
};

/// A serial loop of step 1 that combines nothing and tells no numbers.
bool is_plain_loop(ir::S s);

/// A serial loop and at most one loop in it, both of step 1, with what is declared between them.
class LoopNest {
  public:
    /// `inner` may be null.
    LoopNest(ir::Builder& b, ir::S outer, ir::S inner);

    /// From here on reads of the variable mean the expression.
    void define(std::int32_t var, ir::E value) {
        defined_[var] = value;
        substituted_.erase(var);
    }

    /// The expression in terms of what is known in front of the outer loop, or null.
    ir::E in_front(ir::E e);
    std::optional<LinearForm> form(ir::E e);
    /// Adds what the expression loads; false where that is not understood.
    bool loads(ir::E e, std::vector<NestAccess>& out);

    /// A test in front of the loops that the condition holds in no iteration; null where none is
    /// known.
    ir::E never(ir::E condition);
    /// The same that it holds in each iteration.
    ir::E always(ir::E condition);
    /// A test in front of the loops that no two iterations of the outer loop touch the same
    /// element, one of them storing to it; null where none is known.
    ir::E independent(std::span<const NestAccess> accesses);

    /// A test in front of the loops that no access meets the store in any iteration; null where
    /// none is known.
    ir::E apart_from(const NestAccess& store, std::span<const NestAccess> others);

    /// Tests in front of the loops on which the forms that were given depend.
    std::span<const ir::E> assumed() const { return assumed_; }

    ir::E begin() const { return outer_->args[0]; }
    ir::E end() const { return outer_->args[1]; }

  private:
    struct Range {
        ir::E low, high;
    };
    ir::E plus(ir::E a, ir::E b);   // null is zero
    ir::E minus(ir::E a, ir::E b);  // null is zero
    ir::E times(ir::E a, ir::E b);  // null is zero
    ir::E both(ir::E a, ir::E b);   // null is true
    ir::E at_both_ends(ir::E order, bool holds);
    ir::E substituted(ir::E e);
    bool is_invariant(ir::E e) const;
    ir::E at(const LinearForm& f, ir::E outer);
    Range range(const NestAccess& a, bool as_addresses);
    ir::E apart(const NestAccess& a, const NestAccess& b);
    ir::E far_apart(const LinearForm& f);

    ir::Builder& b_;
    ir::S outer_;
    ir::S inner_;
    std::vector<bool> written_;
    std::vector<ir::E> assumed_;
    std::unordered_map<std::int32_t, ir::E> defined_, substituted_;
};

}  // namespace unisono::passes
