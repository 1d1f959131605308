// When a queue that is asked in passing whether work is done asks its driver.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace unisono {

/// Events cost time: the driver takes a lock that the thread which runs the work wants, or has to
/// record one. A program that submits asks with each statement, and for many submissions at once,
/// of which the first tells for all; it is told "no" some times before the driver is asked. One
/// that waits for something does nothing else.
class PassingPolls {
  public:
    /// Whether to ask the driver about submission `number`, where `submitted` is the last one.
    bool ask(std::uint64_t number, std::uint64_t submitted) {
        constexpr int polls_between_queries = 4, patience = 16;
        if (std::exchange(polled_at_, submitted) != submitted) {
            idle_polls_ = 0;
            polled_ = number;
        }
        if (number <= polled_) ++idle_polls_;
        polled_ = std::min(polled_, number);
        const bool waits = idle_polls_ >= patience && idle_polls_ % polls_between_queries == 0;
        return waits ? note_query(submitted) : ask(submitted);
    }
    /// The same for who has just submitted something.
    bool ask(std::uint64_t submitted) {
        constexpr std::uint64_t submissions_between_queries = 128;
        return submitted - asked_at_ >= submissions_between_queries && note_query(submitted);
    }

  private:
    bool note_query(std::uint64_t submitted) {
        asked_at_ = submitted;
        return true;
    }

    int idle_polls_ = 0;                          ///< since something was submitted
    std::uint64_t polled_ = 0;                    ///< the first that somebody asked for since then
    std::uint64_t polled_at_ = 0, asked_at_ = 0;  ///< submissions, when somebody asked
};

}  // namespace unisono
