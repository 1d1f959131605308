// Runs several kernels band by band.
#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "backends/host/shared.h"
#include "backends/timeline.h"
#include "context/context.h"
#include "core/caches.h"
#include "core/error.h"
#include "core/few.h"
#include "core/limits.h"
#include "core/settings.h"
#include "core/threads/parallel.h"
#include "core/threads/threads.h"
#include "tape/plan/bands.h"
#include "tape/run/bands/band_schedule.h"
#include "tape/run/bands/bands.h"
#include "tape/run/dependences.h"
#include "tape/run/iteration_space.h"
#include "tape/run/run.h"
#include "tape/run/submission.h"
#include "tape/run/temporary.h"

namespace unisono {

namespace {

/// What a band may touch: it stays in the second-level cache, beside what is fetched next.
constexpr std::int64_t band_bytes = 48 << 10;
/// The same where kernels run rows behind one another, for each thread and as a share of the
/// last-level cache: fewer rows cost more in waiting for other threads than memory would.
constexpr std::int64_t shifted_band_bytes = 2 << 20, shifted_band_share = 16;
/// The share of the second-level cache where a thread is alone.
constexpr std::int64_t own_cache_share = 2;
/// The same on a device that shares the host's caches, as a share of those: its threads wait some
/// 15 us between two kernels, so bands are larger than those of the host. A smaller band is not
/// worth its launches.
constexpr std::int64_t device_band_share = 4, least_device_band = 1 << 20;
/// Points times operations from which threads share the bands (backends/cpu/runtime.cpp).
constexpr std::int64_t shared_from = 1'000'000;
/// The same from which they share a band of kernels that run behind one another.
constexpr std::int64_t shared_band_from = 1 << 14;
constexpr std::int64_t most_threads = 64;    ///< of these
constexpr int spins_before_yield = 1 << 12;  ///< of a thread that waits for a part of another one

std::int64_t bytes_of(const View& v) { return v.layout->size() * size_of(v.dtype); }

Dependences dependences_of(std::span<const PlanStep> steps, const std::vector<Entry>& segment) {
    Dependences all;
    for (const PlanStep& step : steps) {
        std::vector<View> inputs, outputs;
        for (OperandRef ref : step.inputs) inputs.push_back(ref.in(segment));
        for (OperandRef ref : step.outputs) outputs.push_back(ref.in(segment));
        all.add(step.group, inputs, outputs);
    }
    return all;
}

std::int64_t points_of(const PlanStep& step, const std::vector<Entry>& segment) {
    return step.space.in(segment).layout->size();
}

/// Bytes of all storages that the steps touch, counted up to `enough`.
std::int64_t bytes_touched(std::span<const PlanStep> steps, const std::vector<Entry>& segment,
                           std::int64_t enough) {
    Few<const Storage*, 16> seen;
    std::int64_t bytes = 0;
    for (const PlanStep& step : steps) {
        for (const auto* refs : {&step.inputs, &step.outputs}) {
            for (OperandRef ref : *refs) {
                const Storage* s = ref.in(segment).storage;
                if (std::find(seen.begin(), seen.end(), s) != seen.end()) continue;
                seen.push_back(s);
                bytes += s->bytes;
                if (bytes >= enough) return bytes;
            }
        }
    }
    return bytes;
}

/// Bytes from which on it pays to run rows behind one another.
std::int64_t shifted_traffic() {
    return limits::shifted_band_traffic * (thread_count() > 1 ? 2 : 1);
}

}  // namespace

Runner::Bands::Bands(std::span<const PlanStep> steps, const std::vector<Entry>& segment,
                     Given given)
    : steps_(steps),
      segment_(segment),
      given_(given),
      device_(given.device),
      cache_(device_ ? std::min(shared_cache(*device_), last_level_cache()) : 0),
      is_whole_(device_ && has_own_memory(*device_)) {
    if (device_ || given.may_have_twins) find_twins();
    kernels_.reserve(2 * steps.size());
    for (std::size_t k = 0; k < steps.size(); k = kernels_.back().end) {
        const PlanStep& step = steps[k];
        Kernel kernel;
        kernel.step = &step;
        kernel.end = k + 1;
        for (const auto* refs : {&step.inputs, &step.outputs}) {
            for (OperandRef ref : *refs) kernel.operands.push_back(ref.in(segment));
        }
        for (OperandRef ref : step.scalars)
            kernel.scalars.push_back(static_cast<std::uint64_t>(ref.in(segment).offset));
        if (!add(std::move(kernel))) break;
    }
}

/// False where the kernel cannot take turns with those before it.
bool Runner::Bands::add(Kernel kernel) {
    const bool is_poisoned =
        std::any_of(kernel.operands.begin(), kernel.operands.end(),
                    [](const View& v) { return v.storage->poison != nullptr; });
    Kernel again;
    if (is_poisoned || !name_memories(kernel, again)) return false;
    return (!again.is_again || take(std::move(again))) && take(std::move(kernel));
}

bool Runner::Bands::take(Kernel kernel) {
    const PlanStep& step = *kernel.step;
    const Layout* space = step.space.in(segment_).layout;
    if (space->size() == 0) return false;
    if (is_whole_) {
        if (!writes_what_exists(kernel)) return false;
        schedule_.take_whole(space->shape());
    } else if (!schedule_.take(space->shape(), kernel.operands, step.inputs.size()) ||
               (!given_.may_shift && is_shifted(schedule_.steps().size()))) {
        return false;
    }
    const BandSchedule::Step& taken = schedule_.steps().back();
    // The others are launched as they were compiled; on a device the host would wait for it.
    const bool needs_code = device_ || !taken.is_one_row;
    if (needs_code && !step.kernel->is_compiled(call_of(kernel))) return false;
    for (Twin* twin : kernel.turned) twin->is_other = !twin->is_other;
    kernel.row_work =
        space->size() / taken.rows * static_cast<std::int64_t>(step.group.nodes.size());
    kernels_.push_back(std::move(kernel));
    return true;
}

int Runner::Bands::ring_of(const Storage* storage) const {
    const auto found = std::find_if(rings_.begin(), rings_.end(), [&](const Ring& ring) {
        return ring.field->storage == storage;
    });
    return found == rings_.end() ? -1 : static_cast<int>(found - rings_.begin());
}

bool Runner::Bands::is_shifted(std::size_t count) const {
    const auto taken = schedule_.steps().first(count);
    return std::any_of(taken.begin(), taken.end(), [&](const BandSchedule::Step& s) {
        return s.has_others || s.is_one_row || s.first != taken.front().first ||
               s.rows != taken.front().rows;
    });
}

/// Whether together they touch much less than one after the other, and more than caches hold.
bool Runner::Bands::pays(std::size_t count) {
    std::int64_t together = 0, apart = 0;
    for (const BandSchedule::Field& field : schedule_.fields()) {
        LineCount all;
        std::vector<LineCount> own(count);
        for (const BandSchedule::Use& use : field.uses) {
            if (use.step >= count) continue;
            all.add(use.view);
            own[use.step].add(use.view);
        }
        const auto capped = [&](const LineCount& lines) {
            return std::min(lines.bytes(), field.storage->bytes);
        };
        for (const LineCount& lines : own) apart += capped(lines);
        if (ring_of(field.storage) < 0) together += capped(all);
    }
    const std::int64_t least = is_shifted_ || device_ ? shifted_traffic() : limits::band_traffic;
    touches_little_ = together < least && kernels_[count - 1].end == steps_.size();
    return together >= least && 2 * apart >= 3 * together;
}

/// Whether nobody sees a storage without memory but these steps.
bool Runner::Bands::is_seen_by(std::span<const PlanStep> steps, const Storage& s) const {
    if (s.memory.handle || s.borrowed || s.exports > 0) return false;
    std::uint32_t reads = 0, writes = 0;
    for (const PlanStep& step : steps) {
        for (std::uint32_t i : step.entries) {
            for_each_read(segment_[i], [&](const View& v) { reads += v.storage == &s; });
            for_each_write(segment_[i], [&](const View& v) { writes += v.storage == &s; });
        }
    }
    if (given_.in_flight)
        return s.flight_readers == reads && s.flight_writers == writes && s.refs == 0;
    return !s.in_flight() && s.readers == reads && s.pending == writes && s.refs == reads + writes;
}

/// Whether nobody sees the field's storage but the first `count` kernels, the first of which writes
/// it.
bool Runner::Bands::is_temporary(const BandSchedule::Field& field, std::size_t count) const {
    const Storage& s = *field.storage;
    const bool has_twin =
        std::any_of(twins_.begin(), twins_.end(), [&](const Twin& t) { return t.storage() == &s; });
    if (has_twin || field.uses.empty() || field.pitch == 0 || s.bytes % field.pitch != 0)
        return false;
    // Uses of one step come inputs first.
    const std::uint32_t first = field.uses.front().step;
    for (const BandSchedule::Use& use : field.uses) {
        if (use.step >= count || use.pitch != field.pitch || !schedule_.row_of(use, field.pitch) ||
            (use.step == first && !use.writes))
            return false;
    }
    return is_seen_by(steps_until(count), s);
}

/// Bytes that the kernels may touch while they work on a band.
std::int64_t Runner::Bands::budget() const {
    if (device_) return cache_ / device_band_share;
    if (!is_shifted_) return band_bytes;
    return std::min(shifted_band_bytes, last_level_cache() / shifted_band_share) * thread_count();
}

/// Rows of a band of which everything that the kernels touch stays in the caches; false where few
/// bands are left.
bool Runner::Bands::choose_rows(std::size_t count) {
    std::int64_t per_row = 0, beside = 0, points = 0;
    for (const BandSchedule::Field& field : schedule_.fields()) {
        const BandSchedule::Window window = schedule_.window(field, count);
        per_row += window.row_bytes;
        beside += window.row_bytes * window.rows;
    }
    first_ = std::numeric_limits<std::int64_t>::max();
    last_ = std::numeric_limits<std::int64_t>::min();
    for (std::size_t k = 0; k < count; ++k) {
        const BandSchedule::Step& step = schedule_.steps()[k];
        first_ = std::min(first_, step.first + step.shift);
        last_ = std::max(last_, step.end() + step.shift);
        points = std::max(points, points_of(*kernels_[k].step, segment_) / step.rows);
    }
    const std::int64_t all = last_ - first_;
    std::int64_t bytes = budget();
    if (device_ && bytes < least_device_band) return false;
    if (is_shifted_) {
        if (beside > bytes / 2) return false;
        bytes -= beside;
        // One thread waits for nobody, so that what it works on may stay in its own core's cache;
        // fewer rows than the kernels are apart would be launches without work.
        if (thread_count() == 1)
            bytes =
                std::min(bytes, std::max(second_level_cache() / own_cache_share - beside, beside));
    }
    rows_ = std::min(bytes / std::max<std::int64_t>(per_row, 1), all / limits::band_count);
    rows_ = std::max({rows_, (limits::band_points + points - 1) / points, std::int64_t{1}});
    return rows_ * 2 <= all;
}

/// Whether more temporary arrays would be whole at once than kernels one after another need.
bool Runner::Bands::holds_much(std::size_t count) const {
    constexpr std::int64_t most_arrays = 8;  // as large as the largest
    std::int64_t largest = 0, whole = 0;
    for (const BandSchedule::Field& field : schedule_.fields()) {
        largest = std::max(largest, field.storage->bytes);
        if (ring_of(field.storage) < 0 && is_temporary(field, count)) whole += field.storage->bytes;
    }
    return whole > most_arrays * largest;
}

std::size_t Runner::Bands::choose() {
    for (std::size_t count = kernels_.size(); count >= 2; --count) {
        if (!twins_may_end(count)) continue;
        rings_.clear();
        if (is_whole_) {
            if (!choose_whole(count)) return 0;
            count_ = count;
            return kernels_[count - 1].end;
        }
        is_shifted_ = is_shifted(count);
        for (const BandSchedule::Field& field : schedule_.fields()) {
            if (is_shifted_ && is_temporary(field, count))
                rings_.push_back({&field, 0, field.pitch, nullptr});
        }
        if (holds_much(count) || !choose_rows(count)) continue;
        if (!pays(count)) return 0;
        choose_tiles(count);
        count_ = count;
        return kernels_[count - 1].end;
    }
    return 0;
}

std::size_t Runner::Bands::prepare() {
    const std::size_t steps = choose();
    if (steps == 0) return 0;
    try {
        allocate();
        // A device may have to compile, for which others do not wait.
        return device_ || bind() ? steps : 0;
    } catch (const Error& e) {
        // One after another they need less.
        if (e.kind() != ErrorKind::Memory) throw;
        return 0;
    }
}

void Runner::Bands::allocate() {
    for (Ring& ring : rings_) {
        ring.rows = rows_ + schedule_.window(*ring.field, count_).rows;
        const std::int64_t bytes[] = {ring.rows * ring.pitch};
        ring.memory = std::make_unique<Temporary>(Dims(bytes, 1), DType::UInt8, device_);
    }
    for (std::size_t k = 0; k < count_ && !is_whole_; ++k) {
        Kernel& kernel = kernels_[k];
        const BandSchedule::Step& step = schedule_.steps()[k];
        for (const View& v : kernel.operands) {
            kernel.ring.push_back(ring_of(v.storage));
            kernel.has_rings = kernel.has_rings || kernel.ring.back() >= 0;
            if (kernel.ring.back() < 0) v.storage->allocate();
            kernel.row_bytes.push_back(
                step.is_one_row ? 0 : v.layout->strides()[step.axis] * size_of(v.dtype));
        }
        work_ += kernel.row_work * step.rows;
    }
    if (!device_) begin_twins();
}

GroupKernel::Call Runner::Bands::call_of(const Kernel& kernel) const {
    const PlanStep& step = *kernel.step;
    const std::span<const View> views(kernel.operands);
    const std::size_t inputs = step.inputs.size();
    return {step.space.in(segment_).layout, views.first(inputs), views.subspan(inputs),
            kernel.scalars, device_};
}

bool Runner::Bands::bind() {
    const std::size_t bound = group_period_ > 0 ? group_period_ : count_;
    for (std::size_t k = 0; k < bound; ++k) {
        Kernel& kernel = kernels_[k];
        const BandSchedule::Step& step = schedule_.steps()[k];
        if (step.is_one_row) continue;
        const Dims space = kernel.step->space.in(segment_).layout->shape();
        std::vector<std::int64_t> part(space.begin(), space.end());
        part[step.axis] = 2;
        try {
            kernel.launch = kernel.step->kernel->bind(call_of(kernel), part);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::Unsupported) throw;
            return false;
        }
        kernel.row_extent = kernel.launch.arrays.front().shape[0] / 2;
    }
    return true;
}

