// Launches of compiled functions and kernels as entries of the tape.
//
// A launch is a call whose operands are the arrays that it is given: the front end tells which of
// them it reads and which it writes (passes/analysis/array_effects.h), and by that the tape orders
// it like any other entry. One on the host completes before it returns, since it may raise, return
// numbers and build objects: Tape::begin_launch runs what its operands wait for. One on a device's
// queue that has no results is recorded behind what is pending on its operands, and runs when one
// of the arrays that it writes is wanted. On memory that nothing pending touches a launch leaves
// the tape alone, runs or goes to the queue at once, and only notes whose work the memory is
// (note_launch).
#pragma once

#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tape/tape.h"

namespace unisono {

/// A compiled function or kernel as explanations name it. It lives for good.
struct LaunchedCode {
    std::string name;
    SourcePlace place;         ///< of its definition
    std::uint32_t evaluation;  ///< in storages that it wrote last, where no flush did
};
/// The one of that name and place.
const LaunchedCode& launched_code(const std::string& name, const SourcePlace& place);
/// The one that a storage's `evaluation` stands for; null where it stands for a flush.
const LaunchedCode* launched_code(std::uint32_t evaluation);

/// A launch on a queue, which the tape records.
class Launch : public OpaqueCall {
  public:
    explicit Launch(const LaunchedCode& code) : code_(code) {}
    std::string name() const final { return "launch " + code_.name; }

  private:
    const LaunchedCode& code_;
};

/// Its entry, which owns it once it is recorded.
Entry launch_entry(Launch& launch);
/// Adds an array that the launch is given. One that it neither reads nor writes is left out: what
/// is pending on it stays so.
void add_operand(Entry& entry, const View& view, bool reads, bool writes);

/// An array that a launch on the host is given.
struct LaunchOperand {
    Storage* storage;
    std::int64_t bytes;  ///< of the elements
    bool reads, writes;
};

class LaunchOperands {
  public:
    void add(const View& view, bool reads, bool writes) {
        const LaunchOperand operand{view.storage, view.layout->size() * size_of(view.dtype), reads,
                                    writes};
        if (count_ < std::size(few_)) {
            few_[count_++] = operand;
            return;
        }
        if (many_.empty()) many_.assign(few_, few_ + count_);
        many_.push_back(operand);
    }
    std::span<const LaunchOperand> all() const {
        if (!many_.empty()) return many_;
        return {few_, count_};
    }

  private:
    LaunchOperand few_[8];
    std::size_t count_ = 0;
    std::vector<LaunchOperand> many_;  ///< all, where they are more
};

/// A launch whose operands are ready.
struct LaunchStart {
    std::uint32_t evaluation;  ///< of the arrays that it writes
    bool left_engine;          ///< meanwhile others may have changed the arguments
};

/// Does a launch on a device's queue, whose operands are ready, and waits for it. Throws what went
/// wrong with what it depends on.
void run_on_queue(Device& device, const LaunchedCode& code, std::span<const LaunchOperand> operands,
                  const std::function<void()>& work);

/// The queue that takes the calling thread's launches on a device as they come; null where they are
/// recorded first.
Queue* direct_queue(Device& device);
/// Gives such a queue a launch whose operands are ready (may_launch) and whose end nobody waits
/// for: `submit` does it, and returns how to find out what goes wrong with it, or null.
void submit_launch(Queue& queue, const LaunchedCode& code, std::span<const LaunchOperand> operands,
                   const std::function<std::unique_ptr<const LateFault::Check>()>& submit);

/// Whether code with these effects on the memory may run at once: nothing that is pending or in
/// flight has to come before.
inline bool may_launch(const Storage& s, bool reads, bool writes) {
    const bool is_valid = !s.pending && !s.flight_writers && !s.poison;
    return (is_valid || !(reads || writes)) && !(writes && (s.readers || s.flight_readers));
}

/// Of memory that is ready and that a launch writes.
inline void note_launch(Storage& s, const LaunchedCode& code) {
    ++s.version;
    s.evaluation = code.evaluation;
}

}  // namespace unisono
