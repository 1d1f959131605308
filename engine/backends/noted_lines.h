// Prints the lines that kernels of a device have noted (pass note_prints).
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "ir/noted_lines.h"

namespace unisono {

/// Of one launch; the memory stays with the caller.
class LaunchLines {
  public:
    LaunchLines(const ir::Module& module, Device& device, Memory counts, Memory words)
        : module_(module), device_(device), counts_(counts), words_(words) {}

    /// Before the kernels; behind what the calling thread's queue was given.
    void clear();
    /// Behind the kernels, for which it waits: prints what they noted since, and warns of lines
    /// without room. False where the output failed, now or before.
    bool print();
    /// The fault site of the print that failed.
    std::int32_t failed() const { return failed_; }

  private:
    std::int32_t print_noted() const;

    const ir::Module& module_;
    Device& device_;
    Memory counts_, words_;
    std::int32_t failed_ = -1;
};

}  // namespace unisono