/// Launches on some rows of a step, none of which is behind the end of a ring with the others
/// before it.
void Runner::Bands::launch(const Kernel& kernel, std::int64_t from, std::int64_t to) const {
    ArrayArg arrays[most_operands];
    std::int64_t extents[max_rank];
    const std::span<const ArrayArg> bound(kernel.launch.arrays);
    const Dims shape = bound.front().shape;
    std::copy(shape.begin(), shape.end(), extents);
    extents[0] = (to - from) * kernel.row_extent;
    for (std::size_t o = 0; o < bound.size(); ++o) {
        arrays[o] = bound[o];
        arrays[o].shape = {extents, shape.size()};
        arrays[o].offset += from * kernel.row_bytes[o];
        arrays[o].memory = kernel.operands[o].storage->memory;
        if (kernel.ring[o] < 0) continue;
        const Ring& ring = rings_[static_cast<std::size_t>(kernel.ring[o])];
        arrays[o].memory = ring.memory->view.storage->memory;
        arrays[o].offset %= ring.rows * ring.pitch;
    }
    kernel.launch.code->launch({{arrays, bound.size()}, kernel.launch.scalars, {}, {}, 0});
}

/// Of a step of one row.
void Runner::Bands::run_whole(const Kernel& kernel) const {
    kernel.step->kernel->run(call_of(kernel));
}

