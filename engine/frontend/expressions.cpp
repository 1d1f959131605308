// Lowers expressions: names, subscripts, attributes, comparisons, short circuits.
#include <algorithm>

#include "frontend/expressions.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"
#include "frontend/texts.h"
#include "frontend/tuples.h"

namespace unisono::frontend {

using State = Binding::State;

Value Expressions::maybe_none(const Node& node) {
    at(node.place);
    Value v = expression_of(node);
    at(node.place);
    return v;
}

Value Expressions::expression(const Node& node) {
    Value v = maybe_none(node);
    if (!v.type.is_optional()) return v;
    std::string what = node.kind == NodeKind::Name ? "'" + node.text + "' is" : "this is";
    return present(v, what + " None, where a value is needed", node.place);
}

Value Expressions::expression_of(const Node& node) {
    switch (node.kind) {
        case NodeKind::Name: return read_name(node);
        case NodeKind::Const: return scalar(b_->constant(node.value), node.weak);
        case NodeKind::NoneValue: return {};
        case NodeKind::Text: {
            return Texts::constant(node.text);
        }
        case NodeKind::BinOp: {
            auto v = operands(std::vector<const Node*>{&node.children[0], &node.children[1]}, true);
            at(node.place);
            auto there = present_operands(node.text, v[0], v[1], node.place);
            return binary(node.text, there[0], there[1], node.place);
        }
        case NodeKind::UnaryOp: {
            if (node.text == "not") return scalar(condition(node), Weak::Bool);
            Value v =
                present(maybe_none(node.children[0]),
                        "bad operand type for unary " + node.text + ": 'NoneType'", node.place);
            at(node.place);
            return unary(node.text, v, node.place);
        }
        case NodeKind::BoolOp: return bool_op(node, 0);
        case NodeKind::Compare: return compare(node);
        case NodeKind::IfExp: return conditional(node);
        case NodeKind::Call: return call(node);
        case NodeKind::Attribute: return attribute(node);
        case NodeKind::Subscript: return subscript(node);
        case NodeKind::Tuple: {
            std::vector<const Node*> nodes;
            for (const Node& child : node.children) {
                bool is_starred = child.kind == NodeKind::Starred;
                nodes.push_back(is_starred ? &child.children[0] : &child);
            }
            auto values = operands(nodes, true);
            std::vector<Value> items;
            for (std::size_t i = 0; i < values.size(); ++i) {
                bool is_starred = node.children[i].kind == NodeKind::Starred;
                auto more = is_starred ? star_items(values[i], nodes[i]->place)
                                       : std::vector<Value>{values[i]};
                items.insert(items.end(), more.begin(), more.end());
            }
            return tuple_of(std::move(items));
        }
        case NodeKind::List: return list_literal(node);
        case NodeKind::Dict:
        case NodeKind::Set: return Tables(*this, node.place).literal(node);
        case NodeKind::NamedExpr: {
            Value v = maybe_none(node.children[1]);
            if (choice_depth_ > 0) {
                refuse(node.place, ":= in a part of an expression that may not be evaluated",
                       "assign in a statement of its own");
            }
            bind(node.children[0].text, v, node.place);
            return read_name(node.children[0]);
        }
        case NodeKind::Format: return Texts(*this, node.place).formatted(node);
        case NodeKind::Let: {
            S made = nested(node.children[0]);
            emit(made);
            if (!env_.reachable && unresolved_) throw Unresolved{*unresolved_};
            Value v = maybe_none(node.children[1]);
            // A name of the statements' own ends here: what it stood for has one name less.
            const Node& read = node.children[1];
            if (read.kind == NodeKind::Name && read.text.rfind("__", 0) == 0 && v.type.is_list())
                env_.names.erase(read.text);
            return v;
        }
        case NodeKind::Slice:
            refuse(node.place, "a slice makes a view, where one element is needed",
                   "give an integer for every axis");
        case NodeKind::Unsupported:
            refuse(node.place, node.text + " is not supported in a compiled function", node.note);
        case NodeKind::Opaque:
            refuse(node.place,
                   "'" + node.text + "' cannot be used in a compiled function" +
                       (node.note.empty() ? "" : ": " + node.note),
                   "pass what you need from it as an argument: numbers, arrays and tuples of "
                   "numbers are understood");
        case NodeKind::Class:
            if (const auto& record =
                    source_.classes.at(static_cast<std::size_t>(node.index)).record;
                record->form == Record::Form::Fields) {
                Value v;
                v.type.kind = Type::Kind::DTypeName;
                v.type.record = record;
                return v;
            }
            refuse(node.place, "a class is called or named in isinstance only",
                   "write " + node.text + "(...)");
        case NodeKind::Builtin:
            if (auto t = dtype_of(node)) {
                Value v;
                v.type.kind = Type::Kind::DTypeName;
                v.type.dtype = *t;
                return v;
            }
            [[fallthrough]];
        case NodeKind::Function:
        case NodeKind::Closure:
        case NodeKind::KeptClosure: return function_value(node);
        case NodeKind::Starred:
            refuse(node.place, "* stands for several arguments or items of a tuple",
                   "write it in a call or in a tuple");
        default: UNISONO_ASSERT(!"an expression");
    }
    return {};
}

Value Expressions::read_name(const Node& node) {
    auto it = env_.names.find(node.text);
    if (it == env_.names.end()) {
        auto seen = assigned_types_.find(node.text);
        if (seen != assigned_types_.end()) try_late(node.text, seen->second);
        refuse(node.place, "variable '" + node.text + "' is read before it is assigned",
               "assign it first, on every path that leads here");
    }
    const Binding& b = it->second;
    switch (b.state) {
        case State::Defined:
            want_assigned(node.text, node.place);
            return node.children.empty() || !b.value.type.is_function() ? b.value
                                                                        : capturing(b.value, node);
        case State::Maybe:
            // What only the body of a try assigns has its type from there.
            if (auto seen = assigned_types_.find(node.text);
                b.value.type.is_none() && seen != assigned_types_.end())
                try_late(node.text, seen->second);
            try_late(node.text, b.value.type);
            refuse(node.place, "variable '" + node.text + "' may be unassigned here",
                   "assign it before the branch or the loop, so that it has a value on every path",
                   {{b.origin, "it is assigned here, on some paths only"}});
        case State::Private:
            if (b.loop && b.loop->kind == NodeKind::Region)
                refuse(node.place,
                       "'" + node.text +
                           "' is read before it is assigned: each thread of the region has its own",
                       "assign it in the region first; a number that is only combined (+=, min, "
                       "max) is a reduction, into arrays add under un.lock() or with un.atomic",
                       {{b.origin, "each thread runs this block"}});
            refuse(node.place,
                   "'" + node.text +
                       "' is read before it is assigned in an iteration of prange: its value would "
                       "come "
                       "from another iteration",
                   "combine it as a reduction (+=, *=, min, max, &=, |=, ^=), assign it at the "
                   "start of each iteration, "
                   "or use range",
                   {{b.origin, "the iterations of this loop run in any order"}});
        case State::AfterPrange:
            if (b.loop && b.loop->kind == NodeKind::Region && region_)
                refuse(
                    node.place, "'" + node.text + "' is private to each thread of the region",
                    "read it in the region's own statements, or store what you need into an array",
                    {{b.origin, "assigned here"}});
            refuse(node.place,
                   "'" + node.text +
                       "' is private to each iteration of prange and has no value after the loop",
                   "make it a reduction, or store what you need into an array",
                   {{b.origin, "assigned in this prange"}});
        case State::Mixed: refuse_join(node.text, b.mix->one, b.mix->other);
        case State::LoopLast:
            if (b.is_maybe) {
                try_late(node.text, Type::python(Weak::Int));
                refuse(node.place,
                       "variable '" + node.text +
                           "' may be unassigned here: the loop may not run at all",
                       "assign it before the loop", {{b.origin, "it is the target of this loop"}});
            }
            learnt_.targets_read_after.insert(b.loop);
            must_restart_ = true;
            return scalar(i64(0), Weak::Int);
    }
    return b.value;
}

Value Expressions::attribute(const Node& node) {
    if (auto field = field_access(node)) return field_value(*field, node.place);
    const std::string& name = node.text;
    Value v = owner(maybe_none(node.children[0]), name, node.place);
    if (auto found = object_attribute(node, v)) return *found;
    if (v.type.is_records()) {
        if (v.type.record->find(name))
            return field_value(field_of(v, name, nullptr, node.place), node.place);
        if (name == "ndim") return scalar(i64(v.type.rank), Weak::Int);
        if (name == "shape" || name == "size") v = record_shape(v, node.place);
    }
    if (v.type.is_array()) {
        int rank = v.type.rank;
        if (!source_.is_kernel && (name == "real" || name == "imag"))
            return array_part(v, name == "real" ? 0 : 1, node.place);
        v = made(v, node.place);
        const ir::Array& info = function_->arrays[static_cast<std::size_t>(v.array)];
        if (info.param < 0 && !info.is_view() && name == "ctypes.data")
            refuse(node.place, "an array that a kernel makes has no address",
                   "pass the array itself to functions that the kernel calls");
        if (name == "shape") {
            Value t;
            for (int axis = 0; axis < rank; ++axis)
                t.items.push_back(scalar(b_->extent(v.array, axis), Weak::Int));
            t.type = Type::tuple(
                std::vector<Type>(static_cast<std::size_t>(rank), Type::python(Weak::Int)));
            return t;
        }
        if (name == "ndim") return scalar(i64(rank), Weak::Int);
        if (name == "size") {
            E size = rank == 0 ? i64(1) : b_->extent(v.array, 0);
            for (int axis = 1; axis < rank; ++axis) size = b_->mul(size, b_->extent(v.array, axis));
            return scalar(size, Weak::Int);
        }
        if (name == "dtype") {
            Value t;
            t.type.kind = Type::Kind::DTypeName;
            t.type.dtype = v.type.dtype;
            return t;
        }
        if (name == "T" && !source_.is_kernel) return transposed(v, node.place);
        std::int64_t bytes = size_of(v.type.dtype);
        if (name == "itemsize") return scalar(i64(bytes), Weak::Int);
        if (name == "ctypes.data") return scalar(address_of(v), Weak::Int);
        if (name == "nbytes") {
            E size = i64(bytes);
            for (int axis = 0; axis < rank; ++axis) size = b_->mul(size, b_->extent(v.array, axis));
            return scalar(size, Weak::Int);
        }
        if (name == "strides") {
            std::vector<Value> steps;
            for (int axis = 0; axis < rank; ++axis)
                steps.push_back(scalar(b_->mul(b_->stride(v.array, axis), i64(bytes)), Weak::Int));
            return tuple_of(std::move(steps));
        }
        refuse(node.place, "arrays have no attribute '" + name + "' in a compiled function",
               "shape, ndim, size and dtype can be read; do the rest outside and pass the result");
    }
    if (v.type.kind == Type::Kind::Exception && name == "args")
        return exception_arguments(v, node.place);
    if (v.type.kind == Type::Kind::DTypeName) {
        DType t = v.type.dtype;
        if (name == "itemsize") return scalar(i64(size_of(t)), Weak::Int);
        std::string text = name == "kind"   ? std::string(1, info(t).kind)
                           : name == "name" ? std::string(unisono::name(t))
                                            : "";
        if (!text.empty()) {
            Value known;
            known.type = Type::text();
            known.text = text;
            return known;
        }
    }
    if (v.type.is_complex() && (name == "real" || name == "imag"))
        return scalar(part_of(v, name == "real" ? 0 : 1),
                      v.type.is_weak() ? Weak::Float : Weak::None);
    if (v.type.is_scalar() && !v.type.is_weak()) {  // as arrays without axes have it
        if (name == "dtype") {
            Value t;
            t.type.kind = Type::Kind::DTypeName;
            t.type.dtype = v.type.dtype;
            return t;
        }
        if (name == "itemsize" || name == "nbytes")
            return scalar(i64(size_of(v.type.dtype)), Weak::Int);
        if (name == "ndim" || name == "size") return scalar(i64(name == "size"), Weak::Int);
        if (name == "shape") return tuple_of({});
        if (name == "T") return v;
    }
    if (v.type.is_scalar() && name == "real") return v;
    if (v.type.is_scalar() && name == "imag") return scalar(b_->zero(v.expr->dtype), v.type.weak);
    refuse(node.place,
           "a value of type " + describe(v.type) + " has no attribute '" + name +
               "' in a compiled function",
           "pass what you need as an argument");
}

Value Expressions::subscript(const Node& node) {
    if (auto chosen = chosen_.find(&node); chosen != chosen_.end()) return chosen->second;
    const Node& owner = node.children[0];
    if (owner.kind == NodeKind::Builtin && owner.text == "np.mgrid" && !source_.is_kernel)
        return grid(node, index_nodes(node));
    if (auto field = field_access(node)) return field_value(*field, node.place);
    // A part of an element needs no view of all parts.
    if (auto part = element_part(node)) {
        auto where = indices(node, part->whole);
        return load_part(*part, where, node.place);
    }
    const char* no_items = node.text == "iteration" ? "'NoneType' object is not iterable"
                                                    : "'NoneType' object is not subscriptable";
    Value object = present(maybe_none(node.children[0]), no_items, node.place);
    return item_of(with_written_index(node, object.type), object);
}

std::optional<Expressions::ElementPart> Expressions::element_part(const Node& node) {
    const Node& owner = node.children[0];
    const bool is_part = owner.kind == NodeKind::Attribute &&
                         (owner.text == "real" || owner.text == "imag") &&
                         owner.children[0].kind == NodeKind::Name;
    if (!is_part) return std::nullopt;
    Value whole = made(expression(owner.children[0]), node.place);
    const bool is_element = whole.type.is_array() && is_complex(whole.type.dtype) &&
                            !has_array_index(index_nodes(node)) && !view_items(node, whole);
    if (!is_element) return std::nullopt;
    return ElementPart{whole, owner.text == "real" ? 0 : 1};
}

Value Expressions::load_part(const ElementPart& of, std::span<const E> where, const Place& place) {
    at(place);
    return scalar(b_->load_part(of.whole.array, where, of.part, access_for(where)));
}

/// object[index]
Value Expressions::item_of(const Node& node, Value object) {
    if (object.lazy && object.lazy->waits) return sliced(node, object);
    object = made(object, node.place);
    if (std::any_of(node.children.begin() + 1, node.children.end(), assigns_names))
        object = held(object);
    if (object.type.is_records()) return record_item(node, object);
    if (object.type.is_table()) {
        Tables tables(*this, node.place);
        if (object.type.is_object_list() && node.children[1].kind == NodeKind::Slice)
            return tables.slice(object, node.children[1]);
        return node.text == "iteration" ? tables.visited(object, index_value(node))
                                        : tables.get(object, index_value(node));
    }
    if (has_method(object, "__getitem__"))
        return *special_method(&node, "__getitem__", {object, index_value(node)}, node.place);
    if (object.type.is_array()) return element(node, object);
    if (object.type.is_list()) {
        Weak weak = object.type.items[0].weak;
        Value array = as_array(object);
        if (auto items = view_items(node, array))
            return list_from_array(index_view(node, array, *items), object.type.items[0],
                                   node.place);
        auto where = indices(node, array);
        at(node.place);
        return scalar(b_->load(array.array, where, access_for(where)), weak);
    }
    if (object.type.is_text()) return Texts(*this, node.place).item(object, node);
    if (object.type.is_tuple()) {
        if (node.children[1].kind == NodeKind::Slice) return tuple_slice(node, object);
        Value index = expression(node.children[1]);
        auto known = index.type.is_scalar() ? constant_int(index.expr) : std::nullopt;
        auto size = static_cast<std::int64_t>(object.items.size());
        if (!known && index.type.is_scalar()) {
            if (auto v = tuple_item(object, index, node.place)) return *v;
        }
        if (!known) {
            refuse(node.children[1].place,
                   "a tuple whose items have different types must be indexed with a constant in a "
                   "compiled function",
                   "write the index as a number, or unpack the tuple");
        }
        if (*known < -size || *known >= size) {
            refuse(
                node.children[1].place,
                "tuple index " + std::to_string(*known) + " is out of range for a tuple of " +
                    std::to_string(size),
                "use an index from " + std::to_string(-size) + " to " + std::to_string(size - 1));
        }
        return object.items[static_cast<std::size_t>(*known < 0 ? *known + size : *known)];
    }
    refuse(node.place, "a value of type " + describe(object.type) + " cannot be indexed",
           "index arrays and tuples only");
}

}  // namespace unisono::frontend
