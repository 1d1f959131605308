// Lowers functions that combine the elements of an array along axes; fold.cpp has their loops.
#include <algorithm>

#include "frontend/array_functions.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

using ir::LoopKind;

/// `body(repeats)` once, or twice where a test must tell whether axes of extent 1 are repeated.
void ArrayFunctions::with_repeats(const Value& v, const std::function<void(bool)>& body,
                                  const Place& place) {
    E plain = nullptr;
    if (v.lazy) {
        for (E test : v.lazy->equal) plain = plain ? op_binary(Op::And, plain, test) : test;
    }
    if (!plain) return body(false);
    std::vector<S> fast = collect([&] { body(false); });
    std::vector<S> slow = collect([&] { body(true); });
    at(place);
    emit(b_->branch(plain, b_->block(fast), b_->block(slow)));
}

/// The array with axes of extent 1 at the places `axes` of the result.
Value ArrayFunctions::with_ones(const Value& v, const std::vector<int>& axes, int rank,
                                const Place& place) {
    Descriptor d{};
    if (v.type.is_array()) {
        d = describe_array(made(v, place).array);
    } else {
        Value cell = make_array(v.type.dtype, {i64(1)}, place);
        set_item(cell.array, {i64(0)}, v.expr);
        d = describe_array(cell.array);
        d.extents.clear();
        d.strides.clear();
        d.classes.clear();
    }
    for (int k = 0; k < rank; ++k) {
        if (std::find(axes.begin(), axes.end(), k) == axes.end()) continue;
        d.extents.insert(d.extents.begin() + k, i64(1));
        d.strides.insert(d.strides.begin() + k, i64(0));
        d.classes.insert(d.classes.begin() + k, ir::StrideClass::Zero);
    }
    return view("kept", d);
}

/// What was computed in float32 for float16.
Value ArrayFunctions::rounded_once(const Value& wide, const Place& place) {
    if (wide.type.is_array()) return converted_array(wide, DType::Float16, place);
    return scalar(cast(wide.expr, DType::Float16));
}

Value ArrayFunctions::reduced(const Value& given, const Accumulation& how,
                              const std::vector<int>& axes, bool keeps, const Place& place) {
    if (is_half(how.type) && (how.op == Op::Add || how.op == Op::Mul))
        return rounded_once(reduced(given, {how.op, DType::Float32}, axes, keeps, place), place);
    Value v = reduced_axes(given, how, axes, place);
    return keeps ? with_ones(v, axes, given.type.rank, place) : v;
}

/// How many elements are combined into one.
E ArrayFunctions::elements_of(const Value& v, const std::vector<int>& axes) {
    std::vector<E> extents = extents_of(v);
    E n = i64(1);
    for (int axis : axes) n = op_binary(Op::Mul, n, extents[static_cast<std::size_t>(axis)]);
    return settle(n);
}

// ---- The functions

static DType summed_dtype(DType t) {
    if (is_bool(t)) return DType::Int64;
    return !is_integer(t) ? t : info(t).kind == 'u' ? DType::UInt64 : DType::Int64;
}

Value ArrayFunctions::call_reduce(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    auto axes = want_axes(given, a.type.rank);
    bool keeps = want_flag(given, "keepdims");
    const std::string& name = given.base;
    bool is_order = name == "max" || name == "min" || name == "amax" || name == "amin";
    bool is_any = name == "any", is_truth = is_any || name == "all";
    bool counts = name == "count_nonzero";
    Op op = name == "prod"                    ? Op::Mul
            : name == "max" || name == "amax" ? Op::Max
            : is_order                        ? Op::Min
            : is_truth                        ? (is_any ? Op::Or : Op::And)
                                              : Op::Add;
    DType t = a.type.dtype;
    if (is_truth) t = DType::Bool;
    if (counts) t = DType::Int64;
    if (!is_order && !is_truth && !counts) t = want_dtype(given).value_or(summed_dtype(t));
    Value v = a;
    if (counts || is_truth) v = converted_array(v, DType::Bool, place);
    if (v.type.dtype != t) v = converted_array(v, t, place);
    const Value* initial = given.find("initial");
    if (is_order && !initial) {
        E none = op_binary(Op::Eq, elements_of(a, *axes), i64(0));
        fault_if(none, ErrorKind::Value,
                 std::string("zero-size array to reduction operation ") +
                     (op == Op::Max ? "maximum" : "minimum") + " which has no identity",
                 place);
    }
    if (a.type.rank == 0) return finished(given, element_of(v, {}, {}, false));
    Value result = axes->empty() ? made(v, place) : reduced(v, {op, t}, *axes, keeps, place);
    if (initial) {
        result = result.type.is_array()
                     ? elementwise(
                           {*initial, result},
                           [this, op, t, place](auto x) {
                               return apply(op, to_type(x[0], t, place), x[1].expr, Weak::None);
                           },
                           place)
                     : apply(op, to_type(*initial, t, place), result.expr, Weak::None);
    }
    return finished(given, result);
}

