// Lowers reducing groups: one kernel computes leaves into scratch arrays, another combines leaves
// by the tree.
//
// The order of combination is ops/reduction_tree.h's; here it is written as loops, for every
// executor but `block`.
#include <algorithm>
#include <bit>
#include <optional>

#include "core/limits.h"
#include "ir/shuffle.h"
#include "ops/reduction_tree.h"
#include "tape/plan/group_values.h"

namespace unisono {

using ir::Builder;
using ir::E;
using ir::LoopKind;
using ir::S;
using ir::Space;

namespace {

/// Elements of a short row that a work-item takes at once.
constexpr std::int64_t most_own = 4;

constexpr const char* axis_names[] = {"i", "j", "k", "l"};

std::string axis_name(int axis) { return axis < 4 ? axis_names[axis] : "i" + std::to_string(axis); }

/// What the work-items of a warp, which are its lanes, do together.
class Warp {
  public:
    explicit Warp(Builder& b) : b_(b), lane_(b.var("lane", DType::Int64)) {}

    E lane() const { return b_.read(lane_); }
    S only_first(S s) const { return b_.branch(b_.binary(Op::Eq, lane(), b_.i64(0)), s); }
    S loop(S body) const {
        return b_.loop(LoopKind::Parallel, lane_, b_.i64(0), b_.i64(reduction::lanes), b_.i64(1),
                       body);
    }
    /// Of warps that `count` rows share: the number of the work-item is known as `item`.
    S declare_lane(E item, std::int64_t lanes) const {
        return b_.declare(lane_, b_.binary(Op::And, item, b_.i64(lanes - 1)));
    }

    /// A lane takes in the value of the one that is `distance` further, where that is one of
    /// `count`. Lanes that were taken in go on with values that nobody reads.
    void take_in(Op op, std::int32_t value, E count, std::int64_t distance,
                 std::vector<S>& out) const {
        const E is_there = b_.binary(Op::Lt, b_.add(lane(), b_.i64(distance)), count);
        const E other = shuffled(value, distance, out);
        out.push_back(b_.branch(is_there, b_.assign(value, b_.binary(op, b_.read(value), other))));
    }

  private:
    /// A variable's value in the lane that is `distance` further.
    E shuffled(std::int32_t var, std::int64_t distance, std::vector<S>& out) const {
        const auto one = [&](E value) {
            const std::int32_t moved = b_.var("moved", value->dtype);
            out.push_back(b_.declare(moved, nullptr));
            out.push_back(ir::shuffle_down(b_, moved, value, distance));
            return b_.read(moved);
        };
        const E value = b_.read(var);
        if (!is_complex(value->dtype)) return one(value);
        const E real = one(b_.part(value, 0));
        return b_.pair(real, one(b_.part(value, 1)));
    }

    Builder& b_;
    std::int32_t lane_;
};

/// Builds the leaf kernel of one group.
class LeafLowering {
  public:
    LeafLowering(const Group& group, const GroupShape& shape)
        : group_(group),
          shape_(shape),
          b_(module_.functions.emplace_back("leaves")),
          values_(b_, group, shape) {}

    ir::Module lower() {
        declare();
        for (int axis = 0; axis < shape_.rank; ++axis)
            index_.push_back(b_.var(axis_name(axis), DType::Int64));
        leaf_ = b_.var("leaf", DType::Int64);
        bool innermost = shape_.reduce_axis == shape_.rank - 1;
        const std::int64_t length =
            leaf_length(shape_.reduce_axis, shape_.rank) * shape_.leaves_at_once;
        E extent = b_.extent(like_, shape_.reduce_axis);
        begin_ = b_.mul(b_.read(leaf_), b_.i64(length));
        end_ = b_.binary(Op::Min, b_.add(begin_, b_.i64(length)), extent);
        if (shape_.row_width > 0) return finish(short_rows());
        S body = shape_.shuffles ? warp() : innermost ? lanes() : rows();
        const E leaves =
            b_.binary(Op::FloorDiv, b_.add(extent, b_.i64(length - 1)), b_.i64(length));
        const auto loop = [&](std::int32_t var, E end) {
            body = b_.loop(LoopKind::Parallel, var, b_.i64(0), end, b_.i64(1), body);
        };
        const auto loop_along = [&](int axis) {
            loop(index_[static_cast<std::size_t>(axis)], b_.extent(like_, axis));
        };
        // The innermost loop goes along memory.
        if (shape_.dense >= 0) loop_along(shape_.dense);
        if (innermost) loop(leaf_, leaves);
        for (int axis = shape_.rank - 1; axis >= 0; --axis) {
            if (axis != shape_.reduce_axis && axis != shape_.dense) loop_along(axis);
        }
        if (!innermost) loop(leaf_, leaves);
        return finish(body);
    }

