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

    // ---- slices, Ellipsis and None as values (index_values.cpp)
    const Node& with_written_index(const Node& node, const Type& object);
    bool may_choose_parts(const Node& item);
    /// Of array.real[i] and array.imag[i] of a complex array: the array and the part, 0 or 1.
    struct ElementPart {
        Value whole;
        int part;
    };
    std::optional<ElementPart> element_part(const Node& node);
    Value load_part(const ElementPart& of, std::span<const E> where, const Place& place);

  private:
    Node written_item(const Value& value, const Place& place);
    Node known_node(const Value& value, const Place& place);
    Value expression_of(const Node& node);
    Value attribute(const Node& node);
    Value subscript(const Node& node);
    Value item_of(const Node& node, Value object);
    Value sliced(const Node& node, const Value& value);
    std::optional<Value> tuple_item(const Value& tuple, const Value& index, const Place& place);
    Value tuple_slice(const Node& node, const Value& tuple);
};

}  // namespace unisono::frontend
