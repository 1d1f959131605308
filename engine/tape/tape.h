// The array tape: operations recorded in program order, cut into segments and run when a value
// leaves.
//
// How it works. record.h appends entries; nothing runs. `flush(storage)` takes the entries that the
// storage's value depends on, and those that read what they overwrite (closure.cpp), names their
// structure by a key and looks the key up among known plans (plan.h); a plan is a list of groups,
// each one kernel. Running (run.cpp) binds the entries' views to the groups and hands them to an
// executor. Memory is allocated when a group first writes it.
//
// Determinism. Where the tape is cut and what fuses follows from the recorded program alone: from
// the order of operations, sizes, and which handles were alive; never from time, free memory or
// other threads.
//
// Small statements. Recording costs more than computing a few elements: at places of the program
// that repeat, entries on few elements whose operands are ready run at once (eager.h).
//
// Threads. The tape, storages and layouts belong to whoever holds the engine: in Python the global
// interpreter lock, in C++ one thread at a time. A flush with much work lets go of the engine while
// it runs (HostHooks, run/flights.h); other threads record and flush meanwhile, and wait only for
// values that they need.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/settings.h"
#include "ops/ops.h"
#include "tape/array.h"
#include "tape/eager/call_sites.h"
#include "tape/eager/eager.h"
#include "tape/line.h"
#include "tape/run/submission.h"
#include "tape/storage.h"

namespace unisono {

/// What the language above the engine supplies; C++ programs need none of it.
struct HostHooks {
    void* (*leave_engine)() = nullptr;  ///< before long work: others may use the engine meanwhile
    void (*enter_engine)(void*) = nullptr;  ///< takes what leave_engine gave
    bool (*interrupted)() = nullptr;        ///< the user asks to stop (Ctrl-C)
    void (*retain_line)(void* code) = nullptr;
    void (*release_line)(void* code) = nullptr;
    SourcePlace (*decode_line)(LineRef) = nullptr;
};

enum class EntryKind : std::uint8_t {
    Map,       ///< out = op(in...), computed in `compute`, then converted to out's dtype
    Copy,      ///< out = in[0], converted
    Select,    ///< out = in[0] ? in[1] : in[2]
    Iota,      ///< out = linear row-major index
    Reduce,    ///< out = in[0] combined by op along `axis`, then the `before` axes in front of it
    Function,  ///< out = a user's scalar function of in...; `call` is an ElementCall
    Opaque,    ///< a library call or a message: runs as it is, in order
};

/// Work that the tape orders by what it reads and writes, but does not look into. It runs with the
/// memory of its views in place.
struct OpaqueCall {
    virtual ~OpaqueCall() = default;
    /// All operands and all results: those of the entry, then those of the tail.
    virtual void run(std::span<const View> in, std::span<const View> out) = 0;
    virtual std::string name() const = 0;
    /// Whether it runs even where nobody uses its results.
    virtual bool is_kept() const { return communicates(); }
    /// Whether it may take long, whatever the number of elements.
    virtual bool may_take_long() const { return communicates(); }
    /// Communication runs in the recorded order on every rank and is never dropped.
    virtual bool communicates() const { return false; }
    /// Whether it may share a pass over memory with another call: it is worth waiting for one.
    virtual bool joins() const { return false; }
    /// Whether it picks the elements of in[0] for which the packed mask in[1] is set.
    virtual bool selects() const { return false; }
    /// Whether it fills packed memory of the host that somebody else chose: it may write where its
    /// result would only be copied to.
    virtual bool stores_anywhere() const { return false; }
    /// Whether it copies between places, beside what queues compute.
    virtual bool transfers() const { return false; }
    /// After run, on a device: what may yet go wrong with it; null where nothing may.
    virtual std::unique_ptr<const LateFault::Check> take_check() { return nullptr; }
    /// Whether a run that ended half-way can be begun again: it writes what it does not read.
    virtual bool restarts() const { return false; }
    /// Operations, roughly, given those of its entry's elements: long work leaves the engine.
    virtual std::int64_t work(std::span<const View> /*in*/, std::int64_t elements) const {
        return elements;
    }
    /// At most this many run together.
    static constexpr std::size_t most_together = 48;
    /// A call with its operands.
    struct Operands {
        OpaqueCall* call;
        const View *in, *out;
    };
    /// Does the work of the first, which is this one, and of those later ones that share something
    /// with it; they depend on nothing that runs in between. Returns a bit for each that was done;
    /// none, having done nothing, where there is nothing to share.
    virtual std::uint64_t run_together(std::span<const Operands> /*calls*/) { return 0; }

