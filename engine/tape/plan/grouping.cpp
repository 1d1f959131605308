// Assigns the entries of a segment to groups.
#include "tape/plan/grouping.h"

#include <algorithm>

namespace unisono {

namespace {

constexpr std::size_t most_entries =
    40;  // per group: keeps registers of `block` in L1 and compile time linear
constexpr std::size_t most_slots = 24;  ///< views of memory, without the group's own temporaries

/// One access of a storage by an entry, kept per storage to find conflicts.
struct Use {
    std::uint32_t entry, slot;
    bool write;
};

class Grouper {
  public:
    Grouper(const std::vector<Entry>& segment, const SegmentData& data)
        : segment_(segment),
          data_(data),
          uses_(data.storage_count),
          group_of_(segment.size(), 0),
          stored_by_(segment.size(), 0) {}

    Grouping run() {
        for (std::uint32_t i = 0; i < segment_.size(); ++i) place(i);
        for (std::uint32_t i = static_cast<std::uint32_t>(segment_.size()); i-- > 0;) sink(i);
        for (std::uint32_t i = 0; i < segment_.size(); ++i) absorb(i);
        return {std::move(groups_), std::move(group_of_), std::move(stored_by_)};
    }

  private:
    std::uint32_t iteration_slot(std::uint32_t i) const {
        return static_cast<std::uint32_t>(
            data_.operands[4 * i + (segment_[i].kind == EntryKind::Reduce ? 0 : 3)]);
    }

    void place(std::uint32_t i) {
        const Entry& e = segment_[i];
        std::string why;
        std::uint32_t earliest = 0;
        if (e.kind == EntryKind::Opaque) {  // a group of its own, behind all that comes before it
            earliest = static_cast<std::uint32_t>(groups_.size());
        } else {
            for_each_use(i, [&](std::uint32_t slot, bool write) {
                earliest = std::max(earliest, after_conflicts(i, slot, write, why));
            });
        }
        std::uint32_t g = earliest;
        while (g < groups_.size() && !(joins(g, i, why) && has_room_to_repeat(g, i, why))) ++g;
        if (g == groups_.size()) open(i, why);
        if (e.kind != EntryKind::Opaque) take_snapshots(g, i);
        add(g, i);
    }

    /// Calls f with each view of memory that entry i uses, and whether it writes it.
    template <class F>
    void for_each_use(std::uint32_t i, F&& f) const {
        for (std::uint32_t k = 0; k < 4; ++k) {
            if (k != 3 && k >= segment_[i].inputs) continue;
            const std::int32_t slot = data_.operands[4 * i + k];
            if (slot >= 0) f(static_cast<std::uint32_t>(slot), k == 3);
        }
        for (const SegmentData::TailUse& use : data_.tail_of(i)) f(use.slot, use.write);
    }

