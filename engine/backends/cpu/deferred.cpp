// Compiles deferred functions, one at a time.
#include "backends/cpu/deferred.h"

#include "backends/codegen/compile.h"

namespace unisono::cpu {

/// Stands for a function that cannot be compiled, whatever its arguments are.
static std::int64_t fail_immediately() noexcept { return codegen::deferred_failed_site; }

void* DeferredFunctions::find(std::int64_t function) noexcept {
    try {
        std::call_once(counted_, [this] {
            entries_ = std::vector<std::atomic<void*>>(source_.lowered().functions.size());
        });
        auto& entry = entries_[static_cast<std::size_t>(function)];
        if (void* code = entry.load(std::memory_order_acquire)) return code;
        std::lock_guard lock(mutex_);
        if (void* code = entry.load(std::memory_order_relaxed)) return code;
        codes_.push_back(machine_code(source_, static_cast<int>(function)));
        void* code = codes_.back()->entry();
        entry.store(code, std::memory_order_release);
        return code;
    } catch (...) {
        std::lock_guard lock(mutex_);
        error_ = std::current_exception();
        return reinterpret_cast<void*>(&fail_immediately);
    }
}

void DeferredFunctions::rethrow() {
    std::lock_guard lock(mutex_);
    std::rethrow_exception(error_);
}

}  // namespace unisono::cpu
