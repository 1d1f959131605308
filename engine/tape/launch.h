// Launches of compiled functions and kernels as entries of the tape.
//
// A launch is a call whose operands are the arrays that it is given: the front end tells which of
// them it reads and which it writes (passes/analysis/array_effects.h), and by that the tape orders
// it like any other entry. One on the host completes before it returns, since it may raise, return
// numbers and build objects: Tape::perform runs what its operands wait for, then the launch. One on
// a device's queue that has no results is recorded, and runs when one of the arrays that it writes
// is wanted. On host memory that nothing pending touches a launch leaves the tape alone and only
// notes whose work the memory is (note_launch).
#pragma once

#include <string>

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

class Launch : public OpaqueCall {
  public:
    explicit Launch(const LaunchedCode& code) : code_(code) {}
    std::string name() const final { return "launch " + code_.name; }
    const LaunchedCode& code() const { return code_; }
    /// Of arrays that it made: Storage::evaluation.
    std::uint32_t evaluation() const { return number_ ? number_ : code_.evaluation; }

  private:
    friend class Tape;
    const LaunchedCode& code_;
    std::uint32_t number_ = 0;  ///< in the log of flushes
};

/// The entry of a launch, which it owns once it is recorded.
Entry launch_entry(Launch& launch);
/// Adds an array that the launch is given. One that it neither reads nor writes is left out: what
/// is pending on it stays so.
void add_operand(Entry& entry, const View& view, bool reads, bool writes);

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
