// Values that are made of others: lists, structured arrays, instances of classes, in memory or as
// the values of their fields.
#pragma once

#include "frontend/array_functions.h"
#include "frontend/records.h"

namespace unisono::frontend {

class Objects : public ArrayFunctions {
  protected:
    using ArrayFunctions::ArrayFunctions;

    // ---- lists (lists.cpp, list_operations.cpp)
    struct List {
        std::int32_t slot;              ///< its memory
        std::int32_t length, capacity;  ///< variables
        int parallel_depth = 0;         ///< where it was made
        const Node* literal = nullptr;  ///< the [...] that made it
    };
    void share_list(const Value& list);
    /// The [] that made a list of which nothing tells yet what it holds; else null.
    const Node* open_literal(const Value& list) const;
    [[noreturn]] void box_literal(const Node* literal);
    void box_names(const Value& list);
    void keep_lists(const std::map<std::string, Type>& guess);
    Value new_list(const Type& item, const std::string& name);
    Value list_literal(const Node& node);
    Value list_from_array(const Value& array, const Type& item, const Place& place);
    Value list_value(const Value& value, const Place& place);
    Value bytes_value(const Value& value, const std::string& name, const Place& place);
    List& growing(const Value& list, const Place& place);
    E list_length(const Value& list);
    void append(const Value& list, const Value& item, const Place& place);
    void push(const Value& list, E item, const Place& place);
    bool assign_slice(const Value& list, const Node& slice, const Value* items, const Place& place);
    void extend(const Value& list, const Value& more, const Place& place);
    Value pop(const Value& list, const Value* index, const Place& place);
    E bound_of_list(E i, E length);
    void insert(const Value& list, const Value& index, const Value& item, const Place& place);
    Value joined_lists(const Value& a, const Value& b, const Place& place);
    void repeat(const Value& list, const Value& times, const Place& place);
    Value repeated_list(const Value& list, const Value& times, const Place& place);
    Value move_list(const std::string& name, const Value& value);

    // ---- structured arrays (records.cpp)
    struct FieldAccess {
        Value array;  ///< the field of all records
        const Record::Field& field;
        const Node* index;  ///< a subscript of the structured array, or null
    };
    std::optional<FieldAccess> field_access(const Node& node);
    const std::string* key_of(const Node& node) const;
    bool is_path(const Node& node) const;
    FieldAccess field_of(const Value& records, const std::string& key, const Node* index,
                         const Place& place);
    Value whole_numbers(const Value& pieces);
    std::vector<E> index_of_pieces(const FieldAccess& f);
    void store_pieces(const FieldAccess& f, std::vector<E> where, E number);
    Value field_value(const FieldAccess& f, const Place& place);
    const Value& any_field(const Value& records, const Place& place);
    Value record_shape(const Value& records, const Place& place);
    const Node& with_known_items(const Node& node);
    Value record_item(const Node& given, const Value& records);

    // ---- structured arrays that compiled code makes or returns (record_arrays.cpp)
    Value field_in(const Descriptor& bytes, const Record::Field& f);
    Value records_in(const Value& bytes, const std::shared_ptr<const Record>& record);
    Value new_records(const std::shared_ptr<const Record>& record, std::vector<E> extents,
                      bool is_zero, const Place& place);
    void fill_records(const Value& to, const Value& from, const Place& place);
    void fill_fields(const Value& records, const Value& value, const Place& place);
    Value record_bytes(const Value& records, const Place& place);
    std::optional<Value> records_made(const Given& given);

    // ---- objects that are their fields' values (classes.cpp)
    Value construct(const Node& node, const ClassUse& use);
    Value replaced(const Node& node, const Value& object, std::size_t first);
    std::optional<Value> object_attribute(const Node& node, const Value& object);
    Value object_method(const Node& node, const Record& record, const Value* object);
    std::optional<Value> special_method(const Node* node, const std::string& name,
                                        const std::vector<Value>& values, const Place& place);
    bool has_method(const Value& object, const std::string& name) const;
    Value index_value(const Node& node);
    std::optional<Value> operator_method(const std::string& op, const Value& a, const Value& b,
                                         const Place& place);
    std::optional<Value> compare_objects(const std::string& op, const Value& a, const Value& b,
                                         const Place& place);

