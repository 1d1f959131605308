// Runs one long routine of a foreign library so that the caller can stop waiting for it.
#pragma once

#include <functional>

#include "core/threads/interrupt.h"

namespace unisono {

/// Calls `work` on a thread of its own and waits for it. Some twenty times a second it calls
/// `asks`; where that returns true, an Interrupt error is thrown here at once and the work goes on
/// to its end, unobserved. It may therefore use only memory that it owns: `work` is destroyed on
/// its own thread in that case. It must not throw. Parallel loops that it begins stop once it is
/// abandoned.
void run_abandonable(std::function<void()> work, CancelScope::Asks asks, void* context);

}  // namespace unisono