    /// What a wide entry reads and writes beyond what an entry has room for.
    struct Tail {
        std::vector<View> reads, writes;
    };
    std::unique_ptr<Tail> tail;  ///< null: the entry is not wide
};

/// One recorded operation. An operand whose storage is null is a scalar; its bits are in `offset`.
/// A wide entry is a call with a tail: what an entry touches is asked of for_each_read and
/// for_each_write.
struct Entry {
    Entry() {}  // leaves the views unset: clearing them would cost as much as recording

    View in[3];
    View out;
    LineRef line;
    OpaqueCall* call = nullptr;  ///< owned; Opaque and Function only
    EntryKind kind = EntryKind::Copy;
    Op op = Op::Add;
    std::uint8_t inputs = 0;
    std::int8_t axis = -1;
    std::int8_t before = 0;  ///< Reduce: axes right before `axis` that are reduced after it
    DType compute = DType::Float64;
    std::uint16_t queue = 0;  ///< of a device: Places::queue
};
static_assert(sizeof(Entry) <= 168,
              "an entry is copied when it is recorded; keep it within three cache lines");

/// Calls f with each view of memory that the entry reads.
template <class E, class F>
void for_each_read(E& e, F&& f) {
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage) f(e.in[k]);
    }
    if (e.call && e.call->tail) [[unlikely]] {
        for (View& v : e.call->tail->reads) f(v);
    }
}
/// Calls f with each view of memory that the entry writes.
template <class E, class F>
void for_each_write(E& e, F&& f) {
    if (e.out.storage) f(e.out);
    if (e.call && e.call->tail) [[unlikely]] {
        for (View& v : e.call->tail->writes) f(v);
    }
}
template <class E, class F>
bool any_read(E& e, F&& f) {
    bool found = false;
    for_each_read(e, [&](auto& v) { found = found || f(v); });
    return found;
}
template <class E, class F>
bool any_write(E& e, F&& f) {
    bool found = false;
    for_each_write(e, [&](auto& v) { found = found || f(v); });
    return found;
}

inline View scalar_operand(Scalar s) {
    return {nullptr, nullptr, static_cast<std::int64_t>(s.bits), s.dtype};
}

enum class FlushReason : std::uint8_t {
    Read,    ///< a value left: print, float(), np.asarray, bool
    Write,   ///< the host is about to write memory that pending operations use
    Eval,    ///< un.eval or un.synchronize
    Eager,   ///< eager mode
    Shared,  ///< the memory is visible outside (buffer, DLPack, NumPy)
    Work,    ///< an in-place statement ended and much work is pending
    Length,  ///< the tape is long
    Launch,  ///< a compiled function or kernel runs
    Check,   ///< a statement looks at its data, which it may refuse
    Count,   ///< the shape of a result depends on data
    Queue,   ///< a queue is given what was recorded for it
    Exit,
};
const char* text(FlushReason reason);

class Flights;
class Windows;  // tape/windows.h
class Plan;
class PlanFinder;
class Runner;
struct LaunchedCode;  // tape/launch.h
struct LaunchOperand;
struct LaunchStart;

/// One row of the flush log: a flush, a launch that ran outside of the tape, or the flush that ran
/// what a launch waited for, and that launch.
struct FlushRecord {
    struct LaunchRecord {
        const LaunchedCode* code = nullptr;
        LineRef line;
        std::uint32_t number = 0;
        std::int32_t reads = 0, writes = 0;  ///< arrays
        std::int64_t bytes = 0;              ///< of these
    };

    FlushReason reason;
    std::int32_t entries = 0, kernels = 0;
    std::int64_t bytes = 0;  ///< read and written by its kernels
    LineRef line;            ///< of its last operation
    std::uint32_t number = 0;
    const Plan* plan = nullptr;      ///< null once the table of plans dropped it
    std::vector<std::string> calls;  ///< names of the plan's calls, in its order
    LaunchRecord launch;
};

class Tape final : public Context::Part {
  public:
    static constexpr Context::Slot slot = Context::Slot::Tape;
    /// That of the calling thread's context.
    static Tape& current() { return unisono::current<Tape>(); }
    /// The one that records statements on arrays of the device: that of the context, but for places
    /// that record apart.
    static Tape& of(const Device* device) {
        Tape& tape = current();
        return device && !tape.apart_.empty() ? tape.apart(device) : tape;
    }
    static Tape& of(const Array& a) { return of(a.device()); }