    // ---- objects in memory (instances.cpp, constant_fields.cpp)
    Value object_in(std::int32_t slot, const Type& type);
    E object_address(const Value& object);
    void address_objects(Value& value);
    void open_objects(Value& value);
    Value move_object(const std::string& name, const Value& value, const Type& type);
    Value held_object(const Value& object);
    Value read_member(const Value& object, const Record::Field& f, const Place& place);
    E block_of_array(std::int32_t array);
    E kept_block(const Value& array, const Place& place);
    E kept_object(const Value& object);
    void store_member(const Value& object, const Record::Field& f, const Value& given,
                      const Place& place);
    const Record::Field& member(const Value& object, const std::string& name, const Place& place);
    std::optional<Value> compare_identity(const std::string& op, const Value& a, const Value& b,
                                          const Place& place);

    // ---- values of a wanted type (declared.cpp)
    Value converted_value(const Value& value, const Type& type);
    Value declared_value(const Value& value, const Declared& wanted, const Place& place,
                         const std::string& role);
    Value kept_apart(Value value);
    Value kept(const Value& value, const Effects& effects) override;
    Value held(const Value& value);

    // ---- values that may be None (optionals.cpp)
    Value stand_in(const Type& type);

    // ---- names that may be read before they are assigned (late_names.cpp)
    void note_assigned(const std::string& name, const Type& type);
    void want_assigned(const std::string& name, const Place& place);
    void try_late(const std::string& name, const Type& type);
    Value as_optional(const Value& value, const Type& type);
    /// The value whose attribute is wanted; AttributeError where it is None.
    Value owner(const Value& value, const std::string& attribute, const Place& place);
    Value present(const Value& value, const std::string& message, const Place& place);

    Checkpoint checkpoint() const override;
    void restore(const Checkpoint& saved) override;

    std::deque<List> lists_;
    std::map<std::string, std::int32_t> lists_of_names_;             ///< where paths meet
    std::set<std::int32_t> given_objects_;                           ///< slots of parameters
    std::map<std::pair<std::int32_t, std::string>, Value> members_;  ///< read once, at the entry
    std::map<std::int32_t, E> blocks_of_params_;
    std::map<std::string, std::int32_t> texts_;  ///< variables of constants, made where first used
    std::set<std::int32_t> texts_at_entry_;      ///< those that threads read: made at the entry
    /// Value::list of a table is its place here, or -1.
    std::vector<const void*> table_origins_;
    virtual bool learns_by_survey() = 0;
    bool surveys_ = false;  ///< passes over what it cannot lower: later statements may tell types
    bool guesses_items_ = false;  ///< of what is empty so far: its items are not known to be int

  private:
    // ---- lists (lists.cpp)
    Value list_of(std::int32_t row, const Type& item, const std::string& name);
    void reserve(const Value& list, E count, const Place& place);
    E repetitions(const Value& times, const Place& place);
    E repeated_size(E size, E times, const Place& place);
    [[noreturn]] void box_list(const Value& list, const Value& item, const Place& place);

    // ---- structured arrays (records.cpp)
    E joined_pieces(const FieldAccess& f, std::span<const E> where);

    // ---- objects that are their fields' values (classes.cpp)
    Value object_of(std::shared_ptr<const Record> record, std::vector<Value> items);
    std::vector<Value> field_arguments(const Node& node, const ClassUse& use);
    Value compare_items(const std::string& op, const std::vector<Value>& a,
                        const std::vector<Value>& b, const Place& place);

    // ---- objects in memory (instances.cpp)
    Value new_instance(const std::shared_ptr<const Record>& record, const Place& place);
    Value data_object(const Node& node, const ClassUse& use);
    Value object_of_values(const std::shared_ptr<const Record>& known, std::vector<Value> values,
                           const Place& place);
    std::vector<Value> field_values(const Value& object, const Place& place);
    Value new_object(const Node& node, const ClassUse& use);
    void want_object(const Value& object, const std::string& field, const Place& place);
    bool is_constant_field(const std::string& name);
    E word_of(const Value& object, int word);
    void set_word(const Value& object, int word, E value);
    E number_of_word(E word, DType t);
    void want_assigned(const Value& v, const Record::Field& f, const Place& place);
    Value load_member(const Value& object, const Record::Field& f);

    std::optional<std::set<std::string>> changed_fields_;
};

}  // namespace unisono::frontend
