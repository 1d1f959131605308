// Lowers functions that give arrays other shapes: views where NumPy gives views, copies where it
// must.
#include <algorithm>

#include "core/promotion.h"
#include "frontend/array_functions.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

using ir::StrideClass;

E Arrays::size_of_array(const Value& v) {
    E n = i64(1);
    for (E e : extents_of(v)) n = op_binary(Op::Mul, n, e);
    return pinned(n);
}

/// Replaces one extent of -1 by what the size leaves for it.
std::vector<E> Arrays::completed_shape(std::vector<E> extents, E size, const Place& place) {
    int open = -1;
    E known = i64(1), is_odd = nullptr;
    std::vector<E> given;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        if (constant_int(extents[k]) == -1) {
            if (open >= 0)
                refuse(place, "can only specify one unknown dimension", "write the other extents");
            open = static_cast<int>(k);
            continue;
        }
        known = op_binary(Op::Mul, known, extents[k]);
        given.push_back(extents[k]);
        E below = op_binary(Op::Lt, extents[k], i64(0));
        if (extents.size() > 1 && lower_bound(extents[k]).value_or(-1) < 0)
            is_odd = is_odd ? op_binary(Op::Or, is_odd, below) : below;
    }
    known = within_memory(known, given);
    if (is_odd) known = b_->select(is_odd, i64(-1), known);
    known = settle(known);
    if (open >= 0) {
        E fits = op_binary(Op::And, op_binary(Op::Gt, known, i64(0)),
                           op_binary(Op::Eq, op_binary(Op::Mod, size, known), i64(0)));
        fault_if(op_unary(Op::Not, fits), ErrorKind::Value,
                 "cannot reshape array of size {0} into the shape given", place, {size});
        extents[static_cast<std::size_t>(open)] = pinned(op_binary(Op::FloorDiv, size, known));
    } else if (!same_expr(known, size)) {
        fault_if(op_binary(Op::Ne, known, size), ErrorKind::Value,
                 "cannot reshape array of size {0} into a shape of {1} elements", place,
                 {size, known});
    }
    return extents;
}

/// The elements in row-major order under another shape: the same memory where they lie side by side
/// in it.
Value Arrays::reshaped(const Value& given, std::vector<E> extents, bool copies,
                       const Place& place) {
    Value array = copies ? copied(given, place) : made(given, place);
    extents = completed_shape(std::move(extents), size_of_array(array), place);
    for (E& e : extents) e = pinned(e);
    Descriptor d = describe_array(array.array);
    E packed = nullptr;  // a test; null where it is known
    E count = i64(1);
    for (std::size_t k = d.extents.size(); k-- > 0;) {
        bool is_one = constant_int(d.extents[k]) == 1;
        bool is_unit = constant_int(count) == 1 && d.classes[k] == StrideClass::One;
        if (!is_one && !is_unit && !same_expr(d.strides[k], count)) {
            E fits = op_binary(Op::Or, op_binary(Op::Eq, d.strides[k], count),
                               op_binary(Op::Le, d.extents[k], i64(1)));
            packed = packed ? op_binary(Op::And, packed, fits) : fits;
        }
        count = pinned(op_binary(Op::Mul, count, d.extents[k]));
    }
    Descriptor out{d.root, d.offset, extents, {}, {}, d.writable};
    if (packed) {
        DType t = array.type.dtype;
        std::int32_t slot = b_->slot("reshaped", t, d.writable);
        std::int32_t offset = declared("offset", d.offset);
        packed = temporary(packed, "packed");
        emit(b_->point(slot, d.root));
        std::vector<S> copy = collect([&] {
            Value own = copied(array, place);
            emit(b_->point(slot, describe_array(own.array).root));
            emit(b_->assign(offset, i64(0)));
        });
        at(place);
        emit(b_->branch(op_unary(Op::Not, packed), b_->block(copy)));
        out.root = slot;
        out.offset = b_->read(offset);
    }
    out.strides.resize(extents.size());
    out.classes.assign(extents.size(), StrideClass::Other);
    if (!extents.empty()) out.classes.back() = StrideClass::One;
    E step = i64(1);
    for (std::size_t k = extents.size(); k-- > 0;) {
        out.strides[k] = step;
        step = pinned(op_binary(Op::Mul, step, extents[k]));
    }
    return view("reshaped", out);
}

