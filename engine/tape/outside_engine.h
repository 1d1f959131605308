// Long work during which other threads may use the engine.
#pragma once

#include <optional>

#include "core/threads/interrupt.h"
#include "tape/tape.h"

namespace unisono {

/// While one lives, its thread has left the engine (in Python: released the lock).
class OutsideEngine {
  public:
    explicit OutsideEngine(const HostHooks& hooks) : hooks_(hooks), state_(hooks.leave_engine()) {}
    ~OutsideEngine() { hooks_.enter_engine(state_); }
    OutsideEngine(const OutsideEngine&) = delete;
    OutsideEngine& operator=(const OutsideEngine&) = delete;

    /// For a CancelScope: enters the engine for a moment, and returns whether the user asks to
    /// stop.
    static bool interrupted(void* outside) {
        auto& self = *static_cast<OutsideEngine*>(outside);
        self.hooks_.enter_engine(self.state_);
        const bool stop = self.hooks_.interrupted && self.hooks_.interrupted();
        self.state_ = self.hooks_.leave_engine();
        return stop;
    }

  private:
    const HostHooks& hooks_;
    void* state_;
};

/// Does the work outside of the engine, if the language above has one to leave. Where the work may
/// begin again, it ends on Ctrl-C.
template <class F>
void run_outside(const HostHooks& hooks, bool restarts, F&& work) {
    if (!hooks.leave_engine) return work();
    OutsideEngine outside(hooks);
    std::optional<CancelScope> cancel;
    if (restarts) cancel.emplace(OutsideEngine::interrupted, &outside);
    work();
}

}  // namespace unisono
