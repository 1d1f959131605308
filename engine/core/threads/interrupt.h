// Whether the user asks long-running code to stop: asked from inside of compiled loops.
#pragma once

#include <chrono>
#include <cstdint>

namespace unisono {

/// The hook tells whether to stop (in Python: whether a signal arrived); it is called on threads
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

/// While one lives, parallel loops that its thread begins ask between their chunks whether to stop;
/// where `asks` says so, they throw an Interrupt error. For work that can begin again from its
/// start.
class CancelScope {
  public:
    using Asks = bool (*)(void* context);
    CancelScope(Asks asks, void* context);
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    /// The calling thread's, or null.
    static CancelScope* current();
    /// Asks, some twenty times a second at most.
    bool stops();

  private:
    Asks asks_;
    void* context_;
    CancelScope* outer_;
    std::chrono::steady_clock::time_point last_asked_;
};

/// Nonzero where the user asks to stop. Cheap enough for each millionth step of a loop.
std::int64_t poll_interrupt() noexcept;

}  // namespace unisono