Value ArrayFunctions::permuted(const Value& given, const std::vector<int>& axes,
                               const Place& place) {
    Value array = made(given, place);
    Descriptor d = describe_array(array.array), out = d;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        auto from = static_cast<std::size_t>(axes[k]);
        out.extents[k] = d.extents[from];
        out.strides[k] = d.strides[from];
        // Only the last axis is known to be packed by its class.
        bool is_last = k + 1 == axes.size();
        out.classes[k] =
            is_last || d.classes[from] != StrideClass::One ? d.classes[from] : StrideClass::Other;
    }
    return view("transposed", out);
}

Value ArrayFunctions::transposed(const Value& array, const Place& place) {
    std::vector<int> axes;
    for (int k = array.type.rank; k-- > 0;) axes.push_back(k);
    return permuted(array, axes, place);
}

Value ArrayFunctions::call_reshape(const Given& given) {
    const Value& a = want_array(given, "a");
    return reshaped(a, shape_argument(given.at("shape"), given.node.place), false,
                    given.node.place);
}

Value ArrayFunctions::call_ravel(const Given& given) {
    const Value& a = want_array(given, "a");
    bool copies = given.base == "flatten" && !a.lazy;
    return reshaped(a, {size_of_array(a)}, copies, given.node.place);
}

/// A view with the axes in an order that is known when the program runs.
Value ArrayFunctions::permuted_by(const Value& given, std::span<const Value> axes,
                                  const Place& place) {
    const Value array = made(given, place);
    const Descriptor d = describe_array(array.array);
    const auto rank = static_cast<std::int64_t>(axes.size());
    Descriptor out = d;
    E seen = i64(0);
    for (std::size_t k = 0; k < axes.size(); ++k) {
        E from = pinned(cast(axes[k].expr, DType::Int64));
        E is_low = op_binary(Op::Lt, from, i64(0));
        E axis = pinned(b_->select(is_low, op_binary(Op::Add, from, i64(rank)), from));
        E is_out =
            op_binary(Op::Or, op_binary(Op::Lt, axis, i64(0)), op_binary(Op::Ge, axis, i64(rank)));
        fault_if(is_out, ErrorKind::Value, "axis is out of bounds for the array's dimensions",
                 place);
        E bit = pinned(op_binary(Op::Shl, i64(1), axis));
        fault_if(op_binary(Op::Ne, op_binary(Op::And, seen, bit), i64(0)), ErrorKind::Value,
                 "repeated axis in transpose", place);
        seen = pinned(op_binary(Op::Or, seen, bit));
        out.extents[k] = d.extents[0];
        out.strides[k] = d.strides[0];
        for (std::size_t other = 1; other < axes.size(); ++other) {
            E is_it = op_binary(Op::Eq, axis, i64(static_cast<std::int64_t>(other)));
            out.extents[k] = b_->select(is_it, d.extents[other], out.extents[k]);
            out.strides[k] = b_->select(is_it, d.strides[other], out.strides[k]);
        }
        out.extents[k] = pinned(out.extents[k]);
        out.strides[k] = pinned(out.strides[k]);
        out.classes[k] = StrideClass::Other;
    }
    return view("transposed", out);
}