void Runner::Bands::run_rows(const Kernel& kernel, const BandSchedule::Step& step,
                             std::int64_t from, std::int64_t to) const {
    if (step.is_one_row) return run_whole(kernel);
    while (from < to) {
        std::int64_t end = to;
        for (std::size_t o = 0; kernel.has_rings && o < kernel.ring.size(); ++o) {
            if (kernel.ring[o] < 0) continue;
            const Ring& ring = rings_[static_cast<std::size_t>(kernel.ring[o])];
            const std::int64_t row =
                (kernel.launch.arrays[o].offset + from * kernel.row_bytes[o]) / ring.pitch;
            end = std::min(end, from + ring.rows - row % ring.rows);
        }
        launch(kernel, from, end);
        from = end;
    }
}

void Runner::Bands::note_failure() {
    std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    has_failed_.store(true, std::memory_order_relaxed);
}

/// Each band by one thread.
void Runner::Bands::run_independent() {
    const std::int64_t bands = (last_ - first_ + rows_ - 1) / rows_;
    auto work = [&](std::int64_t begin, std::int64_t end) {
        try {
            for (std::int64_t band = begin; band < end; ++band) {
                for (std::size_t k = 0; k < count_; ++k) {
                    const std::int64_t from = band * rows_;
                    const BandSchedule::Step& step = schedule_.steps()[k];
                    run_rows(kernels_[k], step, from, std::min(from + rows_, step.rows));
                }
            }
        } catch (...) {
            note_failure();
        }
    };
    if (work_ >= shared_from)
        parallel_for(0, bands, 1, work);
    else
        work(0, bands);
}

