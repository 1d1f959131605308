// Second memories of arrays that kernels which take turns read and store anew.
//
// `u[1:-1] = u[2:] + u[:-2]` may not store where it yet has to read. On a device the kernel stores
// in other memory (store_anew.h), which would be fresh memory each time; on the host a temporary
// array takes the results and another kernel copies them. Here the array has two memories: each
// such kernel reads one and writes the other, a row behind the kernel before it. What lies around
// the elements that these kernels write is copied once, and a statement that writes there (boundary
// conditions) does so in both memories.
#include <algorithm>

#include "core/pool.h"
#include "tape/plan/form_plan.h"
#include "tape/run/bands/bands.h"

namespace unisono {

namespace {

/// The largest second memory of an array of the host, as a share of what arrays may take. Of larger
/// ones temporary arrays keep some rows.
constexpr std::int64_t second_memory_share = 4;
/// The most elements that a statement writes in both memories, as a share of those that others
/// store anew.
constexpr std::int64_t again_share = 4;

}  // namespace

Runner::Bands::Twin::Twin(const View& output, std::int64_t times)
    : written(output), anew(output, true, times) {
    other.device = output.storage->device;
    other.bytes = output.storage->bytes;
    other.borrowed = true;  // of `anew`, once that has begun
}

Runner::Bands::Twin* Runner::Bands::twin_of(const Storage* storage) {
    const auto found = std::find_if(twins_.begin(), twins_.end(),
                                    [&](const Twin& t) { return t.storage() == storage; });
    return found == twins_.end() ? nullptr : &*found;
}

/// What the step may store in the other memories of arrays. On the host these are its temporary
/// results that the next step does nothing with but copy them into arrays.
std::vector<Runner::Bands::Anew> Runner::Bands::stored_anew(const PlanStep& step) const {
    std::vector<Anew> found;
    for (std::uint32_t k : step.anew) found.push_back({k, step.outputs[k].in(segment_)});
    if (device_ || &step == &steps_.back()) return found;
    const PlanStep& next = *(&step + 1);
    const Dims space = step.space.in(segment_).layout->shape();
    for (std::size_t k = 0; k < next.outputs.size(); ++k) {
        const Group::Node& node = next.group.nodes[next.group.outputs[k].node];
        if (node.kind != Group::Kind::Input) return {};
        const View from = next.inputs[node.a].in(segment_), to = next.outputs[k].in(segment_);
        const auto made =
            std::find_if(step.outputs.begin(), step.outputs.end(),
                         [&](OperandRef output) { return output.in(segment_).same_as(from); });
        const auto number = static_cast<std::uint32_t>(made - step.outputs.begin());
        const bool is_known =
            std::ranges::any_of(found, [&](const Anew& other) { return other.output == number; });
        if (made == step.outputs.end() || is_known ||
            !std::ranges::equal(to.layout->shape(), space) ||
            !std::ranges::equal(from.layout->shape(), space) ||
            !is_seen_by({&step, 2}, *from.storage))
            return {};
        found.push_back({number, to});
    }
    return found;
}

/// How many steps store that anew.
std::int64_t Runner::Bands::times_stored(const View& output) const {
    std::int64_t times = 0;
    for (const PlanStep& step : steps_) {
        for (std::uint32_t k : step.anew) times += step.outputs[k].in(segment_).same_as(output);
    }
    return times;
}

void Runner::Bands::find_twins() {
    for (const PlanStep& step : steps_) {
        for (const Anew& anew : stored_anew(step)) {
            const Storage& s = *anew.to.storage;
            if (!s.memory.handle || twin_of(&s)) continue;
            if (!device_ && (!is_large(s) || s.bytes > pool::limit() / second_memory_share))
                continue;
            const std::int64_t times = is_whole_ ? times_stored(anew.to) : 1;
            if (!twins_.emplace_back(anew.to, times).anew.is_whole()) twins_.pop_back();
        }
    }
}

/// Whether each of these arrays has a second memory for that part of it.
bool Runner::Bands::have_twins(std::span<const Anew> stored) const {
    return std::ranges::all_of(stored, [&](const Anew& anew) {
        return std::ranges::any_of(twins_,
                                   [&](const Twin& t) { return t.written.same_as(anew.to); });
    });
}

/// Names the memories of the kernel's operands. `again` is to run before it where it writes what
/// both memories of an array have. False where the kernel cannot run with those before it.
bool Runner::Bands::name_memories(Kernel& kernel, Kernel& again) {
    const PlanStep& step = *kernel.step;
    if (twins_.empty()) return step.anew.empty();
    const std::size_t inputs = step.inputs.size();
    std::vector<Anew> stored = stored_anew(step);
    if (!have_twins(stored)) {
        if (!step.anew.empty()) return false;
        stored.clear();
    }
    for (const Anew& anew : stored) kernel.operands[inputs + anew.output] = anew.to;
    if (!stored.empty() && !device_) ++kernel.end;  // the copies

    Kernel second = kernel;
    std::size_t named = 0;
    for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
        View& v = kernel.operands[o];
        Twin* twin = twin_of(v.storage);
        if (!twin) continue;
        const bool is_input = o < inputs;
        if (std::ranges::any_of(stored, [&](const Anew& a) { return a.output + inputs == o; })) {
            v.storage = twin->memory(!twin->is_other);
            kernel.turned.push_back(twin);
            continue;
        }
        if (!is_input && !v.same_as(twin->written)) {
            if (v.layout->size() > twin->written.layout->size() / again_share) return false;
            again.is_again = true;
        }
        named += is_input ? 0 : 1;
        v.storage = twin->memory(twin->is_other);
        second.operands[o].storage = twin->memory(twin->is_other == is_input);
    }
    if (!again.is_again) return true;
    if (named < step.outputs.size()) return false;  // nothing may be updated twice
    again = std::move(second);
    again.is_again = true;
    --again.end;
    return true;
}

