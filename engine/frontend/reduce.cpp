// Lowers reductions over axes, in the order that docs/numbers.md publishes, so that a compiled sum
// has the bits of the array's own.
//
// One axis at a time, the innermost reduced axis first; the first one reads the elements of the
// expression, so that sum(a * b) makes no array of products. The last axis is cut into leaves whose
// elements go to lanes; of any other axis leaves are a few rows, added side by side in strips of
// the last axis. Leaves are folded by the tree on a stack.
#include "ops/reduction_tree.h"

#include <algorithm>

#include "frontend/lazy.h"
#include "frontend/lowerer.h"

namespace unisono::frontend {

using ir::LoopKind;
using ir::Space;

namespace {
constexpr std::int64_t strip = 64;        ///< columns that are reduced side by side
constexpr std::int64_t tree_levels = 40;  ///< enough for 2^40 leaves
constexpr std::int64_t long_vector = 1 << 15;
}  // namespace

/// Fills lane 0 with the value of the leaf [begin, end), which is not empty.
void FunctionLowerer::lanes_of_leaf(std::int32_t lanes, E begin, E end, const Accumulation& how,
                                    const std::function<E(E)>& element) {
    E width = i64(reduction::lanes);
    E count = temporary(op_binary(Op::Sub, end, begin), "count");
    E present = temporary(op_binary(Op::Min, count, width), "present");
    auto lane = [&](E l) { return private_array_item(lanes, l); };
    auto add = [&](E l, E from) {
        E value = element(op_binary(Op::Add, from, l));
        set_item(lanes, {l}, op_binary(how.op, lane(l), value));
    };
    counted(LoopKind::Vector, i64(0), present,
            [&](E l) { set_item(lanes, {l}, element(op_binary(Op::Add, begin, l))); });
    E full = temporary(op_binary(Op::Shr, count, i64(5)), "full");
    counted(LoopKind::Serial, i64(1), full, [&](E k) {
        E from = temporary(op_binary(Op::Add, begin, op_binary(Op::Mul, k, width)), "from");
        counted(LoopKind::Vector, i64(0), width, [&](E l) { add(l, from); });
    });
    E from = temporary(op_binary(Op::Add, begin, op_binary(Op::Mul, full, width)), "from");
    E rest = b_->select(op_binary(Op::Gt, full, i64(0)), op_binary(Op::Sub, end, from), i64(0));
    counted(LoopKind::Vector, i64(0), temporary(rest, "rest"), [&](E l) { add(l, from); });
    std::int32_t half = declared("half", i64(reduction::lanes / 2));
    std::vector<S> halve = collect([&] {
        E h = temporary(b_->read(half), "h");
        E has = op_binary(Op::Sub, op_binary(Op::Min, present, op_binary(Op::Mul, h, i64(2))), h);
        counted(LoopKind::Vector, i64(0), temporary(has, "has"), [&](E l) {
            set_item(lanes, {l}, op_binary(how.op, lane(l), lane(op_binary(Op::Add, l, h))));
        });
        emit(b_->assign(half, op_binary(Op::Shr, b_->read(half), i64(1))));
    });
    emit(b_->loop_while(op_binary(Op::Gt, b_->read(half), i64(0)), b_->block(halve)));
}

/// Combines what the new leaf completes; its value is on top of the stack.
void FunctionLowerer::push_leaf(std::int32_t stack, std::int32_t depth, E leaf, Op op) {
    emit(b_->assign(depth, b_->add(b_->read(depth), i64(1))));
    std::int32_t left = declared("left", leaf);
    std::vector<S> merge = collect([&] {
        E top = op_binary(Op::Sub, b_->read(depth), i64(1));
        E below = op_binary(Op::Sub, b_->read(depth), i64(2));
        E value = op_binary(op, private_array_item(stack, below), private_array_item(stack, top));
        set_item(stack, {below}, value);
        emit(b_->assign(depth, top));
        emit(b_->assign(left, op_binary(Op::Shr, b_->read(left), i64(1))));
    });
    E is_odd = op_binary(Op::Ne, op_binary(Op::And, b_->read(left), i64(1)), i64(0));
    emit(b_->loop_while(is_odd, b_->block(merge)));
}

void FunctionLowerer::fold_tree(std::int32_t stack, std::int32_t depth, Op op) {
    std::vector<S> merge = collect([&] {
        E top = op_binary(Op::Sub, b_->read(depth), i64(1));
        E below = op_binary(Op::Sub, b_->read(depth), i64(2));
        E value = op_binary(op, private_array_item(stack, below), private_array_item(stack, top));
        set_item(stack, {below}, value);
        emit(b_->assign(depth, top));
    });
    emit(b_->loop_while(op_binary(Op::Gt, b_->read(depth), i64(1)), b_->block(merge)));
}

/// The n elements combined, on this thread; of none the identity.
E FunctionLowerer::fold_lanes(E n, const Accumulation& how, const std::function<E(E)>& element) {
    std::int32_t lanes = private_array("lanes", how.type, reduction::lanes);
    std::int32_t stack = private_array("stack", how.type, tree_levels);
    std::int32_t depth = declared("depth", i64(0));
    E leaf_size = i64(reduction::leaf_elements);
    E leaves = op_binary(Op::Shr, op_binary(Op::Add, n, i64(reduction::leaf_elements - 1)), i64(9));
    counted(LoopKind::Serial, i64(0), temporary(leaves, "leaves"), [&](E leaf) {
        E begin = temporary(op_binary(Op::Mul, leaf, leaf_size), "begin");
        E end = temporary(op_binary(Op::Min, op_binary(Op::Add, begin, leaf_size), n), "end");
        lanes_of_leaf(lanes, begin, end, how, element);
        set_item(stack, {b_->read(depth)}, private_array_item(lanes, i64(0)));
        push_leaf(stack, depth, leaf, how.op);
    });
    fold_tree(stack, depth, how.op);
    std::int32_t result = declared("reduced", b_->constant(identity(how.op, how.type)));
    S take = b_->assign(result, private_array_item(stack, i64(0)));
    emit(b_->branch(op_binary(Op::Gt, n, i64(0)), b_->block({take})));
    return b_->read(result);
}

/// As fold_lanes, leaves on all threads where there are many.
E FunctionLowerer::fold_long(E n, const Accumulation& how, const std::function<E(E)>& element,
                             const Place& place) {
    if (parallel_depth_ > 0) return fold_lanes(n, how, element);
    std::int32_t result = b_->var("reduced", how.type);
    emit(b_->declare(result, nullptr));
    std::vector<S> here = collect([&] { emit(b_->assign(result, fold_lanes(n, how, element))); });
    std::vector<S> shared = collect([&] {
        E leaf_size = i64(reduction::leaf_elements);
        E leaves = temporary(
            op_binary(Op::Shr, op_binary(Op::Add, n, i64(reduction::leaf_elements - 1)), i64(9)),
            "leaves");
        Value parts = make_array(how.type, {leaves}, place);
        ++parallel_depth_;
        counted(LoopKind::Parallel, i64(0), leaves, [&](E leaf) {
            std::int32_t lanes = private_array("lanes", how.type, reduction::lanes);
            E begin = temporary(op_binary(Op::Mul, leaf, leaf_size), "begin");
            E end = temporary(op_binary(Op::Min, op_binary(Op::Add, begin, leaf_size), n), "end");
            lanes_of_leaf(lanes, begin, end, how, element);
            set_item(parts.array, {leaf}, private_array_item(lanes, i64(0)));
        });
        --parallel_depth_;
        std::int32_t stack = private_array("stack", how.type, tree_levels);
        std::int32_t depth = declared("depth", i64(0));
        counted(LoopKind::Serial, i64(0), leaves, [&](E leaf) {
            set_item(stack, {b_->read(depth)}, private_array_item(parts.array, leaf));
            push_leaf(stack, depth, leaf, how.op);
        });
        fold_tree(stack, depth, how.op);
        emit(b_->assign(result, private_array_item(stack, i64(0))));
    });
    at(place);
    emit(b_->branch(op_binary(Op::Le, n, i64(long_vector)), b_->block(here), b_->block(shared)));
    return b_->read(result);
}

/// Columns first .. first + width - 1 of n rows, combined along the rows.
void FunctionLowerer::fold_rows(E n, E first, E width, const Accumulation& how,
                                const std::function<E(E, E)>& element,
                                const std::function<void(E, E)>& store) {
    std::int32_t stack = private_array("stack", how.type, tree_levels * strip);
    std::int32_t depth = declared("depth", i64(0));
    auto place = [&](E level, E l) {
        return op_binary(Op::Add, op_binary(Op::Mul, level, i64(strip)), l);
    };
    auto item = [&](E level, E l) { return private_array_item(stack, place(level, l)); };
    auto columns = [&](const std::function<void(E)>& body) {
        counted(LoopKind::Vector, i64(0), width, body);
    };
    auto merge = [&] {
        E top = temporary(op_binary(Op::Sub, b_->read(depth), i64(1)), "top");
        E below = temporary(op_binary(Op::Sub, b_->read(depth), i64(2)), "below");
        columns([&](E l) {
            set_item(stack, {place(below, l)}, op_binary(how.op, item(below, l), item(top, l)));
        });
        emit(b_->assign(depth, top));
    };
    E leaves = op_binary(Op::Shr, op_binary(Op::Add, n, i64(reduction::leaf_rows - 1)), i64(3));
    counted(LoopKind::Serial, i64(0), temporary(leaves, "leaves"), [&](E leaf) {
        E begin = temporary(op_binary(Op::Mul, leaf, i64(reduction::leaf_rows)), "begin");
        E end = temporary(
            op_binary(Op::Min, op_binary(Op::Add, begin, i64(reduction::leaf_rows)), n), "end");
        E level = temporary(b_->read(depth), "level");
        columns([&](E l) {
            set_item(stack, {place(level, l)}, element(begin, op_binary(Op::Add, first, l)));
        });
        counted(LoopKind::Serial, op_binary(Op::Add, begin, i64(1)), end, [&](E row) {
            columns([&](E l) {
                E value = element(row, op_binary(Op::Add, first, l));
                set_item(stack, {place(level, l)}, op_binary(how.op, item(level, l), value));
            });
        });
        emit(b_->assign(depth, b_->add(b_->read(depth), i64(1))));
        std::int32_t left = declared("left", leaf);
        std::vector<S> complete = collect([&] {
            merge();
            emit(b_->assign(left, op_binary(Op::Shr, b_->read(left), i64(1))));
        });
        E is_odd = op_binary(Op::Ne, op_binary(Op::And, b_->read(left), i64(1)), i64(0));
        emit(b_->loop_while(is_odd, b_->block(complete)));
    });
    std::vector<S> rest = collect(merge);
    emit(b_->loop_while(op_binary(Op::Gt, b_->read(depth), i64(1)), b_->block(rest)));
    E none = b_->constant(identity(how.op, how.type));
    std::vector<S> empty =
        collect([&] { columns([&](E l) { set_item(stack, {place(i64(0), l)}, none); }); });
    emit(b_->branch(op_binary(Op::Le, n, i64(0)), b_->block(empty)));
    columns([&](E l) { store(op_binary(Op::Add, first, l), item(i64(0), l)); });
}

static std::vector<E> without(std::span<const E> list, std::size_t k) {
    std::vector<E> rest(list.begin(), list.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
    return rest;
}

/// The array combined along one axis; a scalar where it has no other.
Value FunctionLowerer::reduced_axis(const Value& v, const Accumulation& how, int axis,
                                    const Place& place) {
    std::vector<E> extents = extents_of(v);
    auto k = static_cast<std::size_t>(axis);
    for (E& e : extents) e = settle(e);
    E n = extents[k];
    // Axes of extent 1 behind it do not count.
    bool is_last = std::all_of(extents.begin() + axis + 1, extents.end(),
                               [](E e) { return constant_int(e) == 1; });
    std::vector<E> kept = without(extents, k);
    Value out;
    std::int32_t result = -1;
    if (kept.empty()) {
        result = b_->var("total", how.type);
        emit(b_->declare(result, nullptr));
    } else {
        out = make_array(how.type, kept, place);
        kept = extents_of(out);
    }
    auto all = [&](bool repeats) {
        auto at_index = [&](std::span<const E> others, E along) {
            std::vector<E> index(others.begin(), others.end());
            index.insert(index.begin() + axis, along);
            return cast(element_of(v, index, extents, repeats).expr, how.type);
        };
        if (kept.empty()) {
            E total = fold_long(
                n, how, [&](E i) { return at_index(std::span<const E>{}, i); }, place);
            emit(b_->assign(result, total));
            return;
        }
        if (is_last) {
            nest(
                kept,
                [&](std::span<const E> index) {
                    E total = fold_lanes(n, how, [&](E i) { return at_index(index, i); });
                    set_item(out.array, {index.begin(), index.end()}, total);
                },
                place);
            return;
        }
        std::vector<E> loops = kept;
        E columns = kept.back();
        loops.back() = temporary(
            op_binary(Op::Shr, op_binary(Op::Add, columns, i64(strip - 1)), i64(6)), "strips");
        nest(
            loops,
            [&](std::span<const E> index) {
                E first = temporary(op_binary(Op::Mul, index.back(), i64(strip)), "first");
                E width = temporary(
                    op_binary(Op::Min, i64(strip), op_binary(Op::Sub, columns, first)), "width");
                auto others = [&](E column) {
                    std::vector<E> list(index.begin(), index.end());
                    list.back() = column;
                    return list;
                };
                fold_rows(
                    n, first, width, how, [&](E row, E c) { return at_index(others(c), row); },
                    [&](E c, E value) { set_item(out.array, others(c), value); });
            },
            place);
    };
    E plain = nullptr;
    if (v.lazy) {
        for (E test : v.lazy->equal) plain = plain ? op_binary(Op::And, plain, test) : test;
    }
    if (!plain) {
        all(false);
    } else {
        std::vector<S> fast = collect([&] { all(false); });
        std::vector<S> slow = collect([&] { all(true); });
        at(place);
        emit(b_->branch(plain, b_->block(fast), b_->block(slow)));
    }
    return kept.empty() ? scalar(b_->read(result)) : out;
}

/// The array with axes of extent 1 at the places `axes` of the result.
Value FunctionLowerer::with_ones(const Value& v, const std::vector<int>& axes, int rank,
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

Value FunctionLowerer::reduced(const Value& given, const Accumulation& how,
                               const std::vector<int>& axes, bool keeps, const Place& place) {
    Value v = given;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
        v = reduced_axis(v, how, *axis, place);
    return keeps ? with_ones(v, axes, given.type.rank, place) : v;
}

/// How many elements are combined into one.
E FunctionLowerer::elements_of(const Value& v, const std::vector<int>& axes) {
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

Value FunctionLowerer::call_reduce(const Given& given) {
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

Value FunctionLowerer::call_mean(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    auto axes = want_axes(given, a.type.rank);
    DType t = want_dtype(given).value_or(mean_dtype(a.type.dtype));
    Value v = a.type.dtype == t ? a : converted_array(a, t, place);
    E n = elements_of(a, *axes);
    if (a.type.rank == 0) return finished(given, element_of(v, {}, {}, false));
    Value sum = reduced(v, {Op::Add, t}, *axes, want_flag(given, "keepdims"), place);
    return finished(given, binary("/", sum, scalar(cast(n, t)), place));
}

/// var and std: the mean of the squared distances from the mean.
Value FunctionLowerer::call_variance(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "a");
    if (a.type.rank == 0) refuse_call(given, "an array without axes", "give it axes");
    auto axes = want_axes(given, a.type.rank);
    DType t = want_dtype(given).value_or(mean_dtype(a.type.dtype));
    Value v = made(a.type.dtype == t ? a : converted_array(a, t, place), place);
    E n = elements_of(a, *axes);
    Value count = scalar(cast(n, t));
    Value mean = binary("/", reduced(v, {Op::Add, t}, *axes, true, place), count, place);
    Value apart = made(binary("-", v, made(mean, place), place), place);
    Value squares = binary("*", apart, apart, place);
    Value sum = reduced(squares, {Op::Add, t}, *axes, want_flag(given, "keepdims"), place);
    const Value* ddof = given.find("ddof");
    Value less = ddof ? scalar(to_type(*ddof, t, place)) : scalar(b_->zero(t));
    E divisor = op_binary(Op::Max, op_binary(Op::Sub, count.expr, less.expr), b_->zero(t));
    Value variance = binary("/", sum, scalar(settle(divisor)), place);
    if (given.base == "var") return finished(given, variance);
    auto root = [this](std::span<const Value> x) { return scalar(op_unary(Op::Sqrt, x[0].expr)); };
    if (!variance.type.is_array()) return finished(given, root(std::vector<Value>{variance}));
    return finished(given, elementwise({variance}, root, place));
}

/// argmax, argmin: the first of equal ones, the first NaN before all.
Value FunctionLowerer::call_arg_extreme(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    bool is_max = given.base == "argmax";
    DType t = a.type.dtype;
    const Value* axis = given.find("axis");
    std::vector<E> extents = extents_of(a);
    for (E& e : extents) e = settle(e);
    E n = i64(1);
    int along = axis ? want_axis(given, *axis, a.type.rank) : -1;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        if (!axis || static_cast<int>(k) == along) n = op_binary(Op::Mul, n, extents[k]);
    }
    fault_if(op_binary(Op::Eq, n, i64(0)), ErrorKind::Value,
             "attempt to get " + given.base + " of an empty sequence", place);
    // The place of the best of the elements that the body visits in order.
    auto search = [&](const std::function<void(const std::function<void(E)>&)>& visit) {
        std::int32_t best = declared("best", b_->zero(t));
        std::int32_t found = declared("found", i64(-1)), next = declared("next", i64(0));
        visit([&](E item) {
            E x = settle(item), b = b_->read(best);
            E better = op_binary(is_max ? Op::Gt : Op::Lt, x, b);
            if (is_float(t)) {
                E is_first_nan =
                    op_binary(Op::And, op_binary(Op::Ne, x, x), op_binary(Op::Eq, b, b));
                better = op_binary(Op::Or, better, is_first_nan);
            }
            E takes = op_binary(Op::Or, better, op_binary(Op::Lt, b_->read(found), i64(0)));
            takes = temporary(takes, "takes");
            emit(b_->assign(best, b_->select(takes, x, b)));
            emit(b_->assign(found, b_->select(takes, b_->read(next), b_->read(found))));
            emit(b_->assign(next, b_->add(b_->read(next), i64(1))));
        });
        return b_->read(found);
    };
    if (!axis) {
        E found = search([&](const std::function<void(E)>& note) {
            in_order(extents, [&](std::span<const E> index) {
                note(element_of(a, index, extents, false).expr);
            });
        });
        return finished(given, scalar(found));
    }
    std::vector<E> kept = without(extents, static_cast<std::size_t>(along));
    auto search_at = [&](std::span<const E> others) {
        return search([&](const std::function<void(E)>& note) {
            counted(LoopKind::Serial, i64(0), extents[static_cast<std::size_t>(along)], [&](E i) {
                std::vector<E> index(others.begin(), others.end());
                index.insert(index.begin() + along, i);
                note(element_of(a, index, extents, false).expr);
            });
        });
    };
    if (kept.empty()) return finished(given, scalar(search_at({})));
    Value out = make_array(DType::Int64, kept, place);
    nest(
        extents_of(out),
        [&](std::span<const E> index) {
            set_item(out.array, {index.begin(), index.end()}, search_at(index));
        },
        place);
    return finished(given, out);
}

/// cumsum, cumprod: blocks of 512 elements, each combined with what came before it.
Value FunctionLowerer::call_running(const Given& given) {
    const Place& place = given.node.place;
    Value a = made(want_array(given, "a"), place);
    Op op = given.base == "cumprod" ? Op::Mul : Op::Add;
    DType t = want_dtype(given).value_or(summed_dtype(a.type.dtype));
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
    std::vector<E> kept = without(extents, static_cast<std::size_t>(along));
    if (kept.empty()) {
        run_at({});
    } else {
        nest(kept, run_at, place);
    }
    return finished(given, out);
}

/// ptp: the largest less the smallest.
Value FunctionLowerer::call_spread(const Given& given) {
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
Value FunctionLowerer::call_norm(const Given& given) {
    const Place& place = given.node.place;
    const Value& a = want_array(given, "x");
    if (given.find("ord")) {
        refuse_call(given, "ord is not supported in a compiled function",
                    "leave it out for the 2-norm, or compute it by sum, max and abs");
    }
    auto axes = want_axes(given, a.type.rank);
    DType t = mean_dtype(a.type.dtype);
    Value v = made(a.type.dtype == t ? a : converted_array(a, t, place), place);
    Value sum =
        reduced(binary("*", v, v, place), {Op::Add, t}, *axes, want_flag(given, "keepdims"), place);
    auto root = [this](std::span<const Value> x) { return scalar(op_unary(Op::Sqrt, x[0].expr)); };
    return sum.type.is_array() ? elementwise({sum}, root, place) : root(std::vector<Value>{sum});
}

Value FunctionLowerer::call_trace(const Given& given) {
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
