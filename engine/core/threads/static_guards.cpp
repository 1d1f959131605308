// The guards of this library's function statics, which a child of fork must be able to pass.
//
// The C++ run-time library has a thread wait at a guard that another thread holds while it makes
// the static. In a child of fork that thread does not exist, and the wait never ends. These
// definitions (Itanium C++ ABI, section 3.3.3), hidden in this library, note in which process a
// static was begun: one that a lost thread left half-made is made again.
#include <sched.h>

#include <cstdint>

#include "core/threads/fork.h"

#if !defined(__SANITIZE_THREAD__)  // which sees by the library's guards what is ordered

namespace {

/// Byte 0 is the ABI's: nonzero once the static is made. The upper half is ours: the generation of
/// the process (counted from 1) in which a thread makes it, or 0.
struct Guard {
    std::uint8_t made;
    std::uint8_t unused[3];
    std::uint32_t maker;
};
static_assert(sizeof(Guard) == sizeof(std::uint64_t));

bool become_maker(Guard* guard, std::uint32_t instead_of, std::uint32_t generation) {
    return __atomic_compare_exchange_n(&guard->maker, &instead_of, generation, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void leave(Guard* guard) { __atomic_store_n(&guard->maker, 0, __ATOMIC_RELEASE); }

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] int __cxa_guard_acquire(Guard* guard) {
    const std::uint32_t generation = unisono::LongMutex::forks() + 1;
    while (!__atomic_load_n(&guard->made, __ATOMIC_ACQUIRE)) {
        const std::uint32_t maker = __atomic_load_n(&guard->maker, __ATOMIC_RELAXED);
        if (maker == generation || !become_maker(guard, maker, generation)) {
            sched_yield();
            continue;
        }
        if (!__atomic_load_n(&guard->made, __ATOMIC_ACQUIRE)) return 1;
        leave(guard);  // made between the two looks
    }
    return 0;
}

[[gnu::visibility("hidden")]] void __cxa_guard_release(Guard* guard) {
    __atomic_store_n(&guard->made, 1, __ATOMIC_RELEASE);
    leave(guard);
}

[[gnu::visibility("hidden")]] void __cxa_guard_abort(Guard* guard) { leave(guard); }

}  // extern "C"

#endif
