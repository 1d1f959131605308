// Lowers indexing by arrays of integers and masks: reads stay expressions (x[index] * y makes no
// array of its own), writes run in order, so that of equal indices the last one counts.
//
// Basic items of the index make a view first, in which axes that index arrays choose from are
// whole. Indices are tested before anything is read or written. A mask becomes the index arrays of
// its true elements, but for the common case of a mask of the array's own rank, which is walked.
#include <algorithm>

#include "frontend/assignments.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

std::vector<const Node*> Selections::index_nodes(const Node& node) {
    std::vector<const Node*> items;
    for (std::size_t i = 1; i < node.children.size(); ++i) items.push_back(&node.children[i]);
    if (items.size() == 1 && items[0]->kind == NodeKind::Tuple) {
        const Node* tuple = items[0];
        items.clear();
        for (const Node& child : tuple->children) items.push_back(&child);
    }
    return items;
}

/// An array, or a tuple with one, as np.nonzero gives it: an index of as many axes.
static bool holds_array(const Type& t) {
    return t.is_array() ||
           (t.is_tuple() && std::any_of(t.items.begin(), t.items.end(),
                                        [](const Type& i) { return i.is_array(); }));
}

/// The type of an expression that is lowered later.
Type Selections::tried(const Node& node) {
    Type found;
    auto saved = checkpoint();
    Env before = env_;
    collect([&] { found = expression(node).type; });
    env_ = before;
    restore(saved);
    return found;
}

/// Whether the expression has an array as its value; most are told without a trial.
bool Selections::may_be_array(const Node& node) {
    if (auto known = chosen_.find(&node); known != chosen_.end())
        return holds_array(known->second.type);
    auto any_child = [&] {
        return std::any_of(node.children.begin(), node.children.end(),
                           [&](const Node& child) { return may_be_array(child); });
    };
    switch (node.kind) {
        case NodeKind::Const:
        case NodeKind::NoneValue:
        case NodeKind::Slice:
        case NodeKind::Builtin:
        case NodeKind::BoolOp: return false;
        case NodeKind::List: return true;  // as in np.array([0, 2])
        case NodeKind::Name: {
            auto held = env_.names.find(node.text);
            return held != env_.names.end() &&
                   (holds_array(held->second.value.type) || holds_records(held->second.value.type));
        }
        case NodeKind::BinOp:
        case NodeKind::UnaryOp:
        case NodeKind::Compare: return any_child();
        case NodeKind::Attribute:
            if (node.text == "size" || node.text == "ndim") return false;
            break;
        default: break;
    }
    // A method is no value of its own: what counts is its object.
    bool is_method = node.kind == NodeKind::Call && node.children[0].kind == NodeKind::Attribute;
    // The statements of a Let are no values either; what makes arrays may do so of numbers.
    bool makes_array =
        node.kind == NodeKind::Call &&
        (node.children[0].kind == NodeKind::Function ||
         (node.children[0].kind == NodeKind::Builtin &&
          (is_array_function(node.children[0].text) ||
           (!node.children[0].note.empty() && !op_from_numpy_name(node.children[0].note)))));
    bool may_be = node.kind == NodeKind::Let || makes_array ||
                  (is_method && may_be_array(node.children[0].children[0]));
    for (std::size_t i = is_method; i < node.children.size() && !may_be; ++i)
        may_be = may_be_array(node.children[i]);
    return may_be && holds_array(tried(node));
}

bool Selections::has_array_index(std::span<const Node* const> items) {
    return !source_.is_kernel && std::any_of(items.begin(), items.end(),
                                             [&](const Node* item) { return may_be_array(*item); });
}

/// The places of the true elements: one index array per axis of the mask.
std::vector<Value> Selections::nonzero(const Value& given, const Place& place) {
    Value mask = made(given.type.dtype == DType::Bool || given.lazy
                          ? given
                          : converted_array(given, DType::Bool, place),
                      place);
    std::vector<E> extents = extents_of(mask);
    E n = size_of_array(mask);
    std::vector<Value> places;
    for (std::size_t k = 0; k < extents.size(); ++k)
        places.push_back(make_array(DType::Int64, {n}, place));
    std::int32_t count = declared("count", i64(0));
    in_order(extents, [&](std::span<const E> index) {
        E is_set = cast(element_of(mask, index, extents, false).expr, DType::Bool);
        std::vector<S> note = collect([&] {
            for (std::size_t k = 0; k < places.size(); ++k)
                set_item(places[k].array, {b_->read(count)}, index[k]);
            emit(b_->assign(count, b_->add(b_->read(count), i64(1))));
        });
        emit(b_->branch(is_set, b_->block(note)));
    });
    at(place);
    E found = temporary(b_->read(count), "found");
    lower_bounds_[found->id] = 0;
    for (Value& v : places) {
        Descriptor d = describe_array(v.array);
        d.extents = {found};
        v = view("made", d);
    }
    return places;
}

