// Chooses by time whether a kernel's large results are stored past the caches.
//
// Which is faster depends on what share of the caches a kernel finds free, which no table of
// caches tells (virtual machines share theirs with others), and on who reads the results. Both
// variants of a kernel give the same bits, so that the first runs over a size may take turns:
// some by the variant that the size suggests, some by the other one, and again. The fastest run
// of each counts; the first of each turn does not, because it finds the caches as the other
// variant left them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace unisono {

/// The choice of one kernel for one class of sizes.
class StoreChoice {
  public:
    static constexpr int runs_per_turn = 3;
    static constexpr int turns = 4;
    /// Runs after which the variants take turns again: others may use the caches by now.
    static constexpr int runs_until_next = 2000;

    /// `suggested`: whether the size alone makes one expect that the caches are better left out.
    explicit StoreChoice(bool suggested) : suggested_(suggested), chosen_(suggested) {}

    /// Whether the next run stores past the caches.
    bool past_caches() const { return runs_ < turns * runs_per_turn ? next() : chosen_; }
    bool suggested() const { return suggested_; }
    /// After each run: how it stored, when it began and ended, in seconds of any steady clock.
    void ran(bool past, double begin, double end);
    /// For people: what was chosen and why.
    std::string text() const;

  private:
    /// The smallest times of one variant, in seconds.
    struct Times {
        double run = std::numeric_limits<double>::infinity();
        /// From the end of the run before it: contains what the program does with the result.
        double period = std::numeric_limits<double>::infinity();
    };

    bool next() const { return suggested_ != ((runs_ / runs_per_turn) % 2 == 1); }
    void settle();

    bool suggested_, chosen_;
    bool last_ = false;  ///< the last run stored past the caches
    int runs_ = 0;
    double last_end_ = 0;
    Times times_[2];  ///< through the caches, past them
};

}  // namespace unisono
