// Binds a plan to a segment's views, allocates outputs and runs the groups.
#include "tape/run/run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/segment_scope.h"
#include "backends/timeline.h"
#include "context/context.h"
#include "core/settings.h"
#include "core/threads/interrupt.h"
#include "tape/outside_engine.h"
#include "tape/run/dependences.h"
#include "tape/run/flights.h"
#include "tape/run/run_group.h"
#include "tape/run/store_anew.h"
#include "tape/run/temporary.h"

namespace unisono {

namespace {
constexpr std::size_t most_operands = 64;
constexpr std::size_t most_scalars =
    3 * 48;  // of the entries that a group may have (grouping.cpp), all operands
/// Whether the call may run in the same pass as others, which is a function of the host's.
bool joins(const Entry& e) { return e.call->joins() && !e.out.storage->device; }

struct ReleaseLayout {
    void operator()(const Layout* layout) const { layout->release(); }
};

/// A copy of a view's elements, each once, and a view that repeats them as that one does.
struct Compacted {
    Temporary memory;
    std::unique_ptr<const Layout, ReleaseLayout> layout;
    View view;
};

/// Of a view on the host.
Compacted compact(const View& from) {
    std::vector<std::int64_t> shape(from.layout->shape().begin(), from.layout->shape().end());
    const Dims strides = from.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (strides[axis] == 0) shape[axis] = 1;
    }
    Temporary made(shape, from.dtype, nullptr);
    View source = from;
    source.layout = Layout::make(shape, strides);
    GroupKernel::copying(from.dtype)
        .run({made.view.layout, {&source, 1}, {&made.view, 1}, {}, nullptr});
    std::vector<std::int64_t> repeated(made.view.layout->strides().begin(),
                                       made.view.layout->strides().end());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (strides[axis] == 0) repeated[axis] = 0;
    }
    View view = made.view;
    view.layout = Layout::make(from.layout->shape(), repeated);
    view.layout->retain();  // it is used while others, who hold the engine, may collect layouts
    return {std::move(made), std::unique_ptr<const Layout, ReleaseLayout>(view.layout), view};
}

}  // namespace

Runner::Runner(Tape& tape, std::vector<Entry>& segment, FlushReason reason, std::uint32_t number)
    : tape_(tape), segment_(segment) {
    record_.reason = reason;
    record_.number = number;
    record_.entries = static_cast<std::int32_t>(segment.size());
    record_.line = segment.back().line;
}

void Runner::run() {
    const Plan& plan = tape_.finder_->find(segment_, tape_.fresh_epochs(), tape_);
    record_.plan = &plan;
    for (const PlanStep& step : plan.steps) {
        if (step.opaque >= 0)
            record_.calls.push_back(segment_[static_cast<std::size_t>(step.opaque)].call->name());
    }
    bool several = plan.steps.size() > 1;
    done_.assign(several ? segment_.size() : 0, false);
    SegmentScope segment;
    std::size_t refused = 0;  // before this step, running band by band was found not to pay
    for (std::size_t k = 0; k < plan.steps.size();) {
        const PlanStep& step = plan.steps[k];
        current_ = {&step, 1};
        std::size_t together = 0;
        if (step.together > 1 && k >= refused) {
            bool is_small = false;
            together = run_bands({&step, step.together}, is_small);
            if (is_small) refused = k + step.together;
        }
        if (together == 0) {
            if (step.opaque >= 0) {
                if (!has_joined(k)) run_opaque(step, plan, k);
            } else {
                run_step(step);
            }
        }
        for (const PlanStep& done : current_) {
            if (several) finish(done.entries);
        }
        k += current_.size();
        bool last = k == plan.steps.size();
        if (in_flight_ && !last && tape_.hooks.interrupted && tape_.hooks.interrupted()) {
            throw Error(ErrorKind::Interrupt,
                        "interrupted between kernels; what has not run is kept");
        }
    }
    if (!segment.is_empty()) outside_engine(true, [&] { segment.end(); });
}

Error Runner::poison(const Error& error) {
    done_.resize(segment_.size(), false);
    if (current_.empty()) return error;
    LineRef line = segment_[current_.front().entries.front()].line;
    bool decode = error.place().line == 0 && line.code && tape_.hooks.decode_line;
    auto reason =
        std::make_shared<const Error>(decode ? error.at(tape_.hooks.decode_line(line)) : error);
    for (const PlanStep& step : current_) {
        for (std::uint32_t i : step.entries) {
            done_[i] = true;
            for_each_write(segment_[i], [&](View& v) { v.storage->poison = reason; });
        }
    }
    return *reason;
}

