// The functions of a module that are compiled when they are first called.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/loader.h"
#include "core/threads/fork.h"

namespace unisono::cpu {

class DeferredFunctions {
  public:
    /// The source must outlive this.
    explicit DeferredFunctions(Source& source) : source_(source) {}

    /// The code of a function, which threads may ask for at the same time. Where it cannot be
    /// compiled: a function that returns deferred_failed_site at once.
    void* find(std::int64_t function) noexcept;

    /// Throws what find met.
    [[noreturn]] void rethrow();

  private:
    Source& source_;
    std::once_flag counted_;
    std::vector<std::atomic<void*>> entries_;  ///< by function, once one was asked for
    LongMutex mutex_;
    std::vector<std::shared_ptr<LoadedCode>> codes_;
    std::exception_ptr error_;
};

/// What generated code gets for a Fault: it says, too, where deferred functions are found.
struct HostFault : Fault {
    DeferredFunctions* deferred = nullptr;
};

}  // namespace unisono::cpu