/// A step on a band: its rows, which threads share in that many parts.
struct Runner::Bands::Turn {
    std::size_t step;
    std::int64_t from, to, parts;
    std::atomic<std::uint64_t> taken = 0;  ///< a bit for each part that some thread has begun
    std::atomic<std::int64_t> done = 0;

    Turn(std::size_t k, std::int64_t begin, std::int64_t end, std::int64_t count)
        : step(k), from(begin), to(end), parts(count) {}
    std::int64_t begin_of(std::int64_t part) const { return from + (to - from) * part / parts; }
    bool take(std::int64_t part) {
        const std::uint64_t bit = std::uint64_t{1} << part;
        return !(taken.load(std::memory_order_relaxed) & bit) &&
               !(taken.fetch_or(bit, std::memory_order_relaxed) & bit);
    }
    void wait() const {
        for (int k = 0; done.load(std::memory_order_acquire) < parts; ++k) {
            if (k > spins_before_yield) std::this_thread::yield();
        }
    }
};

/// Does what is left of all turns, in order; its own part of each first, which the thread's caches
/// may still hold.
void Runner::Bands::serve(std::int64_t thread, std::deque<Turn>& turns) {
    for (Turn& turn : turns) {
        for (std::int64_t k = 0; k < turn.parts; ++k) {
            const std::int64_t part = (thread + k) % turn.parts;
            if (!turn.take(part)) continue;
            if (!has_failed_.load(std::memory_order_relaxed)) {
                try {
                    run_rows(kernels_[turn.step], schedule_.steps()[turn.step], turn.begin_of(part),
                             turn.begin_of(part + 1));
                } catch (...) {
                    note_failure();
                }
            }
            turn.done.fetch_add(1, std::memory_order_release);
        }
        turn.wait();
    }
}