Value ArrayFunctions::call_transpose(const Given& given) {
    const Value& a = want_array(given, "a");
    const Value* given_axes = given.find("axes");
    if (!given_axes) return transposed(a, given.node.place);
    std::vector<int> axes;
    std::vector<Value> items =
        given_axes->type.is_tuple() ? given_axes->items : std::vector<Value>{*given_axes};
    const bool are_numbers = static_cast<int>(items.size()) == a.type.rank &&
                             std::all_of(items.begin(), items.end(), [](const Value& v) {
                                 return v.type.is_scalar() && is_integer(v.type.dtype);
                             });
    const bool are_known = std::all_of(items.begin(), items.end(), [](const Value& v) {
        return v.type.is_scalar() && constant_int(v.expr);
    });
    if (are_numbers && !are_known) return permuted_by(a, items, given.node.place);
    for (const Value& item : items) axes.push_back(want_axis(given, item, a.type.rank));
    std::vector<int> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    bool is_whole = static_cast<int>(axes.size()) == a.type.rank &&
                    std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    if (!is_whole) refuse_call(given, "axes don't match array", "name each axis once");
    return permuted(a, axes, given.node.place);
}

Value ArrayFunctions::call_swap(const Given& given) {
    const Value& a = want_array(given, "a");
    int from = want_axis(given, given.at("axis1"), a.type.rank);
    int to = want_axis(given, given.at("axis2"), a.type.rank);
    std::vector<int> axes;
    for (int k = 0; k < a.type.rank; ++k) axes.push_back(k);
    if (given.base == "swapaxes") {
        std::swap(axes[static_cast<std::size_t>(from)], axes[static_cast<std::size_t>(to)]);
    } else {
        axes.erase(axes.begin() + from);
        axes.insert(axes.begin() + to, from);
    }
    return permuted(a, axes, given.node.place);
}

Value ArrayFunctions::call_flip(const Given& given) {
    Value m = made_array(given, "m");
    Given with = given;
    if (given.base == "flipud") with.values["axis"] = scalar(i64(0), Weak::Int);
    if (given.base == "fliplr") with.values["axis"] = scalar(i64(1), Weak::Int);
    std::vector<int> axes = *want_axes(with, m.type.rank);
    Descriptor d = describe_array(m.array);
    for (int axis : axes) {
        auto k = static_cast<std::size_t>(axis);
        E last = op_binary(Op::Sub, d.extents[k], i64(1));
        // An empty axis has no last element; its offset does not matter.
        d.offset = op_binary(Op::Add, d.offset, op_binary(Op::Mul, last, d.strides[k]));
        d.strides[k] = pinned(op_unary(Op::Neg, d.strides[k]));
        d.classes[k] =
            d.classes[k] == StrideClass::One ? StrideClass::MinusOne : StrideClass::Other;
    }
    d.offset = pinned(d.offset);
    return view("flipped", d);
}

Value ArrayFunctions::call_expand(const Given& given) {
    const Value& a = want_array(given, "a");
    const Value& axis = given.at("axis");
    std::vector<Value> items = axis.type.is_tuple() ? axis.items : std::vector<Value>{axis};
    int rank = a.type.rank + static_cast<int>(items.size());
    std::vector<int> axes;
    for (const Value& item : items) axes.push_back(want_axis(given, item, rank));
    return with_ones(a, axes, rank, given.node.place);
}

Value ArrayFunctions::call_squeeze(const Given& given) {
    Value a = made_array(given);
    Descriptor d = describe_array(a.array);
    std::vector<int> axes;
    if (given.find("axis")) {
        axes = *want_axes(given, a.type.rank);
    } else {
        // The rank must be known now: of the other axes the program finds out that none is dropped.
        for (int k = 0; k < a.type.rank; ++k) {
            E n = d.extents[static_cast<std::size_t>(k)];
            auto known = constant_int(n);
            if (known == 1) axes.push_back(k);
            if (known) continue;
            fault_if(op_binary(Op::Eq, n, i64(1)), ErrorKind::Value,
                     given.name + ": axis " + std::to_string(k) +
                         " has extent 1, which was not known when compiling; got no axis=; "
                         "expected the axes to drop; name them",
                     given.node.place);
        }
    }
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        E n = d.extents[static_cast<std::size_t>(*axis)];
        fault_if(op_binary(Op::Ne, n, i64(1)), ErrorKind::Value,
                 "cannot select an axis to squeeze out which has size not equal to one",
                 given.node.place);
        d.extents.erase(d.extents.begin() + *axis);
        d.strides.erase(d.strides.begin() + *axis);
        d.classes.erase(d.classes.begin() + *axis);
    }
    return view("squeezed", d);
}

