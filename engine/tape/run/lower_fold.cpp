// Lowers reducing groups to one nest.
//
// Axes in front of the last one: strips of the last axis, whose sums stay in registers, and inside
// them the rows of the reduced axes. The last axis, whose elements go to lanes, may have changed
// places with one along which memory is dense: each column has lanes of its own then. Otherwise a
// vector loop runs along it, over the lanes; rows of many leaves are cut into pieces, which threads
// share.
//
// The order of combination is ops/reduction_tree.h's, axis by axis, the innermost first, as if each
// axis had been reduced by a kernel of its own.
#include <algorithm>
#include <functional>
#include <limits>

#include "ops/reduction_tree.h"
#include "tape/plan/group_values.h"

namespace unisono {

using ir::Builder;
using ir::E;
using ir::LoopKind;
using ir::S;
using ir::Space;

namespace {

constexpr std::int64_t tree_levels = 40;  ///< enough for 2^40 leaves

class FoldLowering {
  public:
    FoldLowering(const Group& group, const GroupShape& shape)
        : group_(group),
          shape_(shape),
          b_(module_.functions.emplace_back("fold")),
          values_(b_, group, shape),
          first_axis_(shape.reduce_axis - shape.reduce_before) {}

    ir::Module lower() {
        for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
            values_.add_output(k, shape_.rank);
            if (group_.outputs[k].reduces) reducing_.push_back(k);
        }
        values_.add_scalars();
        like_ = values_.outputs().front();
        for (int axis = 0; axis < shape_.rank; ++axis)
            index_.push_back(b_.var("i" + std::to_string(axis), DType::Int64));
        S nest = shape_.along ? pieces() : b_.block(strips());
        bool shared = shape_.along && shape_.shares_pieces;
        for (int axis = shape_.rank - 2; axis >= 0; --axis) {
            if (axis >= first_axis_ && axis <= shape_.reduce_axis) continue;
            auto kind = axis == 0 && !shared ? LoopKind::Parallel : LoopKind::Serial;
            nest = b_.loop(kind, index_[static_cast<std::size_t>(axis)], b_.i64(0),
                           b_.extent(like_, axis), b_.i64(1), nest);
        }
        if (shared) nest = each_piece(nest);
        module_.functions.front().body = b_.block({nest});
        values_.append_functions(module_);
        return std::move(module_);
    }

  private:
    using Code = std::vector<S>;
    using Sums = std::vector<std::int32_t>;  ///< of each reducing output, one per column

    /// The columns, in strips of falling widths.
    Code strips() {
        Code code;
        E columns = b_.extent(like_, shape_.rank - 1);
        E done = b_.i64(0);
        for (std::int64_t width : strip_widths(shape_)) {
            std::int32_t count = b_.var("strips", DType::Int64);
            std::int32_t begin = b_.var("begin", DType::Int64);
            std::int32_t strip = b_.var("strip", DType::Int64);
            std::int32_t first = b_.var("first", DType::Int64);
            code.push_back(b_.declare(begin, done));
            code.push_back(b_.declare(
                count, b_.binary(Op::FloorDiv, b_.sub(columns, b_.read(begin)), b_.i64(width))));
            first_ = b_.read(first);
            Code body{
                b_.declare(first, b_.add(b_.read(begin), b_.mul(b_.read(strip), b_.i64(width))))};
            width_ = width;
            Sums sums = fold(body, first_axis_);
            store(body, sums);
            // Where no other axis is kept, the strips are what threads share.
            auto kind = first_axis_ == 0 ? LoopKind::Parallel : LoopKind::Serial;
            code.push_back(
                b_.loop(kind, strip, b_.i64(0), b_.read(count), b_.i64(1), b_.block(body)));
            done = b_.add(b_.read(begin), b_.mul(b_.read(count), b_.i64(width)));
        }
        return code;
    }

    /// The row, or each of its pieces: what a piece gives is stored at its number.
    S pieces() {
        piece_ = b_.var("piece", DType::Int64);
        Code code;
        Sums sums = fold(code, first_axis_);
        first_ = b_.i64(0);
        store(code, sums);
        return shape_.shares_pieces ? b_.block(code) : each_piece(b_.block(code));
    }

