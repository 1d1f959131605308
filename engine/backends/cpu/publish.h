// Tells debuggers and profilers of compiled code: gdb by its interface for code made at run time,
// perf by /tmp/perf-PID.map and by a dump with lines (jit-PID.dump, for `perf inject --jit`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/loader.h"
#include "backends/listing.h"

namespace unisono::cpu {

/// Where to find what, on request: compiled functions, their lines and the files of these.
struct PublishedCode {
    PlacedObject placed;
    std::vector<CodeLine> lines;
    std::vector<std::string> files;
    std::string name;  ///< of the entry, for people
};

/// As long as the result lives gdb knows the code. perf, which reads its files later, always does.
std::shared_ptr<void> publish(PublishedCode code);

}  // namespace unisono::cpu
