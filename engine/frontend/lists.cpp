// Lists of numbers: memory that grows, a length and a capacity.
//
// A list is known by its row in the table of lists, whatever names stand for it, so that names may
// share one. Where paths meet with different lists under a name, the name gets a list of its own
// that takes over the memory; that is refused where two names would then differ. What reads a list
// reads an array: the view of its items.
#include <algorithm>

#include "frontend/operators.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

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

/// The items as an array whose elements are of the items' kind.
Value Arrays::as_array(const Value& list) const {
    if (!list.type.is_list()) return list;
    Value v = list;
    const ir::Array& a = function_->arrays[static_cast<std::size_t>(list.array)];
    v.type = Type::array(list.type.dtype, a.strides, a.writable);
    v.type.weak = list.type.items[0].weak;
    v.list = -1;
    return v;
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

void Emission::list_loop(E begin, E end, const std::function<void(E)>& body) {
    std::int32_t k = b_->var("k", DType::Int64);
    lower_bounds_[k] = 0;
    std::vector<S> made = collect([&] { body(b_->read(k)); });
    emit(b_->loop(ir::LoopKind::Serial, k, begin, end, i64(1), b_->block(made)));
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
    E x = settle(cast(item.expr, type.dtype));
    if (has_load(x)) x = temporary(x);
    List& list = growing(value, place);
    reserve(value, op_binary(Op::Add, b_->read(list.length), i64(1)), place);
    at(place);
    emit(b_->store(value.array, std::vector<E>{b_->read(list.length)}, x, ir::Access::Inside));
    emit(b_->assign(list.length, op_binary(Op::Add, b_->read(list.length), i64(1))));
}

/// A list that gets something else than numbers becomes one of objects where it is written.
void Objects::box_list(const Value& list, const Value& given, const Place& place) {
    Value item = Tables(*this, place).storable(given);
    const Node* literal =
        list.list >= 0 ? lists_[static_cast<std::size_t>(list.list)].literal : nullptr;
    if (literal && !learnt_.list_items.count(literal)) {
        learnt_.boxed_lists.insert(literal);
        learnt_.table_items[literal].value = item.type;
        learnt_.guesses.clear();
        throw Restart{};
    }
    refuse(place, "a " + describe(list.type) + " cannot take " + describe(item.type),
           "give all items one type, and make the list in this function");
}

void Objects::extend(const Value& value, const Value& more, const Place& place) {
    if (more.type.is_object_list()) {
        Value item;
        item.type = more.type.items[0];
        if (!item.type.is_scalar()) box_list(value, item, place);
        return extend(value, Tables(*this, place).numbers(more), place);
    }
    if (more.type.is_tuple()) {
        for (const Value& item : more.items) append(value, item, place);
        return;
    }
    Value from = as_array(more);
    bool fits = from.type.is_array() && from.type.rank == 1;
    Type item = more.type.is_list() ? more.type.items[0] : Type::numpy(from.type.dtype);
    if (!fits || item != value.type.items[0]) {
        refuse(place, "a " + describe(value.type) + " cannot be extended by " + describe(more.type),
               "extend it by a list or tuple of the same items");
    }
    from = made(from, place);
    List& list = growing(value, place);
    E count = temporary(b_->extent(from.array, 0), "count");
    E start = temporary(b_->read(list.length), "start");
    reserve(value, op_binary(Op::Add, start, count), place);
    list_loop(i64(0), count, [&](E k) {
        E x = b_->load(from.array, {k}, ir::Access::Inside);
        emit(b_->store(value.array, std::vector<E>{op_binary(Op::Add, start, k)}, x,
                       ir::Access::Inside));
    });
    emit(b_->assign(list.length, op_binary(Op::Add, start, count)));
}

Value Objects::pop(const Value& value, const Value* index, const Place& place) {
    List& list = growing(value, place);
    E length = b_->read(list.length);
    fault_if(op_binary(Op::Eq, length, i64(0)), ErrorKind::Index, "pop from empty list", place);
    E at_end = op_binary(Op::Sub, length, i64(1));
    E where = at_end;
    if (index) {
        E i = settle(cast(want_scalar(*index, place, "an index").expr, DType::Int64));
        where =
            temporary(b_->select(b_->binary(Op::Lt, i, i64(0)), b_->add(i, length), i), "index");
        E outside =
            op_binary(Op::Or, op_binary(Op::Lt, where, i64(0)), op_binary(Op::Ge, where, length));
        fault_if(outside, ErrorKind::Index, "pop index out of range", place);
    }
    E item = temporary(b_->load(value.array, {where}, ir::Access::Inside), "popped");
    if (index) {
        list_loop(where, at_end, [&](E k) {
            E next = b_->load(value.array, {op_binary(Op::Add, k, i64(1))}, ir::Access::Inside);
            emit(b_->store(value.array, std::vector<E>{k}, next, ir::Access::Inside));
        });
    }
    emit(b_->assign(list.length, at_end));
    return scalar(item, value.type.items[0].weak);
}

void Objects::insert(const Value& value, const Value& index, const Value& item,
                     const Place& place) {
    E i = settle(cast(want_scalar(index, place, "an index").expr, DType::Int64));
    if (!item.type.is_scalar()) box_list(value, item, place);
    E x = temporary(cast(want_number(item, place, "an item of a list").expr, value.type.dtype));
    List& list = growing(value, place);
    E length = temporary(b_->read(list.length), "length");
    E from = b_->select(b_->binary(Op::Lt, i, i64(0)), b_->add(i, length), i);
    E where = temporary(op_binary(Op::Min, op_binary(Op::Max, from, i64(0)), length), "index");
    append(value, item, place);
    list_loop(i64(0), op_binary(Op::Sub, length, where), [&](E k) {
        E to = op_binary(Op::Sub, length, k);
        E moved = b_->load(value.array, {op_binary(Op::Sub, to, i64(1))}, ir::Access::Inside);
        emit(b_->store(value.array, std::vector<E>{to}, moved, ir::Access::Inside));
    });
    emit(b_->store(value.array, std::vector<E>{where}, x, ir::Access::Inside));
}

/// [a, b, c], and [] whose items are learnt where the first is added.
Value Objects::list_literal(const Node& node) {
    if (source_.is_kernel) {
        refuse(node.place, "a kernel cannot make lists", "use un.local_array");
    }
    std::vector<const Node*> nodes;
    for (const Node& child : node.children) nodes.push_back(&child);
    std::vector<Value> items = operands(nodes);
    bool is_boxed = learnt_.boxed_lists.count(&node) > 0;
    for (const Value& item : items) is_boxed = is_boxed || !item.type.is_scalar();
    if (is_boxed) return Tables(*this, node.place).list_of(&node, items);
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
        emit(b_->store(list.array, std::vector<E>{k}, x, ir::Access::Inside));
    });
    emit(b_->assign(growing(list, place).length, count));
    return list;
}