    S each_piece(S body) {
        if (shape_.reduce_before > 0) return b_.block({b_.declare(piece_, b_.i64(0)), body});
        E length = b_.i64(reduction_piece);
        E count = b_.binary(
            Op::FloorDiv, b_.add(b_.extent(like_, shape_.reduce_axis), b_.i64(reduction_piece - 1)),
            length);
        auto kind = shape_.shares_pieces ? LoopKind::Parallel : LoopKind::Serial;
        return b_.loop(kind, piece_, b_.i64(0), count, b_.i64(1), body);
    }

    bool goes_along(int axis) const { return shape_.along && axis == shape_.reduce_axis; }

    /// A vector loop over [0, count); `each` gets the number.
    void columns(Code& code, E count, const std::function<void(Code&, E)>& each) {
        std::int32_t l = b_.var("l", DType::Int64);
        Code body;
        each(body, b_.read(l));
        code.push_back(b_.loop(LoopKind::Vector, l, b_.i64(0), count, b_.i64(1), b_.block(body)));
    }
    /// The same over the strip's columns.
    void columns(Code& code, const std::function<void(Code&, E)>& each) {
        columns(code, b_.i64(width_), each);
    }

    std::vector<E> point(E column) {
        std::vector<E> at;
        for (std::size_t axis = 0; axis + 1 < index_.size(); ++axis)
            at.push_back(b_.read(index_[axis]));
        at.push_back(b_.add(first_, column));
        return at;
    }

    Sums arrays(Code& code, std::int64_t length, const char* name) {
        Sums made;
        for (std::size_t k : reducing_) {
            made.push_back(b_.local_array(name + std::to_string(k), group_.outputs[k].dtype, 1,
                                          Space::Private));
            code.push_back(b_.allocate(made.back(), {{b_.i64(length)}}));
        }
        return made;
    }

    E item(std::int32_t array, E at) { return b_.load(array, {at}); }
    S set(std::int32_t array, E at, E value) {
        E where[] = {at};
        return b_.store(array, where, value);
    }

    Op op(std::size_t k) const { return group_.outputs[reducing_[k]].op; }

    /// What changes no value that it is combined with: of sums -0.0, of fmin and fmax NaN.
    E start(std::size_t k) {
        DType t = group_.outputs[reducing_[k]].dtype;
        if (is_float(t) && op(k) == Op::Add) return b_.constant(Scalar::of(t, -0.0));
        if (is_float(t) && (op(k) == Op::Fmin || op(k) == Op::Fmax))
            return b_.constant(Scalar::of(t, std::numeric_limits<double>::quiet_NaN()));
        return b_.constant(identity(op(k), t));
    }

    /// Computes `count` columns of a row, stores what does not reduce, and passes on the rest.
    void each_value(Code& code, E count,
                    const std::function<void(Code&, std::size_t, E column, E value)>& combine) {
        columns(code, count, [&](Code& body, E l) {
            std::vector<E> at = point(l);
            Code values = values_.compute(at, like_);
            body.insert(body.end(), values.begin(), values.end());
            std::size_t k = 0;
            for (std::size_t o = 0; o < group_.outputs.size(); ++o) {
                E value = values_.value(group_.outputs[o].node);
                if (group_.outputs[o].reduces)
                    combine(body, k++, l, value);
                else
                    body.push_back(b_.store(values_.outputs()[o], at, value));
            }
        });
    }

    /// Adds rows [begin, end) of an axis to the sums, after clearing them.
    void add_rows(Code& code, int axis, E begin, E end, const Sums& sums) {
        columns(code, [&](Code& body, E l) {
            for (std::size_t k = 0; k < sums.size(); ++k) body.push_back(set(sums[k], l, start(k)));
        });
        Code rows;
        auto combine = [&](Code& body, std::size_t k, E l, E value) {
            body.push_back(set(sums[k], l, b_.binary(op(k), item(sums[k], l), value)));
        };
        if (axis < shape_.reduce_axis) {
            Sums inner = fold(rows, axis + 1);
            columns(rows, [&](Code& body, E l) {
                for (std::size_t k = 0; k < sums.size(); ++k)
                    combine(body, k, l, item(inner[k], l));
            });
        } else {
            each_value(rows, b_.i64(width_), combine);
        }
        code.push_back(b_.loop(LoopKind::Serial, index_[static_cast<std::size_t>(axis)], begin, end,
                               b_.i64(1), b_.block(rows)));
    }

