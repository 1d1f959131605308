// Jobs, and the helpers that need no library.
#include "core/threads/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace unisono {

namespace {

constexpr std::chrono::microseconds patience{100};
constexpr std::chrono::milliseconds between_questions{50};

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

/// Waits awake until ready() or until patience ends; false then.
template <class F>
bool wait_awake(F&& ready) {
    auto end = std::chrono::steady_clock::now() + patience;
    do {
        for (int k = 0; k < 32; ++k) {
            if (ready()) return true;
            relax();
        }
    } while (std::chrono::steady_clock::now() < end);
    return ready();
}

/// Takes a lock that others hold for some instructions only. Who sleeps for it must be woken by its
/// holder: two calls of the system, far longer than the wait.
void lock_awake(std::unique_lock<std::mutex>& lock) {
    for (int k = 0; k < 1000; ++k) {
        if (lock.try_lock()) return;
        relax();
    }
    lock.lock();  // the holder has lost its CPU
}

}  // namespace

struct ThreadPool::Job {
    void (*work)(void*);
    void* context;
    int wanted;    ///< helpers still wanted
    bool patient;  ///< every thread of the job has a CPU, so that waiting awake keeps nobody out
    std::atomic<int> inside{0};  ///< helpers at work; changes under the lock
    std::condition_variable left{};
};

void ThreadPool::run(int helpers, void (*work)(void*), void* context, void (*waiting)(void*)) {
    Job job{work, context, helpers, helpers < cpus_};
    int missing;
    {
        std::unique_lock lock(mutex_, std::defer_lock);
        lock_awake(lock);
        jobs_.push_back(&job);
        missing = helpers - polling_;
        wanted_.fetch_add(helpers, std::memory_order_relaxed);
    }
    if (missing > 0) {
        source_->summon(
            missing, [](void* pool) { static_cast<ThreadPool*>(pool)->serve(); }, this);
    }
    work(context);
    std::unique_lock lock(mutex_, std::defer_lock);
    lock_awake(lock);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    wanted_.fetch_sub(job.wanted, std::memory_order_relaxed);
    if (job.inside == 0) return;
    if (job.patient) {
        lock.unlock();
        wait_awake([&] { return job.inside.load(std::memory_order_relaxed) == 0; });
        lock_awake(lock);  // the helper that left last holds it until it touches the job no more
    }
    auto is_done = [&] { return job.inside == 0; };
    if (!waiting) return job.left.wait(lock, is_done);
    while (!job.left.wait_for(lock, between_questions, is_done)) {
        lock.unlock();
        waiting(context);
        lock_awake(lock);
    }
}

/// The job that wants most helpers, or null. Needs the lock.
ThreadPool::Job* ThreadPool::choose() {
    Job* best = nullptr;
    for (Job* job : jobs_) {
        if (job->wanted > 0 && (!best || job->wanted > best->wanted)) best = job;
    }
    return best;
}

void ThreadPool::take(Job& job, std::unique_lock<std::mutex>& lock) {
    --job.wanted;
    wanted_.fetch_sub(1, std::memory_order_relaxed);
    ++job.inside;
    lock.unlock();
    job.work(job.context);
    lock_awake(lock);
    if (--job.inside == 0) job.left.notify_one();
}

/// Looks out for a job; false where none came. The helper counts as there until it holds the lock
/// again, so a job that relies on it is seen before it leaves.
bool ThreadPool::poll(std::unique_lock<std::mutex>& lock) {
    ++polling_;
    lock.unlock();
    wait_awake([this] { return wanted_.load(std::memory_order_relaxed) > 0; });
    lock_awake(lock);
    --polling_;
    return choose() != nullptr;
}

/// What a helper does when it is called: jobs, until there is none for a while.
void ThreadPool::serve() {
    std::unique_lock lock(mutex_, std::defer_lock);
    lock_awake(lock);
    for (;;) {
        Job* job = choose();
        if (!job) return;
        bool patient = job->patient;
        take(*job, lock);
        if (!choose() && !(patient && poll(lock))) return;
    }
}

namespace {

/// Threads that are never joined: they belong to the process and may outlive static objects.
class OwnThreads final : public HelperSource {
  public:
    void summon(int count, void (*serve)(void*), void* context) override {
        std::lock_guard lock(mutex_);
        for (int k = 0; k < count; ++k) calls_.push_back({serve, context});
        for (int idle = sleeping_; idle < static_cast<int>(calls_.size()); ++idle) {
            std::thread([this] { live(); }).detach();
            ++sleeping_;
        }
        wake_.notify_all();
    }
    const char* name() const override { return "std"; }

  private:
    struct Call {
        void (*serve)(void*);
        void* context;
    };

    void live() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return !calls_.empty(); });
            Call call = calls_.back();
            calls_.pop_back();
            --sleeping_;
            lock.unlock();
            call.serve(call.context);
            lock.lock();
            ++sleeping_;
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Call> calls_;
    int sleeping_ = 0;  ///< threads waiting for a call, or on their way to
};

}  // namespace

std::unique_ptr<HelperSource> make_own_threads() { return std::make_unique<OwnThreads>(); }

}  // namespace unisono
