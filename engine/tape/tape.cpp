// Appends entries, decides where the tape is cut, and takes segments off it.
#include "tape/tape.h"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/host/shared.h"
#include "backends/timeline.h"
#include "context/context.h"
#include "core/limits.h"
#include "core/settings.h"
#include "core/threads/fork.h"
#include "tape/outside_engine.h"
#include "tape/plan/bands.h"
#include "tape/run/flights.h"
#include "tape/windows.h"

namespace unisono {

namespace {
constexpr std::size_t log_limit = 64;

/// Of a GPU: it computes that in about the time in which the host records a long segment, and takes
/// such a segment in one piece.
constexpr std::int64_t flush_elements_of_gpu = 16 * limits::flush_elements;
constexpr std::size_t flush_statements_of_gpu = 4 * limits::flush_statements;

bool is_on_gpu(const Storage& s) {
    return s.device && !s.addressable() && s.device->info().kind == "gpu";
}

/// All tapes of the process, for a child of fork.
struct Tapes {
    ProcessMutex mutex;
    std::vector<Tape*> all;

    static Tapes& instance() {
        static Tapes& tapes = *new Tapes;
        return tapes;
    }
};
}  // namespace

const char* text(FlushReason reason) {
    switch (reason) {
        case FlushReason::Read: return "a value was read";
        case FlushReason::Write: return "the host writes memory in use";
        case FlushReason::Eval: return "evaluation was requested";
        case FlushReason::Eager: return "eager mode";
        case FlushReason::Shared: return "the memory is shared with another library";
        case FlushReason::Work: return "an in-place statement ended with much work pending";
        case FlushReason::Length: return "the tape was long";
        case FlushReason::Launch: return "a compiled function takes the array";
        case FlushReason::Check: return "a statement checks its data";
        case FlushReason::Count: return "the shape of a result depends on data";
        case FlushReason::Queue: return "a queue is given its work";
        case FlushReason::Exit: return "the program ends";
    }
    return "";
}

Tape::Tape()
    : eager_(setting("eager") == "1"),
      finder_(std::make_unique<PlanFinder>()),
      flights_(std::make_unique<Flights>()) {
    entries_.reserve(limits::flush_always + 8);
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
        for (Tape* tape : Tapes::instance().all) {
            tape->flights_->abandon();
            tape->is_forked_ = true;
        }
    });
    static_cast<void>(registered);
    Tapes& tapes = Tapes::instance();
    std::lock_guard lock(tapes.mutex);
    tapes.all.push_back(this);
}

Tape::Tape(Windows& windows) : Tape() {
    windows_ = &windows;
    recorded_scopes_ = 1;  // nothing runs at once
    eager_ = true;         // each entry asks whether it ends a window
}

Tape::~Tape() {
    {
        Tapes& tapes = Tapes::instance();
        std::lock_guard lock(tapes.mutex);
        std::erase(tapes.all, this);
    }
    for (Entry& e : entries_) release(e, flushes_);
}

void Tape::record_apart(const Device& device, Tape* tape) {
    std::erase_if(apart_, [&](const auto& place) { return place.first == &device; });
    if (tape) apart_.emplace_back(&device, tape);
}

Tape& Tape::apart(const Device* device) {
    for (const auto& [place, tape] : apart_) {
        if (place != device) continue;
        // Field by field, as it was written just now: a wider load would wait for it.
        tape->line.code = line.code;
        tape->line.offset = line.offset;
        tape->hooks = hooks;
        return *tape;
    }
    return *this;
}

/// Of a tape that lies apart, after an entry was recorded.
void Tape::note_apart() {
    try {
        if (entries_.size() == 1 && windows_->forward(entries_.back())) {
            release(entries_.back(), 0);
            return entries_.clear();
        }
        windows_->check(entries_.back());
    } catch (...) {
        release(entries_.back(), 0);
        entries_.pop_back();
        throw;
    }
    if (windows_->ends_window(entries_)) end_window();
}

