// A segment in numbers, and the formation of a plan from it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "tape/plan/plan.h"
#include "tape/record/hazards.h"

namespace unisono {

/// A distinct view of the segment.
struct Slot {
    const Layout* layout;
    std::int64_t offset;
    DType dtype;
    std::uint32_t storage;  ///< index in SegmentData::storages
    std::uint32_t shape;    ///< equal numbers: equal shapes
    std::int32_t next;      ///< another slot of the same storage, or -1
};

struct SegmentStorage {
    Storage* storage;
    std::uint32_t mentions;  ///< references that the segment's entries hold
    std::int32_t first_slot;
    std::uint32_t slot_count;
    bool written;
    bool live;  ///< someone outside the segment holds it
};

/// Whether kernels on it may take turns on bands of rows (bands.h), as plans know of host arrays.
bool is_large(const Storage& s);

struct SegmentData {
    // Buffers that are reused and may be longer than what counts.
    std::uint32_t slot_count = 0, storage_count = 0;
    std::vector<Slot> slots;
    std::vector<SegmentStorage> storages;
    std::vector<std::int32_t>
        operands;  ///< four per entry (in, in, in, out): slot, or -1 for a scalar
    /// What tails of wide entries touch, in the order of entries.
    struct TailUse {
        std::uint32_t entry, slot;
        bool write;
    };
    std::vector<TailUse> tails;
    /// Those of entry i.
    std::span<const TailUse> tail_of(std::uint32_t i) const {
        auto before = [](const TailUse& use, std::uint32_t entry) { return use.entry < entry; };
        auto first = std::lower_bound(tails.begin(), tails.end(), i, before);
        return {first, std::lower_bound(first, tails.end(), i + 1, before)};
    }
    View view(std::uint32_t slot) const;
    Overlap relation(std::uint32_t a, std::uint32_t b) const;
};

std::unique_ptr<Plan> form_plan(const std::vector<Entry>& segment, const SegmentData& data);

}  // namespace unisono
