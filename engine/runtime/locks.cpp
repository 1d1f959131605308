// Locks of compiled code: a few mutexes, chosen by number. A thread may take one again.
#include <array>
#include <mutex>

#include "core/native/native.h"

namespace unisono {

namespace {

std::recursive_mutex& lock_of(std::int64_t key) {
    static auto* locks = new std::array<std::recursive_mutex, 64>;  // threads may outlive statics
    return (*locks)[static_cast<std::size_t>(key) % locks->size()];
}

/// [number]
void lock_take(std::int64_t* v) { lock_of(v[0]).lock(); }
void lock_give(std::int64_t* v) { lock_of(v[0]).unlock(); }

[[maybe_unused]] const bool natives =
    add_natives({{"lock_take", lock_take}, {"lock_give", lock_give}});

}  // namespace

}  // namespace unisono
