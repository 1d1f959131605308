// Lowers products of arrays, decompositions and sorts: loops for the product of two
// vectors, else calls of the engine's own functions (core/native/native.h).
#include <algorithm>
#include <array>

#include "frontend/array_functions.h"
#include "frontend/exceptions.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

using ir::StrideClass;

/// Multiplications up to which a call costs more than loops in place; library/linalg/matmul.cpp has
/// it too.
static constexpr std::int64_t small_product = 256;

/// The sum of a[i] * b[i] in an order that the length alone decides.
Value ArrayFunctions::dot_product(const Value& a, const Value& b, const Place& place) {
    DType t = promote(a.type.dtype, b.type.dtype);
    auto settled = [&](const Value& v) {
        return v.lazy && !v.lazy->equal.empty() ? made(v, place) : v;
    };
    Value x = settled(a), y = settled(b);
    std::vector<E> n = extents_of(x), m = extents_of(y);
    if (!same_expr(n[0], m[0])) {
        n[0] = settle(n[0]);
        m[0] = settle(m[0]);
        fault_if(op_binary(Op::Ne, n[0], m[0]), ErrorKind::Value,
                 "shapes ({0},) and ({1},) not aligned: {0} != {1}", place, {n[0], m[0]});
    }
    std::int32_t sum = declared("dot", b_->zero(t));
    std::int32_t k = b_->var("k", DType::Int64);
    lower_bounds_[k] = 0;
    std::vector<S> body = collect([&] {
        std::vector<E> index{b_->read(k)};
        E item =
            op_binary(is_bool(t) ? Op::And : Op::Mul, cast(element_of(x, index, n, false).expr, t),
                      cast(element_of(y, index, m, false).expr, t));
        emit(b_->assign(sum, b_->binary(is_bool(t) ? Op::Or : Op::Add, b_->read(sum), item)));
    });
    at(place);
    ir::Stmt loop =
        *b_->loop(ir::LoopKind::Serial, k, i64(0), settle(n[0]), i64(1), b_->block(body));
    loop.any_order = true;
    emit(b_->own(loop));
    return scalar(b_->read(sum));
}

/// out = a @ b in plain loops, in the order of the library's own for such products.
void ArrayFunctions::small_product_loops(const Value& a, const Value& b, const Value& out,
                                         const std::array<E, 3>& sizes, bool is_row,
                                         bool is_column) {
    DType t = out.type.dtype;
    const E m = sizes[0], n = sizes[1], k = sizes[2];
    auto serial = [&](E end, const std::function<void(E)>& body) {
        counted(ir::LoopKind::Serial, i64(0), end, body);
    };
    serial(m, [&](E i) {
        serial(n, [&](E j) {
            std::int32_t sum = declared("dot", b_->zero(t));
            serial(k, [&](E p) {
                E x = b_->load(a.array, std::vector<E>{i, p}, ir::Access::Inside);
                E y = b_->load(b.array, std::vector<E>{p, j}, ir::Access::Inside);
                E item = op_binary(is_bool(t) ? Op::And : Op::Mul, x, y);
                emit(b_->assign(sum,
                                b_->binary(is_bool(t) ? Op::Or : Op::Add, b_->read(sum), item)));
            });
            std::vector<E> index;
            if (!is_row) index.push_back(i);
            if (!is_column) index.push_back(j);
            set_item(out.array, index, b_->read(sum));
        });
    });
}

