// The prepared form of a group, and the plan of one run over given strides.
//
// Read first: tape/run/block_program.h (what runs how), then plan.cpp (where each value lives),
// then run.cpp (the loops over blocks, rows and leaves).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/block/folds.h"
#include "backends/block/loops.h"
#include "tape/plan/group.h"

namespace unisono::block {

/// A node of the group with its loops, and the register that its value takes if it needs one.
struct Instruction {
    LoopForms loops = nullptr;  ///< of an Op, Cast or Select
    const ElementFunction* function = nullptr;
    Group::Kind kind = Group::Kind::Scalar;
    std::uint8_t bytes = 0;         ///< of one element of the result
    std::uint8_t operands = 0;      ///< how many of operand[] are nodes
    bool must_load = false;         ///< an input that is read after an output may be written
    std::uint16_t operand[3] = {};  ///< nodes; of an Input or Scalar, operand[0] is its index
    std::uint16_t reg = 0;
    std::int16_t direct_output = -1;  ///< the output that the node's loop may write by itself
};

struct OutputInfo {
    std::uint16_t node = 0;
    std::uint16_t reg = 0;  ///< of a reducing output: where a value that does not vary is spread
    std::uint8_t bytes = 0;
    bool reduces = false;
    bool in_place = false;
    DType dtype = DType::Float64;
    Op op = Op::Add;
    LeafLoop leaf = nullptr;
    LeavesLoop leaves = nullptr;
    Loop merge = nullptr;  ///< combines values element by element
};

/// One call of a loop; operands are nodes, whose addresses the worker knows.
struct Call {
    Loop loop;  ///< null: `function` is run
    std::uint16_t out, a, b, c;
    bool once;  ///< the value does not vary inside a block
    std::uint8_t ones = 0;
    const ElementFunction* function = nullptr;

    void run(char* const* at, std::int64_t count) const {
        if (!loop) return run_function(at, count);
        loop(at[out], at[a], at[b], at[c], once ? 1 : count);
    }

  private:
    void run_function(char* const* at, std::int64_t count) const;
};
/// A node whose address follows the position in an operand's memory.
struct Moving {
    std::uint16_t node, operand;
    std::int32_t step;  ///< bytes per point
};
/// A node gathered from an operand into its register at the start of a block.
struct Load {
    std::uint16_t node, operand;
};
/// A node spread or copied to an operand at the end of a block.
struct Store {
    std::uint16_t node, output;
    bool spread;  ///< the node's value is one element
    bool stream;  ///< past the caches
};

/// The node of a reducing output; a value that does not vary is spread over a register.
struct Value {
    std::uint16_t node, output;
    bool spread;
};

/// Where each value lives for one class of strides.
struct Plan {
    std::span<Call> calls;
    std::span<Moving> moving;
    std::span<Load> loads;
    std::span<Store> stores;
    std::span<std::uint16_t> iotas;
    std::span<Value> values;
    bool by_rows = false;  ///< blocks are whole rows: points of the last two axes, row by row
};

/// Memory for the parts of a plan or a worker: a piece of the stack, or of the heap if that is
/// full.
class Arena {
  public:
    explicit Arena(std::span<std::byte> inline_part)
        : next_(inline_part.data()), left_(inline_part.size()) {}
    template <class T>
    T* take(std::size_t count) {
        return static_cast<T*>(take_bytes(count * sizeof(T)));
    }
    void* take_bytes(std::size_t bytes) {
        bytes = (bytes + 63) & ~std::size_t{63};
        if (bytes > left_) return take_from_heap(bytes);
        std::byte* taken = next_;
        next_ += bytes;
        left_ -= bytes;
        return taken;
    }

  private:
    void* take_from_heap(std::size_t bytes);

    std::byte* next_;
    std::size_t left_;
    std::vector<std::unique_ptr<std::byte[]>> heap_;
};

struct Program {
    std::vector<Instruction> nodes;
    std::vector<OutputInfo> outputs;
    std::vector<std::uint16_t> scalar_nodes;
    std::vector<std::uint8_t> input_bytes;
    int inputs = 0;
    int registers = 0;
    std::uint8_t widest = 8;  ///< bytes of a register's elements
    int reduce_axis = -1;
    int costly_calls = 0;  ///< calls of functions, division: for deciding on threads

    /// For a group that reduces what it reads, or casts of it, if the order does not affect the
    /// result.
    RowFold fold = nullptr;

    /// The plan where every operand is contiguous along the innermost axis and none is streamed.
    Plan usual;
    std::vector<std::byte> usual_memory;

    explicit Program(const Group& group);
    /// `stream`: outputs are written past the caches; `by_rows`: see Plan.
    Plan plan(const GroupRun& run, bool stream, bool by_rows, Arena& arena) const;
};

/// The reduced axis of the run's space, which may lack axes of extent 1 that the group counts.
inline int reduced_axis(const Program& program, const GroupRun& run) {
    return run.reduce_axis >= 0 ? run.reduce_axis : program.reduce_axis;
}

void execute(const Program& program, const GroupRun& run);

}  // namespace unisono::block
