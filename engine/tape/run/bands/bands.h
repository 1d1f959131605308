// Kernels that take turns on bands of rows, bound to their operands.
//
// run_bands.cpp chooses them and the bands, and runs them on the host's threads;
// submit_bands.cpp gives them to the queue of a device that shares the host's caches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tape/run/bands/band_schedule.h"
#include "tape/run/run.h"
#include "tape/run/run_group.h"
#include "tape/run/store_anew.h"
#include "tape/run/temporary.h"

namespace unisono {

class Runner::Bands {
  public:
    /// Steps of one place. `device`: the one that they run on, null for the host. `may_shift`:
    /// whether it may pay that steps run rows behind one another.
    Bands(std::span<const PlanStep> steps, const std::vector<Entry>& segment, Device* device,
          bool may_shift);

    /// How many of the steps take turns; 0 where fewer than two do, or where it does not pay.
    std::size_t choose(bool in_flight);
    /// Gives storages their memory.
    void allocate();
    /// Binds the kernels; false where one of them cannot be.
    bool bind();
    void run();
    /// On a device, as part of a submission: binds the kernels and gives them to the queue.
    void submit();
    /// Once that is done, with the engine held.
    void end_submission();
    /// What a device copies for arrays that are stored anew.
    std::int64_t bytes_copied() const;
    std::string text() const;

  private:
    struct Kernel {
        std::vector<View> operands;
        std::vector<std::uint64_t> scalars;
        std::vector<std::int64_t> row_bytes;  ///< of each operand, from one row to the next
        std::vector<int> ring;                ///< of each operand the number, or -1
        GroupKernel::Launch launch;           ///< of two rows; none of a step of one
        std::int64_t row_extent = 0;          ///< of the first axis of the launch
        std::int64_t row_work = 0;
        bool has_rings = false;
        std::vector<std::size_t> turned;  ///< twins that it writes
    };
    /// A second memory of an array of a device that steps read and store anew: each reads one and
    /// writes the other. What they leave alone is the same in both.
    struct Twin {
        View written;
        StoreAnew anew;
        Storage other;          ///< names the second memory in views
        bool is_other = false;  ///< where the array is after the steps taken so far

        explicit Twin(const View& output);
        Storage* storage() const { return written.storage; }
        Storage* now() { return is_other ? &other : storage(); }
    };
    /// Memory of a temporary, whose rows live only until the last kernel that reads them is past.
    struct Ring {
        const BandSchedule::Field* field;
        std::int64_t rows, pitch;
        std::unique_ptr<Temporary> memory;
    };

    bool find_twins(const PlanStep& step, Kernel& kernel);
    Twin* twin_of(const Storage* storage);
    void turn(const Kernel& kernel);
    std::size_t times_turned(const Twin& twin) const;
    bool is_written(const Storage* storage) const;
    /// Number of the ring that a storage is kept in, or -1.
    int ring_of(const Storage* storage) const;
    bool is_shifted(std::size_t count) const;
    bool pays(std::size_t count) const;
    bool choose_rows(std::size_t count);
    bool holds_much(std::size_t count, bool in_flight) const;
    bool is_temporary(const BandSchedule::Field& field, std::size_t count, bool in_flight) const;
    void run_rows(const Kernel& kernel, const BandSchedule::Step& step, std::int64_t from,
                  std::int64_t to) const;
    void launch(const Kernel& kernel, std::int64_t from, std::int64_t to) const;
    void run_whole(const Kernel& kernel) const;
    GroupKernel::Call call_of(const PlanStep& step, const Kernel& kernel) const;
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
    Device* const device_;
    const std::int64_t cache_;  ///< bytes that a device shares with the host
    BandSchedule schedule_;
    std::vector<Kernel> kernels_;
    std::vector<Ring> rings_;
    std::deque<Twin> twins_;
    std::size_t count_ = 0;
    bool is_shifted_ = false;
    std::int64_t first_ = 0, last_ = 0;  ///< rows of all, as numbered by the first step
    std::int64_t rows_ = 0;              ///< of a band
    std::int64_t work_ = 0;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
};

}  // namespace unisono