/// Band after band, each of them by all threads, which stay for all: a turn is shorter than what it
/// takes to wake one up.
void Runner::Bands::run_behind() {
    const std::int64_t threads = std::min<std::int64_t>(thread_count(), most_threads);
    std::deque<Turn> turns;
    for_each_turn([&](std::size_t k, std::int64_t from, std::int64_t to) {
        const bool is_shared = (to - from) * kernels_[k].row_work >= shared_band_from;
        turns.emplace_back(k, from, to, is_shared ? std::min(threads, to - from) : 1);
    });
    parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t thread = begin; thread < end; ++thread) serve(thread, turns);
    });
}

void Runner::Bands::run() {
    complete_twins();
    if (is_shifted_)
        run_behind();
    else
        run_independent();
    if (failure_) std::rethrow_exception(failure_);
}

std::string Runner::Bands::text() const {
    const auto twins =
        std::ranges::count_if(twins_, [&](const Twin& twin) { return is_used(twin); });
    const std::string second =
        twins > 0 ? "; " + std::to_string(twins) + " arrays have a second memory" : "";
    if (is_whole_)
        return "these " + std::to_string(count_) + " kernels follow one another" +
               (group_period_ > 0 ? " in one launch" : "") + second;
    const std::int64_t bands = (last_ - first_ + rows_ - 1) / rows_;
    const bool has_tiles = tiles_.count > 0;
    std::string text = "these " + std::to_string(count_) + " kernels take turns on " +
                       std::to_string(has_tiles ? tiles_.count : bands) +
                       (has_tiles ? " tiles of " : " bands of ") +
                       std::to_string(has_tiles ? tiles_.rows : rows_) + " rows";
    if (is_shifted_ && !has_tiles)
        text += ", the last one " + std::to_string(schedule_.steps()[count_ - 1].shift) +
                " rows behind the first";
    if (!rings_.empty())
        text += "; of " + std::to_string(rings_.size()) + " temporary arrays some rows are kept";
    return text + second;
}

