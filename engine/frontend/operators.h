// Operators, comparisons and choices over every kind of value.
#pragma once

#include <array>

#include "frontend/objects.h"

namespace unisono::frontend {

bool is_table_function(const std::string& name);

class Operators : public Objects {
  protected:
    using Objects::Objects;

    // ---- comparisons and choices (logic.cpp)
    Value compare(const Node& node);
    Value equal_bytes(const Value& a, const Value& b, bool wanted, const Place& place);
    Value compare_two(const std::string& op, const Value& a, const Value& b,
                      const Place& place) override;
    Value bool_op(const Node& node, std::size_t from);
    Value conditional(const Node& node);
    E truth(const Value& v, const Place& place) override;
    Value choose(E condition, const std::function<Value()>& yes, const std::function<Value()>& no,
                 const Place& place);
    E condition(const Node& node);

    // ---- values that may be None (optionals.cpp)
    std::array<Value, 2> present_operands(const std::string& op, const Value& a, const Value& b,
                                          const Place& place);
    void assume(const Node& test, bool outcome, std::map<std::string, Binding>* before = nullptr);
    Value assuming(const Node& test, bool outcome, const std::function<Value()>& made);

    // ---- lists and what is in containers (list_operations.cpp)
    std::optional<Value> list_method(const Node& node, const Value& list);
    Value contains(const Value& item, const Value& container, const Place& place);

    // ---- operators (operators.cpp)
    Value unary(const std::string& op, const Value& a, const Place& place) override;
    std::optional<std::pair<Value, Value>> beside_array(const Value& a, const Value& b,
                                                        const Place& place);
    Value binary(const std::string& op, const Value& a, const Value& b,
                 const Place& place) override;

    // ---- functions of numbers (number_functions.cpp)
    Value call_table(const Node& node, const std::string& name, const std::vector<Value>& args);
    Value better(bool is_min, const Value& a, const Value& b, const Place& place);
    std::optional<Value> better_whole(bool is_min, const Value& a, const Value& b,
                                      const Place& place);

  private:
    std::optional<Value> compare_optional(const std::string& op, const Value& a, const Value& b,
                                          const Place& place);
    bool try_collect(const std::function<void()>& emit_body, std::vector<S>& made);
    Value choose_object(E condition, const std::array<Value, 2>& values,
                        std::array<std::vector<S>, 2> made, const Type& type, const Place& place);
    Value chosen_array(const Value& a, const Value& b, const Type& type, const Place& place,
                       std::array<std::vector<S>, 2>& made);
    bool is_cheap(const std::vector<S>& made, const Value& v) const;
    Value tuple_binary(const std::string& op, const Value& a, const Value& b, const Place& place);
    Value numpy_function(Op op, const std::string& name, const std::vector<Value>& args,
                         const Place& place);
};

}  // namespace unisono::frontend
