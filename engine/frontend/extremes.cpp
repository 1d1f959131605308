// Lowers argmin and argmax: the extreme of a block is found in lanes, its place only in blocks that
// have a better one than those before.
#include "frontend/array_functions.h"
#include "frontend/lazy.h"
#include "ops/reduction_tree.h"

namespace unisono::frontend {

using ir::LoopKind;

/// Elements that are looked at one by one: lanes cost more to set up.
constexpr std::int64_t few_to_search = 16;

/// Whether an element takes the place of the best so far: it is better, or the first nan.
E ArrayFunctions::is_better(E x, E best, Op order) {
    E better = op_binary(order, x, best);
    if (!is_float(x->dtype)) return better;
    E is_first_nan = op_binary(Op::And, op_binary(Op::Ne, x, x), op_binary(Op::Eq, best, best));
    return op_binary(Op::Or, better, is_first_nan);
}

/// The place of the first extreme of n elements, at least one. Those that are computed are held for
/// a block, as they are looked at twice.
E ArrayFunctions::first_extreme(E n, DType t, bool is_max, bool holds,
                                const std::function<E(E)>& element) {
    constexpr std::int64_t most = reduction::leaf_elements;
    const Accumulation how{is_max ? Op::Max : Op::Min, t};
    std::int32_t best = declared("best", b_->zero(t)), found = declared("found", i64(-1));
    std::int32_t lanes = private_array("lanes", t, reduction::lanes);
    std::int32_t held = holds ? private_array("block", t, most) : -1;
    E blocks =
        temporary(op_binary(Op::Shr, op_binary(Op::Add, n, i64(most - 1)), i64(9)), "blocks");
    counted(LoopKind::Serial, i64(0), blocks, [&](E block) {
        E begin = temporary(op_binary(Op::Mul, block, i64(most)), "begin");
        E end = temporary(op_binary(Op::Min, op_binary(Op::Add, begin, i64(most)), n), "end");
        auto item = [&](E k) {
            return holds ? private_array_item(held, op_binary(Op::Sub, k, begin)) : element(k);
        };
        if (holds) {
            counted(LoopKind::Vector, begin, end,
                    [&](E k) { set_item(held, {op_binary(Op::Sub, k, begin)}, element(k)); });
        }
        lanes_of_leaf(lanes, begin, end, how, item);
        E extreme = temporary(private_array_item(lanes, i64(0)), "extreme");
        E takes = op_binary(Op::Or, is_better(extreme, b_->read(best), is_max ? Op::Gt : Op::Lt),
                            op_binary(Op::Lt, b_->read(found), i64(0)));
        std::vector<S> look = collect([&] {
            emit(b_->assign(best, extreme));
            counted(LoopKind::Serial, begin, end, [&](E k) {
                E x = temporary(item(k), "item");
                E is_it = op_binary(Op::Eq, x, extreme);
                if (is_float(t)) is_it = op_binary(Op::Or, is_it, op_binary(Op::Ne, x, x));
                emit(b_->branch(is_it, b_->block({b_->assign(found, k), b_->leave()})));
            });
        });
        emit(b_->branch(takes, b_->block(look)));
    });
    return b_->read(found);
}

/// The place of the first extreme of a few elements, at least one: one at a time, up to the first
/// nan.
E ArrayFunctions::first_extreme_of_few(E n, bool is_max, const std::function<E(E)>& element) {
    E first = settle(element(i64(0)));
    std::int32_t best = declared("best", first), found = declared("found", i64(0));
    E end = is_float(first->dtype)
                ? temporary(b_->select(op_binary(Op::Eq, first, first), n, i64(1)), "end")
                : n;
    counted(LoopKind::Serial, i64(1), end, [&](E k) {
        E x = settle(element(k));
        if (is_float(x->dtype)) {
            E is_nan = op_binary(Op::Ne, x, x);
            emit(b_->branch(is_nan, b_->block({b_->assign(found, k), b_->leave()})));
        }
        E takes = temporary(op_binary(is_max ? Op::Gt : Op::Lt, x, b_->read(best)), "takes");
        emit(b_->assign(best, b_->select(takes, x, b_->read(best))));
        emit(b_->assign(found, b_->select(takes, k, b_->read(found))));
    });
    return b_->read(found);
}

/// The place of the first extreme along an axis that lies apart in memory, one element at a time.
E ArrayFunctions::first_extreme_apart(E n, DType t, bool is_max,
                                      const std::function<E(E)>& element) {
    std::int32_t best = declared("best", b_->zero(t)), found = declared("found", i64(-1));
    counted(LoopKind::Serial, i64(0), n, [&](E k) {
        E x = settle(element(k));
        E takes = op_binary(Op::Or, is_better(x, b_->read(best), is_max ? Op::Gt : Op::Lt),
                            op_binary(Op::Lt, b_->read(found), i64(0)));
        takes = temporary(takes, "takes");
        emit(b_->assign(best, b_->select(takes, x, b_->read(best))));
        emit(b_->assign(found, b_->select(takes, k, b_->read(found))));
    });
    return b_->read(found);
}

/// argmin, argmax of all elements or along an axis.
Value ArrayFunctions::call_arg_extreme(const Given& given) {
    const Place& place = given.node.place;
    Value a = want_array(given, "a");
    const bool is_max = given.base == "argmax";
    const DType t = a.type.dtype;
    if (is_complex(t)) refuse_call(given, "complex numbers are not supported", "compare abs(...)");
    const Value* axis = given.find("axis");
    if (!axis && a.type.rank != 1) a = reshaped(made(a, place), {size_of_array(a)}, false, place);
    const int along = axis ? want_axis(given, *axis, a.type.rank) : 0;
    const bool is_last = along == a.type.rank - 1;
    const bool holds = is_last && a.lazy && !a.lazy->view && a.lazy->equal.empty();
    if (!holds) a = made(a, place);
    std::vector<E> extents = extents_of(a);
    for (E& e : extents) e = settle(e);
    const E n = extents[static_cast<std::size_t>(along)];
    fault_if(op_binary(Op::Eq, n, i64(0)), ErrorKind::Value,
             "attempt to get " + given.base + " of an empty sequence", place);
    auto search = [&](std::span<const E> others) {
        auto element = [&](E k) {
            std::vector<E> index(others.begin(), others.end());
            index.insert(index.begin() + along, k);
            return element_of(a, index, extents, false).expr;
        };
        if (!is_last) return first_extreme_apart(n, t, is_max, element);
        std::int32_t found = declared("first", i64(0));
        std::vector<S> few =
            collect([&] { emit(b_->assign(found, first_extreme_of_few(n, is_max, element))); });
        std::vector<S> many =
            collect([&] { emit(b_->assign(found, first_extreme(n, t, is_max, holds, element))); });
        at(place);
        E are_few = op_binary(Op::Le, n, i64(few_to_search));
        emit(b_->branch(are_few, b_->block(few), b_->block(many)));
        return b_->read(found);
    };
    std::vector<E> kept = without(extents, std::vector<int>{along});
    if (kept.empty()) return finished(given, scalar(search({})));
    Value out = make_array(DType::Int64, kept, place);
    nest(
        extents_of(out),
        [&](std::span<const E> index) {
            set_item(out.array, {index.begin(), index.end()}, search(index));
        },
        place);
    return finished(given, out);
}

}  // namespace unisono::frontend
