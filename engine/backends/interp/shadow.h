// Finds races: remembers for each element which iteration wrote it last and which read it.
//
// Where execution is, is a chain of iterations of independent loops (Place). Two accesses are
// unordered if, at the first loop where their chains part, both are iterations of the same run of
// that loop. An element keeps its last writer and two unordered readers, which is enough: of two
// such readers at least one is unordered with any foreign writer.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ir/ir.h"

namespace unisono::interp {

/// One iteration of one run of an independent loop.
struct Place {
    const Place* parent = nullptr;  ///< of the surrounding independent loop
    std::int64_t run = 0;           ///< number of the run of this loop, unique in a launch
    std::int64_t iteration = 0;     ///< value of the loop variable
    int depth = 0;
    ir::Line line;  ///< of the loop
};

/// The outermost pair of places at which a and b part, or nulls if they are ordered.
struct Conflict {
    const Place* a = nullptr;
    const Place* b = nullptr;
};
Conflict conflict(const Place* a, const Place* b);

/// Atomic: also writes under a lock; Locked: reads under one.
enum class Use : std::uint8_t { Read, Locked, Write, Atomic };

struct Mark {
    const Place* writer = nullptr;
    const Place* reader = nullptr;
    bool atomic = false;   ///< the writer was an atomic operation
    bool locked = false;   ///< the reader held a lock
    bool written = false;  ///< by this launch: tells what an allocated array holds already
};

/// Marks of one block of memory, one per unit of bytes.
class Shadow {
  public:
    Shadow(const char* begin, std::int64_t bytes, std::int64_t unit)
        : begin_(begin), unit_(unit), marks_(static_cast<std::size_t>((bytes + unit - 1) / unit)) {}

    /// Records the access and returns what it races with.
    Conflict access(const char* at, std::int64_t bytes, Use use, const Place* now);
    void mark_written() {
        for (Mark& m : marks_) m.written = true;
    }
    bool is_written(const char* at) const {
        return marks_[static_cast<std::size_t>((at - begin_) / unit_)].written;
    }

  private:
    const char* begin_;
    std::int64_t unit_;
    std::vector<Mark> marks_;
};

}  // namespace unisono::interp