static DType mean_dtype(DType t) { return is_float(t) || is_complex(t) ? t : DType::Float64; }

/// In which a mean or variance is computed.
DType ArrayFunctions::mean_dtype_of(const Given& given, const Value& a) {
    const DType t = want_dtype(given).value_or(mean_dtype(a.type.dtype));
    if (!is_float(t) && !is_complex(t))
        refuse_call(given, "dtype must be a float or complex one",
                    "leave it out, or convert the result");
    return t;
}

Value ArrayFunctions::call_mean(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    auto axes = want_axes(given, a.type.rank);
    const DType wanted = mean_dtype_of(given, a);
    const DType t = is_half(wanted) ? DType::Float32 : wanted;
    Value v = a.type.dtype == t ? a : converted_array(a, t, place);
    E n = elements_of(a, *axes);
    if (a.type.rank == 0) return finished(given, element_of(v, {}, {}, false));
    Value sum = reduced(v, {Op::Add, t}, *axes, want_flag(given, "keepdims"), place);
    Value mean = binary("/", sum, scalar(cast(n, t)), place);
    return finished(given, is_half(wanted) ? rounded_once(mean, place) : mean);
}

/// var and std: the mean of the squared distances from the mean.
Value ArrayFunctions::call_variance(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    if (a.type.rank == 0) refuse_call(given, "an array without axes", "give it axes");
    auto axes = want_axes(given, a.type.rank);
    const DType wanted = mean_dtype_of(given, a);
    const DType t = is_half(wanted) ? DType::Float32 : wanted;
    const DType result = part_dtype(t);
    Value v = made(a.type.dtype == t ? a : converted_array(a, t, place), place);
    E n = elements_of(a, *axes);
    Value count = scalar(cast(n, t));
    Value mean = binary("/", reduced(v, {Op::Add, t}, *axes, true, place), count, place);
    Value apart = made(binary("-", v, made(mean, place), place), place);
    Value squares = squared_size(apart, place);
    Value sum = reduced(squares, {Op::Add, result}, *axes, want_flag(given, "keepdims"), place);
    const Value* ddof = given.find("ddof");
    Value less = ddof ? scalar(to_type(*ddof, result, place)) : scalar(b_->zero(result));
    E divisor =
        op_binary(Op::Max, op_binary(Op::Sub, cast(n, result), less.expr), b_->zero(result));
    Value variance = binary("/", sum, scalar(settle(divisor)), place);
    const bool rounds = is_half(wanted);
    auto narrowed = [&](const Value& v) { return rounds ? rounded_once(v, place) : v; };
    if (given.base == "var") return finished(given, narrowed(variance));
    auto root = [this](std::span<const Value> x) { return scalar(op_unary(Op::Sqrt, x[0].expr)); };
    if (!variance.type.is_array())
        return finished(given, narrowed(root(std::vector<Value>{variance})));
    return finished(given, narrowed(elementwise({variance}, root, place)));
}

