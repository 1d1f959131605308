// Finds the count of a call site.
#include "tape/eager/call_sites.h"

#include "core/limits.h"
#include "tape/tape.h"

namespace unisono {

bool CallSites::repeats(const LineRef& line, const HostHooks& hooks) {
    if (!line.code) return false;
    if (!table_) table_ = std::make_unique<Row[]>(rows);
    auto h = (reinterpret_cast<std::uintptr_t>(line.code) >> 4) +
             static_cast<std::uintptr_t>(line.offset) * 0x9E3779B1u;
    for (std::size_t i = h;; ++i) {
        Row& row = table_[i % rows];
        if (row.code == line.code && row.offset == line.offset) {
            if (row.count >= limits::eager_repeats) return true;
            ++row.count;
            return false;
        }
        if (row.code) continue;
        if (used_ == most_sites) {
            forget(hooks);
            return false;
        }
        if (hooks.retain_line) hooks.retain_line(line.code);
        row = {line.code, line.offset, 1};
        ++used_;
        return false;
    }
}

void CallSites::forget(const HostHooks& hooks) {
    for (std::size_t i = 0; i < rows; ++i) {
        if (table_[i].code && hooks.release_line) hooks.release_line(table_[i].code);
        table_[i] = {};
    }
    used_ = 0;
}

}  // namespace unisono