    /// The first group that may hold an entry which uses `slot`.
    std::uint32_t after_conflicts(std::uint32_t i, std::uint32_t slot, bool write,
                                  std::string& why) {
        std::uint32_t earliest = 0;
        for (const Use& u : uses_[data_.slots[slot].storage]) {
            if (!u.write && !write) continue;
            std::uint32_t g = group_of_[u.entry];
            bool same = u.slot == slot && !overlaps_itself(data_.view(slot));
            if (!same && data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
            bool forwards = same && segment_[u.entry].kind != EntryKind::Reduce &&
                            segment_[u.entry].kind != EntryKind::Opaque &&
                            data_.slots[iteration_slot(i)].shape ==
                                data_.slots[iteration_slot(u.entry)].shape &&
                            !(segment_[i].kind == EntryKind::Reduce && write);
            forwards |= write && !same && (may_be_copied(u) || may_be_stored_anew(u, i, slot));
            if (!forwards && g + 1 > earliest) {
                why =
                    same
                        ? "needs the finished result of an earlier kernel"
                        : "reads or writes elements that an earlier kernel touches at other points";
            }
            earliest = std::max(earliest, forwards ? g : g + 1);
        }
        return earliest;
    }

    /// Whether a group that writes what it has read through this view copies the view first: of a
    /// row or a column that is repeated along other axes that costs little (`a -= outer(c, a[k])`).
    bool may_be_copied(const Use& read) const {
        const Slot& slot = data_.slots[read.slot];
        const EntryKind kind = segment_[read.entry].kind;
        if (kind == EntryKind::Opaque || kind == EntryKind::Reduce) return false;
        if (segment_[read.entry].out.storage->device) return false;
        const Dims strides = slot.layout->strides();
        return std::find(strides.begin(), strides.end(), 0) != strides.end();
    }

    /// Whether a group that has read the view may write that slot of the same array of a device: it
    /// stores it in other memory (run/store_anew.h).
    bool may_be_stored_anew(const Use& read, std::uint32_t i, std::uint32_t slot) const {
        const EntryKind kind = segment_[read.entry].kind;
        if (kind == EntryKind::Opaque || kind == EntryKind::Reduce ||
            segment_[i].kind == EntryKind::Reduce)
            return false;
        const std::uint32_t storage = data_.slots[slot].storage;
        if (data_.storages[storage].storage->addressable() || overlaps_itself(data_.view(slot)))
            return false;
        return std::none_of(uses_[storage].begin(), uses_[storage].end(), [&](const Use& u) {
            return u.write && u.slot != slot && group_of_[u.entry] == group_of_[read.entry];
        });
    }

    /// Whether the group stores an array anew of which the entry writes another view.
    bool stores_anew_elsewhere(const EntryGroup& b, std::uint32_t i) const {
        const auto out = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        return std::any_of(b.anew.begin(), b.anew.end(), [&](std::uint32_t slot) {
            return slot != out && data_.slots[slot].storage == data_.slots[out].storage;
        });
    }

    /// Notes the views that group g reads and entry i, which joins it, writes at other points; on a
    /// device the view that it writes.
    void take_snapshots(std::uint32_t g, std::uint32_t i) {
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        for (const Use& u : uses_[data_.slots[slot].storage]) {
            if (u.write || group_of_[u.entry] != g || u.slot == slot) continue;
            if (data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
            const bool on_device =
                !data_.storages[data_.slots[slot].storage].storage->addressable();
            auto& views = on_device ? groups_[g].anew : groups_[g].snapshots;
            const std::uint32_t noted = on_device ? slot : u.slot;
            if (std::find(views.begin(), views.end(), noted) == views.end()) views.push_back(noted);
        }
    }

    /// Moves what only one later group reads into that group, if memory holds what it needs there:
    /// it joined an early group because it could, and would be stored for nothing.
    void sink(std::uint32_t i) {
        std::int64_t target = -1;
        if (!is_temporary(i)) return;
        for (const Use& u : uses_[storage_written(i)]) {
            if (u.write) continue;
            const std::int64_t g = group_of_[u.entry];
            if (target >= 0 && g != target) return;
            target = g;
        }
        if (target <= group_of_[i]) return;
        std::vector<std::uint32_t> moved;
        const auto to = static_cast<std::uint32_t>(target);
        if (!collect(i, to, moved)) return;
        EntryGroup& b = groups_[to];
        if (b.entries.size() + moved.size() > most_entries ||
            b.slots.size() + 3 * moved.size() > most_slots)
            return;
        for (std::uint32_t m : moved) {
            std::erase(groups_[group_of_[m]].entries, m);
            group_of_[m] = to;
            b.entries.insert(std::lower_bound(b.entries.begin(), b.entries.end(), m), m);
        }
        for (std::uint32_t m : moved) {
            for (std::uint32_t k = 0; k < segment_[m].inputs; ++k) note_slot(to, m, k);
        }
    }

    /// Entry i and what it needs that only it reads, if all that can be computed in group `to`.
    bool collect(std::uint32_t i, std::uint32_t to, std::vector<std::uint32_t>& moved) const {
        const std::uint32_t from = group_of_[i];
        if (segment_[i].out.storage->device != groups_[to].device ||
            segment_[i].queue != groups_[to].queue ||
            data_.slots[iteration_slot(i)].shape != groups_[to].shape)
            return false;
        moved.push_back(i);
        for (std::uint32_t k = 0; k < segment_[i].inputs; ++k) {
            const std::int32_t operand = data_.operands[4 * i + k];
            if (operand < 0) continue;
            const auto slot = static_cast<std::uint32_t>(operand);
            for (const Use& u : uses_[data_.slots[slot].storage]) {
                if (!u.write || data_.relation(u.slot, slot) == Overlap::Disjoint) continue;
                const bool same = u.slot == slot && !overlaps_itself(data_.view(slot));
                if (u.entry > i) {  // must not come before the read
                    const std::uint32_t g = group_of_[u.entry];
                    if (g < to || (g == to && !same)) return false;
                } else if (group_of_[u.entry] == from && is_temporary(u.entry) &&
                           !is_read_elsewhere(u.entry, moved)) {
                    if (std::find(moved.begin(), moved.end(), u.entry) == moved.end() &&
                        !collect(u.entry, to, moved))
                        return false;
                } else if (group_of_[u.entry] == from && is_temporary(u.entry)) {
                    return false;  // it would be stored instead
                }
            }
        }
        return true;
    }

    /// Lets a reduction or a call store where its result would only be copied to
    /// (`y[i] = x.sum(axis=0)`, `y[:] = a @ b`).
    void absorb(std::uint32_t i) {
        if (segment_[i].kind != EntryKind::Copy || data_.operands[4 * i] < 0) return;
        const auto from = static_cast<std::uint32_t>(data_.operands[4 * i]);
        const std::uint32_t temporary = data_.slots[from].storage;
        const auto& uses = uses_[temporary];
        if (data_.storages[temporary].live || uses.size() != 2 || uses[0].slot != from ||
            !uses[0].write || uses[1].entry != i)
            return;
        const std::uint32_t r = uses[0].entry;
        // Of a call with several results only the first can be stored elsewhere.
        if (data_.operands[4 * r + 3] != data_.operands[4 * i]) return;
        const auto to = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        if (!may_store(r, to) || data_.slots[from].dtype != data_.slots[to].dtype ||
            segment_[r].out.storage->device != segment_[i].out.storage->device ||
            segment_[r].queue != segment_[i].queue)
            return;
        for (const Use& u : uses_[data_.slots[to].storage]) {
            const std::uint32_t g = group_of_[u.entry];
            if (u.entry != i && g >= group_of_[r] && g <= group_of_[i] &&
                data_.relation(u.slot, to) != Overlap::Disjoint)
                return;
        }
        std::erase(groups_[group_of_[i]].entries, i);
        group_of_[i] = group_of_[r];
        auto& entries = groups_[group_of_[r]].entries;
        entries.insert(std::lower_bound(entries.begin(), entries.end(), i), i);
        stored_by_[r] = i;
    }

    /// Whether what entry r makes may be written through slot `to`.
    bool may_store(std::uint32_t r, std::uint32_t to) const {
        const Entry& e = segment_[r];
        if (e.kind == EntryKind::Reduce) return e.compute == data_.slots[to].dtype;
        return e.kind == EntryKind::Opaque && e.call->stores_anywhere() &&
               e.out.layout->contiguous() && data_.slots[to].layout->contiguous() &&
               !e.out.storage->device;
    }

    std::uint32_t storage_written(std::uint32_t i) const {
        return data_.slots[static_cast<std::uint32_t>(data_.operands[4 * i + 3])].storage;
    }

    /// Whether entry i computes, point by point, what only this segment sees, through one view.
    bool is_temporary(std::uint32_t i) const {
        const EntryKind kind = segment_[i].kind;
        if (kind == EntryKind::Opaque || kind == EntryKind::Reduce) return false;
        const std::uint32_t storage = storage_written(i);
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        if (data_.storages[storage].live) return false;
        return std::all_of(uses_[storage].begin(), uses_[storage].end(), [&](const Use& u) {
            return u.slot == slot && (!u.write || u.entry == i) &&
                   segment_[u.entry].kind != EntryKind::Opaque;
        });
    }

    bool is_read_elsewhere(std::uint32_t i, const std::vector<std::uint32_t>& readers) const {
        const auto& uses = uses_[storage_written(i)];
        return std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
            return !u.write && std::find(readers.begin(), readers.end(), u.entry) == readers.end();
        });
    }

