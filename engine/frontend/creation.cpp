// Lowers functions that make arrays: zeros and its kind, ranges, grids, triangles, copies; where
// and clip.
//
// What has a rule for its elements stays an expression: eye(n) - a makes no array of its own.
#include <algorithm>

#include "frontend/array_functions.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

using ir::StrideClass;

Value ArrayFunctions::call_filled(const Given& given) {
    const Place& place = given.node.place;
    const std::string& base = given.base;
    bool is_like = base.find("_like") != std::string::npos;
    const Value* like = is_like ? &want_array(given, "a") : nullptr;
    const Value* fill = base.rfind("full", 0) == 0 ? &given.at("fill_value") : nullptr;
    DType t = is_like ? like->type.dtype : fill ? fill->type.dtype : DType::Float64;
    t = want_dtype(given).value_or(t);
    Value array = make_array(
        t, is_like ? extents_of(*like) : shape_argument(given.at("shape"), place), place);
    if (base.rfind("empty", 0) == 0 || base == "ndarray") return array;
    if (fill && fill->type.is_array()) {
        assign_elements(array, *fill, place);
        return array;
    }
    Value start = fill ? want_number(*fill, place, "fill_value")
                       : scalar(b_->number(t, base.rfind("ones", 0) == 0 ? 1 : 0));
    assign_elements(array, start, place);
    return array;
}

Value ArrayFunctions::call_copy(const Given& given) {
    return copied(want_array(given, "a"), given.node.place);
}

Value ArrayFunctions::call_asarray(const Given& given) {
    const Value& parts = given.at("a");
    bool is_stack = parts.type.is_tuple() && !parts.items.empty() &&
                    std::all_of(parts.items.begin(), parts.items.end(),
                                [](const Value& v) { return v.type.is_array(); });
    if (is_stack) {
        Given all = given;
        all.base = "stack";
        all.values = {{"arrays", parts}};
        Value made = call_join(all);
        auto t = want_dtype(given);
        return t && *t != made.type.dtype ? converted_array(made, *t, given.node.place) : made;
    }
    const Value& a = want_array(given, "a");
    DType t = want_dtype(given).value_or(a.type.dtype);
    if (t != a.type.dtype) return made(converted_array(a, t, given.node.place), given.node.place);
    if (given.base == "array") return copied(a, given.node.place);
    if (given.base == "asarray") return made(a, given.node.place);
    return reshaped(a, extents_of(a), false, given.node.place);
}

Value ArrayFunctions::call_astype(const Given& given) {
    const Value& a = want_array(given, "a");
    return made(converted_array(a, *want_dtype(given), given.node.place), given.node.place);
}

Value ArrayFunctions::call_fill(const Given& given) {
    Value a = made_array(given, "a");
    if (!a.type.writable) refuse_readonly(a);
    assign_elements(a, want_number(given.at("value"), given.node.place, "the value"),
                    given.node.place);
    return {};
}

