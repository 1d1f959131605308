// What a subscript selects of an array: elements, views, gathered and masked elements; and the
// arguments of array functions by name.
#pragma once

#include "frontend/numbers.h"

namespace unisono::frontend {

class Selections : public Numbers {
  protected:
    using Numbers::Numbers;

    // ---- subscripts (subscripts.cpp)
    std::optional<std::vector<const Node*>> view_items(const Node& node, const Value& array);
    std::optional<std::vector<const Node*>> items_of_tuple(const Node& name, const Value& tuple,
                                                           int rank);
    Value element(const Node& node, const Value& array);
    std::vector<E> indices(const Node& node, const Value& array);
    Value index_view(const Node& node, const Value& array, std::span<const Node* const> items);

    // ---- calls of array functions by their arguments' names (array_calls.cpp)
    struct Given {
        const Node& node;
        std::string name;  ///< as messages call it
        std::string base;  ///< without the module
        bool is_method;
        std::map<std::string, Value> values;
        /// Null where it is not given, or None.
        const Value* find(const std::string& key) const {
            auto it = values.find(key);
            return it == values.end() || it->second.type.kind == Type::Kind::None ? nullptr
                                                                                  : &it->second;
        }
        const Value& at(const std::string& key) const { return values.at(key); }
    };
    const Value& want_array(const Given& given, const std::string& key);
    Value made_array(const Given& given, const std::string& key = "a");
    std::int64_t want_constant(const Given& given, const std::string& key, std::int64_t otherwise);
    bool want_flag(const Given& given, const std::string& key, bool otherwise = false);
    int want_axis(const Given& given, const Value& axis, int rank);
    std::optional<std::vector<int>> want_axes(const Given& given, int rank);
    std::optional<DType> want_dtype(const Given& given, const std::string& key = "dtype");
    [[noreturn]] void refuse_call(const Given& given, const std::string& what,
                                  const std::string& way_out) {
        refuse(given.node.place, given.name + ": " + what, way_out);
    }

    // ---- index arrays (gather.cpp)
    struct Gather {
        Value view;                                  ///< its axes, those of index arrays whole
        std::vector<std::pair<int, Value>> indices;  ///< axis of the view, int64 or array
        int first = 0;                               ///< axis of the result where theirs begin
        std::vector<E> extents;                      ///< of the result
        std::vector<E> shared;                       ///< of the index arrays together
    };
    std::map<const Node*, Value> chosen_;  ///< nodes whose value is known: those of indices by
                                           ///< value, items read where a mask is set
    bool may_be_array(const Node& node);
    Type tried(const Node& node);
    bool has_array_index(std::span<const Node* const> items);
    virtual bool is_array_function(const std::string& name) const = 0;
    static std::vector<const Node*> index_nodes(const Node& node);
    Gather gathering(const Node& node, const Value& array, std::span<const Node* const> items);
    std::vector<E> gathered_index(const Gather& g, std::span<const E> index, bool repeats);
    Value gathered(const Gather& g);
    Value gather(const Node& node, const Value& array, std::span<const Node* const> items);
    Value call_nonzero(const Given& given);
    Value call_take(const Given& given);

    // ---- masks of an array's own rank (masks.cpp)
    std::optional<Value> mask_of(const Value& array, std::span<const Node* const> items);
    void check_mask(const Value& mask, const Value& array, const Place& place);
    Value compressed(const Value& array, const Value& mask, const Place& place);

  private:
    std::vector<Value> nonzero(const Value& mask, const Place& place);
    void check_indices(const Value& index, E size, int axis, const Place& place);
    E is_packed(const Value& array);
};

}  // namespace unisono::frontend
