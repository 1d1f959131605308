// Which axes and tiles; a tile as straight-line code where it is whole, as loops at the edges.
#include "tape/run/transposed.h"

#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "tape/plan/group_values.h"
#include "tape/run/iteration_space.h"

namespace unisono {

using ir::Builder;
using ir::E;
using ir::LoopKind;
using ir::S;
using ir::StrideClass;

namespace {

/// Work-items of a group along axis 0, which is the last axis of the space, and along axis 1.
constexpr std::int64_t width = 32, height = 8;
/// Elements along both axes of a tile: of narrow ones more, so that enough bytes are on their way.
constexpr std::int64_t large_side = 64, small_side = 32;
constexpr std::int64_t narrow = 4;  ///< bytes
/// Elements along both axes of the space from which on tiles are better than single accesses.
constexpr std::int64_t shortest = 16;
/// Group memory that every device has for a kernel.
constexpr std::int64_t most_memory = 48 << 10;
/// Nodes of all points that a work-item computes without a loop.
constexpr std::size_t most_nodes = 1024;

/// Elements between the rows of a tile: work-items that read a column meet different banks.
std::int64_t gap(DType t) {
    return std::max<std::int64_t>(1, narrow / static_cast<std::int64_t>(size_of(t)));
}
std::int64_t memory_of_tile(DType t, std::int64_t side) {
    return side * (side + gap(t)) * static_cast<std::int64_t>(size_of(t));
}
std::size_t points_of_item(std::int64_t side) {
    return static_cast<std::size_t>((side / width) * (side / height));
}

/// Whether an input lies side by side along `across`, and not along the last axis.
bool is_turned(StrideClass across, StrideClass last) {
    return last == StrideClass::Other &&
           (across == StrideClass::One || across == StrideClass::MinusOne);
}

class Lowering {
  public:
    Lowering(const Group& group, const GroupShape& shape)
        : group_(group),
          shape_(shape),
          b_(module_.functions.emplace_back("transposed")),
          values_(b_, group, shape) {}

    ir::Module lower() {
        ir::Function& f = b_.function();
        f.is_kernel = true;
        f.dimensions = 3;
        for (std::size_t k = 0; k < group_.outputs.size(); ++k) values_.add_output(k, shape_.rank);
        values_.add_scalars();
        std::vector<S> body;
        declare_indices(body);
        allocate_tiles(body);
        const bool unrolls = points_of_item(shape_.tile) * group_.nodes.size() <= most_nodes;
        const auto by_place = [&](S whole, S any) {
            return unrolls ? b_.branch(is_whole(), whole, any) : any;
        };
        body.push_back(by_place(read_whole(), read_any()));
        body.push_back(b_.barrier());
        body.push_back(by_place(compute_whole(), compute_any()));
        f.body = b_.block(std::span<const S>(body));
        return std::move(module_);
    }

  private:
    int last() const { return shape_.rank - 1; }
    std::int32_t like() const { return values_.outputs().front(); }
    E extent(int axis) { return b_.extent(like(), axis); }

    /// Where the tile begins, by the number of the group.
    void declare_indices(std::vector<S>& out) {
        using ir::WorkItemQuery;
        x_ = b_.var("x", DType::Int64);
        y_ = b_.var("y", DType::Int64);
        out.push_back(b_.declare(x_, b_.work_item(WorkItemQuery::LocalId, 0)));
        out.push_back(b_.declare(y_, b_.work_item(WorkItemQuery::LocalId, 1)));
        for (int axis = 0; axis < shape_.rank; ++axis)
            first_.push_back(b_.var("first" + std::to_string(axis), DType::Int64));
        E rest = b_.work_item(WorkItemQuery::GroupId, 2);
        for (int axis = shape_.rank; axis-- > 0;) {
            E first = nullptr;
            if (axis == last() || axis == shape_.across) {
                const int of_group = axis == last() ? 0 : 1;
                first = b_.mul(b_.work_item(WorkItemQuery::GroupId, of_group), b_.i64(shape_.tile));
            } else {
                first = b_.binary(Op::Mod, rest, extent(axis));
                rest = b_.binary(Op::FloorDiv, rest, extent(axis));
            }
            out.push_back(b_.declare(first_[static_cast<std::size_t>(axis)], first));
        }
    }

