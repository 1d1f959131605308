// What programs do with lists: methods, sums, membership.
#include <array>
#include <functional>

#include "frontend/operators.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

void Objects::extend(const Value& value, const Value& more, const Place& place) {
    if (more.type.is_object_list()) {
        Value item;
        item.type = more.type.items[0];
        if (!item.type.is_scalar()) box_list(value, item, place);
        return extend(value, Tables(*this, place).numbers(more), place);
    }
    if (more.type.is_table()) return extend(value, Tables(*this, place).listed(more), place);
    if (more.type.is_tuple()) {
        for (const Value& item : more.items) append(value, item, place);
        return;
    }
    Value from = as_array(more);
    bool fits = from.type.is_array() && from.type.rank == 1;
    Type item = more.type.is_list() ? more.type.items[0] : Type::numpy(from.type.dtype);
    const Node* literal =
        value.list >= 0 ? lists_[static_cast<std::size_t>(value.list)].literal : nullptr;
    if (fits && literal) {  // empty so far, or of a narrower type: the items tell
        auto known = learnt_.list_items.find(literal);
        auto joined =
            known == learnt_.list_items.end() ? std::optional(item) : join(known->second, item);
        if (joined) learnt_.list_items[literal] = *joined;
        if (joined && *joined != value.type.items[0]) {
            learnt_.guesses.clear();
            throw Restart{};
        }
    }
    const bool to_bytes = is_byte_list(value.type);
    bool widens = fits && (to_bytes ? is_integer(item.dtype)
                                    : join(item, value.type.items[0]) == value.type.items[0]);
    if (!widens) {
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
        x = to_bytes ? byte_of(scalar(x), place) : cast(x, value.type.dtype);
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

/// An index as the bound of a slice.
E Objects::bound_of_list(E i, E length) {
    E from = b_->select(b_->binary(Op::Lt, i, i64(0)), b_->add(i, length), i);
    return temporary(op_binary(Op::Min, op_binary(Op::Max, from, i64(0)), length), "index");
}

void Objects::insert(const Value& value, const Value& index, const Value& item,
                     const Place& place) {
    E i = settle(cast(want_scalar(index, place, "an index").expr, DType::Int64));
    if (!item.type.is_scalar()) box_list(value, item, place);
    E x = temporary(cast(want_number(item, place, "an item of a list").expr, value.type.dtype));
    List& list = growing(value, place);
    E length = temporary(b_->read(list.length), "length");
    E where = bound_of_list(i, length);
    append(value, item, place);
    list_loop(i64(0), op_binary(Op::Sub, length, where), [&](E k) {
        E to = op_binary(Op::Sub, length, k);
        E moved = b_->load(value.array, {op_binary(Op::Sub, to, i64(1))}, ir::Access::Inside);
        emit(b_->store(value.array, std::vector<E>{to}, moved, ir::Access::Inside));
    });
    emit(b_->store(value.array, std::vector<E>{where}, x, ir::Access::Inside));
}

Value Objects::joined_lists(const Value& a, const Value& b, const Place& place) {
    if (is_byte_list(a.type) && are_bytes(b.type)) {
        Value list = list_from_array(as_array(a), a.type.items[0], place);
        extend(list, b, place);
        return list;
    }
    bool are_lists = a.type.is_list() && b.type.is_list();
    auto item = are_lists ? join(a.type.items[0], b.type.items[0]) : std::nullopt;
    if (!item) {
        refuse(place,
               "'+' of " + describe(a.type) + " and " + describe(b.type) + " is not supported",
               "lists of the same items can be joined; use arrays for arithmetic");
    }
    Value list = list_from_array(as_array(a), *item, place);
    extend(list, b, place);
    return list;
}

/// list[begin:end:step] = items, or del without items, of a list of numbers that was made in the
/// function; false where it was not, or where the items are others.
bool Objects::assign_slice(const Value& value, const Node& slice, const Value* items,
                           const Place& place) {
    if (value.list < 0 || open_literal(value)) return false;
    const Type item = value.type.items[0];
    Value more;
    if (items) {
        bool is_empty = open_literal(*items) || (items->type.is_tuple() && items->items.empty());
        more = is_empty                 ? new_list(item, "list")
               : items->type.is_tuple() ? list_value(*items, place)
                                        : made(*items, place);
        bool is_vector = more.type.is_list() || (more.type.is_array() && more.type.rank == 1);
        if (!is_vector) return false;
        Value from = as_array(more);
        const Type theirs = more.type.is_list()   ? more.type.items[0]
                            : from.type.is_weak() ? Type::python(from.type.weak)
                                                  : Type::numpy(from.type.dtype);
        bool fits = is_byte(item) ? is_integer(theirs.dtype) : join(theirs, item) == item;
        if (!fits) return false;
        // What is copied may be the list itself, and bytes are tested before any is stored.
        bool is_apart = more.type.is_list() && more.list >= 0 && more.list != value.list;
        if (!is_apart || (is_byte(item) && from.type.dtype != DType::UInt8))
            more = list_from_array(from, item, place);
    }
    List& list = growing(value, place);
    E size = temporary(b_->read(list.length), "size");
    Cut c = cut(slice, size);
    E first = temporary(c.from, "first"), step = settle(c.step), gone = temporary(c.count, "gone");
    E count = items ? temporary(b_->extent(as_array(more).array, 0), "count") : i64(0);
    auto move = [&](E from, E to) {
        E x = b_->load(value.array, {from}, ir::Access::Inside);
        emit(b_->store(value.array, std::vector<E>{to}, x, ir::Access::Inside));
    };
    auto fill = [&](E apart) {
        list_loop(i64(0), count, [&](E k) {
            E x = b_->load(more.array, {k}, ir::Access::Inside);
            E to = op_binary(Op::Add, first, op_binary(Op::Mul, k, apart));
            emit(b_->store(value.array, std::vector<E>{to}, cast(x, item.dtype),
                           ir::Access::Inside));
        });
    };
    std::vector<S> whole = collect([&] {
        E by = temporary(op_binary(Op::Sub, count, gone), "by");
        E total = temporary(op_binary(Op::Add, size, by), "total");
        E behind = temporary(op_binary(Op::Add, first, gone), "behind");
        if (items) reserve(value, total, place);
        std::vector<S> back = collect([&] {
            list_loop(i64(0), op_binary(Op::Sub, size, behind), [&](E k) {
                E from = op_binary(Op::Sub, op_binary(Op::Sub, size, i64(1)), k);
                move(from, op_binary(Op::Add, from, by));
            });
        });
        std::vector<S> ahead = collect(
            [&] { list_loop(behind, size, [&](E k) { move(k, op_binary(Op::Add, k, by)); }); });
        S shrinks = b_->branch(op_binary(Op::Lt, by, i64(0)), b_->block(ahead));
        emit(b_->branch(op_binary(Op::Gt, by, i64(0)), b_->block(back), b_->block({shrinks})));
        if (items) fill(i64(1));
        emit(b_->assign(list.length, total));
    });
    std::vector<S> stepped = collect([&] {
        if (items) {
            fault_if(op_binary(Op::Ne, count, gone), ErrorKind::Value,
                     std::string("attempt to assign ") + (is_byte(item) ? "bytes" : "sequence") +
                         " of size {0} to extended slice of size {1}",
                     place, {count, gone});
            return fill(step);
        }
        E last =
            op_binary(Op::Add, first, op_binary(Op::Mul, op_binary(Op::Sub, gone, i64(1)), step));
        E low = temporary(op_binary(Op::Min, first, last), "low");
        E apart = temporary(op_binary(Op::Max, step, op_unary(Op::Neg, step)), "apart");
        std::int32_t kept = declared("kept", low);
        std::vector<S> remove = collect([&] {
            list_loop(low, size, [&](E k) {
                E by = op_binary(Op::Sub, k, low);
                E is_chosen =
                    op_binary(Op::And, op_binary(Op::Eq, op_binary(Op::Mod, by, apart), i64(0)),
                              op_binary(Op::Lt, op_binary(Op::FloorDiv, by, apart), gone));
                std::vector<S> keep = collect([&] {
                    move(k, b_->read(kept));
                    emit(b_->assign(kept, op_binary(Op::Add, b_->read(kept), i64(1))));
                });
                emit(b_->branch(op_unary(Op::Not, is_chosen), b_->block(keep)));
            });
            emit(b_->assign(list.length, op_binary(Op::Sub, size, gone)));
        });
        emit(b_->branch(op_binary(Op::Gt, gone, i64(0)), b_->block(remove)));
    });
    at(place);
    if (auto known = constant_int(step))
        emit(b_->block(*known == 1 ? whole : stepped));
    else
        emit(b_->branch(op_binary(Op::Eq, step, i64(1)), b_->block(whole), b_->block(stepped)));
    return true;
}

E Objects::repetitions(const Value& times, const Place& place) {
    want_scalar(times, place, "the number of repetitions");
    if (!is_integer(times.type.dtype) && !is_bool(times.type.dtype)) {
        refuse(place, "a list is repeated an integer number of times; got " + describe(times.type),
               "convert it with int(...)");
    }
    return settle(cast(times.expr, DType::Int64));
}

E Objects::repeated_size(E size, E times, const Place& place) {
    E n = settle(op_binary(Op::Max, times, i64(0)));
    E total = temporary(within_memory(op_binary(Op::Mul, size, n), std::array{size, n}), "total");
    fault_if(op_binary(Op::Lt, total, i64(0)), ErrorKind::Memory, "out of memory for a list",
             place);
    return total;
}

/// list *= times
void Objects::repeat(const Value& value, const Value& times, const Place& place) {
    E n = repetitions(times, place);
    List& list = growing(value, place);
    E size = temporary(b_->read(list.length), "count");
    E total = repeated_size(size, n, place);
    reserve(value, total, place);
    list_loop(size, total, [&](E k) {
        E item =
            b_->load(value.array, std::vector<E>{op_binary(Op::Sub, k, size)}, ir::Access::Inside);
        emit(b_->store(value.array, std::vector<E>{k}, item, ir::Access::Inside));
    });
    emit(b_->assign(list.length, total));
}

Value Objects::repeated_list(const Value& given, const Value& times, const Place& place) {
    E n = repetitions(times, place);
    Value list = new_list(given.type.items[0], "list");
    E size = temporary(list_length(given), "count");
    E total = repeated_size(size, n, place);
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
            found = op_binary(Op::Or, found, truth(compare_two("==", x, other, place), place));
        return scalar(found, Weak::Bool);
    }
    if (container.type.is_table()) return Tables(*this, place).contains(item, container);
    if (container.type.is_text()) return Texts(*this, place).contains(item, container);
    if (auto v = special_method(nullptr, "__contains__", {container, item}, place))
        return scalar(cast(want_scalar(*v, place, "what __contains__ gives").expr, DType::Bool),
                      Weak::Bool);
    Value array = made(as_array(container), place);
    if (!array.type.is_array() || array.type.rank == 0) {
        refuse(
            place,
            "'in' looks into tuples, lists and arrays with axes; got " + describe(container.type),
            "compare numbers by ==");
    }
    Value x = want_number(item, place, "what is looked for");
    x.expr = settle(x.expr);
    Weak weak = container.type.is_list() ? container.type.items[0].weak : Weak::None;
    std::int32_t found = b_->var("found", DType::Bool);
    emit(b_->declare(found, b_->boolean(false)));
    std::vector<E> index;
    std::function<void()> search = [&] {
        auto axis = static_cast<int>(index.size());
        list_loop(i64(0), b_->extent(array.array, axis), [&](E k) {
            index.push_back(k);
            if (axis + 1 < array.type.rank) {
                search();
                emit(b_->branch(b_->read(found), b_->block({b_->leave()})));
            } else {
                Value other = scalar(b_->load(array.array, index, ir::Access::Inside), weak);
                E equal = truth(compare_two("==", other, x, place), place);
                emit(b_->branch(equal,
                                b_->block({b_->assign(found, b_->boolean(true)), b_->leave()})));
            }
            index.pop_back();
        });
    };
    search();
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
    static const std::set<std::string> of_bytes = {"index", "count", "copy"};
    if (is_byte_list(list.type) &&
        (name == "sort" || (list.type.items[0].name == "bytes" && of_bytes.count(name) == 0)))
        return std::nullopt;
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
    std::vector<Value> args = arguments(node, name == "append");
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
        want(1, name == "index" ? 3 : 1);
        Value x = want_number(args[0], place, "what is looked for");
        x.expr = settle(x.expr);
        E begin = i64(0), end = list_length(list);
        for (std::size_t k = 1; k < args.size(); ++k) {
            const Value& bound = want_scalar(args[k], place, "a bound of the search");
            E i = settle(cast(bound.expr, DType::Int64));
            (k == 1 ? begin : end) = bound_of_list(i, temporary(list_length(list)));
        }
        bool is_count = name == "count";
        std::int32_t found = b_->var(name, DType::Int64);
        emit(b_->declare(found, i64(is_count ? 0 : -1)));
        list_loop(begin, end, [&](E k) {
            Value item =
                scalar(b_->load(list.array, {k}, ir::Access::Inside), list.type.items[0].weak);
            E equal = truth(compare_two("==", item, x, place), place);
            E next = op_binary(Op::Add, b_->read(found), i64(1));
            std::vector<S> then{b_->assign(found, is_count ? next : k)};
            if (!is_count) then.push_back(b_->leave());
            emit(b_->branch(equal, b_->block(then)));
        });
        Value at = scalar(b_->read(found), Weak::Int);
        if (is_count) return at;
        if (name == "index" && x.type.weak == Weak::Int) {
            fault_if(op_binary(Op::Lt, at.expr, i64(0)), ErrorKind::Value, "{0} is not in list",
                     place, {x.expr});
            return at;
        }
        fault_if(op_binary(Op::Lt, at.expr, i64(0)), ErrorKind::Value,
                 "list." + name + "(x): x not in list", place);
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

}  // namespace unisono::frontend
