// Lists of numbers: memory that grows, a length and a capacity.
//
// A list is known by its row in the table of lists, whatever names stand for it, so that names may
// share one. Where paths meet with different lists under a name, the name gets a list of its own
// that takes over the memory; that is refused where two names would then differ. What reads a list
// reads an array: the view of its items.
#include <algorithm>

#include "frontend/operators.h"
#include "frontend/tables.h"

namespace unisono::frontend {

Value Objects::list_of(std::int32_t row, const Type& item, const std::string& name) {
    const List& list = lists_[static_cast<std::size_t>(row)];
    Value v;
    v.array = b_->view(name, list.slot, i64(0), {b_->read(list.length)}, {i64(1)},
                       {ir::StrideClass::One}, true);
    v.type = Type::list(item);
    v.list = row;
    return v;
}

/// An empty list; its variables live where the innermost parallel loop keeps what is its own.
Value Objects::new_list(const Type& item, const std::string& name) {
    List list{b_->slot(name, item.dtype, true), b_->var(name + ".length", DType::Int64),
              b_->var(name + ".capacity", DType::Int64), parallel_depth_, nullptr};
    Frame* home = &frames_[region_ && parallel_depth_ > 0 ? region_->frame : 0];
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (loops_[i]->is_parallel && loops_[i]->depth < frames_.size())
            home = &frames_[loops_[i]->depth];
    }
    home->declares.push_back(b_->declare(list.length, i64(0)));
    home->declares.push_back(b_->declare(list.capacity, i64(0)));
    emit(b_->assign(list.length, i64(0)));
    emit(b_->assign(list.capacity, i64(0)));
    lists_.push_back(list);
    return list_of(static_cast<std::int32_t>(lists_.size()) - 1, item, name);
}

E Objects::list_length(const Value& list) { return b_->extent(list.array, 0); }

Objects::List& Objects::growing(const Value& list, const Place& place) {
    if (list.list < 0) {
        refuse(place, "a list that was passed to the function cannot change its length here",
               "make a list in the function, as in list(x), and return it");
    }
    List& found = lists_[static_cast<std::size_t>(list.list)];
    if (found.parallel_depth < parallel_depth_) {
        refuse(place, "a list from outside of prange cannot change its length inside of it",
               "fill an array, or make a list in each iteration");
    }
    return found;
}

/// Memory for at least `count` items; grows by half.
void Objects::reserve(const Value& value, E count, const Place& place) {
    List& list = growing(value, place);
    at(place);
    count = settle(count);
    E capacity = b_->read(list.capacity);
    std::vector<S> grow = collect([&] {
        E half = op_binary(Op::Add, capacity, op_binary(Op::Shr, capacity, i64(1)));
        E wanted = temporary(op_binary(Op::Max, op_binary(Op::Max, half, count), i64(8)), "room");
        std::int32_t slot = b_->slot("grown", value.type.dtype, true);
        std::int32_t all =
            b_->view("grown", slot, i64(0), {wanted}, {i64(1)}, {ir::StrideClass::One}, true);
        emit(b_->make(slot, wanted));
        list_loop(i64(0), b_->read(list.length), [&](E k) {
            E item = b_->load(value.array, {k}, ir::Access::Inside);
            emit(b_->store(all, std::vector<E>{k}, item, ir::Access::Inside));
        });
        emit(b_->point(list.slot, slot));
        emit(b_->assign(list.capacity, wanted));
    });
    emit(b_->branch(op_binary(Op::Gt, count, capacity), b_->block(grow)));
}

/// The value with the type of the list's items; a wider one makes the function start again.
void Objects::append(const Value& value, const Value& item, const Place& place) {
    const Type& type = value.type.items[0];
    if (is_byte(type)) return push(value, byte_of(item, place), place);
    if (!item.type.is_scalar()) box_list(value, item, place);
    bool is_new = value.list >= 0 && lists_[static_cast<std::size_t>(value.list)].literal &&
                  !learnt_.list_items.count(lists_[static_cast<std::size_t>(value.list)].literal);
    auto joined = is_new ? std::optional(item.type) : join(type, item.type);
    const Node* literal =
        value.list >= 0 ? lists_[static_cast<std::size_t>(value.list)].literal : nullptr;
    if (joined && literal && (is_new || *joined != type)) {
        learnt_.list_items[literal] = *joined;
        learnt_.guesses.clear();
        throw Restart{};
    }
    if (!joined || *joined != type) {
        refuse(place, "a list of " + describe(type) + " cannot take " + describe(item.type),
               "give all items one type: convert them with float(...) or int(...)");
    }
    push(value, settle(cast(item.expr, type.dtype)), place);
}