Runner::Remains Runner::abandon() {
    done_.resize(segment_.size(), false);
    Remains left{std::move(segment_), std::move(done_), {}};
    for (const PlanStep& step : current_) {
        for (std::uint32_t i : step.entries) {
            if (!left.done[i]) left.unfinished.push_back(i);
        }
    }
    return left;
}

/// Lets go of the entries of a finished step, so that temporaries return to the pool before the
/// next step.
void Runner::finish(const std::vector<std::uint32_t>& entries) {
    for (std::uint32_t i : entries) {
        done_[i] = true;
        if (i + 1 < segment_.size())
            tape_.release(segment_[i], record_.number,
                          in_flight_);  // the record borrows the last entry's line
    }
}

void Runner::outside_engine(bool long_work, const std::function<void()>& work, bool restarts) {
    if (!long_work || !tape_.hooks.leave_engine) {
        work();
        return;
    }
    if (!in_flight_) {
        in_flight_ = true;
        plans_ = tape_.finder_->plans();
        tape_.flights_->take_off(*this);
    }
    run_outside(tape_.hooks, restarts, work);
}

/// Of a step: null where the host computes it.
Queue* Runner::queue_of(const PlanStep& step) const {
    const Entry& e = segment_[step.entries.front()];
    Device* device = nullptr;
    for_each_write(e, [&](const View& v) {
        if (!v.storage->addressable()) device = v.storage->device;
    });
    if (!device) return nullptr;
    if (e.call && e.kind == EntryKind::Opaque && e.call->transfers()) return device->copy_queue();
    return unisono::current<Places>().queue(e.queue, *device);
}

/// Notes what a step on a device does with its operands, and what may yet go wrong with it.
void Runner::end(Submission& submission, const Entry& e, const Submission::Needs& needs) {
    std::unique_ptr<const LateFault::Check> check;
    if (e.kind == EntryKind::Opaque) check = e.call->take_check();
    const bool may_fail = check != nullptr;
    auto fault = submission.end(std::move(check), e.line, needs);
    if (fault && may_fail) tape_.note_fault(fault);
    if (fault && tape_.eager()) {
        outside_engine(
            true, [&] { submission.last().wait(); }, true);
        fault->raise();
    }
    const bool reaches_host = any_write(e, [](const View& v) { return v.storage->addressable(); });
    if (reaches_host) submission.raise_faults();
}

/// Small packed operands on the host, as most arrays of small programs are: no views to copy, no
/// space to merge.
bool Runner::run_small_step(const PlanStep& step) {
    const Layout* space = step.space.in(segment_).layout;
    if (!space->contiguous() || step.group.reduce_axis >= 0 || !step.snapshots.empty() ||
        !GroupKernel::is_small(space->size()) || debug_level() > 0 || timeline::is_on()) {
        return false;
    }
    char* data[most_operands];
    std::uint64_t scalars[most_scalars];
    std::size_t inputs = step.inputs.size(), outputs = step.outputs.size();
    std::int64_t read = 0, written = 0;
    for (std::size_t k = 0; k < inputs + outputs; ++k) {
        const View& v =
            k < inputs ? step.inputs[k].in(segment_) : step.outputs[k - inputs].in(segment_);
        Storage* s = v.storage;
        if (v.layout != space || s->device || s->poison) return false;
        if (!s->memory.handle) s->allocate();
        (k < inputs ? read : written) += space->size() * size_of(v.dtype);
        data[k] = v.data();
    }
    for (std::size_t k = 0; k < step.scalars.size(); ++k) {
        scalars[k] = static_cast<std::uint64_t>(step.scalars[k].in(segment_).offset);
    }
    if (!step.kernel->run_packed(space->size(), data, scalars)) return false;
    count(counters().kernels_launched);
    note_traffic(read, written);
    return true;
}

void Runner::note_traffic(std::int64_t read, std::int64_t written) {
    count(counters().bytes_read, read);
    count(counters().bytes_written, written);
    record_.bytes += read + written;
    ++record_.kernels;
}

void Runner::note_copied(std::int64_t bytes) {
    count(counters().bytes_read, bytes);
    count(counters().bytes_written, bytes);
    record_.bytes += 2 * bytes;
}

