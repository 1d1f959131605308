// Runs reductions: axis by axis, by pieces of long rows, and as leaves and trees.
#include <algorithm>
#include <deque>
#include <mutex>

#include "context/context.h"
#include "core/limits.h"
#include "tape/run/block_program.h"
#include "tape/run/iteration_space.h"
#include "tape/run/run_group.h"
#include "tape/run/temporary.h"

namespace unisono {

namespace {

std::vector<std::int64_t> without_axis(Dims dims, int axis) {
    std::vector<std::int64_t> shape(dims.begin(), dims.end());
    shape.erase(shape.begin() + axis);
    return shape;
}

/// Reduces one axis of an array.
Group reduction_of(DType t, Op op, int axis) {
    Group g;
    g.inputs = {t};
    g.nodes = {{Group::Kind::Input, t}};
    g.outputs = {{0, t, true, op, -1}};
    g.reduce_axis = axis;
    return g;
}

/// Whether the axes from `first` on lie side by side, in any order where none is in front of them.
bool are_packed(const Layout& l, std::size_t first) {
    const Dims shape = l.shape(), strides = l.strides();
    std::size_t axes[max_rank], count = 0;
    for (std::size_t k = first; k < shape.size(); ++k) {
        if (shape[k] != 1) axes[count++] = k;
    }
    std::sort(axes, axes + count,
              [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
    std::int64_t size = 1;
    for (std::size_t k = 0; k < count; size *= shape[axes[k++]]) {
        if (strides[axes[k]] != size) return false;
    }
    return true;
}

/// Of scratch memory whose last axis is that of the leaves: it varies fastest, or slowest.
std::vector<std::int64_t> scratch_strides(Dims shape, bool leaves_last) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t size = leaves_last ? shape.back() : 1;
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
        strides[axis] = size;
        size *= shape[axis];
    }
    strides.back() = leaves_last ? 1 : size;
    return strides;
}

/// Whether no output lies in the memory of another operand.
bool are_apart(const GroupKernel::Call& call) {
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
        const auto shares = [&](const View& v) {
            return v.storage->memory.handle == call.outputs[k].storage->memory.handle;
        };
        if (std::ranges::any_of(call.inputs, shares) ||
            std::ranges::any_of(call.outputs.subspan(k + 1), shares))
            return false;
    }
    return true;
}

/// Leaves of rows, the last axis, combined into the output, which has the other axes. On devices
/// nodes of the tree are computed side by side, level after level.
void run_tree(Executable& tree, DType t, Device& device, ArrayArg leaves, bool leaves_last,
              const ArrayArg& out) {
    constexpr std::int64_t width = tree_step;
    std::vector<std::int64_t> shape(leaves.shape.begin(), leaves.shape.end());
    std::vector<Temporary> nodes;
    std::deque<std::vector<std::int64_t>> dims;  // what arguments refer to
    if (element_count(out.shape) == 0) return;
    while (!device.info().host_memory && shape.back() > width) {
        shape.back() = (shape.back() + width - 1) / width;
        const View& level = nodes.emplace_back(shape, t, &device).view;
        const auto& extents = dims.emplace_back(shape);
        const auto& strides = dims.emplace_back(scratch_strides(shape, leaves_last));
        const ArrayArg to{level.storage->memory, 0, extents, strides};
        const ArrayArg args[] = {leaves, to};
        const auto bits = static_cast<std::uint64_t>(width);
        tree.launch({args, {&bits, 1}, {}, {}, 0});
        leaves = to;
    }
    const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(1, shape.back()));
    shape.back() = 1;
    std::vector<std::int64_t> strides(out.strides.begin(), out.strides.end());
    strides.push_back(0);
    const ArrayArg args[] = {leaves, {out.memory, out.offset, shape, strides}};
    tree.launch({args, {&all, 1}, {}, {}, 0});
}

}  // namespace

