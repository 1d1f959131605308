// Runs several kernels band by band.
#include <algorithm>
#include <exception>
#include <mutex>

#include "backends/timeline.h"
#include "context/context.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/settings.h"
#include "core/threads/parallel.h"
#include "tape/plan/bands.h"
#include "tape/run/iteration_space.h"
#include "tape/run/run.h"

namespace unisono {

namespace {
/// What a band may touch: it stays in the second-level cache, beside what is fetched next.
constexpr std::int64_t band_bytes = 48 << 10;
/// Points times operations from which threads share the bands (backends/cpu/runtime.cpp).
constexpr std::int64_t shared_from = 1'000'000;

/// Launches on the band that begins `row` rows further on.
void launch_at(const GroupKernel::Launch& launch, const std::vector<std::int64_t>& row_bytes,
               std::int64_t row) {
    ArrayArg arrays[most_operands];
    for (std::size_t o = 0; o < launch.arrays.size(); ++o) {
        arrays[o] = launch.arrays[o];
        arrays[o].offset += row * row_bytes[o];
    }
    launch.code->launch({{arrays, launch.arrays.size()}, launch.scalars, {}, {}, 0});
}

}  // namespace

/// A step with its operands: what it launches on a whole band, and on the last one.
struct Runner::Bound {
    std::vector<View> operands;
    std::vector<std::uint64_t> scalars;
    std::vector<std::int64_t> row_bytes;  ///< of each operand, from one row to the next
    GroupKernel::Launch whole, rest;
};

void Runner::bind(const PlanStep& step, Bound& bound) {
    for (const auto* refs : {&step.inputs, &step.outputs}) {
        for (OperandRef ref : *refs) bound.operands.push_back(ref.in(segment_));
    }
    for (OperandRef ref : step.scalars)
        bound.scalars.push_back(static_cast<std::uint64_t>(ref.in(segment_).offset));
}

bool Runner::run_bands(std::span<const PlanStep> steps) {
    const Layout* space = steps.front().space.in(segment_).layout;
    const Dims shape = space->shape();
    if (shape.empty() || space->size() == 0 ||
        space->size() * static_cast<std::int64_t>(sizeof(double) * steps.size()) <
            limits::band_traffic / 8)
        return false;
    const auto axis = static_cast<std::size_t>(
        std::find_if(shape.begin(), shape.end() - 1, [](auto n) { return n > 1; }) - shape.begin());
    std::int64_t work = 0;
    for (const PlanStep& step : steps)
        work += space->size() * static_cast<std::int64_t>(step.group.nodes.size());

    LineCount together;
    std::int64_t apart = 0;
    std::vector<Bound> bound(steps.size());
    for (std::size_t k = 0; k < steps.size(); ++k) {
        bind(steps[k], bound[k]);
        LineCount own_lines;
        for (const View& v : bound[k].operands) {
            if (v.storage->poison) return false;
            together.add(v);
            own_lines.add(v);
            bound[k].row_bytes.push_back(v.layout->strides()[axis] * size_of(v.dtype));
        }
        apart += own_lines.bytes();
    }
    if (together.bytes() < limits::band_traffic || 2 * apart < 3 * together.bytes()) return false;

    const std::int64_t all_rows = shape[axis], points = space->size() / all_rows;
    std::int64_t rows =
        std::min(all_rows * band_bytes / together.bytes(), all_rows / limits::band_count);
    rows = std::max({rows, (limits::band_points + points - 1) / points, std::int64_t{1}});
    if (rows * 2 > all_rows) return false;
    const std::int64_t bands = (all_rows + rows - 1) / rows, rest = all_rows - (bands - 1) * rows;

    std::vector<std::int64_t> part(shape.begin(), shape.end());
    for (std::size_t k = 0; k < steps.size(); ++k) {
        Bound& b = bound[k];
        const std::size_t inputs = steps[k].inputs.size();
        for (const View& v : b.operands) v.storage->allocate();
        const std::span<const View> views(b.operands);
        const GroupKernel::Call call{space, views.first(inputs), views.subspan(inputs), b.scalars,
                                     nullptr};
        try {
            part[axis] = rows;
            b.whole = steps[k].kernel->bind(call, part);
            part[axis] = rest;
            b.rest = steps[k].kernel->bind(call, part);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::Unsupported) throw;
            return false;
        }
    }
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        std::int64_t read = 0, written = 0;
        for (std::size_t o = 0; o < bound[k].operands.size(); ++o) {
            const View& v = bound[k].operands[o];
            (o < steps[k].inputs.size() ? read : written) += v.layout->size() * size_of(v.dtype);
        }
        count(counters().kernels_launched);
        note_traffic(read, written);
        bytes += read + written;
        if (debug_level() >= 1) log_step(steps[k], read + written);
    }
    timeline::Scope span;
    if (timeline::is_on()) {
        std::string name;
        for (const PlanStep& step : steps) name += (name.empty() ? "" : "; ") + text_of(step);
        span.begin(timeline::Kind::Kernel, std::move(name), place_of(steps.front()), bytes);
    }
    if (debug_level() >= 1)
        debug_log("these " + std::to_string(steps.size()) + " kernels take turns on " +
                  std::to_string(bands) + " bands of " + std::to_string(rows) + " rows");

    std::mutex mutex;
    std::exception_ptr failure;
    auto run = [&](std::int64_t begin, std::int64_t end) {
        try {
            for (std::int64_t band = begin; band < end; ++band) {
                for (const Bound& b : bound)
                    launch_at(band + 1 == bands ? b.rest : b.whole, b.row_bytes, band * rows);
            }
        } catch (...) {
            std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    };
    outside_engine(space->size() >= long_step, [&] {
        if (work >= shared_from)
            parallel_for(0, bands, 1, run);
        else
            run(0, bands);
    });
    if (failure) std::rethrow_exception(failure);
    return true;
}

}  // namespace unisono