/// list(x)
Value Objects::list_value(const Value& value, const Place& place) {
    if (value.type.is_table()) return Tables(*this, place).listed(value);
    if (value.type.is_list()) return list_from_array(as_array(value), value.type.items[0], place);
    if (value.type.is_array() && value.type.rank == 1)
        return list_from_array(value, Type::numpy(value.type.dtype), place);
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

Value Objects::joined_lists(const Value& a, const Value& b, const Place& place) {
    if (!a.type.is_list() || !b.type.is_list() || a.type != b.type) {
        refuse(place,
               "'+' of " + describe(a.type) + " and " + describe(b.type) + " is not supported",
               "lists of the same items can be joined; use arrays for arithmetic");
    }
    Value list = list_from_array(as_array(a), a.type.items[0], place);
    extend(list, b, place);
    return list;
}

Value Objects::repeated_list(const Value& given, const Value& times, const Place& place) {
    want_scalar(times, place, "the number of repetitions");
    if (!is_integer(times.type.dtype) && !is_bool(times.type.dtype)) {
        refuse(place, "a list is repeated an integer number of times; got " + describe(times.type),
               "convert it with int(...)");
    }
    E n = settle(cast(times.expr, DType::Int64));
    Value list = new_list(given.type.items[0], "list");
    E size = temporary(list_length(given), "count");
    E total = temporary(op_binary(Op::Mul, size, op_binary(Op::Max, n, i64(0))), "total");
    reserve(list, total, place);
    list_loop(i64(0), total, [&](E k) {
        E from = op_binary(Op::Mod, k, size);
        if (constant_int(size) == 1) from = i64(0);
        emit(b_->store(list.array, std::vector<E>{k},
                       b_->load(given.array, {from}, ir::Access::Inside), ir::Access::Inside));
    });
    emit(b_->assign(growing(list, place).length, total));
    return list;
}

/// item in container: a tuple, a list or an array.
Value Operators::contains(const Value& item, const Value& container, const Place& place) {
    if (container.type.is_tuple()) {
        E found = b_->boolean(false);
        Value x = item;
        if (x.type.is_scalar()) x.expr = settle(x.expr);
        for (const Value& other : container.items)
            found = op_binary(Op::Or, found,
                              cast(compare_two("==", x, other, place).expr, DType::Bool));
        return scalar(found, Weak::Bool);
    }
    if (container.type.is_table()) return Tables(*this, place).contains(item, container);
    if (container.type.is_text()) return Texts(*this, place).contains(item, container);
    Value array = made(as_array(container), place);
    if (!array.type.is_array() || array.type.rank != 1) {
        refuse(
            place,
            "'in' looks into tuples, lists and arrays of rank 1; got " + describe(container.type),
            "write a loop");
    }
    Value x = want_number(item, place, "what is looked for");
    x.expr = settle(x.expr);
    Weak weak = container.type.is_list() ? container.type.items[0].weak : Weak::None;
    std::int32_t found = b_->var("found", DType::Bool);
    emit(b_->declare(found, b_->boolean(false)));
    list_loop(i64(0), b_->extent(array.array, 0), [&](E k) {
        Value other = scalar(b_->load(array.array, {k}, ir::Access::Inside), weak);
        E equal = cast(compare_two("==", other, x, place).expr, DType::Bool);
        emit(b_->branch(equal, b_->block({b_->assign(found, b_->boolean(true)), b_->leave()})));
    });
    return scalar(b_->read(found), Weak::Bool);
}

std::optional<Value> Operators::list_method(const Node& node, const Value& list) {
    const std::string& name = node.children[0].text;
    const Place& place = node.place;
    auto falls = [&]() -> E {
        if (node.children.size() == 1) return i64(0);
        const Node& arg = node.children[1];
        if (node.children.size() > 2 || arg.kind != NodeKind::Keyword || arg.text != "reverse")
            refuse(place, "list.sort takes reverse= in a compiled function",
                   "write a = sorted(a, key=...)");
        return settle(cast(truth(expression(arg.children[0]), place), DType::Int64));
    };
    if (name == "sort") {
        const Type& item = list.type.items[0];
        if (!item.is_weak() || item.is_complex())
            refuse(place, "a " + describe(list.type) + " is not sorted in place",
                   "write a = sorted(a)");
        growing(list, place);
        E what = i64(is_bool(item.dtype) ? 2 : is_float(item.dtype) ? 1 : 0);
        E status =
            native("list_sort",
                   {address_of(as_array(list)), settle(list_length(list)), what, falls()}, 1)[0];
        fault_if(op_binary(Op::Ne, status, i64(0)), ErrorKind::Memory, "out of memory for a sort",
                 place);
        return Value{};
    }
    std::vector<Value> args = arguments(node);
    at(place);
    auto want = [&](std::size_t least, std::size_t most) {
        if (args.size() >= least && args.size() <= most) return;
        refuse(place,
               "list." + name + " takes " + std::to_string(least) +
                   (most > least ? " or " + std::to_string(most) : "") + " arguments; got " +
                   std::to_string(args.size()),
               "write it as in Python");
    };
    if (name == "append") {
        want(1, 1);
        append(list, args[0], place);
        return Value{};
    }
    if (name == "extend") {
        want(1, 1);
        extend(list, args[0], place);
        return Value{};
    }
    if (name == "pop") {
        want(0, 1);
        return pop(list, args.empty() ? nullptr : &args[0], place);
    }
    if (name == "insert") {
        want(2, 2);
        insert(list, args[0], args[1], place);
        return Value{};
    }
    if (name == "index" || name == "count" || name == "remove") {
        want(1, 1);
        Value x = want_number(args[0], place, "what is looked for");
        x.expr = settle(x.expr);
        bool is_count = name == "count";
        std::int32_t found = b_->var(name, DType::Int64);
        emit(b_->declare(found, i64(is_count ? 0 : -1)));
        list_loop(i64(0), list_length(list), [&](E k) {
            Value item =
                scalar(b_->load(list.array, {k}, ir::Access::Inside), list.type.items[0].weak);
            E equal = cast(compare_two("==", item, x, place).expr, DType::Bool);
            E next = op_binary(Op::Add, b_->read(found), i64(1));
            std::vector<S> then{b_->assign(found, is_count ? next : k)};
            if (!is_count) then.push_back(b_->leave());
            emit(b_->branch(equal, b_->block(then)));
        });
        Value at = scalar(b_->read(found), Weak::Int);
        if (is_count) return at;
        fault_if(op_binary(Op::Lt, at.expr, i64(0)), ErrorKind::Value,
                 name == "index" ? "the item is not in the list" : "list.remove(x): x not in list",
                 place);
        if (name == "index") return at;
        pop(list, &at, place);
        return Value{};
    }
    if (name == "clear") {
        want(0, 0);
        emit(b_->assign(growing(list, place).length, i64(0)));
        return Value{};
    }
    if (name == "copy") {
        want(0, 0);
        return list_from_array(as_array(list), list.type.items[0], place);
    }
    if (name == "reverse") {
        want(0, 0);
        E last = temporary(op_binary(Op::Sub, list_length(list), i64(1)), "last");
        E half = op_binary(Op::Shr, op_binary(Op::Add, last, i64(1)), i64(1));
        list_loop(i64(0), half, [&](E k) {
            E other = op_binary(Op::Sub, last, k);
            E x = temporary(b_->load(list.array, {k}, ir::Access::Inside));
            emit(b_->store(list.array, std::vector<E>{k},
                           b_->load(list.array, {other}, ir::Access::Inside), ir::Access::Inside));
            emit(b_->store(list.array, std::vector<E>{other}, x, ir::Access::Inside));
        });
        return Value{};
    }
    return std::nullopt;
}

/// Moves the list under the name's own row: paths with different lists meet.
Value Objects::move_list(const std::string& name, const Value& value) {
    std::string key = name + "/" + describe(value.type);
    auto held = lists_of_names_.find(key);
    if (held != lists_of_names_.end() && held->second == value.list) return value;
    if (value.list < 0) {
        refuse({}, "'" + name + "' is a list that was passed on one path", "copy it with list(x)");
    }
    if (held == lists_of_names_.end()) {
        List own{b_->slot(name, value.type.dtype, true), variable(name + ".length", DType::Int64),
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