/// Packed rows of a reduction that does not depend on the order need no leaves and tree, and take
/// all reduced axes at once.
bool GroupKernel::run_fold(const Call& call) {
    if (call.inputs.size() != 1 || call.outputs.size() != 1) return false;
    const View &in = call.inputs[0], &out = call.outputs[0];
    const Dims shape = in.layout->shape(), strides = in.layout->strides();
    const auto first = static_cast<std::size_t>(group_.reduce_axis - group_.reduce_before);
    if (shape.size() != call.space->shape().size() || in.storage == out.storage ||
        group_.reduce_axis + 1 != static_cast<int>(shape.size()) || !out.layout->contiguous() ||
        !are_packed(*in.layout, first)) {
        return false;
    }
    std::int64_t rows = 1, count = 1;
    for (std::size_t k = 0; k < shape.size(); ++k) (k < first ? rows : count) *= shape[k];
    const bool are_even = first <= 1 || in.layout->contiguous();
    const std::int64_t stride = first == 1 ? strides[0] : count;
    if (count < limits::folded_row || rows == 0 || !are_even) return false;
    if (!block_->fold_packed({in.data(), rows, count, stride, out.data()})) return false;
    count_apart(counters_apart().kernels_launched);
    note_executor("block");
    return true;
}

const std::vector<std::shared_ptr<GroupKernel>>& GroupKernel::stages() {
    Variants& all = *variants_;
    if (all.has_stages.load(std::memory_order_acquire)) return all.stages;
    std::lock_guard lock(all.making);
    if (all.has_stages.load(std::memory_order_relaxed)) return all.stages;
    Group first = group_;
    first.reduce_before = 0;
    all.stages.assign(1, of(first));
    for (const auto& o : group_.outputs) {
        for (int k = 1; o.reduces && k <= group_.reduce_before; ++k)
            all.stages.push_back(of(reduction_of(o.dtype, o.op, group_.reduce_axis - k)));
    }
    all.has_stages.store(true, std::memory_order_release);
    return all.stages;
}

/// Several axes where no kernel takes them at once: the last one with what feeds it, then each
/// other one by a kernel of its own.
void GroupKernel::run_axis_by_axis(const Call& call) {
    const auto& stages = this->stages();
    std::vector<View> outputs(call.outputs.begin(), call.outputs.end());
    std::vector<Temporary> temporaries;
    auto temporary = [&](const Layout& from, int axis, DType t) {
        return temporaries.emplace_back(without_axis(from.shape(), axis), t, call.device).view;
    };
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (group_.outputs[k].reduces)
            outputs[k] = temporary(*call.space, group_.reduce_axis, outputs[k].dtype);
    }
    stages.front()->run({call.space, call.inputs, outputs, call.scalars, call.device});
    note_executor(stages.front()->executor());
    std::size_t stage = 1;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        for (int n = 1; group_.outputs[k].reduces && n <= group_.reduce_before; ++n) {
            const View from = outputs[k];
            outputs[k] = n == group_.reduce_before
                             ? call.outputs[k]
                             : temporary(*from.layout, group_.reduce_axis - n, from.dtype);
            stages[stage++]->run({from.layout, {&from, 1}, {&outputs[k], 1}, {}, call.device});
        }
    }
}

/// Long rows: what each of their pieces gives goes to scratch memory, which the tree combines.
void GroupKernel::run_pieces(const Call& call, const IterationSpace& space, Variant& v) {
    const auto rank = static_cast<std::size_t>(space.rank);
    const std::span<const std::int64_t> extents(space.shape, rank);
    std::vector<std::int64_t> shape(extents.begin(), extents.end() - 1);
    if (shape.empty()) shape.push_back(1);
    const std::vector<std::int64_t> kept = shape;
    shape.push_back(space.pieces());
    std::vector<Temporary> scratches;
    for (const auto& o : group_.outputs) {
        if (o.reduces) scratches.emplace_back(shape, o.dtype, nullptr);
    }
    const Dims all_strides = scratches.front().view.layout->strides();
    const Dims strides = all_strides.subspan(rank == 1 ? 1 : 0);
    std::size_t number = 0;
    std::vector<ArrayArg> arrays;
    for (std::size_t o = 0; o < space.operands; ++o) {
        const bool is_input = o < call.inputs.size();
        const std::size_t k = is_input ? o : o - call.inputs.size();
        if (!is_input && group_.outputs[k].reduces) {
            arrays.push_back(array_arg(scratches[number++].view, extents, strides));
        } else {
            arrays.push_back(array_arg(is_input ? call.inputs[k] : call.outputs[k], extents,
                                       {space.strides[o], rank}));
        }
    }
    v.map->launch({arrays, call.scalars, {}, {}, 0});
    const auto& trees = this->trees(v);
    number = 0;
    for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
        if (!group_.outputs[k].reduces) continue;
        const std::int64_t* to = space.strides[call.inputs.size() + k];
        run_tree(*trees[number], group_.outputs[k].dtype, *v.device,
                 array_arg(scratches[number].view, shape, all_strides), true,
                 array_arg(call.outputs[k], kept, {to, kept.size()}));
        ++number;
    }
}

