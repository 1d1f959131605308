// Lowers subscripts of tuples.
#include <algorithm>

#include "frontend/expressions.h"
#include "frontend/texts.h"
#include "frontend/tuples.h"

namespace unisono::frontend {

static bool is_chosen(const Type& t) {
    bool holds = t.is_scalar() || t.is_text() || t.is_tuple() || t.is_record();
    return holds && std::all_of(t.items.begin(), t.items.end(), is_chosen);
}

/// The type that holds any item; nothing where they differ.
static std::optional<Type> held_items(const Type& tuple) {
    std::optional<Type> type = tuple.items[0];
    for (const Type& item : tuple.items) type = type ? join(*type, item) : type;
    return type;
}

/// The same; nothing where values cannot be selected from without a branch.
static std::optional<Type> joined_items(const Type& tuple) {
    std::optional<Type> type = held_items(tuple);
    return type && is_chosen(*type) ? type : std::nullopt;
}

bool has_one_type(const Type& tuple) { return tuple.items.empty() || joined_items(tuple); }

bool has_arrays_alike(const Type& tuple) {
    auto type = tuple.items.empty() ? std::nullopt : held_items(tuple);
    return type && type->is_array();
}

/// An item of a tuple by an index that is not known: a chain of choices.
std::optional<Value> Expressions::tuple_item(const Value& tuple, const Value& index,
                                             const Place& place) {
    if (tuple.items.empty()) {
        fault_if(b_->boolean(true), ErrorKind::Index, "tuple index out of range", place);
        return scalar(i64(0), Weak::Int);
    }
    std::optional<Type> type = held_items(tuple.type);
    bool is_array = type && type->is_array() && !source_.is_kernel;
    if (!type || !(is_array || is_chosen(*type)) || !is_integer(index.type.dtype))
        return std::nullopt;
    auto size = static_cast<std::int64_t>(tuple.items.size());
    E i = settle(cast(index.expr, DType::Int64));
    E outside =
        op_binary(Op::Or, op_binary(Op::Lt, i, i64(-size)), op_binary(Op::Ge, i, i64(size)));
    fault_if(outside, ErrorKind::Index, "tuple index out of range", place);
    if (is_array) {
        E from_front =
            settle(b_->select(op_binary(Op::Lt, i, i64(0)), op_binary(Op::Add, i, i64(size)), i));
        std::function<Value(std::int64_t)> from = [&](std::int64_t k) {
            const Value& item = tuple.items[static_cast<std::size_t>(k)];
            if (k + 1 == size) return item;
            return choose(
                op_binary(Op::Eq, from_front, i64(k)), [&] { return item; },
                [&] { return from(k + 1); }, place);
        };
        return from(0);
    }
    std::function<Value(const std::vector<Value>&, const Type&)> chosen =
        [&](const std::vector<Value>& items, const Type& t) {
            Value v;
            v.type = t;
            for (std::size_t m = 0; m < t.items.size(); ++m) {
                std::vector<Value> parts;
                for (const Value& item : items) parts.push_back(item.items[m]);
                v.items.push_back(chosen(parts, t.items[m]));
            }
            if (!t.is_word()) return v;
            for (std::int64_t k = 0; k < size; ++k) {
                const Value& one = items[static_cast<std::size_t>(k)];
                E item = t.is_text() ? Texts(*this, place).handle(one) : cast(one.expr, t.dtype);
                E here = op_binary(Op::Or, op_binary(Op::Eq, i, i64(k)),
                                   op_binary(Op::Eq, i, i64(k - size)));
                v.expr = k == 0 ? item : b_->select(here, item, v.expr);
            }
            return v;
        };
    return chosen(tuple.items, *type);
}

/// Some items of a tuple; the bounds are constants.
Value Expressions::tuple_slice(const Node& node, const Value& tuple) {
    std::int64_t bounds[3] = {0, 0, 1};
    bool is_given[3] = {};
    for (int k = 0; k < 3; ++k) {
        Value v = expression(node.children[1].children[static_cast<std::size_t>(k)]);
        if (v.type.kind == Type::Kind::None) continue;
        auto known = v.type.is_scalar() ? constant_int(v.expr) : std::nullopt;
        if (!known || (k == 2 && *known == 0)) {
            refuse(node.children[1].place,
                   "a tuple is sliced with constants in a compiled function",
                   "write the bounds as numbers");
        }
        bounds[k] = *known;
        is_given[k] = true;
    }
    auto size = static_cast<std::int64_t>(tuple.items.size());
    bool is_rising = bounds[2] > 0;
    auto clamped = [&](std::int64_t i) {
        if (i < 0) i += size;
        return is_rising ? std::clamp<std::int64_t>(i, 0, size)
                         : std::clamp<std::int64_t>(i, -1, size - 1);
    };
    std::int64_t i = is_given[0] ? clamped(bounds[0]) : is_rising ? 0 : size - 1;
    std::int64_t end = is_given[1] ? clamped(bounds[1]) : is_rising ? size : -1;
    std::vector<Value> items;
    for (; is_rising ? i < end : i > end; i += bounds[2])
        items.push_back(tuple.items[static_cast<std::size_t>(i)]);
    return tuple_of(std::move(items));
}

}  // namespace unisono::frontend
