// Methods, operators and comparisons of dicts and sets.
#include <algorithm>

#include "frontend/exceptions.h"
#include "frontend/tables.h"

namespace unisono::frontend {

namespace {

/// As runtime/table_natives.cpp counts them.
constexpr int union_of = 1, intersection_of = 2, difference_of = 3, symmetric_of = 4;

int operation_of(const std::string& name) {
    static const std::map<std::string, int> names = {{"|", union_of},
                                                     {"&", intersection_of},
                                                     {"-", difference_of},
                                                     {"^", symmetric_of},
                                                     {"union", union_of},
                                                     {"intersection", intersection_of},
                                                     {"difference", difference_of},
                                                     {"symmetric_difference", symmetric_of}};
    auto it = names.find(name);
    return it == names.end() ? 0 : it->second;
}

bool is_set(const Value& v) { return v.type.is_table() && v.type.rank == int(TableKind::Set); }
bool is_dict(const Value& v) { return v.type.is_table() && v.type.rank == int(TableKind::Dict); }

}  // namespace

/// A set given to a method: what is none is made one.
Value Tables::other_set(const Value& v, const std::string& method) {
    if (is_set(v)) return v;
    refuse("set." + method + " takes a set in a compiled function; got " + describe(v.type),
           "write set(...) around it");
}

Value Tables::binary(const std::string& op, const Value& a, const Value& b) {
    if (a.type.is_object_list() || b.type.is_object_list()) return list_binary(op, a, b);
    agree(a, b);
    int what = operation_of(op);
    bool fits = a.type == b.type && (is_set(a) ? what != 0 : is_dict(a) && what == union_of);
    if (!fits)
        refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "sets of the same items have | & - ^, dicts of the same types |");
    return made("table_merge", {f_.i64(what), handle(a), handle(b)}, a.type, a.list);
}

bool Tables::update(const std::string& op, const Value& a, const Value& b) {
    if (a.type.is_object_list()) {
        if (op == "+") extend(a, b);
        if (op == "*") {
            want_changeable(a);
            Value more = list_binary(op, a, b);
            call("table_clear", {handle(a)}, 1);
            check(call("list_extend", {handle(a), handle(more)}, 2)[0]);
        }
        return op == "+" || op == "*";
    }
    if (!b.type.is_table()) return false;
    agree(a, b);
    int what = operation_of(op);
    bool fits = a.type == b.type && (is_set(a) ? what != 0 : is_dict(a) && what == union_of);
    if (!fits) return false;
    want_changeable(a);
    check(call("table_update", {f_.i64(what), handle(a), handle(b)}, 1)[0]);
    return true;
}

static bool holds_array(const Type& t) {
    return t.is_array() || std::any_of(t.items.begin(), t.items.end(), holds_array);
}

std::optional<Value> Tables::compare(const std::string& op, const Value& a, const Value& b) {
    bool is_ordering = op != "is" && op != "is not" && op != "in" && op != "not in";
    if (a.type.is_list() && b.type.is_list() && is_ordering) return list_compare(op, a, b);
    if ((op == "is" || op == "is not") && a.type.is_list() && b.type.is_list()) {
        bool is_same = a.list >= 0 && a.list == b.list;
        return f_.scalar(f_.b_->boolean(is_same == (op == "is")), Weak::Bool);
    }
    if (!a.type.is_table() && !b.type.is_table()) return std::nullopt;
    auto known = [&](bool value) { return f_.scalar(f_.b_->boolean(value), Weak::Bool); };
    bool is_negated = op == "!=" || op == "is not";
    auto given = [&](E e) {
        return f_.scalar(is_negated ? f_.op_unary(Op::Not, e) : e, Weak::Bool);
    };
    if (op == "is" || op == "is not") {
        bool may_be = a.type.is_table() && b.type.is_table();
        return may_be ? given(f_.op_binary(Op::Eq, handle(a), handle(b))) : known(is_negated);
    }
    if (a.type.is_object_list() || b.type.is_object_list()) return list_compare(op, a, b);
    agree(a, b);
    bool is_equality = op == "==" || op == "!=";
    if (a.type != b.type) {
        if (is_equality && a.type.kind != b.type.kind) return known(is_negated);
        refuse("'" + op + "' of " + describe(a.type) + " and " + describe(b.type) +
                   " is not supported",
               "compare dicts and sets of the same types");
    }
    if (!(is_set(a) || (is_dict(a) && is_equality)))
        refuse("'" + op + "' of " + describe(a.type) + " is not supported", "write a loop");
    if (holds_array(a.type))
        refuse("dicts of arrays cannot be compared", "compare the arrays of each key");
    auto told = call("table_compare", {handle(a), handle(b)}, 4);
    auto test = [&](int k) {
        return f_.op_binary(Op::Ne, told[static_cast<std::size_t>(k)], f_.i64(0));
    };
    if (is_equality) return given(test(0));
    E inside = test(op[0] == '<' ? 1 : 2);
    if (op.size() == 2) return f_.scalar(inside, Weak::Bool);
    return f_.scalar(f_.op_binary(Op::And, inside, f_.op_unary(Op::Not, test(0))), Weak::Bool);
}