/// cumsum, cumprod: blocks of 512 elements, each combined with what came before it.
Value ArrayFunctions::call_running(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    Op op = given.base == "cumprod" ? Op::Mul : Op::Add;
    const DType wanted = want_dtype(given).value_or(summed_dtype(a.type.dtype));
    const DType t = is_half(wanted) ? DType::Float32 : wanted;
    const Value* axis = given.find("axis");
    if (!axis && a.type.rank != 1) a = reshaped(a, {size_of_array(a)}, false, place);
    int along = axis ? want_axis(given, *axis, a.type.rank) : 0;
    std::vector<E> extents = extents_of(a);
    Value out = make_array(t, extents, place);
    extents = extents_of(out);
    E n = extents[static_cast<std::size_t>(along)];
    auto run_at = [&](std::span<const E> others) {
        auto index = [&](E i) {
            std::vector<E> list(others.begin(), others.end());
            list.insert(list.begin() + along, i);
            return list;
        };
        auto item = [&](E i) { return cast(element_of(a, index(i), extents, false).expr, t); };
        std::int32_t carry = declared("carry", b_->zero(t));
        constexpr std::int64_t block = 512;
        E blocks = op_binary(Op::Shr, op_binary(Op::Add, n, i64(block - 1)), i64(9));
        counted(LoopKind::Serial, i64(0), temporary(blocks, "blocks"), [&](E k) {
            E begin = temporary(op_binary(Op::Mul, k, i64(block)), "begin");
            E end = temporary(op_binary(Op::Min, op_binary(Op::Add, begin, i64(block)), n), "end");
            E before = temporary(b_->read(carry), "before");
            std::int32_t local = declared("local", item(begin));
            E is_first = op_binary(Op::Eq, k, i64(0));
            auto whole = [&] {
                E sum = op_binary(op, before, b_->read(local));
                return b_->select(is_first, b_->read(local), sum);
            };
            set_item(out.array, index(begin), whole());
            counted(LoopKind::Serial, op_binary(Op::Add, begin, i64(1)), end, [&](E i) {
                emit(b_->assign(local, op_binary(op, b_->read(local), item(i))));
                set_item(out.array, index(i), whole());
            });
            emit(b_->assign(carry, whole()));
        });
    };
    std::vector<E> kept = without(extents, std::vector<int>{along});
    if (kept.empty()) {
        run_at({});
    } else {
        nest(kept, run_at, place);
    }
    return finished(given, is_half(wanted) ? rounded_once(out, place) : out);
}

/// ptp: the largest less the smallest.
Value ArrayFunctions::call_spread(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    auto axes = want_axes(given, a.type.rank);
    E none = op_binary(Op::Eq, elements_of(a, *axes), i64(0));
    fault_if(none, ErrorKind::Value,
             "zero-size array to reduction operation maximum which has no identity", place);
    bool keeps = want_flag(given, "keepdims");
    Value v = made(a, place);
    Value high = reduced(v, {Op::Max, v.type.dtype}, *axes, keeps, place);
    Value low = reduced(v, {Op::Min, v.type.dtype}, *axes, keeps, place);
    return finished(given, binary("-", high, low, place));
}

/// linalg.norm: of all elements, or of vectors along one axis; order 2 only.
Value ArrayFunctions::call_norm(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "x");
    if (given.find("ord")) {
        refuse_call(given, "ord beside axis or keepdims is not supported in a compiled function",
                    "leave it out for the 2-norm, or call norm of each vector or matrix");
    }
    auto axes = want_axes(given, a.type.rank);
    DType t = mean_dtype(a.type.dtype);
    Value v = made(a.type.dtype == t ? a : converted_array(a, t, place), place);
    Value sum = reduced(squared_size(v, place), {Op::Add, part_dtype(t)}, *axes,
                        want_flag(given, "keepdims"), place);
    auto root = [this](std::span<const Value> x) { return scalar(op_unary(Op::Sqrt, x[0].expr)); };
    return sum.type.is_array() ? elementwise({sum}, root, place) : root(std::vector<Value>{sum});
}

Value ArrayFunctions::call_trace(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    if (a.type.rank != 2) {
        refuse_call(given, "the array has rank " + std::to_string(a.type.rank) + ", not 2",
                    "index it down to a matrix");
    }
    std::vector<E> extents = extents_of(a);
    E n = settle(op_binary(Op::Min, extents[0], extents[1]));
    DType t = summed_dtype(a.type.dtype);
    E total = fold_long(
        n, {Op::Add, t},
        [&](E i) {
            std::vector<E> index{i, i};
            return cast(element_of(a, index, extents, false).expr, t);
        },
        place);
    return scalar(settle(total));
}

}  // namespace unisono::frontend