std::size_t Runner::Bands::times_turned(const Twin& twin, std::size_t count) const {
    std::size_t times = 0;
    for (std::size_t k = 0; k < count; ++k) {
        for (const Twin* turned : kernels_[k].turned) times += turned == &twin;
    }
    return times;
}

/// Whether after that many kernels each array is in memory where it may stay.
bool Runner::Bands::twins_may_end(std::size_t count) const {
    return std::ranges::all_of(twins_, [&](const Twin& twin) {
        return twin.anew.may_move() || times_turned(twin, count) % 2 == 0;
    });
}

bool Runner::Bands::is_left_out(const PlanStep& step) const {
    return std::none_of(kernels_.begin(), kernels_.begin() + static_cast<std::ptrdiff_t>(count_),
                        [&](const Kernel& kernel) { return kernel.step == &step; });
}

/// Whether its second memory takes part.
bool Runner::Bands::is_used(const Twin& twin) const {
    return std::any_of(kernels_.begin(), kernels_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [&](const Kernel& kernel) {
                           return std::ranges::any_of(kernel.operands, [&](const View& v) {
                               return v.storage == &twin.other;
                           });
                       });
}

std::int64_t Runner::Bands::bytes_copied() const {
    std::int64_t bytes = 0;
    for (const Twin& twin : twins_) bytes += is_used(twin) ? twin.anew.bytes_copied() : 0;
    return bytes;
}

void Runner::Bands::begin_twins() {
    for (Twin& twin : twins_) {
        if (is_used(twin)) twin.other.memory = twin.anew.begin().storage->memory;
    }
}

void Runner::Bands::complete_twins() {
    for (Twin& twin : twins_) {
        if (is_used(twin)) twin.anew.complete();
    }
}

void Runner::Bands::end() {
    for (Twin& twin : twins_) {
        if (times_turned(twin, count_) % 2 == 1) twin.anew.end();
    }
}

}  // namespace unisono
