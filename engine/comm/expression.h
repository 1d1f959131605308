// Array operations on distributed storage: expressions that wait until it is known who needs which
// rows.
//
// How it works. An operation makes a Node; nothing is recorded on the tape. When the expression is
// written into a view, each rank evaluates it for the rows of that view that it owns: leaves then
// know which rows of their blocks they need, and ask for halos (neighbouring rows, kept beside the
// block) or fetch the rows. What remains is local and goes on the tape, where it fuses into one
// kernel. So
//     u_new[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + ...) / 4
// exchanges one row with each neighbour, whatever the shifts. An expression that is read, sliced or
// reduced first is evaluated for the rows of its first distributed operand.
//
// A node that was evaluated for rows that the ranks share out becomes a leaf over the result.
// Before a block is written, leaves that still read it get a copy of its old elements
// (Block::before_write).
//
// Which messages are sent follows from the recorded program alone, never from what objects are
// alive.
#pragma once

#include <optional>

#include "comm/block.h"
#include "ops/ops.h"

namespace unisono::comm {

struct Node {
    enum class Kind : std::uint8_t { Leaf, Local, Map, Select, Cast } kind;
    Op op = Op::Add;
    std::uint8_t inputs = 0;
    DType dtype = DType::Float64;
    Weak weak = Weak::None;  ///< Local: of a Python scalar
    int size = 1;            ///< nodes of the tree, shared ones counted each time
    std::vector<std::int64_t> shape;
    std::shared_ptr<Node> in[3];
    std::shared_ptr<Block> block;  ///< Leaf
    Array array;  ///< Leaf: a view of block->whole(); Local: the same on every rank
    Dims dims() const { return shape; }
    int rank() const { return static_cast<int>(shape.size()); }
};

using NodePtr = std::shared_ptr<Node>;

/// A window on a block: what a user holds.
struct Window {
    std::shared_ptr<Block> block;
    Array view;  ///< of block->whole()
};

NodePtr leaf(const Window& window);
/// An operand that all ranks hold alike. An array is copied (lazily), so that later writes do not
/// show.
NodePtr local(const Arg& arg);

// Operations: shapes and dtypes are checked here, by NumPy's rules.
NodePtr map(Op op, std::span<const NodePtr> args);
NodePtr select(const NodePtr& condition, const NodePtr& a, const NodePtr& b);
NodePtr cast(const NodePtr& a, DType dtype);

/// The expression in storage of its own (or the window that a leaf is).
Window settle(Mesh& mesh, const NodePtr& node);
/// This rank's rows of the expression, and which rows each rank has. The rows are those of its
/// first distributed operand, or row blocks.
struct Local {
    Ranges rows;
    Array here;
};
Local evaluate(Mesh& mesh, const NodePtr& node);
/// target[...] = value. Takes the value: a leaf that nobody else holds needs no copy of what it
/// reads.
void write(const Window& target, NodePtr value);
/// op over the axes: an array on every rank if the rows are among them, else a distributed one.
struct Reduced {
    std::optional<Array> everywhere;
    std::optional<Window> distributed;
};
Reduced reduce(Mesh& mesh, Op op, NodePtr node, std::optional<std::vector<int>> axes, bool keepdims,
               std::optional<DType> dtype);
/// All elements of the window on every rank, packed.
Array gather(const Window& window);

Window make_empty(Mesh& mesh, Dims shape, DType dtype);
/// 0, 1, 2... as int64.
Window make_iota(Mesh& mesh, std::int64_t n);

}  // namespace unisono::comm
