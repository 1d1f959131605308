// A CUDA driver for tests: the calls that the back end makes, checked strictly, without a GPU.
//
// How it works. The library is a libcuda.so.1 of its own. Commands of streams are queued and run by
// one thread, which takes any stream whose next command may run; so a program that does not wait
// where it must goes wrong here, too. Each command has a vector clock: what surely comes before it.
// By that, memory that is used before it is there, behind its end, or by two commands that nobody
// has ordered is found when the command is submitted, whatever the thread does. Kernels run as the
// LLVM IR from which their PTX was made (kernels.h). A call that a driver would refuse, or that
// would go wrong at times, is a violation: it is written to stderr, counted, and refused.
//
// Read next: streams.cpp (order), memory.cpp (memory and copies), modules.cpp (kernels and
// launches), graphs.cpp (graphs of both), devices.cpp (devices, contexts, what tests ask and set).
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cuda_driver {

using Result = int;
enum : Result {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    invalid_ptx = 218,
    invalid_handle = 400,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    peer_access_already_enabled = 704,
    context_is_destroyed = 709,
    misaligned_address = 716,
    launch_failed = 719,
    not_supported = 801,
};

/// For each stream, by its number: how many of its commands surely come before.
class Clock {
  public:
    void join(const Clock& other);
    void set(std::size_t stream, std::uint64_t count);
    std::uint64_t of(std::size_t stream) const { return stream < at_.size() ? at_[stream] : 0; }
    /// A stream of which `other` knows more than this; -1: there is none.
    int missing(const Clock& other) const;

  private:
    std::vector<std::uint64_t> at_;
};

struct Context {
    int ordinal = 0;
    int retained = 0;
    bool is_destroyed = false;
    Result sticky = success;  ///< what all calls return from now on
    bool has_peer_access = false;
    std::int64_t in_use = 0;  ///< bytes
};

struct Stream;

struct Command {
    Stream* stream = nullptr;
    std::string what;
    Clock clock;
    std::vector<std::shared_ptr<Command>> after;
    std::function<Result()> run;
    bool is_done = false;
    std::int64_t ended = 0;  ///< ns
};

struct Stream {
    Context* context = nullptr;
    std::size_t number = 0;
    bool is_blocking = false;  ///< ordered with the default stream
    std::uint64_t submitted = 0;
    std::deque<std::shared_ptr<Command>> queue;
    std::shared_ptr<Command> last;
    std::vector<std::shared_ptr<Command>> waits;  ///< of the next command
    Clock clock;                                  ///< of the next command
};

struct Event {
    Context* context = nullptr;
    bool has_times = true;
    std::shared_ptr<Command> command;  ///< null: never recorded
};

struct Allocation {
    Context* context = nullptr;
    std::uintptr_t address = 0;
    std::int64_t bytes = 0;
    char* block = nullptr;  ///< with the zones around
    bool is_host = false;   ///< pinned
    Clock made, read, written;
    std::string reader, writer;  ///< the last ones
};

/// Everything, under one lock. It is never destroyed: the thread that runs commands goes on.
struct State {
    std::mutex mutex;
    std::condition_variable changed;  ///< a command was submitted or is done
    bool is_initialised = false, has_worker = false;
    int process = 0;
    std::vector<std::unique_ptr<Context>> contexts;  ///< by device
    std::vector<std::unique_ptr<Stream>> default_streams;
    std::set<Stream*> streams;
    std::set<Event*> events;
    std::map<std::uintptr_t, std::unique_ptr<Allocation>> allocations;
    std::size_t stream_numbers = 0;
    Clock host;  ///< what the host has seen to be done
    std::uint64_t random = 88172645463325252u;

    std::map<std::string, std::uint64_t> calls;
    std::uint64_t violations = 0, launches = 0;
    std::string last_violation;
    std::int64_t memory = std::int64_t{4} << 30;
    Result next_launch = success;  ///< how the next kernel ends
    bool has_graphs = true;
};
State& state();
/// Notes what no program may do; the caller holds the lock.
void note_violation(const std::string& text);

/// One call of a function of the driver: holds the lock.
class Call {
  public:
    explicit Call(const char* name, bool needs_context = true);

    /// Not success: the call ends with that.
    Result refused() const { return refused_; }
    /// The caller did what no program may do.
    Result violation(Result code, const std::string& text);
    Context& context() const { return *context_; }
    std::unique_lock<std::mutex>& lock() { return lock_; }

  private:
    const char* name_;
    std::unique_lock<std::mutex> lock_;
    Context* context_ = nullptr;
    Result refused_ = success;
};

/// The calling thread's contexts, the current one last.
std::vector<Context*>& current_contexts();

// streams.cpp

/// The stream behind a handle, which may be that of the default one; null where there is none.
Stream* find_stream(Context& context, void* handle);
/// Makes the clock that the stream's next command has.
Clock next_clock(Stream& stream);
/// Queues a command; the clock is that of next_clock().
std::shared_ptr<Command> submit(Stream& stream, std::string what, std::function<Result()> run);
void wait_for(Call& call, const std::shared_ptr<Command>& command);
void wait_for_all(Call& call, Context& context);

// graphs.cpp

/// Graphs, and what is launched of them.
std::size_t graph_count();

// memory.cpp

/// The live allocation that the range lies in; null where there is none.
Allocation* find_allocation(std::uintptr_t address, std::int64_t bytes);
enum class Access : std::uint8_t { None, Reads, Writes };
/// Notes the access of the stream's next command; says what is wrong with it, or nothing.
std::string access(Allocation& memory, Stream& stream, Access how, const std::string& what);
/// What is written beside the memory of a block; empty where nothing is.
std::string damage(const char* block, std::int64_t bytes);
constexpr std::int64_t zone = 256;

}  // namespace cuda_driver