/// One item more, of the list's dtype.
void Objects::push(const Value& value, E x, const Place& place) {
    if (has_load(x)) x = temporary(x);
    List& list = growing(value, place);
    reserve(value, op_binary(Op::Add, b_->read(list.length), i64(1)), place);
    at(place);
    emit(b_->store(value.array, std::vector<E>{b_->read(list.length)}, x, ir::Access::Inside));
    emit(b_->assign(list.length, op_binary(Op::Add, b_->read(list.length), i64(1))));
}

const Node* Objects::open_literal(const Value& list) const {
    if (!list.type.is_list() || list.list < 0) return nullptr;
    const Node* literal = lists_[static_cast<std::size_t>(list.list)].literal;
    return literal && !learnt_.list_items.count(literal) ? literal : nullptr;
}

/// A list that gets something else than numbers becomes one of objects where it is written.
void Objects::box_list(const Value& list, const Value& given, const Place& place) {
    Value item = Tables(*this, place).storable(given);
    const Node* literal =
        list.list >= 0 ? lists_[static_cast<std::size_t>(list.list)].literal : nullptr;
    if (literal) {
        auto known = learnt_.list_items.find(literal);
        auto joined =
            known == learnt_.list_items.end() ? item.type : join(known->second, item.type);
        if (joined) {
            TableItems& items = learnt_.table_items[literal];
            items.value = joined;
            items.inner = Tables(*this, place).origin_of(item);
            learnt_.list_items.erase(literal);
            box_literal(literal);
        }
    }
    refuse(place, "a " + describe(list.type) + " cannot take " + describe(item.type),
           "give all items one type, and make the list in this function");
}

/// A list of numbers that variables must share becomes a list of objects where it is written.
void Objects::share_list(const Value& list) {
    const Node* literal = list.type.is_list() && list.list >= 0
                              ? lists_[static_cast<std::size_t>(list.list)].literal
                              : nullptr;
    if (!literal) return;
    auto known = learnt_.list_items.find(literal);
    if (known != learnt_.list_items.end()) {
        learnt_.table_items[literal].value = known->second;
        learnt_.list_items.erase(known);
    }
    box_literal(literal);
}

/// Starts the function again with a list of objects in that place.
void Objects::box_literal(const Node* literal) {
    learnt_.boxed_lists.insert(literal);
    learnt_.guesses.clear();
    if (learnt_.result && learnt_.result->is_list()) learnt_.result.reset();
    throw Restart{};
}

/// A list of numbers that goes by several names, which paths change, becomes a list of objects
/// under all of them; nothing where it has none.
void Objects::box_names(const Value& list) {
    if (!list.type.is_list() || list.list < 0) return;
    share_list(list);
    bool is_new = false;
    for (const auto& [name, b] : env_.names) {
        if (b.value.type.is_list() && b.value.list == list.list)
            is_new = learnt_.boxed_names.insert(name).second || is_new;
    }
    if (!is_new) return;
    learnt_.guesses.clear();
    throw Restart{};
}

