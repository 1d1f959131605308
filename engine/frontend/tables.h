// Lowers dicts, sets and lists of objects, which compiled code holds by address (runtime/tables.h).
#pragma once

#include "frontend/lowerer.h"

namespace unisono::frontend {

/// One expression of tables, at a place.
class Tables {
  public:
    Tables(Emission& walk, const Place& place) : f_(walk.lowerer()), place_(place) {}

    // ---- types and values (tables.cpp)
    Value literal(const Node& node);
    Value empty(const void* origin, TableKind kind);
    Value copy(const Value& table);
    /// A parameter that came empty gets its type from what the function stores.
    Value opened(const Value& parameter, const void* origin, const Type* declared);
    Value declared(const Value& table, const Type& wanted, const std::string& role);
    /// A result beside what is returned elsewhere.
    Value agreed(const Value& result, const Type& elsewhere);
    bool is_open(const Value& table) const;
    /// table[key] op= change
    void augment(const Node& node, const Value& table);
    /// Where one of both is empty so far it becomes what the other is.
    void agree(const Value& a, const Value& b);

    // ---- entries
    Value get(const Value& table, const Value& key);
    void set(const Value& table, const Value& key, const Value& value);
    void remove(const Value& table, const Value& key);
    /// Entry number `index` of a loop.
    Value visited(const Value& table, const Value& index);
    E loop(const Value& table);
    E size(const Value& table);
    Value contains(const Value& item, const Value& table);
    Value method(const Node& node, const Value& table);
    Value compare_numbers(const std::string& op, const Value& x, const Value& y);
    std::optional<Value> by_library(const Node& node, const Value& table,
                                    const std::vector<Value>& args);
    Value binary(const std::string& op, const Value& a, const Value& b);
    /// a op= b; false where the name gets another value instead.
    bool update(const std::string& op, const Value& a, const Value& b);
    std::optional<Value> compare(const std::string& op, const Value& a, const Value& b);
    Value as_type(const Value& v, const Type& t, const std::string& role);
    /// Several arguments of an exception: a text that says how to read the words, and those.
    std::pair<std::string, std::vector<E>> exception_arguments(const Node& node);
    /// A call of the interpreter for a block; the value is what the block assigns, in a tuple.
    Value python_block(const Node& node);
    /// Where interpreted.h finds the function that a node calls; empty where it does not.
    static std::string path_of(const Node& node);
    /// What a call that is known as "np.fft" is shown as: np.fft.fft.
    static std::string shown_name(const Node& node, const std::string& name);
    Value interpreted(const Node& node, const Error& refusal);
    /// The items as a list.
    Value listed(const Value& table);

    // ---- lists of objects (object_lists.cpp)
    /// [a, b], whose items are learnt under that origin.
    Value list_of(const void* origin, const std::vector<Value>& items);
    /// What a table or an object can keep: a list of numbers becomes one of objects.
    Value storable(const Value& v);
    /// list[begin:end] = items, and del list[begin:end] without.
    void assign_slice(const Value& list, const Node& node, const Value* items);
    /// list[begin:end]
    Value slice(const Value& list, const Node& node);
    void add_item(const Value& list, const Value& item);
    /// The items side by side, where they are numbers.
    Value numbers(const Value& list, bool for_array = false);
    /// Where it was made, which what is stored in it tells the types of; null where that is
    /// unknown.
    const void* origin_of(const Value& table) const {
        bool is_known = table.type.is_table() && table.list >= 0;
        return is_known ? f_.table_origins_[static_cast<std::size_t>(table.list)] : nullptr;
    }
    void learn_empty(std::span<const Node* const> nodes, std::span<const Value> items);
    static bool has_numbers(const Type& list) {
        return list.is_object_list() && list.items[0].is_scalar();
    }
    /// A list that a native function made of texts.
    Value texts_made(E handle);
    Value joined(const Value& list, const Value& separator);
    Value taken(const Type& t, const std::vector<E>& words, std::size_t& at, bool is_owned,
                int origin = -1);
    void put(const Value& v, std::vector<E>& words);

  private:
    [[noreturn]] void refuse(const std::string& what, const std::string& way_out) {
        f_.refuse(place_, what, way_out);
    }
    void learn(const Value& table, const Type& key, const Value* value);
    void learn_type(const void* origin, std::optional<Type>& known, const Type& type);
    Type key_type(const Value& key);
    void want_changeable(const Value& table);
    void want_owner();
    const Type& key_of(const Value& table) const { return table.type.items[0]; }
    const Type* value_of(const Value& table) const {
        if (table.type.is_object_list()) return &table.type.items[0];
        return table.type.items.size() > 1 ? &table.type.items[1] : nullptr;
    }
    std::vector<E> form_of(const Type& type);
    Value of_handle(E handle, const Type& type, int origin = -1);
    Value made(const std::string& native, const std::vector<E>& values, const Type& type,
               int origin = -1);
    void kinds_of(const Type& t, int& word, std::uint64_t& kinds, std::uint64_t& counted);
    E index_of(const Value& index);
    std::vector<E> slice_words(const Value& list, const Node& node);
    std::vector<E> item_words(const Value& list, const Value& item, std::vector<E> words);
    Value item_at(const Value& list, E index, const std::string& message);
    Value take_item(const Value& list, const Value& index, const std::string& message);
    std::vector<E> find_item(const Value& list, const Value& item);
    Value list_method(const Node& node, const Value& list);
    void sort_list(const Node& node, const Value& list);
    Value list_binary(const std::string& op, const Value& a, const Value& b);
    Value list_compare(const std::string& op, const Value& a, const Value& b);
    Value listed_copy(const Value& list);
    static bool kind_above(const Type& a, const Type& b);
    void order_items(const Value& list, E how);
    void extend(const Value& list, const Value& more);
    Value value_taken(const Value& table, const std::vector<E>& words, std::size_t at,
                      bool is_owned);
    std::vector<E> key_words(const Value& table, const Value& key, const std::string& role);
    std::vector<E> call(const std::string& name, std::vector<E> values, std::size_t results);
    /// The form of a function of tables for such keys.
    std::string for_keys_of(const Value& table, const std::string& name) const;
    void check(E status);
    void no_such_key(E condition, const Value& key);
    E handle(const Value& v) const { return v.expr; }
    /// What a block of Python gives back.
    struct Given {
        std::string name;
        Type type;
    };
    bool lends_ = false;  ///< arrays are given for the time of a call: nobody keeps them
    Value run_block(E number, const std::vector<Value>& passed, const std::vector<Given>& outs);
    Value other_set(const Value& v, const std::string& method);
    bool has_ordered_sets(const Value& a, const Value& b) const;

    FunctionLowerer& f_;
    const Place& place_;
};

}  // namespace unisono::frontend