  private:
    ir::Module finish(S body) {
        module_.functions.front().body = b_.block({body});
        values_.append_functions(module_);
        return std::move(module_);
    }

    void declare() {
        for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
            if (!group_.outputs[k].reduces) values_.add_output(k, shape_.rank);
        }
        for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
            if (!group_.outputs[k].reduces) continue;
            scratch_.push_back(b_.array_param("leaves" + std::to_string(k), group_.outputs[k].dtype,
                                              shape_.rank, true));
            b_.function().arrays.back().noalias = true;
            reducing_.push_back(k);
        }
        // Where nothing is read (arange(n).sum()), an array that is never loaded brings the shape.
        like_ = group_.inputs.empty() ? b_.array_param("domain", DType::UInt8, shape_.rank, false)
                                      : values_.inputs().front();
        values_.add_scalars();
    }

    std::vector<E> here() {
        std::vector<E> at;
        for (auto v : index_) at.push_back(b_.read(v));
        return at;
    }

    /// Statements that compute the nodes at a point and store what does not reduce.
    std::vector<S> point(const std::vector<E>& at) {
        std::vector<S> body = values_.compute(at, like_);
        std::size_t plain = 0;
        for (const auto& o : group_.outputs) {
            if (!o.reduces)
                body.push_back(b_.store(values_.outputs()[plain++], at, values_.value(o.node)));
        }
        return body;
    }

    std::vector<E> scratch_index() {
        std::vector<E> at;
        for (int axis = 0; axis < shape_.rank; ++axis) {
            if (axis != shape_.reduce_axis)
                at.push_back(b_.read(index_[static_cast<std::size_t>(axis)]));
        }
        at.push_back(b_.read(leaf_));
        return at;
    }

    enum class Row { First, Later, Any };
    static constexpr std::int64_t leaf_rows_of_lanes = reduction::leaf_elements / reduction::lanes;

