// A pool of std::thread workers that serve any number of concurrent jobs.
//
// Jobs that want helpers lie in one list; a worker takes the job that wants most, and the caller,
// once its own share is done, withdraws what nobody took and waits for the workers inside. No task
// ever waits for another.
#include "core/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace unisono {

namespace {

struct Job {
    void (*work)(void*);
    void* context;
    int wanted;      // helpers still wanted
    int inside = 0;  // helpers at work
    std::condition_variable left{};
};

class ThreadPool final : public Executor {
  public:
    ~ThreadPool() override {
        {
            std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_all();
        for (std::thread& t : threads_) t.join();
    }

    void run(int helpers, void (*work)(void*), void* context) override {
        Job job{work, context, helpers};
        {
            std::lock_guard lock(mutex_);
            while (static_cast<int>(threads_.size()) < helpers)
                threads_.emplace_back([this] { serve(); });
            jobs_.push_back(&job);
        }
        if (helpers == 1) {
            wake_.notify_one();
        } else {
            wake_.notify_all();
        }
        work(context);
        std::unique_lock lock(mutex_);
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
        job.left.wait(lock, [&] { return job.inside == 0; });
    }

    const char* name() const override { return "std"; }

  private:
    /// The job that wants most helpers, or null. Needs the lock.
    Job* choose() {
        Job* best = nullptr;
        for (Job* job : jobs_) {
            if (job->wanted > 0 && (!best || job->wanted > best->wanted)) best = job;
        }
        return best;
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            Job* job = nullptr;
            wake_.wait(lock, [&] { return closing_ || (job = choose()); });
            if (!job) return;
            --job->wanted;
            ++job->inside;
            lock.unlock();
            job->work(job->context);
            lock.lock();
            if (--job->inside == 0) job->left.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Job*> jobs_;
    std::vector<std::thread> threads_;
    bool closing_ = false;
};

}  // namespace

std::unique_ptr<Executor> make_thread_pool() { return std::make_unique<ThreadPool>(); }

}  // namespace unisono