/// Of a tape that lies apart: what was recorded becomes entries of the context's tape. An error
/// belongs to all that should have been written.
void Tape::end_window() {
    std::vector<Entry> window;
    if (!spare_.empty()) {
        window = std::move(spare_.back());
        spare_.pop_back();
    }
    window.swap(entries_);
    pending_work_ = 0;
    const LineRef outer = current().line;
    // Entries do not count their references to layouts, and what runs meanwhile may collect those.
    struct Kept {
        std::vector<const Layout*> layouts;
        ~Kept() {
            for (const Layout* layout : layouts) layout->release();
        }
    } kept;
    const auto keep = [&](const View& v) {
        v.layout->retain();
        kept.layouts.push_back(v.layout);
    };
    for (const Entry& e : window) {
        for_each_write(e, keep);
        for_each_read(e, keep);
    }
    try {
        windows_->run(window, [&](Entry& e) { release(e, 0); });
    } catch (const Error& error) {
        const auto reason = std::make_shared<const Error>(error);
        for (const Entry& e : window)
            for_each_write(e, [&](const View& v) { v.storage->poison = reason; });
        current().line = outer;
        for (Entry& e : window) release(e, 0);
        throw;
    }
    current().line = outer;
    window.clear();
    if (spare_.size() < 4) spare_.push_back(std::move(window));
}

void Tape::set_eager(bool on) {
    if (on && !entries_.empty()) flush_all(FlushReason::Eager);
    eager_ = on;
    read_settings();
}

void Tape::read_settings() {
    generation_ = settings_generation();
    const std::string& executor = setting("executor");
    eager_small_ = !eager_ && debug_level() == 0 && !timeline::is_on() &&
                   (executor == "auto" || executor == "block");
}

void Tape::cut() {
    // The statement that ended has let go of its temporaries; operands of the next entry have
    // handles of their own.
    cut_before_next_ = false;
    flush_all(FlushReason::Work);
}

/// Whether a written view uses less than half of the cache lines that it touches, and there are
/// many.
static bool is_sparse(const View& v) {
    constexpr std::int64_t line = 64, many = 1 << 10;
    if (v.layout->size() < many) return false;
    const Dims shape = v.layout->shape(), strides = v.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] > 1 && 2 * std::abs(strides[axis]) * size_of(v.dtype) <= line) return false;
    }
    return true;
}

/// Whether in-place statements on large arrays are pending that wait for more of the kind, which
/// may share passes over memory with them (run/bands/band_schedule.h). Of a loop whole iterations
/// wait, so that its plans repeat.
static bool wait_for_bands(std::span<const Entry> entries, bool in_window) {
    // Memory that only pending statements hold goes as soon as they have run.
    constexpr std::size_t most_held = 3;
    const Storage* held[most_held];
    std::size_t held_count = 0;
    const LineRef* first = nullptr;
    std::int64_t statements = 0, large = 0;
    std::int64_t period = 0;  // of a loop: statements of an iteration
    for (const Entry& e : entries) {
        // What a call gives waits for nobody, but for messages, which end runs of kernels anyway.
        if (e.call && !in_window) return false;
        bool holds_much = false;
        for_each_read(e, [&](const View& v) {
            const Storage* s = v.storage;
            if (!s->memory.handle || s->refs > s->pending + s->readers ||
                std::find(held, held + held_count, s) != held + held_count)
                return;
            holds_much = holds_much || held_count == most_held;
            if (!holds_much) held[held_count++] = s;
        });
        if (holds_much) return false;
        if (e.call || (!e.out.storage->memory.handle && e.out.storage->pending < 2)) continue;
        const Storage& s = *e.out.storage;
        if (!s.addressable() && !shared_cache(*s.device) && !has_own_memory(*s.device))
            return false;
        if (!first) {
            first = &e.line;
        } else if (period == 0 && e.line.code == first->code && e.line.offset == first->offset) {
            period = statements;
        }
        ++statements;
        large += e.out.layout->size() * size_of(e.out.dtype) >= limits::waiting_bytes;
    }
    if (large == 0 || in_window) return large > 0;
    if (period == 0) return large < limits::waiting_without_loop;
    return large < limits::waiting_statements || statements % period != 0;
}

