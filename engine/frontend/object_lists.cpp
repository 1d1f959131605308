// Lists whose items are no numbers, or which others hold: texts, tuples, arrays, objects, lists.
//
// They are tables without keys: known by address, shared by the names that hold them, and copied in
// and back where they are passed. A list of numbers that something else is to hold becomes one of
// these where it is written.
#include <algorithm>
#include <limits>

#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

Value Tables::list_of(const void* origin, const std::vector<Value>& given) {
    std::vector<Value> items;
    for (const Value& v : given) items.push_back(f_.kept_apart(storable(v)));
    TableItems& known = f_.learnt_.table_items[origin];
    for (const Value& item : items) {
        const void* inner = item.type.is_table() ? origin_of(item) : nullptr;
        if (inner && (!known.value || known.inner == inner)) known.value = item.type;
        if (inner) known.inner = inner;
        auto joined = known.value ? join(*known.value, item.type) : std::optional(item.type);
        if (joined) known.value = joined;
    }
    Value list = empty(origin, TableKind::List);
    for (const Value& item : items) add_item(list, item);
    return list;
}

Value Tables::storable(const Value& given) {
    if (!given.type.is_list()) {
        Value v = f_.made(given, place_);
        for (std::size_t k = 0; k < v.items.size(); ++k) {
            v.items[k] = storable(v.items[k]);
            v.type.items[k] = v.items[k].type;
        }
        return v;
    }
    if (is_byte_list(given.type) && given.type.items[0].name == "bytes") {
        Value kept = f_.copied(f_.as_array(given), place_);
        kept.type.weak = Weak::Int;
        kept.type.writable = false;
        return kept;
    }
    if (is_byte_list(given.type))
        refuse(describe(given.type) +
                   " is not kept by lists, dicts and objects in a compiled function",
               "keep a list of its items, as in list(x)");
    const Node* literal =
        given.list < 0 ? nullptr : f_.lists_[static_cast<std::size_t>(given.list)].literal;
    if (literal) {
        auto known = f_.learnt_.list_items.find(literal);
        if (known != f_.learnt_.list_items.end())
            f_.learnt_.table_items[literal].value = known->second;
        f_.box_literal(literal);
    }
    bool is_named = given.list < 0;
    for (const auto& [name, b] : f_.env_.names)
        is_named = is_named || (b.value.type.is_list() && b.value.list == given.list);
    if (is_named) f_.box_names(given);
    if (is_named)
        refuse(
            "a list of numbers that has a name, or was passed to the function, cannot be stored in "
            "another object",
            "store a copy, as in list(x)");
    Type type = Type::table(TableKind::List, {given.type.items[0]});
    Value list = made("table_new", form_of(type), type);
    Value array = f_.as_array(given);
    const DType t = array.type.dtype;
    if (t == DType::Int64 || t == DType::Float64 || is_bool(t)) {
        E count = f_.settle(f_.list_length(given));
        E address = f_.temporary(f_.address_of(array), "address");
        check(call("list_numbers", {handle(list), address, count, f_.i64(is_bool(t))}, 1)[0]);
        return list;
    }
    f_.list_loop(f_.i64(0), f_.settle(f_.list_length(given)), [&](E k) {
        E item = f_.b_->load(array.array, {k}, ir::Access::Inside);
        Value v;
        v.type = given.type.items[0];
        v.expr = item;
        add_item(list, v);
    });
    return list;
}

Value Tables::numbers(const Value& list, bool for_array) {
    // NumPy's array of no items is one of floats.
    bool is_float = for_array && is_open(list);
    Value made = f_.new_list(is_float ? Type::python(Weak::Float) : list.type.items[0], "list");
    if (is_float) return made;
    f_.list_loop(f_.i64(0), f_.settle(size(list)), [&](E k) {
        f_.append(made, item_at(list, k, "list changed size during iteration"), place_);
    });
    return made;
}

E Tables::index_of(const Value& index) {
    f_.want_scalar(index, place_, "an index");
    if (is_float(index.type.dtype) || index.type.is_complex())
        refuse("an index of a list must be an integer; got " + describe(index.type),
               "convert it with int(...)");
    return f_.settle(f_.cast(index.expr, DType::Int64));
}

/// Words of an item behind others; what the list holds is learnt.
std::vector<E> Tables::item_words(const Value& list, const Value& given, std::vector<E> words) {
    Value item = storable(given);
    learn(list, item.type, &item);
    put(as_type(item, *value_of(list), "an item of this list"), words);
    return words;
}

void Tables::add_item(const Value& list, const Value& item) {
    want_changeable(list);
    auto words = item_words(list, item, {handle(list)});
    check(call("list_append", words, words.size())[0]);
}