    void allocate_tiles(std::vector<S>& out) {
        const auto rank = static_cast<std::size_t>(shape_.rank);
        for (std::size_t k = 0; k < group_.inputs.size(); ++k) {
            const StrideClass* strides = &shape_.strides[k * rank];
            if (!is_turned(strides[shape_.across], strides[last()])) continue;
            const DType t = group_.inputs[k];
            const std::int32_t tile =
                b_.local_array("tile" + std::to_string(k), t, 2, ir::Space::Local);
            const E extents[] = {b_.i64(shape_.tile), b_.i64(shape_.tile + gap(t))};
            out.push_back(b_.allocate(tile, extents));
            turned_.push_back({k, tile});
        }
    }

    /// The point so many elements behind the first one of the tile.
    std::vector<E> point(E across, E along) {
        std::vector<E> at;
        for (int axis = 0; axis < shape_.rank; ++axis) {
            E e = b_.read(first_[static_cast<std::size_t>(axis)]);
            if (axis == shape_.across) e = b_.add(e, across);
            if (axis == last()) e = b_.add(e, along);
            at.push_back(e);
        }
        return at;
    }
    E left(int axis) {
        return b_.sub(extent(axis), b_.read(first_[static_cast<std::size_t>(axis)]));
    }
    E is_whole() {
        const E side = b_.i64(shape_.tile);
        return b_.binary(Op::And, b_.binary(Op::Ge, left(shape_.across), side),
                         b_.binary(Op::Ge, left(last()), side));
    }

    /// For each of the rows and columns of a tile that a work-item has, where it is whole.
    template <class What>
    void each(What what) {
        for (std::int64_t i = 0; i < shape_.tile; i += height) {
            for (std::int64_t j = 0; j < shape_.tile; j += width)
                what(b_.add(b_.read(y_), b_.i64(i)), b_.add(b_.read(x_), b_.i64(j)));
        }
    }
    /// The same as loops, as far as there are elements.
    template <class What>
    S each_of(int axis_of_rows, int axis_of_columns, What what) {
        const std::int32_t row = b_.var("row", DType::Int64),
                           column = b_.var("column", DType::Int64);
        const auto loop = [&](std::int32_t var, std::int32_t first, int axis, std::int64_t step,
                              S body) {
            const E end = b_.binary(Op::Min, left(axis), b_.i64(shape_.tile));
            return b_.loop(LoopKind::Serial, var, b_.read(first), end, b_.i64(step), body);
        };
        S body = what(b_.read(row), b_.read(column));
        return loop(row, y_, axis_of_rows, height, loop(column, x_, axis_of_columns, width, body));
    }

    E element(std::size_t input, E row, E column) {
        return b_.load(values_.inputs()[input], point(column, row));
    }
    S put(std::int32_t tile, E row, E column, E value) {
        const E at[] = {row, column};
        return b_.store(tile, at, value);
    }

    /// All loads come before the stores, so that they are on their way at once.
    S read_whole() {
        std::vector<S> loads, stores;
        for (const auto& [input, tile] : turned_) {
            each([&](E row, E column) {
                const std::int32_t held = b_.var("held", group_.inputs[input]);
                loads.push_back(b_.declare(held, element(input, row, column)));
                stores.push_back(put(tile, row, column, b_.read(held)));
            });
        }
        loads.insert(loads.end(), stores.begin(), stores.end());
        return b_.block(std::span<const S>(loads));
    }
    S read_any() {
        return each_of(last(), shape_.across, [&](E row, E column) {
            std::vector<S> body;
            for (const auto& [input, tile] : turned_)
                body.push_back(put(tile, row, column, element(input, row, column)));
            return b_.block(std::span<const S>(body));
        });
    }