/// Whether the place to cut is behind an in-place statement.
bool Tape::is_full(const View& out) {
    if (is_on_gpu(*out.storage)) {
        if (entries_.size() >= flush_statements_of_gpu) return true;
        return pending_work_ >= flush_elements_of_gpu && !wait_for_bands(entries_, false);
    }
    sparse_ = sparse_ || is_sparse(out);
    // In windows of a mesh sums end the work anyway, and memory that ranks share is what they wait
    // for: one pass over it for several statements is worth longer segments.
    const bool in_window = recorded_scopes_ > 0, is_long = sparse_ || in_window;
    if (entries_.size() >= limits::flush_sparse_statements) return true;
    const bool has_much =
        pending_work_ >= (is_long ? limits::flush_sparse_elements : limits::flush_elements);
    if (!has_much && (is_long || entries_.size() < limits::flush_statements)) return false;
    return !wait_for_bands(entries_, in_window);
}

/// Of a statement on the device that the thread chose a queue of.
std::uint16_t Tape::chosen_queue(const Entry& entry) {
    Places& places = unisono::current<Places>();
    const Places::Choice choice = places.chosen();
    if (!choice.queue) return 0;
    auto is_there = [&](const View& v) { return v.storage->device == &choice.queue->device(); };
    return any_write(entry, is_there) || any_read(entry, is_there) ? places.number_of(*choice.queue)
                                                                   : 0;
}

void Tape::close(Entry& e) {
    Storage* out = e.out.storage;
    out->retain();
    ++out->pending;
    ++out->version;
    const Operands operands = hold_operands(e);
    bool shared = operands.shared || out->shared_outside();
    bool waits = operands.wait || (out->pending > 1 && out->waits);
    if (e.call) {
        if (e.call->tail) hold_tail(*e.call->tail, shared);
        std::int64_t read = 0;
        for_each_read(e, [&](const View& v) { read += v.layout->size(); });
        // A call reads all of its operands, and nothing fuses across it.
        if (e.call->joins())
            waits |= read >= limits::joined_elements;
        else
            pending_work_ += read;
    }
    out->waits = waits;
    for_each_write(e, [&](const View& v) { pending_work_ += v.layout->size(); });
    const bool flushes = shared || eager_;
    if (!flushes && out->version > 1 && is_full(e.out)) {
        cut_before_next_ = true;
    } else if (flushes || entries_.size() >= limits::flush_always) {
        flush_recorded(out, shared);
    }
}

/// Runs what cannot stay recorded.
void Tape::flush_recorded(Storage* out, bool shared) {
    if (windows_) return note_apart();
    if (shared) {
        flush(out, FlushReason::Shared);
    } else {
        flush_all(eager_ ? FlushReason::Eager : FlushReason::Length);
    }
}

void Tape::hold_tail(OpaqueCall::Tail& tail, bool& shared) {
    for (View& v : tail.reads) {
        v.storage->retain();
        ++v.storage->readers;
        shared = shared || v.storage->shared_outside();
    }
    for (View& v : tail.writes) {
        v.storage->retain();
        ++v.storage->pending;
        ++v.storage->version;
        shared = shared || v.storage->shared_outside();
    }
}

/// `flush`: the number of the one that ran the entry.
void Tape::release(Entry& e, std::uint32_t flush, bool in_flight) {
    if (e.line.code && hooks.release_line) hooks.release_line(e.line.code);
    for_each_write(e, [&](View& v) {
        Storage* s = std::exchange(v.storage, nullptr);
        s->evaluation = flush;
        if (in_flight) [[unlikely]]
            return s->land(s->flight_writers);
        --s->pending;
        s->release();
    });
    for_each_read(e, [&](View& v) {
        Storage* s = std::exchange(v.storage, nullptr);
        if (in_flight) [[unlikely]]
            return s->land(s->flight_readers);
        --s->readers;
        s->release();
    });
    delete e.call;
    e.inputs = 0;
    e.call = nullptr;
    e.line = {};
}

void Tape::wait_for_flight() {
    count(counters().flushes_that_waited);
    flights_->wait(*this);
}