    Tape();
    /// Of arrays of a place that records apart; `windows` cuts and runs it.
    explicit Tape(Windows& windows);
    ~Tape() override;

    /// From now on statements on the device's arrays go to that tape, which may be null.
    void record_apart(const Device& device, Tape* tape);
    /// Of a tape that lies apart, else null.
    Windows* windows() const { return windows_; }

    HostHooks hooks;
    LineRef
        line;  ///< of what is recorded next; borrowed from the language above, retained by append

    /// Takes the entry and references to its views. May first cut and run what is pending. A small
    /// statement of a place that repeats may run at once instead.
    void append(const Entry& entry) {
        if (!run_eagerly(entry)) record(entry);
    }
    /// The two halves of append.
    bool run_eagerly(const Entry& entry) {
        return entry.out.layout->size() <= limits::eager_points && runs_eagerly() &&
               eager::run(entry);
    }
    void record(const Entry& entry) {
        Entry& e = open();
        e = entry;
        close(e);
    }
    /// The same in two steps, for an entry filled in place: operands must be alive through handles.
    Entry& open() {
        if (cut_before_next_) cut();
        return entries_.emplace_back();
    }
    void close(Entry& entry);
    /// The same for an entry without a call whose result is new memory, as most are.
    void close_new(Entry& entry) {
        Storage* out = entry.out.storage;
        out->retain();
        out->pending = 1;
        out->version = 1;
        const Operands operands = hold_operands(entry);
        out->waits = operands.wait;
        pending_work_ += entry.out.layout->size();
        if (operands.shared || eager_ || entries_.size() >= limits::flush_always) [[unlikely]]
            flush_recorded(out, operands.shared);
    }
    /// Whether small statements of this place run at once, if their operands are ready.
    bool runs_eagerly() {
        if (recorded_scopes_ > 0) return false;
        if (generation_ != settings_generation()) [[unlikely]]
            read_settings();
        return eager_small_ && call_sites_.repeats(line, hooks);
    }

    /// Whether somebody looks at what is recorded, so that nothing may run beside it.
    bool must_record() const { return recorded_scopes_ > 0; }

    /// Before the caller runs a launch at the line, outside of the tape: runs what its operands
    /// wait for and nothing else (launch.cpp).
    LaunchStart begin_launch(std::span<const LaunchOperand> operands, const LaunchedCode& code);

    /// Makes the storage's contents valid: runs what it depends on. Throws what a kernel raised.
    void flush(Storage* wanted, FlushReason reason);
    /// The same for several at once: what they need may share kernels.
    void flush(std::span<Storage* const> wanted, FlushReason reason);
    void flush_all(FlushReason reason);
    /// Runs everything and waits for it, on devices and in other threads too.
    void synchronize();
    /// Waits for what a queue was given. Throws what went wrong late, once.
    void synchronize(Queue& queue);
    /// From now on each statement asks Places::chosen for its queue.
    void ask_for_queues() { asks_for_queues_ = true; }
    /// Gives the queue what was recorded for it, and what that depends on.
    void submit(Queue& queue);
    /// Keeps what may yet go wrong on a device until somebody has met it: synchronize raises it.
    void note_fault(std::shared_ptr<LateFault> fault);
    /// Does work that reads the storage's memory, whose contents are valid, while other threads use
    /// the engine and nobody writes it. Throws on Ctrl-C where the work asks its CancelScope.
    void read_outside(Storage* s, const std::function<void()>& work);
    /// Before the host reads memory.
    void complete(Storage* s, FlushReason reason) {
        if (s->pending || s->flight_writers || s->poison) complete_slow(s, reason);
    }
    /// Before the host (or a compiled function) writes memory: also runs what reads it.
    void complete_for_write(Storage* s, FlushReason reason) {
        if (s->readers || s->pending || s->in_flight() || s->poison)
            complete_for_write_slow(s, reason);
    }

    std::size_t length() const { return entries_.size(); }
    /// What has been recorded and not run, in order; valid until more is recorded.
    std::span<const Entry> pending() const { return entries_; }
    /// Says that pending entries are about to become dead: the next flush looks for them.
    void expect_dead() { expects_dead_ = true; }
    /// Elements that pending entries write, or read where they are calls.
    std::int64_t pending_work() const { return pending_work_; }
    bool eager() const { return eager_; }
    void set_eager(bool on);