/// The product of a vector and a matrix that is an expression: sums of elements that are computed
/// as they are needed, where the sum of numbers may be taken in any order.
std::optional<Value> ArrayFunctions::expression_by_vector(const Value& a, const Value& b,
                                                          const Place& place) {
    const bool is_row = a.type.rank == 1;
    const Value& matrix = is_row ? b : a;
    const bool fits = a.type.rank + b.type.rank == 3 && matrix.lazy && !matrix.lazy->view &&
                      matrix.lazy->by_elements && matrix.lazy->equal.empty();
    DType t = promote(a.type.dtype, b.type.dtype);
    if (!fits || !is_float(t) || is_half(t)) return {};
    Value vector = made(is_row ? a : b, place);
    E n = extents_of(matrix)[is_row ? 0 : 1];
    Descriptor d = describe_array(vector.array);
    check_product(n, d.extents[0], is_row, place);
    d.extents[0] = n;
    if (is_row) {
        d.extents.push_back(i64(1));
        d.strides.push_back(i64(0));
        d.classes.push_back(StrideClass::Zero);
    }
    Value items = binary("*", matrix, view("factor", d), place);
    return reduced(items, {Op::Add, t}, {is_row ? 0 : 1}, false, place);
}

/// Checks the lengths of the axis that a product sums over, those of b and a for a row.
void ArrayFunctions::check_product(E k, E other, bool is_row, const Place& place) {
    if (same_expr(k, other)) return;
    k = settle(k);
    other = settle(other);
    if (is_row) std::swap(k, other);
    fault_if(op_binary(Op::Ne, k, other), ErrorKind::Value,
             "matmul: the last axis of the first operand and the last but one of the second "
             "differ: {0} and {1}",
             place, {k, other});
}

/// a @ b
Value ArrayFunctions::product(const Value& first, const Value& second, const Place& place) {
    for (const Value* v : {&first, &second}) {
        if (!v->type.is_array() || v->type.rank == 0) {
            refuse(place, "'@' multiplies arrays; got " + describe(v->type), "use * for numbers");
        }
    }
    if (source_.is_kernel)
        refuse(place, "'@' of arrays in a kernel", "write the loops of the product");
    if (is_half(promote(first.type.dtype, second.type.dtype))) {
        Value wide = converted_array(first, DType::Float32, place);
        return rounded_once(product(wide, second, place), place);
    }
    if (first.type.rank == 1 && second.type.rank == 1) return dot_product(first, second, place);
    if (auto sums = expression_by_vector(first, second, place)) return *sums;
    DType t = promote(first.type.dtype, second.type.dtype);
    auto ready = [&](const Value& v) {
        return made(v.type.dtype == t ? v : converted_array(v, t, place), place);
    };
    Value a = ready(first), b = ready(second);
    bool is_row = a.type.rank == 1, is_column = b.type.rank == 1;
    Descriptor x = describe_array(a.array), y = describe_array(b.array);
    auto insert = [&](Descriptor& d, std::ptrdiff_t at) {
        d.extents.insert(d.extents.begin() + at, i64(1));
        d.strides.insert(d.strides.begin() + at, i64(0));
        d.classes.insert(d.classes.begin() + at, StrideClass::Zero);
    };
    if (is_row) insert(x, 0);
    if (is_column) insert(y, 1);
    std::size_t p = x.extents.size(), q = y.extents.size();
    E m = settle(x.extents[p - 2]), k = settle(x.extents[p - 1]), n = settle(y.extents[q - 1]);
    check_product(k, y.extents[q - 2], false, place);
    std::vector<E> lead;
    std::vector<E> x_lead(x.extents.begin(), x.extents.end() - 2),
        y_lead(y.extents.begin(), y.extents.end() - 2);
    broadcast(lead, x_lead, place);
    broadcast(lead, y_lead, place);
    std::vector<E> extents = lead;
    if (!is_row) extents.push_back(m);
    if (!is_column) extents.push_back(n);
    Value out = make_array(t, extents, place);
    auto by_library = [&] {
        std::vector<E> values{i64(0),
                              i64(static_cast<std::int64_t>(t)),
                              m,
                              n,
                              k,
                              address_of(a),
                              x.strides[p - 2],
                              x.strides[p - 1],
                              address_of(b),
                              y.strides[q - 2],
                              y.strides[q - 1],
                              address_of(out),
                              i64(static_cast<std::int64_t>(lead.size()))};
        auto stride_of = [&](const Descriptor& d, std::size_t axis) -> E {
            std::size_t rank = d.extents.size() - 2;
            if (axis + rank < lead.size()) return i64(0);
            std::size_t own = axis + rank - lead.size();
            if (same_expr(d.extents[own], lead[axis])) return d.strides[own];
            return b_->select(op_binary(Op::Eq, d.extents[own], i64(1)), i64(0), d.strides[own]);
        };
        for (std::size_t axis = 0; axis < lead.size(); ++axis) {
            values.push_back(lead[axis]);
            values.push_back(stride_of(x, axis));
            values.push_back(stride_of(y, axis));
        }
        at(place);
        E status = native("matmul", values, 1)[0];
        fault_if(op_binary(Op::Ne, status, i64(0)), ErrorKind::Memory,
                 "out of memory for a product of arrays", place);
    };
    if (!lead.empty()) {
        by_library();
        return out;
    }
    E is_small = settle(
        op_binary(Op::Le, op_binary(Op::Mul, op_binary(Op::Mul, m, n), k), i64(small_product)));
    std::vector<S> here = collect([&] {
        Value left = view("factor", x), right = view("factor", y);
        small_product_loops(left, right, out, {m, n, k}, is_row, is_column);
    });
    std::vector<S> there = collect(by_library);
    at(place);
    emit(b_->branch(is_small, b_->block(here), b_->block(there)));
    return out;
}

