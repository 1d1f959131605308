// Which entries of a segment form which kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tape/plan/form_plan.h"

namespace unisono {

/// Entries that run together: one kernel, or one call.
struct EntryGroup {
    bool opaque = false;
    std::uint32_t shape = 0;  ///< of the iteration space
    int reduce_axis = -1, reduce_before = 0;
    Device* device = nullptr;
    std::uint16_t queue = 0;
    bool closed = false;  ///< what the program repeats next would not fit as a whole
    std::vector<std::uint32_t> entries;
    std::vector<std::uint32_t> slots;      ///< distinct views touched
    std::vector<std::uint32_t> snapshots;  ///< views to be copied before the group writes elsewhere
    std::vector<std::uint32_t> anew;       ///< views that it writes, and reads at other points
    std::size_t entries_before = 0, slots_before = 0;  ///< the present repetition
    std::string why;
};

struct Grouping {
    std::vector<EntryGroup> groups;
    std::vector<std::uint32_t> group_of;  ///< of each entry
    /// Of a reduction or a call: the assignment that stores its result where it belongs, or 0.
    std::vector<std::uint32_t> stored_by;
};

Grouping group_entries(const std::vector<Entry>& segment, const SegmentData& data);

}  // namespace unisono