    /// Numbers of flushes are below; above are those of compiled functions (launch.h).
    static constexpr std::uint32_t flush_numbers = std::uint32_t{1} << 31;

    /// Plans that the log names are about to go.
    void forget_plans();
    /// The last flushes, oldest first (a bounded log).
    std::vector<FlushRecord> log() const;
    /// What a flush of this storage would run, without running it; with `code`, the generated code
    /// of what was compiled so far.
    std::string describe(Storage* wanted, bool code);

  private:
    friend class Runner;
    friend class Recorded;
    friend class Flights;
    void cut();
    struct Operands {
        bool shared = false;  ///< one is visible outside
        bool wait = false;    ///< for a call that others may yet join
    };
    /// Gives the entry its line, and references to the operands that are not in a tail.
    Operands hold_operands(Entry& entry) {
        entry.line = line;
        if (line.code && hooks.retain_line) hooks.retain_line(line.code);
        if (asks_for_queues_) [[unlikely]]
            entry.queue = chosen_queue(entry);
        Operands operands;
        for (int k = 0; k < entry.inputs; ++k) {
            Storage* s = entry.in[k].storage;
            if (!s) continue;
            s->retain();
            ++s->readers;
            operands.shared |= s->shared_outside();
            operands.wait |= s->pending > 0 && s->waits;
        }
        return operands;
    }
    static std::uint16_t chosen_queue(const Entry& entry);
    void flush_recorded(Storage* out, bool shared);
    bool is_full(const View& out);
    void read_settings();
    std::uint32_t fresh_epochs() {
        epoch_ += 5;
        return epoch_ - 4;
    }
    std::uint32_t fresh_number() { return flushes_ = (flushes_ + 1) % flush_numbers; }
    bool all_needed(const Storage* wanted) const;
    Tape& apart(const Device* device);
    void note_apart();
    void end_window();
    void complete_slow(Storage* s, FlushReason reason);
    void complete_for_write_slow(Storage* s, FlushReason reason);
    void wait_for_flight();
    bool may_run(bool all);
    void drop_dead();
    void give_up_devices();
    void mark(Storage* s, std::uint32_t bits) const;
    bool mark_closure(std::span<Storage* const> wanted, Storage* overwritten);
    bool mark_operands(std::span<const LaunchOperand> operands, bool has_readers);
    bool mark_needed(bool has_readers);
    FlushRecord* run_marked(FlushReason reason, bool all);
    FlushRecord& run_segment(std::vector<Entry>& segment, FlushReason reason);
    void put_back(std::vector<Entry>& segment, const std::vector<bool>& done, bool in_flight);
    void hold_tail(OpaqueCall::Tail& tail, bool& shared);
    void release(Entry& entry, std::uint32_t flush, bool in_flight = false);
    std::string launch_of(const Storage& s) const;
    void describe_finished(std::string& out, const Storage& wanted, bool code) const;
    void prune();
    void collect_layouts();

    std::vector<Entry> entries_;
    std::vector<std::uint8_t> marked_;
    std::vector<std::vector<Entry>> spare_;  ///< segment buffers kept for reuse
    std::uint32_t epoch_ = 0;
    std::size_t prune_from_ = 32;
    std::int64_t pending_work_ = 0;  ///< elements written by pending entries
    std::uint32_t flushes_ = 0;      ///< number of the last one
    CallSites call_sites_;
    int generation_ = -1;       ///< of the settings that were read
    bool eager_small_ = false;  ///< no setting asks to see every launch or for another executor
    bool cut_before_next_ = false;
    bool sparse_ = false;  ///< a pending statement writes a little of each cache line
    bool expects_dead_ = false;
    bool is_forked_ = false;  ///< since the last flush
    bool eager_ = false;
    bool asks_for_queues_ = false;
    int recorded_scopes_ = 0;  ///< open scopes of Recorded
    Windows* windows_ = nullptr;
    std::vector<std::pair<const Device*, Tape*>> apart_;
    std::unique_ptr<PlanFinder> finder_;
    std::unique_ptr<Flights> flights_;
    FlushRecord& write_log(FlushRecord&& record);
    void drop_harmless_faults();
    /// Oldest first.
    std::deque<std::shared_ptr<LateFault>> faults_;
    std::vector<FlushRecord> log_;  ///< a ring
    std::size_t log_next_ = 0;
};

}  // namespace unisono
