// Lowers assignments to names, elements, slices, fields and members.
#include <algorithm>
#include <array>
#include <tuple>

#include "frontend/assignments.h"
#include "frontend/tables.h"

namespace unisono::frontend {

void Assignments::assign(const Node& node) {
    bool is_single = node.children.size() == 2;
    if (is_single && assign_under_mask(node.children[0], "", node.children[1], node.place)) return;
    if (is_single && assign_unpacked(node.children[0], node.children[1])) return;
    Value value = maybe_none(node.children.back());
    // The first of several targets may change what the value reads, an index may too.
    auto any_target = [&](auto&& test) {
        return std::any_of(node.children.begin(), node.children.end() - 1, test);
    };
    if (node.children.size() > 2 || any_target(may_act)) {
        value = kept_apart(all_made(value, node.place));
        if (any_target(assigns_names)) value = held(value);
    }
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) assign_to(node.children[i], value);
}

/// Items that are assigned together must all be read before the first is written: a, b = b, a.
static bool needs_copies(const Value& value) {
    return std::any_of(value.items.begin(), value.items.end(), [](const Value& item) {
        return !item.items.empty() || item.type.is_array() || item.type.is_instance() ||
               (item.type.is_word() && item.expr && !is_invariant(item.expr));
    });
}

/// Assigns to several targets what has items, of which a tuple's are known. The call has the value,
/// named, how many items it has, and each item, or its part for a target with a star.
bool Assignments::assign_unpacked(const Node& target, const Node& call) {
    if (call.kind != NodeKind::Call || call.children[0].kind != NodeKind::Builtin ||
        call.children[0].text != "unpacked")
        return false;
    const Node& named = call.children[1];
    Value value = maybe_none(named.children[1]);
    value = present(value, "cannot unpack non-iterable NoneType object", target.place);
    value = made(value, target.place);
    const Type& type = value.type;
    bool has_items =
        type.is_list() || type.is_table() || type.is_text() || (type.is_array() && type.rank > 0);
    if (!has_items) {
        assign_to(target, value);
        return true;
    }
    bind(named.children[0].text, value, target.place);
    E size = settle(expression(call.children[2]).expr);
    auto count = static_cast<std::int64_t>(target.children.size());
    bool has_star = std::any_of(target.children.begin(), target.children.end(),
                                [](const Node& n) { return n.kind == NodeKind::Starred; });
    std::string wanted = std::to_string(has_star ? count - 1 : count);
    fault_if(op_binary(Op::Lt, size, i64(has_star ? count - 1 : count)), ErrorKind::Value,
             "not enough values to unpack (expected " + std::string(has_star ? "at least " : "") +
                 wanted + ", got {0})",
             target.place, {size});
    if (!has_star)
        fault_if(op_binary(Op::Gt, size, i64(count)), ErrorKind::Value,
                 "too many values to unpack (expected " + wanted + ")", target.place);
    std::vector<Value> items;
    for (std::size_t i = 0; i < target.children.size(); ++i) {
        items.push_back(maybe_none(call.children[3 + i]));
        if (items.back().type.is_scalar()) items.back().expr = settle(items.back().expr);
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Node& one = target.children[i];
        assign_to(one.kind == NodeKind::Starred ? one.children[0] : one, items[i]);
    }
    return true;
}

/// `m = np.maximum(m, a)` where a prange combines m: a new array in Python, here the elements of
/// one.
void Assignments::combine_in_place(const Node& target, const Value& value) {
    const Value& array = read_name(target);
    bool is_kept = value.type.dtype == array.type.dtype && value.type.is_array() &&
                   value.type.rank == array.type.rank;
    if (!is_kept)
        refuse(target.place,
               "the array '" + target.text + "', which prange combines, is " +
                   describe(array.type) + " and becomes " + describe(value.type),
               "let it begin with that type");
    assign_elements(array, value, target.place);
}

