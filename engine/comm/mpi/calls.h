// What all of the plugin's message calls share: waiting with a time-out, errors, and MPI's types.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "comm/argument_error.h"
#include "comm/messages.h"
#include "comm/mpi/patience.h"
#include "core/error.h"

namespace unisono::comm {

/// Seconds that ranks whose program has ended wait longer than those that still run it.
inline constexpr double end_patience = 5.0;
inline JobOptions job_options;  ///< of this process's connection

inline std::string place_of_call() { return job_options.place ? job_options.place() : ""; }

/// "rank 3", or "any rank".
inline std::string rank_text(int rank) {
    return rank == any_source ? "any rank" : "rank " + std::to_string(rank);
}
inline std::string tag_text(int tag) {
    return tag == any_tag ? "any tag" : "tag " + std::to_string(tag);
}

/// Turns a status other than success into an error. `what` gives the call in words.
template <class What>
void check(int status, What&& what) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, kind = 0;
    MPI_Error_class(status, &kind);
    if (kind == MPI_ERR_TRUNCATE) {
        fail(ErrorKind::Comm,
             "mpi: a message is longer than the buffer of " + what() + place_of_call() +
                 "; give the same number of elements and dtype on both sides, "
                 "and make the same collective calls on all ranks (MPI_ERR_TRUNCATE)");
    }
    MPI_Error_string(status, text, &length);
    const std::string message = "mpi: " + what() + place_of_call() + " failed; got " +
                                std::string(text, static_cast<std::size_t>(length));
    if (kind == MPI_ERR_RANK || kind == MPI_ERR_TAG || kind == MPI_ERR_ROOT)
        fail_of_argument(message);
    fail(ErrorKind::Comm, message);
}

/// Calls done() until it is true; after the time-out, or Ctrl-C, throws.
template <class Done, class What>
void wait_until(Done&& done, What&& what) {
    if (done()) return;
    using Clock = std::chrono::steady_clock;
    auto start = Clock::now();
    std::optional<Patience> patience;
    for (long turn = 1; !done(); ++turn) {
        if (turn > 200) std::this_thread::yield();
        // On a loaded machine each turn lets others run: few of them are a long time.
        const bool rests = turn % 256 == 0;
        if (!rests && (!patience || turn % turns_of_a_look != 0)) continue;
        double waited = std::chrono::duration<double>(Clock::now() - start).count();
        if (rests && waited > 0.002) {
            if (!patience) patience.emplace(job_options.timeout);
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        if (rests && job_options.interrupted && job_options.interrupted())
            fail(ErrorKind::Interrupt, "mpi: interrupted in " + what() + place_of_call());
        if (patience && patience->is_over(waited)) {
            fail(ErrorKind::Comm,
                 "mpi: waited " + patience->seconds() + " seconds in " + what() + place_of_call() +
                     Patience::gone() +
                     "; did the other ranks make the matching call? UNISONO_COMM_TIMEOUT sets how "
                     "long to wait");
        }
    }
}

/// Notes a collective call of this rank that Ctrl-C ended, and forgets it when it is done after
/// all. Until then the other ranks' next call would meet the one that was left.
void note_left(MPI_Comm comm, const std::string& call);
void forget_left(MPI_Comm comm);
/// The call that was left, with its line; empty where none was.
std::string left_call(MPI_Comm comm);
inline std::atomic<bool> any_left{false};  ///< ever

template <class What>
void refuse_after_left(MPI_Comm comm, What&& what) {
    if (!any_left.load(std::memory_order_relaxed)) [[likely]]
        return;
    const std::string left = left_call(comm);
    if (left.empty()) return;
    fail(ErrorKind::Comm, "mpi: " + what() + place_of_call() +
                              ": collective calls no longer match between ranks, since " + left +
                              " was interrupted before the others made it; start the ranks anew");
}

/// Calls that were given up while MPI works on them.
inline std::atomic<int> calls_left{0};

/// Makes a call that MPI has no request for, on a thread of its own, and waits for it as for a
/// request: a partner that never comes is an error after the time-out. The call goes on then, so
/// that it owns what it uses.
template <class Call, class What>
int wait_for_call(Call call, What&& what) {
    int level = 0;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        Waiting waiting;
        return call();
    }
    struct Result {
        std::atomic<bool> is_there{false};
        int status = MPI_SUCCESS;
    };
    auto result = std::make_shared<Result>();
    std::thread([result, call = std::move(call)] {
        result->status = call();
        result->is_there = true;
    }).detach();
    try {
        auto is_done = [&] {
            watch_arriving();
            return result->is_there.load();
        };
        wait_until(is_done, what);
    } catch (...) {
        ++calls_left;
        throw;
    }
    return result->status;
}

