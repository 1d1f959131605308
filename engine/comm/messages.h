// Tagged messages, collective calls and one-sided memory between the ranks of a job: the second
// interface of the plugin that carries bytes. A mesh uses comm/transport.h; programs that pass
// messages themselves use this.
//
// Every call that waits polls: it obeys the time-out, and Ctrl-C. It may be made without Python's
// lock. Errors are of kind Comm and name the call and the user's line.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace unisono::comm {

inline constexpr int any_source = -1, any_tag = -1;
/// No rank: what is sent there or received from there is nothing, at once.
inline constexpr int no_rank = -2;
/// Of a call between two groups: this rank is its root.
inline constexpr int root_here = -4;

/// A message that arrived.
struct Delivery {
    int source = any_source, tag = any_tag;
    std::int64_t bytes = 0;
};

/// How elements of several ranks are combined.
enum class Combine : std::uint8_t { Sum, Product, Max, Min, And, Or, Xor, Replace, Nothing };

/// elements = elements combined with others. Throws a Type error where the dtype has no such
/// operation.
void combine(Combine how, DType dtype, void* elements, const void* others, std::int64_t count);

enum class CollectiveKind : std::uint8_t {
    Barrier,
    Broadcast,
    Gather,
    Scatter,
    AllGather,
    AllToAll,
    Reduce,
    AllReduce,
    Scan,
    ExclusiveScan,
    ReduceScatter,  ///< between two groups alone
};

/// The elements of one rank's buffer that belong to each rank: counts and first elements. Empty:
/// the same count for all, one after the other.
struct Shares {
    std::vector<int> counts, starts;
    bool even() const { return counts.empty(); }
};

struct CollectiveCall {
    CollectiveKind kind;
    const void* from = nullptr;  ///< null: `to` holds the rank's own part already
    void* to = nullptr;
    std::int64_t sent = 0, received = 0;  ///< elements for, or from, each rank; all, if it is one
    Shares sends, receives;
    int root = 0;
    DType dtype = DType::UInt8;
    Combine combine = Combine::Sum;
    bool varies = false;  ///< between two groups: a count for each rank, as in calls with a v
};

/// Work that was started; its buffers stay where they are until it is done. Destroying one that is
/// not done cancels what can be cancelled.
class Request {
  public:
    virtual ~Request() = default;
    /// True once it is done; from then on always.
    virtual bool test(Delivery* delivery = nullptr) = 0;
    virtual void wait(Delivery* delivery = nullptr) = 0;
    /// Waits until one of these, of the same job, is done; which it is.
    virtual std::size_t wait_any(std::span<Request* const> all) = 0;
};

/// A message that was matched and is still to be received, by nobody else.
class Matched {
  public:
    virtual ~Matched() = default;
    virtual Delivery delivery() const = 0;
    virtual void receive(void* to) = 0;
};

/// A block of elements in another rank's window: extents and strides in bytes, outermost axis
/// first.
struct Section {
    std::int64_t offset = 0;
    std::vector<std::int64_t> shape, strides;
};

/// Memory of every rank that the others read and write. All ranks make and free it together.
class Window {
  public:
    /// Whose memory it is, and what of it the ranks see directly.
    enum class Kind : std::uint8_t {
        Own,         ///< made with the window
        Shared,      ///< made with it, where all ranks are on one node seen by all of them
        Contiguous,  ///< the same, all on one node, each rank's memory behind that of the one
                     ///< before
        Given,       ///< the caller's, which outlives the window
        Attached,    ///< the caller's, as it is attached; places in it are addresses
    };
    virtual ~Window() = default;
    /// Where a rank's memory lies in this process; null if it is on another node.
    virtual char* memory(int rank) const = 0;
    virtual std::int64_t bytes(int rank) const = 0;
    virtual bool shared() const = 0;
    // `near` is packed, in the order of the block's axes. The caller may use `near` again when the
    // call returns; the other rank sees what was put after flush or fence.
    virtual void put(int rank, const Section& far, const void* near, DType dtype) = 0;
    virtual void get(int rank, const Section& far, void* near, DType dtype) = 0;
    /// far = far combined with near, each element atomically.
    virtual void accumulate(int rank, const Section& far, const void* near, DType dtype,
                            Combine combine) = 0;
    // The same without waiting.
    virtual std::unique_ptr<Request> start_put(int rank, const Section& far, const void* near,
                                               DType dtype) = 0;
    virtual std::unique_ptr<Request> start_get(int rank, const Section& far, void* near,
                                               DType dtype) = 0;
    virtual std::unique_ptr<Request> start_accumulate(int rank, const Section& far,
                                                      const void* near, DType dtype,
                                                      Combine combine) = 0;
    /// *before = the element; then it is combined with *value, in one step.
    virtual void fetch(int rank, std::int64_t offset, const void* value, void* before, DType dtype,
                       Combine combine) = 0;
    /// The same of a block: `before` is packed, too, and has what the elements were.
    virtual void get_accumulate(int rank, const Section& far, const void* near, void* before,
                                DType dtype, Combine combine) = 0;
    /// Sets the element to *value if it is *expected; *before is what it was.
    virtual void compare_and_swap(int rank, std::int64_t offset, const void* expected,
                                  const void* value, void* before, DType dtype) = 0;
    /// What was put is there (rank -1: on all ranks).
    virtual void flush(int rank) = 0;
    /// flush, then all ranks meet; what any of them put is visible to all.
    virtual void fence() = 0;
    /// One rank at a time holds the lock of a rank's memory, or several that share it.
    virtual void lock(int rank, bool shared) = 0;
    virtual void unlock(int rank) = 0;
    /// Of a window of attached memory: this rank's, which others may reach until it is detached.
    virtual void attach(void* memory, std::int64_t bytes) = 0;
    virtual void detach(void* memory) = 0;
    virtual void free() = 0;
};