void Assignments::assign_to(const Node& target, const Value& value) {
    at(target.place);
    if (target.kind == NodeKind::Name && in_place_.count(target.text))
        return combine_in_place(target, value);
    if (target.kind == NodeKind::Name) return bind(target.text, value, target.place);
    if (target.kind == NodeKind::Tuple && value.type.is_optional())
        return assign_to(
            target, present(value, "cannot unpack non-iterable NoneType object", target.place));
    if (target.kind == NodeKind::Tuple) {
        if (!value.type.is_tuple()) {
            refuse(target.place, "cannot unpack a value of type " + describe(value.type),
                   "assign it to one name, or give a tuple on the right");
        }
        auto is_starred = [](const Node& n) { return n.kind == NodeKind::Starred; };
        auto star = std::find_if(target.children.begin(), target.children.end(), is_starred);
        if (star != target.children.end()) return assign_starred(target, *star, value);
        if (value.items.size() != target.children.size()) {
            refuse(target.place,
                   "cannot unpack " + std::to_string(value.items.size()) + " values into " +
                       std::to_string(target.children.size()) + " targets",
                   "give as many targets as there are values");
        }
        std::vector<Value> items = value.items;
        if (needs_copies(value)) {
            for (Value& item : items) {
                item = kept_apart(item);
                if (item.type.is_array()) item = snapshot(made(item, target.place));
            }
        }
        for (std::size_t i = 0; i < items.size(); ++i) assign_to(target.children[i], items[i]);
        return;
    }
    if (target.kind == NodeKind::Subscript) {
        if (auto field = field_access(target)) return store_field(*field, value, target.place);
        if (auto part = kernel_part(target)) {
            auto where = indices(target, part->whole);
            return store_part(*part, where, value, target.place);
        }
        Value object = expression(target.children[0]);
        if (assigns_names(target)) object = held(object);
        if (has_method(object, "__setitem__")) {
            special_method(&target, "__setitem__", {object, index_value(target), value},
                           target.place);
            return;
        }
        return assign_selected(with_written_index(target, object.type), object, value);
    }
    if (target.kind == NodeKind::Attribute) {
        if (auto field = field_access(target)) return store_field(*field, value, target.place);
        if (assign_member(target, value)) return;
        if (target.text != "real" && target.text != "imag") refuse_frozen(target);
    }
    bool is_part = target.kind == NodeKind::Attribute && !source_.is_kernel &&
                   (target.text == "real" || target.text == "imag");
    if (is_part) {
        Value array = made(expression(target.children[0]), target.place);
        if (array.type.is_array()) {
            Value part = array_part(array, target.text == "real" ? 0 : 1, target.place);
            return assign_elements(made(part, target.place), value, target.place);
        }
    }
    bool is_shape = target.kind == NodeKind::Attribute && target.text == "shape" &&
                    target.children[0].kind == NodeKind::Name && !source_.is_kernel;
    if (is_shape) {
        const Node& owner = target.children[0];
        Value array = read_name(owner);
        if (array.type.is_array()) {
            std::vector<E> extents = shape_argument(value, target.place);
            return bind(owner.text, reshaped(array, extents, false, target.place), target.place);
        }
    }
    refuse(target.place, "this target of an assignment is not supported in a compiled function",
           "assign to a name, to array[indices] or to a tuple of them");
}

/// As element_part, where it must be stored to: functions of the host store to a view of the parts,
/// which devices do not have.
std::optional<Expressions::ElementPart> Assignments::kernel_part(const Node& target) {
    return module_.is_kernel ? element_part(target) : std::nullopt;
}

void Assignments::store_part(const ElementPart& of, std::span<const E> where, const Value& value,
                             const Place& place) {
    want_scalar(value, place, "the part of a complex number");
    at(place);
    const E part = cast(value.expr, part_dtype(of.whole.type.dtype));
    emit(b_->store_part(of.whole.array, where, part, of.part, access_for(where)));
}

/// object[index] = value
void Assignments::assign_selected(const Node& target, const Value& object, const Value& value) {
    if (object.type.is_records()) return assign_record(target, object, value);
    const bool is_list = object.type.is_list() || object.type.is_object_list();
    const bool is_slice = target.children.size() == 2 && target.children[1].kind == NodeKind::Slice;
    if (is_list && is_slice) return assign_list_slice(target, object, &value);
    if (object.type.is_table())
        return Tables(*this, target.place).set(object, index_value(target), value);
    if (is_byte_list(object.type) && object.type.items[0].name == "bytes")
        refuse_bytes(target.place);
    if (object.type.is_list() && object.list < 0)
        refuse(target.place, "a list that was passed to the function cannot change here",
               "change it under its own name, or make a list, as in list(x), and return it");
    return assign_item(target, made(as_array(object), target.place), value);
}

[[noreturn]] void Assignments::refuse_bytes(const Place& place) {
    refuse(place, "'bytes' object does not support item assignment", "make a bytearray of it");
}

/// list[begin:end] = items, and del list[begin:end] without: of a list of objects.
void Assignments::assign_list_slice(const Node& target, const Value& list, const Value* items) {
    at(target.place);
    if (is_byte_list(list.type) && list.type.items[0].name == "bytes") refuse_bytes(target.place);
    if (list.type.is_list() && assign_slice(list, target.children[1], items, target.place)) return;
    if (is_byte_list(list.type))
        refuse(target.place,
               "a slice of bytearray takes integers; got " +
                   describe(items ? items->type : Type::none()),
               "assign bytes, or a list of integers");
    box_names(list);
    if (list.type.is_list())
        refuse(target.place, "a slice of a list that was passed to the function cannot change here",
               "change it under its own name, or make a list, as in list(x), and return it");
    Tables(*this, target.place).assign_slice(list, target.children[1], items);
}