    /// Combines elements of the leaf's row of that number with the lanes, the first `count` ones.
    S row_of_lanes(const std::vector<std::int32_t>& lane_arrays, E row, E count, Row which) {
        std::int32_t x = index_.back(), lane = b_.var("lane", DType::Int64);
        E at[] = {b_.read(lane)};
        E first = b_.add(begin_, b_.mul(row, b_.i64(reduction::lanes)));
        std::vector<S> inner{b_.declare(x, b_.add(first, b_.read(lane)))};
        for (S statement : point(here())) inner.push_back(statement);
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            const auto& o = group_.outputs[reducing_[k]];
            E v = values_.value(o.node);
            S store = b_.store(lane_arrays[k], at, v);
            S more = b_.store(lane_arrays[k], at, b_.binary(o.op, b_.load(lane_arrays[k], at), v));
            S kept = which == Row::First ? store : more;
            if (which == Row::Any) kept = b_.branch(b_.binary(Op::Eq, row, b_.i64(0)), store, more);
            inner.push_back(kept);
        }
        return b_.loop(LoopKind::Serial, lane, b_.i64(0), count, b_.i64(1), b_.block(inner));
    }

    /// Each lane of a leaf of all its elements, by a loop over lanes: compilers make vectors of it,
    /// in whose registers the sums stay.
    S lane_by_lane(const std::vector<std::int32_t>& lane_arrays) {
        const std::int32_t lane = b_.var("lane", DType::Int64);
        std::vector<S> inner;
        std::vector<std::int32_t> sums;
        for (std::int64_t row = 0; row < leaf_rows_of_lanes; ++row) {
            std::vector<E> at = here();
            at.back() = b_.add(b_.add(begin_, b_.i64(row * reduction::lanes)), b_.read(lane));
            for (S statement : point(at)) inner.push_back(statement);
            for (std::size_t k = 0; k < reducing_.size(); ++k) {
                const auto& o = group_.outputs[reducing_[k]];
                const E v = values_.value(o.node);
                if (row == 0) sums.push_back(b_.var("sum" + std::to_string(k), o.dtype));
                inner.push_back(row == 0
                                    ? b_.declare(sums[k], v)
                                    : b_.assign(sums[k], b_.binary(o.op, b_.read(sums[k]), v)));
            }
        }
        E at[] = {b_.read(lane)};
        for (std::size_t k = 0; k < reducing_.size(); ++k)
            inner.push_back(b_.store(lane_arrays[k], at, b_.read(sums[k])));
        return b_.loop(LoopKind::Serial, lane, b_.i64(0), b_.i64(reduction::lanes), b_.i64(1),
                       b_.block(inner));
    }

    /// The reduced axis is the innermost, and a warp has a leaf: neighbouring work-items read
    /// neighbouring elements, which is the order of the lanes, and shuffles combine the halves.
    S warp() {
        const Warp warp(b_);
        const E begin = b_.add(begin_, warp.lane());
        const std::int32_t count = b_.var("count", DType::Int64);
        std::vector<S> body;
        const std::vector<std::int32_t> sums = declare_sums(body);
        body.push_back(b_.declare(count, b_.sub(end_, begin_)));
        const S any = each_row(sums, begin, end_, reduction::lanes);
        if (group_.nodes.size() <= limits::unrolled_nodes) {
            const E whole = b_.i64(reduction::leaf_elements);
            body.push_back(b_.branch(b_.binary(Op::Eq, b_.read(count), whole),
                                     unrolled(sums, reduction::leaf_elements / reduction::lanes,
                                              [&](std::int64_t row) {
                                                  return b_.add(begin,
                                                                b_.i64(row * reduction::lanes));
                                              }),
                                     any));
        } else {
            body.push_back(any);
        }
        for (std::int64_t half = reduction::lanes / 2; half > 0; half /= 2) {
            for (std::size_t k = 0; k < reducing_.size(); ++k)
                warp.take_in(group_.outputs[reducing_[k]].op, sums[k], b_.read(count), half, body);
        }
        std::vector<S> stores;
        for (std::size_t k = 0; k < reducing_.size(); ++k)
            stores.push_back(b_.store(scratch_[k], scratch_index(), b_.read(sums[k])));
        body.push_back(warp.only_first(b_.block(stores)));
        return warp.loop(b_.block(body));
    }

    /// Rows of one leaf that is shorter than a warp, several of which share one. A work-item has
    /// elements as far apart as its row has work-items, so that it combines the first halves itself
    /// and shuffles the last ones. Only the upper half of a row may lack elements.
    S short_rows() {
        const std::int64_t width = shape_.row_width;
        const std::int64_t own =
            group_.nodes.size() <= limits::unrolled_nodes ? std::min(width, most_own) : 1;
        const std::int64_t lanes = width / own, together = reduction::lanes / lanes;
        const Warp warp(b_);
        const std::int32_t item = b_.var("item", DType::Int64);
        const int row_axis = shape_.rank - 2;
        const std::int32_t row = index_[static_cast<std::size_t>(row_axis)];
        const E rows = b_.extent(like_, row_axis), length = b_.extent(like_, shape_.reduce_axis);
        const E number = b_.binary(Op::FloorDiv, b_.read(item), b_.i64(lanes));
        // All work-items of a warp take part in a shuffle.
        std::vector<S> body{b_.declare(leaf_, b_.i64(0)), warp.declare_lane(b_.read(item), lanes),
                            b_.declare(row, b_.binary(Op::Min, number, b_.sub(rows, b_.i64(1))))};
        const auto element = [&](std::int64_t k) { return b_.add(warp.lane(), b_.i64(k * lanes)); };
        std::vector<std::vector<std::int32_t>> sums;  // of each of its elements
        for (std::int64_t k = 0; k < own; ++k) {
            std::vector<E> at = here();
            at.back() = element(k);
            if (!shape_.row_is_whole && (own == 1 || k >= own / 2))
                at.back() = b_.binary(Op::Min, at.back(), b_.sub(length, b_.i64(1)));
            for (S statement : point(at)) body.push_back(statement);
            std::vector<std::int32_t>& own_sums = sums.emplace_back();
            for (std::size_t out : reducing_) {
                const auto& o = group_.outputs[out];
                own_sums.push_back(b_.var("sum" + std::to_string(out), o.dtype));
                body.push_back(b_.declare(own_sums.back(), values_.value(o.node)));
            }
        }
        for (std::int64_t half = own / 2; half > 0; half /= 2) {
            for (std::int64_t k = 0; k < half; ++k) {
                const S both = combined(sums[static_cast<std::size_t>(k)],
                                        sums[static_cast<std::size_t>(k + half)]);
                const bool may_lack = !shape_.row_is_whole && 2 * half == own;
                body.push_back(may_lack
                                   ? b_.branch(b_.binary(Op::Lt, element(k + half), length), both)
                                   : both);
            }
        }
        for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
            const E count = own == 1 && 2 * half == width ? length : b_.i64(2 * half);
            for (std::size_t k = 0; k < reducing_.size(); ++k)
                warp.take_in(group_.outputs[reducing_[k]].op, sums[0][k], count, half, body);
        }
        std::vector<S> stores;
        for (std::size_t k = 0; k < reducing_.size(); ++k)
            stores.push_back(b_.store(scratch_[k], scratch_index(), b_.read(sums[0][k])));
        body.push_back(b_.branch(b_.binary(Op::Lt, number, rows), warp.only_first(as_one(stores))));
        const E warps =
            b_.binary(Op::FloorDiv, b_.add(rows, b_.i64(together - 1)), b_.i64(together));
        S nest = b_.loop(LoopKind::Parallel, item, b_.i64(0),
                         b_.mul(warps, b_.i64(reduction::lanes)), b_.i64(1), b_.block(body));
        for (int axis = row_axis - 1; axis >= 0; --axis)
            nest = b_.loop(LoopKind::Parallel, index_[static_cast<std::size_t>(axis)], b_.i64(0),
                           b_.extent(like_, axis), b_.i64(1), nest);
        return nest;
    }

    /// The reduced axis is the innermost: interleaved lanes, combined by halves.
    S lanes() {
        const E whole = b_.i64(reduction::leaf_elements);
        const auto by_count = [&](S of_whole, S of_any) {
            return b_.branch(b_.binary(Op::Eq, b_.sub(end_, begin_), whole), of_whole, of_any);
        };
        // Compilers of devices with cores find vectors in variables for sums and products of floats
        // alone: sums of integers they reorder before, and extremes are several operations each.
        if (shape_.has_cores && std::ranges::none_of(reducing_, [&](std::size_t k) {
                const auto& o = group_.outputs[k];
                return !is_integer(o.dtype) && (o.op == Op::Add || o.op == Op::Mul);
            })) {
            S of_whole = array_lanes(true), of_any = array_lanes(false);
            return by_count(of_whole, of_any);
        }
        // More than these do not fit in a device's registers.
        const bool is_one = reducing_.size() == 1 &&
                            size_of(group_.outputs[reducing_[0]].dtype) <= size_of(DType::Float64);
        if (!shape_.on_device || !is_one || group_.nodes.size() > limits::unrolled_nodes / 2)
            return array_lanes(false);
        S of_whole = whole_lanes(), of_any = array_lanes(false);
        return by_count(of_whole, of_any);
    }

    /// A leaf of all its elements with a variable for each lane, so that compilers of devices keep
    /// them in registers, as vectors where there are any.
    S whole_lanes() {
        constexpr auto width = static_cast<std::size_t>(reduction::lanes);
        std::vector<S> body, later;
        std::vector<std::vector<std::int32_t>> sums(reducing_.size());  // of each lane
        const std::int32_t row = b_.var("row", DType::Int64);
        const E first = b_.add(begin_, b_.mul(b_.read(row), b_.i64(reduction::lanes)));
        for (std::size_t lane = 0; lane < width; ++lane) {
            std::vector<E> at = here();
            at.back() = b_.add(begin_, b_.i64(static_cast<std::int64_t>(lane)));
            for (S statement : point(at)) body.push_back(statement);
            for (std::size_t k = 0; k < reducing_.size(); ++k) {
                const auto& o = group_.outputs[reducing_[k]];
                sums[k].push_back(b_.var("sum" + std::to_string(k), o.dtype));
                body.push_back(b_.declare(sums[k][lane], values_.value(o.node)));
            }
        }
        if (shape_.has_cores) fetch_next_leaf(first, later);
        for (std::size_t lane = 0; lane < width; ++lane) {
            std::vector<E> at = here();
            at.back() = b_.add(first, b_.i64(static_cast<std::int64_t>(lane)));
            for (S statement : point(at)) later.push_back(statement);
            for (std::size_t k = 0; k < reducing_.size(); ++k) {
                const auto& o = group_.outputs[reducing_[k]];
                const std::int32_t sum = sums[k][lane];
                later.push_back(
                    b_.assign(sum, b_.binary(o.op, b_.read(sum), values_.value(o.node))));
            }
        }
        body.push_back(b_.loop(LoopKind::Serial, row, b_.i64(1),
                               b_.i64(reduction::leaf_elements / reduction::lanes), b_.i64(1),
                               b_.block(later)));
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            const auto& lane = sums[k];
            for (std::size_t half = width / 2; half > 0; half /= 2) {
                for (std::size_t l = 0; l < half; ++l) {
                    body.push_back(
                        b_.assign(lane[l], b_.binary(group_.outputs[reducing_[k]].op,
                                                     b_.read(lane[l]), b_.read(lane[l + half]))));
                }
            }
            body.push_back(b_.store(scratch_[k], scratch_index(), b_.read(lane.front())));
        }
        return b_.block(body);
    }

    /// Fetches the lines of the row as far behind `first` as a leaf is long: the additions of a
    /// leaf keep a core from reading far ahead itself.
    void fetch_next_leaf(E first, std::vector<S>& out) {
        constexpr std::int64_t line_bytes = 64;
        const auto rank = static_cast<std::size_t>(shape_.rank);
        for (std::size_t k = 0; k < group_.inputs.size(); ++k) {
            const DType t = group_.inputs[k];
            if (is_complex(t) || shape_.strides[(k + 1) * rank - 1] != ir::StrideClass::One)
                continue;
            for (std::int64_t lane = 0; lane < reduction::lanes; lane += line_bytes / size_of(t)) {
                std::vector<E> at = here();
                at.back() = b_.add(first, b_.i64(reduction::leaf_elements + lane));
                out.push_back(b_.prefetch(b_.load(values_.inputs()[k], at)));
            }
        }
    }

    /// A leaf of any number of elements, or of all, with an array of lanes.
    S array_lanes(bool is_whole) {
        std::vector<S> body;
        std::vector<std::int32_t> lane_arrays;
        E width = b_.i64(reduction::lanes);
        for (std::size_t k : reducing_) {
            lane_arrays.push_back(b_.local_array("lane" + std::to_string(k),
                                                 group_.outputs[k].dtype, 1, Space::Private));
            body.push_back(b_.allocate(lane_arrays.back(), {{width}}));
        }
        // Whole rows of lanes, in a loop that compilers make vectors of, then the rest of one.
        std::int32_t whole = b_.var("whole", DType::Int64), row = b_.var("row", DType::Int64),
                     present = b_.var("present", DType::Int64);
        if (is_whole && group_.nodes.size() <= limits::unrolled_nodes) {
            std::vector<S> fetches;
            fetch_next_leaf(b_.add(begin_, b_.mul(b_.read(row), width)), fetches);
            if (!fetches.empty())
                body.push_back(b_.loop(LoopKind::Serial, row, b_.i64(0), b_.i64(leaf_rows_of_lanes),
                                       b_.i64(1), b_.block(fetches)));
            body.push_back(lane_by_lane(lane_arrays));
        } else if (is_whole) {
            body.push_back(row_of_lanes(lane_arrays, b_.i64(0), width, Row::First));
            body.push_back(b_.loop(LoopKind::Serial, row, b_.i64(1), b_.i64(leaf_rows_of_lanes),
                                   b_.i64(1),
                                   row_of_lanes(lane_arrays, b_.read(row), width, Row::Later)));
        } else {
            body.push_back(b_.declare(whole, b_.binary(Op::FloorDiv, b_.sub(end_, begin_), width)));
            body.push_back(b_.loop(LoopKind::Serial, row, b_.i64(0), b_.read(whole), b_.i64(1),
                                   row_of_lanes(lane_arrays, b_.read(row), width, Row::Any)));
            E rest = b_.sub(b_.sub(end_, begin_), b_.mul(b_.read(whole), width));
            body.push_back(row_of_lanes(lane_arrays, b_.read(whole), rest, Row::Any));
            body.push_back(b_.declare(present, b_.binary(Op::Min, b_.sub(end_, begin_), width)));
        }
        for (std::int64_t half = reduction::lanes / 2; half > 0; half /= 2) {
            std::int32_t l = b_.var("l" + std::to_string(half), DType::Int64);
            E low[] = {b_.read(l)}, high[] = {b_.add(b_.read(l), b_.i64(half))};
            std::vector<S> stores;
            for (std::size_t k = 0; k < reducing_.size(); ++k) {
                stores.push_back(b_.store(
                    lane_arrays[k], low,
                    b_.binary(group_.outputs[reducing_[k]].op, b_.load(lane_arrays[k], low),
                              b_.load(lane_arrays[k], high))));
            }
            S merge = b_.block(stores);
            if (!is_whole) merge = b_.branch(b_.binary(Op::Lt, high[0], b_.read(present)), merge);
            body.push_back(b_.loop(LoopKind::Serial, l, b_.i64(0), b_.i64(half), b_.i64(1), merge));
            if (!is_whole)
                body.push_back(
                    b_.assign(present, b_.binary(Op::Min, b_.read(present), b_.i64(half))));
        }
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            body.push_back(
                b_.store(scratch_[k], scratch_index(), b_.load(lane_arrays[k], {b_.i64(0)})));
        }
        return b_.block(body);
    }

    /// Another axis: the leaf's rows one after the other.
    S rows() {
        std::vector<S> body;
        std::vector<std::vector<std::int32_t>> sums;  // of each leaf
        for (std::int64_t n = 0; n < shape_.leaves_at_once; ++n) sums.push_back(declare_sums(body));
        std::vector<S> one_by_one, whole;
        const bool unrolls = group_.nodes.size() <= limits::unrolled_nodes;
        for (std::size_t n = 0; n < sums.size(); ++n) {
            const E first = first_row(n);
            const E end = sums.size() == 1 ? end_ : b_.binary(Op::Min, first_row(n + 1), end_);
            one_by_one.push_back(each_row(sums[n], first, end));
            if (!unrolls) continue;
            whole.push_back(unrolled(sums[n], reduction::leaf_rows,
                                     [&](std::int64_t row) { return b_.add(first, b_.i64(row)); }));
        }
        for (std::size_t half = 1; half < sums.size(); half *= 2) {
            for (std::size_t n = 0; n < sums.size(); n += 2 * half) {
                const S both = combined(sums[n], sums[n + half]);
                whole.push_back(both);
                one_by_one.push_back(b_.branch(b_.binary(Op::Lt, first_row(n + half), end_), both));
            }
        }
        if (unrolls) {
            const E rows = b_.i64(reduction::leaf_rows * shape_.leaves_at_once);
            body.push_back(b_.branch(b_.binary(Op::Eq, b_.sub(end_, begin_), rows), as_one(whole),
                                     as_one(one_by_one)));
        } else {
            body.push_back(as_one(one_by_one));
        }
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            body.push_back(b_.store(scratch_[k], scratch_index(), b_.read(sums.front()[k])));
        }
        return b_.block(body);
    }

    E first_row(std::size_t leaf) {
        if (leaf == 0) return begin_;
        return b_.add(begin_, b_.i64(static_cast<std::int64_t>(leaf) * reduction::leaf_rows));
    }

    S as_one(const std::vector<S>& list) { return list.size() == 1 ? list[0] : b_.block(list); }

    /// A variable for each reducing output.
    std::vector<std::int32_t> declare_sums(std::vector<S>& out) {
        std::vector<std::int32_t> sums;
        for (std::size_t k : reducing_) {
            sums.push_back(b_.var("sum" + std::to_string(k), group_.outputs[k].dtype));
            out.push_back(b_.declare(sums.back(), b_.zero(group_.outputs[k].dtype)));
        }
        return sums;
    }

    /// Adds elements of the reduced axis, from `first` on, to the sums, which begin with that one.
    S each_row(const std::vector<std::int32_t>& sums, E first, E end, std::int64_t step = 1) {
        const std::int32_t x = index_[static_cast<std::size_t>(shape_.reduce_axis)];
        std::vector<S> inner = point(here());
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            const auto& o = group_.outputs[reducing_[k]];
            E v = values_.value(o.node);
            inner.push_back(b_.branch(b_.binary(Op::Eq, b_.read(x), first), b_.assign(sums[k], v),
                                      b_.assign(sums[k], b_.binary(o.op, b_.read(sums[k]), v))));
        }
        return b_.loop(LoopKind::Serial, x, first, end, b_.i64(step), b_.block(inner));
    }

    /// Left operands take in right ones.
    S combined(const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right) {
        std::vector<S> body;
        for (std::size_t k = 0; k < reducing_.size(); ++k) {
            const Op op = group_.outputs[reducing_[k]].op;
            body.push_back(b_.assign(left[k], b_.binary(op, b_.read(left[k]), b_.read(right[k]))));
        }
        return as_one(body);
    }

    /// So many elements, by their number at `place`, without a loop: compilers of devices load
    /// ahead, and make vectors of neighbours.
    template <class F>
    S unrolled(const std::vector<std::int32_t>& sums, std::int64_t rows, F place) {
        std::vector<S> body;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::vector<E> at = here();
            at[static_cast<std::size_t>(shape_.reduce_axis)] = place(row);
            for (S statement : point(at)) body.push_back(statement);
            for (std::size_t k = 0; k < reducing_.size(); ++k) {
                const auto& o = group_.outputs[reducing_[k]];
                const E v = values_.value(o.node);
                body.push_back(
                    b_.assign(sums[k], row == 0 ? v : b_.binary(o.op, b_.read(sums[k]), v)));
            }
        }
        return b_.block(body);
    }

    const Group& group_;
    const GroupShape& shape_;
    ir::Module module_;
    Builder b_;
    GroupValues values_;
    std::vector<std::int32_t> scratch_, index_;
    std::vector<std::size_t> reducing_;
    std::int32_t like_ = 0, leaf_ = 0;
    E begin_ = nullptr, end_ = nullptr;
};

}  // namespace