/// Ranks that exchange messages among themselves.
class Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Ranks of the other group, where there are two (comm/processes.h); 0: there is one.
    virtual int remote_size() const { return 0; }
    /// Ranks that messages go to.
    int partners() const { return remote_size() > 0 ? remote_size() : size(); }

    // Collective. Null where this rank is not part of the result.
    virtual std::unique_ptr<Communicator> duplicate() = 0;
    /// Ranks of equal colour, ordered by key; colour -1: none.
    virtual std::unique_ptr<Communicator> split(int colour, int key) = 0;
    /// Ranks of one node, whose memory can be shared, ordered by key; none where `joins` is false.
    virtual std::unique_ptr<Communicator> split_nodes(bool joins, int key) = 0;
    /// These ranks, in this order; only they call.
    virtual std::unique_ptr<Communicator> part(std::span<const int> ranks, int tag) = 0;
    virtual void free() = 0;
    /// Completes all messages and frees it: processes that share no other one may end apart.
    virtual void disconnect() { free(); }

    virtual void send(const void* from, std::int64_t bytes, int to, int tag, bool synchronous) = 0;
    virtual void receive(void* to, std::int64_t bytes, int source, int tag, Delivery* delivery) = 0;
    virtual std::unique_ptr<Request> start_send(const void* from, std::int64_t bytes, int to,
                                                int tag, bool synchronous) = 0;
    virtual std::unique_ptr<Request> start_receive(void* to, std::int64_t bytes, int source,
                                                   int tag) = 0;
    /// Whether such a message has arrived; it stays. `wait`: until one has.
    virtual bool probe(int source, int tag, bool wait, Delivery& delivery) = 0;
    /// The first such message; null if none has arrived and `wait` is false.
    virtual std::unique_ptr<Matched> match(int source, int tag, bool wait) = 0;

    virtual std::unique_ptr<Request> start(const CollectiveCall& call) = 0;
    // Between two groups, of which the other may be of programs that use the library themselves:
    // its own call of each kind. Those that wait and those that do not meet only their own.
    virtual std::unique_ptr<Request> start_between(const CollectiveCall& call);
    virtual void call_between(const CollectiveCall& call);
    /// All ranks call; each gives its own size, and its memory where that is given.
    virtual std::unique_ptr<Window> window(std::int64_t bytes, Window::Kind kind, void* memory) = 0;
    /// The ranks that these have in the job's communicator of all ranks; processes that are not
    /// there are numbered behind them, as this process meets them.
    virtual std::vector<int> world_ranks() const = 0;
    /// The library's own handle, as a number that other bindings to it understand.
    virtual std::int64_t handle() const = 0;
};

struct JobOptions {
    double timeout = 0;                ///< seconds that a rank waits for others; 0: for ever
    bool (*interrupted)() = nullptr;   ///< asked now and then while waiting
    std::string (*place)() = nullptr;  ///< " at file:line" of the user's call
};

class Processes;

/// The library's connection of this process.
class Job {
  public:
    virtual ~Job() = default;
    virtual std::unique_ptr<Communicator> world() = 0;
    virtual std::unique_ptr<Communicator> self() = 0;
    /// What starts and meets other processes; null for virtual ranks.
    virtual Processes* processes() { return nullptr; }
    virtual std::string library() const = 0;
    virtual double wall_time() const = 0;
    /// The program ends: waits for all ranks, and says which messages nobody received.
    virtual std::string finish() = 0;
    /// Ends all ranks.
    [[noreturn]] virtual void abort(int status) = 0;
};

/// Loads the plugin and connects. Throws a Comm error that says what was missing.
std::unique_ptr<Job> load_job(const JobOptions& options);

}  // namespace unisono::comm
