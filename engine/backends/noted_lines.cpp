// Copies noted lines to the host, and hands each to the native function print.
#include "backends/noted_lines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/native/native.h"

namespace unisono {

namespace {

/// Calls a native function that fills a template in: bytes of it, whether to flush, how many
/// values; the template, the values. Whether that went well.
bool tell(const char* native, const std::string& text, bool flushes,
          std::span<const std::int64_t> shown) {
    const NativeFunction function = find_native(native);
    if (!function)
        fail(ErrorKind::Unsupported,
             std::string("kernels that print need Python; there is no ") + native + " here");
    std::vector<std::int64_t> values(3 + (text.size() + 7) / 8);
    values[0] = static_cast<std::int64_t>(text.size());
    values[1] = flushes;
    values[2] = static_cast<std::int64_t>(shown.size());
    std::memcpy(values.data() + 3, text.data(), text.size());
    values.insert(values.end(), shown.begin(), shown.end());
    function(values.data());
    return values[0] == 0;
}

}  // namespace

void LaunchLines::clear() {
    constexpr std::array<std::int32_t, 2> none{};
    device_.copy_in(counts_, 0, none.data(), sizeof none);
}

bool LaunchLines::print() {
    if (failed_ >= 0) return false;
    failed_ = print_noted();
    clear();
    return failed_ < 0;
}

/// Returns the fault site of a print that failed, or -1.
std::int32_t LaunchLines::print_noted() const {
    const ir::NotedLines& noted = *module_.noted;
    std::array<std::int32_t, 2> counts{};
    device_.copy_out(counts.data(), counts_, 0, sizeof counts);
    std::vector<std::int64_t> words(
        std::min(static_cast<std::size_t>(counts[0]), std::size_t{ir::NotedLines::capacity}));
    device_.copy_out(words.data(), words_, 0, static_cast<std::int64_t>(8 * words.size()));
    std::span<const std::int64_t> left = words;
    while (!left.empty() && left[0] != ir::NotedLines::none) {
        const auto& line = noted.prints[static_cast<std::size_t>(left[0])];
        const auto count = static_cast<std::size_t>(line.values);
        if (!tell("print", line.text, line.flushes, left.subspan(1, count))) return line.site;
        left = left.subspan(1 + count);
    }
    if (counts[1] == 0) return -1;
    const std::string text = module_.entry().name +
                             ": {0} lines of print were lost; expected at most " +
                             std::to_string(ir::NotedLines::capacity) +
                             " numbers and lines from one launch on a device; print less in it";
    const std::int64_t lost[] = {counts[1]};
    return tell("warn", text, false, lost) ? -1 : noted.prints.front().site;
}

}  // namespace unisono