/// del list[begin:end]
void Assignments::delete_slice(const Node& target) {
    Value object = expression(target.children[0]);
    if (!object.type.is_list() && !object.type.is_object_list())
        refuse(target.place, "a part of " + describe(object.type) + " cannot be deleted",
               "keep the other part, as in x = x[:n]");
    assign_list_slice(with_written_index(target, object.type), object, nullptr);
}

/// del container[s] where s is a value that is a slice; false for any other call.
bool Assignments::deletes_parts(const Node& call) {
    if (call.kind != NodeKind::Call || call.children[0].text != "delete_item") return false;
    if (call.children[0].kind != NodeKind::Builtin || !may_choose_parts(call.children[2]))
        return false;
    Node& target = learnt_.indices.emplace_back();
    target.kind = NodeKind::Subscript;
    target.place = call.place;
    target.children = {call.children[1], call.children[2]};
    const Node& written = with_written_index(target, expression(call.children[1]).type);
    if (written.children[1].kind != NodeKind::Slice) return false;
    delete_slice(written);
    return true;
}

void Assignments::assign_item(const Node& target, const Value& array, const Value& value) {
    if (!array.type.is_array()) {
        refuse(target.place, "cannot assign to an item of a value of type " + describe(array.type),
               "only items of arrays can be assigned; build a new tuple instead");
    }
    refuse_computed(array, target.place);
    if (!array.type.writable) refuse_readonly(array);
    std::vector<const Node*> parts = index_nodes(target);
    if (has_array_index(parts)) return assign_gathered(target, array, parts, value);
    if (auto items = view_items(target, array)) {
        Value part = index_view(target, array, *items);
        at(target.place);
        return assign_elements(part, value, target.place);
    }
    auto where = indices(target, array);
    E item = is_byte_array(array.type)
                 ? byte_of(value, target.place)
                 : to_type(want_number(value, target.place, "the value stored"), array.type.dtype,
                           target.place);
    at(target.place);
    emit(b_->store(array.array, where, item, access_for(where)));
    return;
}

/// a, *b, c = tuple: b takes what the others leave, as a list.
void Assignments::assign_starred(const Node& target, const Node& star, const Value& value) {
    std::size_t others = target.children.size() - 1, size = value.items.size();
    if (size < others) {
        refuse(target.place,
               "cannot unpack " + std::to_string(size) + " values into at least " +
                   std::to_string(others) + " targets",
               "give as many values as there are targets without a star");
    }
    auto first = static_cast<std::size_t>(&star - target.children.data());
    Value all = value;
    for (Value& item : all.items) {
        if (item.type.is_scalar()) item.expr = settle(item.expr);
        if (item.type.is_array()) item = snapshot(made(item, target.place));
    }
    auto begin = all.items.begin() + static_cast<std::ptrdiff_t>(first);
    auto end = begin + static_cast<std::ptrdiff_t>(size - others);
    Value rest = tuple_of({begin, end});
    Value list = rest.items.empty() ? new_list(Type::python(Weak::Int), "list")
                                    : list_value(rest, star.place);
    for (std::size_t i = 0; i < target.children.size(); ++i) {
        if (i == first)
            assign_to(star.children[0], list);
        else
            assign_to(target.children[i], all.items[i < first ? i : i + size - others - 1]);
    }
}

/// x op= change for a whole array or a view; NumPy's casts within a kind.
void Assignments::assign_in_place(const Node& node, const Value& array, const Value& change) {
    Value target = made(array, node.place);
    Value result = binary(node.text, target, change, node.place);
    refuse_cast(node.text + "=", result.type.dtype, array.type.dtype, node.place);
    assign_elements(target, result, node.place);
}

/// x op= change for what changes itself; false where the name gets another value instead.
bool Assignments::assign_shared(const Node& node, const Value& old, const Value& change) {
    if (old.type.is_array()) {
        assign_in_place(node, old, change);
        return true;
    }
    if (old.type.is_table()) return Tables(*this, node.place).update(node.text, old, change);
    if (is_byte_list(old.type) && old.type.items[0].name == "bytes") return false;
    bool is_list = old.type.is_list() && (node.text == "+" || node.text == "*");
    if (is_list && node.text == "+") extend(old, change, node.place);
    if (is_list && node.text == "*") repeat(old, change, node.place);
    return is_list;
}