    bool joins(std::uint32_t g, std::uint32_t i, std::string& why) const {
        const EntryGroup& b = groups_[g];
        const Entry& e = segment_[i];
        if (b.opaque || e.kind == EntryKind::Opaque) return false;
        if (b.shape != data_.slots[iteration_slot(i)].shape) {
            if (why.empty()) why = "has another iteration space";
            return false;
        }
        if (b.device != e.out.storage->device || b.queue != e.queue) return false;
        if (e.kind == EntryKind::Reduce && b.reduce_axis >= 0 &&
            (b.reduce_axis != e.axis || b.reduce_before != e.before)) {
            why = "reduces another axis";
            return false;
        }
        if (stores_anew_elsewhere(b, i)) {
            why = "writes another part of an array that the kernel also reads at other points";
            return false;
        }
        if (writes_another_row(b, i)) {
            why = "writes another row of a large array";
            return false;
        }
        if (b.closed || b.entries.size() >= most_entries || b.slots.size() + 4 > most_slots) {
            why = "the kernel is full";
            return false;
        }
        return true;
    }

    /// Whether the entry writes a row (a part with fewer axes) of a large array of which the group
    /// writes another one: apart, each has its place among kernels that take turns on bands of
    /// rows.
    bool writes_another_row(const EntryGroup& b, std::uint32_t i) const {
        const auto out = static_cast<std::uint32_t>(data_.operands[4 * i + 3]);
        const Slot& written = data_.slots[out];
        const SegmentStorage& storage = data_.storages[written.storage];
        if (!is_large(*storage.storage)) return false;
        bool is_row = false;
        for (std::int32_t k = storage.first_slot; k >= 0;
             k = data_.slots[static_cast<std::size_t>(k)].next)
            is_row |=
                data_.slots[static_cast<std::size_t>(k)].layout->rank() > written.layout->rank();
        return is_row && std::any_of(b.entries.begin(), b.entries.end(), [&](std::uint32_t e) {
                   const auto other = static_cast<std::uint32_t>(data_.operands[4 * e + 3]);
                   return other != out && data_.slots[other].storage == written.storage;
               });
    }

