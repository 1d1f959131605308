// Lowers subscripts of arrays by numbers and slices: elements and views.
#include "frontend/selections.h"

namespace unisono::frontend {

using ir::StrideClass;

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
                   " indices, which makes a view, where one element is needed",
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

/// `t[0], t[1]` for a name t that holds indices of the first axes; none where it has one for each.
std::optional<std::vector<const Node*>> Selections::items_of_tuple(const Node& name,
                                                                   const Value& tuple, int rank) {
    const bool are_numbers = std::all_of(tuple.type.items.begin(), tuple.type.items.end(),
                                         [](const Type& t) { return t.is_scalar(); });
    if (!are_numbers || static_cast<int>(tuple.items.size()) >= rank) return std::nullopt;
    std::vector<const Node*> items;
    for (std::size_t k = 0; k < tuple.items.size(); ++k) {
        auto [made, is_new] =
            learnt_.calls_by_name.emplace(std::pair(&name, "index " + std::to_string(k)), nullptr);
        if (is_new) {
            Node number;
            number.kind = NodeKind::Const;
            number.value = Scalar::of(DType::Int64, static_cast<std::int64_t>(k));
            number.place = name.place;
            Node item;
            item.kind = NodeKind::Subscript;
            item.place = name.place;
            item.children = {name, number};
            made->second = std::make_unique<Node>(item);
        }
        items.push_back(made->second.get());
    }
    return items;
}

/// The items of an index that makes a view; nothing where it is full integer indexing.
std::optional<std::vector<const Node*>> Selections::view_items(const Node& node,
                                                               const Value& array) {
    std::vector<const Node*> items = index_nodes(node);
    bool is_partial = static_cast<int>(items.size()) < array.type.rank;
    if (items.size() == 1 && items[0]->kind == NodeKind::Name) {
        auto held = env_.names.find(items[0]->text);
        if (held != env_.names.end() && held->second.value.type.is_tuple())
            return items_of_tuple(*items[0], held->second.value, array.type.rank);
    }
    bool is_call = items.size() == 1 && items[0]->kind == NodeKind::Call;
    if (is_call && array.type.rank > 1 && tried(*items[0]).is_tuple()) return std::nullopt;
    for (const Node* item : items) {
        is_partial = is_partial || item->kind == NodeKind::Slice ||
                     item->kind == NodeKind::NoneValue || is_ellipsis(*item);
    }
    return is_partial ? std::optional(items) : std::nullopt;
}

/// An element of an array, a view or what index arrays choose.
Value Selections::element(const Node& node, const Value& object) {
    std::vector<const Node*> parts = index_nodes(node);
    if (has_array_index(parts)) return gather(node, object, parts);
    if (auto items = view_items(node, object)) return index_view(node, object, *items);
    auto where = indices(node, object);
    at(node.place);
    E item = b_->load(object.array, where, access_for(where));
    Weak weak = object.type.weak;  // of bytes
    return weak == Weak::None ? scalar(item) : scalar(cast(item, default_dtype(weak)), weak);
}

/// Where an index expression is not full integer indexing: the view that it makes.
Value Selections::index_view(const Node& node, const Value& array,
                             std::span<const Node* const> items) {
    Descriptor d = describe_array(array.array);
    int rank = array.type.rank;
    int axes = 0;
    const Node* ellipsis = nullptr;
    for (const Node* item : items) {
        if (is_ellipsis(*item)) {
            if (ellipsis) refuse(item->place, "an index has one ellipsis at most", "leave one out");
            ellipsis = item;
        } else if (item->kind != NodeKind::NoneValue) {
            ++axes;
        }
    }
    if (axes > rank) {
        refuse(node.place,
               "too many indices: an array of rank " + std::to_string(rank) + " is indexed with " +
                   std::to_string(axes),
               "give " + std::to_string(rank) + " indices");
    }
    Descriptor out{d.root, d.offset, {}, {}, {}, d.writable};
    int axis = 0;
    auto keep = [&](int k) {
        auto at = static_cast<std::size_t>(k);
        out.extents.push_back(d.extents[at]);
        out.strides.push_back(d.strides[at]);
        out.classes.push_back(d.classes[at]);
    };
    auto shift = [&](E index, int k) {
        E by = op_binary(Op::Mul, index, d.strides[static_cast<std::size_t>(k)]);
        out.offset = op_binary(Op::Add, out.offset, by);
    };
    for (const Node* item : items) {
        auto k = static_cast<std::size_t>(axis);
        if (item == ellipsis) {
            for (int more = rank - axes; more > 0; --more) keep(axis++);
        } else if (item->kind == NodeKind::NoneValue) {
            out.extents.push_back(i64(1));
            out.strides.push_back(i64(0));
            out.classes.push_back(StrideClass::Zero);
        } else if (item->kind == NodeKind::Slice) {
            Cut c = cut(*item, d.extents[k]);
            shift(c.from, axis);
            bool unit = constant_int(c.step) == 1;
            out.extents.push_back(c.count);
            out.strides.push_back(unit ? d.strides[k]
                                       : pinned(op_binary(Op::Mul, d.strides[k], c.step)));
            out.classes.push_back(unit ? d.classes[k] : StrideClass::Other);
            ++axis;
        } else {
            Value v = expression(*item);
            at(item->place);
            if (!v.type.is_scalar() || !is_integer(v.type.dtype)) {
                refuse(item->place,
                       "an array index must be an integer or a slice; got " + describe(v.type),
                       v.type.is_array() ? "loop over the elements that it chooses"
                                         : "use // instead of /, or convert it with int(...)");
            }
            shift(tested_index(cast(v.expr, DType::Int64), d.extents[k], axis, item->place), axis);
            ++axis;
        }
    }
    while (axis < rank) keep(axis++);
    at(node.place);
    out.offset = pinned(out.offset);
    Value made = view("view", out);
    made.type.weak = array.type.weak;
    return made;
}

}  // namespace unisono::frontend
