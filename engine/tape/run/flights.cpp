// Lists segments in flight and waits for them.
#include "tape/run/flights.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "tape/outside_engine.h"

namespace unisono {

void take_off(Entry& entry) {
    for_each_write(
        entry, [](View& v) { v.storage->take_off(v.storage->pending, v.storage->flight_writers); });
    for_each_read(
        entry, [](View& v) { v.storage->take_off(v.storage->readers, v.storage->flight_readers); });
}

void return_to_tape(Entry& entry) {
    for_each_write(entry, [](View& v) {
        v.storage->return_to_tape(v.storage->pending, v.storage->flight_writers);
    });
    for_each_read(entry, [](View& v) {
        v.storage->return_to_tape(v.storage->readers, v.storage->flight_readers);
    });
}

static bool communicates(const Entry& e) { return e.call && e.call->communicates(); }

void Flights::take_off(Runner& runner) {
    const std::vector<Entry>& segment = runner.segment();
    running_.push_back({++started_, &runner, std::this_thread::get_id(),
                        std::any_of(segment.begin(), segment.end(), communicates)});
    for (Entry& e : runner.segment()) unisono::take_off(e);
}

void Flights::land(Runner& runner) {
    std::erase_if(running_, [&](const Flight& f) { return f.runner == &runner; });
    tell_waiting();
}

void Flights::tell_waiting() {
    std::lock_guard lock(mutex_);
    ++ends_;
    ended_.notify_all();
}

bool Flights::hinder(std::span<Entry> entries, const std::uint8_t* marked) const {
    if (!abandoned_.empty()) return true;
    const bool busy = std::any_of(running_.begin(), running_.end(),
                                  [](const Flight& f) { return f.communicates; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (marked && !marked[i]) continue;
        Entry& e = entries[i];
        const bool waits =
            any_read(e, [](const View& v) { return v.storage->flight_writers > 0; }) ||
            any_write(e, [](const View& v) { return v.storage->in_flight(); });
        if (waits || (busy && communicates(e))) return true;
    }
    return false;
}

void Flights::wait(Tape& tape) {
    if (!abandoned_.empty()) return settle(tape);
    UNISONO_ASSERT(tape.hooks.leave_engine);  // else nothing takes off
    const std::uint64_t seen = ends_;
    while (ends_ == seen) {
        {
            OutsideEngine outside(tape.hooks);
            std::unique_lock lock(mutex_);
            ended_.wait_for(lock, std::chrono::milliseconds(100), [&] { return ends_ != seen; });
        }
        if (ends_ == seen && tape.hooks.interrupted && tape.hooks.interrupted()) {
            throw Error(ErrorKind::Interrupt,
                        "interrupted while waiting for another thread that computes what this one "
                        "needs; nothing is lost");
        }
    }
}

void Flights::wait_for_all(Tape& tape) {
    const std::uint64_t last = started_;
    while (!abandoned_.empty() || (!running_.empty() && running_.front().number <= last))
        wait(tape);
}

void Flights::read(Tape& tape, Storage* s, const std::function<void()>& work) {
    struct Landing {
        Flights& flights;
        Storage* storage;
        ~Landing() {
            storage->land(storage->flight_readers);
            flights.tell_waiting();
        }
    };
    ++s->flight_readers;
    Landing landing{*this, s};
    run_outside(tape.hooks, true, work);
}

void Flights::touch_layouts() const {
    auto touch = [](const View& v) { v.layout->touch(); };
    for (const Flight& f : running_) {
        for (const Entry& e : f.runner->segment()) {
            for_each_write(e, touch);
            for_each_read(e, touch);
        }
    }
}

void Flights::abandon() {
    new (&mutex_) std::mutex;
    new (&ended_) std::condition_variable;
    const std::thread::id self = std::this_thread::get_id();
    for (const Flight& f : running_) {
        if (f.thread != self)
            abandoned_.push_back(std::make_unique<Runner::Remains>(f.runner->abandon()));
    }
    std::erase_if(running_, [&](const Flight& f) { return f.thread != self; });
}

void Flights::give_up(Tape& tape, const Obstacle& obstacle) {
    std::erase_if(tape.entries_, [&](Entry& e) {
        std::shared_ptr<const Error> reason = obstacle(e);
        for_each_read(e, [&](const View& v) {
            if (!reason) reason = v.storage->poison;
        });
        if (!reason) return false;
        for_each_write(e, [&](const View& v) { v.storage->poison = reason; });
        tape.release(e, tape.flushes_);
        return true;
    });
}

/// What the lost threads were writing is invalid, and what depends on it; the rest of what they had
/// not begun is recorded again.
void Flights::settle(Tape& tape) {
    const auto reason = std::make_shared<const Error>(
        ErrorKind::Runtime,
        "fork: another thread was computing this array when the process was forked, so its "
        "contents are not valid in the child process; compute it again, or fork before other "
        "threads compute");
    for (auto& left : std::exchange(abandoned_, {})) {
        for (std::uint32_t i : left->unfinished) {
            left->done[i] = true;
            for_each_write(left->segment[i], [&](View& v) { v.storage->poison = reason; });
        }
        tape.put_back(left->segment, left->done, true);
    }
    give_up(tape, [](Entry&) { return nullptr; });
}

}  // namespace unisono
