// The functions of a module that are compiled when they are first called.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/loader.h"
#include "ir/ir.h"

namespace unisono::cpu {

class DeferredFunctions {
  public:
    /// The module must outlive this.
    DeferredFunctions(const ir::Module& module, bool streaming, const CompileOptions& options)
        : module_(module),
          streaming_(streaming),
          options_(options),
          entries_(module.functions.size()) {}

    /// The code of a function, which threads may ask for at the same time. Where it cannot be
    /// compiled: a function that returns deferred_failed_site at once.
    void* find(std::int64_t function) noexcept;

    /// Throws what find met.
    [[noreturn]] void rethrow();

  private:
    const ir::Module& module_;
    bool streaming_;
    CompileOptions options_;
    std::vector<std::atomic<void*>> entries_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<LoadedCode>> codes_;
    std::exception_ptr error_;
};

/// What generated code gets for a Fault: it says, too, where deferred functions are found.
struct HostFault : Fault {
    DeferredFunctions* deferred = nullptr;
};

}  // namespace unisono::cpu
