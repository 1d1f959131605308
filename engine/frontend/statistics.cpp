// Lowers statistics of arrays: covariances and histograms.
#include "frontend/array_functions.h"

namespace unisono::frontend {

/// An argument of cov, with a variable a row.
Value ArrayFunctions::variables_of(const Given& given, const std::string& key) {
    const Place& place = given.node.place;
    const Value& m = want_array(given, key);
    if (m.type.rank != 1 && m.type.rank != 2)
        refuse_call(given, key + " has rank " + std::to_string(m.type.rank), "give a matrix");
    if (is_complex(m.type.dtype))
        refuse_call(given, "complex numbers are not supported", "write out the products");
    DType t =
        m.type.dtype == DType::Float32 ? DType::Float64 : promote(m.type.dtype, DType::Float64);
    Value x = m.type.dtype == t ? m : converted_array(m, t, place);
    if (m.type.rank == 1) {
        x = made(x, place);
        return reshaped(x, {i64(1), extents_of(x)[0]}, false, place);
    }
    return want_flag(given, "rowvar", true) ? x : transposed(x, place);
}

/// cov: rows are variables (columns with rowvar=False); the divisor is the count less ddof.
Value ArrayFunctions::call_cov(const Given& given) {
    const Place& place = given.node.place;
    Value x = variables_of(given, "m");
    if (given.find("y")) {
        Value parts = tuple_of({x, variables_of(given, "y")});
        Given both{given.node, given.name, "concatenate", false, {{"arrays", parts}}};
        x = call_join(both);
    } else if (given.at("m").type.rank == 1) {
        refuse_call(given, "m has rank 1", "give a matrix");
    }
    x = made(x, place);
    const DType t = x.type.dtype;
    E n = settle(extents_of(x)[1]);
    E less = i64(want_constant(given, "ddof", want_flag(given, "bias") ? 0 : 1));
    Value mean = binary("/", reduced(x, {Op::Add, t}, {1}, true, place), scalar(cast(n, t)), place);
    Value apart = made(binary("-", x, made(mean, place), place), place);
    Value squares = product(apart, transposed(apart, place), place);
    E count = op_binary(Op::Max, op_binary(Op::Sub, n, less), i64(0));
    E factor = settle(op_binary(Op::Div, b_->number(t, 1), cast(count, t)));
    return binary("*", squares, scalar(factor), place);
}

/// histogram of evenly spaced bins: counts (or sums of weights) and edges.
Value ArrayFunctions::call_histogram(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    if (is_complex(a.type.dtype))
        refuse_call(given, "complex numbers have no bins", "take abs(...)");
    DType f = DType::Float64;
    auto flat = [&](const Value& v) {
        Value x = made(v.type.dtype == f ? v : converted_array(v, f, place), place);
        return reshaped(x, {size_of_array(x)}, false, place);
    };
    Value x = flat(a);
    const Value* given_bins = given.find("bins");
    if (given_bins && (!given_bins->type.is_scalar() || !is_integer(given_bins->type.dtype))) {
        refuse_call(given, "bins must be a number of bins; got " + describe(given_bins->type),
                    "edges of one's own are for un.histogram outside");
    }
    E bins = given_bins ? settle(cast(given_bins->expr, DType::Int64)) : i64(10);
    fault_if(op_binary(Op::Lt, bins, i64(1)), ErrorKind::Value,
             "`bins` must be positive, when an integer", place);
    E low = nullptr, high = nullptr;
    if (const Value* range = given.find("range")) {
        if (!range->type.is_tuple() || range->items.size() != 2)
            refuse_call(given, "range is a pair of numbers", "give (low, high)");
        low = settle(cast(want_scalar(range->items[0], place, "a bound").expr, f));
        high = settle(cast(want_scalar(range->items[1], place, "a bound").expr, f));
        fault_if(op_binary(Op::Gt, low, high), ErrorKind::Value,
                 "max must be larger than min in range parameter.", place);
    } else {
        E none = settle(op_binary(Op::Eq, extents_of(x)[0], i64(0)));
        std::int32_t from = declared("low", b_->zero(f));
        std::int32_t to = declared("high", b_->constant(Scalar::of(f, 1.0)));
        std::vector<S> look = collect([&] {
            emit(b_->assign(from, reduced(x, {Op::Min, f}, {0}, false, place).expr));
            emit(b_->assign(to, reduced(x, {Op::Max, f}, {0}, false, place).expr));
        });
        emit(b_->branch(op_unary(Op::Not, none), b_->block(look)));
        low = b_->read(from);
        high = b_->read(to);
    }
    E width = op_binary(Op::Sub, high, low);
    fault_if(op_binary(Op::Ne, op_binary(Op::Sub, width, width), b_->zero(f)), ErrorKind::Value,
             "the range of the elements is not finite", place);
    E half = b_->constant(Scalar::of(f, 0.5));
    E is_point = settle(op_binary(Op::Eq, low, high));
    E first = settle(b_->select(is_point, op_binary(Op::Sub, low, half), low));
    E last = settle(b_->select(is_point, op_binary(Op::Add, high, half), high));
    E edge_count = settle(op_binary(Op::Add, bins, i64(1)));
    Value edges = make_array(f, {edge_count}, place);
    E step = settle(op_binary(Op::Div, op_binary(Op::Sub, last, first), cast(bins, f)));
    counted(ir::LoopKind::Vector, i64(0), edge_count, [&](E i) {
        E even = op_binary(Op::Add, op_binary(Op::Mul, cast(i, f), step), first);
        set_item(edges.array, {i}, b_->select(op_binary(Op::Eq, i, bins), last, even));
    });
    const Value* weights = given.find("weights");
    Value w;
    if (weights) {
        w = flat(want_array(given, "weights"));
        E n = extents_of(x)[0], m = extents_of(w)[0];
        fault_if(op_binary(Op::Ne, n, m), ErrorKind::Value,
                 "weights should have the same shape as a.", place);
    }
    Value counts = make_array(weights ? f : DType::Int64, {bins}, place);
    E status = native("histogram",
                      {i64(0), extents_of(x)[0], address_of(x), bins, address_of(edges),
                       weights ? address_of(w) : i64(0), address_of(counts)},
                      1)[0];
    fault_if(op_binary(Op::Ne, status, i64(0)), ErrorKind::Memory, "out of memory for a histogram",
             place);
    Value both;
    both.items = {counts, edges};
    both.type = Type::tuple({counts.type, edges.type});
    return both;
}

}  // namespace unisono::frontend
