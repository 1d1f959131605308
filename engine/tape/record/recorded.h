// A scope in which the tape records all it is given.
#pragma once

#include "tape/tape.h"

namespace unisono {

/// While one lives, small statements are recorded and never run at once: what the engine itself
/// makes of one expression of the user's is to become one kernel.
class Recorded {
  public:
    Recorded() : tape_(Tape::current()) { ++tape_.recorded_scopes_; }
    ~Recorded() { --tape_.recorded_scopes_; }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

  private:
    Tape& tape_;
};

}  // namespace unisono
