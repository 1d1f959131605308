// The loops of a reduction, in the order that docs/numbers.md publishes, so that a compiled sum has
// the bits of the array's own.
//
// The last axis is cut into leaves whose elements go to lanes. Leaves of other axes are a few rows,
// added side by side in strips of the last axis, those of one axis inside of another's. Strips and
// lanes have constant widths: their sums stay in vector registers.
#include "frontend/array_functions.h"
#include "ir/rewrite.h"
#include "ops/reduction_tree.h"

namespace unisono::frontend {

using ir::LoopKind;

namespace {
constexpr std::int64_t tree_levels = 40;  ///< enough for 2^40 leaves
constexpr std::int64_t long_vector = 1 << 15;
constexpr int most_for_few = 96;  ///< expressions of a fold of few elements

class CountExpressions final : public ir::Visitor {
  public:
    int count = 0;
    void expr(E e) override {
        ++count;
        children(e);
    }
};
}  // namespace

/// What sums start from; `joined` tells which value is the first where none changes no other.
E ArrayFunctions::start_of(const Accumulation& how) {
    if (is_complex(how.type)) return b_->zero(how.type);
    bool is_sum = how.op == Op::Add && is_float(how.type);
    return b_->constant(is_sum ? Scalar::of(how.type, -0.0) : identity(how.op, how.type));
}

E ArrayFunctions::joined(const Accumulation& how, E so_far, E value, E is_first) {
    E both = op_binary(how.op, so_far, value);
    return is_complex(how.type) ? b_->select(is_first, value, both) : both;
}

/// Fills lane 0 with the value of the leaf [begin, end), which is not empty.
void ArrayFunctions::lanes_of_leaf(std::int32_t lanes, E begin, E end, const Accumulation& how,
                                   const std::function<E(E)>& element) {
    constexpr std::int64_t width = reduction::lanes;
    E count = temporary(op_binary(Op::Sub, end, begin), "count");
    E full = temporary(op_binary(Op::Shr, count, i64(5)), "full");
    E rest = temporary(op_binary(Op::And, count, i64(width - 1)), "rest");
    // Of its own: no index of it varies, so it need not lie in memory.
    std::int32_t sums = private_array("sums", how.type, width);
    auto each = [&](std::int64_t n, const std::function<void(E)>& body) {
        counted(LoopKind::Vector, i64(0), i64(n), body);
    };
    auto lane = [&](E l) { return private_array_item(lanes, l); };
    each(width, [&](E l) { set_item(sums, {l}, start_of(how)); });
    counted(LoopKind::Serial, i64(0), full, [&](E k) {
        E from = temporary(op_binary(Op::Add, begin, op_binary(Op::Mul, k, i64(width))), "from");
        E is_first = op_binary(Op::Eq, k, i64(0));
        each(width, [&](E l) {
            E value = element(op_binary(Op::Add, from, l));
            set_item(sums, {l}, joined(how, private_array_item(sums, l), value, is_first));
        });
    });
    each(width, [&](E l) { set_item(lanes, {l}, private_array_item(sums, l)); });
    E from = temporary(op_binary(Op::Sub, end, rest), "from");
    E is_first = op_binary(Op::Eq, full, i64(0));
    counted(LoopKind::Vector, i64(0), rest, [&](E l) {
        set_item(lanes, {l}, joined(how, lane(l), element(op_binary(Op::Add, from, l)), is_first));
    });
    for (std::int64_t half = width / 2; half > 0; half /= 2) {
        each(half, [&](E l) {
            E high = op_binary(Op::Add, l, i64(half));
            E both = op_binary(how.op, lane(l), lane(high));
            if (is_complex(how.type))
                both = b_->select(op_binary(Op::Lt, high, count), both, lane(l));
            set_item(lanes, {l}, both);
        });
    }
}

/// Combines what the new leaf completes; its value is on top of the stack.
void ArrayFunctions::push_leaf(std::int32_t stack, std::int32_t depth, E leaf, Op op) {
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

void ArrayFunctions::fold_tree(std::int32_t stack, std::int32_t depth, Op op) {
    std::vector<S> merge = collect([&] {
        E top = op_binary(Op::Sub, b_->read(depth), i64(1));
        E below = op_binary(Op::Sub, b_->read(depth), i64(2));
        E value = op_binary(op, private_array_item(stack, below), private_array_item(stack, top));
        set_item(stack, {below}, value);
        emit(b_->assign(depth, top));
    });
    emit(b_->loop_while(op_binary(Op::Gt, b_->read(depth), i64(1)), b_->block(merge)));
}

/// What none are combined to. The extremes of no complex numbers are refused before.
E ArrayFunctions::nothing(const Accumulation& how) {
    bool is_order = how.op == Op::Max || how.op == Op::Min;
    return is_complex(how.type) && is_order ? b_->zero(how.type) : b_->identity(how.op, how.type);
}

/// The n elements combined, on this thread; of none the identity.
E ArrayFunctions::fold_lanes(E n, const Accumulation& how, const std::function<E(E)>& element) {
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
    std::int32_t result = declared("reduced", nothing(how));
    S take = b_->assign(result, private_array_item(stack, i64(0)));
    emit(b_->branch(op_binary(Op::Gt, n, i64(0)), b_->block({take})));
    return b_->read(result);
}

/// As fold_lanes, of 1 to `few_elements` elements: the same tree without the lanes that stay empty.
E ArrayFunctions::fold_few(E n, const Accumulation& how, const std::function<E(E)>& element) {
    std::vector<E> lanes;
    E last = settle(op_binary(Op::Sub, n, i64(1)));
    for (std::int64_t l = 0; l < few_elements; ++l) {
        E value = temporary(element(op_binary(Op::Min, i64(l), last)), "item");
        E is_there = op_binary(Op::Lt, i64(l), n);
        lanes.push_back(l == 0 ? value : b_->select(is_there, value, start_of(how)));
    }
    for (std::size_t half = few_elements / 2; half > 0; half /= 2) {
        for (std::size_t l = 0; l < half; ++l)
            lanes[l] = temporary(op_binary(how.op, lanes[l], lanes[l + half]), "lane");
    }
    return lanes[0];
}

/// As fold_lanes, leaves on all threads where there are many.
E ArrayFunctions::fold_long(E n, const Accumulation& how, const std::function<E(E)>& element,
                            const Place& place) {
    std::int32_t result = b_->var("reduced", how.type);
    emit(b_->declare(result, nullptr));
    // A test finds few elements in front of the lanes, if their code is short.
    auto fold_here = [&] {
        std::vector<S> lanes =
            collect([&] { emit(b_->assign(result, fold_lanes(n, how, element))); });
        if (is_complex(how.type)) return emit(b_->block(lanes));
        CountExpressions size;
        std::vector<S> few = collect([&] { emit(b_->assign(result, fold_few(n, how, element))); });
        for (S s : few) size.stmt(s);
        if (size.count > most_for_few) return emit(b_->block(lanes));
        // Up to twice as many: lane l and the one `few_elements` behind it come first.
        E last = settle(op_binary(Op::Sub, n, i64(1)));
        auto pair = [&](E l) {
            E second = op_binary(Op::Add, l, i64(few_elements));
            E value = element(op_binary(Op::Min, second, last));
            E there = b_->select(op_binary(Op::Lt, second, n), value, start_of(how));
            return op_binary(how.op, element(l), there);
        };
        std::vector<S> some =
            collect([&] { emit(b_->assign(result, fold_few(i64(few_elements), how, pair))); });
        auto up_to = [&](std::int64_t most, const std::vector<S>& then, S otherwise) {
            E fits =
                op_binary(Op::And, op_binary(Op::Gt, n, i64(0)), op_binary(Op::Le, n, i64(most)));
            return b_->branch(fits, b_->block(then), otherwise);
        };
        S other = up_to(2 * few_elements, some, b_->block(lanes));
        emit(up_to(few_elements, few, other));
    };
    if (parallel_depth_ > 0) {
        fold_here();
        return b_->read(result);
    }
    std::vector<S> here = collect(fold_here);
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

/// An axis of n rows, cut into leaves; one of at most a leaf's rows may have its leaves cleared.
ArrayFunctions::RowAxis ArrayFunctions::row_axis(E n) {
    constexpr std::int64_t most = reduction::leaf_rows;
    E leaves = settle(op_binary(Op::Shr, op_binary(Op::Add, n, i64(most - 1)), i64(3)));
    return {n, leaves, settle(op_binary(Op::Min, n, i64(most)))};
}

/// `width` columns combined along the rows of all axes, innermost first: a private array of them.
/// `element` takes the numbers of rows, outermost first, and of the column.
std::int32_t ArrayFunctions::fold_rows(std::span<const RowAxis> axes, std::vector<E> rows,
                                       std::int64_t width, const Accumulation& how,
                                       const std::function<E(std::span<const E>, E)>& element) {
    const RowAxis& axis = axes.front();
    std::int32_t sums = private_array("sums", how.type, width);
    auto columns = [&](const std::function<void(E)>& body) {
        counted(LoopKind::Vector, i64(0), i64(width), body);
    };
    auto sum = [&](E l) { return private_array_item(sums, l); };
    // The number of rows of a leaf is known in front of all loops; the last leaf may have fewer.
    auto add_rows = [&](E begin, E rows_of_leaf, bool tests) {
        columns([&](E l) { set_item(sums, {l}, start_of(how)); });
        counted(LoopKind::Serial, i64(0), rows_of_leaf, [&](E r) {
            E row = tests ? temporary(op_binary(Op::Add, begin, r), "row") : r;
            std::vector<S> add = collect([&] {
                std::vector<E> all = rows;
                all.push_back(row);
                std::int32_t inner =
                    axes.size() > 1 ? fold_rows(axes.subspan(1), all, width, how, element) : -1;
                columns([&](E l) {
                    E value = inner < 0 ? element(all, l) : private_array_item(inner, l);
                    E is_first = op_binary(Op::Eq, r, i64(0));
                    set_item(sums, {l}, joined(how, sum(l), value, is_first));
                });
            });
            if (tests) {
                emit(b_->branch(op_binary(Op::Lt, row, axis.n), b_->block(add), nullptr));
            } else {
                emit(b_->block(add));
            }
        });
    };
    if (!axis.leaves) {
        add_rows(i64(0), axis.n, false);
        return sums;
    }
    std::int32_t stack = private_array("stack", how.type, tree_levels * width);
    std::int32_t depth = declared("depth", i64(0));
    auto place = [&](E level, E l) {
        return op_binary(Op::Add, op_binary(Op::Mul, level, i64(width)), l);
    };
    auto item = [&](E level, E l) { return private_array_item(stack, place(level, l)); };
    auto merge = [&] {
        E top = temporary(op_binary(Op::Sub, b_->read(depth), i64(1)), "top");
        E below = temporary(op_binary(Op::Sub, b_->read(depth), i64(2)), "below");
        columns([&](E l) {
            set_item(stack, {place(below, l)}, op_binary(how.op, item(below, l), item(top, l)));
        });
        emit(b_->assign(depth, top));
    };
    E has_tree = op_binary(Op::Gt, axis.leaves, i64(1));
    counted(LoopKind::Serial, i64(0), axis.leaves, [&](E leaf) {
        E begin = temporary(op_binary(Op::Mul, leaf, i64(reduction::leaf_rows)), "begin");
        add_rows(begin, axis.rows, true);
        std::vector<S> push = collect([&] {
            E level = temporary(b_->read(depth), "level");
            columns([&](E l) { set_item(stack, {place(level, l)}, sum(l)); });
            emit(b_->assign(depth, b_->add(level, i64(1))));
            std::int32_t left = declared("left", leaf);
            std::vector<S> complete = collect([&] {
                merge();
                emit(b_->assign(left, op_binary(Op::Shr, b_->read(left), i64(1))));
            });
            E is_odd = op_binary(Op::Ne, op_binary(Op::And, b_->read(left), i64(1)), i64(0));
            emit(b_->loop_while(is_odd, b_->block(complete)));
        });
        emit(b_->branch(has_tree, b_->block(push)));
    });
    std::vector<S> fold = collect([&] {
        std::vector<S> rest = collect(merge);
        emit(b_->loop_while(op_binary(Op::Gt, b_->read(depth), i64(1)), b_->block(rest)));
        columns([&](E l) { set_item(sums, {l}, item(i64(0), l)); });
    });
    emit(b_->branch(has_tree, b_->block(fold)));
    E none = nothing(how);
    std::vector<S> empty = collect([&] { columns([&](E l) { set_item(sums, {l}, none); }); });
    emit(b_->branch(op_binary(Op::Le, axis.n, i64(0)), b_->block(empty)));
    return sums;
}

}  // namespace unisono::frontend
