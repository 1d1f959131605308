// Whether the user asks long-running code to stop: asked from inside of compiled loops.
#pragma once

#include <cstdint>

namespace unisono {

/// Asks whoever knows (in Python: the signals that arrived) whether to stop; called on threads
/// inside of an InterruptScope only, a few dozen times a second at most.
void set_interrupt_hook(bool (*hook)());

/// While one lives, its thread asks the hook.
class InterruptScope {
  public:
    explicit InterruptScope(bool asks);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

  private:
    bool outer_, had_scope_;
};

/// Nonzero where the user asks to stop. Cheap enough for each millionth step of a loop.
std::int64_t poll_interrupt() noexcept;

}  // namespace unisono
