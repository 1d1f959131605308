// The types of dicts and sets, which come from what is stored in them.
#include "frontend/tables.h"

namespace unisono::frontend {

/// Numbers of keys are Python's.
Type Tables::key_type(const Value& key) {
    const Type& t = key.type;
    if (t.is_text() || t.kind == Type::Kind::None) return t;
    if (t.is_complex()) return Type::python(Weak::Complex);
    if (t.is_scalar())
        return Type::python(is_bool(t.dtype)    ? Weak::Bool
                            : is_float(t.dtype) ? Weak::Float
                                                : Weak::Int);
    if (t.is_tuple() || t.is_record()) {
        Type made = t;
        for (std::size_t k = 0; k < key.items.size(); ++k) made.items[k] = key_type(key.items[k]);
        return made;
    }
    refuse("a key must be a number, a text or a tuple of these; got " + describe(t),
           t.is_array() ? "use a tuple of its elements" : "use another key");
}

/// Whether its types are not known yet.
bool Tables::is_open(const Value& table) const {
    const void* origin = origin_of(table);
    if (!origin) return false;
    auto found = f_.learnt_.table_items.find(origin);
    if (found == f_.learnt_.table_items.end()) return true;
    bool needs_key = !table.type.is_object_list() && !found->second.key;
    return needs_key || (value_of(table) && !found->second.value);
}

void Tables::learn_type(const void* origin, std::optional<Type>& known, const Type& type) {
    auto joined = known ? join(*known, type) : std::optional(type);
    if (!origin || !joined || known == joined) return;
    known = joined;
    f_.learnt_.guesses.clear();
    throw Restart{};
}

/// Notes what is stored; where that is news the function starts again.
void Tables::learn(const Value& table, const Type& key, const Value* value) {
    const void* origin = origin_of(table);
    if (!origin) return;
    TableItems& items = f_.learnt_.table_items[origin];
    if (value) {
        const void* inner = value->type.is_table() ? origin_of(*value) : nullptr;
        if (!items.value || (inner && inner == items.inner && *items.value != value->type)) {
            items.inner = inner;
            items.value = value->type;
            if (!items.key && !table.type.is_object_list()) items.key = key;
            f_.learnt_.guesses.clear();
            throw Restart{};
        }
        learn_type(origin, items.value, value->type);
    }
    if (!table.type.is_object_list()) learn_type(origin, items.key, key);
}

/// The value with that type, which it must fit.
Value Tables::as_type(const Value& given, const Type& t, const std::string& role) {
    if (given.type == t && !t.is_table()) return given;
    if (t.is_optional() && !given.type.is_none()) {
        bool may_be_none = given.type.is_optional();
        Value there = as_type(may_be_none ? given.items[1] : given, t.items[1], role);
        if (!may_be_none) return f_.as_optional(there, t);
        Value v = given;
        v.type = t;
        v.items[1] = there;
        return v;
    }
    if (t.is_optional()) return f_.as_optional(given, t);
    if (t.is_object_list() && given.type.is_list()) return as_type(storable(given), t, role);
    auto wrong = [&] {
        refuse(
            role + " is " + describe(t) + " here; got " + describe(given.type),
            "give all one type, or annotate it where it is made, as in d: dict[str, float] = {}");
    };
    Value v = given;
    if (t.is_scalar() && given.type.is_scalar()) {
        auto order = [](const Type& x) {
            return is_complex(x.dtype) ? 3 : is_float(x.dtype) ? 2 : is_bool(x.dtype) ? 0 : 1;
        };
        bool fits = order(given.type) <= order(t) &&
                    (order(t) == 0 || order(given.type) > 0 || t.weak != Weak::None);
        if (!fits) wrong();
        v.expr = f_.cast(given.expr, t.dtype);
    } else if (t.is_table() && given.type.is_table()) {
        return declared(given, t, role);
    } else if ((t.is_tuple() || t.is_record()) && given.type.kind == t.kind &&
               given.type.record == t.record && given.items.size() == t.items.size()) {
        for (std::size_t k = 0; k < t.items.size(); ++k)
            v.items[k] = as_type(given.items[k], t.items[k], role);
    } else {
        auto joined = join(t, given.type);
        if (!joined || *joined != t) wrong();
    }
    v.type = t;
    return v;
}

Value Tables::declared(const Value& table, const Type& wanted, const std::string& role) {
    if (table.type == wanted) return table;
    const void* origin = origin_of(table);
    if (origin && table.type.is_table() && table.type.rank == wanted.rank) {
        TableItems& items = f_.learnt_.table_items[origin];
        std::optional<Type> key, value;
        if (!wanted.is_object_list()) key = wanted.items[0];
        if (wanted.is_object_list() || wanted.items.size() > 1) value = wanted.items.back();
        auto fits = [](const std::optional<Type>& known, const std::optional<Type>& type) {
            return !known || (type && join(*known, *type) == type);
        };
        if (fits(items.key, key) && fits(items.value, value)) {
            items.key = key;
            items.value = value;
            f_.learnt_.guesses.clear();
            throw Restart{};
        }
    }
    refuse(role + " is declared as " + describe(wanted) + "; got " + describe(table.type),
           "make it with entries of the types declared");
}

void Tables::agree(const Value& a, const Value& b) {
    if (!a.type.is_table() || !b.type.is_table() || a.type.rank != b.type.rank) return;
    if (a.type == b.type) {
        if (is_open(a) == is_open(b)) return;
        // What was a guess so far is known to be right: `in` looks for items from here on.
        TableItems& items = f_.learnt_.table_items[origin_of(is_open(a) ? a : b)];
        if (!a.type.is_object_list()) items.key = a.type.items[0];
        if (value_of(a)) items.value = *value_of(a);
        f_.learnt_.guesses.clear();
        throw Restart{};
    }
    if (is_open(a) && !is_open(b)) declared(a, b.type, "a dict");
    if (is_open(b) && !is_open(a)) declared(b, a.type, "a dict");
}

Value Tables::agreed(const Value& result, const Type& elsewhere) {
    if (result.type.is_table() && is_open(result) && result.type.rank == elsewhere.rank)
        return declared(result, elsewhere, "the result");
    return result;
}

}  // namespace unisono::frontend