    /// Statements that compute the nodes at a point, and then the stores.
    std::vector<S> compute(E row, E column, std::vector<S>& stores) {
        for (const auto& [input, tile] : turned_) values_.take(input, b_.load(tile, {column, row}));
        const std::vector<E> at = point(row, column);
        std::vector<S> body = values_.compute(at, like());
        for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
            stores.push_back(
                b_.store(values_.outputs()[k], at, values_.value(group_.outputs[k].node)));
        }
        return body;
    }
    /// Statement by statement for all points.
    S compute_whole() {
        std::vector<std::vector<S>> points;
        std::vector<S> body, stores;
        each([&](E row, E column) { points.push_back(compute(row, column, stores)); });
        for (std::size_t k = 0; k < points.front().size(); ++k) {
            for (const std::vector<S>& statements : points) body.push_back(statements[k]);
        }
        body.insert(body.end(), stores.begin(), stores.end());
        return b_.block(std::span<const S>(body));
    }
    S compute_any() {
        return each_of(shape_.across, last(), [&](E row, E column) {
            std::vector<S> stores, body = compute(row, column, stores);
            body.insert(body.end(), stores.begin(), stores.end());
            return b_.block(std::span<const S>(body));
        });
    }

    struct Turned {
        std::size_t input;
        std::int32_t tile;
    };

    const Group& group_;
    const GroupShape& shape_;
    ir::Module module_;
    Builder b_;
    GroupValues values_;
    std::int32_t x_ = -1, y_ = -1;
    std::vector<std::int32_t> first_;  ///< by axis, elements before the tile
    std::vector<Turned> turned_;
};

std::int64_t groups_along(std::int64_t extent, std::int64_t side) {
    return (extent + side - 1) / side;
}

}  // namespace

void choose_tiles(const Group& group, IterationSpace& space, GroupShape& shape,
                  const DeviceInfo& device) {
    // Functions may fault, and the lowest place of the loops is told.
    if (space.size == 0 || space.keeps_order || !group.functions.empty()) return;
    space.order_by_output();
    if (space.rank < 2 || device.max_work_group_size < width * height) return;
    const int last = space.rank - 1;
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(last));  // by axis
    for (std::size_t k = 0; k < space.inputs; ++k) {
        for (int axis = 0; axis < last; ++axis) {
            if (is_turned(class_of(space.strides[k][axis]), class_of(space.strides[k][last])))
                bytes[static_cast<std::size_t>(axis)] += size_of(group.inputs[k]);
        }
    }
    const auto most = std::ranges::max_element(bytes);
    const auto across = static_cast<int>(most - bytes.begin());
    if (*most == 0 || space.shape[across] < shortest || space.shape[last] < shortest) return;
    const auto fits = [&](std::int64_t side) {
        std::int64_t memory = 0;
        for (std::size_t k = 0; k < space.inputs; ++k) {
            if (is_turned(class_of(space.strides[k][across]), class_of(space.strides[k][last])))
                memory += memory_of_tile(group.inputs[k], side);
        }
        return memory <= std::min(most_memory, device.local_memory_bytes);
    };
    const bool are_narrow =
        std::ranges::all_of(group.inputs, [](DType t) { return size_of(t) <= narrow; });
    const bool are_long = space.shape[across] >= large_side && space.shape[last] >= large_side;
    const bool is_large =
        are_narrow && are_long && fits(large_side) && group.nodes.size() <= limits::unrolled_nodes;
    if (!is_large && !fits(small_side)) return;
    shape.across = across;
    shape.tile = is_large ? large_side : small_side;
}

ir::Module lower_transposed(const Group& group, const GroupShape& shape) {
    return Lowering(group, shape).lower();
}

NDRange range_of_tiles(const IterationSpace& space, const GroupShape& shape) {
    const std::int64_t along = space.shape[space.rank - 1], across = space.shape[shape.across];
    return {3,
            {groups_along(along, shape.tile) * width, groups_along(across, shape.tile) * height,
             space.size / (along * across)},
            {width, height, 1},
            {0, 0, 0}};
}

}  // namespace unisono
