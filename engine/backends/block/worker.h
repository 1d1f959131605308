// One thread's way through a run: where each operand stands, and the execution of one block.
#pragma once

#include "backends/block/program.h"

namespace unisono::block {

class Worker {
  public:
    /// `block` is the most points that one call of execute gets.
    Worker(const Program& program, const GroupRun& run, const Plan& plan, std::int64_t block,
           Arena& arena);

    /// Goes to a row of the outer axes (all but the last and the reduced one), in row-major order.
    void seek(std::int64_t row);
    void next_row();
    /// Goes `steps` points along an axis.
    void move(std::size_t axis, std::int64_t steps);

    /// Runs all nodes for `count` points of the innermost axis from `position` on; of a plan by
    /// rows, for count points of whole rows from the current row on (position is 0).
    void execute(std::int64_t position, std::int64_t count);

    /// After execute: the values of a reducing output's node, one per point.
    const char* values(std::size_t output) const { return values_[output]; }
    /// Address of the output's element at this place.
    char* output(std::size_t output) const {
        return base_[static_cast<std::size_t>(program_.inputs) + output];
    }

  private:
    const GroupRun::Operand& operand(std::size_t j) const {
        auto inputs = static_cast<std::size_t>(program_.inputs);
        return j < inputs ? run_.inputs[j] : run_.outputs[j - inputs];
    }
    void load(const Load& load, std::int64_t position, std::int64_t count);
    void store(const Store& store, std::int64_t position, std::int64_t count);

    const Program& program_;
    const GroupRun& run_;
    const Plan& plan_;
    std::size_t operands_;
    std::size_t inner_;  ///< the innermost axis
    int reduce_axis_;
    char** at_;                ///< per node: its value in the current block
    char** base_;              ///< per operand: address of its element at the current row
    std::int64_t* size_;       ///< per operand: bytes of an element
    char** values_;            ///< per output: the values of its node, one per point
    std::int64_t* index_;      ///< per axis: the current row
    std::int64_t linear_ = 0;  ///< row-major index of the current row's first point
};

}  // namespace unisono::block
