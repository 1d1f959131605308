// Collective calls between two groups by MPI's calls of the same kind, so that they meet those of
// any program: C's, or mpi4py's. Calls that wait are made on threads of their own (wait_for_call).
#include <memory>

#include "comm/collective.h"
#include "comm/mpi/calls.h"

namespace unisono::comm {

namespace {

/// What MPI takes, which lives as long as the call.
struct Arguments {
    Arguments(MPI_Comm comm_of_both, const CollectiveCall& given)
        : c(given),
          comm(comm_of_both),
          type(type_of(c.dtype)),
          out(std::max<std::int64_t>(c.sent, least()), type),
          in(std::max<std::int64_t>(c.received, least()), type),
          root(c.root == root_here ? MPI_ROOT
               : c.root == no_rank ? MPI_PROC_NULL
                                   : c.root) {
        if (least() > 0) c.from = c.to = &unused;
        if (!c.varies) return;
        MPI_Comm_remote_size(comm, &others);
        if (c.root == root_here || c.kind == CollectiveKind::AllGather ||
            c.kind == CollectiveKind::AllToAll) {
            share(c.sends, c.sent);
            share(c.receives, c.received);
        }
    }

    CollectiveCall c;
    MPI_Comm comm;
    MPI_Datatype type;
    Elements out, in;
    int root, others = 0;

  private:
    /// Open MPI 4.1 does not number calls of no elements on ranks beside a root, so that their
    /// later calls meet others of the other ranks: they say one, which nobody reads or writes.
    int least() const {
        const bool is_given = c.from || c.to;
        return c.root == no_rank && !is_given ? 1 : 0;
    }
    double unused[2] = {0, 0};  ///< of any type

    void share(Shares& shares, std::int64_t each) const {
        if (!shares.even()) return;
        for (int r = 0; r < others; ++r) {
            shares.counts.push_back(static_cast<int>(each));
            shares.starts.push_back(static_cast<int>(r * each));
        }
    }
};

/// The call that waits, or, where there is a request, the one that does not.
template <class Waits, class Starts, class... Given>
int made(MPI_Request* request, Waits waits, Starts starts, Given... given) {
    return request ? starts(given..., request) : waits(given...);
}

int gather_or_scatter(Arguments& a, MPI_Request* request) {
    CollectiveCall& c = a.c;
    const bool gathers = c.kind == CollectiveKind::Gather;
    if (gathers && c.varies)
        return made(request, MPI_Gatherv, MPI_Igatherv, c.from, a.out.count(), a.out.type(), c.to,
                    c.receives.counts.data(), c.receives.starts.data(), a.type, a.root, a.comm);
    if (gathers)
        return made(request, MPI_Gather, MPI_Igather, c.from, a.out.count(), a.out.type(), c.to,
                    a.in.count(), a.in.type(), a.root, a.comm);
    if (c.varies)
        return made(request, MPI_Scatterv, MPI_Iscatterv, c.from, c.sends.counts.data(),
                    c.sends.starts.data(), a.type, c.to, a.in.count(), a.in.type(), a.root, a.comm);
    return made(request, MPI_Scatter, MPI_Iscatter, c.from, a.out.count(), a.out.type(), c.to,
                a.in.count(), a.in.type(), a.root, a.comm);
}

int exchange(Arguments& a, MPI_Request* request) {
    CollectiveCall& c = a.c;
    const bool gathers = c.kind == CollectiveKind::AllGather;
    if (gathers && c.varies)
        return made(request, MPI_Allgatherv, MPI_Iallgatherv, c.from, a.out.count(), a.out.type(),
                    c.to, c.receives.counts.data(), c.receives.starts.data(), a.type, a.comm);
    if (gathers)
        return made(request, MPI_Allgather, MPI_Iallgather, c.from, a.out.count(), a.out.type(),
                    c.to, a.in.count(), a.in.type(), a.comm);
    if (c.varies)
        return made(request, MPI_Alltoallv, MPI_Ialltoallv, c.from, c.sends.counts.data(),
                    c.sends.starts.data(), a.type, c.to, c.receives.counts.data(),
                    c.receives.starts.data(), a.type, a.comm);
    return made(request, MPI_Alltoall, MPI_Ialltoall, c.from, a.out.count(), a.out.type(), c.to,
                a.in.count(), a.in.type(), a.comm);
}

int reduce(Arguments& a, MPI_Request* request) {
    CollectiveCall& c = a.c;
    const MPI_Op op = operation_of(c.combine, c.dtype);
    const int n = a.out.count();
    switch (c.kind) {
        case CollectiveKind::Reduce:
            return made(request, MPI_Reduce, MPI_Ireduce, c.from, c.to, n, a.type, op, a.root,
                        a.comm);
        case CollectiveKind::AllReduce:
            return made(request, MPI_Allreduce, MPI_Iallreduce, c.from, c.to, n, a.type, op,
                        a.comm);
        default: break;
    }
    if (c.varies)
        return made(request, MPI_Reduce_scatter, MPI_Ireduce_scatter, c.from, c.to,
                    c.receives.counts.data(), a.type, op, a.comm);
    return made(request, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c.from, c.to,
                a.in.count(), a.type, op, a.comm);
}

int make(Arguments& a, MPI_Request* request) {
    switch (a.c.kind) {
        case CollectiveKind::Barrier: return made(request, MPI_Barrier, MPI_Ibarrier, a.comm);
        case CollectiveKind::Broadcast:
            return made(request, MPI_Bcast, MPI_Ibcast, a.c.to, a.in.count(), a.in.type(), a.root,
                        a.comm);
        case CollectiveKind::Gather:
        case CollectiveKind::Scatter: return gather_or_scatter(a, request);
        case CollectiveKind::AllGather:
        case CollectiveKind::AllToAll: return exchange(a, request);
        default: return reduce(a, request);
    }
}

void refuse_too_many(const CollectiveCall& c) {
    if (c.kind < CollectiveKind::Reduce || std::max(c.sent, c.received) <= INT_MAX) return;
    fail(ErrorKind::Unsupported, "mpi: a reduction of more than 2147483647 elements" +
                                     place_of_call() + "; reduce it in pieces");
}

}  // namespace

std::string between_text(const CollectiveCall& call) {
    return std::string(buffer_call(call.kind)) + " with the ranks of another group";
}

void start_between_groups(MPI_Comm comm, MpiRequest& request) {
    refuse_too_many(request.call);
    auto kept = std::make_shared<Arguments>(comm, request.call);
    request.arguments = kept;
    check(make(*kept, &request.request), [&] { return between_text(request.call); });
}

void call_between_groups(MPI_Comm comm, const CollectiveCall& call) {
    refuse_too_many(call);
    if (call.kind >= CollectiveKind::Reduce) operation_of(call.combine, call.dtype);  // may refuse
    auto what = [&] { return between_text(call); };
    auto kept = std::make_shared<Arguments>(comm, call);
    try {
        check(wait_for_call([kept] { return make(*kept, nullptr); }, what), what);
    } catch (const Error& e) {
        if (e.kind() == ErrorKind::Interrupt) note_left(comm, what() + place_of_call());
        throw;
    }
}

MPI_Comm duplicated_pair(MPI_Comm comm) {
    auto what = [] { return std::string("Dup"); };
    refuse_after_left(comm, what);
    auto pair = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
    check(wait_for_call([=] { return MPI_Comm_dup(comm, pair.get()); }, what), what);
    return *pair;
}

}  // namespace unisono::comm