std::size_t Runner::run_bands(std::span<const PlanStep> steps, bool& is_small) {
    std::int64_t points = 0;
    for (const PlanStep& step : steps) points += points_of(step, segment_);
    Queue* queue = queue_of(steps.front());
    const bool is_whole = queue && has_own_memory(queue->device());
    is_small =
        !is_whole && points * static_cast<std::int64_t>(sizeof(double)) < limits::band_traffic / 8;
    if (is_small) return 0;
    const auto elsewhere = std::find_if(
        steps.begin(), steps.end(), [&](const PlanStep& step) { return queue_of(step) != queue; });
    const bool is_all = elsewhere == steps.end();
    steps = steps.first(static_cast<std::size_t>(elsewhere - steps.begin()));
    const std::int64_t touched = bytes_touched(steps, segment_, shifted_traffic());
    if (!is_whole && touched < limits::band_traffic) {
        is_small = is_all;
        return 0;
    }
    Device* device = queue ? &queue->device() : nullptr;
    const bool may_shift = is_whole || touched >= shifted_traffic();
    Bands::Given given{device, may_shift, !device && may_shift, in_flight_};
    std::optional<Bands> chosen(std::in_place, steps, segment_, given);
    std::size_t count = chosen->prepare();
    if (chosen->has_twins() && chosen->touches_little()) {  // and others touch less
        is_small = is_all;
        return 0;
    }
    if (given.may_have_twins && chosen->has_twins() && 2 * count <= steps.size()) {
        given.may_have_twins = false;
        chosen.emplace(steps, segment_, given);
        count = chosen->prepare();
    }
    if (is_whole && !chosen->has_twins()) is_small = is_all;
    if (count == 0) return 0;
    Bands& bands = *chosen;
    steps = steps.first(count);
    current_ = steps;
    std::int64_t bytes = 0;
    for (const PlanStep& step : steps) {
        if (bands.is_left_out(step)) continue;
        std::int64_t read = 0, written = 0;
        for (OperandRef ref : step.inputs) read += bytes_of(ref.in(segment_));
        for (OperandRef ref : step.outputs) written += bytes_of(ref.in(segment_));
        unisono::count(counters().kernels_launched);
        note_traffic(read, written);
        bytes += read + written;
        if (debug_level() >= 1) log_step(step, read + written);
    }
    timeline::Scope span;
    if (timeline::is_on()) {
        std::string name;
        for (const PlanStep& step : steps) name += (name.empty() ? "" : "; ") + text_of(step);
        span.begin(timeline::Kind::Kernel, std::move(name), place_of(steps.front()), bytes);
    }
    if (debug_level() >= 1) debug_log(bands.text());
    note_copied(bands.bytes_copied());
    if (!device) {
        outside_engine(points >= long_step, [&] { bands.run(); });
        bands.end();
        return count;
    }
    Submission submission(queue);
    for (const PlanStep& step : steps) {
        for (OperandRef ref : step.inputs) submission.reads(ref.in(segment_));
        for (OperandRef ref : step.outputs) submission.writes(ref.in(segment_));
    }
    outside_engine(true, [&] { submission.run([&] { bands.submit(); }); });
    span.follow(submission.last());
    std::optional<Dependences> known;
    const auto needs = [&](const Storage& written, const Storage& read) {
        if (!known) known = dependences_of(steps, segment_);
        return (*known)(written, read);
    };
    end(submission, segment_[steps.back().entries.front()], needs);
    bands.end();
    return count;
}

}  // namespace unisono
