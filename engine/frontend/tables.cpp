// Dicts and sets: their types and their entries.
#include "frontend/tables.h"

#include <algorithm>

#include "frontend/exceptions.h"
#include "frontend/texts.h"

namespace unisono::frontend {

/// Whether its words count references.
static bool holds_blocks(const Type& t) {
    return t.is_array() || t.is_instance() ||
           std::any_of(t.items.begin(), t.items.end(), holds_blocks);
}

static bool is_view(const Type& t) {
    return t.is_table() && t.rank > int(TableKind::Set) && !t.is_object_list();
}

// ---- types

// ---- making them

void Tables::want_owner() {
    if (f_.source_.is_kernel)
        refuse("a kernel cannot make dicts, sets and lists", "pass arrays, and look up by index");
    if (f_.parallel_depth_ > 0)
        refuse("a dict, a set or a list of objects cannot be made inside of prange",
               "make it before the loop, and read it inside");
}

void Tables::want_changeable(const Value& table) {
    if (f_.parallel_depth_ > 0)
        refuse("a " + describe(table.type) + " from outside of prange cannot change inside of it",
               "store into an array by the iteration's index, and fill the dict after the loop");
    if (is_view(table.type))
        refuse("the " + describe(table.type) + " cannot be changed", "change the dict");
}

std::vector<E> Tables::call(const std::string& name, std::vector<E> values, std::size_t results) {
    f_.at(place_);
    while (values.size() < results) values.push_back(f_.i64(0));
    return f_.native(name, values, results);
}

std::string Tables::for_keys_of(const Value& table, const std::string& name) const {
    const Type& key = key_of(table);
    const bool is_whole = key.is_scalar() && !is_float(key.dtype) && !key.is_complex();
    return is_whole ? name + "_whole" : name;
}

Value Tables::of_handle(E handle, const Type& type, int origin) {
    Value v;
    v.type = type;
    v.expr = handle;
    v.list = origin;
    return v;
}

/// What a native function made: an address, 0 without memory, -1 on a thread of a parallel loop.
Value Tables::made(const std::string& native, const std::vector<E>& values, const Type& type,
                   int origin) {
    want_owner();
    E handle = call(native, values, 1)[0];
    std::vector<S> failed = f_.collect([&] {
        f_.fault_if(f_.op_binary(Op::Lt, handle, f_.i64(0)), ErrorKind::Runtime,
                    "a dict cannot be made by the threads of a parallel loop", place_);
        f_.emit(f_.b_->raise(f_.b_->site(ErrorKind::Memory, "out of memory for a dict"), {}));
    });
    f_.emit(f_.b_->branch(f_.op_binary(Op::Le, handle, f_.i64(0)), f_.b_->block(failed)));
    return of_handle(handle, type, origin);
}

void Tables::check(E status) {
    f_.fault_if(f_.op_binary(Op::Ne, status, f_.i64(0)), ErrorKind::Memory,
                "out of memory for a dict", place_);
}

Value Tables::empty(const void* origin, TableKind kind) {
    const TableItems& items = f_.learnt_.table_items[origin];
    std::vector<Type> types;
    Type number = Type::python(Weak::Int);
    if ((kind != TableKind::List && !items.key) || (kind != TableKind::Set && !items.value))
        f_.guesses_items_ = true;
    if (kind != TableKind::List) types.push_back(items.key.value_or(number));
    if (kind != TableKind::Set) types.push_back(items.value.value_or(number));
    Type type = Type::table(kind, std::move(types));
    f_.table_origins_.push_back(origin);
    return made("table_new", form_of(type), type, static_cast<int>(f_.table_origins_.size()) - 1);
}

/// An empty list that is written among others has items of the type of theirs.
void Tables::learn_empty(std::span<const Node* const> nodes, std::span<const Value> items) {
    auto is_list = [](const Type& t) { return t.is_list() || t.is_object_list(); };
    auto is_empty = [](const Node& n) { return n.kind == NodeKind::List && n.children.empty(); };
    const Type* wanted = nullptr;
    for (std::size_t k = 0; k < nodes.size() && !wanted; ++k) {
        if (is_list(items[k].type) && !is_empty(*nodes[k])) wanted = &items[k].type.items.back();
    }
    if (!wanted) return;
    Type type = *wanted;
    for (const Node* node : nodes) {
        if (!is_empty(*node) || f_.learnt_.table_items[node].value) continue;
        f_.learnt_.table_items[node].value = type;
        f_.box_literal(node);
    }
}

/// {k: v, ...}, {a, b} and set()
Value Tables::literal(const Node& node) {
    bool is_dict = node.kind == NodeKind::Dict;
    std::vector<const Node*> nodes;
    for (const Node& child : node.children) nodes.push_back(&child);
    std::vector<Value> items = f_.operands(nodes, true);
    if (is_dict) {
        std::vector<const Node*> written;
        std::vector<Value> values;
        for (std::size_t k = 1; k < nodes.size(); k += 2) {
            written.push_back(nodes[k]);
            values.push_back(items[k]);
        }
        learn_empty(written, values);
    }
    for (Value& item : items) item = f_.kept_apart(storable(item));
    TableItems& known = f_.learnt_.table_items[&node];
    std::size_t step = is_dict ? 2 : 1;
    for (std::size_t k = 0; k < items.size(); k += step) {
        auto add = [](std::optional<Type>& so_far, const Type& t) {
            auto joined = so_far ? join(*so_far, t) : std::optional(t);
            if (joined) so_far = joined;
        };
        add(known.key, key_type(items[k]));
        if (!is_dict) continue;
        const Value& value = items[k + 1];
        const void* inner = value.type.is_table() ? origin_of(value) : nullptr;
        if (inner && (!known.value || known.inner == inner)) known.value = value.type;
        if (inner) known.inner = inner;
        add(known.value, value.type);
    }
    Value table = empty(&node, is_dict ? TableKind::Dict : TableKind::Set);
    for (std::size_t k = 0; k < items.size(); k += step)
        set(table, items[k], is_dict ? items[k + 1] : Value{});
    return table;
}

Value Tables::copy(const Value& table) {
    if (table.type.is_object_list()) {
        E zero = f_.i64(0);
        return made("list_slice", {handle(table), zero, zero, zero, zero}, table.type, table.list);
    }
    return made("table_merge", {f_.i64(0), handle(table), handle(table)}, table.type, table.list);
}

/// A parameter: where it came empty its types are those of what the function stores.
Value Tables::opened(const Value& parameter, const void* origin, const Type* wanted) {
    if (!parameter.type.items.empty()) return parameter;
    TableItems& items = f_.learnt_.table_items[origin];
    auto kind = static_cast<TableKind>(parameter.type.rank);
    if (wanted && wanted->is_table() && wanted->rank == parameter.type.rank) {
        if (kind != TableKind::List) items.key = wanted->items[0];
        if (kind != TableKind::Set) items.value = wanted->items.back();
    }
    if ((kind != TableKind::List && !items.key) || (kind != TableKind::Set && !items.value))
        f_.guesses_items_ = true;
    std::vector<Type> types;
    if (kind != TableKind::List) types.push_back(items.key.value_or(Type::python(Weak::Int)));
    if (kind != TableKind::Set) types.push_back(items.value.value_or(Type::python(Weak::Int)));
    Type type = Type::table(kind, std::move(types));
    std::vector<E> values{handle(parameter)};
    for (E e : form_of(type)) values.push_back(e);
    std::string code;
    for (const Type& item : type.items) code += table_code(item);
    values.push_back(f_.i64(static_cast<std::int64_t>(code.size())));
    for (E e : Texts(f_, place_).packed(code)) values.push_back(e);
    f_.emit(f_.b_->native("table_become", values, {}));
    f_.table_origins_.push_back(origin);
    return of_handle(handle(parameter), type, static_cast<int>(f_.table_origins_.size()) - 1);
}

// ---- entries

std::vector<E> Tables::key_words(const Value& table, const Value& key, const std::string& role) {
    Type type = key_type(key);
    if (const void* origin = origin_of(table)) {
        if (!f_.learnt_.table_items[origin].key) learn(table, type, nullptr);
    }
    std::vector<E> words{handle(table)};
    put(as_type(key, key_of(table), role), words);
    return words;
}

/// KeyError with the key itself.
void Tables::no_such_key(E condition, const Value& key) {
    Type type = key_type(key);
    Value k = as_type(key, type, "the key");
    int count = words_of(type);
    f_.at(place_);
    std::vector<S> raised = f_.collect([&] {
        std::vector<E> words;
        if (count <= 4) put(k, words);
        std::string text = count <= 4 ? "\1" + table_code(type) : "a key of many parts";
        f_.emit(f_.b_->raise(f_.b_->site(ErrorKind::Runtime, text, exception_number("KeyError")),
                             words));
    });
    f_.emit(f_.b_->branch(condition, f_.b_->block(raised)));
}

static std::size_t count(int n) { return static_cast<std::size_t>(n); }

Value Tables::get(const Value& table, const Value& key) {
    if (table.type.is_object_list())
        return item_at(table, index_of(key), "list index out of range");
    if (!value_of(table) || is_view(table.type))
        refuse("a " + describe(table.type) + " cannot be indexed", "loop over it, or use `in`");
    auto words = key_words(table, key, "a key of this dict");
    auto found = call(for_keys_of(table, "table_get"), words,
                      std::max(words.size(), 1 + count(words_of(*value_of(table)))));
    no_such_key(f_.op_binary(Op::Eq, found[0], f_.i64(0)), key);
    return value_taken(table, found, 1, false);
}

void Tables::set(const Value& table, const Value& key, const Value& given) {
    want_changeable(table);
    const Type* type = value_of(table);
    Value value = type ? storable(given) : given;
    if (table.type.is_object_list()) {
        auto words = item_words(table, value, {handle(table), index_of(key)});
        E outside = call(holds_blocks(*value_of(table)) ? "list_put" : "list_write", words, 1)[0];
        return f_.fault_if(f_.op_binary(Op::Ne, outside, f_.i64(0)), ErrorKind::Index,
                           "list assignment index out of range", place_);
    }
    learn(table, key_type(key), type ? &value : nullptr);
    auto words = key_words(table, key, type ? "a key of this dict" : "an item of this set");
    if (type) put(as_type(value, *type, "a value of this dict"), words);
    const bool gives_up = type && holds_blocks(*type);  // what the value before keeps
    check(call(gives_up ? "table_set" : for_keys_of(table, "table_set"), words, words.size())[0]);
}

void Tables::augment(const Node& node, const Value& table) {
    Value key = f_.held(f_.index_value(node.children[0]));
    Value old;
    std::vector<S> read;
    if (!is_open(table)) old = f_.kept_apart(get(table, key));
    Value change = f_.expression(node.children[1]);
    if (is_open(table)) {
        learn(table, table.type.is_object_list() ? key.type : key_type(key), &change);
        old = get(table, key);
    }
    if (old.type.is_array()) return f_.assign_in_place(node, old, change);
    if (old.type.is_table() && update(node.text, old, change)) {
        // The change may have put another value under the key.
        if (may_act(node.children[1])) set(table, key, old);
        return;
    }
    set(table, key, f_.binary(node.text, old, change, node.place));
}

void Tables::remove(const Value& table, const Value& key) {
    want_changeable(table);
    if (table.type.is_object_list()) {
        take_item(table, key, "list assignment index out of range");
        return;
    }
    auto words = key_words(table, key, "a key");
    auto found = call("table_remove", words, words.size());
    no_such_key(f_.op_binary(Op::Eq, found[0], f_.i64(0)), key);
}

E Tables::size(const Value& table) { return call("table_size", {handle(table)}, 1)[0]; }

E Tables::loop(const Value& table) {
    if (table.type.is_object_list()) return size(table);
    if (f_.parallel_depth_ > 0)
        refuse("a " + describe(table.type) + " cannot be looped over inside of prange",
               "look its keys up, or loop over it in front of the loop");
    return call("table_loop", {handle(table)}, 1)[0];
}

Value Tables::visited(const Value& table, const Value& index) {
    if (table.type.is_object_list())
        return item_at(table, index_of(index), "list changed size during iteration");
    bool is_set = table.type.rank == int(TableKind::Set);
    auto words =
        call("table_row", {handle(table), f_.cast(index.expr, DType::Int64)},
             1 + count(words_of(key_of(table)) + (is_set ? 0 : words_of(*value_of(table)))));
    f_.fault_if(
        f_.op_binary(Op::Ne, words[0], f_.i64(0)), ErrorKind::Runtime,
        is_set ? "Set changed size during iteration" : "dictionary changed size during iteration",
        place_);
    std::size_t at = 1;
    auto kind = static_cast<TableKind>(table.type.rank);
    if (kind == TableKind::Values)
        return value_taken(table, words, 1 + count(words_of(key_of(table))), false);
    Value key = taken(key_of(table), words, at, false);
    if (kind != TableKind::Items) return key;
    return f_.tuple_of({key, value_taken(table, words, at, false)});
}

Value Tables::contains(const Value& item, const Value& table) {
    if (table.type.is_object_list()) {
        E first = find_item(table, item)[0];
        return f_.scalar(f_.op_binary(Op::Ge, first, f_.i64(0)), Weak::Bool);
    }
    auto kind = static_cast<TableKind>(table.type.rank);
    if (kind == TableKind::Values) return f_.contains(item, listed(table), place_);
    if (kind == TableKind::Items)
        refuse("'in' does not look into the items of a dict", "write d.get(key, other) == value");
    // A key of another kind is not there.
    auto fits = [&](const Type& a, const Type& b) {
        return a.kind == b.kind && a.items.size() == b.items.size();
    };
    if (!is_open(table) && !fits(item.type, key_of(table)))
        return f_.scalar(f_.b_->boolean(false), Weak::Bool);
    auto words = key_words(table, item, "a key");
    E found = call(for_keys_of(table, "table_has"), words, 1)[0];
    return f_.scalar(f_.op_binary(Op::Ne, found, f_.i64(0)), Weak::Bool);
}

Value Tables::listed(const Value& table) {
    if (table.type.is_object_list()) return copy(table);
    auto kind = static_cast<TableKind>(table.type.rank);
    E n = f_.settle(loop(table));
    Type item = key_of(table);
    if (kind == TableKind::Values) item = *value_of(table);
    if (kind == TableKind::Items) item = Type::tuple(table.type.items);
    if (!item.is_scalar()) {
        Type type = Type::table(TableKind::List, {item});
        Value list = made("table_new", form_of(type), type);
        f_.list_loop(f_.i64(0), n,
                     [&](E k) { add_item(list, visited(table, f_.scalar(k, Weak::Int))); });
        return list;
    }
    Value list = f_.new_list(item, "list");
    f_.list_loop(f_.i64(0), n,
                 [&](E k) { f_.append(list, visited(table, f_.scalar(k, Weak::Int)), place_); });
    return list;
}

}  // namespace unisono::frontend