/// start + i * step, as NumPy: the distance of the first two elements, rounded once.
Value ArrayFunctions::call_arange(const Given& given) {
    const Place& place = given.node.place;
    Value start = given.at("start"), step = scalar(i64(1), Weak::Int), stop = start;
    if (const Value* v = given.find("stop")) {
        stop = *v;
    } else {
        start = scalar(i64(0), Weak::Int);
    }
    if (const Value* v = given.find("step")) step = *v;
    for (const Value* v : {&start, &stop, &step}) want_scalar(*v, place, "an argument of arange");
    Type type = promote_types(promote_types(start.type, stop.type), step.type);
    // Of NumPy's narrow numbers, too, NumPy makes int64 and float64.
    if (is_float(type.dtype)) type.dtype = DType::Float64;
    if (is_integer(type.dtype) && type.dtype != DType::UInt64) type.dtype = DType::Int64;
    DType t = want_dtype(given).value_or(is_bool(type.dtype) ? DType::Int64 : type.dtype);
    if (is_complex(t)) refuse_call(given, "complex ranges are not supported", "convert the result");
    E from = settle(cast(start.expr, type.dtype)), by = settle(cast(step.expr, type.dtype));
    E to = settle(cast(stop.expr, type.dtype));
    E count = nullptr;
    if (is_float(type.dtype)) {
        E spans = op_binary(Op::Div, cast(op_binary(Op::Sub, to, from), DType::Float64),
                            cast(by, DType::Float64));
        fault_if(op_binary(Op::Eq, by, b_->zero(type.dtype)), ErrorKind::ZeroDivision,
                 "division by zero", place);
        count = cast(op_unary(Op::Ceil, spans), DType::Int64);
    } else {
        from = settle(cast(from, DType::Int64));
        by = settle(cast(by, DType::Int64));
        to = settle(cast(to, DType::Int64));
        fault_if(op_binary(Op::Eq, by, i64(0)), ErrorKind::ZeroDivision, "division by zero", place);
        // ceil((to - from) / by)
        E floor = op_binary(Op::FloorDiv, op_binary(Op::Sub, from, to), by);
        count = op_unary(Op::Neg, floor);
    }
    count = settle(op_binary(Op::Max, count, i64(0)));
    E first = settle(cast(from, t));
    E second = cast(op_binary(Op::Add, from, by), t);
    E apart = settle(op_binary(Op::Sub, second, first));
    return computed({count}, t, {}, [this, t, first, apart](std::span<const E> index, bool) {
        return scalar(op_binary(Op::Add, first, op_binary(Op::Mul, cast(index[0], t), apart)));
    });
}

Value ArrayFunctions::call_linspace(const Given& given) {
    const Place& place = given.node.place;
    const Value& from = want_scalar(given.at("start"), place, "start");
    const Value& to = want_scalar(given.at("stop"), place, "stop");
    const Value* num = given.find("num");
    bool endpoint = want_flag(given, "endpoint", true);
    DType t = want_dtype(given).value_or(DType::Float64);
    E n = num ? settle(cast(want_scalar(*num, place, "num").expr, DType::Int64)) : i64(50);
    fault_if(op_binary(Op::Lt, n, i64(0)), ErrorKind::Value,
             "Number of samples, {0}, must be non-negative.", place, {n});
    if (is_complex(t)) refuse_call(given, "complex ranges are not supported", "convert the result");
    DType f = DType::Float64;
    E first = settle(cast(from.expr, f)), last = settle(cast(to.expr, f));
    E parts = settle(endpoint ? op_binary(Op::Sub, n, i64(1)) : n);
    E delta = settle(op_binary(Op::Sub, last, first));
    E divisor = settle(cast(parts, f));
    E step = settle(op_binary(Op::Div, delta, divisor));
    E is_zero_step = settle(op_binary(Op::Eq, step, b_->zero(f)));
    auto element = [=, this](std::span<const E> index, bool) {
        E i = cast(index[0], f);
        // NumPy divides first where the step underflows.
        E by_parts = op_binary(Op::Mul, op_binary(Op::Div, i, divisor), delta);
        E offset = b_->select(is_zero_step, by_parts, op_binary(Op::Mul, i, step));
        offset = b_->select(op_binary(Op::Gt, parts, i64(0)), offset, op_binary(Op::Mul, i, delta));
        E value = op_binary(Op::Add, offset, first);
        if (endpoint) {
            E is_last = op_binary(Op::And, op_binary(Op::Eq, index[0], parts),
                                  op_binary(Op::Gt, parts, i64(0)));
            value = b_->select(is_last, last, value);
        }
        if (is_integer(t)) value = op_unary(Op::Floor, value);
        return scalar(cast(value, t));
    };
    return computed({n}, t, {}, element);
}