/// A method of sets and dicts written in Python (set_library.py): where it is given what is no set
/// or dict; nothing for any other.
std::optional<Value> Tables::by_library(const Node& node, const Value& table,
                                        const std::vector<Value>& args) {
    const Node& callee = node.children[0];
    if (callee.children.size() < 2 || args.empty()) return std::nullopt;
    auto is_other = [&](const Value& v) {
        return !v.type.is_table() || v.type.rank != table.type.rank;
    };
    if (std::none_of(args.begin(), args.end(), is_other)) return std::nullopt;
    const bool changes = callee.text == "update";
    const Source* method = function_of(f_.source_, callee.children[1]);
    if (!method) return std::nullopt;
    std::vector<Value> others;
    for (const Value& v : args) others.push_back(f_.held(f_.all_made(v, place_)));
    Value made = table;
    for (const Value& other : others) {
        Value result = f_.call_with(node, *method, {made, other});
        if (!changes) made = result;
    }
    return changes ? Value{} : made;
}

Value Tables::method(const Node& node, const Value& table) {
    if (table.type.is_object_list()) return list_method(node, table);
    const std::string& name = node.children[0].text;
    auto kind = static_cast<TableKind>(table.type.rank);
    bool of_set = kind == TableKind::Set;
    std::string owner = of_set ? "set." : "dict.";
    // An empty one is made only where it is needed.
    const Node* lazy = nullptr;
    bool is_default = name == "setdefault" && node.children.size() == 3;
    if (is_default && node.children[2].children.empty() &&
        (node.children[2].kind == NodeKind::Dict || node.children[2].kind == NodeKind::Set))
        lazy = &node.children[2];
    std::vector<Value> args;
    if (lazy) {
        args.push_back(f_.expression(node.children[1]));
    } else {
        args = f_.arguments(node, name == "setdefault" || name == "get");
    }
    if (auto v = by_library(node, table, args)) return *v;
    for (Value& v : args) v = storable(v);
    f_.at(place_);
    auto want = [&](std::size_t least, std::size_t most) {
        if (args.size() >= least && args.size() <= most) return;
        refuse(owner + name + " takes " + std::to_string(least) +
                   (most > least ? " or " + std::to_string(most) : "") + " arguments; got " +
                   std::to_string(args.size()),
               "write it as in Python");
    };
    auto unknown = [&] {
        refuse("method '" + name + "' of a " + describe(table.type) +
                   " is not supported in a compiled function",
               of_set ? "sets have add, discard, remove, pop, clear, copy, update, union, "
                        "intersection, difference, symmetric_difference, issubset, issuperset and "
                        "isdisjoint"
                      : "dicts have get, pop, popitem, setdefault, update, keys, values, items, "
                        "copy and clear");
    };
    if (kind != TableKind::Dict && kind != TableKind::Set) unknown();
    if (name == "clear") {
        want(0, 0);
        want_changeable(table);
        call("table_clear", {handle(table)}, 1);
        return {};
    }
    if (name == "copy") {
        want(0, 0);
        return copy(table);
    }
    std::size_t keys = static_cast<std::size_t>(words_of(key_of(table)));
    std::size_t values = value_of(table) ? static_cast<std::size_t>(words_of(*value_of(table))) : 0;
    if ((of_set && name == "pop") || (!of_set && name == "popitem")) {
        want(0, 0);
        want_changeable(table);
        auto words = call("table_take", {handle(table), f_.i64(!of_set)}, 2 + keys + values);
        std::string text = of_set ? "pop from an empty set" : "popitem(): dictionary is empty";
        f_.at(place_);
        S raised =
            f_.b_->raise(f_.b_->site(ErrorKind::Runtime, text, exception_number("KeyError")), {});
        f_.emit(f_.b_->branch(f_.op_binary(Op::Eq, words[0], f_.i64(0)), f_.b_->block({raised})));
        std::size_t at = 1;
        Value key = taken(key_of(table), words, at, true);
        return of_set ? key : f_.tuple_of({key, value_taken(table, words, at, true)});
    }
    if (name == "update") {
        want(1, 1);
        if (!update("|", table, args[0]))
            refuse(owner + "update takes a " + describe(table.type) + " here; got " +
                       describe(args[0].type),
                   of_set ? "write set(...) around it" : "store the entries in a loop");
        return {};
    }
    if (of_set) {
        if (name == "add") {
            want(1, 1);
            set(table, args[0], {});
            return {};
        }
        if (name == "remove") {
            want(1, 1);
            remove(table, args[0]);
            return {};
        }
        if (name == "discard") {
            want(1, 1);
            want_changeable(table);
            auto words = key_words(table, args[0], "an item of this set");
            call("table_remove", words, words.size());
            return {};
        }
        if (const int operation = operation_of(name)) {
            const char* op[] = {"", "|", "&", "-", "^"};
            want(1, operation == 4 ? 1 : 16);
            Value made = table;
            for (const Value& arg : args) made = binary(op[operation], made, other_set(arg, name));
            return made;
        }
        if (name == "issubset" || name == "issuperset") {
            want(1, 1);
            return *compare(name == "issubset" ? "<=" : ">=", table, other_set(args[0], name));
        }
        if (name == "isdisjoint") {
            want(1, 1);
            Value other = other_set(args[0], name);
            agree(table, other);
            if (other.type != table.type) unknown();
            auto told = call("table_compare", {handle(table), handle(other)}, 4);
            return f_.scalar(f_.op_binary(Op::Ne, told[3], f_.i64(0)), Weak::Bool);
        }
        unknown();
    }
    bool is_view = name == "keys" || name == "values" || name == "items";
    if (is_view) {
        want(0, 0);
        Value v = table;
        v.type.rank = int(name == "keys"     ? TableKind::Keys
                          : name == "values" ? TableKind::Values
                                             : TableKind::Items);
        return v;
    }
    if (name != "get" && name != "pop" && name != "setdefault") unknown();
    if (lazy) {
        auto words = key_words(table, args[0], "a key of this dict");
        auto found =
            call(for_keys_of(table, "table_get"), words, std::max(words.size(), 1 + values));
        f_.at(place_);
        std::vector<S> made = f_.collect([&] {
            Value fresh = f_.expression(*lazy);
            set(table, args[0], fresh);
            f_.emit(f_.b_->assign(found[1]->id, handle(fresh)));
        });
        f_.emit(f_.b_->branch(f_.op_binary(Op::Eq, found[0], f_.i64(0)), f_.b_->block(made)));
        return value_taken(table, found, 1, false);
    }
    want(1, 2);
    if (args.size() == 1 && name == "get") {
        auto words = key_words(table, args[0], "a key of this dict");
        auto found =
            call(for_keys_of(table, "table_get"), words, std::max(words.size(), 1 + values));
        Value maybe;
        maybe.type = Type::optional(*value_of(table));
        maybe.items = {f_.scalar(f_.op_binary(Op::Ne, found[0], f_.i64(0)), Weak::Bool),
                       value_taken(table, found, 1, false)};
        return maybe;
    }
    if (args.size() == 1 && name != "pop")
        refuse("dict." + name + " without a default gives None where there is no such key",
               "give a default, as in d." + name + "(key, 0)");
    if (name != "get") want_changeable(table);
    bool is_pop = name == "pop";
    if (args.size() == 1) {
        auto words = key_words(table, args[0], "a key of this dict");
        auto found = call("table_pop", words, std::max(words.size(), 1 + values));
        no_such_key(f_.op_binary(Op::Eq, found[0], f_.i64(0)), args[0]);
        return value_taken(table, found, 1, true);
    }
    Value otherwise = f_.kept_apart(args[1]), key = f_.kept_apart(args[0]);
    if (name == "setdefault" || is_open(table)) learn(table, key_type(key), &otherwise);
    // As in `x if ... else y`, numbers of two kinds become floats.
    bool is_wider = name != "setdefault" && otherwise.type == Type::python(Weak::Float) &&
                    *value_of(table) == Type::python(Weak::Int);
    auto words = key_words(table, key, "a key of this dict");
    if (is_wider) {
        auto got = call(is_pop ? "table_pop" : for_keys_of(table, "table_get"), words,
                        std::max(words.size(), 1 + values));
        return f_.choose(
            f_.op_binary(Op::Ne, got[0], f_.i64(0)),
            [&] { return value_taken(table, got, 1, is_pop); }, [&] { return otherwise; }, place_);
    }
    otherwise = as_type(otherwise, *value_of(table), "a value of this dict");
    auto found = call(is_pop ? "table_pop" : for_keys_of(table, "table_get"), words,
                      std::max(words.size(), 1 + values));
    std::vector<S> absent = f_.collect([&] {
        if (name == "setdefault") set(table, key, otherwise);
        std::vector<E> others;
        put(otherwise, others);
        for (std::size_t k = 0; k < others.size(); ++k)
            f_.emit(f_.b_->assign(found[1 + k]->id, others[k]));
    });
    f_.emit(f_.b_->branch(f_.op_binary(Op::Eq, found[0], f_.i64(0)), f_.b_->block(absent)));
    // Of an array that was there get makes a reference; a default has one already.
    bool is_owned = is_pop;
    if (!is_pop && holds_array(*value_of(table)))
        refuse("dict." + name + " of arrays is not supported", "ask with `in` first");
    return value_taken(table, found, 1, is_owned);
}

}  // namespace unisono::frontend
