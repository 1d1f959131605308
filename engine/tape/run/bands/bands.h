// Kernels that take turns on bands of rows, bound to their operands.
//
// run_bands.cpp chooses them and the bands, and runs them on the host's threads;
// submit_bands.cpp gives them to the queue of a device that shares the host's caches, tiles.cpp as
// two launches where that is enough. On a device with memory of its own each kernel runs as a
// whole: what they gain is that arrays have second memories, and that small ones are one launch.
// twins.cpp gives an array that they read and store anew a second memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tape/run/bands/band_schedule.h"
#include "tape/run/bands/lower_tiles.h"
#include "tape/run/run.h"
#include "tape/run/run_group.h"
#include "tape/run/store_anew.h"
#include "tape/run/temporary.h"

namespace unisono {

class Runner::Bands {
  public:
    /// What is known of the steps' place and of the run before.
    struct Given {
        Device* device;       ///< that they run on, null for the host
        bool may_shift;       ///< it may pay that steps run rows behind one another
        bool may_have_twins;  ///< arrays of the host may have a second memory
        bool in_flight;       ///< the segment is
    };
    Bands(std::span<const PlanStep> steps, const std::vector<Entry>& segment, Given given);

    /// Chooses those of the steps that take turns and gives storages their memory: how many. 0
    /// where fewer than two kernels do, where it does not pay or where memory is short.
    std::size_t prepare();
    void run();
    /// On a device, as part of a submission: binds the kernels and gives them to the queue.
    void submit();
    /// Once that is done, with the engine held.
    void end();
    bool has_twins() const { return !twins_.empty(); }
    /// Whether nothing was chosen because caches hold what all steps touch.
    bool touches_little() const { return touches_little_; }
    /// Whether the step has no kernel of its own: the one before it stores in its place.
    bool is_left_out(const PlanStep& step) const;
    /// For arrays that are stored anew.
    std::int64_t bytes_copied() const;
    std::string text() const;

  private:
    /// A second memory of an array that steps read and store anew: each reads one and writes the
    /// other. What they leave alone is the same in both.
    struct Twin {
        View written;  ///< by those steps
        StoreAnew anew;
        Storage other;          ///< names the second memory in views
        bool is_other = false;  ///< where the array is after the steps taken so far

        Twin(const View& output, std::int64_t times);
        Storage* storage() const { return written.storage; }
        Storage* memory(bool second) { return second ? &other : storage(); }
    };
    struct Kernel {
        const PlanStep* step = nullptr;
        std::size_t end = 0;  ///< steps done behind it
        std::vector<View> operands;
        std::vector<std::uint64_t> scalars;
        std::vector<std::int64_t> row_bytes;  ///< of each operand, from one row to the next
        std::vector<int> ring;                ///< of each operand the number, or -1
        GroupKernel::Launch launch;           ///< of two rows; none of a step of one
        std::int64_t row_extent = 0;          ///< of the first axis of the launch
        std::int64_t row_work = 0;
        bool has_rings = false;
        bool is_again = false;      ///< the step stores in the other memories of arrays
        std::vector<Twin*> turned;  ///< of which it stores the other memory anew
    };
    /// An output of a kernel, and where it is stored anew.
    struct Anew {
        std::uint32_t output;
        View to;
    };
    /// Memory of a temporary, whose rows live only until the last kernel that reads them is past.
    struct Ring {
        const BandSchedule::Field* field;
        std::int64_t rows, pitch;
        std::unique_ptr<Temporary> memory;
    };

    /// Of steps that are compiled as one.
    struct Arguments {
        std::vector<ArrayArg> arrays;
        std::vector<std::uint64_t> scalars;
        std::deque<std::vector<std::int64_t>> extents;  ///< that the arrays refer to
    };
    /// Tiles of rows that two launches compute; none where `count` is 0.
    struct Tiles {
        std::int64_t first = 0;  ///< the row of the first one
        std::int64_t rows = 0, count = 0;
        std::size_t period = 0;  ///< the kernels are repetitions of so many of them
    };

