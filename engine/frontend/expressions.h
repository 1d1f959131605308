// The value of any expression.
#pragma once

#include "frontend/calls.h"

namespace unisono::frontend {

class Expressions : public Calls {
  protected:
    using Calls::Calls;

    /// The value, which must be there: None where there should be one raises TypeError.
    Value expression(const Node& node) override;
    /// The value, which may be None.
    Value maybe_none(const Node& node) override;
    Value read_name(const Node& node);

    std::map<const Node*, Value> chosen_;  ///< items read where a mask is set

  private:
    Value expression_of(const Node& node);
    Value attribute(const Node& node);
    Value subscript(const Node& node);
    Value sliced(const Node& node, const Value& value);
    std::optional<Value> tuple_item(const Value& tuple, const Value& index, const Place& place);
    Value tuple_slice(const Node& node, const Value& tuple);
};

}  // namespace unisono::frontend
