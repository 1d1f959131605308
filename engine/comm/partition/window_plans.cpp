// Keeps what windows recorded, and records it again.
#include "comm/partition/window_plans.h"

#include <algorithm>
#include <optional>

#include "comm/partition/entries.h"
#include "context/context.h"
#include "core/error.h"
#include "tape/record/element_function.h"

namespace unisono::comm {

/// At most so many statements and entries of the rank's tape are kept, of about 300 bytes each;
/// then all are forgotten.
static constexpr std::size_t most_kept_entries = 1 << 14;

void WindowPlan::keep(const Layout* layout) {
    layout->retain();
    layouts.push_back(layout);
}

WindowPlan::~WindowPlan() {
    for (const Layout* layout : layouts) layout->release();
    for (const LineRef& line : lines) {
        if (line.code && hooks.release_line) hooks.release_line(line.code);
    }
}

/// A window while it is recorded.
struct WindowPlans::Trace {
    std::shared_ptr<WindowPlan> plan = std::make_shared<WindowPlan>();
    std::uint64_t hash = 0;
    std::size_t seen = 0;  ///< entries of the rank's tape
    std::int64_t flushes = 0, gathered = 0, in_panels = 0;
    std::vector<std::optional<WindowPlan::Lie>> lies;  ///< of each block, the last that was noted
    /// No address may name other memory before the end.
    std::vector<Storage*> held;

    Trace() = default;
    ~Trace() {
        for (Storage* s : held) s->release();
    }
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    void hold(Storage* s) {
        s->retain();
        held.push_back(s);
    }
    std::int32_t number_of(WindowReader& reader, const View& view);
    bool add(WindowReader& reader, const Entry& local, const Entry& statement, bool is_step);
    bool note_lie(WindowReader& reader, const View& view);
};

WindowPlans::WindowPlans(Mesh& mesh) : mesh_(mesh) {}
WindowPlans::~WindowPlans() = default;

void WindowPlans::give_up() { trace_.reset(); }

namespace {

bool has_numbers(const Entry& e) {
    for (int k = 0; k < e.inputs; ++k) {
        if (!e.in[k].storage) return true;
    }
    return false;
}

/// Whether a local entry is the statement itself, with its numbers.
bool takes_numbers_of(const Entry& local, const Entry& statement) {
    if (local.kind != statement.kind || local.op != statement.op ||
        local.inputs != statement.inputs)
        return false;
    for (int k = 0; k < local.inputs; ++k) {
        const View &a = local.in[k], &b = statement.in[k];
        if (!a.storage != !b.storage) return false;
        if (!a.storage && (a.offset != b.offset || a.dtype != b.dtype)) return false;
    }
    return true;
}

bool is_equal(const Halos& a, const Halos& b, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        if (a[k].before != b[k].before || a[k].after != b[k].after) return false;
    }
    return true;
}

}  // namespace

/// The number of a local view's memory; -1 of memory that entries alone cannot make again.
std::int32_t WindowPlans::Trace::number_of(WindowReader& reader, const View& view) {
    Storage* s = view.storage;
    if (const std::int32_t known = reader.number_of(s); known >= 0) return known;
    if (s->device || s->memory.handle || s->borrowed || s->exports > 0) return -1;
    hold(s);
    plan->keep(view.layout);
    plan->made.push_back({view.layout, view.dtype, s->bytes});
    return reader.add_made(s);
}

bool WindowPlans::Trace::add(WindowReader& reader, const Entry& local, const Entry& statement,
                             bool is_step) {
    WindowPlan::Local made;
    made.entry = local;
    made.entry.call = nullptr;
    if (local.call) {
        if (local.kind == EntryKind::Function)
            made.function = static_cast<const ElementCall*>(local.call)->function;
        else
            made.operation = Mesh::operation_of(*local.call);
        if (!made.function && !made.operation) return false;
    }
    auto number = [&](const View& v, std::size_t at) {
        if (!v.storage) return true;
        made.memory[at] = number_of(reader, v);
        plan->keep(v.layout);
        return made.memory[at] >= 0;
    };
    for (int k = 0; k < local.inputs; ++k) {
        if (!number(local.in[k], static_cast<std::size_t>(k))) return false;
    }
    if (!number(local.out, 3)) return false;
    if (is_step && has_numbers(statement) && has_numbers(local)) {
        made.takes_numbers = takes_numbers_of(local, statement);
        if (!made.takes_numbers) return false;
    }
    plan->entries.push_back(std::move(made));
    return true;
}