Value ArrayFunctions::call_broadcast(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    std::vector<E> extents = shape_argument(given.at("shape"), place);
    Descriptor d = describe_array(a.array);
    if (extents.size() < d.extents.size())
        refuse_call(given, "the shape has fewer axes than the array", "give as many at least");
    std::size_t skip = extents.size() - d.extents.size();
    for (std::size_t k = 0; k < d.extents.size(); ++k) {
        E own = d.extents[k], n = extents[skip + k];
        if (same_expr(own, n)) continue;
        E is_one = op_binary(Op::Eq, own, i64(1));
        fault_if(op_unary(Op::Not, op_binary(Op::Or, is_one, op_binary(Op::Eq, own, n))),
                 ErrorKind::Value, "cannot broadcast an axis of extent {0} to {1}", place,
                 {own, n});
        d.strides[k] = pinned(b_->select(is_one, i64(0), d.strides[k]));
        d.classes[k] = StrideClass::Other;
    }
    d.strides.insert(d.strides.begin(), skip, i64(0));
    d.classes.insert(d.classes.begin(), skip, StrideClass::Zero);
    d.extents = extents;
    for (E& e : d.extents) e = pinned(e);
    d.writable = false;
    return view("broadcast", d);
}

/// concatenate, stack and their kind: parts of a new array.
Value ArrayFunctions::call_join(const Given& given) {
    const Place& place = given.node.place;
    const Value& tuple = given.at("arrays");
    if (!tuple.type.is_tuple() || tuple.items.empty()) {
        refuse_call(given, "takes a tuple of arrays; got " + describe(tuple.type),
                    "write the arrays in parentheses");
    }
    std::vector<Value> parts;
    std::vector<DType> dtypes;
    for (const Value& item : tuple.items) {
        Value v = item.type.is_list() ? as_array(item) : as_array(item, place);
        if (!v.type.is_array())
            refuse_call(given, "takes arrays; got " + describe(item.type), "give arrays");
        parts.push_back(v);
        dtypes.push_back(v.type.dtype);
    }
    const DType t = promote(dtypes);
    const std::string& base = given.base;
    if (auto said = given.values.find("axis"); said != given.values.end() && !given.find("axis")) {
        for (Value& v : parts)  // axis=None
            if (v.type.rank != 1) v = reshaped(v, {size_of_array(v)}, false, place);
    }
    int rank = parts[0].type.rank;
    for (const Value& v : parts) {
        if (v.type.rank != rank) {
            refuse_call(given,
                        "all the input array dimensions must match; got ranks " +
                            std::to_string(rank) + " and " + std::to_string(v.type.rank),
                        "reshape them to one rank");
        }
    }
    const Value* axis = given.find("axis");
    bool adds_axis =
        base == "stack" || (base == "vstack" && rank <= 1) || (base == "column_stack" && rank == 1);
    int along = 0;
    if (base == "hstack") along = rank > 1 ? 1 : 0;
    if (base == "column_stack") along = 1;
    if (axis) along = want_axis(given, *axis, rank + adds_axis);
    if (rank == 0 && !adds_axis)
        refuse_call(given, "zero-dimensional arrays cannot be concatenated", "use stack");
    if (adds_axis) {
        for (Value& v : parts) v = with_ones(made(v, place), {along}, rank + 1, place);
    }
    std::vector<E> extents = extents_of(parts[0]);
    auto k = static_cast<std::size_t>(along);
    E total = extents[k];
    for (std::size_t i = 1; i < parts.size(); ++i) {
        std::vector<E> own = extents_of(parts[i]);
        for (std::size_t a = 0; a < own.size(); ++a) {
            if (a == k || same_expr(own[a], extents[a])) continue;
            fault_if(op_binary(Op::Ne, own[a], extents[a]), ErrorKind::Value,
                     "all the input array dimensions except for the concatenation axis must match "
                     "exactly: axis " +
                         std::to_string(a) + " has extents {0} and {1}",
                     place, {extents[a], own[a]});
        }
        total = op_binary(Op::Add, total, own[k]);
    }
    extents[k] = pinned(total);
    Value out = make_array(t, extents, place);
    E begin = i64(0);
    for (const Value& part : parts) {
        Descriptor d = describe_array(out.array);
        E n = extents_of(part)[k];
        d.offset = pinned(op_binary(Op::Add, d.offset, op_binary(Op::Mul, begin, d.strides[k])));
        d.extents = extents_of(part);
        assign_elements(view("part", d), part, place);
        begin = pinned(op_binary(Op::Add, begin, n));
    }
    return out;
}