Value Tables::item_at(const Value& list, E index, const std::string& message) {
    auto words = call("list_item", {handle(list), index},
                      1 + static_cast<std::size_t>(words_of(*value_of(list))));
    f_.fault_if(f_.op_binary(Op::Ne, words[0], f_.i64(0)), ErrorKind::Index, message, place_);
    return value_taken(list, words, 1, false);
}

Value Tables::take_item(const Value& list, const Value& index, const std::string& message) {
    want_changeable(list);
    std::size_t room =
        std::max<std::size_t>(2, 1 + static_cast<std::size_t>(words_of(*value_of(list))));
    auto words = call("list_take", {handle(list), index_of(index)}, room);
    f_.fault_if(f_.op_binary(Op::Ne, words[0], f_.i64(0)), ErrorKind::Index, message, place_);
    return value_taken(list, words, 1, true);
}

/// Whether numbers of kind b do not hold all of kind a.
bool Tables::kind_above(const Type& a, const Type& b) {
    auto order = [](const Type& t) {
        return t.is_complex() ? 3 : is_float(t.dtype) ? 2 : is_bool(t.dtype) ? 0 : 1;
    };
    return order(a) > order(b) || (order(a) == 0) != (order(b) == 0);
}

/// Where an item is first, and how often.
std::vector<E> Tables::find_item(const Value& list, const Value& given) {
    const Type& type = *value_of(list);
    Value item = storable(given);
    if (type.is_optional() && join(type, item.type) == type)
        item = as_type(item, type, "an item of this list");
    bool fits = item.type.kind == type.kind && item.type.items.size() == type.items.size();
    if (fits && item.type.is_scalar() && kind_above(item.type, type)) fits = false;
    if (!fits || is_open(list)) return {f_.i64(-1), f_.i64(0)};
    if (type.is_array())
        refuse("arrays are not looked for in a list", "loop over it, and compare with np.all");
    std::vector<E> words{handle(list)};
    put(as_type(item, type, "what is looked for"), words);
    auto found = call("list_find", words, std::max<std::size_t>(2, words.size()));
    return {found[0], found[1]};
}

/// The list, and begin, end and step with which of them are given.
std::vector<E> Tables::slice_words(const Value& list, const Node& node) {
    std::vector<E> values{handle(list)};
    std::int64_t given = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        Value bound = f_.expression(node.children[k]);
        bool is_there = bound.type.kind != Type::Kind::None;
        given |= is_there ? std::int64_t{1} << k : 0;
        values.push_back(is_there ? index_of(bound) : f_.i64(0));
    }
    if (given & 4) {
        f_.fault_if(f_.op_binary(Op::Eq, values[3], f_.i64(0)), ErrorKind::Value,
                    "slice step cannot be zero", place_);
    }
    values.push_back(f_.i64(given));
    return values;
}

Value Tables::slice(const Value& list, const Node& node) {
    return made("list_slice", slice_words(list, node), list.type, list.list);
}

void Tables::assign_slice(const Value& list, const Node& node, const Value* items) {
    want_changeable(list);
    if (!items) return check(call("list_remove", slice_words(list, node), 5)[0]);
    Value more = *items;
    if (more.type.is_text()) more = Texts(f_, place_).characters(more);
    bool has_items = more.type.is_table() || more.type.is_list() || more.type.is_tuple() ||
                     (more.type.is_array() && more.type.rank == 1);
    if (!has_items)
        refuse("a slice of a list takes items; got " + describe(more.type),
               "assign a list, as in xs[1:3] = [x]");
    // Its items under the list's own type: what is empty so far learns it.
    Value fresh = made("table_new", form_of(list.type), list.type, list.list);
    bool is_plain = more.type.is_object_list() || more.type.is_tuple();
    const Node* literal = more.type.is_list() && more.list >= 0
                              ? f_.lists_[static_cast<std::size_t>(more.list)].literal
                              : nullptr;
    // Nothing was ever put into it: what its items are is open.
    const bool is_empty = literal && literal->kind == NodeKind::List && literal->children.empty() &&
                          !f_.learnt_.list_items.count(literal);
    if (!is_empty) extend(fresh, is_plain ? more : f_.list_value(more, place_));
    std::vector<E> values = slice_words(list, node);
    values.push_back(handle(fresh));
    auto told = call("list_assign", values, 6);
    f_.fault_if(f_.op_binary(Op::Eq, told[0], f_.i64(1)), ErrorKind::Value,
                "attempt to assign sequence of size {0} to extended slice of size {1}", place_,
                {size(fresh), told[1]});
    check(told[0]);
}

