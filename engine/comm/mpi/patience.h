// How long a rank waits for others: its time-out counts only while none of them works.
//
// The ranks of a node share memory in which each says whether it waits. One that does not wait
// works as long as its process uses the processor, which /proc tells. So a rank that computes for
// minutes before it comes to a message ends nobody; and ranks that wait for each other, for one
// that sleeps, or for one that has ended do not wait for ever. Where other programs kept a rank
// from the processor, it could not take or answer a message: its time does not count.
//
// Processes of other jobs that this one started or met are seen, too (relatives.h). Ranks of other
// nodes are not: where there are some, the time-out is `far_factor` times as long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/mpi/relatives.h"

namespace unisono::comm {

inline constexpr double far_factor = 10;
/// Questions to MPI between two of a rank that waits whether it is over.
inline constexpr long turns_of_a_look = 16;

/// Goes on to make the ranks of this node known to each other; true once they are. All ranks call
/// it until then, behind start_mpi.
bool meet_neighbours();

/// While it lives this rank waits for others.
class Waiting {
  public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
};

/// One wait, which may last too long.
class Patience {
  public:
    /// Seconds; 0: for ever.
    explicit Patience(double timeout);
    /// Asked now and then, with the seconds since the wait began.
    bool is_over(double waited);
    /// The seconds without work that it lasts, as text.
    std::string seconds() const;
    /// " (rank 1 has ended)" of ranks of this node that are gone; else nothing.
    static std::string gone();

  private:
    /// What was seen of another process when the count began.
    struct Seen {
        std::int32_t process = 0;
        std::shared_ptr<const Line> line;  ///< null: it has not started MPI
        std::uint32_t waits = 0, looks = 0;
        std::int64_t ticks = 0;
    };
    void begin(double now);
    static bool works(const Seen& other, double counted);
    static bool lacked_processor(const Seen& other, double counted);
    bool has_news() const;

    Waiting waiting_;
    double limit_, interval_, since_ = 0, next_ = 0;
    std::uint32_t looks_ = 0;  ///< since the count began
    std::vector<Line*> own_;
    std::vector<Seen> seen_;
};

}  // namespace unisono::comm
