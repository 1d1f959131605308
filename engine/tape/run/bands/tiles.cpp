// Kernels that take turns, as two launches on a device: each core keeps a tile of rows in its own
// cache for all of them.
//
// Band after band is a launch for each kernel and band, between which a device's threads wait for
// each other. Where rows that kernels need of each other are few, tiles need nothing of each other:
// of a tile the later kernels take fewer rows, those whose operands the tile has computed itself.
// What is missing between two tiles, more rows for later kernels, comes in the second launch.
// With `shift` rows that a kernel must be behind the first one where bands go up and `shift_down`
// where they go down, a tile of rows from a to b is from a + shift_down to b - shift in the first
// launch; around a border c between tiles rows from c - shift to c + shift_down are in the second.
#include <algorithm>
#include <array>
#include <bit>

#include "backends/host/shared.h"
#include "core/caches.h"
#include "tape/run/bands/bands.h"
#include "tape/run/bands/lower_tiles.h"

namespace unisono {

namespace {

/// Points times operations in turns on bands that a first kernel has begun, from which tiles pay
/// for being compiled.
constexpr std::int64_t compile_from = 1'000'000'000;
/// The most that a tile may touch, as a multiple of a core's cache.
constexpr std::int64_t most_caches = 2;
/// Rows of a tile, as a multiple of those that it leaves to the second launch.
constexpr std::int64_t least_reaches = 2;
/// Tiles for each core, which end at about the same time.
constexpr std::int64_t tiles_per_core = 4;
/// Bytes of arguments that every device takes.
constexpr std::size_t most_param_bytes = 1024;

}  // namespace

/// Whether kernel k does what kernel k - period does, as many rows behind it as the first one
/// of a period is behind that of the one before.
bool Runner::Bands::repeats(std::size_t k, std::size_t period) const {
    const auto steps = schedule_.steps();
    const BandSchedule::Step &now = steps[k], &before = steps[k - period];
    const Kernel &a = kernels_[k], &b = kernels_[k - period];
    return a.step->kernel == b.step->kernel && a.scalars == b.scalars && now.axis == before.axis &&
           now.first == before.first && now.rows == before.rows &&
           now.shift - before.shift == steps[period].shift - steps[0].shift &&
           now.shift_down - before.shift_down == steps[period].shift_down - steps[0].shift_down &&
           std::ranges::equal(a.operands, b.operands,
                              [](const View& x, const View& y) { return x.same_as(y); });
}

/// The smallest number of kernels of which the first `count` are repetitions.
std::size_t Runner::Bands::period_of(std::size_t count) const {
    for (std::size_t period = 1; period < count; ++period) {
        bool is_period = count % period == 0;
        for (std::size_t k = period; is_period && k < count; ++k) is_period = repeats(k, period);
        if (is_period) return period;
    }
    return count;
}

/// Whether tiles pay for these kernels; where they do, how they are cut.
void Runner::Bands::choose_tiles(std::size_t count) {
    tiles_ = {};
    if (!device_ || !rings_.empty()) return;
    const auto steps = schedule_.steps().first(count);
    std::int64_t first = first_, end = last_, reach = 0, per_row = 0, work = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const BandSchedule::Step& step = steps[k];
        if (step.is_one_row || !kernels_[k].step->group.functions.empty()) return;
        first = std::min(first, step.first);
        end = std::max(end, step.end());
        reach = std::max(reach, step.shift + step.shift_down);
        work += kernels_[k].row_work * step.rows;
    }
    for (const BandSchedule::Field& field : schedule_.fields())
        per_row += schedule_.window(field, count).row_bytes;
    const std::int64_t cache = second_level_cache();
    const std::int64_t rows = std::max(
        {cache / std::max<std::int64_t>(per_row, 1), least_reaches * reach, std::int64_t{1}});
    const std::int64_t tiles = (end - first + rows - 1) / rows;
    if (rows * per_row > most_caches * cache ||
        tiles < tiles_per_core * device_->info().compute_units)
        return;
    if (kernels_.front().step->kernel->note_turns(work) < compile_from) return;
    tiles_ = {first, rows, tiles, period_of(count)};
}

