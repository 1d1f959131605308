// Asks the interrupt hook, seldom.
#include "core/threads/interrupt.h"

#include <atomic>

namespace unisono {

namespace {

bool (*the_hook)() = nullptr;
thread_local bool asks = false;
thread_local bool has_scope = false;
/// Set once the polling thread has to stop, until its scope ends: for threads that help it.
/// They have no scope, and do not know which thread they help.
std::atomic<bool> stopping{false};
thread_local std::chrono::steady_clock::time_point
    last_asked;  // by poll: short calls read no clock
thread_local CancelScope* cancel_scope = nullptr;

}  // namespace

void set_interrupt_hook(bool (*hook)()) { the_hook = hook; }

InterruptScope::InterruptScope(bool on) : outer_(asks), had_scope_(has_scope) {
    asks = on;
    has_scope = true;
}
InterruptScope::~InterruptScope() {
    if (asks) stopping.store(false, std::memory_order_relaxed);
    asks = outer_;
    has_scope = had_scope_;
}

CancelScope::CancelScope(Asks asks, void* context)
    : asks_(asks),
      context_(context),
      outer_(cancel_scope),
      last_asked_(std::chrono::steady_clock::now()) {
    cancel_scope = this;
}
CancelScope::~CancelScope() { cancel_scope = outer_; }
CancelScope* CancelScope::current() { return cancel_scope; }

bool CancelScope::stops() {
    auto now = std::chrono::steady_clock::now();
    if (now - last_asked_ < std::chrono::milliseconds(50)) return false;
    last_asked_ = now;
    return asks_(context_);
}

std::int64_t poll_interrupt() noexcept {
    if (!has_scope) return stopping.load(std::memory_order_relaxed) ? 1 : 0;
    if (!asks || !the_hook) return 0;
    auto now = std::chrono::steady_clock::now();
    if (now - last_asked < std::chrono::milliseconds(20)) return 0;
    last_asked = now;
    if (!the_hook()) return 0;
    stopping.store(true, std::memory_order_relaxed);
    return 1;
}

}  // namespace unisono
