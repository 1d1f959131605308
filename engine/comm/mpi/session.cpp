// Initialises and finalises MPI once.
#include "comm/mpi/session.h"

#include <mpi.h>

#include <mutex>

#include "comm/mpi/calls.h"
#include "comm/mpi/patience.h"

namespace unisono::comm {

namespace {

std::mutex guard;
int users = 0;
bool ours = false;  ///< whether this library initialised MPI

}  // namespace

void start_mpi() {
    std::lock_guard lock(guard);
    ++users;
    int initialised = 0, provided = 0;
    MPI_Initialized(&initialised);
    if (initialised) return;
    show_own_line();
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
