// One initialisation of MPI for all who use it in this process: meshes, messages, other libraries.
#pragma once

namespace unisono::comm {

/// Initialises MPI unless it is already; each user calls it once.
void start_mpi();
/// A user is done. The last one finalises MPI, if start_mpi initialised it.
void stop_mpi();

}  // namespace unisono::comm