void GroupKernel::run_reduction(const Call& call, const IterationSpace& space, Device& device,
                                Variant& v) {
    auto rank = static_cast<std::size_t>(space.rank);
    std::span<const std::int64_t> extents(space.shape, rank);
    const std::int64_t length = leaf_length(space.reduce_axis, space.rank) * v.shape.leaves_at_once;
    // Scratch: the kept axes, then leaves. A fully reduced space keeps one axis of extent 1.
    std::vector<std::int64_t> shape;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (static_cast<int>(axis) != space.reduce_axis) shape.push_back(space.shape[axis]);
    }
    shape.push_back((space.shape[space.reduce_axis] + length - 1) / length);
    const bool leaves_last = space.reduce_axis == space.rank - 1;
    const std::vector<std::int64_t> strides = scratch_strides(shape, leaves_last);
    std::vector<ArrayArg> arrays;
    auto view = [&](std::size_t o) -> const View& {
        return o < call.inputs.size() ? call.inputs[o] : call.outputs[o - call.inputs.size()];
    };
    for (std::size_t o = 0; o < space.operands; ++o) {
        if (o >= call.inputs.size() && group_.outputs[o - call.inputs.size()].reduces) continue;
        arrays.push_back(array_arg(view(o), extents, {space.strides[o], rank}));
    }
    // A leaf that is alone is the result.
    const bool is_direct = shape.back() == 1 && space.size > 0 && are_apart(call);
    std::vector<Temporary> scratches;
    std::deque<std::vector<std::int64_t>> result_strides;
    for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
        if (!group_.outputs[k].reduces) continue;
        if (is_direct) {
            std::vector<std::int64_t>& to = result_strides.emplace_back(shape.size(), 0);
            for (std::size_t axis = 0, kept = 0; axis < rank; ++axis) {
                if (static_cast<int>(axis) != space.reduce_axis)
                    to[kept++] = space.strides[call.inputs.size() + k][axis];
            }
            arrays.push_back(array_arg(call.outputs[k], shape, to));
            continue;
        }
        const DType t = group_.outputs[k].dtype;
        scratches.emplace_back(shape, t, device.info().host_memory ? nullptr : &device);
        arrays.push_back({scratches.back().view.storage->memory, 0, shape, strides});
    }
    const std::vector<std::int64_t> still(rank, 0);
    if (call.inputs.empty()) arrays.push_back({arrays.back().memory, 0, extents, still});
    if (space.size > 0) v.map->launch({arrays, call.scalars, {}, {}, 0});
    if (is_direct) return;
    const auto& trees = this->trees(v);
    std::size_t number = 0;
    for (std::size_t k = 0; k < group_.outputs.size(); ++k) {
        if (!group_.outputs[k].reduces) continue;
        std::vector<std::int64_t> out_shape(shape.begin(), shape.end() - 1), out_strides;
        std::vector<std::int64_t> leaves_shape = shape, leaves_strides = strides;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            if (static_cast<int>(axis) != space.reduce_axis) {
                out_strides.push_back(space.strides[call.inputs.size() + k][axis]);
            }
        }
        if (out_shape.empty()) {
            out_shape = {1};
            out_strides = {1};
            leaves_shape.insert(leaves_shape.begin(), 1);
            leaves_strides.insert(leaves_strides.begin(), 0);
        }
        run_tree(*trees[number], group_.outputs[k].dtype, device,
                 {scratches[number].view.storage->memory, 0, leaves_shape, leaves_strides},
                 leaves_last, array_arg(call.outputs[k], out_shape, out_strides));
        ++number;
    }
}

}  // namespace unisono
