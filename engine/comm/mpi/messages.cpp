// Messages and collective calls over MPI.
#include <algorithm>
#include <set>

#include "comm/mpi/calls.h"
#include "comm/mpi/processes.h"
#include "comm/mpi/session.h"

namespace unisono::comm {

namespace {

/// Those in use, for the report of messages that nobody received.
std::set<MPI_Comm>& open_communicators() {
    static std::set<MPI_Comm> all;
    return all;
}

/// Waits for a request that nobody else knows.
template <class What>
void finish(MPI_Request& request, MPI_Status* status, What&& what) {
    int done = 0;
    try {
        wait_until(
            [&] {
                check(MPI_Test(&request, &done, status), what);
                return done != 0;
            },
            what);
    } catch (...) {
        // The buffer may go away: nothing may arrive in it any more.
        if (request != MPI_REQUEST_NULL) {
            MPI_Cancel(&request);
            MPI_Request_free(&request);
        }
        throw;
    }
}

class MpiMatched final : public Matched {
  public:
    MpiMatched(MPI_Message message, const MPI_Status& status)
        : message_(message), delivery_(delivery_of(status)) {}
    Delivery delivery() const override { return delivery_; }
    void receive(void* to) override {
        MPI_Request request;
        auto what = [&] { return "recv from " + rank_text(delivery_.source); };
        Elements bytes(delivery_.bytes, MPI_BYTE);
        check(MPI_Imrecv(to, bytes.count(), bytes.type(), &message_, &request), what);
        finish(request, MPI_STATUS_IGNORE, what);
    }

  private:
    MPI_Message message_;
    Delivery delivery_;
};

const char* name_of(CollectiveKind kind) {
    constexpr const char* names[] = {"barrier",  "bcast",  "gather",    "scatter", "allgather",
                                     "alltoall", "reduce", "allreduce", "scan",    "exscan"};
    return names[static_cast<int>(kind)];
}

class MpiCommunicator final : public Communicator {
  public:
    explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        int has_two = 0;
        MPI_Comm_test_inter(comm_, &has_two);
        if (has_two) MPI_Comm_remote_size(comm_, &remote_size_);
        open_communicators().insert(comm_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int remote_size() const override { return remote_size_; }
    std::int64_t handle() const override { return static_cast<std::int64_t>(MPI_Comm_c2f(comm_)); }

    std::unique_ptr<Communicator> duplicate() override {
        if (remote_size_ > 0) return wrapped(duplicated_pair(used()));
        return wrapped(duplicated(used(), [] { return std::string("Dup"); }));
    }
    std::unique_ptr<Communicator> split(int colour, int key) override {
        MPI_Comm made;
        Waiting waiting;
        refuse_after_left(used(), [] { return std::string("Split"); });
        check(MPI_Comm_split(used(), colour < 0 ? MPI_UNDEFINED : colour, key, &made),
              [] { return std::string("Split"); });
        return wrapped(made);
    }
    std::unique_ptr<Communicator> split_nodes(bool joins, int key) override {
        MPI_Comm made;
        Waiting waiting;
        const int kind = joins ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED;
        check(MPI_Comm_split_type(used(), kind, key, MPI_INFO_NULL, &made),
              [] { return std::string("Split_nodes"); });
        return wrapped(made);
    }
    std::unique_ptr<Communicator> part(std::span<const int> ranks, int tag) override {
        Waiting waiting;
        MPI_Group all, some;
        MPI_Comm made;
        MPI_Comm_group(used(), &all);
        check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some),
              [] { return std::string("Create_group"); });
        int status = MPI_Comm_create_group(comm_, some, tag, &made);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
        check(status, [] { return std::string("Create_group"); });
        return wrapped(made);
    }
    void free() override {
        Waiting waiting;
        open_communicators().erase(comm_);
        forget_left(comm_);
        if (comm_ != MPI_COMM_WORLD && comm_ != MPI_COMM_SELF && comm_ != MPI_COMM_NULL)
            MPI_Comm_free(&comm_);
        comm_ = MPI_COMM_NULL;
    }
    void disconnect() override {
        auto left = std::make_shared<MPI_Comm>(used());
        open_communicators().erase(comm_);
        forget_left(comm_);
        comm_ = MPI_COMM_NULL;
        auto what = [] { return std::string("Disconnect"); };
        check(wait_for_call([=] { return MPI_Comm_disconnect(left.get()); }, what), what);
    }