void Selections::check_indices(const Value& index, E size, int axis, const Place& place) {
    std::vector<E> extents = extents_of(index);
    size = settle(size);
    auto outside = [&](E i) {
        E below = op_binary(Op::Lt, i, op_unary(Op::Neg, size));
        return op_binary(Op::Or, below, op_binary(Op::Ge, i, size));
    };
    auto item = [&](std::span<const E> at_index) {
        return cast(element_of(index, at_index, extents, false).expr, DType::Int64);
    };
    std::int32_t bad = declared("bad", b_->boolean(false));
    in_order(extents, [&](std::span<const E> at_index) {
        emit(b_->assign(bad, b_->binary(Op::Or, b_->read(bad), outside(item(at_index)))));
    });
    std::vector<S> report = collect([&] {
        in_order(extents, [&](std::span<const E> at_index) {
            E i = temporary(item(at_index), "index");
            fault_if(
                outside(i), ErrorKind::Index,
                "index {0} is out of bounds for axis " + std::to_string(axis) + " with size {1}",
                place, {i, size});
        });
    });
    at(place);
    emit(b_->branch(b_->read(bad), b_->block(report)));
}

/// Evaluates the items of an index with arrays among them.
Selections::Gather Selections::gathering(const Node& node, const Value& array,
                                         std::span<const Node* const> items) {
    const Place& place = node.place;
    Node none;
    none.kind = NodeKind::NoneValue;
    none.place = place;
    Node whole;
    whole.kind = NodeKind::Slice;
    whole.place = place;
    whole.children = {none, none, none};
    struct Part {
        const Node* basic = nullptr;
        std::vector<Value> indices;
    };
    std::vector<Part> parts;
    int axes = 0;
    for (const Node* item : items) {
        Part& part = parts.emplace_back();
        if (item->kind == NodeKind::Slice || item->kind == NodeKind::NoneValue ||
            is_ellipsis(*item)) {
            part.basic = item;
            axes += item->kind == NodeKind::Slice;
            continue;
        }
        Value v = expression(*item);
        at(item->place);
        if (v.type.is_tuple() && items.size() == 1) {
            for (const Value& i : v.items) {
                if (!(i.type.is_array() || i.type.is_scalar()) || !is_integer(i.type.dtype))
                    refuse(item->place,
                           "an index of several axes holds integers and arrays of integers; got " +
                               describe(i.type),
                           "write its items in the brackets");
                part.indices.push_back(i.type.is_array()
                                           ? made(i, item->place)
                                           : scalar(settle(cast(i.expr, DType::Int64)), Weak::Int));
            }
        } else if (v.type.is_array() && is_bool(v.type.dtype)) {
            part.indices = nonzero(v, item->place);
        } else if (v.type.is_array() && is_integer(v.type.dtype)) {
            part.indices = {made(v, item->place)};
        } else if (v.type.is_scalar() && is_integer(v.type.dtype)) {
            part.indices = {scalar(settle(cast(v.expr, DType::Int64)), Weak::Int)};
        } else {
            refuse(item->place,
                   "an array index must be an integer, a slice, or an array of integers or bools; "
                   "got " +
                       describe(v.type),
                   "convert it with .astype(np.int64)");
        }
        axes += static_cast<int>(part.indices.size());
    }
    if (axes > array.type.rank) {
        refuse(place,
               "too many indices: an array of rank " + std::to_string(array.type.rank) +
                   " is indexed with " + std::to_string(axes),
               "give " + std::to_string(array.type.rank) + " indices");
    }
    Gather g;
    std::vector<const Node*> basic;
    int view_axis = 0, source_axis = 0, groups = 0;
    bool in_group = false;
    for (const Part& part : parts) {
        if (part.basic) {
            in_group = false;
            basic.push_back(part.basic);
            if (is_ellipsis(*part.basic)) {
                view_axis += array.type.rank - axes;
                source_axis += array.type.rank - axes;
            } else {
                ++view_axis;
                source_axis += part.basic->kind == NodeKind::Slice;
            }
            continue;
        }
        if (!in_group) ++groups;
        if (!in_group && groups == 1) g.first = view_axis;
        in_group = true;
        std::vector<E> size = extents_of(array);
        for (const Value& index : part.indices) {
            basic.push_back(&whole);
            E n = size[static_cast<std::size_t>(source_axis)];
            if (index.type.is_array()) {
                check_indices(index, n, source_axis, place);
                g.indices.emplace_back(view_axis, index);
            } else {
                E i = tested_index(index.expr, n, source_axis, place);
                g.indices.emplace_back(view_axis, scalar(settle(i), Weak::Int));
            }
            ++view_axis;
            ++source_axis;
        }
    }
    if (groups > 1) g.first = 0;
    g.view = index_view(node, array, basic);
    for (const auto& [axis, index] : g.indices) broadcast(g.shared, extents_of(index), place);
    std::vector<E> own = extents_of(g.view);
    for (std::size_t k = 0; k < own.size(); ++k) {
        bool chosen = std::any_of(g.indices.begin(), g.indices.end(),
                                  [&](const auto& i) { return i.first == static_cast<int>(k); });
        if (!chosen) g.extents.push_back(own[k]);
    }
    g.extents.insert(g.extents.begin() + g.first, g.shared.begin(), g.shared.end());
    for (E& e : g.extents) e = pinned(e);
    return g;
}