Value ArrayFunctions::call_eye(const Given& given) {
    const Place& place = given.node.place;
    E rows =
        settle(cast(want_scalar(given.at("N"), place, "the number of rows").expr, DType::Int64));
    E columns = rows;
    if (const Value* m = given.find("M"))
        columns = settle(cast(want_scalar(*m, place, "the number of columns").expr, DType::Int64));
    E k = i64(0);
    if (const Value* given_k = given.find("k"))
        k = settle(cast(want_scalar(*given_k, place, "k").expr, DType::Int64));
    DType t = want_dtype(given).value_or(DType::Float64);
    E one = b_->number(t, 1), zero = b_->zero(t);
    return computed({rows, columns}, t, {}, [=, this](std::span<const E> index, bool) {
        E on = op_binary(Op::Eq, index[1], op_binary(Op::Add, index[0], k));
        return scalar(b_->select(on, one, zero));
    });
}

/// triu, tril: of the last two axes.
Value ArrayFunctions::call_triangle(const Given& given) {
    const Place& place = given.node.place;
    Value m = want_array(given, "m");
    if (m.type.rank < 2)
        refuse_call(given, "the array has rank " + std::to_string(m.type.rank), "give a matrix");
    E k = i64(0);
    if (const Value* given_k = given.find("k"))
        k = settle(cast(want_scalar(*given_k, place, "k").expr, DType::Int64));
    m = m.lazy && !m.lazy->equal.empty() ? made(m, place) : m;
    bool is_upper = given.base == "triu";
    std::vector<E> extents = extents_of(m);
    std::vector<std::int32_t> reads = m.lazy ? m.lazy->reads : std::vector<std::int32_t>{m.array};
    DType t = m.type.dtype;
    return computed(
        extents, t, reads,
        [=, this](std::span<const E> index, bool repeats) {
            E apart = op_binary(Op::Sub, index[index.size() - 1], index[index.size() - 2]);
            E is_kept = op_binary(is_upper ? Op::Ge : Op::Le, apart, k);
            Value item = element_of(m, index, extents, repeats);
            return scalar(b_->select(is_kept, item.expr, b_->zero(t)));
        },
        m.lazy ? m.lazy->elsewhere : std::vector<std::int32_t>{});
}

/// The diagonal of a matrix, as a view; of a vector, the matrix with that diagonal.
Value ArrayFunctions::call_diag(const Given& given) {
    const Place& place = given.node.place;
    Value v = made(as_array(given.at("v"), place), place);
    E k = i64(0);
    if (const Value* given_k = given.find("k"))
        k = settle(cast(want_scalar(*given_k, place, "k").expr, DType::Int64));
    if (v.type.is_array() && v.type.rank == 2) {
        Descriptor d = describe_array(v.array);
        E right = op_binary(Op::Max, k, i64(0)),
          down = op_binary(Op::Max, op_unary(Op::Neg, k), i64(0));
        E offset = op_binary(Op::Add, op_binary(Op::Mul, down, d.strides[0]),
                             op_binary(Op::Mul, right, d.strides[1]));
        E rows = op_binary(Op::Sub, d.extents[0], down),
          columns = op_binary(Op::Sub, d.extents[1], right);
        E count = op_binary(Op::Max, op_binary(Op::Min, rows, columns), i64(0));
        d.offset = pinned(op_binary(Op::Add, d.offset, offset));
        d.extents = {pinned(count)};
        d.strides = {pinned(op_binary(Op::Add, d.strides[0], d.strides[1]))};
        d.classes = {StrideClass::Other};
        d.writable = false;
        return view("diagonal", d);
    }
    if (!v.type.is_array() || v.type.rank != 1 || given.base == "diagonal")
        refuse_call(given, "takes a vector or a matrix; got " + describe(v.type), "give one");
    E n = extents_of(v)[0];
    E size = settle(op_binary(Op::Add, n, op_unary(Op::Abs, k)));
    E right = settle(op_binary(Op::Max, k, i64(0)));
    E down = settle(op_binary(Op::Max, op_unary(Op::Neg, k), i64(0)));
    Value out = make_array(v.type.dtype, {size, size}, place);
    assign_elements(out, scalar(b_->zero(v.type.dtype)), place);
    counted(ir::LoopKind::Vector, i64(0), n, [&](E i) {
        set_item(out.array, {op_binary(Op::Add, i, down), op_binary(Op::Add, i, right)},
                 b_->load(v.array, {i}, ir::Access::Inside));
    });
    return out;
}

