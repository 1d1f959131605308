// Runs one detached segment, step by step.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tape/plan/plan.h"
#include "tape/run/submission.h"
#include "tape/tape.h"

namespace unisono {

/// Elements from which a step lets others use the engine meanwhile: some tens of microseconds of
/// work.
inline constexpr std::int64_t long_step = 1 << 15;

class Runner {
  public:
    Runner(Tape& tape, std::vector<Entry>& segment, FlushReason reason, std::uint32_t number);

    /// Runs all steps. On an exception, done() tells which entries have run.
    void run();
    const std::vector<bool>& done() const { return done_; }
    /// Marks what the failed step should have written as invalid, and its entries as done. Returns
    /// the error with the place where the step was recorded.
    Error poison(const Error& error);
    /// Leaves the segment in the state that a child of fork finds, whose thread that ran it is
    /// gone. Only memory is touched: the caller is fork's handler.
    struct Remains {
        std::vector<Entry> segment;
        std::vector<bool> done;                 ///< by entry
        std::vector<std::uint32_t> unfinished;  ///< entries of the steps that ran
    };
    Remains abandon();
    /// Whether the engine was let go of: the segment is in flight (flights.h).
    bool in_flight() const { return in_flight_; }
    std::vector<Entry>& segment() { return segment_; }
    FlushRecord& record() { return record_; }

  private:
    void run_step(const PlanStep& step);
    bool run_small_step(const PlanStep& step);
    /// Runs the first of these steps band by band; returns how many, or 0, having done nothing,
    /// where that does not pay. `is_small`: nor would it for fewer of them.
    std::size_t run_bands(std::span<const PlanStep> steps, bool& is_small);
    class Bands;
    void note_traffic(std::int64_t read, std::int64_t written);
    void note_copied(std::int64_t bytes);
    Queue* queue_of(const PlanStep& step) const;
    /// `needs`: as in Submission::end.
    void end(Submission& submission, const Entry& e, const Submission::Needs& needs = {});
    void run_opaque(const PlanStep& step, const Plan& plan, std::size_t number);
    View stored_view(const PlanStep& step) const;
    std::vector<std::size_t> partners(const Plan& plan, std::size_t number) const;
    bool has_joined(std::size_t number) const { return number < joined_.size() && joined_[number]; }
    void finish(const std::vector<std::uint32_t>& entries);
    std::string text_of(const PlanStep& step) const;
    void log_step(const PlanStep& step, std::int64_t bytes) const;
    SourcePlace place_of(const PlanStep& step) const;
    /// Work of the current steps. Where it is long, others may use the engine meanwhile.
    void outside_engine(bool long_work, const std::function<void()>& work, bool restarts = false);

    Tape& tape_;
    std::vector<Entry>& segment_;
    std::vector<bool> done_;  ///< filled in only once something can fail half-way
    FlushRecord record_;
    std::span<const PlanStep> current_;
    std::vector<bool> joined_;  ///< steps that ran together with an earlier call
    bool in_flight_ = false;
    std::shared_ptr<const void> plans_;  ///< in flight: others may look for plans meanwhile
};

}  // namespace unisono
