// Numbers what streams are given, polls events, and orders streams by them.
#include "backends/cuda/queue.h"

#include <algorithm>
#include <thread>

#include "backends/cuda/device.h"
#include "core/error.h"

namespace unisono::cuda {

namespace {

constexpr std::size_t lanes_out_of_order = 4;
/// So many submissions without an event: waiting for one of them is waiting for at most so many.
constexpr std::uint64_t most_between_events = 64;
/// So many commands are held back: a GPU should not be idle meanwhile.
constexpr std::size_t most_held = 512;

std::int64_t host_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

CudaQueue::CudaQueue(CudaDevice& device, QueueOptions options)
    : device_(device),
      options_(options),
      lanes_(options.in_order ? 1 : lanes_out_of_order),
      launch_memory_(device, *this),
      graphs_(device) {
    for (Lane& lane : lanes_)
        check(device_.api().stream_create(&lane.stream, stream_non_blocking), "cuStreamCreate");
}

CudaQueue::CudaQueue(CudaDevice& device, Stream stream)
    : device_(device), lanes_(1), launch_memory_(device, *this), graphs_(device) {
    lanes_.front().stream = stream;
}

unisono::Device& CudaQueue::device() { return device_; }

void CudaQueue::check(Result result, const char* call) const { device_.check(result, call); }

// ---- Submissions

/// What the thread's next command comes behind. The driver has what other queues were given of it.
std::span<const Completion> CudaQueue::after_which() const {
    const QueueScope* scope = QueueScope::of(device_);
    if (!scope || &scope->queue() != this) return {};
    for (const Completion& c : scope->after()) {
        if (c.queue && c.queue != this) static_cast<CudaQueue*>(c.queue)->hand_over(c.number);
    }
    return scope->after();
}

/// The order of the queue must not be held before others hand over: they may wait for this one.
CudaQueue::Turn::Turn(CudaQueue& queue)
    : queue_(queue), after_(queue.after_which()), order_(queue.order_) {
    queue.give_held();
    lane_ = queue.choose_lane(after_);
    queue.let_lane_wait(lane_, after_);
    if (queue.options_.profiling) queue.note_first(lane_);
}

std::uint64_t CudaQueue::Turn::end() {
    std::uint64_t number = 0;
    {
        std::lock_guard lock(queue_.mutex_);
        number = ++queue_.submitted_;
        queue_.note_handed_over(lane_);
    }
    queue_.advance_scope(number);
    return number;
}

void CudaQueue::let_lane_wait(std::size_t lane, std::span<const Completion> after) {
    for (const Completion& c : after) {
        if (!c.queue || (c.queue == this && options_.in_order)) continue;
        static_cast<CudaQueue*>(c.queue)->let_wait(lanes_[lane].stream, c.number);
    }
}

void CudaQueue::advance_scope(std::uint64_t number) {
    QueueScope* scope = QueueScope::of(device_);
    if (scope && &scope->queue() == this) scope->advance(number);
}

/// The driver has all submissions now, the last one in that lane; the caller holds mutex_.
void CudaQueue::note_handed_over(std::size_t lane) {
    lanes_[lane].last = submitted_;
    handed_over_.store(submitted_, std::memory_order_release);
    const std::uint64_t marked = marks_.empty() ? passed_ : marks_.back().number;
    if (options_.in_order && submitted_ < marked + most_between_events) return;
    mark_lane(submitted_, lane);
    constexpr std::size_t few_events = 8;
    if (marks_.size() >= few_events) drop_passed();
}

// ---- What is held back

void CudaQueue::add(const Command& command, std::span<const std::uint64_t> values) {
    SegmentScope* segment = SegmentScope::current();
    if (!segment || !options_.in_order || options_.profiling) {
        const CudaDevice::Entered entered(device_);
        submit(call_of(command),
               [&](Stream stream) { return give(device_.api(), command, values, stream); });
        return;
    }
    device_.require_usable();
    device_.require_present();
    const auto after = after_which();
    std::uint64_t number = 0;
    bool is_full = false;
    {
        std::lock_guard order(order_);
        if (std::any_of(after.begin(), after.end(),
                        [&](const Completion& c) { return c.queue && c.queue != this; })) {
            // What is held back waits, too, which nobody can have it wait for.
            const CudaDevice::Entered entered(device_);
            let_lane_wait(0, after);
        }
        held_.add(command, values);
        is_full = held_.size() >= most_held;
        segment->add(*this);
        std::lock_guard lock(mutex_);
        number = ++submitted_;
    }
    advance_scope(number);
    if (is_full) hand_over();
}

void CudaQueue::hand_over() {
    std::lock_guard order(order_);
    give_held();
}

void CudaQueue::hand_over(std::uint64_t number) {
    if (number > handed_over_.load(std::memory_order_acquire)) hand_over();
}

/// The caller holds order_. What cannot be given is lost, and the device with it: others may have
/// been told already that they come behind it.
void CudaQueue::give_held() {
    if (held_.empty()) return;
    const CommandList given = std::exchange(held_, {});
    try {
        const CudaDevice::Entered entered(device_);
        const char* failed = "";
        const Result result = graphs_.run(given, lanes_.front().stream, failed);
        if (result != 0) device_.lose(result);
        check(result, failed);
        std::lock_guard lock(mutex_);
        note_handed_over(0);
        for (auto& graph : graphs_.take_dropped()) kept_.emplace_back(submitted_, std::move(graph));
    } catch (const Error&) {
        handed_over_.store(submitted_, std::memory_order_release);
        throw;
    }
}

/// What follows one submission goes to the same stream, where that is the last one there.
std::size_t CudaQueue::choose_lane(std::span<const Completion> after) {
    if (lanes_.size() == 1) return 0;
    for (const Completion& c : after) {
        if (c.queue != this) continue;
        for (std::size_t k = 0; k < lanes_.size(); ++k) {
            if (lanes_[k].last == c.number) return k;
        }
    }
    return next_lane_++ % lanes_.size();
}

void CudaQueue::keep(std::shared_ptr<const void> object) {
    std::lock_guard lock(mutex_);
    if (passed_ < submitted_) kept_.emplace_back(submitted_, std::move(object));
}

// ---- Events; the caller of these holds mutex_

Event CudaQueue::mark_lane(std::uint64_t number, std::size_t lane) {
    const Event event = device_.take_event();
    check(device_.api().event_record(event, lanes_[lane].stream), "cuEventRecord");
    marks_.push_back({number, event, lane});
    return event;
}

/// The event that tells that a submission, which was not seen to be done, is.
Event CudaQueue::mark_behind(std::uint64_t number) {
    if (Mark* found = find_mark(number)) return found->event;
    return mark_lane(handed_over_, 0);
}

CudaQueue::Mark* CudaQueue::find_mark(std::uint64_t number) {
    const auto found =
        std::lower_bound(marks_.begin(), marks_.end(), number,
                         [](const Mark& m, std::uint64_t n) { return m.number < n; });
    return found == marks_.end() ? nullptr : &*found;
}

/// On a lost device all work has ended; who reads what it made is told.
bool CudaQueue::has_ended(Result result, const char* call) {
    if (result == not_ready) return false;
    if (!device_.note_lost(result)) check(result, call);
    return true;
}
bool CudaQueue::is_done(Mark& mark) {
    if (!mark.is_done)
        mark.is_done = has_ended(device_.api().event_query(mark.event), "cuEventQuery");
    return mark.is_done;
}
bool CudaQueue::is_idle(Stream stream) {
    return has_ended(device_.api().stream_query(stream), "cuStreamQuery");
}

void CudaQueue::drop_passed() {
    while (!marks_.empty() && is_done(marks_.front())) {
        passed_ = marks_.front().number;
        device_.give_event(marks_.front().event);
        marks_.pop_front();
    }
    while (!kept_.empty() && kept_.front().first <= passed_) kept_.pop_front();
}

// ---- What is done

std::uint64_t CudaQueue::submitted() {
    std::lock_guard lock(mutex_);
    return submitted_;
}

bool CudaQueue::has_passed(std::uint64_t number) { return is_done(number, false); }

bool CudaQueue::is_done(std::uint64_t number, bool waits) {
    if (!device_.is_usable()) return false;
    if (device_.is_lost()) return true;
    try {
        if (waits) hand_over(number);
        return poll(number, waits);
    } catch (const Error&) {
        if (device_.is_lost()) return true;
        throw;
    }
}

/// Events cost time: who asks in passing is told "no" some times before the driver is asked, or an
/// event is recorded.
bool CudaQueue::poll(std::uint64_t number, bool waits) {
    constexpr int most_polls = 8;
    std::lock_guard lock(mutex_);
    if (number <= passed_) return true;
    if (number > handed_over_) return false;
    if (!waits) ++polls_;
    const bool asks = waits || passing_.ask(number, submitted_);
    if (options_.in_order && !asks) return false;
    drop_passed();
    if (number <= passed_) return true;
    if (!options_.in_order) return is_done(*find_mark(number));
    if (!marks_.empty()) return false;  // what comes before is not done
    if (!waits && polls_ < most_polls) return false;
    polls_ = 0;
    const CudaDevice::Entered entered(device_);
    // An event would be done only later.
    if (waits && is_idle(lanes_.front().stream))
        passed_ = handed_over_;
    else
        mark_lane(handed_over_, 0);
    drop_passed();
    return number <= passed_;
}

/// The processor is free while a GPU computes: asking often costs nothing but its power, and asking
/// seldom would add to short kernels. The pauses grow with the time waited.
bool CudaQueue::wait_for(std::uint64_t number, std::chrono::milliseconds most) {
    using Clock = std::chrono::steady_clock;
    device_.require_usable();
    const auto begin = Clock::now();
    while (!is_done(number, true)) {
        const auto waited = Clock::now() - begin;
        if (waited >= most) return false;
        if (waited > std::chrono::microseconds(50)) {
            std::this_thread::sleep_for(
                std::min<Clock::duration>(waited / 16, std::chrono::milliseconds(1)));
        } else {
            std::this_thread::yield();
        }
    }
    return true;
}

/// The stream may be of another device.
void CudaQueue::let_wait(Stream stream, std::uint64_t number) {
    const CudaDevice::Entered entered(device_);
    std::lock_guard lock(mutex_);
    drop_passed();
    if (number <= passed_) return;
    check(device_.api().stream_wait_event(stream, mark_behind(number), 0), "cuStreamWaitEvent");
}

void CudaQueue::let_wait(Stream stream) {
    std::lock_guard lock(mutex_);
    drop_passed();
    for (const Lane& lane : lanes_) {
        if (lane.last <= passed_) continue;
        check(device_.api().stream_wait_event(stream, mark_behind(lane.last), 0),
              "cuStreamWaitEvent");
    }
}

void CudaQueue::come_behind(Stream stream) {
    std::lock_guard order(order_);
    give_held();
    const Event event = device_.take_event();
    check(device_.api().event_record(event, stream), "cuEventRecord");
    for (const Lane& lane : lanes_)
        check(device_.api().stream_wait_event(lane.stream, event, 0), "cuStreamWaitEvent");
    device_.give_event(event);  // who waits for it waits for what it was
}

// ---- Order between queues

/// Waits for all that the queue was given so far, in order or not.
std::uint64_t CudaQueue::submit_marker(Event timed) {
    const CudaDevice::Entered entered(device_);
    QueueScope apart(*this, {});
    return submit("cuEventRecord", [&](Stream stream) {
        if (!options_.in_order) let_wait(stream);
        return timed ? device_.api().event_record(timed, stream) : 0;
    });
}

std::uint64_t CudaQueue::mark() {
    device_.require_usable();
    return options_.in_order ? submitted() : submit_marker(nullptr);
}

std::uint64_t CudaQueue::fence() {
    device_.require_usable();
    return submit_marker(nullptr);
}

void CudaQueue::wait_on(const Completion& c) {
    if (!c.queue || (c.queue == this && options_.in_order) || c.is_done()) return;
    auto* other = dynamic_cast<CudaQueue*>(c.queue);
    if (!other) return c.wait();
    other->hand_over(c.number);
    std::lock_guard order(order_);
    give_held();
    const CudaDevice::Entered entered(other->device_);
    for (const Lane& lane : lanes_) other->let_wait(lane.stream, c.number);
}

// ---- Times

/// Times begin with the first submission since the last record.
void CudaQueue::note_first(std::size_t lane) {
    if (since_.first) return;
    since_.queued = host_ns();
    since_.first = device_.make_timed_event();
    check(device_.api().event_record(since_.first, lanes_[lane].stream), "cuEventRecord");
    since_.submit = host_ns();
}

std::uint64_t CudaQueue::record() {
    device_.require_usable();
    if (!options_.profiling) return mark();
    const CudaDevice::Entered entered(device_);
    const Event last = device_.make_timed_event();
    const std::uint64_t number = submit_marker(last);
    std::lock_guard order(order_);
    Recorded made = std::exchange(since_, {});
    made.last = last;
    std::lock_guard lock(mutex_);
    recorded_[number] = made;
    return number;
}

QueueTimes CudaQueue::times(std::uint64_t number) {
    if (!options_.profiling) return Queue::times(number);
    const CudaDevice::Entered entered(device_);
    std::lock_guard lock(mutex_);
    const Recorded& r = recorded_.at(number);
    const std::int64_t start = device_.ns_of(r.first), end = device_.ns_of(r.last);
    return {std::min(r.queued, start), std::min(r.submit, start), start, std::max(start, end)};
}

void CudaQueue::forget_times(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    const auto found = recorded_.find(number);
    if (found == recorded_.end()) return;
    device_.give_timed_event(found->second.first);
    device_.give_timed_event(found->second.last);
    recorded_.erase(found);
}

}  // namespace unisono::cuda
