// Kernels that take turns, given to the queue of a device that shares the host's caches.
//
// A step that stores anew what it reads (store_anew.h) would fetch other memory each time. Here the
// array has two memories: every such step reads one and writes the other, a row behind the step
// before it.
#include <algorithm>

#include "tape/record/hazards.h"
#include "tape/run/bands/bands.h"

namespace unisono {

Runner::Bands::Twin::Twin(const View& output) : written(output), anew(output) {
    other.device = output.storage->device;
    other.bytes = output.storage->bytes;
    other.borrowed = true;  // of `anew`, once that has begun
}

Runner::Bands::Twin* Runner::Bands::twin_of(const Storage* storage) {
    const auto found = std::find_if(twins_.begin(), twins_.end(),
                                    [&](const Twin& t) { return t.storage() == storage; });
    return found == twins_.end() ? nullptr : &*found;
}

bool Runner::Bands::is_written(const Storage* storage) const {
    const auto fields = schedule_.fields();
    return std::any_of(fields.begin(), fields.end(), [&](const BandSchedule::Field& field) {
        return field.storage == storage &&
               std::any_of(field.uses.begin(), field.uses.end(),
                           [](const BandSchedule::Use& use) { return use.writes; });
    });
}

/// Names the memories that the step's operands are in. False where the two of an array would differ
/// in more than what is stored anew.
bool Runner::Bands::find_twins(const PlanStep& step, Kernel& kernel) {
    if (step.anew.empty() && twins_.empty()) return true;
    const std::size_t inputs = step.inputs.size();
    for (std::uint32_t k : step.anew) {
        const View& out = kernel.operands[inputs + k];
        if (Twin* twin = twin_of(out.storage)) {
            if (!twin->written.same_as(out)) return false;
            continue;
        }
        if (is_written(out.storage)) return false;
        twins_.emplace_back(out);
        if (!twins_.back().anew.is_whole()) return false;
    }
    for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
        View& v = kernel.operands[o];
        Twin* twin = twin_of(v.storage);
        if (!twin) continue;
        if (o < inputs) {
            v.storage = twin->now();
            continue;
        }
        const auto output = static_cast<std::uint32_t>(o - inputs);
        if (std::find(step.anew.begin(), step.anew.end(), output) == step.anew.end()) return false;
        v.storage = twin->is_other ? twin->storage() : &twin->other;
        const auto number = static_cast<std::size_t>(
            std::find_if(twins_.begin(), twins_.end(), [&](const Twin& t) { return &t == twin; }) -
            twins_.begin());
        kernel.turned.push_back(number);
    }
    return true;
}

/// The step is one of those that take turns: later ones read what it writes.
void Runner::Bands::turn(const Kernel& kernel) {
    for (std::size_t number : kernel.turned) twins_[number].is_other = !twins_[number].is_other;
}

std::size_t Runner::Bands::times_turned(const Twin& twin) const {
    std::size_t times = 0;
    for (std::size_t k = 0; k < count_; ++k) {
        for (std::size_t number : kernels_[k].turned) times += &twins_[number] == &twin;
    }
    return times;
}

std::int64_t Runner::Bands::bytes_copied() const {
    std::int64_t bytes = 0;
    for (const Twin& twin : twins_) bytes += times_turned(twin) > 0 ? twin.anew.bytes_copied() : 0;
    return bytes;
}

void Runner::Bands::submit() {
    try {
        if (!bind())
            fail(ErrorKind::Unsupported, "'" + device_->info().name + "' has no such kernels");
        for (Twin& twin : twins_) {
            if (times_turned(twin) == 0) continue;
            twin.other.memory = twin.anew.begin().storage->memory;
            twin.anew.complete();
        }
        for_each_turn([&](std::size_t k, std::int64_t from, std::int64_t to) {
            run_rows(kernels_[k], schedule_.steps()[k], from, to);
        });
    } catch (...) {
        for (Twin& twin : twins_) twin.anew.abandon();  // while its queue is known
        rings_.clear();
        throw;
    }
    for (Twin& twin : twins_) {
        if (times_turned(twin) % 2 == 0) twin.anew.abandon();
    }
    rings_.clear();
}

void Runner::Bands::end_submission() {
    for (Twin& twin : twins_) {
        if (times_turned(twin) % 2 == 1) twin.anew.end();
    }
}

}  // namespace unisono
