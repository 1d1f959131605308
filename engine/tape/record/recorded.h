// A scope in which the tape records all it is given.
#pragma once

namespace unisono {

/// While one lives, small statements are recorded and never run at once: what the engine itself
/// makes of one expression of the user's is to become one kernel.
class Recorded {
  public:
    Recorded();
    ~Recorded();
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;
};

}  // namespace unisono