/// [a, b, c], and [] whose items are learnt where the first is added.
Value Objects::list_literal(const Node& node) {
    if (source_.is_kernel) {
        refuse(node.place, "a kernel cannot make lists", "use un.local_array");
    }
    std::vector<const Node*> nodes;
    for (const Node& child : node.children) nodes.push_back(&child);
    std::vector<Value> items = operands(nodes, true);
    bool is_boxed = learnt_.boxed_lists.count(&node) > 0;
    for (const Value& item : items) is_boxed = is_boxed || !item.type.is_scalar();
    if (is_boxed) {
        Tables(*this, node.place).learn_empty(nodes, items);
        return Tables(*this, node.place).list_of(&node, items);
    }
    auto known = learnt_.list_items.find(&node);
    std::optional<Type> type;
    if (known != learnt_.list_items.end()) type = known->second;
    for (std::size_t i = 0; i < items.size(); ++i) {
        want_number(items[i], nodes[i]->place, "an item of a list");
        auto joined = type ? join(*type, items[i].type) : std::optional(items[i].type);
        if (!joined) {
            refuse(nodes[i]->place,
                   "a list of " + describe(*type) + " cannot take " + describe(items[i].type),
                   "give all items one type, or write a tuple");
        }
        type = joined;
    }
    at(node.place);
    // What may change where a new value is computed is read before the first item is stored.
    for (Value& item : items) {
        if (!is_invariant(item.expr)) item.expr = temporary(item.expr);
    }
    Value list = new_list(type.value_or(Type::python(Weak::Int)), "list");
    List& row = growing(list, node.place);
    row.literal = &node;
    if (!items.empty() && known == learnt_.list_items.end()) learnt_.list_items[&node] = *type;
    if (items.empty() && known == learnt_.list_items.end()) guesses_items_ = true;
    if (items.empty()) return list;
    auto count = i64(static_cast<std::int64_t>(items.size()));
    reserve(list, count, node.place);
    for (std::size_t i = 0; i < items.size(); ++i) {
        emit(b_->store(list.array, std::vector<E>{i64(static_cast<std::int64_t>(i))},
                       cast(items[i].expr, type->dtype), ir::Access::Inside));
    }
    emit(b_->assign(row.length, count));
    return list;
}

Value Objects::list_from_array(const Value& given, const Type& item, const Place& place) {
    Value array = made(given, place);
    at(place);
    Value list = new_list(item, "list");
    E count = temporary(b_->extent(array.array, 0), "count");
    reserve(list, count, place);
    list_loop(i64(0), count, [&](E k) {
        E x = b_->load(array.array, {k}, ir::Access::Inside);
        x = is_byte(item) ? byte_of(scalar(x), place) : cast(x, item.dtype);
        emit(b_->store(list.array, std::vector<E>{k}, x, ir::Access::Inside));
    });
    emit(b_->assign(growing(list, place).length, count));
    return list;
}

/// bytes(x) and bytearray(x): of so many zeros, of items, of other bytes.
Value Objects::bytes_value(const Value& value, const std::string& name, const Place& place) {
    const Type item = byte_type(name);
    at(place);
    if (value.type.is_tuple()) {
        Value list = new_list(item, name);
        for (const Value& v : value.items) append(list, v, place);
        return list;
    }
    if (value.type.is_scalar() && is_integer(value.type.dtype)) {
        E count = settle(cast(value.expr, DType::Int64));
        fault_if(op_binary(Op::Lt, count, i64(0)), ErrorKind::Value, "negative count", place);
        Value list = new_list(item, name);
        reserve(list, count, place);
        list_loop(i64(0), count, [&](E k) {
            emit(b_->store(list.array, std::vector<E>{k}, b_->zero(DType::UInt8),
                           ir::Access::Inside));
        });
        emit(b_->assign(growing(list, place).length, count));
        return list;
    }
    Value items = value.type.is_object_list() ? Tables(*this, place).numbers(value) : value;
    if (items.type.is_table()) items = list_value(items, place);
    items = made(as_array(items), place);
    if (!items.type.is_array() || items.type.rank != 1 || !is_integer(items.type.dtype))
        refuse(place, name + " of a value of type " + describe(value.type) + " is not supported",
               "make it of a number of zeros, of integers, or of other bytes");
    return list_from_array(items, item, place);
}

/// list(x)
Value Objects::list_value(const Value& value, const Place& place) {
    if (value.type.is_table()) return Tables(*this, place).listed(value);
    if (value.type.is_list()) {
        const Type& item = value.type.items[0];
        return list_from_array(as_array(value), is_byte(item) ? Type::python(Weak::Int) : item,
                               place);
    }
    if (value.type.is_array() && value.type.rank == 1) {
        const Type& t = value.type;
        return list_from_array(value, t.is_weak() ? Type::python(t.weak) : Type::numpy(t.dtype),
                               place);
    }
    if (value.type.is_tuple() && !value.items.empty()) {
        if (!value.items[0].type.is_scalar())
            return Tables(*this, place).list_of(&place, value.items);
        std::optional<Type> type = value.items[0].type;
        for (const Value& v : value.items) type = type ? join(*type, v.type) : type;
        if (type && type->is_scalar()) {
            Value list = new_list(*type, "list");
            for (const Value& v : value.items) append(list, v, place);
            return list;
        }
    }
    refuse(place, "list of a value of type " + describe(value.type) + " is not supported",
           "make lists of arrays of rank 1, lists, tuples, dicts and sets");
}