void Tables::extend(const Value& list, const Value& more) {
    want_changeable(list);
    if (more.type.is_tuple()) {
        for (const Value& item : more.items) add_item(list, item);
        return;
    }
    bool is_text = more.type.is_text();
    if (!more.type.is_object_list() && (more.type.is_table() || more.type.is_list() || is_text)) {
        if (is_text) refuse("a list is not extended by a str", "append it, or loop over it");
        return extend(list, storable(more.type.is_list() ? listed_copy(more) : listed(more)));
    }
    agree(list, more);
    const Type &ours = *value_of(list), &theirs = *value_of(more);
    if (ours.is_optional() && ours.items[1] == theirs) {
        E n = f_.settle(size(more));
        f_.list_loop(f_.i64(0), n,
                     [&](E k) { add_item(list, visited(more, f_.scalar(k, Weak::Int))); });
        return;
    }
    if (more.type != list.type)
        refuse("a " + describe(list.type) + " cannot be extended by " + describe(more.type),
               "extend it by a list or tuple of the same items");
    check(call("list_extend", {handle(list), handle(more)}, 2)[0]);
}

void Tables::order_items(const Value& list, E how) {
    check(call("list_order", {handle(list), how}, 2)[0]);
}

Value Tables::list_binary(const std::string& op, const Value& a, const Value& b) {
    if (op == "*") {
        const Value &list = a.type.is_object_list() ? a : b,
                    &times = a.type.is_object_list() ? b : a;
        return made("list_repeat", {handle(list), index_of(times)}, list.type, list.list);
    }
    bool are_lists = (a.type.is_object_list() || a.type.is_list()) &&
                     (b.type.is_object_list() || b.type.is_list());
    if (op != "+" || !are_lists)
        refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "lists of the same items can be joined; use arrays for arithmetic");
    Value list = a.type.is_list() ? storable(listed_copy(a)) : copy(a);
    extend(list, b.type.is_list() ? storable(listed_copy(b)) : b);
    return list;
}

/// A list of numbers that nothing else refers to.
Value Tables::listed_copy(const Value& list) { return f_.list_value(list, place_); }

static bool holds_array(const Type& t) {
    return t.is_array() || std::any_of(t.items.begin(), t.items.end(), holds_array);
}

/// Lists of numbers of two types: the first that differ decide, else the lengths do.
Value Tables::compare_numbers(const std::string& op, const Value& x, const Value& y) {
    E n = f_.settle(size(x)), m = f_.settle(size(y));
    auto holds = [&](const std::string& how, const Value& a, const Value& b) {
        return f_.truth(f_.compare_two(how, a, b, place_), place_);
    };
    std::int32_t result = f_.b_->var("holds", DType::Bool);
    f_.emit(f_.b_->declare(result, holds(op, f_.scalar(n, Weak::Int), f_.scalar(m, Weak::Int))));
    f_.list_loop(f_.i64(0), f_.op_binary(Op::Min, n, m), [&](E k) {
        Value place = f_.scalar(k, Weak::Int);
        Value a = f_.kept_apart(visited(x, place)), b = f_.kept_apart(visited(y, place));
        std::vector<S> differ = f_.collect([&] {
            f_.emit(f_.b_->assign(result, holds(op, a, b)));
            f_.emit(f_.b_->leave());
        });
        f_.emit(f_.b_->branch(holds("!=", a, b), f_.b_->block(differ)));
    });
    return f_.scalar(f_.b_->read(result), Weak::Bool);
}

Value Tables::list_compare(const std::string& op, const Value& a, const Value& b) {
    bool is_equality = op == "==" || op == "!=";
    auto known = [&](bool value) { return f_.scalar(f_.b_->boolean(value), Weak::Bool); };
    auto as_objects = [&](const Value& v) {
        return v.type.is_list() ? storable(listed_copy(v)) : v;
    };
    Value x = as_objects(a), y = as_objects(b);
    agree(x, y);
    if (x.type != y.type) {
        if (is_equality && !(x.type.is_object_list() && y.type.is_object_list()))
            return known(op == "!=");
        auto are_numbers = [](const Value& v) {
            return v.type.is_object_list() && v.type.items.back().is_scalar();
        };
        if (are_numbers(x) && are_numbers(y)) return compare_numbers(op, x, y);
        refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "compare lists of the same items");
    }
    if (holds_array(x.type))
        refuse("lists of arrays cannot be compared", "compare the arrays in a loop");
    auto told = call("list_compare", {handle(x), handle(y)}, 2);
    Op how = op == "<"    ? Op::Lt
             : op == "<=" ? Op::Le
             : op == ">"  ? Op::Gt
             : op == ">=" ? Op::Ge
             : op == "==" ? Op::Eq
                          : Op::Ne;
    return f_.scalar(f_.op_binary(how, told[1], f_.i64(0)), Weak::Bool);
}

