#include "comm/collective.h"

#include <algorithm>

#include "comm/argument_error.h"
#include "core/error.h"

namespace unisono::comm {

namespace {

std::int64_t last_of(const Shares& s) {
    std::int64_t end = 0;
    for (std::size_t r = 0; r < s.counts.size(); ++r)
        end = std::max<std::int64_t>(end, std::int64_t{s.starts[r]} + s.counts[r]);
    return end;
}

/// One call's errors.
class Measure {
  public:
    Measure(CollectiveKind kind, int ranks, std::string (*place)())
        : call_(buffer_call(kind)), ranks_(ranks), place_(place) {}

    [[noreturn]] void misfit(const std::string& what) const {
        fail(ErrorKind::Value, "mpi: " + call_ + ": " + what + place());
    }
    std::string place() const { return place_ ? place_() : std::string(); }
    const std::string& call() const { return call_; }

    /// The elements for each rank of memory that holds those of all.
    std::int64_t share(const Memory& b, const Shares& s) const {
        if (!s.even()) {
            if (s.counts.size() != static_cast<std::size_t>(ranks_) ||
                s.starts.size() != s.counts.size())
                misfit("got " + std::to_string(s.counts.size()) +
                       " counts; expected one for each of " + std::to_string(ranks_) + " ranks");
            if (last_of(s) > b.count)
                misfit("the counts reach element " + std::to_string(last_of(s)) +
                       "; the buffer has " + std::to_string(b.count));
            return 0;
        }
        if (b.count % ranks_ != 0)
            misfit("a buffer of " + std::to_string(b.count) +
                   " elements cannot be shared out over " + std::to_string(ranks_) +
                   " ranks; give counts for each");
        return b.count / ranks_;
    }

  private:
    std::string call_;
    int ranks_;
    std::string (*place_)();
};

}  // namespace

const char* buffer_call(CollectiveKind kind) {
    constexpr const char* names[] = {"Barrier",   "Bcast",    "Gather",        "Scatter",
                                     "Allgather", "Alltoall", "Reduce",        "Allreduce",
                                     "Scan",      "Exscan",   "Reduce_scatter"};
    return names[static_cast<int>(kind)];
}

/// The address of memory without elements. Such memory may have none, which would mean in place, or
/// that of what is received, which Open MPI takes for in place, too.
static const char nothing = 0;

static bool leaves_nothing(const CollectiveCall& c) {
    if (c.sends.even()) return c.sent == 0;
    return std::ranges::all_of(c.sends.counts, [](int n) { return n == 0; });
}

void measure(CollectiveCall& c, const Memory& from, const Memory& to, const Communicator& comm,
             std::string (*place)()) {
    const bool root = comm.rank() == c.root;
    const Measure m(c.kind, comm.partners(), place);
    if (c.root < 0 || c.root >= comm.size())
        fail_of_argument("mpi: " + m.call() + ": no such root; got " + std::to_string(c.root) +
                         "; expected 0 to " + std::to_string(comm.size() - 1) + m.place() +
                         " (MPI_ERR_ROOT)");
    c.from = from.is_given ? from.data : nullptr;
    c.to = to.is_given ? to.data : nullptr;
    c.dtype = to.is_given ? to.dtype : from.dtype;
    if (from.is_given && to.is_given && from.dtype != to.dtype)
        fail(ErrorKind::Type, "mpi: " + m.call() + ": buffers differ in dtype; got " +
                                  std::string(name(from.dtype)) + " to send and " +
                                  std::string(name(to.dtype)) + " to receive" + m.place());
    switch (c.kind) {
        case CollectiveKind::Barrier: return;
        case CollectiveKind::Broadcast: c.received = to.count; return;
        case CollectiveKind::Gather:
            c.sent = from.count;
            if (root) c.received = m.share(to, c.receives);
            break;
        case CollectiveKind::Scatter:
            c.received = to.count;
            if (root) c.sent = m.share(from, c.sends);
            break;
        case CollectiveKind::AllGather:
            c.sent = from.count;
            c.received = m.share(to, c.receives);
            break;
        case CollectiveKind::AllToAll:
            c.sent = from.is_given ? m.share(from, c.sends) : 0;
            c.received = m.share(to, c.receives);
            break;
        default:
            c.sent = from.is_given ? from.count : to.count;
            if (from.is_given && !c.from) c.from = &nothing;
            if (from.is_given && to.is_given && from.count != to.count)
                m.misfit("buffers differ in size; got " + std::to_string(from.count) +
                         " elements to send and " + std::to_string(to.count) + " to receive");
            return;
    }
    if (from.is_given && leaves_nothing(c)) c.from = &nothing;
    // Even shares are alike on both sides; what a rank sees of both must agree.
    if (c.sends.even() && c.receives.even() && from.is_given && to.is_given && c.sent != c.received)
        m.misfit("got " + std::to_string(c.sent) + " elements to send to each rank, and " +
                 std::to_string(c.received) + " to receive from each");
}

/// A root of the other group, this rank, or nobody here.
static void check_root(const CollectiveCall& c, int others, const Measure& m) {
    if (c.root == root_here || c.root == no_rank || (c.root >= 0 && c.root < others)) return;
    fail_of_argument("mpi: " + m.call() + ": no such root; got " + std::to_string(c.root) +
                     "; expected 0 to " + std::to_string(others - 1) +
                     ", MPI.ROOT or MPI.PROC_NULL" + m.place() + " (MPI_ERR_ROOT)");
}

void measure_between(CollectiveCall& c, const Memory& from, const Memory& to,
                     const Communicator& comm, std::string (*place)()) {
    const Measure m(c.kind, comm.remote_size(), place);
    check_root(c, comm.remote_size(), m);
    c.from = from.data;
    c.to = to.data;
    c.dtype = to.is_given ? to.dtype : from.dtype;
    if (from.is_given && to.is_given && from.dtype != to.dtype)
        fail(ErrorKind::Type, "mpi: " + m.call() + ": buffers differ in dtype; got " +
                                  std::string(name(from.dtype)) + " to send and " +
                                  std::string(name(to.dtype)) + " to receive" + m.place());
    const bool is_root = c.root == root_here;
    c.sent = from.count;
    c.received = to.count;
    switch (c.kind) {
        case CollectiveKind::Gather:
            if (is_root) c.received = m.share(to, c.receives);
            return;
        case CollectiveKind::Scatter:
            if (is_root) c.sent = m.share(from, c.sends);
            return;
        case CollectiveKind::AllToAll: c.sent = m.share(from, c.sends); [[fallthrough]];
        case CollectiveKind::AllGather: c.received = m.share(to, c.receives); return;
        case CollectiveKind::Reduce:
            if (is_root) c.sent = to.count;
            return;
        case CollectiveKind::AllReduce:
            if (from.count != to.count)
                m.misfit("buffers differ in size; got " + std::to_string(from.count) +
                         " elements to send and " + std::to_string(to.count) + " to receive");
            return;
        default: return;
    }
}

std::unique_ptr<Request> Communicator::start_between(const CollectiveCall& call) {
    return start(call);
}

void Communicator::call_between(const CollectiveCall& call) { start(call)->wait(); }

}  // namespace unisono::comm
