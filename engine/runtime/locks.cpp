// Locks of compiled code: a few mutexes, chosen by number. A thread may take one again.
#include <pthread.h>

#include <array>
#include <mutex>

#include "core/native/native.h"

namespace unisono {

namespace {

using Locks = std::array<std::recursive_mutex, 64>;
Locks* locks = nullptr;  // never destroyed: threads may outlive statics

/// In a child of fork nobody holds a lock: the threads that did are gone.
void make_locks() { locks = new Locks; }

std::recursive_mutex& lock_of(std::int64_t key) {
    return (*locks)[static_cast<std::size_t>(key) % locks->size()];
}

/// [number]
void lock_take(std::int64_t* v) { lock_of(v[0]).lock(); }
void lock_give(std::int64_t* v) { lock_of(v[0]).unlock(); }

[[maybe_unused]] const bool natives = [] {
    make_locks();
    pthread_atfork(nullptr, nullptr, make_locks);
    return add_natives({{"lock_take", lock_take}, {"lock_give", lock_give}});
}();

}  // namespace

}  // namespace unisono