    bool add(Kernel kernel);
    bool take(Kernel kernel);
    /// How many of the steps take turns.
    std::size_t choose();
    void allocate();
    /// Binds the kernels; false where one of them cannot be.
    bool bind();
    bool is_seen_by(std::span<const PlanStep> steps, const Storage& s) const;
    std::vector<Anew> stored_anew(const PlanStep& step) const;
    void find_twins();
    std::int64_t times_stored(const View& output) const;
    bool have_twins(std::span<const Anew> stored) const;
    bool name_memories(Kernel& kernel, Kernel& again);
    Twin* twin_of(const Storage* storage);
    std::size_t times_turned(const Twin& twin, std::size_t count) const;
    bool twins_may_end(std::size_t count) const;
    bool is_used(const Twin& twin) const;
    void begin_twins();
    void complete_twins();
    /// Number of the ring that a storage is kept in, or -1.
    int ring_of(const Storage* storage) const;
    bool is_shifted(std::size_t count) const;
    bool pays(std::size_t count);
    bool choose_rows(std::size_t count);
    bool repeats(std::size_t k, std::size_t period) const;
    std::size_t period_of(std::size_t count) const;
    void choose_tiles(std::size_t count);
    bool writes_what_exists(const Kernel& kernel) const;
    bool choose_whole(std::size_t count);
    void choose_one_group(std::size_t count);
    void submit_whole();
    bool submit_one_group();
    std::vector<TileStep> bind_steps(std::size_t period, Arguments& arguments) const;
    TileRows tile_rows(std::size_t k, bool between) const;
    bool submit_tiles();
    bool holds_much(std::size_t count) const;
    bool is_temporary(const BandSchedule::Field& field, std::size_t count) const;
    void run_rows(const Kernel& kernel, const BandSchedule::Step& step, std::int64_t from,
                  std::int64_t to) const;
    void launch(const Kernel& kernel, std::int64_t from, std::int64_t to) const;
    void run_whole(const Kernel& kernel) const;
    GroupKernel::Call call_of(const Kernel& kernel) const;
    std::span<const PlanStep> steps_until(std::size_t count) const {
        return steps_.first(kernels_[count - 1].end);
    }
    std::int64_t budget() const;
    /// Calls f with a step and its rows, from and to, in the order in which they run.
    template <class F>
    void for_each_turn(F&& f) const {
        for (std::int64_t at = first_; at < last_; at += rows_) {
            for (std::size_t k = 0; k < count_; ++k) {
                const BandSchedule::Step& step = schedule_.steps()[k];
                const std::int64_t from = std::max(at - step.shift, step.first) - step.first;
                const std::int64_t to = std::min(at + rows_ - step.shift, step.end()) - step.first;
                if (from < to) f(k, from, to);
            }
        }
    }
    void run_independent();
    struct Turn;
    void serve(std::int64_t thread, std::deque<Turn>& turns);
    void run_behind();
    void note_failure();

    std::span<const PlanStep> steps_;
    const std::vector<Entry>& segment_;
    const Given given_;
    Device* const device_;
    const std::int64_t cache_;  ///< bytes that a device shares with the host
    BandSchedule schedule_;
    std::vector<Kernel> kernels_;
    std::vector<Ring> rings_;
    std::deque<Twin> twins_;
    std::size_t count_ = 0;
    const bool is_whole_;  ///< the device has memory of its own: one band of all rows
    bool is_shifted_ = false, touches_little_ = false;
    std::int64_t first_ = 0, last_ = 0;  ///< rows of all, as numbered by the first step
    std::int64_t rows_ = 0;              ///< of a band
    Tiles tiles_;
    std::size_t group_period_ = 0;  ///< of kernels that one work-group runs, else 0
    std::int64_t work_ = 0;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
};

}  // namespace unisono
