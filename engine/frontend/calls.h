// Calls: compiled functions, functions in C, built-in ones and those of modules.
#pragma once

#include <deque>

#include "frontend/bindings.h"

namespace unisono::frontend {

class Calls : public Bindings {
  protected:
    using Bindings::Bindings;

    Value call(const Node& node);
    Value call_function(const Node& node, const Source& callee, const std::vector<Value>& captured,
                        const Value* self = nullptr) override;
    void share_changed(const Source& callee, const std::vector<Value>& values);
    void learn_from(const Source& callee, const std::vector<Value>& values, const Place& place);
    Value call_with(const Node& node, const Source& callee, std::vector<Value> values) override;
    Value call_by_elements(const Node& node, const Source& callee,
                           const std::vector<Value>& values);
    Value length(const Value& a, const Place& place);

    // ---- functions as values (functions.cpp)
    Value function_value(const Node& node);
    Value capturing(Value function, const Node& names);

    /// A method that is written in Python, where its type has one.
    std::optional<Value> library_method(const Node& node, const Value& object);

    // ---- text that tells values (text.cpp)
    struct Template {
        std::string text;
        std::vector<E> values = {};
        bool takes_arrays = false;
        std::string role = "a value in a message";
    };
    enum class Shown : std::uint8_t { Str, Repr, Format };
    void write(Template& to, const Value& v, Shown how, const std::string& format,
               const Place& place);
    void write_node(Template& to, const Node& node, bool in_order = false);
    void write_formatted(Template& to, const Node& part);
    std::pair<std::string, std::vector<E>> message_of(const Node& node, const std::string& where);

    // ---- the table of array functions (array_calls.cpp)
    using ArrayRule = Value (Calls::*)(const Given&);
    struct ArrayFunction {
        const char* parameters;  ///< names; "?" behind those that may be left out, "*" before rest
        ArrayRule rule;
        bool is_method;           ///< of arrays, too
        bool gives_view = false;  ///< the result may lie in the first argument's memory
    };
    static const std::map<std::string, ArrayFunction>& array_functions();
    bool is_array_function(const std::string& name) const override;

    // ---- caught exceptions (exceptions.cpp)
    E is_of_class(E code, const std::string& names);
    Value class_name(const Value& v, const Place& place);
    Value exception_arguments(const Value& e, const Place& place);
    const Node* statement_ = nullptr;  ///< the call that is a statement: its value is not used

  private:
    Value known_call(const Node& node);

    // ---- compiled functions (calls.cpp, functions.cpp, formulas.cpp)
    std::optional<Value> formula(const Node& node, const Source& callee,
                                 const std::vector<Value>& values);
    std::deque<Node> formulas_;  ///< of callees, as expressions of this function
    const Instance& instance_of(const Node& node, const Source& callee,
                                const std::vector<Type>& types, bool noalias, bool passes_blocks);
    std::vector<Value> call_operands(const Node& node, const Source& callee,
                                     const std::vector<Value>& captured, const Value* self);
    void find_owner(std::int32_t block, E address, std::span<const E> extents,
                    const std::vector<std::int32_t>& arrays);
    Value result_of_call(const Type& type, const ResultShape& shape,
                         const std::vector<std::int32_t>& outs,
                         const std::vector<std::int32_t>& arrays);
    const Source& named_function(const Node& node);
    std::vector<Value> captures_of(const Node& named, const Source& source);
    Value call_value(const Node& node, const Value& callee);

    // ---- structs and functions that C takes (c_values.cpp)
    std::vector<Value> leaves_of(const Source& callee, const std::vector<Value>& values,
                                 const Place& place);
    void add_leaves(const Source& callee, const NativeForm& form, const Value& value,
                    const Place& place, std::vector<Value>& leaves);
    Value struct_address(const Source& callee, const NativeForm& form, const Value& value,
                         const Place& place);
    Value callback_address(const Source& callee, const NativeForm& form, const Value& value,
                           const Place& place);

    // ---- built-in functions (builtins.cpp, folds.cpp, text.cpp)
    Value bit_length(const Value& number);
    std::optional<Value> number_view(const Node& node, const Value& object);
    Value call_builtin(const Node& node, const std::string& name);
    bool is_exactly(const Type& t, const Node& wanted);
    Value class_of(const Type& t, const Place& place);
    bool is_instance(const Type& t, const Node& wanted);
    Value delete_item(const std::vector<Value>& args, const Place& place);
    std::optional<Value> fold(const Node& node, const std::string& name,
                              const std::vector<Value>& args);
    Value numbers_there(const Value& list, bool for_truth, const Place& place);
    Value fold_array(const Value& array, Value start, E begin,
                     const std::function<Value(const Value&, const Value&)>& combine,
                     const Place& place);
    Value call_print(const Node& node);
    E bits_of(const Value& v);
    void write_items(Template& to, const Value& v, const Place& place);

    // ---- functions and methods of arrays (array_calls.cpp, pointers.cpp)
    std::optional<Value> array_function(const Node& node, const std::string& name,
                                        const Value* object = nullptr);
    std::optional<Value> array_method(const Node& node, const Value& object);
    Value pointed_records(const Node& node);
    std::optional<Value> ufunc_method(const Node& node);

    // ---- what threads share (sharing.cpp) and have of their own (work_items.cpp)
    Value atomic(const Node& node, const std::string& name);
    std::optional<Value> sharing(const std::string& name, const std::vector<Value>& args,
                                 const Place& place);
    // ---- factors of matrices (matrices.cpp)
    std::optional<Value> matrices(const std::string& name, const std::vector<Value>& args,
                                  const Place& place);
    // ---- messages between ranks (messages.cpp)
    std::optional<Value> messages(const std::string& name, const std::vector<Value>& args,
                                  const Place& place);
    /// Appends address, number of elements and dtype of an array.
    void push_memory(std::vector<E>& values, const Value& array);
    Value combination(const Value& given, DType dtype, const Place& place);
    std::optional<Value> work_item(const Node& node, const std::string& name);
    Value counted_barrier(const Value& arrival, const std::string& name, int line);
    Value local_array(const Node& node, ir::Space space);
};

}  // namespace unisono::frontend