Value ArrayFunctions::call_repeat(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given);
    const Value* axis = given.find("axis");
    if (!axis && a.type.rank != 1) a = reshaped(a, {size_of_array(a)}, false, place);
    int along = axis ? want_axis(given, *axis, a.type.rank) : 0;
    const Value& repeats = want_scalar(given.at("repeats"), place, "repeats");
    E times = settle(cast(repeats.expr, DType::Int64));
    fault_if(op_binary(Op::Lt, times, i64(0)), ErrorKind::Value,
             "repeats may not contain negative values.", place);
    std::vector<E> own = extents_of(a), extents = own;
    auto k = static_cast<std::size_t>(along);
    extents[k] = pinned(op_binary(Op::Mul, own[k], times));
    return computed(extents, a.type.dtype, {a.array},
                    [=, this](std::span<const E> index, bool repeated) {
                        std::vector<E> from(index.begin(), index.end());
                        E divisor = op_binary(Op::Max, times, i64(1));
                        from[k] = op_binary(Op::FloorDiv, from[k], divisor);
                        return element_of(a, from, own, repeated);
                    },
                    {a.array});
}

Value ArrayFunctions::call_roll(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given);
    std::vector<E> shape = extents_of(a);
    const Value* axis = given.find("axis");
    bool is_flat = !axis && a.type.rank != 1;
    if (is_flat) a = reshaped(a, {size_of_array(a)}, false, place);
    int along = axis ? want_axis(given, *axis, a.type.rank) : 0;
    std::vector<E> extents = extents_of(a);
    auto k = static_cast<std::size_t>(along);
    E n = extents[k];
    E shift = cast(want_scalar(given.at("shift"), place, "shift").expr, DType::Int64);
    E by = settle(op_binary(Op::Mod, settle(shift), op_binary(Op::Max, n, i64(1))));
    Value rolled = computed(extents, a.type.dtype, {a.array},
                            [=, this](std::span<const E> index, bool repeats) {
                                std::vector<E> from(index.begin(), index.end());
                                E i = op_binary(Op::Sub, from[k], by);
                                from[k] = b_->select(op_binary(Op::Lt, i, i64(0)),
                                                     op_binary(Op::Add, i, n), i);
                                return element_of(a, from, extents, repeats);
                            },
                            {a.array});
    return is_flat ? reshaped(made(rolled, place), shape, false, place) : rolled;
}

/// np.shape, np.size, np.ndim
Value ArrayFunctions::call_shape(const Given& given) {
    const Value& a = want_array(given, "a");
    if (given.base == "ndim") return scalar(i64(a.type.rank), Weak::Int);
    if (given.base == "size") return scalar(size_of_array(a), Weak::Int);
    Value t;
    for (E e : extents_of(a)) {
        t.items.push_back(scalar(e, Weak::Int));
        t.type.items.push_back(t.items.back().type);
    }
    t.type.kind = Type::Kind::Tuple;
    return t;
}

}  // namespace unisono::frontend
