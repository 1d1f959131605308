// Size classes: four per power of two from 64 bytes; blocks of 1 MiB and more are mapped, on huge
// pages if possible.
#include "core/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "context/context.h"
#include "core/error.h"
#include "core/threads/fork.h"

namespace unisono::pool {

namespace {

constexpr std::int64_t smallest = 64;
constexpr std::int64_t mapped_from = 1 << 20;
constexpr std::int64_t huge_page = 2 << 20;

struct SizeClass {
    int index;
    std::int64_t bytes;
};

SizeClass class_of(std::int64_t bytes) {
    if (bytes <= smallest) return {0, smallest};
    auto u = static_cast<std::uint64_t>(bytes - 1);
    int high = 63 - __builtin_clzll(u);
    auto quarter = static_cast<int>((u >> (high - 2)) & 3);
    std::int64_t size = (std::int64_t{4} + quarter + 1) << (high - 2);
    return {(high - 6) * 4 + quarter + 1, size};
}

struct State {
    ProcessMutex mutex;
    std::vector<void*> free_lists[256];
    std::int64_t cached = 0;
    std::int64_t limit = 0;
    Usage usage;
};

State& state() {
    static State* s = new State;  // outlives every static array
    return *s;
}

std::int64_t physical_memory() {
    std::int64_t total = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    std::ifstream cgroup("/sys/fs/cgroup/memory.max");
    std::string text;
    if (cgroup >> text && text != "max")
        total = std::min<std::int64_t>(total, std::atoll(text.c_str()));
    return total;
}

void* take_from_system(std::int64_t bytes) noexcept {
    if (bytes < mapped_from) {
        void* block = nullptr;
        return posix_memalign(&block, 64, static_cast<std::size_t>(bytes)) == 0 ? block : nullptr;
    }
    void* p = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    if (bytes >= 2 * huge_page) madvise(p, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    return p;
}

void give_to_system(void* p, std::int64_t bytes) noexcept {
    if (bytes < mapped_from) {
        std::free(p);
    } else {
        munmap(p, static_cast<std::size_t>(bytes));
    }
}

void trim_locked(State& s) noexcept {
    for (int index = 0; index < 256; ++index) {
        auto& list = s.free_lists[index];
        if (list.empty()) continue;
        std::int64_t bytes =
            index == 0 ? smallest
                       : ((std::int64_t{4} + ((index - 1) & 3) + 1) << ((index - 1) / 4 + 6 - 2));
        for (void* p : list) give_to_system(p, bytes);
        list.clear();
    }
    s.cached = 0;
}

}  // namespace

std::string megabytes(std::int64_t bytes) {
    const std::int64_t tenths = (bytes * 10) >> 20;
    std::string text = std::to_string(tenths / 10);
    if (tenths < 100 && tenths % 10) text += "." + std::to_string(tenths % 10);
    return text + " MiB";
}

std::int64_t limit() {
    State& s = state();
    if (s.limit == 0) s.limit = physical_memory();
    return s.limit;
}
Usage usage() {
    State& s = state();
    std::lock_guard guard(s.mutex);
    return s.usage;
}
void set_limit(std::int64_t bytes) { state().limit = bytes; }
std::int64_t cached_bytes() { return state().cached; }

void* allocate(std::int64_t bytes) {
    SizeClass c = class_of(bytes);
    State& s = state();
    std::lock_guard guard(s.mutex);
    auto& list = s.free_lists[c.index];
    void* p = nullptr;
    if (!list.empty()) {
        p = list.back();
        list.pop_back();
        s.cached -= c.bytes;
    } else {
        const std::int64_t in_use = s.usage.in_use;
        if (in_use + s.cached + c.bytes > limit()) trim_locked(s);
        if (in_use + c.bytes <= limit()) p = take_from_system(c.bytes);
        if (!p) {
            trim_locked(s);
            if (in_use + c.bytes <= limit()) p = take_from_system(c.bytes);
        }
        if (!p) {
            fail(ErrorKind::Memory,
                 "memory: an array of " + megabytes(bytes) + " does not fit; in use " +
                     megabytes(in_use) + ", limit " + megabytes(limit()) +
                     "; delete arrays, use a smaller dtype, or spread the array over a mesh");
        }
        s.usage.fresh += c.bytes;
    }
    count_apart(counters_apart().bytes_allocated, c.bytes);
    s.usage.in_use += c.bytes;
    s.usage.peak = std::max(s.usage.peak, s.usage.in_use);
    return p;
}

void free(void* block, std::int64_t bytes) noexcept {
    if (!block) return;
    SizeClass c = class_of(bytes);
    State& s = state();
    std::lock_guard guard(s.mutex);
    s.usage.in_use -= c.bytes;
    // Half of the memory may be cached: a program that cycles through its arrays never faults a
    // page.
    if (s.cached + c.bytes > limit() / 2) {
        give_to_system(block, c.bytes);
        return;
    }
    s.free_lists[c.index].push_back(block);
    s.cached += c.bytes;
}

void trim() noexcept {
    State& s = state();
    std::lock_guard guard(s.mutex);
    trim_locked(s);
}

}  // namespace unisono::pool
