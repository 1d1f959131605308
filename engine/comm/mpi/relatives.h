// Processes of other jobs on this machine that this one started, or that started it, seen as the
// ranks of its own job are (patience.h).
//
// Each process says whether it waits in memory of its own, which it makes before MPI starts. The
// others find it through /proc: the launcher of one is that of the other, or a child or the parent
// of the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace unisono::comm {

/// What a rank says of itself.
struct alignas(64) Line {
    std::atomic<std::int32_t> process{0}, rank{0};
    std::atomic<std::int32_t> waiting{0};  ///< threads of it that wait
    std::atomic<std::uint32_t> waits{0};   ///< how often it began to wait
    std::atomic<std::uint32_t> looks{0};   ///< how often it looked, in waits of some milliseconds
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free);

/// Makes this process's line.
void show_own_line();
/// It; null where there is none.
Line* own_line();

/// A rank of this job, which is no relative.
void leave_out(std::int32_t process);
/// So many processes of other jobs were met since the start.
void expect_relatives(std::size_t count);
/// While it lives this process starts others.
class Starting {
  public:
    Starting();
    ~Starting();
    Starting(const Starting&) = delete;
    Starting& operator=(const Starting&) = delete;
};
/// Looks for the lines of those that are started now, some times a second: one that ends early is
/// seen before.
void watch_arriving();
/// Processes that are started now, and have no line yet.
std::vector<std::int32_t> arriving();

/// The lines of those that are seen.
std::vector<std::shared_ptr<const Line>> relatives();
/// Whether not all that were met are seen: those on other machines, or of other libraries, are not.
bool lacks_relatives();

}  // namespace unisono::comm
