// Initialises and finalises MPI once.
#include "comm/mpi/session.h"

#include <mpi.h>

#include <cstdlib>
#include <mutex>

#include "comm/mpi/calls.h"
#include "comm/mpi/patience.h"

namespace unisono::comm {

namespace {

std::mutex guard;
int users = 0;
bool ours = false;  ///< whether this library initialised MPI

/// The daemon that Open MPI starts beside a process without a launcher, which serves those that the
/// process spawns, watches its sockets by poll. By epoll, PMIx 4.2 misses now and then a process
/// that starts while another one ends, as it closes a socket before it takes it from what is
/// watched; both sides then wait for ever (openpmix pull request 4279).
class DaemonPolls {
  public:
    DaemonPolls() : was_set_(std::getenv(name) != nullptr) { setenv(name, "1", 0); }
    ~DaemonPolls() {
        if (!was_set_) unsetenv(name);
    }
    DaemonPolls(const DaemonPolls&) = delete;
    DaemonPolls& operator=(const DaemonPolls&) = delete;

  private:
    static constexpr const char* name = "EVENT_NOEPOLL";  // of libevent
    bool was_set_;
};

}  // namespace

void start_mpi() {
    std::lock_guard lock(guard);
    ++users;
    int initialised = 0, provided = 0;
    MPI_Initialized(&initialised);
    if (initialised) return;
    show_own_line();
    const DaemonPolls polls;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    ours = true;
}

void stop_mpi() {
    std::lock_guard lock(guard);
    int finalised = 0;
    MPI_Finalized(&finalised);
    // One that was given up would never let MPI end.
    if (--users > 0 || !ours || finalised || calls_left > 0) return;
    Waiting waiting;
    MPI_Finalize();
}

}  // namespace unisono::comm
