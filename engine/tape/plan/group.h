// A group: array operations that run as one kernel over one iteration space. The seam between tape
// and executors.
//
// A group is a straight-line program over elements: node k computes a value for each point of the
// iteration space from earlier nodes. Groups hold no sizes, strides, pointers or scalar values:
// those come with each run (GroupRun), so one Group serves all runs with the same structure.
// `block` interprets a group over L1-sized blocks; lower_group.cpp turns it into kernel IR for
// every other executor.
//
// Reductions. A group reduces at most one run of neighbouring axes, which ends at
// Group::reduce_axis; its reducing outputs have the iteration shape without them. Several axes are
// reduced one by one, the last one first. The order of additions is part of the contract
// (docs/numbers.md):
//   innermost axis: leaves of 512 elements aligned to index 0. Inside a leaf element j goes to lane
//   j % 32, each lane
//     adds in order starting from its first element; then lanes are combined by halves (l += l+16,
//     +8, +4, +2, +1), absent lanes skipped. Leaves are combined by the binary tree over leaf
//     indices aligned to powers of two, left operand first, absent nodes skipped.
//   any other axis: leaves of 8 rows added in order (elementwise), then the same binary tree over
//   leaves. Lanes, leaves and the tree start from values, never from the identity (so -0.0
//   survives); an empty axis gives the identity. Minimum and maximum use the same order, which no
//   one can see.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "core/scalar.h"
#include "ops/ops.h"

namespace unisono {

class ElementFunction;

struct Group {
    enum class Kind : std::uint8_t {
        Input,     ///< element of inputs[a]
        Scalar,    ///< scalars[a], the same everywhere
        Op,        ///< op(nodes a, b), all of the op's compute dtype
        Cast,      ///< node a converted to dtype (docs/ir.md)
        Select,    ///< a ? b : c
        Iota,      ///< linear row-major index of the point, int64
        Function,  ///< functions[function](nodes a, b, c), of its parameters' dtypes
    };
    struct Node {
        Kind kind;
        DType dtype;  ///< of the result
        unisono::Op op = unisono::Op::Add;
        std::uint16_t a = 0, b = 0, c = 0;
        std::uint16_t function = 0;
    };
    struct Output {
        std::uint16_t node;
        DType dtype;           ///< equals the node's
        bool reduces = false;  ///< combined along reduce_axis by op
        unisono::Op op = unisono::Op::Add;
        /// Index of the input that is the same view of the same storage (an in-place update), or
        /// -1. Reads of a point come before its write; no other overlap is possible inside a group.
        std::int16_t same_as_input = -1;
    };
    std::vector<Node> nodes;
    std::vector<DType> inputs;
    std::vector<DType> scalars;
    std::vector<std::shared_ptr<const ElementFunction>> functions;
    std::vector<Output> outputs;
    int reduce_axis =
        -1;  ///< -1: no output reduces; else an axis of the iteration space as recorded
    int reduce_before = 0;  ///< axes right before it that are reduced too
};

/// Marks the nodes that marked ones are computed from.
void mark_needed(const Group& group, std::vector<bool>& marked);

/// Sizes, strides and addresses of one run on host memory. All spans live as long as the call.
/// Rank is at least 1 (0-d is shape {1}); axes are merged where all operands allow it and no
/// reduction forbids it.
struct GroupRun {
    std::span<const std::int64_t> shape;
    struct Operand {
        char* data;  ///< address of element [0, 0, ...]
        std::span<const std::int64_t>
            strides;  ///< in elements, one per axis of the iteration space (0: broadcast);
                      ///< for a reducing output the entry of reduce_axis is 0
    };
    std::span<const Operand> inputs;
    std::span<const Operand> outputs;
    std::span<const std::uint64_t> scalars;  ///< Scalar::bits
    /// Group::reduce_axis counted among the axes of `shape`; it is innermost if all later recorded
    /// axes have extent 1.
    int reduce_axis = -1;
};

/// Runs a group without compiling it (backends/block). Never fails; large runs are shared among
/// threads.
void run_block(const Group& group, const GroupRun& run);

}  // namespace unisono