    void send(const void* from, std::int64_t bytes, int to, int tag, bool synchronous) override {
        MPI_Request request;
        auto what = [&] { return send_text(to, tag); };
        begin_send(from, bytes, to, tag, synchronous, request);
        finish(request, MPI_STATUS_IGNORE, what);
    }
    void receive(void* to, std::int64_t bytes, int source, int tag, Delivery* delivery) override {
        MPI_Request request;
        MPI_Status status;
        auto what = [&] { return receive_text(source, tag); };
        begin_receive(to, bytes, source, tag, request);
        finish(request, &status, what);
        if (delivery) *delivery = delivery_of(status);
    }
    std::unique_ptr<Request> start_send(const void* from, std::int64_t bytes, int to, int tag,
                                        bool synchronous) override {
        auto made = std::make_unique<MpiRequest>(send_text(to, tag));
        begin_send(from, bytes, to, tag, synchronous, made->request);
        made->track();
        return made;
    }
    std::unique_ptr<Request> start_receive(void* to, std::int64_t bytes, int source,
                                           int tag) override {
        auto made = std::make_unique<MpiRequest>(receive_text(source, tag));
        begin_receive(to, bytes, source, tag, made->request);
        made->cancels = true;
        made->track();
        return made;
    }

    bool probe(int source, int tag, bool wait, Delivery& delivery) override {
        int there = 0;
        MPI_Status status;
        auto what = [&] { return "a probe for a message from " + rank_text(source); };
        auto look = [&] {
            check(MPI_Iprobe(source_of(source), tag_of(tag), used(), &there, &status), what);
            return there != 0;
        };
        if (wait)
            wait_until(look, what);
        else
            look();
        if (there) delivery = delivery_of(status);
        return there != 0;
    }
    std::unique_ptr<Matched> match(int source, int tag, bool wait) override {
        int there = 0;
        MPI_Message message;
        MPI_Status status;
        auto what = [&] { return receive_text(source, tag); };
        auto look = [&] {
            check(MPI_Improbe(source_of(source), tag_of(tag), used(), &there, &message, &status),
                  what);
            return there != 0;
        };
        if (wait)
            wait_until(look, what);
        else
            look();
        if (!there) return nullptr;
        return std::make_unique<MpiMatched>(message, status);
    }

    std::unique_ptr<Request> start(const CollectiveCall& given) override {
        std::string what = name_of(given.kind);
        auto made = std::make_unique<MpiRequest>(what);
        made->call = given;
        made->collective = true;
        made->comm = used();
        refuse_after_left(made->comm, [&] { return what; });
        int status = begin(made->call, made->request);
        check(status, [&] { return what; });
        return made;
    }

    std::unique_ptr<Request> start_between(const CollectiveCall& given) override {
        auto made = std::make_unique<MpiRequest>(between_text(given));
        made->call = given;
        made->collective = true;
        made->comm = used();
        refuse_after_left(made->comm, [&] { return between_text(given); });
        start_between_groups(made->comm, *made);
        return made;
    }
    void call_between(const CollectiveCall& given) override {
        refuse_after_left(used(), [&] { return between_text(given); });
        call_between_groups(comm_, given);
    }

    std::unique_ptr<Window> window(std::int64_t bytes, Window::Kind kind, void* memory) override {
        Waiting waiting;
        return make_window(used(), bytes, kind, memory);
    }
    std::vector<int> world_ranks() const override {
        MPI_Group here;
        MPI_Comm_group(used(), &here);
        std::vector<int> found = numbers_of(here);
        MPI_Group_free(&here);
        return found;
    }

