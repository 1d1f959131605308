// Kernels that follow one another on a device with memory of its own.
//
// Its caches and threads need no bands. But an array that kernels read and store anew, statement
// after statement, has a second memory for all of them, so that what lies around the stored
// elements is copied once; and where each of them is shorter than its launch, one work-group runs
// them all.
#include <algorithm>

#include "tape/run/bands/bands.h"

namespace unisono {

namespace {

/// Points times operations of a kernel from which on it pays to share it among multiprocessors.
constexpr std::int64_t most_work_of_group = 1 << 17;
/// Bytes of arguments that every device takes.
constexpr std::size_t most_param_bytes = 2048;

}  // namespace

/// Whether the kernel's results need no memory: temporary arrays live no longer than they must.
bool Runner::Bands::writes_what_exists(const Kernel& kernel) const {
    const std::size_t inputs = kernel.step->inputs.size();
    return std::all_of(kernel.operands.begin() + static_cast<std::ptrdiff_t>(inputs),
                       kernel.operands.end(), [&](const View& v) {
                           const bool is_other = std::ranges::any_of(
                               twins_, [&](const Twin& twin) { return v.storage == &twin.other; });
                           return is_other || v.storage->memory.handle;
                       });
}

/// Whether the first `count` kernels gain by second memories.
bool Runner::Bands::choose_whole(std::size_t count) {
    const bool has_turns = std::ranges::any_of(
        twins_, [&](const Twin& twin) { return times_turned(twin, count) >= 2; });
    if (has_turns) choose_one_group(count);
    return has_turns;
}

/// Whether one work-group is to run them.
void Runner::Bands::choose_one_group(std::size_t count) {
    group_period_ = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const BandSchedule::Step& step = schedule_.steps()[k];
        if (step.is_one_row || !kernels_[k].step->group.functions.empty() ||
            kernels_[k].row_work * step.rows > most_work_of_group)
            return;
    }
    for (std::size_t period = 1; 2 * period <= count && group_period_ == 0; ++period) {
        bool is_period = true;
        for (std::size_t k = period; is_period && k < count; ++k) is_period = repeats(k, period);
        if (is_period) group_period_ = period;
    }
}

/// Gives the kernels to the queue, one behind the other.
void Runner::Bands::submit_whole() {
    if (submit_one_group()) return;
    for (std::size_t k = 0; k < count_; ++k) run_whole(kernels_[k]);
}

/// Whether one work-group was given them: false, where the device does not take as many arguments.
bool Runner::Bands::submit_one_group() {
    if (group_period_ == 0) return false;
    if (!bind()) return false;
    Arguments arguments;
    const std::vector<TileStep> steps = bind_steps(group_period_, arguments);
    if (tile_param_bytes(steps) > most_param_bytes) return false;
    const std::shared_ptr<Executable> code = code_of_turns(steps, TurnsOf::OneGroup, *device_);
    arguments.scalars.push_back(count_);
    const auto [width, height] = group_of_rounds;
    code->launch({arguments.arrays,
                  arguments.scalars,
                  {},
                  {2, {width, height, 1}, {width, height, 1}, {0, 0, 0}},
                  0});
    return true;
}

}  // namespace unisono