Value ArrayFunctions::call_product(const Given& given) {
    const Place& place = given.node.place;
    Value a = given.at("a"), b = given.at("b");
    bool has_number = a.type.is_scalar() || b.type.is_scalar() ||
                      (a.type.is_array() && a.type.rank == 0) ||
                      (b.type.is_array() && b.type.rank == 0);
    if (given.base != "matmul" && has_number) {
        Value v = binary("*", a, b, place);
        return v.type.is_array() && v.type.rank == 0 ? element_of(v, {}, {}, false) : v;
    }
    want_array(given, "a");
    want_array(given, "b");
    if (given.base != "matmul" && (a.type.rank > 2 || b.type.rank > 2)) {
        refuse_call(given, "arrays of more than two axes are not supported in a compiled function",
                    "use @, which multiplies stacks of matrices");
    }
    if (given.base == "inner" && b.type.rank == 2) b = transposed(b, place);
    if (given.base == "vdot") {
        a = reshaped(a, {size_of_array(a)}, false, place);
        b = reshaped(b, {size_of_array(b)}, false, place);
        if (is_complex(a.type.dtype)) a = *complex_function("conj", a, place);
    }
    return product(a, b, place);
}

Value ArrayFunctions::call_outer(const Given& given) {
    const Place& place = given.node.place;
    auto vector = [&](const char* key, int ones_before, int ones_behind) {
        Value v = made(as_array(given.at(key), place), place);
        if (!v.type.is_array()) want_array(given, key);
        if (v.type.rank != 1) v = reshaped(v, {size_of_array(v)}, false, place);
        Descriptor d = describe_array(v.array);
        auto insert = [&](std::ptrdiff_t at) {
            d.extents.insert(d.extents.begin() + at, i64(1));
            d.strides.insert(d.strides.begin() + at, i64(0));
            d.classes.insert(d.classes.begin() + at, StrideClass::Zero);
        };
        if (ones_before) insert(0);
        if (ones_behind) insert(1);
        return view("outer", d);
    };
    return binary("*", vector("a", 0, 1), vector("b", 1, 0), place);
}

