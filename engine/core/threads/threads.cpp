// Counts the CPUs that this process may use, and keeps the setting.
#include "core/threads/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/settings.h"

namespace unisono {

namespace {

std::atomic<int> chosen{0};      // 0: not set
thread_local int override_ = 0;  // 0: none

/// CPUs that the cgroup's quota amounts to, rounded up; 0 where there is none.
int quota_cpus() {
    long long quota = 0, period = 0;
    if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
        std::string first;
        if (v2 >> first >> period && first != "max") quota = std::atoll(first.c_str());
    } else {
        std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
        std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

int first_count() {
    const std::string& given = setting("num_threads");
    return given.empty() ? available_cpus() : std::atoi(given.c_str());
}

}  // namespace

int available_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0
                    ? CPU_COUNT(&set)
                    : static_cast<int>(std::thread::hardware_concurrency());
    if (int quota = quota_cpus()) count = std::min(count, quota);
    return std::max(count, 1);
}

int thread_count() {
    if (override_) return override_;
    int count = chosen.load(std::memory_order_relaxed);
    if (count == 0) {
        int first = first_count();
        if (chosen.compare_exchange_strong(count, first)) count = first;
    }
    return count;
}

void set_thread_count(int count) {
    if (count < 1) {
        fail(ErrorKind::Value, "set_num_threads: the number of threads is too small; got " +
                                   std::to_string(count) + "; expected at least 1");
    }
    chosen.store(count, std::memory_order_relaxed);
}

ThreadCountScope::ThreadCountScope(int count) : before_(override_) {
    if (count > 0) override_ = count;
}
ThreadCountScope::~ThreadCountScope() { override_ = before_; }

}  // namespace unisono
