// Threads of a block that stop at barriers: stacks between which one thread of the host switches.
#pragma once

#include <cstddef>
#include <functional>

namespace cuda_driver {

/// Calls body(k) for each k below `count`, each on a stack of its own; barrier() inside of it
/// returns once all others that have not ended are there.
void run_fibers(std::size_t count, const std::function<void(std::size_t)>& body,
                const std::function<void(std::size_t)>& resume);
void barrier();

}  // namespace cuda_driver