/// Notes how an array lies, where that has changed.
bool WindowPlans::Trace::note_lie(WindowReader& reader, const View& view) {
    const Block& block = *Block::of(*view.storage);
    if (!block.is_split()) return true;
    const View& local = block.local().view();
    const std::int32_t number = reader.number_of(view.storage), memory = number_of(reader, local);
    if (number < 0 || memory < 0) return false;
    auto& last = lies[static_cast<std::size_t>(number)];
    const std::size_t count = block.held().splits().size();
    if (last && last->memory == memory && last->layout == local.layout &&
        last->offset == local.offset && last->held == block.held() &&
        is_equal(last->room, block.room(), count) &&
        is_equal(last->current, block.current(), count))
        return true;
    last = {number,       memory,       local.layout,   local.offset,
            block.held(), block.room(), block.current()};
    plan->keep(local.layout);
    plan->lies.push_back(*last);
    return true;
}

bool WindowPlans::repeat(std::span<Entry> window, std::int64_t how,
                         const std::function<void(Entry&)>& done) {
    trace_.reset();
    if (!reader_.read(window, how)) return false;
    const std::uint64_t hash = reader_.hash();
    const auto [from, to] = plans_.equal_range(hash);
    for (auto it = from; it != to; ++it) {
        if (!std::ranges::equal(it->second->key, reader_.key())) continue;
        const std::shared_ptr<const WindowPlan> plan = it->second;
        ++repeated_;
        play(*plan, window, done);
        return true;
    }
    std::uint64_t& met = met_[hash % met_.size()];
    if (met == hash)
        begin(window, hash);
    else
        met = hash;
    return false;
}

void WindowPlans::begin(std::span<const Entry> window, std::uint64_t hash) {
    Tape& local = Tape::current();
    trace_ = std::make_unique<Trace>();
    trace_->hash = hash;
    trace_->seen = local.length();
    trace_->flushes = counters().flushes.load(std::memory_order_relaxed);
    trace_->gathered = mesh_.bytes_gathered();
    trace_->in_panels = mesh_.bytes_in_panels();
    trace_->lies.resize(reader_.blocks.size());
    for (Storage* s : reader_.memory) trace_->hold(s);
    WindowPlan& plan = *trace_->plan;
    plan.key.assign(reader_.key().begin(), reader_.key().end());
    plan.bounds = reader_.bounds;
    plan.hooks = local.hooks;
    for (const Layout* layout : reader_.layouts) plan.keep(layout);
    for (const Entry& e : window) {
        if (e.line.code && plan.hooks.retain_line) plan.hooks.retain_line(e.line.code);
        plan.lines.push_back(e.line);
        // How arrays lie at first is part of the key.
        auto note_first = [&](const View& v) {
            if (trace_) trace_->hold(v.storage);
            if (trace_ && is_on_mesh(v) && !trace_->note_lie(reader_, v)) trace_.reset();
        };
        for_each_write(e, note_first);
        for_each_read(e, note_first);
        if (!trace_) return;
    }
    plan.lies.clear();
}

void WindowPlans::note(std::span<const Entry> window, std::size_t statement, bool is_step) {
    if (!trace_) return;
    const std::span<const Entry> pending = Tape::current().pending();
    bool can = counters().flushes.load(std::memory_order_relaxed) == trace_->flushes;
    can = can && trace_->seen <= pending.size();  // nothing was pruned
    const Entry& e = window[statement];
    for (; can && trace_->seen < pending.size(); ++trace_->seen)
        can = trace_->add(reader_, pending[trace_->seen], e, is_step);
    auto note_array = [&](const View& v) {
        if (can && is_on_mesh(v)) can = trace_->note_lie(reader_, v);
    };
    for_each_write(e, note_array);
    for_each_read(e, note_array);
    if (!can) return trace_.reset();
    WindowPlan& plan = *trace_->plan;
    WindowPlan::Part part{static_cast<std::uint32_t>(statement), is_step};
    part.entries_end = static_cast<std::uint32_t>(plan.entries.size());
    part.lies_end = static_cast<std::uint32_t>(plan.lies.size());
    const bool is_empty = plan.parts.empty() ? part.entries_end == 0 && part.lies_end == 0
                                             : part.entries_end == plan.parts.back().entries_end &&
                                                   part.lies_end == plan.parts.back().lies_end;
    if (is_step || !is_empty) plan.parts.push_back(part);
}

