// A group prepared for backends/block: built once per Group, run many times without a compiler.
//
// How it runs: the group's nodes are executed one after the other over blocks of a few hundred
// points, each by a precompiled loop, so that all intermediate values stay in the first-level
// cache. Values live where they lie: a contiguous input is read in place, a contiguous output is
// written by the node that computes it (but never before the last read of an input), a scalar or an
// input that does not vary along the innermost axis is one element. Everything else passes through
// a register: a buffer of one block, reused as soon as its value is dead.
#pragma once

#include <cstdint>
#include <memory>

#include "tape/plan/group.h"

namespace unisono {

namespace block {
struct Program;
}

class BlockProgram {
  public:
    /// Throws an Internal error if the group is malformed (an operation that its dtype lacks), and
    /// an Unsupported error if it calls a function whose library is missing.
    explicit BlockProgram(const Group& group);
    ~BlockProgram();
    BlockProgram(BlockProgram&&) noexcept;
    BlockProgram& operator=(BlockProgram&&) noexcept;

    /// Runs a few packed points on the calling thread, without the detours that strides and large
    /// sizes need: every operand is contiguous and `data` holds their addresses, inputs first.
    /// Returns false, having done nothing, where the group wants those detours (reductions,
    /// indices, more than limits::packed_points points).
    bool run_packed(std::int64_t points, char* const* data, const std::uint64_t* scalars) const;

    /// Rows of elements side by side, and where a value of each goes, side by side too.
    struct PackedRows {
        const char* in;
        std::int64_t rows, count, stride;  ///< stride: elements from row to row
        char* out;
    };
    /// Reduces rows of a group that does nothing else and does not depend on the order. Returns
    /// false for other groups; the contents of `out` are then undefined.
    bool fold_packed(const PackedRows& rows) const;

    /// Runs the group; large runs are shared among threads. Safe from several threads at once.
    void run(const GroupRun& run) const;

  private:
    std::unique_ptr<const block::Program> program_;
};

}  // namespace unisono