/// A communicator of the same ranks, which all of them ask for.
template <class What>
MPI_Comm duplicated(MPI_Comm comm, What&& what) {
    refuse_after_left(comm, what);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    check(MPI_Comm_idup(comm, &made, &request), what);
    int done = 0;
    wait_until(
        [&] {
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
            return done != 0;
        },
        what);
    return made;
}

/// MPI's type of the elements.
MPI_Datatype type_of(DType dtype);
/// MPI's operation; throws where there is none for such elements.
MPI_Op operation_of(Combine combine, DType dtype);

/// Elements of a type as MPI counts them: by an int, or as one element of a larger type.
class Elements {
  public:
    Elements(std::int64_t n, MPI_Datatype of, std::int64_t most = INT_MAX);
    ~Elements();
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    int count() const { return count_; }
    MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_;
    int count_;
    bool made_ = false;
};

/// A request of MPI's. Its error texts name the call.
class MpiRequest : public Request {
  public:
    explicit MpiRequest(std::string what) : what_(std::move(what)) {}
    ~MpiRequest() override;
    bool test(Delivery* delivery) override;
    void wait(Delivery* delivery) override;
    std::size_t wait_any(std::span<Request* const> all) override;
    /// Notes the line that starts it, for `give_up_open`.
    void track();
    /// At the end of the program: a line for each tracked request whose partner never came, at most
    /// `most`. None of them calls MPI from then on.
    static std::string give_up_open(int most);

    MPI_Request request = MPI_REQUEST_NULL;
    bool cancels = false;             ///< a receive, which may be cancelled
    bool collective = false;          ///< must not be freed before it is done
    MPI_Comm comm = MPI_COMM_NULL;    ///< of a collective call
    CollectiveCall call{};            ///< keeps the counts that MPI still reads
    std::shared_ptr<void> arguments;  ///< the same of a call between two groups

  private:
    std::string what_, started_;
    bool done_ = false, tracked_ = false, left_ = false;
    Delivery delivery_;
};

/// Work that was complete when it was started.
class NoRequest final : public Request {
  public:
    bool test(Delivery*) override { return true; }
    void wait(Delivery*) override {}
    std::size_t wait_any(std::span<Request* const> all) override {
        return static_cast<std::size_t>(std::ranges::find(all, static_cast<Request*>(this)) -
                                        all.begin());
    }
};

Delivery delivery_of(const MPI_Status& status);

// Calls between two groups (two_groups.cpp).
std::string between_text(const CollectiveCall& call);
/// Starts the call that the request keeps.
void start_between_groups(MPI_Comm comm, MpiRequest& request);
void call_between_groups(MPI_Comm comm, const CollectiveCall& call);
MPI_Comm duplicated_pair(MPI_Comm comm);

/// What stands for a communicator of MPI's; null for MPI_COMM_NULL.
std::unique_ptr<Communicator> wrapped(MPI_Comm made);
/// Numbers of processes: their ranks in MPI_COMM_WORLD, and behind those whatever others are met.
std::vector<int> numbers_of(MPI_Group group);

std::unique_ptr<Window> make_window(MPI_Comm comm, std::int64_t bytes, Window::Kind kind,
                                    void* memory);

}  // namespace unisono::comm
