// Runs launches behind what they wait for, and numbers compiled functions.
#include "tape/launch.h"

#include <deque>
#include <mutex>
#include <utility>

#include "backends/timeline.h"
#include "core/threads/fork.h"
#include "tape/outside_engine.h"
#include "tape/run/flights.h"

namespace unisono {

namespace {

/// In Storage::evaluation: not a flush, but the number of a compiled function.
constexpr std::uint32_t launched = Tape::flush_numbers;

struct CodeTable {
    ProcessMutex mutex;
    std::deque<LaunchedCode> all;

    static CodeTable& instance() {
        static CodeTable& table = *new CodeTable;
        return table;
    }
};

}  // namespace

const LaunchedCode& launched_code(const std::string& name, const SourcePlace& place) {
    CodeTable& table = CodeTable::instance();
    std::lock_guard lock(table.mutex);
    for (const LaunchedCode& known : table.all) {
        if (known.name == name && known.place.file == place.file && known.place.line == place.line)
            return known;
    }
    const auto number = static_cast<std::uint32_t>(table.all.size());
    return table.all.emplace_back(name, place, launched | number);
}

const LaunchedCode* launched_code(std::uint32_t evaluation) {
    if (!(evaluation & launched)) return nullptr;
    CodeTable& table = CodeTable::instance();
    std::lock_guard lock(table.mutex);
    const std::size_t number = evaluation & ~launched;
    return number < table.all.size() ? &table.all[number] : nullptr;
}

Entry launch_entry(Launch& launch) {
    Entry e;
    e.kind = EntryKind::Opaque;
    e.call = &launch;
    e.out = {nullptr, nullptr, 0, DType::Float64};
    return e;
}

void add_operand(Entry& e, const View& view, bool reads, bool writes) {
    auto tail = [&]() -> OpaqueCall::Tail& {
        if (!e.call->tail) e.call->tail = std::make_unique<OpaqueCall::Tail>();
        return *e.call->tail;
    };
    if (reads && e.inputs < std::size(e.in)) {
        e.in[e.inputs++] = view;
    } else if (reads) {
        tail().reads.push_back(view);
    }
    if (writes && e.out.storage) {
        tail().writes.push_back(view);
    } else if (writes) {
        e.out = view;
        e.compute = view.dtype;
    }
}

namespace {
/// What the operands of a launch wait for.
struct Waits {
    const Storage* first = nullptr;  ///< that recorded entries write, or read where it writes
    bool has_others = false, has_readers = false;
    bool flies = false;  ///< for other threads
    const Error* poison = nullptr;

    explicit Waits(std::span<const LaunchOperand> operands) {
        for (const LaunchOperand& o : operands) {
            const Storage& s = *o.storage;
            if (!o.reads && !o.writes) continue;
            const bool is_read = o.writes && s.readers;
            has_readers |= is_read;
            if (s.pending || is_read) {
                has_others |= first != nullptr;
                first = &s;
            }
            flies |= s.flight_writers || (o.writes && s.flight_readers);
            if (s.poison && !s.flight_writers) [[unlikely]]
                poison = s.poison.get();
        }
    }
};
}  // namespace

LaunchStart Tape::begin_launch(std::span<const LaunchOperand> operands, const LaunchedCode& code) {
    const std::uint64_t departures = flights_->departures();
    FlushRecord* row = nullptr;
    drop_dead();
    // Others may record more while a flush lets go of the engine.
    for (;;) {
        const Waits waits(operands);
        if (waits.first) {  // all in one flush
            const bool all = (!waits.has_others && !waits.has_readers && all_needed(waits.first)) ||
                             mark_operands(operands, waits.has_readers);
            row = may_run(all) ? run_marked(FlushReason::Launch, all) : nullptr;
            continue;
        }
        if (waits.poison) throw Error(*waits.poison);
        if (!waits.flies) break;
        wait_for_flight();
        row = nullptr;
    }
    if (!row) {
        FlushRecord alone;
        alone.reason = FlushReason::Launch;
        row = &write_log(std::move(alone));
    }
    FlushRecord::LaunchRecord& launch = row->launch;
    launch.code = &code;
    launch.number = fresh_number();
    launch.line = line;
    if (line.code && hooks.retain_line) hooks.retain_line(line.code);
    for (const LaunchOperand& o : operands) {
        if (!o.reads && !o.writes) continue;
        o.storage->allocate();
        if (o.writes) {
            ++o.storage->version;
            o.storage->evaluation = launch.number;
        }
        launch.reads += o.reads;
        launch.writes += o.writes;
        launch.bytes += o.bytes * (o.reads + o.writes);
    }
    return {launch.number, flights_->departures() != departures};
}

namespace {

/// The one that the thread chose, else the device's own.
Queue& chosen_queue(Device& device) {
    Places& places = current<Places>();
    if (places.chosen) {
        const Places::Choice choice = places.chosen();
        if (choice.queue && &choice.queue->device() == &device) {
            places.number_of(*choice.queue);  // waits for all queues know it
            return *choice.queue;
        }
    }
    return *device.own_queue();
}

void name_operands(Submission& submission, std::span<const LaunchOperand> operands) {
    for (const LaunchOperand& o : operands) {
        if (o.reads) submission.reads(*o.storage);
        if (o.writes) submission.writes(*o.storage, false);
    }
}

}  // namespace

void run_on_queue(Device& device, const LaunchedCode& code, std::span<const LaunchOperand> operands,
                  const std::function<void()>& work) {
    Submission submission(&chosen_queue(device));
    name_operands(submission, operands);
    timeline::Scope span;
    if (timeline::is_on()) span.begin(timeline::Kind::Launch, code.name, code.place);
    submission.run(work);
    span.follow(submission.last());
    if (const auto fault = submission.end(nullptr, Tape::current().line)) {
        fault->wait();
        fault->raise();
    }
}

Queue* direct_queue(Device& device) {
    if (Tape::current().must_record()) return nullptr;
    Queue& queue = chosen_queue(device);
    return queue.prefers_segments() ? nullptr : &queue;
}

void submit_launch(Queue& queue, const LaunchedCode& code, std::span<const LaunchOperand> operands,
                   const std::function<std::unique_ptr<const LateFault::Check>()>& submit) {
    Tape& tape = Tape::current();
    Submission submission(&queue);
    for (const LaunchOperand& o : operands) o.storage->allocate();
    name_operands(submission, operands);
    timeline::Scope span;
    if (timeline::is_on()) span.begin(timeline::Kind::Launch, code.name, code.place);
    std::unique_ptr<const LateFault::Check> check;
    run_outside(tape.hooks, false, [&] { submission.run([&] { check = submit(); }); });
    span.follow(submission.last());
    for (const LaunchOperand& o : operands) {
        if (o.writes) note_launch(*o.storage, code);
    }
    const bool may_fail = check != nullptr;
    const auto fault = submission.end(std::move(check), tape.line);
    if (fault && may_fail) tape.note_fault(fault);
    if (fault && tape.eager()) {
        run_outside(tape.hooks, true, [&] { fault->wait(); });
        fault->raise();
    }
}

}  // namespace unisono
