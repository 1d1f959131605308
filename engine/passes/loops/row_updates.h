// The loops that updates_in_strips writes: a row whose elements are updated by those before them.
#pragma once

#include <optional>

#include "passes/analysis/linear_forms.h"
#include "passes/analysis/scalar_functions.h"

namespace unisono::passes {

/// A loop over the elements of a row, and the loop in it that updates one.
struct Row {
    ir::S outer = nullptr, inner = nullptr, store = nullptr;
    ir::E term = nullptr;  ///< what an element is combined with
    bool is_first = true;  ///< the element is the operation's first operand
    std::vector<ir::S> before, after;
    ir::E low = nullptr;   ///< where the inner loop begins
    std::int64_t end = 0;  ///< where it ends, from the outer loop's variable on

    Op op() const { return store->args[1]->op; }
};

/// The statement as such a loop, if it is one.
std::optional<Row> find_row(ir::S s);

/// Whether it is that constant.
bool is_literal(ir::E e, std::int64_t value);

/// What statements and terms of a row touch, and whether lanes may run ahead of it.
class Ahead {
  public:
    /// `widest`: a loop over all that the inner one reaches in any iteration.
    Ahead(ir::Builder& b, const Row& row, ir::S widest, const ScalarFunctions& scalar);

    LoopNest& nest() { return nest_; }

    /// A test in front of the row, or null.
    ir::E test();
    /// Whether that is where the element lies that an iteration updates.
    bool is_element(std::int32_t array, ir::E index) {
        return array == element_.array && nest_.form(index) == element_.form;
    }
    /// Whether statements in front of the inner loop update it, too: integers in any order.
    bool stores_in_front() const { return stores_in_front_; }

  private:
    bool reads_only_loops(ir::E e) const;
    bool distance(const LinearForm& form, std::int64_t& out);
    void other(const NestAccess& a);
    bool term();
    bool is_element(ir::E e);
    bool is_known(ir::E e, bool may_read_element);
    bool is_copy(ir::E e);
    bool front(ir::S s);
    bool behind(ir::S s);
    bool simple(ir::S s, bool may_read_element);

    ir::Builder& b_;
    const Row& row_;
    const ScalarFunctions& scalar_;
    LoopNest nest_;
    std::vector<bool> written_;
    NestAccess element_{};
    std::vector<std::int32_t> copies_;  ///< variables that hold the element
    std::vector<NestAccess> others_;
    bool stores_in_front_ = false;
};

}  // namespace unisono::passes
