// Keeps what was put off.
#include "backends/codegen/put_off.h"

#include <deque>
#include <mutex>
#include <utility>

#include "core/threads/fork.h"

namespace unisono::codegen {

namespace {

struct Stores {
    ProcessMutex mutex;
    std::deque<std::function<void()>> waiting;
};

Stores& stores() {
    static auto& all = *new Stores;
    return all;
}

}  // namespace

void put_off(std::function<void()> store) {
    std::lock_guard lock(stores().mutex);
    stores().waiting.push_back(std::move(store));
}

void store_what_was_put_off(std::chrono::milliseconds most) noexcept {
    const auto end = std::chrono::steady_clock::now() + most;
    std::deque<std::function<void()>> waiting;
    {
        std::lock_guard lock(stores().mutex);
        waiting.swap(stores().waiting);
    }
    for (const auto& store : waiting) {
        if (std::chrono::steady_clock::now() >= end) return;
        try {
            store();
        } catch (...) {
            return;  // the process ends: nobody can be told, and nothing is lost
        }
    }
}

}  // namespace unisono::codegen