void Assignments::assign_augmented(const Node& node) {
    const Node& target = node.children[0];
    if (assign_under_mask(target, node.text, node.children[1], node.place)) return;
    if (target.kind == NodeKind::Name) {
        const Value before = read_name(target);
        Value old = before, change;
        behind({&old, 1}, [&] { change = maybe_none(node.children[1]); });
        at(node.place);
        // The name gets its object again, where the change gave it another one.
        bool is_other = assigns_names(node.children[1]) && !is_same(read_name(target), before);
        std::tie(old, change) =
            std::tuple_cat(present_operands(node.text + "=", old, change, node.place));
        if (!assign_shared(node, old, change))
            return bind(target.text, binary(node.text, old, change, node.place), target.place);
        if (is_other) bind(target.text, old, target.place);
        return;
    }
    if (auto field = field_access(target)) return augment_field(node, *field);
    bool is_part = target.kind == NodeKind::Attribute && !source_.is_kernel &&
                   (target.text == "real" || target.text == "imag");
    if (is_part) {
        if (augment_member(node)) return;
        Value part = expression(target), change;
        behind({&part, 1}, [&] { change = expression(node.children[1]); });
        at(node.place);
        if (part.type.is_array()) return assign_in_place(node, part, change);
    }
    if (target.kind == NodeKind::Attribute) {
        if (augment_member(node)) return;
        refuse_frozen(target);
    }
    if (target.kind != NodeKind::Subscript) {
        refuse(target.place, "this target of an augmented assignment is not supported",
               "use a name or array[indices]");
    }
    if (auto part = kernel_part(target)) {
        auto where = indices(target, part->whole);
        const Value old = load_part(*part, where, target.place);
        const Value change = expression(node.children[1]);
        at(node.place);
        return store_part(*part, where, binary(node.text, old, change, node.place), node.place);
    }
    Value object = expression(target.children[0]);
    if (assigns_names(node)) object = held(object);
    if (object.type.is_table()) return Tables(*this, node.place).augment(node, object);
    if (has_method(object, "__getitem__") && has_method(object, "__setitem__")) {
        Value index = kept_apart(index_value(target));
        Value old = *special_method(&target, "__getitem__", {object, index}, target.place);
        Value change = expression(node.children[1]);
        at(node.place);
        Value result = binary(node.text, old, change, node.place);
        special_method(&target, "__setitem__", {object, index, result}, target.place);
        return;
    }
    if (object.type.is_list() && object.list < 0)
        refuse(target.place, "a list that was passed to the function cannot change here",
               "change it under its own name, or make a list, as in list(x), and return it");
    augment_item(node, with_written_index(target, object.type),
                 made(as_array(object), target.place));
}

void Assignments::augment_item(const Node& node, const Node& target, const Value& array) {
    if (!array.type.is_array())
        refuse(target.place, "cannot assign to an item of a value of type " + describe(array.type),
               "only items of arrays can be assigned; build a new tuple instead");
    refuse_computed(array, target.place);
    if (!array.type.writable) refuse_readonly(array);
    std::vector<const Node*> parts = index_nodes(target);
    if (has_array_index(parts)) {
        if (auto mask = mask_of(array, parts)) {
            Value held = made(*mask, target.place);
            std::array<Value, 3> before{array, held, compressed(array, held, target.place)};
            Value change;
            behind(before, [&] { change = expression(node.children[1]); });
            Value result = made(binary(node.text, before[2], change, node.place), node.place);
            refuse_cast(node.text + "=", result.type.dtype, array.type.dtype, node.place);
            return assign_masked(before[0], before[1], result, node.place);
        }
        Gather g = gathering(target, array, parts);
        Value old = made(gathered(g), target.place);
        Value change = expression(node.children[1]);
        Value result = binary(node.text, old, change, node.place);
        refuse_cast(node.text + "=", result.type.dtype, array.type.dtype, node.place);
        return scatter(g, result, node.place);
    }
    if (auto items = view_items(target, array)) {
        Value part = index_view(target, array, *items), change;
        behind({&part, 1}, [&] { change = expression(node.children[1]); });
        at(node.place);
        return assign_in_place(node, part, change);
    }
    auto where = indices(target, array);
    for (E& index : where) {
        if (has_load(index)) index = temporary(index);
    }
    at(target.place);
    Value old = scalar(b_->load(array.array, where, access_for(where)), array.type.weak), change;
    Later found = later([&] { change = expression(node.children[1]); });
    // The element is read first: its index may be out of range, and the statements may raise too.
    bool may_fault = access_for(where) != ir::Access::Inside && !found.made.empty();
    if (found.effects.any() || may_fault) {
        for (E& index : where) {
            if (found.effects.change(index)) index = temporary(index);
        }
        old.expr = temporary(b_->load(array.array, where, access_for(where)));
    }
    out_->insert(out_->end(), found.made.begin(), found.made.end());
    at(node.place);
    Value result =
        want_number(binary(node.text, old, change, node.place), node.place, "the value stored");
    E item = is_byte_array(array.type) ? byte_of(result, node.place)
                                       : to_type(result, array.type.dtype, node.place);
    emit(b_->store(array.array, where, item, access_for(where)));
}

}  // namespace unisono::frontend
