// Lowers views whose elements overlap: sliding windows, and views of given strides.
#include "frontend/array_functions.h"

namespace unisono::frontend {

using ir::StrideClass;

/// sliding_window_view: the axes of the windows' places, then those inside of a window.
Value ArrayFunctions::call_windows(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given, "x");
    std::vector<E> sizes = shape_argument(given.at("window_shape"), place);
    std::vector<int> axes;
    if (const Value* axis = given.find("axis")) {
        for (const Value& item : axis->type.is_tuple() ? axis->items : std::vector<Value>{*axis})
            axes.push_back(want_axis(given, item, a.type.rank));
    } else {
        for (int k = 0; k < a.type.rank; ++k) axes.push_back(k);
    }
    if (axes.size() != sizes.size())
        refuse_call(given,
                    "the window has " + std::to_string(sizes.size()) + " axes for " +
                        std::to_string(axes.size()) + " of the array",
                    "give axis= with as many");
    Descriptor d = describe_array(a.array);
    const Descriptor whole = d;
    for (StrideClass& c : d.classes)
        if (c == StrideClass::One) c = StrideClass::Other;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        auto at = static_cast<std::size_t>(axes[k]);
        E n = pinned(sizes[k]);
        fault_if(op_binary(Op::Lt, n, i64(0)), ErrorKind::Value,
                 "`window_shape` cannot contain negative values", place);
        fault_if(op_binary(Op::Gt, n, d.extents[at]), ErrorKind::Value,
                 "window shape cannot be larger than input array shape", place);
        d.extents[at] = pinned(op_binary(Op::Sub, op_binary(Op::Add, d.extents[at], i64(1)), n));
        d.extents.push_back(n);
        d.strides.push_back(whole.strides[at]);
        bool is_last = k + 1 == axes.size();
        d.classes.push_back(is_last ? whole.classes[at] : StrideClass::Other);
    }
    d.writable = false;
    return view("windows", d);
}

/// as_strided: strides in bytes; the view stays in the memory of the array that is given.
Value ArrayFunctions::call_strided(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given, "x");
    Descriptor d = describe_array(a.array);
    std::vector<E> extents = d.extents, strides = d.strides;
    if (const Value* shape = given.find("shape")) extents = shape_argument(*shape, place);
    if (const Value* steps = given.find("strides")) {
        E size = i64(size_of(a.type.dtype));
        strides = shape_argument(*steps, place);
        for (E& step : strides) {
            fault_if(
                op_binary(Op::Ne, op_binary(Op::Mod, step, size), i64(0)), ErrorKind::Value,
                "as_strided: strides of compiled code are multiples of the elements' size; got {0}",
                place, {step});
            step = op_binary(Op::FloorDiv, step, size);
        }
    }
    if (extents.size() != strides.size())
        refuse_call(given,
                    "the shape has " + std::to_string(extents.size()) + " axes, the strides " +
                        std::to_string(strides.size()),
                    "give as many of both");
    // Elements from the first one: the lowest and the highest that the view reaches.
    auto reach = [&](const std::vector<E>& n, const std::vector<E>& step, Op op) {
        E sum = i64(0);
        for (std::size_t k = 0; k < n.size(); ++k) {
            E far = op_binary(Op::Mul, op_binary(Op::Sub, n[k], i64(1)), step[k]);
            sum = op_binary(Op::Add, sum, op_binary(op, far, i64(0)));
        }
        return sum;
    };
    E leaves = op_binary(
        Op::Or,
        op_binary(Op::Lt, reach(extents, strides, Op::Min), reach(d.extents, d.strides, Op::Min)),
        op_binary(Op::Gt, reach(extents, strides, Op::Max), reach(d.extents, d.strides, Op::Max)));
    E is_empty = b_->boolean(false), is_negative = b_->boolean(false);
    for (E& n : extents) {
        n = pinned(n);
        is_empty = op_binary(Op::Or, is_empty, op_binary(Op::Eq, n, i64(0)));
        is_negative = op_binary(Op::Or, is_negative, op_binary(Op::Lt, n, i64(0)));
    }
    fault_if(is_negative, ErrorKind::Value, "negative dimensions are not allowed", place);
    fault_if(op_binary(Op::And, leaves, op_unary(Op::Not, is_empty)), ErrorKind::Value,
             "as_strided: the view leaves the memory of the array", place);
    d.extents = extents;
    d.classes.assign(extents.size(), StrideClass::Other);
    for (E& step : strides) step = pinned(step);
    d.strides = strides;
    return view("strided", d);
}

/// x.view(dtype): the same memory as elements of another dtype, along the last axis where their
/// sizes differ.
Value ArrayFunctions::call_view(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    const DType from = a.type.dtype, to = *want_dtype(given);
    const std::int64_t before = size_of(from), after = size_of(to);
    Descriptor d = describe_array(a.array);
    at(place);
    if (before != after) {
        E& count = d.extents.back();
        E apart = op_binary(Op::And, op_binary(Op::Ne, d.strides.back(), i64(1)),
                            op_binary(Op::Gt, count, i64(1)));
        fault_if(apart, ErrorKind::Value,
                 "To change to a dtype of a different size, the last axis must be contiguous",
                 place);
        E bytes = settle(op_binary(Op::Mul, count, i64(before)));
        E odd = op_binary(Op::Ne, op_binary(Op::Mod, bytes, i64(after)), i64(0));
        for (std::size_t k = 0; k + 1 < d.strides.size(); ++k) {
            E step = settle(op_binary(Op::Mul, d.strides[k], i64(before)));
            odd = op_binary(Op::Or, odd,
                            op_binary(Op::Ne, op_binary(Op::Mod, step, i64(after)), i64(0)));
            d.strides[k] = pinned(op_binary(Op::FloorDiv, step, i64(after)));
        }
        fault_if(odd, ErrorKind::Value,
                 "When changing to a larger dtype, its size must be a divisor of the total size in "
                 "bytes of the last axis of the array.",
                 place);
        count = pinned(op_binary(Op::FloorDiv, bytes, i64(after)));
        d.strides.back() = i64(1);
        d.classes.back() = ir::StrideClass::One;
    }
    look_as(d, before, to);
    return view("seen", d);
}

}  // namespace unisono::frontend