Value Tables::texts_made(E handle) {
    return of_handle(handle, Type::table(TableKind::List, {Type::text()}));
}

Value Tables::joined(const Value& list, const Value& separator) {
    Texts texts(f_, place_);
    return texts.checked("list_join", {handle(list), texts.handle(separator)});
}

/// list.sort(key=f, reverse=True)
void Tables::sort_list(const Node& node, const Value& list) {
    want_changeable(list);
    E how = f_.i64(0);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        const Node& arg = node.children[i];
        if (arg.kind != NodeKind::Keyword || arg.text != "reverse")
            refuse("list.sort takes reverse= in a compiled function",
                   "write a = sorted(a, key=...)");
        how = f_.settle(f_.cast(f_.truth(f_.expression(arg.children[0]), place_), DType::Int64));
    }
    const Type& item = *value_of(list);
    if (item.is_optional() && !item.items[1].is_instance() && !holds_array(item)) {
        // What is sorted without a fault has no None in it, but for a list of None alone.
        E n = f_.settle(size(list)), falls = f_.op_binary(Op::Ne, how, f_.i64(0));
        f_.list_loop(f_.i64(1), n, [&](E k) {
            auto at = [&](E place) {
                E back = f_.op_binary(Op::Sub, f_.op_binary(Op::Sub, n, f_.i64(1)), place);
                E where = f_.b_->select(falls, back, place);
                return visited(list, f_.scalar(f_.settle(where), Weak::Int));
            };
            Value before = at(f_.op_binary(Op::Sub, k, f_.i64(1)));
            f_.present_operands("<", at(k), before, place_);
        });
        return order_items(list, how);
    }
    if (holds_array(list.type) || item.is_instance() || item.is_optional())
        refuse("items of type " + describe(item) + " have no order",
               "write a = sorted(a, key=...)");
    order_items(list, how);
}

Value Tables::list_method(const Node& node, const Value& list) {
    const std::string& name = node.children[0].text;
    if (name == "sort") {
        sort_list(node, list);
        return {};
    }
    bool takes_none = name != "pop" && name != "extend";
    std::vector<Value> args = f_.arguments(node, takes_none);
    f_.at(place_);
    auto want = [&](std::size_t least, std::size_t most) {
        if (args.size() >= least && args.size() <= most) return;
        refuse("list." + name + " takes " + std::to_string(least) +
                   (most > least ? " or " + std::to_string(most) : "") + " arguments; got " +
                   std::to_string(args.size()),
               "write it as in Python");
    };
    if (name == "append") {
        want(1, 1);
        add_item(list, args[0]);
        return {};
    }
    if (name == "extend") {
        want(1, 1);
        extend(list, args[0]);
        return {};
    }
    if (name == "insert") {
        want(2, 2);
        want_changeable(list);
        auto words = item_words(list, args[1], {handle(list), index_of(args[0])});
        check(call("list_insert", words, words.size())[0]);
        return {};
    }
    if (name == "pop") {
        want(0, 1);
        f_.fault_if(f_.op_binary(Op::Eq, size(list), f_.i64(0)), ErrorKind::Index,
                    "pop from empty list", place_);
        Value last = f_.scalar(f_.i64(-1), Weak::Int);
        return take_item(list, args.empty() ? last : args[0], "pop index out of range");
    }
    if (name == "clear") {
        want(0, 0);
        want_changeable(list);
        call("table_clear", {handle(list)}, 1);
        return {};
    }
    if (name == "copy") {
        want(0, 0);
        return copy(list);
    }
    if (name == "reverse") {
        want(0, 0);
        want_changeable(list);
        order_items(list, f_.i64(2));
        return {};
    }
    if (name == "index" || name == "count" || name == "remove") {
        want(1, 1);
        bool is_remove = name == "remove";
        if (is_remove) want_changeable(list);
        auto found = find_item(list, args[0]);
        if (name == "count") return f_.scalar(found[1], Weak::Int);
        f_.fault_if(f_.op_binary(Op::Lt, found[0], f_.i64(0)), ErrorKind::Value,
                    "list." + name + "(x): x not in list", place_);
        Value at = f_.scalar(found[0], Weak::Int);
        if (!is_remove) return at;
        take_item(list, at, "list index out of range");
        return {};
    }
    refuse("method '" + name + "' of a " + describe(list.type) +
               " is not supported in a compiled function",
           "lists have append, extend, insert, pop, clear, copy, reverse, sort, index, count and "
           "remove");
}

}  // namespace unisono::frontend
