// Whether compiled functions that call themselves may go on: how much of the thread's stack is
// left, and whether the user wants to stop.
#include <pthread.h>

#include "core/native/native.h"
#include "core/native/recursion.h"
#include "core/threads/interrupt.h"

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

/// values: output. A stack that is not the thread's own counts as large.
void recursion_check(std::int64_t* values) {
    thread_local const Stack stack;
    thread_local unsigned asked = 0;
    auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    bool is_own = here >= stack.low && here < stack.high;
    values[0] = values[1] = 0;
    if (is_own && here - stack.low < least)
        values[1] = stack_is_low;
    else if (++asked % (1 << 14) == 0 && poll_interrupt())
        values[1] = user_stops;
}

[[maybe_unused]] const bool added = add_natives({{"recursion_check", &recursion_check}});

}  // namespace

}  // namespace unisono
