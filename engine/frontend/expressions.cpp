// Lowers expressions: names, subscripts, attributes, comparisons, short circuits.
#include <algorithm>

#include "frontend/expressions.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"
#include "frontend/texts.h"
#include "frontend/tuples.h"
#include "ops/scalar_eval.h"

namespace unisono::frontend {

using State = Binding::State;

Value Emission::scalar(E e, Weak weak) const {
    Value v;
    v.type = weak == Weak::None ? Type::numpy(e->dtype) : Type::python(weak);
    v.expr = e;
    return v;
}

E Emission::cast(E e, DType t) {
    if (e->kind == ir::ExprKind::Const && e->dtype != t && !is_complex(t)) {
        return b_->constant(unisono::cast(Scalar{e->bits, e->dtype}, t));
    }
    if (e->kind == ir::ExprKind::Const && is_complex(t))
        return b_->pair(cast(e, part_dtype(t)), b_->zero(part_dtype(t)));
    return b_->cast(e, t);
}

const Value& Arrays::want_scalar(const Value& v, const Place& place, const std::string& role) {
    if (!v.type.is_scalar() || v.type.is_complex()) {
        refuse(
            place, role + " must be a number; got " + describe(v.type),
            v.type.is_array()
                ? "index the array down to one element; whole-array operations belong outside of "
                  "compiled functions"
            : v.type.is_complex() ? "use its real part or its size here"
                                  : "use a number here");
    }
    return v;
}

std::optional<DType> Arrays::dtype_of(const Node& node) {
    if (node.kind != NodeKind::Builtin) return std::nullopt;
    if (node.text == "float") return DType::Float64;
    if (node.text == "int") return DType::Int64;
    if (node.text == "bool") return DType::Bool;
    if (node.text == "complex") return DType::Complex128;
    if (node.text.rfind("dtype:", 0) != 0) return std::nullopt;
    bool found = true;
    DType t = dtype_from_name(node.text.substr(6), found);
    return found ? std::optional(t) : std::nullopt;
}

Value Expressions::expression(const Node& node) {
    at(node.place);
    Value v = expression_of(node);
    at(node.place);
    return v;
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
            auto v = operands(std::vector<const Node*>{&node.children[0], &node.children[1]});
            at(node.place);
            return binary(node.text, v[0], v[1], node.place);
        }
        case NodeKind::UnaryOp: {
            Value v = expression(node.children[0]);
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
            auto values = operands(nodes);
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
            Value v = expression(node.children[1]);
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
            return expression(node.children[1]);
        }
        case NodeKind::Slice:
            refuse(node.place, "a slice makes a view, which kernels do not have",
                   "pass the sliced array as an argument");
        case NodeKind::Unsupported:
            refuse(node.place, node.text + " is not supported in a compiled function", node.note);
        case NodeKind::Opaque:
            refuse(node.place,
                   "'" + node.text + "' cannot be used in a compiled function" +
                       (node.note.empty() ? "" : ": " + node.note),
                   "pass what you need from it as an argument: numbers, arrays and tuples of "
                   "numbers are understood");
        case NodeKind::Class:
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

/// Evaluates in order. Where a later operand needs statements, what was read before it is kept in
/// temporaries.
std::vector<Value> Emission::operands(std::span<const Node* const> nodes) {
    std::vector<Value> values;
    for (const Node* node : nodes) {
        std::vector<S> made = collect([&] { values.push_back(expression(*node)); });
        if (!made.empty()) {
            for (std::size_t i = 0; i + 1 < values.size(); ++i) {
                Value& v = values[i];
                if (v.type.is_scalar() && has_load(v.expr)) v.expr = temporary(v.expr);
            }
        }
        out_->insert(out_->end(), made.begin(), made.end());
    }
    return values;
}

Value Expressions::read_name(const Node& node) {
    auto it = env_.names.find(node.text);
    if (it == env_.names.end()) {
        refuse(node.place, "variable '" + node.text + "' is read before it is assigned",
               "assign it first, on every path that leads here");
    }
    const Binding& b = it->second;
    switch (b.state) {
        case State::Defined:
            return node.children.empty() || !b.value.type.is_function() ? b.value
                                                                        : capturing(b.value, node);
        case State::Maybe:
            refuse(node.place, "variable '" + node.text + "' may be unassigned here",
                   "assign it before the branch or the loop, so that it has a value on every path",
                   {{b.origin, "it is assigned here, on some paths only"}});
        case State::Private:
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
            refuse(node.place,
                   "'" + node.text +
                       "' is private to each iteration of prange and has no value after the loop",
                   "make it a reduction, or store what you need into an array",
                   {{b.origin, "assigned in this prange"}});
        case State::LoopLast:
            if (b.is_maybe) {
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
    Value v = expression(node.children[0]);
    if (auto found = object_attribute(node, v)) return *found;
    const std::string& name = node.text;
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
        if (info.param < 0 && !info.is_view() && name != "ndim") {
            refuse(node.place, "a local array has no attribute '" + name + "' in a kernel",
                   "use the constants of its shape");
        }
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
        refuse(node.place, "arrays have no attribute '" + name + "' in a compiled function",
               "shape, ndim, size and dtype can be read; do the rest outside and pass the result");
    }
    if (v.type.is_complex() && (name == "real" || name == "imag"))
        return scalar(part_of(v, name == "real" ? 0 : 1),
                      v.type.is_weak() ? Weak::Float : Weak::None);
    if (v.type.is_scalar() && name == "real") return v;
    if (v.type.is_scalar() && name == "imag") return scalar(b_->zero(v.expr->dtype), v.type.weak);
    refuse(node.place,
           "a value of type " + describe(v.type) + " has no attribute '" + name +
               "' in a compiled function",
           "pass what you need as an argument");
}

std::vector<E> Selections::indices(const Node& node, const Value& array) {
    std::vector<const Node*> nodes;
    for (std::size_t i = 1; i < node.children.size(); ++i) nodes.push_back(&node.children[i]);
    if (nodes.size() == 1 && nodes[0]->kind == NodeKind::Tuple) {
        const Node* tuple = nodes[0];
        nodes.clear();
        for (const Node& child : tuple->children) nodes.push_back(&child);
    }
    std::vector<Value> values = operands(nodes);
    std::vector<E> list;
    if (values.size() == 1 && values[0].type.is_tuple()) {
        std::vector<Value> items = values[0].items;
        values = std::move(items);
        nodes.assign(values.size(), nodes[0]);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Type& t = values[i].type;
        if (t.is_scalar() && is_integer(t.dtype)) {
            list.push_back(cast(values[i].expr, DType::Int64));
            continue;
        }
        refuse(nodes[i]->place, "an array index must be an integer; got " + describe(t),
               t.is_scalar() && is_float(t.dtype)
                   ? "use // instead of /, or convert it with int(...)"
                   : "index every axis with an integer");
    }
    std::string rank = std::to_string(array.type.rank);
    if (static_cast<int>(list.size()) < array.type.rank) {
        refuse(node.place,
               "an array of rank " + rank + " is indexed with " + std::to_string(list.size()) +
                   " indices; that makes a view, which kernels do not have",
               "give all " + rank + " indices, as in a[i, j]");
    }
    if (static_cast<int>(list.size()) > array.type.rank) {
        refuse(node.place,
               "too many indices: an array of rank " + rank + " is indexed with " +
                   std::to_string(list.size()),
               "give " + rank + " indices");
    }
    if (!source_.options.checks_bounds) {
        for (std::size_t k = 0; k < list.size(); ++k) {
            E i = list[k];
            if (lower_bound(i).value_or(-1) >= 0 || !is_gathered(i)) continue;
            i = settle(i);
            E from_end = op_binary(Op::Add, i, b_->extent(array.array, static_cast<int>(k)));
            list[k] = b_->select(op_binary(Op::Lt, i, i64(0)), from_end, i);
        }
    }
    return list;
}

/// An index that no pass can bound: it depends on data.
bool Emission::is_gathered(E e) {
    bool is_plain = e->kind == ir::ExprKind::Var || e->kind == ir::ExprKind::Const ||
                    e->kind == ir::ExprKind::Param ||
                    (e->kind == ir::ExprKind::Binary &&
                     (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul));
    return !is_plain || std::any_of(e->args.begin(), e->args.end(), is_gathered);
}

/// The items of an index that makes a view; nothing where it is full integer indexing.
std::optional<std::vector<const Node*>> Selections::view_items(const Node& node,
                                                               const Value& array) {
    if (source_.is_kernel) return std::nullopt;
    std::vector<const Node*> items = index_nodes(node);
    bool is_partial = static_cast<int>(items.size()) < array.type.rank;
    if (items.size() == 1 && items[0]->kind == NodeKind::Name) {
        auto held = env_.names.find(items[0]->text);
        if (held != env_.names.end() && held->second.value.type.is_tuple()) return std::nullopt;
    }
    for (const Node* item : items) {
        is_partial = is_partial || item->kind == NodeKind::Slice ||
                     item->kind == NodeKind::NoneValue || is_ellipsis(*item);
    }
    return is_partial ? std::optional(items) : std::nullopt;
}

/// A value that the index cannot fall below, where one is known. Sums and products of indices in
/// range do not overflow: extents are below 2^63 bytes.
std::optional<std::int64_t> Emission::lower_bound(E e) const {
    switch (e->kind) {
        case ir::ExprKind::Const: return static_cast<std::int64_t>(e->bits);
        case ir::ExprKind::Param:
            return e->field == ir::Field::Extent ? std::optional<std::int64_t>(0) : std::nullopt;
        case ir::ExprKind::WorkItem: return 0;
        case ir::ExprKind::Var: {
            auto it = lower_bounds_.find(e->id);
            return it == lower_bounds_.end() ? std::nullopt : std::optional(it->second);
        }
        case ir::ExprKind::Binary: break;
        default: return std::nullopt;
    }
    auto a = lower_bound(e->args[0]), b = lower_bound(e->args[1]);
    auto subtracted = constant_int(e->args[1]);
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    auto is_small = [&](std::int64_t v) { return v > -limit && v < limit; };
    if (!a || !is_small(*a)) return std::nullopt;
    if (e->op == Op::Sub && subtracted && is_small(*subtracted)) return *a - *subtracted;
    if (!b || !is_small(*b)) return std::nullopt;
    if (e->op == Op::Add) return *a + *b;
    bool is_positive = *a >= 0 && *b >= 0;
    bool keeps_sign = e->op == Op::Mul || e->op == Op::FloorDiv || e->op == Op::Mod;
    return is_positive && keeps_sign ? std::optional<std::int64_t>(0) : std::nullopt;
}

ir::Access Emission::access_for(std::span<const E> indices) const {
    bool sure = std::all_of(indices.begin(), indices.end(),
                            [&](E e) { return lower_bound(e).value_or(-1) >= 0; });
    bool is_trusted =
        !source_.options.checks_bounds && std::all_of(indices.begin(), indices.end(), [&](E e) {
            return lower_bound(e).value_or(-1) >= 0 || is_gathered(e);
        });
    if (is_trusted) return ir::Access::Inside;
    return sure ? ir::Access::Checked : ir::Access::Wrapped;
}

/// An item of a tuple of numbers by an index that is not known: a chain of choices.
static bool is_chosen(const Type& t) {
    bool holds = t.is_scalar() || t.is_text() || t.is_tuple() || t.is_record();
    return holds && std::all_of(t.items.begin(), t.items.end(), is_chosen);
}

/// The type that holds any item; nothing where they differ, or cannot be chosen from.
static std::optional<Type> joined_items(const Type& tuple) {
    std::optional<Type> type = tuple.items[0];
    for (const Type& item : tuple.items) type = type ? join(*type, item) : type;
    return type && is_chosen(*type) ? type : std::nullopt;
}

bool has_one_type(const Type& tuple) { return tuple.items.empty() || joined_items(tuple); }

std::optional<Value> Expressions::tuple_item(const Value& tuple, const Value& index,
                                             const Place& place) {
    if (tuple.items.empty()) {
        fault_if(b_->boolean(true), ErrorKind::Index, "tuple index out of range", place);
        return scalar(i64(0), Weak::Int);
    }
    std::optional<Type> type = joined_items(tuple.type);
    if (!type || !is_integer(index.type.dtype)) return std::nullopt;
    auto size = static_cast<std::int64_t>(tuple.items.size());
    E i = settle(cast(index.expr, DType::Int64));
    E outside =
        op_binary(Op::Or, op_binary(Op::Lt, i, i64(-size)), op_binary(Op::Ge, i, i64(size)));
    fault_if(outside, ErrorKind::Index, "tuple index out of range", place);
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

/// An element of an array, a view or what index arrays choose.
Value Selections::element(const Node& node, const Value& object) {
    std::vector<const Node*> parts = index_nodes(node);
    if (has_array_index(parts)) return gather(node, object, parts);
    if (auto items = view_items(node, object)) return index_view(node, object, *items);
    auto where = indices(node, object);
    at(node.place);
    return scalar(b_->load(object.array, where, access_for(where)));
}

Value Expressions::subscript(const Node& node) {
    if (auto chosen = chosen_.find(&node); chosen != chosen_.end()) return chosen->second;
    const Node& owner = node.children[0];
    if (owner.kind == NodeKind::Builtin && owner.text == "np.mgrid" && !source_.is_kernel)
        return grid(node, index_nodes(node));
    if (auto field = field_access(node)) return field_value(*field, node.place);
    // A part of an element needs no view of all parts.
    bool is_part = owner.kind == NodeKind::Attribute &&
                   (owner.text == "real" || owner.text == "imag") &&
                   owner.children[0].kind == NodeKind::Name && !source_.is_kernel;
    if (is_part) {
        Value whole = made(expression(owner.children[0]), node.place);
        bool is_element = whole.type.is_array() && is_complex(whole.type.dtype) &&
                          !has_array_index(index_nodes(node)) && !view_items(node, whole);
        if (is_element) {
            auto where = indices(node, whole);
            at(node.place);
            return scalar(
                b_->load_part(whole.array, where, owner.text == "real" ? 0 : 1, access_for(where)));
        }
    }
    Value object = expression(node.children[0]);
    if (object.lazy && object.lazy->waits) return sliced(node, object);
    object = made(object, node.place);
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