/// In a child of fork, for devices that do not work there.
void Tape::give_up_devices() {
    is_forked_ = false;
    Flights::give_up(*this, [](Entry& e) -> std::shared_ptr<const Error> {
        const Device* lost = nullptr;
        const auto look = [&](const View& v) {
            if (v.storage->device && !v.storage->device->is_usable()) lost = v.storage->device;
        };
        for_each_write(e, look);
        for_each_read(e, look);
        if (!lost) return nullptr;
        try {
            lost->require_usable();
        } catch (const Error& error) {
            return std::make_shared<const Error>(error);
        }
        return nullptr;
    });
}

void Tape::drop_dead() {
    if (is_forked_) [[unlikely]]
        give_up_devices();
    if (!expects_dead_) return;
    expects_dead_ = false;
    prune();
}

/// Whether the marked entries depend on nothing in flight. Where they do, waits until some of that
/// has ended: others may have recorded and run entries meanwhile.
bool Tape::may_run(bool all) {
    if (flights_->empty() || !flights_->hinder(entries_, all ? nullptr : marked_.data()))
        return true;
    wait_for_flight();
    return false;
}

void Tape::complete_slow(Storage* s, FlushReason reason) {
    if (Tape& other = of(s->device); other.windows_) [[unlikely]]
        return other.flush(s, reason);
    while (s->pending || s->flight_writers) {
        if (s->pending)
            flush(s, reason);
        else
            wait_for_flight();
    }
    if (s->poison) throw Error(*s->poison);
}

void Tape::complete_for_write_slow(Storage* s, FlushReason reason) {
    if (Tape& other = of(s->device); other.windows_) [[unlikely]]
        return other.flush(s, reason);
    drop_dead();
    while (s->pending || s->readers || s->in_flight()) {
        if (!s->pending && !s->readers) {
            wait_for_flight();
            continue;
        }
        const bool all = mark_closure({}, s);
        if (may_run(all)) run_marked(reason, all);
    }
    if (s->poison) throw Error(*s->poison);
}

void Tape::flush(Storage* wanted, FlushReason reason) {
    if (Tape& other = of(wanted->device); other.windows_) [[unlikely]] {
        if (!other.entries_.empty()) other.end_window();
        if (wanted->poison) throw Error(*wanted->poison);
        return other.windows_->complete(*wanted);
    }
    drop_dead();
    while (wanted->pending) {
        const bool all = all_needed(wanted) || mark_closure({&wanted, 1}, nullptr);
        if (!may_run(all)) continue;
        run_marked(reason, all);
        break;
    }
    if (reason == FlushReason::Eval && wanted->use && wanted->use->fault) wait_for_memory(*wanted);
}

void Tape::flush(std::span<Storage* const> wanted, FlushReason reason) {
    if (wanted.size() == 1 && reason != FlushReason::Eval) return complete(wanted.front(), reason);
    if (!apart_.empty()) [[unlikely]] {
        const auto is_apart = [&](Storage* s) { return of(s->device).windows_ != nullptr; };
        if (std::any_of(wanted.begin(), wanted.end(), is_apart)) {
            for (Storage* s : wanted) flush(s, reason);
            return;
        }
    }
    drop_dead();
    auto is_pending = [](const Storage* s) { return s->pending > 0; };
    while (std::any_of(wanted.begin(), wanted.end(), is_pending)) {
        const bool all = mark_closure(wanted, nullptr);
        if (!may_run(all)) continue;
        run_marked(reason, all);
        break;
    }
    for (Storage* s : wanted) {
        complete(s, reason);
        if (reason == FlushReason::Eval && s->use && s->use->fault) wait_for_memory(*s);
    }
}

void Tape::flush_all(FlushReason reason) {
    if (windows_) {
        if (!entries_.empty()) end_window();
        return;
    }
    if (reason == FlushReason::Eval || reason == FlushReason::Exit) {
        for (const auto& [device, tape] : apart_) {
            if (!tape->entries_.empty()) tape->end_window();
        }
    }
    drop_dead();
    while (!entries_.empty()) {
        if (!may_run(true)) continue;
        marked_.assign(entries_.size(), 1);
        run_marked(reason, true);
        break;
    }
    if (reason != FlushReason::Eval && reason != FlushReason::Exit) return;
    flights_->wait_for_all(*this);
    if (reason != FlushReason::Eval) return;
    for (const auto& fault : std::vector(faults_.begin(), faults_.end())) {
        run_outside(hooks, true, [&] { fault->wait(); });
        if (fault->is_unmet()) fault->raise();
    }
    drop_harmless_faults();
}