void Runner::run_step(const PlanStep& step) {
    if (run_small_step(step)) return;
    View operands[most_operands];
    std::uint64_t scalars[most_scalars];
    std::size_t inputs = step.inputs.size(), outputs = step.outputs.size();
    const Layout* space = step.space.in(segment_).layout;
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < inputs; ++k) {
        operands[k] = step.inputs[k].in(segment_);
        Storage* s = operands[k].storage;
        if (!s->memory.handle) s->allocate();  // read before it was ever written: un.empty
        if (s->poison) throw Error(*s->poison);
        bytes += operands[k].layout->size() * size_of(operands[k].dtype);
    }
    std::int64_t read = bytes;
    for (std::size_t k = 0; k < outputs; ++k) {
        View& v = operands[inputs + k] = step.outputs[k].in(segment_);
        if (!v.storage->memory.handle) v.storage->allocate();
        bytes += v.layout->size() * size_of(v.dtype);
    }
    for (std::size_t k = 0; k < step.scalars.size(); ++k) {
        scalars[k] = static_cast<std::uint64_t>(step.scalars[k].in(segment_).offset);
    }
    std::vector<Compacted> copies;
    for (std::uint32_t k : step.snapshots)
        operands[k] = copies.emplace_back(compact(operands[k])).view;
    note_traffic(read, bytes - read);
    if (debug_level() >= 1) log_step(step, bytes);
    timeline::Scope span;
    if (timeline::is_on()) span.begin(timeline::Kind::Kernel, text_of(step), place_of(step), bytes);
    GroupKernel::Call call{space,
                           {operands, inputs},
                           {operands + inputs, outputs},
                           {scalars, step.scalars.size()},
                           operands[inputs].storage->device};
    if (operands[inputs].storage->addressable()) {
        outside_engine(space->size() >= long_step, [&] { step.kernel->run(call); });
        return;
    }
    Submission submission(queue_of(step));
    for (const View& v : call.inputs) submission.reads(v);
    for (const View& v : call.outputs) submission.writes(v);
    std::vector<StoreAnew> anew;
    for (std::uint32_t k : step.anew) {
        anew.emplace_back(operands[inputs + k]);
        note_copied(anew.back().bytes_copied());
    }
    const auto work = [&] {
        try {
            for (std::size_t k = 0; k < anew.size(); ++k)
                operands[inputs + step.anew[k]] = anew[k].begin();
            step.kernel->run(call);
            for (StoreAnew& output : anew) output.complete();
        } catch (...) {
            for (StoreAnew& output : anew) output.abandon();  // while its queue is known
            throw;
        }
    };
    // A device may have to compile first.
    outside_engine(true, [&] { submission.run(work); });
    span.follow(submission.last());
    std::optional<Dependences> known;
    const auto needs = [&](const Storage& written, const Storage& read) {
        if (!known) {
            std::vector<View> stored;  // operands may be other memory by now
            for (OperandRef ref : step.outputs) stored.push_back(ref.in(segment_));
            known.emplace().add(step.group, {operands, inputs}, stored);
        }
        return (*known)(written, read);
    };
    end(submission, segment_[step.entries.front()], outputs > 1 ? needs : Submission::Needs());
    for (StoreAnew& output : anew) output.end();
}

/// Later calls that read nothing that runs in between.
std::vector<std::size_t> Runner::partners(const Plan& plan, std::size_t number) const {
    constexpr std::size_t furthest = 3 * OpaqueCall::most_together;
    std::vector<std::size_t> found;
    const std::size_t end = std::min(plan.steps.size(), number + 1 + furthest);
    for (std::size_t j = number + 1; j < end && found.size() + 1 < OpaqueCall::most_together; ++j) {
        const PlanStep& step = plan.steps[j];
        if (step.opaque < 0 || has_joined(j)) continue;
        const Entry& e = segment_[static_cast<std::size_t>(step.opaque)];
        bool is_poisoned = any_read(e, [](const View& v) { return v.storage->poison != nullptr; });
        if (!joins(e) || is_poisoned) continue;
        bool is_ready = std::all_of(step.sources.begin(), step.sources.end(), [&](auto source) {
            return source <= static_cast<std::int32_t>(number);
        });
        if (is_ready) found.push_back(j);
    }
    return found;
}

/// Where a call's result goes: its own memory, or that of the assignment that would copy it.
View Runner::stored_view(const PlanStep& step) const {
    View out = segment_[static_cast<std::size_t>(step.opaque)].out;
    if (step.stored_by >= 0) {
        const View& target = segment_[static_cast<std::size_t>(step.stored_by)].out;
        out.storage = target.storage;
        out.offset = target.offset;
    }
    return out;
}

