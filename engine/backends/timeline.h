// What ran when: spans of the host's threads and of devices' queues, kept while someone profiles.
//
// While nobody does, a Scope costs the question whether somebody does. Times are the host's: work
// on a device begins when it was submitted or when the queue's work before it ended, and ends when
// a thread that waits for it has seen that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/queue.h"
#include "core/error.h"

namespace unisono::timeline {

enum class Kind : std::uint8_t {
    Kernel,  ///< a kernel of fused statements
    Call,    ///< a library function
    Copy,    ///< between host and devices
    Launch,  ///< a compiled function or kernel of the program's own
    Compile,
    Flush,   ///< all that one evaluation of recorded statements did
    Submit,  ///< what the host did for work that a device's queue took
};
std::string_view text(Kind kind);

struct Span {
    Kind kind = Kind::Call;
    std::string name;
    std::string device;      ///< empty: the host
    std::int64_t lane = 0;   ///< of the host the thread's number in the system, else the queue's
    SourcePlace place;       ///< of the statement; line 0: not known
    std::int64_t begin = 0;  ///< nanoseconds after start()
    std::int64_t end = 0;
    std::int64_t bytes = 0;  ///< read and written; 0: not known
};

extern std::atomic<bool> records;
inline bool is_on() { return records.load(std::memory_order_relaxed); }

/// From now on spans are kept. Throws a Value error where they are already.
void start();
/// The spans since then, ordered by their beginning. What devices still do is waited for.
std::vector<Span> stop();

/// One span of the calling thread, from begin() to the end of the object.
class Scope {
  public:
    Scope() = default;
    ~Scope() {
        if (span_) [[unlikely]]
            close();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    void begin(Kind kind, std::string name, SourcePlace place, std::int64_t bytes = 0);
    /// The work went to a queue: there it is a span of its own. Null: it was done at once.
    void follow(const Completion& done);

  private:
    void close() noexcept;
    std::unique_ptr<Span>
        span_;  ///< null, as nearly always: calls of some nanoseconds have a Scope
};

}  // namespace unisono::timeline