void Tape::synchronize() {
    flush_all(FlushReason::Eval);
    Places& places = unisono::current<Places>();
    const auto used = places.devices_in_use();
    std::vector<Queue*> queues(places.queues().begin(), places.queues().end());
    for (Device* device : used) {
        if (!device->is_usable()) continue;
        if (Queue* own = device->own_queue()) queues.push_back(own);
    }
    for (Queue* queue : queues) synchronize(*queue);
}

void Tape::synchronize(Queue& queue) {
    if (!queue.device().is_usable()) return;
    const Completion all = Completion::of_all(&queue);
    run_outside(hooks, true, [&] { all.wait(); });
    drop_harmless_faults();
    const auto first = std::find_if(faults_.begin(), faults_.end(),
                                    [](const auto& f) { return f->is_done() && f->is_unmet(); });
    if (first != faults_.end()) std::shared_ptr<LateFault>(*first)->raise();
}

void Tape::submit(Queue& queue) {
    Places& places = unisono::current<Places>();
    const bool is_own = &queue == queue.device().own_queue();
    const std::uint16_t number = is_own ? 0 : places.number_of(queue);
    std::vector<Storage*> wanted;
    for (const Entry& e : entries_) {
        if (e.queue != number) continue;
        for_each_write(e, [&](const View& v) {
            if (v.storage->device == &queue.device()) wanted.push_back(v.storage);
        });
    }
    drop_dead();
    auto is_pending = [](const Storage* s) { return s->pending > 0; };
    while (std::any_of(wanted.begin(), wanted.end(), is_pending)) {
        const bool all = mark_closure(wanted, nullptr);
        if (!may_run(all)) continue;
        run_marked(FlushReason::Queue, all);
        return;
    }
}

void Tape::note_fault(std::shared_ptr<LateFault> fault) {
    drop_harmless_faults();
    faults_.push_back(std::move(fault));
}

/// From the oldest on, so that none asks many that it depends on, and to the first that is not
/// done: with each launch all would be asked.
void Tape::drop_harmless_faults() {
    auto fault = faults_.begin();
    while (fault != faults_.end() && (*fault)->is_done())
        fault = (*fault)->is_unmet() ? fault + 1 : faults_.erase(fault);
}

void Tape::read_outside(Storage* s, const std::function<void()>& work) {
    flights_->read(*this, s, work);
}

/// Returns the row that it wrote last, valid until another is written; null where nothing ran.
FlushRecord* Tape::run_marked(FlushReason reason, bool all) {
    std::vector<Entry> segment;
    if (!spare_.empty()) {
        segment = std::move(spare_.back());
        spare_.pop_back();
    }
    if (all) {
        segment.swap(entries_);
        cut_before_next_ = sparse_ = false;
    } else {
        std::size_t kept = 0;
        while (kept < entries_.size() && !marked_[kept]) ++kept;
        for (std::size_t i = kept; i < entries_.size(); ++i) {
            if (marked_[i]) {
                segment.push_back(entries_[i]);
            } else {
                entries_[kept++] = entries_[i];
            }
        }
        entries_.resize(kept);
        if (kept >= prune_from_) prune();
    }
    pending_work_ = 0;
    for (const Entry& e : entries_)
        for_each_write(e, [&](const View& v) { pending_work_ += v.layout->size(); });
    FlushRecord* row = segment.empty() ? nullptr : &run_segment(segment, reason);
    segment.clear();
    if (spare_.size() < 4) spare_.push_back(std::move(segment));
    return row;
}

/// Drops pending entries whose results cannot be used any more, so that they do not lengthen
/// every flush.
void Tape::prune() {
    std::vector<Entry> kept;
    for (std::size_t i = entries_.size(); i-- > 0;) {
        Entry& e = entries_[i];
        // Whether the storage is alive by more than what this entry itself holds.
        auto is_wanted = [&](const View& result) {
            std::uint32_t own = 0;
            auto note = [&](const View& v) { own += v.storage == result.storage; };
            for_each_read(e, note);
            for_each_write(e, note);
            return result.storage->refs != own;
        };
        bool kept_alive = e.kind == EntryKind::Opaque && e.call->is_kept();
        bool dead = !kept_alive && !any_write(e, is_wanted);
        if (dead) {
            release(e, flushes_);
        } else {
            kept.push_back(e);
        }
    }
    entries_.assign(kept.rbegin(), kept.rend());
    prune_from_ = std::max<std::size_t>(32, 2 * entries_.size());
}

