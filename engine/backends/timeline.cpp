// Keeps the spans, and waits for the ends of work on devices.
#include "backends/timeline.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "backends/backend.h"
#include "core/threads/fork.h"

namespace unisono::timeline {

std::atomic<bool> records{false};

namespace {

std::int64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

struct Kept {
    ProcessMutex mutex;
    std::vector<Span> spans;
    std::int64_t started = 0;
    unsigned forks = 0;  ///< of the process that started it: a child of fork keeps nothing
};

Kept& kept() {
    static auto& made = *new Kept;
    return made;
}

void keep(Span&& span) {
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    if (!is_on() || k.forks != LongMutex::forks()) return;
    span.begin -= k.started;
    span.end -= k.started;
    k.spans.push_back(std::move(span));
}

/// Waits for what one queue was given, in its order.
class Follower {
  public:
    Follower(Queue& queue, std::int64_t number)
        : queue_(queue), number_(number), thread_([this] { follow(); }) {}
    ~Follower() {
        {
            std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    bool is_of(const Queue& queue) const { return &queue_ == &queue; }
    bool is_of_device(const Device& device) const { return &queue_.device() == &device; }

    void add(Span span, std::uint64_t submission) {
        span.device = queue_.device().info().name;
        span.lane = number_;
        {
            std::lock_guard lock(mutex_);
            waiting_.push_back({std::move(span), submission});
        }
        changed_.notify_one();
    }

  private:
    struct Item {
        Span span;
        std::uint64_t submission;
    };

    void follow() {
        std::int64_t last_end = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            Item item = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            wait(item.submission);
            item.span.end = now();
            item.span.begin = std::max(item.span.begin, last_end);
            last_end = item.span.end;
            keep(std::move(item.span));
            lock.lock();
        }
    }
    /// A device that is lost has ended, too.
    void wait(std::uint64_t submission) noexcept try {
        while (!queue_.wait_for(submission, std::chrono::milliseconds(100))) {
        }
    } catch (...) {
    }

    Queue& queue_;
    const std::int64_t number_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> waiting_;
    bool ends_ = false;
    std::thread thread_;  ///< last: it uses the others
};

struct Followers {
    LongMutex mutex;
    std::vector<std::unique_ptr<Follower>> all;
    unsigned forks = LongMutex::forks();

    /// With the mutex held: in a child of fork the threads of the parent's do not exist, and they
    /// are left alone.
    void renew() {
        if (std::exchange(forks, LongMutex::forks()) == LongMutex::forks()) return;
        for (auto& lost : all) static_cast<void>(lost.release());
        all.clear();
    }
};

Followers& followers() {
    static auto& made = *new Followers;
    return made;
}

Follower& follower_of(Queue& queue) {
    Followers& f = followers();
    std::lock_guard lock(f.mutex);
    f.renew();
    for (const auto& known : f.all) {
        if (known->is_of(queue)) return *known;
    }
    const auto same_device = std::count_if(f.all.begin(), f.all.end(), [&](const auto& known) {
        return known->is_of_device(queue.device());
    });
    return *f.all.emplace_back(std::make_unique<Follower>(queue, same_device));
}

}  // namespace

std::string_view text(Kind kind) {
    switch (kind) {
        case Kind::Kernel: return "kernel";
        case Kind::Call: return "call";
        case Kind::Copy: return "copy";
        case Kind::Launch: return "launch";
        case Kind::Compile: return "compile";
        case Kind::Flush: return "flush";
        case Kind::Submit: return "submit";
    }
    return "";
}

void start() {
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    if (is_on() && k.forks == LongMutex::forks())
        fail(ErrorKind::Value,
             "profile: another profile is running in this process; expected one at a time; leave "
             "its with block first");
    k.spans.clear();
    k.started = now();
    k.forks = LongMutex::forks();
    records.store(true, std::memory_order_relaxed);
}

std::vector<Span> stop() {
    std::vector<std::unique_ptr<Follower>> ended;
    {
        Followers& f = followers();
        std::lock_guard lock(f.mutex);
        f.renew();
        ended.swap(f.all);
    }
    ended.clear();  // each after its last span
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    records.store(false, std::memory_order_relaxed);
    std::vector<Span> spans = std::move(k.spans);
    k.spans = {};
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    return spans;
}

void Scope::begin(Kind kind, std::string name, SourcePlace place, std::int64_t bytes) {
    static thread_local const std::int64_t thread = gettid();
    span_ = std::make_unique<Span>(
        Span{kind, std::move(name), {}, thread, std::move(place), now(), 0, bytes});
}

void Scope::follow(const Completion& done) {
    if (!span_ || !done.queue) return;
    follower_of(*done.queue).add(*span_, done.number);
    span_->kind = Kind::Submit;
}

void Scope::close() noexcept try {
    span_->end = now();
    keep(std::move(*span_));
} catch (...) {  // no memory: the span is lost, the work is not
}

}  // namespace unisono::timeline