/// linalg.cholesky, inv, solve, det of one matrix.
Value ArrayFunctions::call_factor(const Given& given) {
    const Place& place = given.node.place;
    const std::string& base = given.base;
    const Value& a = want_array(given, "a");
    if (a.type.rank != 2) {
        refuse_call(given,
                    "the array has rank " + std::to_string(a.type.rank) +
                        "; compiled functions decompose one matrix at a time",
                    "loop over the matrices");
    }
    DType t = is_float(a.type.dtype) || is_complex(a.type.dtype) ? a.type.dtype : DType::Float64;
    const Value* b = given.find("b");
    if (base == "solve" && !b)
        refuse_call(given, "b is a vector or a matrix; got None", "give one");
    if (b) {
        if (!b->type.is_array() || b->type.rank < 1 || b->type.rank > 2)
            refuse_call(given, "b is a vector or a matrix; got " + describe(b->type), "give one");
        t = promote(t, b->type.dtype);
    }
    auto own = [&](const Value& v) {
        return copied(v.type.dtype == t ? v : converted_array(v, t, place), place);
    };
    Value matrix = own(a);
    std::vector<E> extents = extents_of(matrix);
    E n = extents[0];
    const std::int32_t no_factors = exception_number("LinAlgError");
    fault_if(op_binary(Op::Ne, n, extents[1]), ErrorKind::Value,
             "Last 2 dimensions of the array must be square", place, {}, no_factors);
    E dtype = i64(static_cast<std::int64_t>(t));
    if (base == "det") {
        Value out = make_array(t, {i64(1)}, place);
        native("det", {i64(0), dtype, n, address_of(matrix), address_of(out)}, 1);
        return scalar(temporary(b_->load(out.array, {i64(0)}, ir::Access::Inside)));
    }
    Value out = matrix;
    E status = nullptr;
    if (base == "cholesky") {
        status = native("cholesky", {i64(0), dtype, n, address_of(matrix)}, 1)[0];
    } else if (base == "inv") {
        out = make_array(t, extents, place);
        status = native("inv", {i64(0), dtype, n, address_of(matrix), address_of(out)}, 1)[0];
    } else {
        out = own(*b);
        std::vector<E> right = extents_of(out);
        fault_if(op_binary(Op::Ne, n, right[0]), ErrorKind::Value,
                 "solve: the matrix has {0} rows and b has {1}", place, {n, right[0]});
        E columns = right.size() == 2 ? right[1] : i64(1);
        status =
            native("solve", {i64(0), dtype, n, columns, address_of(matrix), address_of(out)}, 1)[0];
    }
    fault_if(op_binary(Op::Lt, status, i64(0)), ErrorKind::Memory,
             "out of memory for a decomposition", place);
    fault_if(op_binary(Op::Gt, status, i64(0)), ErrorKind::Value,
             base == "cholesky" ? "Matrix is not positive definite" : "Singular matrix", place, {},
             no_factors);
    return out;
}

/// sort, argsort along an axis; x.sort() in place.
Value ArrayFunctions::call_sort(const Given& given) {
    const Place& place = given.node.place;
    Value a = made_array(given);
    const Value* axis = given.find("axis");
    bool is_flat = !axis && given.values.count("axis") > 0;
    if (is_flat) a = reshaped(a, {size_of_array(a)}, false, place);
    if (a.type.rank == 0) refuse_call(given, "an array without axes", "give it axes");
    int along = axis ? want_axis(given, *axis, a.type.rank) : a.type.rank - 1;
    std::vector<int> axes;
    for (int k = 0; k < a.type.rank; ++k) axes.push_back(k);
    std::swap(axes[static_cast<std::size_t>(along)], axes.back());
    Value packed = copied(permuted(a, axes, place), place);
    std::vector<E> extents = extents_of(packed);
    E n = extents.back();
    E all = size_of_array(packed);
    E dtype = i64(static_cast<std::int64_t>(a.type.dtype));
    Value out = packed;
    if (given.base == "argsort") out = make_array(DType::Int64, extents, place);
    E status =
        native(given.base, {i64(0), dtype, n, all, address_of(packed), address_of(out)}, 1)[0];
    fault_if(op_binary(Op::Ne, status, i64(0)), ErrorKind::Memory, "out of memory for a sort",
             place);
    Value sorted = permuted(out, axes, place);
    if (given.base == "argsort" || !given.is_method) return sorted;
    if (!a.type.writable) refuse_readonly(a);
    assign_elements(a, sorted, place);
    return {};
}

}  // namespace unisono::frontend
