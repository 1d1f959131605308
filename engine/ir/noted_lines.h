// Lines that the kernels of a device note for the host to print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unisono::ir {

/// What every print of the native function of that name leaves in its fault site.
inline constexpr const char* print_failed = "print: the output failed";

/// Where a module's kernels note lines, and what the lines are. Both arrays are global, have no
/// parameter, and are the same memory in all kernels of a launch; who launches sets `counts` to 0.
struct NotedLines {
    /// A print of the source. Each time it runs it notes its number here, then its values, in
    /// `words`.
    struct Print {
        std::string text;  ///< the template that the values fill in
        bool flushes = false;
        std::int64_t values = 0;  ///< how many
        std::int32_t site = -1;   ///< of the entry's sites: the output failed
    };
    static constexpr std::int64_t capacity = 1 << 17;  ///< words
    static constexpr std::int64_t none = -1;  ///< in place of a number: no line from here on

    std::int32_t counts = -1;  ///< int32: words that were asked for; lines without room
    std::int32_t words = -1;   ///< int64
    std::vector<Print> prints;
};

}  // namespace unisono::ir
