// Runs launches behind what they wait for, and numbers compiled functions.
#include "tape/launch.h"

#include <deque>
#include <mutex>
#include <utility>

#include "core/threads/fork.h"
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

/// Runs what the operands of a launch wait for, all in one flush, or waits for other threads to do
/// so: the operands may have to wait for more then.
void Tape::complete_operands(const Entry& launch) {
    drop_dead();
    auto is_pending = [](const View& v) { return v.storage->pending > 0; };
    auto is_used = [](const View& v) { return v.storage->pending > 0 || v.storage->readers > 0; };
    if (any_read(launch, is_pending) || any_write(launch, is_used)) {
        const bool all = mark_operands(launch);
        if (may_run(all)) run_marked(FlushReason::Launch, all);
        return;
    }
    auto check = [](const View& v) {
        if (v.storage->poison && !v.storage->flight_writers) throw Error(*v.storage->poison);
    };
    for_each_read(launch, check);
    for_each_write(launch, check);
    wait_for_flight();
}

void Tape::perform(Entry& launch) {
    launch.line = line;
    if (line.code && hooks.retain_line) hooks.retain_line(line.code);
    struct Line {
        Tape& tape;
        LineRef line;
        ~Line() {
            if (line.code && tape.hooks.release_line) tape.hooks.release_line(line.code);
        }
    } keeps{*this, line};
    // Others may record more while a flush lets go of the engine.
    auto waits_to_read = [](const View& v) { return !may_launch(*v.storage, true, false); };
    auto waits_to_write = [](const View& v) { return !may_launch(*v.storage, false, true); };
    while (any_read(launch, waits_to_read) || any_write(launch, waits_to_write))
        complete_operands(launch);

    FlushRecord record;
    record.reason = FlushReason::Launch;
    record.entries = 1;
    record.line = launch.line;
    auto& call = static_cast<Launch&>(*launch.call);
    record.number = call.number_ = fresh_number();
    record.launched = &call.code();
    for_each_read(launch, [&](const View& v) {
        v.storage->allocate();
        ++record.reads;
        record.bytes += v.layout->size() * size_of(v.dtype);
    });
    for_each_write(launch, [&](const View& v) {
        v.storage->allocate();
        ++v.storage->version;
        v.storage->evaluation = record.number;
        ++record.writes;
        record.bytes += v.layout->size() * size_of(v.dtype);
    });
    write_log(std::move(record));
    call.run({}, {});
}

}  // namespace unisono