void WindowPlans::end() {
    if (!trace_) return;
    const std::unique_ptr<Trace> trace = std::move(trace_);
    WindowPlan& plan = *trace->plan;
    plan.bytes_gathered = mesh_.bytes_gathered() - trace->gathered;
    plan.bytes_in_panels = mesh_.bytes_in_panels() - trace->in_panels;
    // Behind which part each memory that was made is not named any more.
    const auto first_made = static_cast<std::int32_t>(reader_.memory.size());
    std::vector<std::uint32_t> last(plan.made.size(), 0);
    std::size_t entry = 0, lie = 0;
    for (std::uint32_t p = 0; p < plan.parts.size(); ++p) {
        auto name = [&](std::int32_t memory) {
            if (memory >= first_made) last[static_cast<std::size_t>(memory - first_made)] = p;
        };
        for (; entry < plan.parts[p].entries_end; ++entry)
            std::ranges::for_each(plan.entries[entry].memory, name);
        for (; lie < plan.parts[p].lies_end; ++lie) name(plan.lies[lie].memory);
    }
    for (std::uint32_t p = 0; p < plan.parts.size(); ++p) {
        for (std::size_t m = 0; m < last.size(); ++m) {
            if (last[m] == p) plan.drops.push_back(static_cast<std::int32_t>(m));
        }
        plan.parts[p].drops_end = static_cast<std::uint32_t>(plan.drops.size());
    }
    const std::size_t size = plan.entries.size() + plan.lines.size();
    if (kept_entries_ + size > most_kept_entries) {
        plans_.clear();
        kept_entries_ = 0;
    }
    kept_entries_ += size + 1;
    plans_.emplace(trace->hash, trace->plan);
}

/// As Partition::run, where all is known.
void WindowPlans::play(const WindowPlan& plan, std::span<Entry> window,
                       const std::function<void(Entry&)>& done) {
    Tape& tape = Tape::current();
    // What runs meanwhile may read other windows.
    const std::vector<Block*> blocks = reader_.blocks;
    std::vector<Storage*> memory = reader_.memory;
    const std::size_t first_made = memory.size();
    std::vector<Array> made(plan.made.size());
    memory.resize(first_made + made.size());
    auto storage = [&](std::int32_t number) {
        Storage*& s = memory[static_cast<std::size_t>(number)];
        if (!s) {
            const std::size_t k = static_cast<std::size_t>(number) - first_made;
            s = Storage::create(nullptr, plan.made[k].bytes);
            made[k] = Array(s, plan.made[k].layout, plan.made[k].dtype, false);
        }
        return s;
    };
    std::size_t entry = 0, lie = 0, drop = 0;
    for (const WindowPlan::Part& part : plan.parts) {
        Entry& statement = window[part.statement];
        tape.line = statement.line;
        if (part.is_step) {
            if (!brings_number(statement)) mesh_.note_statement(mark_of(statement));
            for_each_read(statement, [](const View& v) {
                if (v.storage->poison) throw Error(*v.storage->poison);
            });
        }
        for (; entry < part.entries_end; ++entry) {
            const WindowPlan::Local& local = plan.entries[entry];
            Entry e = local.entry;
            e.line = {};
            for (int k = 0; k < e.inputs; ++k) {
                const std::int32_t number = local.memory[static_cast<std::size_t>(k)];
                if (number >= 0)
                    e.in[k].storage = storage(number);
                else if (local.takes_numbers)
                    e.in[k].offset = statement.in[k].offset;
            }
            e.out.storage = storage(local.memory[3]);
            if (local.operation) {
                mesh_.repeat(local.operation, e.in[0], e.out);
                continue;
            }
            if (local.function) e.call = new ElementCall(local.function);  // owned by the tape
            tape.append(e);
        }
        for (; lie < part.lies_end; ++lie) {
            const WindowPlan::Lie& l = plan.lies[lie];
            Block& block = *blocks[static_cast<std::size_t>(l.block)];
            block.lie(l.held, l.room, l.current,
                      Array::of({storage(l.memory), l.layout, l.offset, block.dtype()}));
        }
        if (part.is_step) done(statement);
        for (; drop < part.drops_end; ++drop) made[static_cast<std::size_t>(plan.drops[drop])] = {};
    }
    if (plan.bytes_gathered) mesh_.count_gathered(plan.bytes_gathered);
    if (plan.bytes_in_panels) mesh_.count_panel(plan.bytes_in_panels);
}

}  // namespace unisono::comm