/// Moves the list under the name's own row: paths with different lists meet.
Value Objects::move_list(const std::string& name, const Value& value) {
    std::string key = name + "/" + describe(value.type);
    auto held = lists_of_names_.find(key);
    bool is_known = held != lists_of_names_.end();
    // A block that is lowered twice has variables of its own each time.
    std::int32_t length = variable(name + ".length", DType::Int64);
    if (is_known && lists_[static_cast<std::size_t>(held->second)].length != length) {
        lists_of_names_.erase(held);
        held = lists_of_names_.end();
        is_known = false;
    }
    if (is_known && held->second == value.list) return value;
    if (value.list < 0) {
        refuse(env_.names[name].origin, "'" + name + "' is a list that was passed on one path",
               "copy it with list(x)");
    }
    if (!is_known) {
        List own{b_->slot(name, value.type.dtype, true), length,
                 variable(name + ".capacity", DType::Int64), parallel_depth_, nullptr};
        lists_.push_back(own);
        held = lists_of_names_.emplace(key, static_cast<std::int32_t>(lists_.size()) - 1).first;
    }
    const List& own = lists_[static_cast<std::size_t>(held->second)];
    const List& from = lists_[static_cast<std::size_t>(value.list)];
    emit(b_->point(own.slot, from.slot));
    emit(b_->assign(own.length, b_->read(from.length)));
    emit(b_->assign(own.capacity, b_->read(from.capacity)));
    return list_of(held->second, value.type.items[0], name);
}

/// Lists that move together as an edge leaves: each is kept apart first, and none may go by two
/// names, which would be two lists afterwards.
void Objects::keep_lists(const std::map<std::string, Type>& guess) {
    std::vector<std::string> moving;
    for (const auto& [name, type] : guess) {
        auto it = env_.names.find(name);
        bool is_here = it != env_.names.end() && it->second.state == Binding::State::Defined;
        if (!type.is_list() || !is_here || it->second.value.type != type) continue;
        auto held = lists_of_names_.find(name + "/" + describe(type));
        if (held != lists_of_names_.end() && held->second == it->second.value.list) continue;
        moving.push_back(name);
        std::function<bool(const Value&)> shares = [&](const Value& v) {
            bool is_row = v.type.is_list() && v.list >= 0 &&
                          (v.list == it->second.value.list ||
                           (held != lists_of_names_.end() && v.list == held->second));
            return is_row || std::any_of(v.items.begin(), v.items.end(), shares);
        };
        for (const auto& [other, b] : env_.names) {
            bool moves_too = guess.count(other) && b.value.list != it->second.value.list;
            if (other == name || moves_too || b.state != Binding::State::Defined) continue;
            if (shares(b.value)) {
                box_names(it->second.value);
                refuse(it->second.origin,
                       "'" + name + "' and '" + other +
                           "' name one list here, and different lists on another path",
                       "copy one of them, as in " + name + " = " + other + ".copy()");
            }
        }
    }
    if (moving.size() < 2) return;
    for (const std::string& name : moving) {
        Value& v = env_.names[name].value;
        if (v.list < 0) continue;
        const List from = lists_[static_cast<std::size_t>(v.list)];
        List held{b_->slot("held", v.type.dtype, true), b_->var("held.length", DType::Int64),
                  b_->var("held.capacity", DType::Int64), parallel_depth_, nullptr};
        emit(b_->declare(held.length, b_->read(from.length)));
        emit(b_->declare(held.capacity, b_->read(from.capacity)));
        emit(b_->point(held.slot, from.slot));
        lists_.push_back(held);
        v = list_of(static_cast<std::int32_t>(lists_.size()) - 1, v.type.items[0], "held");
    }
}

}  // namespace unisono::frontend
