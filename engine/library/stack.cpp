// How much of a thread's stack is left, for compiled functions that call themselves.
#include <pthread.h>

#include "core/native.h"

namespace unisono {

namespace {

/// Enough for the frames of a few calls, and for what the last of them calls.
constexpr std::uintptr_t least = 96 << 10;

struct Stack {
    std::uintptr_t low = 0, high = 0;
    Stack() noexcept {
        pthread_attr_t about;
        void* address = nullptr;
        std::size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &about) != 0) return;
        if (pthread_attr_getstack(&about, &address, &size) == 0) {
            low = reinterpret_cast<std::uintptr_t>(address);
            high = low + size;
        }
        pthread_attr_destroy(&about);
    }
};

/// values: out, whether little is left. A stack that is not the thread's own counts as large.
void stack_is_low(std::int64_t* values) {
    thread_local const Stack stack;
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    bool is_own = here >= stack.low && here < stack.high;
    values[0] = 0;
    values[1] = is_own && here - stack.low < least;
}

[[maybe_unused]] const bool added = add_natives({{"stack_is_low", &stack_is_low}});

}  // namespace

}  // namespace unisono