/// Where in the view element `index` of the result comes from.
std::vector<E> Selections::gathered_index(const Gather& g, std::span<const E> index, bool repeats) {
    std::vector<E> own = extents_of(g.view);
    std::span<const E> shared = index.subspan(static_cast<std::size_t>(g.first), g.shared.size());
    std::vector<E> rest(index.begin(), index.begin() + g.first);
    rest.insert(rest.end(), index.begin() + g.first + static_cast<std::ptrdiff_t>(g.shared.size()),
                index.end());
    std::vector<E> where;
    std::size_t next = 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
        auto chosen = std::find_if(g.indices.begin(), g.indices.end(),
                                   [&](const auto& i) { return i.first == static_cast<int>(k); });
        if (chosen == g.indices.end()) {
            where.push_back(rest[next++]);
            continue;
        }
        const Value& v = chosen->second;
        if (!v.type.is_array()) {
            where.push_back(v.expr);
            continue;
        }
        E i = cast(element_of(v, shared, g.shared, repeats).expr, DType::Int64);
        bool may_be_negative = info(v.type.dtype).kind == 'i';
        if (may_be_negative) i = b_->select(b_->binary(Op::Lt, i, i64(0)), b_->add(i, own[k]), i);
        where.push_back(i);
    }
    return where;
}

Value Selections::gathered(const Gather& g) {
    std::vector<std::int32_t> reads{g.view.array};
    auto lazy = std::make_shared<Lazy>();
    for (const auto& [axis, index] : g.indices) {
        if (!index.type.is_array()) continue;
        reads.push_back(index.array);
        std::vector<E> own = extents_of(index);
        std::size_t skip = g.shared.size() - own.size();
        for (std::size_t k = 0; k < own.size(); ++k) {
            E n = g.shared[skip + k];
            if (!same_expr(own[k], n) && constant_int(own[k]) != 1)
                lazy->equal.push_back(op_binary(Op::Eq, own[k], n));
        }
    }
    lazy->extents = g.extents;
    lazy->elsewhere = reads;
    lazy->reads = std::move(reads);
    lazy->element = [this, g](std::span<const E> index, bool repeats) {
        std::vector<E> where = gathered_index(g, index, repeats);
        return scalar(b_->load(g.view.array, where, ir::Access::Inside));
    };
    Value v;
    v.lazy = lazy;
    v.type =
        Type::array(g.view.type.dtype,
                    std::vector<ir::StrideClass>(g.extents.size(), ir::StrideClass::Other), false);
    return v;
}

Value Selections::gather(const Node& node, const Value& array, std::span<const Node* const> items) {
    if (auto mask = mask_of(array, items)) return compressed(array, *mask, node.place);
    Gather g = gathering(node, array, items);
    at(node.place);
    Value v = gathered(g);
    return g.extents.empty() ? element_of(v, {}, {}, false) : v;
}

// ---- The functions

Value Selections::call_nonzero(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given);
    if (given.base == "flatnonzero") {
        if (a.type.rank != 1) a = reshaped(a, {size_of_array(a)}, false, place);
        return nonzero(a, place)[0];
    }
    if (a.type.rank == 0) refuse_call(given, "an array without axes", "give it axes");
    Value all;
    all.items = nonzero(a, place);
    for (const Value& v : all.items) all.type.items.push_back(v.type);
    all.type.kind = Type::Kind::Tuple;
    return all;
}

Value Selections::call_take(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given);
    const Value* axis = given.find("axis");
    if (!axis && a.type.rank != 1) a = reshaped(a, {size_of_array(a)}, false, place);
    int along = axis ? want_axis(given, *axis, a.type.rank) : 0;
    Value indices = made(as_array(given.at("indices"), place), place);
    bool fits = indices.type.is_array() && is_integer(indices.type.dtype);
    if (!fits)
        refuse_call(given, "indices must be integers; got " + describe(indices.type),
                    "convert them with .astype(np.int64)");
    Gather g;
    g.view = a;
    g.first = along;
    std::vector<E> own = extents_of(a);
    check_indices(indices, own[static_cast<std::size_t>(along)], along, place);
    g.indices.emplace_back(along, indices);
    g.shared = extents_of(indices);
    g.extents = own;
    g.extents.erase(g.extents.begin() + along);
    g.extents.insert(g.extents.begin() + along, g.shared.begin(), g.shared.end());
    for (E& e : g.extents) e = pinned(e);
    Value v = gathered(g);
    return g.extents.empty() ? element_of(v, {}, {}, false) : v;
}

}  // namespace unisono::frontend