    /// Closes a group at the start of a repetition that it could take in part only: cut at the same
    /// place each time, a loop is few distinct kernels.
    bool has_room_to_repeat(std::uint32_t g, std::uint32_t i, std::string& why) {
        EntryGroup& b = groups_[g];
        if (!repeats(b.entries.front(), i)) return true;
        const std::size_t entries = b.entries.size(), slots = b.slots.size();
        if (2 * entries - b.entries_before > most_entries ||
            2 * slots - b.slots_before + 4 > most_slots) {
            why = "the kernel is full";
            b.closed = true;
            return false;
        }
        b.entries_before = entries;
        b.slots_before = slots;
        return true;
    }

    /// Whether what follows entry `first` comes again from entry `i` on.
    bool repeats(std::uint32_t first, std::uint32_t i) const {
        const std::size_t n = std::min(most_entries, segment_.size() - i);
        for (std::uint32_t k = 0; k < n; ++k) {
            if (!alike(first + k, i + k)) return false;
        }
        return true;
    }

    bool alike(std::uint32_t i, std::uint32_t j) const {
        const Entry &a = segment_[i], &b = segment_[j];
        if (a.kind != b.kind || a.op != b.op || a.compute != b.compute || a.inputs != b.inputs)
            return false;
        for (std::uint32_t k = 0; k < a.inputs; ++k) {
            if ((data_.operands[4 * i + k] < 0) != (data_.operands[4 * j + k] < 0)) return false;
        }
        return data_.slots[iteration_slot(i)].shape == data_.slots[iteration_slot(j)].shape;
    }

    void open(std::uint32_t i, const std::string& why) {
        EntryGroup b;
        b.opaque = segment_[i].kind == EntryKind::Opaque;
        b.shape = data_.slots[iteration_slot(i)].shape;
        b.device = segment_[i].out.storage->device;
        b.queue = segment_[i].queue;
        b.why = why;
        groups_.push_back(std::move(b));
    }

    void add(std::uint32_t g, std::uint32_t i) {
        EntryGroup& b = groups_[g];
        group_of_[i] = g;
        b.entries.push_back(i);
        if (segment_[i].kind == EntryKind::Reduce) {
            b.reduce_axis = segment_[i].axis;
            b.reduce_before = segment_[i].before;
        }
        for (std::uint32_t k = 0; k < 4; ++k) {
            if (k == 3 || k < segment_[i].inputs) note_slot(g, i, k);
        }
        for_each_use(i, [&](std::uint32_t slot, bool write) {
            uses_[data_.slots[slot].storage].push_back({i, slot, write});
        });
    }

    /// Counts an operand among the views of memory that a group touches.
    void note_slot(std::uint32_t g, std::uint32_t i, std::uint32_t k) {
        if (data_.operands[4 * i + k] < 0) return;
        const auto slot = static_cast<std::uint32_t>(data_.operands[4 * i + k]);
        const std::uint32_t storage = data_.slots[slot].storage;
        if (!data_.storages[storage].live) {
            const auto& uses = uses_[storage];
            const bool made_here =
                k == 3 || std::any_of(uses.begin(), uses.end(), [&](const Use& u) {
                    return u.write && u.slot == slot && group_of_[u.entry] == g;
                });
            if (made_here) return;
        }
        auto& slots = groups_[g].slots;
        if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
    }

    const std::vector<Entry>& segment_;
    const SegmentData& data_;
    std::vector<std::vector<Use>> uses_;
    std::vector<std::uint32_t> group_of_, stored_by_;
    std::vector<EntryGroup> groups_;
};

}  // namespace

Grouping group_entries(const std::vector<Entry>& segment, const SegmentData& data) {
    return Grouper(segment, data).run();
}

}  // namespace unisono