    /// A vector loop over [0, count), which sets what each reducing output has there.
    void vector(Code& code, std::int64_t count, const std::function<S(std::size_t, E)>& each) {
        std::int32_t at = b_.var("at", DType::Int64);
        Code body;
        for (std::size_t k = 0; k < reducing_.size(); ++k) body.push_back(each(k, b_.read(at)));
        code.push_back(
            b_.loop(LoopKind::Vector, at, b_.i64(0), b_.i64(count), b_.i64(1), b_.block(body)));
    }

    /// Combines the rows [begin, end) of a leaf by lanes, then the lanes. Those that no row came to
    /// hold what changes nothing.
    void add_lanes(Code& code, const Sums& lanes, E begin, E end, const Sums& sums) {
        vector(code, reduction::lanes * width_,
               [&](std::size_t k, E at) { return set(lanes[k], at, start(k)); });
        std::int32_t row = index_[static_cast<std::size_t>(shape_.reduce_axis)];
        std::int32_t lane = b_.var("lane", DType::Int64);
        E number = b_.binary(Op::And, b_.sub(b_.read(row), begin), b_.i64(reduction::lanes - 1));
        Code rows{b_.declare(lane, b_.mul(number, b_.i64(width_)))};
        each_value(rows, b_.i64(width_), [&](Code& body, std::size_t k, E l, E value) {
            E at = b_.add(b_.read(lane), l);
            body.push_back(set(lanes[k], at, b_.binary(op(k), item(lanes[k], at), value)));
        });
        code.push_back(b_.loop(LoopKind::Serial, row, begin, end, b_.i64(1), b_.block(rows)));
        combine_lanes(code, lanes, sums);
    }

    /// The same of elements that follow one another along the last axis.
    void add_along(Code& code, const Sums& lanes, E begin, E end, const Sums& sums) {
        vector(code, reduction::lanes,
               [&](std::size_t k, E at) { return set(lanes[k], at, start(k)); });
        auto combine = [&](Code& body, std::size_t k, E l, E value) {
            body.push_back(set(lanes[k], l, b_.binary(op(k), item(lanes[k], l), value)));
        };
        std::int32_t chunk = b_.var("chunk", DType::Int64), rest = b_.var("rest", DType::Int64);
        Code whole;
        first_ = b_.read(chunk);
        each_value(whole, b_.i64(reduction::lanes), combine);
        E count = b_.sub(end, begin);
        code.push_back(
            b_.declare(rest, b_.add(begin, b_.binary(Op::And, count, b_.i64(-reduction::lanes)))));
        code.push_back(b_.loop(LoopKind::Serial, chunk, begin, b_.read(rest),
                               b_.i64(reduction::lanes), b_.block(whole)));
        first_ = b_.read(rest);
        each_value(code, b_.sub(end, b_.read(rest)), combine);
        combine_lanes(code, lanes, sums);
    }

    /// The lanes of each column, by halves.
    void combine_lanes(Code& code, const Sums& lanes, const Sums& sums) {
        for (std::int64_t half = reduction::lanes / 2; half > 0; half /= 2) {
            vector(code, half * width_, [&](std::size_t k, E at) {
                E high = b_.add(at, b_.i64(half * width_));
                return set(lanes[k], at,
                           b_.binary(op(k), item(lanes[k], at), item(lanes[k], high)));
            });
        }
        vector(code, width_,
               [&](std::size_t k, E at) { return set(sums[k], at, item(lanes[k], at)); });
    }