/// What kernel k has of the tiles, or of what is between them.
TileRows Runner::Bands::tile_rows(std::size_t k, bool between) const {
    const auto steps = schedule_.steps();
    const BandSchedule::Step& step = steps[k];
    const bool is_repeated = tiles_.period < count_;
    const std::int64_t up = is_repeated ? steps[tiles_.period].shift - steps[0].shift : 0;
    const std::int64_t down =
        is_repeated ? steps[tiles_.period].shift_down - steps[0].shift_down : 0;
    const std::int64_t at = tiles_.first - step.first;
    TileRows rows{at + step.shift_down, at + tiles_.rows - step.shift, down, -up, tiles_.rows};
    if (between) rows = {at - step.shift, at + step.shift_down, -up, down, tiles_.rows};
    for (std::int64_t* row :
         {&rows.first, &rows.end, &rows.first_moves, &rows.end_moves, &rows.apart})
        *row *= kernels_[k].row_extent;
    return rows;
}

/// The first `period` kernels as steps that are compiled as one, and what all of them are given.
std::vector<TileStep> Runner::Bands::bind_steps(std::size_t period, Arguments& arguments) const {
    std::vector<TileStep> steps;
    for (std::size_t k = 0; k < period; ++k) {
        const Kernel& kernel = kernels_[k];
        TileStep& step = steps.emplace_back(kernel.step->kernel, kernel.launch.form);
        const std::size_t inputs = kernel.step->inputs.size();
        for (std::size_t o = inputs; o < kernel.operands.size(); ++o) {
            const int input = kernel.step->group.outputs[o - inputs].same_as_input;
            step.in_place.push_back(
                input >= 0 &&
                kernel.operands[static_cast<std::size_t>(input)].same_as(kernel.operands[o]));
        }
        const Dims two = kernel.launch.arrays.front().shape;
        std::vector<std::int64_t>& shape = arguments.extents.emplace_back(two.begin(), two.end());
        shape[0] = schedule_.steps()[k].rows * kernel.row_extent;
        for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
            ArrayArg& array = arguments.arrays.emplace_back(kernel.launch.arrays[o]);
            array.shape = shape;
            array.memory = kernel.operands[o].storage->memory;
        }
        arguments.scalars.insert(arguments.scalars.end(), kernel.scalars.begin(),
                                 kernel.scalars.end());
    }
    return steps;
}

/// Whether tiles were given to the queue: false, where the device does not take as many
/// arguments.
bool Runner::Bands::submit_tiles() {
    if (tiles_.count == 0) return false;
    Arguments arguments;
    const std::vector<TileStep> steps = bind_steps(tiles_.period, arguments);
    if (tile_param_bytes(steps) > most_param_bytes) return false;
    const std::shared_ptr<Executable> code = code_of_turns(steps, TurnsOf::Tiles, *device_);
    std::vector<std::uint64_t>& scalars = arguments.scalars;
    scalars.push_back(count_ / tiles_.period);
    const std::size_t kept = scalars.size();
    for (const bool between : {false, true}) {
        scalars.resize(kept);
        bool has_rows = !between;
        for (std::size_t k = 0; k < tiles_.period; ++k) {
            const TileRows rows = tile_rows(k, between);
            has_rows = has_rows || rows.first < rows.end || rows.first_moves < rows.end_moves;
            for (const std::int64_t row :
                 {rows.first, rows.end, rows.first_moves, rows.end_moves, rows.apart})
                scalars.push_back(std::bit_cast<std::uint64_t>(row));
        }
        if (!has_rows) break;
        const std::int64_t items = tiles_.count + (between ? 1 : 0);
        code->launch({arguments.arrays, scalars, {}, {1, {items, 1, 1}, {1, 1, 1}, {0, 0, 0}}, 0});
    }
    return true;
}

}  // namespace unisono
