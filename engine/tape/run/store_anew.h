// Stores what a kernel writes into an array that it also reads at other points.
//
// `u[1:-1] = u[2:] + u[:-2]` in one kernel would read what it has written. What it writes goes
// elsewhere, by whichever moves fewer bytes: into fresh memory for the whole array, which then
// takes the place of the old one once the elements around those that were written are copied; or
// into memory for the written elements alone, which are then copied back.
#pragma once

#include <memory>
#include <vector>

#include "tape/run/temporary.h"
#include "tape/storage.h"

namespace unisono {

/// One output of one run.
class StoreAnew {
  public:
    /// With the engine held. `may_return`: whether the array can also end where it began. `times`:
    /// how many runs, one after another, store it so if the array has the other memory meanwhile.
    explicit StoreAnew(const View& output, bool may_return = false, std::int64_t times = 1);
    StoreAnew(StoreAnew&&) noexcept = default;
    StoreAnew& operator=(StoreAnew&&) = delete;

    /// Where the kernel is to store. Part of the submission, as complete() is.
    View begin();
    /// After the kernel: copies what has to be copied.
    void complete();
    /// Where the submission fails: gives the memory back.
    void abandon() noexcept { memory_.reset(); }
    /// Once all is submitted, with the engine held: the array's memory is the new one.
    void end() noexcept;

    /// Whether the array's memory becomes another one.
    bool is_whole() const { return is_whole_; }
    /// Whether it may; else the array has to end where it began.
    bool may_move() const { return may_move_; }
    /// Copied beside what the kernel moves: read, and as many written.
    std::int64_t bytes_copied() const { return bytes_copied_; }

  private:
    struct ReleaseLayout {
        void operator()(const Layout* layout) const { layout->release(); }
    };
    using HeldLayout = std::unique_ptr<const Layout, ReleaseLayout>;
    /// Elements between those that are written, or around them.
    struct Piece {
        HeldLayout layout;
        std::int64_t offset;
    };
    bool find_rest();
    void add_piece(Dims shape, Dims strides, std::int64_t offset);
    void copy(View from, View to) const;  ///< keeping all bits

    View output_;
    bool may_move_, is_whole_;
    std::vector<Piece> rest_;
    std::int64_t bytes_copied_ = 0;
    std::unique_ptr<Temporary> memory_;
};

}  // namespace unisono
