// Turns a group into kernel IR for executors that compile or interpret.
#pragma once

#include "ir/ir.h"
#include "tape/plan/group.h"

namespace unisono {

/// What a compiled variant of a group depends on besides the group itself.
struct GroupShape {
    int rank = 1;
    int reduce_axis = -1;   ///< in the canonical iteration space
    int reduce_before = 0;  ///< of the axes right before it, how many are reduced after it
    /// Stride classes, rank per operand: inputs first, then outputs.
    std::vector<ir::StrideClass> strides;
    bool streaming = false;      ///< outputs are too large to stay in the caches
    bool on_device = false;      ///< plain nested parallel loops, no blocking for caches
    bool has_cores = false;      ///< ... and its work-items run as loops on cores
    bool shuffles = false;       ///< lower_leaves: a warp of the device takes a leaf (ir/shuffle.h)
    bool tree_shuffles = false;  ///< ... and a node of the tree
    /// lower_leaves: rows of fewer elements than a warp has work-items share warps; the power of
    /// two that is not below their length, else 0.
    std::int64_t row_width = 0;
    bool row_is_whole = false;  ///< ... they are as long
    /// lower_leaves along another axis than the last one: so many leaves, a power of two, are
    /// combined by the tree before they are stored.
    std::int64_t leaves_at_once = 1;
    /// lower_leaves along the last axis: another one, along which inputs lie side by side and
    /// neighbouring work-items take neighbours, or -1.
    int dense = -1;
    int across = -1;             ///< lower_transposed: the axis along which inputs are turned
    std::int64_t tile = 0;       ///< ... elements along both axes of a tile; 0: there are none
    bool folds = false;          ///< run as lower_fold has it
    std::int64_t strip = 1;      ///< lower_fold: the widest strip of the last axis
    bool few_rows = false;       ///< lower_fold: each reduced axis is one leaf, none is empty
    bool lanes = false;          ///< lower_fold: the reduced axis is the last one as recorded
    bool along = false;          ///< lower_fold: ... and here, too
    bool shares_pieces = false;  ///< lower_fold along a last axis: threads share pieces of rows
    bool operator==(const GroupShape&) const = default;
};

/// Whether the variant that streams stores the output past the caches.
bool can_stream(const Group::Output& output);

/// Elementwise groups: one function. Params in order: inputs, outputs (arrays of the canonical
/// rank), scalars.
ir::Module lower_map(const Group& group, const GroupShape& shape);

/// Reducing groups run as two kernels around a scratch array per reducing output, of shape
/// (iteration shape without the reduced axis) + (leaves). The first computes leaves, and stores the
/// group's other outputs; its params: inputs, non-reducing outputs, scratches, scalars. For the
/// scratch and what follows, leaves that are combined at once count as one.
/// A group without inputs takes one more array after the scratches, which is never read and brings
/// the iteration shape.
ir::Module lower_leaves(const Group& group, const GroupShape& shape);
struct TreeForm {
    bool leaves_last = false;  ///< those of one tree lie side by side in the scratch, else those of
                               ///< one number
    bool unrolls = false;      ///< nodes of tree_step leaves are computed without a loop
    bool shuffles = false;     ///< a warp of the device takes a node of at most tree_step leaves
};
/// The second combines the leaves of one reducing output by the tree, so many for each of the nodes
/// along the output's last axis: all of them, or a power of two, which makes it the leaves of
/// another run. Params: scratch, output, the number of leaves.
ir::Module lower_tree(Op op, DType dtype, int kept_rank, const TreeForm& form);
/// Leaves of a node where a tree is computed level after level.
inline constexpr std::int64_t tree_step = 32;

/// Reducing groups on the host: one function, parameters as those of lower_map. A reducing output
/// has the rank of the iteration space, and is indexed with 0 along the reduced axes; with the
/// piece's number along the last axis, if that is the one reduced. lower_tree combines the pieces.
ir::Module lower_fold(const Group& group, const GroupShape& shape);
/// The widths of the strips that lower_fold cuts the last axis into, falling.
std::vector<std::int64_t> strip_widths(const GroupShape& shape);

/// Elements of a long row that make a piece: 64 leaves, a node of the tree.
inline constexpr std::int64_t reduction_piece = 64 * 512;

/// Elements of the reduced axis per leaf: 512 for the innermost axis, 8 rows otherwise.
std::int64_t leaf_length(int reduce_axis, int rank);

}  // namespace unisono
