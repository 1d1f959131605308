// Shares out jobs among helper threads, which stay awake for a moment after each job.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/threads/parallel.h"

namespace unisono {

/// Jobs that want helpers lie in one list; a helper takes the job that wants most, and the caller,
/// once its own share is done, withdraws what nobody took and waits for the helpers inside. No job
/// ever waits for another.
///
/// Waking a thread costs some 25 microseconds. So a helper that ran a job polls for the next one
/// that long before it leaves, and a caller polls for its last helper: a sequence of short loops
/// then needs no wake-up. Neither polls where threads outnumber the CPUs.
class ThreadPool {
  public:
    explicit ThreadPool(std::unique_ptr<HelperSource> source) : source_(std::move(source)) {}

    /// Calls work(context) on the calling thread and, as threads come free, on up to `helpers`
    /// others; returns when all calls made have returned. work never throws.
    /// `waiting`, if there is one, is called now and then while helpers make the caller wait.
    void run(int helpers, void (*work)(void*), void* context, void (*waiting)(void*) = nullptr);
    const char* name() const { return source_->name(); }

  private:
    struct Job;
    void serve();
    void take(Job& job, std::unique_lock<std::mutex>& lock);
    bool poll(std::unique_lock<std::mutex>& lock);
    Job* choose();

    std::unique_ptr<HelperSource> source_;
    const int cpus_ = available_cpus();  ///< asked once: it reads files
    std::mutex mutex_;
    std::vector<Job*> jobs_;
    int polling_ = 0;             ///< helpers awake without a job
    std::atomic<int> wanted_{0};  ///< helpers that jobs still want; what pollers look at
};

/// std::thread helpers that sleep on a condition between calls: needs no library.
std::unique_ptr<HelperSource> make_own_threads();

}  // namespace unisono