FlushRecord& Tape::run_segment(std::vector<Entry>& segment, FlushReason reason) {
    count(counters().flushes);
    timeline::Scope span;
    if (timeline::is_on()) {
        const LineRef last = segment.back().line;
        span.begin(timeline::Kind::Flush, "flush: " + std::string(text(reason)),
                   last.code && hooks.decode_line ? hooks.decode_line(last) : SourcePlace{});
    }
    Runner runner(*this, segment, reason, fresh_number());
    try {
        runner.run();
    } catch (const Error& error) {
        // Lack of memory and Ctrl-C leave everything as it was, to be tried again. Any other fault
        // would come again: it poisons what the failed kernel should have written.
        bool again = error.kind() == ErrorKind::Memory || error.kind() == ErrorKind::Interrupt;
        const Error raised = again ? error : runner.poison(error);
        expects_dead_ = true;  // nobody may want any more what was interrupted
        put_back(segment, runner.done(), runner.in_flight());
        if (runner.in_flight()) flights_->land(runner);
        throw Error(raised);
    }
    const std::uint32_t number = runner.record().number;
    FlushRecord& row = write_log(std::move(runner.record()));
    for (Entry& e : segment) release(e, number, runner.in_flight());
    if (runner.in_flight()) flights_->land(runner);
    if (Layout::collection_due()) collect_layouts();
    return row;
}

/// Entries do not count their references to layouts; pending ones are named here instead.
void Tape::collect_layouts() {
    auto touch = [](const View& v) { v.layout->touch(); };
    for (const Entry& e : entries_) {
        for_each_write(e, touch);
        for_each_read(e, touch);
    }
    for (const auto& [device, tape] : apart_) {
        for (const Entry& e : tape->entries_) {
            for_each_write(e, touch);
            for_each_read(e, touch);
        }
    }
    flights_->touch_layouts();
    Layout::collect();
}

FlushRecord& Tape::write_log(FlushRecord&& record) {
    if (hooks.retain_line && record.line.code) hooks.retain_line(record.line.code);
    if (debug_level() >= 2) [[unlikely]] {
        debug_log("flush: " + std::string(text(record.reason)) + "; " +
                  std::to_string(record.entries) + " operations, " +
                  std::to_string(record.kernels) + " kernels, " + std::to_string(record.bytes) +
                  " bytes");
    }
    if (log_.size() < log_limit) return log_.emplace_back(std::move(record));
    FlushRecord& row = log_[log_next_];
    const LineRef lines[] = {row.line, row.launch.line};
    row = std::move(record);
    log_next_ = (log_next_ + 1) % log_limit;
    for (const LineRef& line : lines) {
        if (hooks.release_line && line.code) hooks.release_line(line.code);
    }
    return row;
}

void Tape::forget_plans() {
    for (FlushRecord& r : log_) r.plan = nullptr;
}

std::vector<FlushRecord> Tape::log() const {
    std::vector<FlushRecord> ordered(log_.begin() + static_cast<std::ptrdiff_t>(log_next_),
                                     log_.end());
    ordered.insert(ordered.end(), log_.begin(),
                   log_.begin() + static_cast<std::ptrdiff_t>(log_next_));
    return ordered;
}

/// After a failure: what has not run stays recorded, before anything recorded meanwhile, so nothing
/// is lost.
void Tape::put_back(std::vector<Entry>& segment, const std::vector<bool>& done, bool in_flight) {
    std::vector<Entry> rest;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (i < done.size() && done[i]) {
            release(segment[i], flushes_, in_flight);
        } else {
            if (in_flight) return_to_tape(segment[i]);
            rest.push_back(segment[i]);
        }
    }
    rest.insert(rest.end(), entries_.begin(), entries_.end());
    entries_ = std::move(rest);
}

}  // namespace unisono
