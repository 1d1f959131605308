// What the runs of a group's kernels go by: the canonical iteration space, and compiled variants.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/threads/fork.h"
#include "ops/reduction_tree.h"
#include "tape/run/lower_group.h"
#include "tape/run/run_group.h"

namespace unisono {

inline constexpr std::size_t most_operands = 64;  ///< of a group

/// The iteration space after axes of extent 1 are dropped and axes are merged where all operands
/// allow it.
struct IterationSpace {
    int rank = 0;
    int reduce_axis = -1, reduce_before = 0;
    std::int64_t size = 1;
    std::int64_t shape[max_rank];
    std::size_t inputs = 0, operands = 0;
    bool lanes = false;                             // turned
    bool keeps_order = false;                       // must not be turned
    std::int64_t strides[most_operands][max_rank];  // operand-major
    int last_reduced = -1;                          // reduce_axis as given
    bool kept_reduced = false;                      // the axis kept last

    /// Whether lower_fold serves: no axis is empty, and threads find enough to share.
    bool folds() const {
        if (reduce_axis < 0 || size == 0) return false;
        return reduce_before == 0 || reduce_axis + 1 < rank || size <= reduction_piece ||
               (reduce_axis > reduce_before && shape[0] >= 8);
    }
    bool is_along() const { return reduce_axis + 1 == rank && !lanes; }
    std::int64_t pieces() const {
        return reduction::leaf_count(shape[reduce_axis], reduction_piece);
    }
    /// An axis along which inputs are dense, where they are not along the last one, which is
    /// reduced; or -1.
    int dense_axis() const {
        if (reduce_axis + 1 != rank || reduce_before > 0 || keeps_order) return -1;
        int found = -1;
        for (std::size_t o = 0; o < inputs; ++o) {
            const std::int64_t* s = strides[o];
            if (s[rank - 1] == 1 || s[rank - 1] == -1) return -1;
            for (int axis = 0; axis + 1 < rank && found < 0; ++axis) {
                if (s[axis] == 1 && shape[axis] >= 8) found = axis;
            }
        }
        return found;
    }
    /// Whether warps of so many work-items do best along the last axis, which is reduced.
    bool fills_warps(int warp) const { return goes_by_warps(warp) && shape[reduce_axis] >= warp; }
    /// Whether rows along that axis are so short that several share a warp.
    bool shares_warps(int warp) const {
        return goes_by_warps(warp) && rank > 1 && shape[reduce_axis] > 1 &&
               shape[reduce_axis] < warp;
    }
    /// How many leaves of rows a work-item of a device with warps combines before it stores: the
    /// scratch is smaller, as long as there are work-items for all processors.
    std::int64_t leaves_at_once(int warp) const {
        constexpr std::int64_t most = 4, items = 1 << 18;
        const bool along_rows = reduce_axis >= 0 && reduce_axis + 1 < rank;
        return warp > 0 && along_rows && size >= items * most * reduction::leaf_rows ? most : 1;
    }
    /// Puts the dense axis behind the reduced one, whose elements go to lanes all the same.
    void turn(int axis) {
        std::rotate(shape + axis, shape + axis + 1, shape + rank);
        for (std::size_t o = 0; o < operands; ++o)
            std::rotate(strides[o] + axis, strides[o] + axis + 1, strides[o] + rank);
        reduce_axis = rank - 2;
        lanes = true;
    }
    bool has_few_rows() const {
        for (int axis = reduce_axis - reduce_before; axis <= reduce_axis; ++axis) {
            const bool by_lanes = axis == reduce_axis && (lanes || is_along());
            if (shape[axis] > (by_lanes ? reduction::leaf_elements : reduction::leaf_rows))
                return false;
        }
        return true;
    }
    /// Whether compiled loops beat block, which runs along long rows at the speed of memory.
    bool gains() const;

    void keep(int axis) {
        shape[rank] = shape[axis];
        for (std::size_t o = 0; o < operands; ++o) strides[o][rank] = strides[o][axis];
        kept_reduced = is_reduced(axis);
        if (axis == last_reduced) reduce_axis = rank;
        ++rank;
    }
    /// Of an axis as given, before reduce_axis is renumbered.
    bool is_reduced(int axis) const {
        return axis <= last_reduced && axis >= last_reduced - reduce_before;
    }
    bool merges(int axis) const {  // the kept axis rank-1 with the later axis `axis`
        if (rank == 0 || kept_reduced || is_reduced(axis)) return false;
        for (std::size_t o = 0; o < operands; ++o) {
            if (strides[o][rank - 1] != strides[o][axis] * shape[axis]) return false;
        }
        return true;
    }
    void collapse(int given);
    /// Puts the axes in the order of the first output's strides, the nearest elements last.
    void order_by_output();

  private:
    bool goes_by_warps(int warp) const {
        return warp == reduction::lanes && reduce_axis >= 0 && reduce_axis + 1 == rank &&
               dense_axis() < 0;
    }
};

/// The space of a call; `shape` is that of the call's space, or of a part of it.
void fill_space(IterationSpace& space, Dims shape, const GroupKernel::Call& call,
                const Group& group);

struct GroupKernel::Variant {
    GroupShape shape;
    Device* device;
    std::unique_ptr<Executable> map;
    std::vector<std::unique_ptr<Executable>> trees;  // one per reducing output
    std::atomic<bool> has_trees = false;             // published: `trees` does not change any more
    std::atomic<Variant*> next = nullptr;
};

/// What was made for the runs so far. Readers take no lock: a list that grows at its end, whose
/// elements are published when they are whole, and stay.
struct GroupKernel::Variants {
    LongMutex making;
    std::atomic<Variant*> first = nullptr;
    std::vector<std::shared_ptr<GroupKernel>> stages;  // of run_axis_by_axis
    std::atomic<bool> has_stages = false;

    ~Variants() {
        for (Variant* v = first; v;) delete std::exchange(v, v->next.load());
    }
    Variant* find(const GroupShape& shape, const Device& device) const {
        Variant* v = first.load(std::memory_order_acquire);
        while (v && !(v->device == &device && v->shape == shape))
            v = v->next.load(std::memory_order_acquire);
        return v;
    }
};

inline ir::StrideClass class_of(std::int64_t stride) {
    switch (stride) {
        case 0: return ir::StrideClass::Zero;
        case 1: return ir::StrideClass::One;
        case -1: return ir::StrideClass::MinusOne;
        default: return ir::StrideClass::Other;
    }
}

inline ArrayArg array_arg(const View& v, std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides) {
    return {v.storage->memory, v.offset * size_of(v.dtype), shape, strides};
}

}  // namespace unisono