  private:
    static int source_of(int source) {
        return source == any_source ? MPI_ANY_SOURCE : rank_of(source);
    }
    static int rank_of(int rank) { return rank == no_rank ? MPI_PROC_NULL : rank; }
    static int tag_of(int tag) { return tag == any_tag ? MPI_ANY_TAG : tag; }
    MPI_Comm used() const {
        if (comm_ == MPI_COMM_NULL)
            fail(ErrorKind::Comm, "mpi: the communicator was freed" + place_of_call());
        return comm_;
    }
    std::string send_text(int to, int tag) const {
        return "send from rank " + std::to_string(rank_) + " to " + rank_text(to) + ", " +
               tag_text(tag);
    }
    std::string receive_text(int source, int tag) const {
        return "recv on rank " + std::to_string(rank_) + " from " + rank_text(source) + ", " +
               tag_text(tag);
    }
    void begin_send(const void* from, std::int64_t bytes, int to, int tag, bool synchronous,
                    MPI_Request& request) {
        Elements n(bytes, MPI_BYTE);
        auto start = synchronous ? MPI_Issend : MPI_Isend;
        check(start(from, n.count(), n.type(), rank_of(to), tag, used(), &request),
              [&] { return send_text(to, tag); });
    }
    void begin_receive(void* to, std::int64_t bytes, int source, int tag, MPI_Request& request) {
        Elements n(bytes, MPI_BYTE);
        check(MPI_Irecv(to, n.count(), n.type(), source_of(source), tag_of(tag), used(), &request),
              [&] { return receive_text(source, tag); });
    }
    /// Only the root of a gather or scatter knows whether shares are even, and MPI's calls for
    /// even shares and for others do not meet: all ranks use those for others.
    void part_out(Shares& shares, const Elements& each) const {
        if (!shares.even()) return;
        for (int r = 0; r < size_; ++r) {
            shares.counts.push_back(each.count());
            shares.starts.push_back(r * each.count());
        }
    }
    /// Open MPI 4.1 does not number a call in place on a rank that exchanges nothing, so that its
    /// later calls meet others of the other ranks. There it is not in place: nobody can tell.
    static bool loses_count([[maybe_unused]] const CollectiveCall& c) {
#ifdef OPEN_MPI
        return !c.from && std::ranges::all_of(c.receives.counts, [](int n) { return n == 0; });
#else
        return false;
#endif
    }
    int begin(CollectiveCall& c, MPI_Request& request) {
        MPI_Datatype type = type_of(c.dtype);
        const bool gathers = c.kind == CollectiveKind::Gather;
        const bool scatters = c.kind == CollectiveKind::Scatter;
        const std::int64_t most = INT_MAX, most_even = most / size_;  // starts are ints, too
        Elements out(c.sent, type, scatters && c.sends.even() ? most_even : most);
        Elements in(c.received, type, gathers && c.receives.even() ? most_even : most);
        const void* from = c.from ? c.from : MPI_IN_PLACE;
        bool root = rank_ == c.root;
        MPI_Comm comm = used();
        MPI_Datatype in_type = c.receives.even() ? in.type() : type;
        MPI_Datatype out_type = c.sends.even() ? out.type() : type;
        if (gathers && root) part_out(c.receives, in);
        if (scatters && root) part_out(c.sends, out);
        const int *sends = c.sends.counts.data(), *send_starts = c.sends.starts.data();
        const int *receives = c.receives.counts.data(), *receive_starts = c.receives.starts.data();
        switch (c.kind) {
            case CollectiveKind::Barrier: return MPI_Ibarrier(comm, &request);
            case CollectiveKind::Broadcast:
                return MPI_Ibcast(c.to, in.count(), in.type(), c.root, comm, &request);
            case CollectiveKind::Gather:
                return MPI_Igatherv(from, out.count(), out.type(), c.to, receives, receive_starts,
                                    in_type, c.root, comm, &request);
            case CollectiveKind::Scatter: {
                void* to = root && !c.to ? MPI_IN_PLACE : c.to;
                return MPI_Iscatterv(c.from, sends, send_starts, out_type, to, in.count(),
                                     in.type(), c.root, comm, &request);
            }
            case CollectiveKind::AllGather:
                if (c.receives.even())
                    return MPI_Iallgather(from, out.count(), out.type(), c.to, in.count(),
                                          in.type(), comm, &request);
                return MPI_Iallgatherv(from, out.count(), out.type(), c.to, receives,
                                       receive_starts, type, comm, &request);
            case CollectiveKind::AllToAll:
                if (c.sends.even() && c.receives.even())
                    return MPI_Ialltoall(from, out.count(), out.type(), c.to, in.count(), in.type(),
                                         comm, &request);
                if (loses_count(c)) {
                    return MPI_Ialltoallv(&c, receives, receive_starts, type, c.to, receives,
                                          receive_starts, type, comm, &request);
                }
                return MPI_Ialltoallv(from, sends, send_starts, type, c.to, receives,
                                      receive_starts, type, comm, &request);
            default: break;
        }
        if (c.sent > INT_MAX) {
            fail(ErrorKind::Unsupported, "mpi: a reduction of more than 2147483647 elements" +
                                             place_of_call() + "; reduce it in pieces");
        }
        int n = static_cast<int>(c.sent);
        MPI_Op op = operation_of(c.combine, c.dtype);
        switch (c.kind) {
            case CollectiveKind::Reduce: {
                // In place, the root's own elements lie in `to`; the others' are never in place.
                const void* mine = c.from ? c.from : root ? MPI_IN_PLACE : c.to;
                return MPI_Ireduce(mine, c.to, n, type, op, c.root, comm, &request);
            }
            case CollectiveKind::AllReduce:
                return MPI_Iallreduce(from, c.to, n, type, op, comm, &request);
            case CollectiveKind::Scan: return MPI_Iscan(from, c.to, n, type, op, comm, &request);
            default: return MPI_Iexscan(from, c.to, n, type, op, comm, &request);
        }
    }

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1, remote_size_ = 0;
};

class MpiJob final : public Job {
  public:
    explicit MpiJob(const JobOptions& options) {
        job_options = options;
        start_mpi();
        auto what = [] { return std::string("the first use of un.mpi"); };
        wait_until(meet_neighbours, what);
        control_ = duplicated(MPI_COMM_WORLD, what);
        MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(control_, &rank_);
    }
    std::unique_ptr<Communicator> world() override {
        return std::make_unique<MpiCommunicator>(MPI_COMM_WORLD);
    }
    std::unique_ptr<Communicator> self() override {
        return std::make_unique<MpiCommunicator>(MPI_COMM_SELF);
    }
    Processes* processes() override { return processes_.get(); }
    std::string library() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        return std::string(text, static_cast<std::size_t>(length));
    }
    double wall_time() const override { return MPI_Wtime(); }

