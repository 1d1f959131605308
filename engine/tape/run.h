// Runs one detached segment, step by step.
#pragma once

#include <vector>

#include "tape/plan.h"
#include "tape/tape.h"

namespace unisono {

class Runner {
  public:
    Runner(Tape& tape, std::vector<Entry>& segment, FlushReason reason);

    /// Runs all steps. On an exception, done() tells which entries have run.
    void run();
    const std::vector<bool>& done() const { return done_; }
    /// Marks what the failed step should have written as invalid, and its entries as done.
    void poison(const Error& error);
    /// Whether the engine was let go of meanwhile.
    bool detached() const { return detached_; }
    FlushRecord& record() { return record_; }

  private:
    void run_step(PlanStep& step);
    bool run_small_step(PlanStep& step);
    void note_traffic(std::int64_t read, std::int64_t written);
    void run_opaque(PlanStep& step, Plan& plan, std::size_t number);
    std::vector<std::size_t> partners(const Plan& plan, std::size_t number) const;
    bool has_joined(std::size_t number) const { return number < joined_.size() && joined_[number]; }
    void finish(const std::vector<std::uint32_t>& entries);
    void log_step(const PlanStep& step, std::int64_t bytes) const;
    template <class F>
    void outside_engine(PlanStep& step, bool long_work, F&& work);

    Tape& tape_;
    std::vector<Entry>& segment_;
    std::vector<bool> done_;  ///< filled in only once something can fail half-way
    FlushRecord record_;
    const PlanStep* current_ = nullptr;
    std::vector<bool> joined_;  ///< steps that ran together with an earlier call
    bool detached_ = false;
};

}  // namespace unisono
