// Lowers expressions: names, subscripts, attributes, comparisons, short circuits.
#include <algorithm>

#include "frontend/lowerer.h"
#include "ops/scalar_eval.h"

namespace unisono::frontend {

using State = Binding::State;

Value FunctionLowerer::scalar(E e, Weak weak) const {
    Value v;
    v.type = weak == Weak::None ? Type::numpy(e->dtype) : Type::python(weak);
    v.expr = e;
    return v;
}

E FunctionLowerer::cast(E e, DType t) {
    if (e->kind == ir::ExprKind::Const && e->dtype != t) {
        return b_->constant(unisono::cast(Scalar{e->bits, e->dtype}, t));
    }
    return b_->cast(e, t);
}

const Value& FunctionLowerer::want_scalar(const Value& v, const Place& place,
                                          const std::string& role) {
    if (!v.type.is_scalar()) {
        refuse(
            place, role + " must be a number; got " + describe(v.type),
            v.type.is_array()
                ? "index the array down to one element; whole-array operations belong outside of "
                  "compiled functions"
                : "use a number here");
    }
    return v;
}

std::optional<DType> FunctionLowerer::dtype_of(const Node& node) {
    if (node.kind != NodeKind::Builtin) return std::nullopt;
    if (node.text == "float") return DType::Float64;
    if (node.text == "int") return DType::Int64;
    if (node.text == "bool") return DType::Bool;
    if (node.text.rfind("dtype:", 0) != 0) return std::nullopt;
    bool found = true;
    DType t = dtype_from_name(node.text.substr(6), found);
    return found && !is_complex(t) ? std::optional(t) : std::nullopt;
}

Value FunctionLowerer::expression(const Node& node) {
    at(node.place);
    Value v = expression_of(node);
    at(node.place);
    return v;
}

Value FunctionLowerer::expression_of(const Node& node) {
    switch (node.kind) {
        case NodeKind::Name: return read_name(node);
        case NodeKind::Const: return scalar(b_->constant(node.value), node.weak);
        case NodeKind::NoneValue: return {};
        case NodeKind::Text: {
            Value v;
            v.type.kind = Type::Kind::Text;
            v.text = node.text;
            return v;
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
            for (const Node& child : node.children) nodes.push_back(&child);
            Value v;
            v.items = operands(nodes);
            std::vector<Type> types;
            for (const Value& item : v.items) types.push_back(item.type);
            v.type = Type::tuple(std::move(types));
            return v;
        }
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
        case NodeKind::Builtin:
            if (auto t = dtype_of(node)) {
                Value v;
                v.type.kind = Type::Kind::DTypeName;
                v.type.dtype = *t;
                return v;
            }
            [[fallthrough]];
        case NodeKind::Function:
            refuse(node.place,
                   "'" + node.text + "' is a function; it can be called but not used as a value",
                   "call it: " + node.text + "(...)");
        default: UNISONO_ASSERT(!"an expression");
    }
    return {};
}

/// Evaluates in order. Where a later operand needs statements, what was read before it is kept in
/// temporaries.
std::vector<Value> FunctionLowerer::operands(std::span<const Node* const> nodes) {
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

Value FunctionLowerer::read_name(const Node& node) {
    auto it = env_.names.find(node.text);
    if (it == env_.names.end()) {
        refuse(node.place, "variable '" + node.text + "' is read before it is assigned",
               "assign it first, on every path that leads here");
    }
    const Binding& b = it->second;
    switch (b.state) {
        case State::Defined: return b.value;
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
            targets_read_after_.insert(b.loop);
            must_restart_ = true;
            return scalar(i64(0), Weak::Int);
    }
    return b.value;
}

Value FunctionLowerer::attribute(const Node& node) {
    Value v = expression(node.children[0]);
    const std::string& name = node.text;
    if (v.type.is_array()) {
        int rank = v.type.rank;
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
    refuse(node.place,
           "a value of type " + describe(v.type) + " has no attribute '" + name +
               "' in a compiled function",
           "pass what you need as an argument");
}

std::vector<E> FunctionLowerer::indices(const Node& node, const Value& array) {
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
    return list;
}

/// The items of an index that makes a view; nothing where it is full integer indexing.
std::optional<std::vector<const Node*>> FunctionLowerer::view_items(const Node& node,
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
std::optional<std::int64_t> FunctionLowerer::lower_bound(E e) const {
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

ir::Access FunctionLowerer::access_for(std::span<const E> indices) const {
    bool sure = std::all_of(indices.begin(), indices.end(),
                            [&](E e) { return lower_bound(e).value_or(-1) >= 0; });
    return sure ? ir::Access::Checked : ir::Access::Wrapped;
}

Value FunctionLowerer::subscript(const Node& node) {
    const Node& owner = node.children[0];
    if (owner.kind == NodeKind::Builtin && owner.text == "np.mgrid" && !source_.is_kernel)
        return grid(node, index_nodes(node));
    Value object = made(expression(node.children[0]), node.place);
    if (object.type.is_array()) {
        std::vector<const Node*> parts = index_nodes(node);
        if (has_array_index(parts)) return gather(node, object, parts);
        if (auto items = view_items(node, object)) return index_view(node, object, *items);
        auto where = indices(node, object);
        at(node.place);
        return scalar(b_->load(object.array, where, access_for(where)));
    }
    if (object.type.is_tuple()) {
        Value index = expression(node.children[1]);
        auto known = index.type.is_scalar() ? constant_int(index.expr) : std::nullopt;
        auto size = static_cast<std::int64_t>(object.items.size());
        if (!known) {
            refuse(node.children[1].place,
                   "a tuple must be indexed with a constant in a compiled function",
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
