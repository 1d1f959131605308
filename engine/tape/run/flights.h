// Segments in flight: those whose thread has let go of the engine while it runs them.
//
// Several threads may flush at once. A segment takes off when its thread first leaves the engine:
// what its entries hold of storages moves from the counts of recorded entries to those of entries
// in flight. A flush waits for another thread's segment only where that writes what it reads, or
// touches what it writes; a read of the host only where it is written.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "tape/run/run.h"
#include "tape/tape.h"

namespace unisono {

class Flights {
  public:
    bool empty() const { return running_.empty() && abandoned_.empty(); }
    /// Grows whenever a thread that waited for a flush or a flight may have let go of the engine.
    std::uint64_t departures() const { return started_ + ends_; }
    /// Called with the engine held.
    void take_off(Runner& runner);
    void land(Runner& runner);

    /// Whether one of the entries depends on a segment in flight.
    bool hinder(std::span<Entry> entries, const std::uint8_t* marked) const;
    /// Lets others use the engine until some segment has ended. Throws on Ctrl-C, having changed
    /// nothing; in a child of fork, settles what the parent's threads were running.
    void wait(Tape& tape);
    /// The same until all segments that are in flight now have ended.
    void wait_for_all(Tape& tape);

    /// Counts the storage as read in flight while the work, which runs outside of the engine,
    /// lasts.
    void read(Tape& tape, Storage* s, const std::function<void()>& work);

    /// Names the layouts of what runs as in use.
    void touch_layouts() const;

    /// In fork's handler: no thread has been made yet that could use the stacks of lost ones.
    void abandon();
    /// In a child of fork: drops recorded entries that cannot run there, which `obstacle` tells,
    /// and those that read what they should have written. That is an error for who wants their
    /// results and for nobody else.
    using Obstacle = std::function<std::shared_ptr<const Error>(Entry&)>;
    static void give_up(Tape& tape, const Obstacle& obstacle);

  private:
    struct Flight {
        std::uint64_t number;
        Runner* runner;
        std::thread::id thread;
        bool communicates;
    };
    void settle(Tape& tape);
    void tell_waiting();

    std::vector<Flight> running_;  ///< in the order of their numbers
    std::uint64_t started_ = 0;
    std::vector<std::unique_ptr<Runner::Remains>> abandoned_;  ///< in a child of fork
    std::mutex mutex_;  ///< of `ends_`; threads that wait do not hold the engine
    std::condition_variable ended_;
    std::uint64_t ends_ = 0;
};

/// Moves what a recorded entry holds to the counts of entries in flight, and back.
void take_off(Entry& entry);
void return_to_tape(Entry& entry);

}  // namespace unisono
