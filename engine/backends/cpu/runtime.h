// What compiled kernels call: threads and scratch memory.
#pragma once

#include <cstdint>

#include "backends/backend.h"

namespace unisono::cpu {

/// The body of a parallel loop over iterations [begin, end): the site of the first fault, or -1.
using LoopBody = std::int64_t (*)(Fault* fault, void* context, std::int64_t begin,
                                  std::int64_t end);

/// Runs iterations [0, trips); `fault` is a HostFault. `work` estimates one iteration in units of
/// about 0.1 ns: little work stays on the calling thread, and the user is asked between pieces
/// of much. `place` is the loop's line, its file in the upper half. Of several faults the one of
/// the lowest iteration is returned; all iterations before it are complete.
std::int64_t run_parallel_loop(Fault* fault, LoopBody body, void* context, std::int64_t trips,
                               std::int64_t work, std::int64_t place) noexcept;

/// Whether the user asks to stop; if so the fault says where.
std::int64_t poll_from_code(Fault* fault, std::int64_t iteration, std::int64_t line,
                            std::int64_t file) noexcept;

/// The code of a deferred function of the running module; `fault` is a HostFault.
void* find_deferred(Fault* fault, std::int64_t function) noexcept;

/// Address of an imported function by its name, or null. Kernels import nothing else.
void* find_import(const char* name);
/// The same, or of a function of the C library or of an opened library: for code of C text alone.
void* find_import_of_c(const char* name);

}  // namespace unisono::cpu
