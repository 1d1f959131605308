// Fills canonical iteration spaces.
#include "tape/run/iteration_space.h"

namespace unisono {

namespace {
/// Rows up to which, or elements of all operands up to which reductions of axes in front of the
/// last one gain by the compiler: beyond, strips of columns leave the caches.
constexpr std::int64_t most_columns = 256, most_elements = 1 << 16;
/// Elements of the last axis from which its reduction gains: shorter rows leave most lanes idle,
/// and block takes many of them together.
constexpr std::int64_t shortest_along = 2 * reduction::lanes;
}  // namespace

bool IterationSpace::gains() const {
    if (reduce_axis + 1 == rank) return shape[reduce_axis] >= shortest_along || dense_axis() >= 0;
    return shape[rank - 1] <= most_columns ||
           size * static_cast<std::int64_t>(operands) <= most_elements;
}

void IterationSpace::collapse(int given) {
    for (int axis = 0; axis < given; ++axis) {
        if (shape[axis] == 1 && !is_reduced(axis)) continue;
        if (merges(axis)) {
            shape[rank - 1] *= shape[axis];
            for (std::size_t o = 0; o < operands; ++o) strides[o][rank - 1] = strides[o][axis];
        } else {
            keep(axis);
        }
    }
    if (rank == 0) {
        shape[0] = 1;
        for (std::size_t o = 0; o < operands; ++o) strides[o][0] = 0;
        rank = 1;
    }
}

void IterationSpace::order_by_output() {
    const auto apart = [&](int axis) { return std::abs(strides[inputs][axis]); };
    bool moved = false;
    for (int axis = 1; axis < rank; ++axis) {
        for (int k = axis; k > 0 && apart(k - 1) < apart(k); --k) {
            std::swap(shape[k - 1], shape[k]);
            for (std::size_t o = 0; o < operands; ++o) std::swap(strides[o][k - 1], strides[o][k]);
            moved = true;
        }
    }
    if (moved) collapse(std::exchange(rank, 0));
}

void fill_space(IterationSpace& space, Dims shape, const GroupKernel::Call& call,
                const Group& group) {
    const auto given = static_cast<int>(shape.size());
    space.reduce_axis = group.reduce_axis;
    space.reduce_before = group.reduce_before;
    space.size = element_count(shape);
    space.last_reduced = group.reduce_axis;
    space.inputs = call.inputs.size();
    space.operands = call.inputs.size() + call.outputs.size();
    std::copy(shape.begin(), shape.end(), space.shape);
    for (std::size_t o = 0; o < space.operands; ++o) {
        bool is_input = o < call.inputs.size();
        std::size_t k = is_input ? o : o - call.inputs.size();
        Dims s = (is_input ? call.inputs[k] : call.outputs[k]).layout->strides();
        if (!is_input && group.outputs[k].reduces) {
            for (int axis = 0, from = 0; axis < given; ++axis) {
                space.strides[o][axis] =
                    space.is_reduced(axis) ? 0 : s[static_cast<std::size_t>(from++)];
            }
        } else {
            std::copy(s.begin(), s.end(), space.strides[o]);
        }
    }
    space.collapse(given);
}

}  // namespace unisono