static void begin_span(timeline::Scope& span, const Entry& e, SourcePlace place) {
    std::int64_t bytes = 0;
    const auto add = [&](const View& v) { bytes += v.layout->size() * size_of(v.dtype); };
    for_each_read(e, add);
    for_each_write(e, add);
    std::string name = e.call->name();
    constexpr std::string_view launch = "launch ";
    timeline::Kind kind = timeline::Kind::Call;
    if (e.call->transfers()) {
        kind = timeline::Kind::Copy;
        bytes /= 2;  // of what is copied, not of both ends
    } else if (name.starts_with(launch)) {
        kind = timeline::Kind::Launch;
        name.erase(0, launch.size());
    }
    span.begin(kind, std::move(name), std::move(place), bytes);
}

void Runner::run_opaque(const PlanStep& step, const Plan& plan, std::size_t number) {
    Entry& e = segment_[static_cast<std::size_t>(step.opaque)];
    std::int64_t elements = 0;
    auto prepare_view = [&](const View& v) {
        v.storage->allocate();
        elements += v.layout->size();
    };
    auto prepare = [&](Entry& entry, const View& out) {
        for_each_read(entry, [&](const View& v) {
            prepare_view(v);
            if (v.storage->poison) throw Error(*v.storage->poison);
        });
        prepare_view(out);
        if (!entry.call->tail) return;
        for (const View& v : entry.call->tail->writes) prepare_view(v);
    };
    const View out = stored_view(step);
    prepare(e, out);
    std::vector<std::size_t> others;
    if (joins(e)) others = partners(plan, number);
    std::vector<View> outs(others.size());
    std::vector<OpaqueCall::Operands> calls{{e.call, e.in, &out}};
    for (std::size_t k = 0; k < others.size(); ++k) {
        const PlanStep& later = plan.steps[others[k]];
        Entry& entry = segment_[static_cast<std::size_t>(later.opaque)];
        outs[k] = stored_view(later);
        prepare(entry, outs[k]);
        calls.push_back({entry.call, entry.in, &outs[k]});
    }
    if (debug_level() >= 1) debug_log("call " + e.call->name());
    timeline::Scope span;
    if (timeline::is_on()) begin_span(span, e, place_of(step));
    const bool long_work =
        e.call->may_take_long() || e.call->work({e.in, e.inputs}, elements) >= long_step;
    std::uint64_t done = 0;
    auto run_alone = [&] {
        const std::span<const View> in{e.in, e.inputs};
        if (!e.call->tail) return e.call->run(in, {&out, 1});
        std::vector<View> all_in(in.begin(), in.end()), all_out{out};
        all_in.insert(all_in.end(), e.call->tail->reads.begin(), e.call->tail->reads.end());
        all_out.insert(all_out.end(), e.call->tail->writes.begin(), e.call->tail->writes.end());
        e.call->run(all_in, all_out);
    };
    auto work = [&] {
        if (!others.empty()) done = e.call->run_together(calls);
        if (done == 0) run_alone();
    };
    Submission submission(queue_of(step));
    for_each_read(e, [&](const View& v) { submission.reads(v); });
    for_each_write(e, [&](const View& v) { submission.writes(v); });
    outside_engine(
        long_work, [&] { submission.run(work); }, e.call->restarts());
    span.follow(submission.last());
    end(submission, e);
    if (done == 0) return;
    joined_.resize(plan.steps.size(), false);
    for (std::size_t k = 0; k < others.size(); ++k) {
        if (!(done >> (k + 1) & 1)) continue;
        joined_[others[k]] = true;
        if (debug_level() >= 1)
            debug_log("call " + calls[k + 1].call->name() + ", in the same pass");
    }
}

/// "multiply add (100, 100)".
std::string Runner::text_of(const PlanStep& step) const {
    std::string ops;
    for (const auto& n : step.kernel->group().nodes) {
        if (n.kind == Group::Kind::Op) ops += (ops.empty() ? "" : " ") + std::string(name(n.op));
    }
    for (const auto& o : step.kernel->group().outputs) {
        if (o.reduces) ops += (ops.empty() ? "reduce-" : " reduce-") + std::string(name(o.op));
    }
    if (ops.empty()) ops = "copy";
    return ops + " " + shape_text(step.space.in(segment_).layout->shape());
}

void Runner::log_step(const PlanStep& step, std::int64_t bytes) const {
    debug_log("kernel " + text_of(step) + ", " + std::to_string(bytes) + " bytes");
}

SourcePlace Runner::place_of(const PlanStep& step) const {
    const LineRef line = segment_[step.entries.front()].line;
    return line.code && tape_.hooks.decode_line ? tape_.hooks.decode_line(line) : SourcePlace{};
}

}  // namespace unisono