    std::string finish() override {
        job_options.place = nullptr;  // no line of the program
        // A rank that waits in its program for this one is the first to say so, with its line.
        if (job_options.timeout > 0) job_options.timeout += end_patience;
        MPI_Request request;
        MPI_Ibarrier(control_, &request);
        try {
            wait_until(
                [&] {
                    int done = 0;
                    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                    return done != 0;
                },
                [] { return std::string("the end of the program"); });
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::Comm) throw;
            std::string left = unreceived();
            fail(ErrorKind::Comm, error.what() + (left.empty() ? left : "\n" + left));
        }
        std::string left = unreceived() + MpiRequest::give_up_open(most_reported);
        MPI_Comm_free(&control_);
        stop_mpi();
        return left;
    }

    [[noreturn]] void abort(int status) override {
        int finalised = 0;
        MPI_Finalized(&finalised);
        std::fflush(nullptr);
        if (!finalised) MPI_Abort(MPI_COMM_WORLD, status);
        std::_Exit(status);
    }

  private:
    /// One line for each of the first messages that arrived and were never received.
    std::string unreceived() {
        std::string lines;
        int found = 0;
        for (MPI_Comm comm : open_communicators()) {
            for (; found < most_reported; ++found) {
                int there = 0;
                MPI_Message message;
                MPI_Status status;
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &message, &status);
                if (!there) break;
                Delivery d = delivery_of(status);
                lines += "mpi: a message of " + std::to_string(d.bytes) + " bytes from " +
                         rank_text(d.source) + " to rank " + std::to_string(rank_) + " with " +
                         tag_text(d.tag) + " was never received\n";
            }
        }
        return lines;
    }

    static constexpr int most_reported = 8;
    MPI_Comm control_ = MPI_COMM_NULL;
    std::unique_ptr<Processes> processes_ = make_processes();
    int rank_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> wrapped(MPI_Comm made) {
    if (made == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCommunicator>(made);
}

}  // namespace unisono::comm

/// The plugin's second entry: connects this process for messages. Ownership goes to the caller.
extern "C" unisono::comm::Job* unisono_mpi_job(const unisono::comm::JobOptions* options) {
    return new unisono::comm::MpiJob(*options);
}