    /// The strip combined along `axis` and the reduced axes behind it.
    Sums fold(Code& code, int axis) {
        Sums sums = arrays(code, width_, "sum");
        E rows = b_.extent(like_, axis);
        const bool along = goes_along(axis);
        Sums lanes;
        if (shape_.lanes || along) lanes = arrays(code, reduction::lanes * width_, "lanes");
        auto add_leaf = [&](Code& body, E begin, E end) {
            if (along)
                add_along(body, lanes, begin, end, sums);
            else if (shape_.lanes)
                add_lanes(body, lanes, begin, end, sums);
            else
                add_rows(body, axis, begin, end, sums);
        };
        if (shape_.few_rows) {
            add_leaf(code, b_.i64(0), rows);
            return sums;
        }
        Sums stack = arrays(code, tree_levels * width_, "stack");
        std::int32_t depth = b_.var("depth", DType::Int64), leaf = b_.var("leaf", DType::Int64),
                     left = b_.var("left", DType::Int64), begin = b_.var("row", DType::Int64);
        auto place = [&](E level, E l) { return b_.add(b_.mul(level, b_.i64(width_)), l); };
        auto above = [&](std::int64_t levels) { return b_.sub(b_.read(depth), b_.i64(levels)); };
        auto merge = [&](Code& body) {
            columns(body, [&](Code& inner, E l) {
                E low = place(above(2), l), high = place(above(1), l);
                for (std::size_t k = 0; k < stack.size(); ++k)
                    inner.push_back(
                        set(stack[k], low,
                            b_.binary(op(k), item(stack[k], low), item(stack[k], high))));
            });
            body.push_back(b_.assign(depth, above(1)));
        };
        code.push_back(b_.declare(depth, b_.i64(0)));
        E length = b_.i64(shape_.lanes || along ? reduction::leaf_elements : reduction::leaf_rows);
        E first_leaf = b_.i64(0),
          leaves = b_.binary(Op::FloorDiv, b_.add(rows, b_.sub(length, b_.i64(1))), length);
        if (along && shape_.reduce_before == 0) {
            constexpr std::int64_t per_piece = reduction_piece / reduction::leaf_elements;
            first_leaf = b_.mul(b_.read(piece_), b_.i64(per_piece));
            leaves = b_.binary(Op::Min, leaves, b_.add(first_leaf, b_.i64(per_piece)));
        }
        Code body{b_.declare(begin, b_.mul(b_.read(leaf), length))};
        add_leaf(body, b_.read(begin), b_.binary(Op::Min, b_.add(b_.read(begin), length), rows));
        columns(body, [&](Code& inner, E l) {
            for (std::size_t k = 0; k < stack.size(); ++k)
                inner.push_back(set(stack[k], place(b_.read(depth), l), item(sums[k], l)));
        });
        body.push_back(b_.assign(depth, b_.add(b_.read(depth), b_.i64(1))));
        body.push_back(b_.declare(left, b_.sub(b_.read(leaf), first_leaf)));
        Code complete;
        merge(complete);
        complete.push_back(b_.assign(left, b_.binary(Op::Shr, b_.read(left), b_.i64(1))));
        body.push_back(b_.loop_while(
            b_.binary(Op::Eq, b_.binary(Op::And, b_.read(left), b_.i64(1)), b_.i64(1)),
            b_.block(complete)));
        code.push_back(
            b_.loop(LoopKind::Serial, leaf, first_leaf, leaves, b_.i64(1), b_.block(body)));
        Code rest;
        merge(rest);
        code.push_back(b_.loop_while(b_.binary(Op::Gt, b_.read(depth), b_.i64(1)), b_.block(rest)));
        columns(code, [&](Code& inner, E l) {
            for (std::size_t k = 0; k < stack.size(); ++k)
                inner.push_back(set(sums[k], l, item(stack[k], l)));
        });
        return sums;
    }

    void store(Code& code, const Sums& sums) {
        columns(code, [&](Code& body, E l) {
            std::vector<E> at = point(l);
            for (int axis = first_axis_; axis <= shape_.reduce_axis; ++axis)
                at[static_cast<std::size_t>(axis)] = b_.i64(0);
            if (shape_.along) at.back() = b_.read(piece_);
            for (std::size_t k = 0; k < sums.size(); ++k)
                body.push_back(b_.store(values_.outputs()[reducing_[k]], at, item(sums[k], l)));
        });
    }

    const Group& group_;
    const GroupShape& shape_;
    ir::Module module_;
    Builder b_;
    GroupValues values_;
    int first_axis_;
    std::vector<std::size_t> reducing_;
    std::vector<std::int32_t> index_;
    std::int32_t like_ = 0;
    std::int64_t width_ = 1;
    std::int32_t piece_ = 0;
    E first_ = nullptr;
};

}  // namespace

std::vector<std::int64_t> strip_widths(const GroupShape& shape) {
    const std::int64_t all[] = {64, 16, 4, 1};
    std::vector<std::int64_t> widths;
    // Sums of several axes are held at once.
    std::int64_t widest = std::min<std::int64_t>(shape.strip, shape.reduce_before > 0 ? 16 : 64);
    for (std::int64_t width : all) {
        if (width <= widest) widths.push_back(width);
    }
    return widths;
}

ir::Module lower_fold(const Group& group, const GroupShape& shape) {
    return FoldLowering(group, shape).lower();
}

}  // namespace unisono