/// np.mgrid[a:b, c:d]: index grids, one per axis, unpacked or indexed.
Value ArrayFunctions::grid(const Node& node, std::span<const Node* const> items) {
    std::vector<E> first, counts;
    for (const Node* item : items) {
        if (item->kind != NodeKind::Slice || item->children.at(2).kind != NodeKind::NoneValue) {
            refuse(item->place, "mgrid takes ranges without a step, as in mgrid[0:n, 0:m]",
                   "write a:b for each axis");
        }
        auto bound = [&](const Node& part) {
            if (part.kind == NodeKind::NoneValue) return i64(0);
            Value v = want_scalar(expression(part), part.place, "a bound of mgrid");
            if (!is_integer(v.type.dtype))
                refuse(part.place, "mgrid takes integers; got " + describe(v.type),
                       "multiply the grid instead");
            return settle(cast(v.expr, DType::Int64));
        };
        E from = bound(item->children[0]), to = bound(item->children[1]);
        first.push_back(from);
        counts.push_back(pinned(op_binary(Op::Max, op_binary(Op::Sub, to, from), i64(0))));
    }
    at(node.place);
    Value all;
    for (std::size_t k = 0; k < items.size(); ++k) {
        E from = first[k];
        all.items.push_back(
            computed(counts, DType::Int64, {}, [this, k, from](std::span<const E> index, bool) {
                return scalar(op_binary(Op::Add, from, index[k]));
            }));
        all.type.items.push_back(all.items.back().type);
    }
    all.type.kind = Type::Kind::Tuple;
    return all_made(all, node.place);
}

Value ArrayFunctions::call_where(const Given& given) {
    const Place& place = given.node.place;
    const Value* x = given.find("x");
    const Value* y = given.find("y");
    if (!x && !y) {
        Given one = given;
        one.values["a"] = given.at("condition");
        one.base = "nonzero";
        return call_nonzero(one);
    }
    if (!x || !y) refuse_call(given, "takes a condition alone, or two values more", "give both");
    auto choose_element = [this, place](std::span<const Value> v) {
        Type t = promote_types(v[1].type, v[2].type);
        return scalar(b_->select(cast(v[0].expr, DType::Bool), to_type(v[1], t.dtype, place),
                                 to_type(v[2], t.dtype, place)),
                      Weak::None);
    };
    std::vector<Value> values{given.at("condition"), *x, *y};
    for (const Value& v : values) {
        if (v.type.is_tuple())
            refuse_call(given, "an argument is a list or a tuple", "put np.array(...) around it");
        if (!v.type.is_array()) want_scalar(v, place, "an argument of where");
    }
    bool has_array =
        std::any_of(values.begin(), values.end(), [](const Value& v) { return v.type.is_array(); });
    if (has_array) return elementwise(values, choose_element, place);
    return choose_element(values);
}

Value ArrayFunctions::call_clip(const Given& given) {
    const Place& place = given.node.place;
    std::vector<Value> values{given.at("a")};
    std::vector<Op> ops;
    if (const Value* low = given.find("min")) values.push_back(*low), ops.push_back(Op::Max);
    if (const Value* high = given.find("max")) values.push_back(*high), ops.push_back(Op::Min);
    auto clip_element = [this, ops, place](std::span<const Value> v) {
        Type t = v[0].type;
        for (const Value& x : v) t = promote_types(t, x.type);
        E e = to_type(v[0], t.dtype, place);
        for (std::size_t k = 0; k < ops.size(); ++k)
            e = op_binary(ops[k], settle(e), to_type(v[k + 1], t.dtype, place));
        return scalar(e);
    };
    bool has_array =
        std::any_of(values.begin(), values.end(), [](const Value& v) { return v.type.is_array(); });
    for (const Value& v : values)
        if (!v.type.is_array()) want_scalar(v, place, "an argument of clip");
    return has_array ? elementwise(values, clip_element, place) : clip_element(values);
}

}  // namespace unisono::frontend
