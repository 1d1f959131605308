// Kernels as code of the host: the LLVM IR of which PTX was made, with the ids of threads in memory
// and barriers that switch stacks. What the PTX back end and the assembler make of it is not run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_driver/driver.h"

namespace cuda_driver {

struct Parameter {
    std::int64_t bytes = 0;
    bool is_pointer = false;
    Access access = Access::None;  ///< of the memory at a pointer, as far as it is seen
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::int64_t shared_bytes = 0;
    bool has_barrier = false;
    void (*thread)(void** parameters) = nullptr;
};

using Extents = std::array<unsigned, 3>;

class KernelCode {
  public:
    virtual ~KernelCode() = default;
    std::vector<Kernel> kernels;
};

/// Throws std::runtime_error that says what is wrong.
std::shared_ptr<KernelCode> compile_for_host(const std::string& llvm_ir);

/// Runs a whole grid on the calling thread; only one thread at a time may. Says what hardware would
/// refuse; empty where there is nothing.
std::string run_grid(const Kernel& kernel, const Extents& grid, const Extents& block,
                     void** parameters);

}  // namespace cuda_driver
