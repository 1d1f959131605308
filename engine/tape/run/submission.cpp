// Orders steps of devices by the memory that they use, and finds out what went wrong.
#include "tape/run/submission.h"

#include <algorithm>
#include <utility>

#include "backends/stream_source.h"
#include "backends/timeline.h"
#include "tape/block.h"
#include "tape/outside_engine.h"
#include "tape/tape.h"

namespace unisono {

LateFault::LateFault(Completion done, std::unique_ptr<const Check> check, const LineRef& line,
                     std::vector<std::shared_ptr<LateFault>> before)
    : done_(done), check_(std::move(check)), before_(std::move(before)) {
    const HostHooks& hooks = Tape::current().hooks;
    if (!check_ || !line.code || !hooks.retain_line) return;
    hooks.retain_line(line.code);
    line_ = line;
    release_line_ = hooks.release_line;
}

LateFault::~LateFault() {
    if (release_line_) release_line_(line_.code);
}

bool LateFault::has_failed() {
    if (is_known_) return failure_ != nullptr;
    is_known_ = true;
    for (const auto& fault : std::exchange(before_, {})) {
        if (!failure_ && fault->has_failed()) failure_ = fault->failure_;
    }
    if (failure_ || !check_) return failure_ != nullptr;
    try {
        (*check_)();
    } catch (const Error& error) {
        const auto decode = Tape::current().hooks.decode_line;
        const bool has_place = error.place().line != 0 || !line_.code || !decode;
        failure_ = std::make_shared<Failure>(Failure{has_place ? error : error.at(decode(line_))});
        is_own_ = true;
    }
    check_.reset();
    return is_own_;
}

void LateFault::raise() {
    if (!has_failed()) return;
    failure_->is_met = true;
    throw Error(failure_->error);
}

static void note_line(QueueUse& use, const LineRef& line) {
    const HostHooks& hooks = Tape::current().hooks;
    if (line.code && hooks.retain_line) hooks.retain_line(line.code);
    if (use.line.code && hooks.release_line) hooks.release_line(use.line.code);
    use.line = line;
}

QueueUse& use_of(Storage& s) {
    if (!s.use) s.use.reset(new QueueUse);
    return *s.use;
}

void begin_outside_use(Storage& s) {
    use_of(s).is_known_outside = true;
    auto wait = [&](const Completion& c) {
        if (c.queue != s.device->own_queue()) c.wait();
    };
    wait(s.use->written);
    std::for_each(s.use->read.begin(), s.use->read.end(), wait);
}

void note_outside_use(Storage& s) {
    Queue* own = s.device->own_queue();
    if (!own) return;
    Completion& written = use_of(s).written;
    if (written.queue && written.queue != own)
        written.wait();  // the fence is of our own queue alone
    written = {own, own->fence()};
}

void FreeQueueUse::operator()(QueueUse* use) const noexcept {
    note_line(*use, {});
    delete use;
}

/// A program that runs ahead of a device holds the memory of all that it has submitted.
void Submission::limit_backlog() {
    constexpr std::size_t most_steps = 1024;
    const std::int64_t memory = queue_->device().info().memory_bytes;
    const std::int64_t most_bytes = std::max<std::int64_t>(std::int64_t{1} << 28, memory / 8);
    Places& places = current<Places>();
    auto& steps = places.submitted_;
    auto drop = [&] {
        places.submitted_bytes_ -= steps.front().bytes;
        steps.pop_front();
    };
    // Asking takes a lock of the queue's: not for each of many small steps.
    constexpr std::size_t steps_between = 16;
    if (steps.size() % steps_between == 0 || places.submitted_bytes_ > most_bytes / 2) {
        while (!steps.empty() && steps.front().completion.is_done()) drop();
    }
    while (steps.size() > most_steps || places.submitted_bytes_ > most_bytes) {
        backlog_ = steps.front().completion;
        drop();
    }
}

/// Whether queues of one wait for events of the other.
static bool know_events(Device& a, Device& b) {
    if (&a == &b) return true;
    return dynamic_cast<StreamSource*>(&a) && dynamic_cast<StreamSource*>(&b);
}

void Submission::wait_for(const Completion& c) {
    if (!queue_) return;
    const bool is_in_order = c.queue == queue_ && queue_->options().in_order;
    if (is_in_order || c.is_done()) return;
    (know_events(c.queue->device(), queue_->device()) ? after_ : elsewhere_).push_back(c);
}

/// Before work on memory that others see: what they gave the device to do with it comes first.
static void come_behind_others(Storage& s) {
    if (!s.shared_outside()) return;
    if (s.exports) note_outside_use(s);
    if (MemoryBlock* block = block_of(s)) block->wait_for_others();
}

/// Whether others use the memory by queues of their own, or the host does, as soon as a step on it
/// returns.
static bool must_end_at_once(const Storage* s) { return s->shared_outside() && block_of(*s); }

void Submission::reads(Storage& s) {
    if (s.addressable()) return;
    come_behind_others(s);
    read_.push_back(&s);
    if (!s.use) return;
    wait_for(s.use->written);
    if (s.use->fault) faults_.push_back({&s, s.use->fault});
}

void Submission::writes(Storage& s, bool is_whole) {
    if (s.addressable()) return;
    come_behind_others(s);
    written_.push_back(&s);
    bytes_written_ += s.bytes;
    if (!s.use) return;
    wait_for(s.use->written);
    for (const Completion& c : s.use->read) wait_for(c);
    if (s.use->fault && !is_whole) faults_.push_back({&s, s.use->fault});
}

std::vector<std::shared_ptr<LateFault>> Submission::faults_for(const Storage& written,
                                                               const Needs& needs) const {
    std::vector<std::shared_ptr<LateFault>> found;
    for (const FaultOf& f : faults_)
        if (f.storage == &written || !needs || needs(written, *f.storage)) found.push_back(f.fault);
    return found;
}

std::shared_ptr<LateFault> Submission::end(std::unique_ptr<const LateFault::Check> check,
                                           const LineRef& line, const Needs& needs) {
    if (!last_.queue) return nullptr;  // it had nothing to do
    std::erase_if(faults_,
                  [](const auto& f) { return f.fault->is_done() && !f.fault->has_failed(); });
    // What may fail itself belongs to all that the step writes.
    std::shared_ptr<LateFault> fault;
    const bool is_common = check || !needs;
    if (is_common && (check || !faults_.empty())) {
        std::vector<std::shared_ptr<LateFault>> before;
        for (FaultOf& f : faults_) before.push_back(std::move(f.fault));
        faults_.clear();
        fault = std::make_shared<LateFault>(last_, std::move(check), line, std::move(before));
    }
    Places& places = current<Places>();
    places.submitted_.push_back({last_, bytes_written_});
    places.submitted_bytes_ += bytes_written_;
    for (Storage* s : read_) {
        auto& read = use_of(*s).read;
        std::erase_if(read, [&](const Completion& c) {
            return c.queue == last_.queue && c.queue->options().in_order;
        });
        if (read.size() > 16) std::erase_if(read, [](const auto& c) { return c.is_done(); });
        read.push_back(last_);
    }
    for (Storage* s : written_) {
        QueueUse& use = use_of(*s);
        use.written = last_;
        use.read.clear();
        use.fault = is_common ? fault : nullptr;
        if (!is_common && !faults_.empty()) {
            auto before = faults_for(*s, needs);
            if (!before.empty()) {
                use.fault = std::make_shared<LateFault>(last_, nullptr, line, std::move(before));
                fault = use.fault;  // of one of them
            }
        }
        note_line(use, line);
    }
    const bool ends_at_once = std::any_of(read_.begin(), read_.end(), must_end_at_once) ||
                              std::any_of(written_.begin(), written_.end(), must_end_at_once);
    if (ends_at_once) run_outside(Tape::current().hooks, false, [&] { last_.wait(); });
    return fault;
}

void Submission::raise_faults() {
    for (const FaultOf& f : faults_) f.fault->raise();
}

void wait_for_memory(Storage& s) {
    MemoryBlock* block = block_of(s);
    if (!s.use && !block) return;
    Tape::current().read_outside(&s, [&] {
        if (block) block->wait_for_others();
        if (s.use) s.use->written.wait();
    });
    if (s.use && s.use->fault) s.use->fault->raise();
}

void read_memory(Storage& s, void* to, std::int64_t offset, std::int64_t bytes) {
    if (s.exports) note_outside_use(s);
    timeline::Scope span;
    if (timeline::is_on())
        span.begin(timeline::Kind::Copy, "to the host from " + s.device->info().name, {}, bytes);
    MemoryBlock* block = s.shared_outside() ? block_of(s) : nullptr;
    Tape::current().read_outside(&s, [&] {
        if (block) block->wait_for_others();
        if (s.use) s.use->written.wait();
        QueueScope scope(*s.device->copy_queue(), {});
        s.device->copy_out(to, s.memory, offset, bytes);
    });
    if (s.use && s.use->fault) s.use->fault->raise();
}

}  // namespace unisono