std::int64_t leaf_length(int reduce_axis, int rank) {
    return reduce_axis == rank - 1 ? reduction::leaf_elements : reduction::leaf_rows;
}

ir::Module lower_leaves(const Group& group, const GroupShape& shape) {
    return LeafLowering(group, shape).lower();
}

ir::Module lower_tree(Op op, DType dtype, int kept_rank, const TreeForm& form) {
    ir::Module module;
    ir::Function& f = module.functions.emplace_back("tree");
    Builder b(f);
    const int along = kept_rank;  // the axis of the leaves, and of the nodes
    std::int32_t leaves = b.array_param("leaves", dtype, kept_rank + 1, false);
    std::int32_t nodes = b.array_param("nodes", dtype, kept_rank + 1, true);
    std::int32_t width = b.scalar_param("width", DType::Int64);
    f.arrays[0].noalias = f.arrays[1].noalias = true;
    std::int32_t stack = b.local_array("stack", dtype, 1, Space::Private);
    std::int32_t depth = b.var("depth", DType::Int64), leaf = b.var("leaf", DType::Int64),
                 left = b.var("left", DType::Int64), begin = b.var("begin", DType::Int64),
                 end = b.var("end", DType::Int64);
    std::vector<std::int32_t> index;
    std::vector<E> at;
    for (int axis = 0; axis <= along; ++axis) {
        index.push_back(b.var(axis_name(axis), DType::Int64));
        at.push_back(b.read(index.back()));
    }
    // Extremes of nothing are refused; those of complex numbers have no identity.
    const bool has_identity = !is_complex(dtype) || op == Op::Add || op == Op::Mul;
    E of_nothing = has_identity ? b.identity(op, dtype) : b.zero(dtype);
    E one = b.i64(1), two = b.i64(2);
    E below[] = {b.sub(b.read(depth), two)}, top[] = {b.sub(b.read(depth), one)},
      next[] = {b.read(depth)};
    auto merge = [&] {
        return b.block(
            {b.store(stack, below, b.binary(op, b.load(stack, below), b.load(stack, top))),
             b.assign(depth, b.sub(b.read(depth), one))});
    };
    std::vector<E> leaf_at = at;
    leaf_at.back() = b.read(leaf);
    S push = b.block(
        {b.store(stack, next, b.load(leaves, leaf_at)), b.assign(depth, b.add(b.read(depth), one)),
         b.declare(left, b.sub(b.read(leaf), b.read(begin))),
         b.loop_while(b.binary(Op::Eq, b.binary(Op::And, b.read(left), one), one),
                      b.block({merge(), b.assign(left, b.binary(Op::Shr, b.read(left), one))}))});
    const auto load_leaf = [&](E number) {
        std::vector<E> there = at;
        there.back() = number;
        return b.load(leaves, there);
    };
    // As many leaves as a node of a level has, without a loop or a stack.
    const auto whole_node = [&] {
        std::vector<S> out;
        std::vector<std::int32_t> values;
        for (std::int64_t k = 0; k < tree_step; ++k) {
            values.push_back(b.var("leaf" + std::to_string(k), dtype));
            out.push_back(b.declare(values.back(), load_leaf(b.add(b.read(begin), b.i64(k)))));
        }
        for (std::size_t half = 1; half < values.size(); half *= 2) {
            for (std::size_t k = 0; k < values.size(); k += 2 * half)
                out.push_back(
                    b.assign(values[k], b.binary(op, b.read(values[k]), b.read(values[k + half]))));
        }
        out.push_back(b.store(nodes, at, b.read(values.front())));
        return b.block(out);
    };
    // Work-items side by side have a stack each, which caches are to hold.
    const std::int64_t levels = form.unrolls ? std::bit_width(std::uint64_t{tree_step})
                                             : std::int64_t{reduction::max_levels};
    // Nothing is the first of the stack. To choose it at the end is a masked load of a constant in
    // drivers' code, which some processors take hundreds of cycles for where the mask is not set.
    const E bottom[] = {b.i64(0)};
    S body = b.block({b.allocate(stack, {{b.i64(levels)}}), b.store(stack, bottom, of_nothing),
                      b.declare(depth, b.i64(0)),
                      b.loop(LoopKind::Serial, leaf, b.read(begin), b.read(end), one, push),
                      b.loop_while(b.binary(Op::Gt, b.read(depth), one), merge()),
                      b.store(nodes, at, b.load(stack, bottom))});
    const E count = b.sub(b.read(end), b.read(begin));
    // A warp has a node, and each of its lanes a leaf.
    const auto node_of_warp = [&](const Warp& warp) {
        const std::int32_t value = b.var("value", dtype);
        const E its_leaf = load_leaf(b.add(b.read(begin), warp.lane()));
        std::vector<S> out{
            b.declare(value, of_nothing),
            b.branch(b.binary(Op::Lt, warp.lane(), count), b.assign(value, its_leaf))};
        for (std::int64_t level = 1; level < tree_step; level *= 2)
            warp.take_in(op, value, count, level, out);
        out.push_back(warp.only_first(b.store(nodes, at, b.read(value))));
        return b.block(out);
    };
    std::optional<Warp> warp;
    if (form.shuffles) {
        body = node_of_warp(warp.emplace(b));
    } else if (form.unrolls) {
        body = b.branch(b.binary(Op::Eq, count, b.i64(tree_step)), whole_node(), body);
    }
    body = b.block({b.declare(begin, b.mul(at.back(), b.param(width))),
                    b.declare(end, b.binary(Op::Min, b.add(b.read(begin), b.param(width)),
                                            b.extent(leaves, along))),
                    body});
    if (warp) body = warp->loop(body);
    const auto loop = [&](int axis) {
        body = b.loop(LoopKind::Parallel, index[static_cast<std::size_t>(axis)], b.i64(0),
                      b.extent(nodes, axis), one, body);
    };
    if (form.leaves_last) loop(along);
    for (int axis = along - 1; axis >= 0; --axis) loop(axis);
    if (!form.leaves_last) loop(along);
    f.body = b.block({body});
    return module;
}

}  // namespace unisono
