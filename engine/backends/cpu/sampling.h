// Measures the time of each line of compiled code: where the processor is, asked at each tick of
// the system.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/listing.h"

namespace unisono::cpu {

/// As long as the result lives samples in [begin, end) are those of the lines, whose offsets count
/// from `code`.
std::shared_ptr<void> note_lines(std::uint64_t code, std::uint64_t begin, std::uint64_t end,
                                 std::vector<CodeLine> lines, std::vector<std::string> files);

struct LineSamples {
    std::string file;
    int line = 0;
    std::int64_t count = 0;
};

struct Samples {
    std::vector<LineSamples> lines;
    std::int64_t total = 0;  ///< those of other code, too
};

/// Between the two all threads of the process are sampled; nothing else may use the timer of its
/// processor time. Throws where sampling is on already or cannot be had.
void start_sampling();
Samples stop_sampling();

}  // namespace unisono::cpu
