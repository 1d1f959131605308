// One detached thread a routine; it and the caller share the job, and whoever is last drops it.
#include "core/threads/run_abandonable.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "core/error.h"
#include "core/threads/run_apart.h"
#include "core/threads/threads.h"

namespace unisono {

namespace {

struct Job {
    std::function<void()> work;
    int threads = thread_count();  ///< the caller's: the setting may hold for its thread only
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    std::atomic<bool> abandoned{false};
};

std::atomic<int> abandoned_jobs{0};

/// Libraries release their work space when the process ends, and a routine that still runs would
/// crash: the process then ends without them.
void end_beside_abandoned_jobs(int status, void*) {
    if (abandoned_jobs.load() == 0) return;
    std::fflush(nullptr);
    _exit(status);
}

void* run_job(void* given) {
    std::unique_ptr<std::shared_ptr<Job>> held(static_cast<std::shared_ptr<Job>*>(given));
    Job& job = **held;
    {
        ThreadCountScope threads(job.threads);
        CancelScope cancel([](void* j) { return static_cast<Job*>(j)->abandoned.load(); }, &job);
        job.work();
    }
    std::unique_lock lock(job.mutex);
    job.ended = true;
    if (job.abandoned) {
        job.work = nullptr;  // its memory goes before the process may end as usual
        --abandoned_jobs;
    } else {
        job.changed.notify_one();
    }
    lock.unlock();
    return nullptr;
}

void abandon(Job& job) {
    job.abandoned = true;
    ++abandoned_jobs;
    static const int registered =
        on_exit(end_beside_abandoned_jobs, nullptr) |
        pthread_atfork(nullptr, nullptr, [] { abandoned_jobs = 0; });  // a child has no such thread
    static_cast<void>(registered);
}

bool start(std::shared_ptr<Job> job) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    auto* given = new std::shared_ptr<Job>(std::move(job));
    pthread_t thread;
    const bool started = pthread_attr_setstacksize(&attributes, usual_stack) == 0 &&
                         pthread_create(&thread, &attributes, run_job, given) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_detach(thread);
    } else {
        delete given;
    }
    return started;
}

}  // namespace

void run_abandonable(std::function<void()> work, CancelScope::Asks asks, void* context) {
    auto job = std::make_shared<Job>();
    job->work = std::move(work);
    if (!start(job)) return job->work();
    std::unique_lock lock(job->mutex);
    const auto has_ended = [&] { return job->ended; };
    while (!job->changed.wait_for(lock, std::chrono::milliseconds(50), has_ended)) {
        lock.unlock();
        const bool stop = asks(context);
        lock.lock();
        if (!stop) continue;
        if (!job->ended) abandon(*job);
        fail(ErrorKind::Interrupt, "interrupted; the result of the routine is dropped");
    }
}

}  // namespace unisono
