// A tape whose arrays lie elsewhere than in one memory: on the ranks of a mesh.
//
// The host's tape cuts segments by what is wanted and alive, which differs between the ranks of a
// job. Such a tape cuts windows instead, by the recorded program alone: each rank cuts the same,
// and what each has to send to others follows. Running a window computes nothing: it records, on
// the host's tape, what this rank does of it. There it fuses, and runs when a value leaves.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tape/array.h"
#include "tape/tape.h"

namespace unisono {

/// What storage of such a place owns (Storage::owner).
struct PlacedMemory {
    virtual ~PlacedMemory() = default;
    /// Whether statements take the view: on any number of ranks the same ones.
    virtual bool shows(const View& view) const = 0;
    /// Nothing refers to the storage any more: whether it stays, to be used again.
    virtual bool keeps(Storage& storage) = 0;

    /// Of a rank alone: all of the contents in the host's memory; without storage where something
    /// has to be planned first. Borrowed.
    View here{};
    std::int64_t width = 0;          ///< bytes of an element
    const Layout* packed = nullptr;  ///< that of all of it; borrowed
};

/// Storage::release_owner of such memory.
void release_placed(void* memory);

class Windows {
  public:
    virtual ~Windows() = default;
    /// Whether there is one rank: its statements can be the host's at once.
    bool is_alone() const { return is_alone_; }
    /// Before memory is written for the first time: the packed view of all of it.
    virtual void created(const View& all) = 0;
    /// Records the entry, as that of one rank alone, on the host's tape at once where nothing has
    /// to be planned for it.
    virtual bool forward(const Entry& entry) = 0;
    /// Throws where the entry, which is about to be recorded, cannot be run.
    virtual void check(const Entry& entry) = 0;
    /// Whether a window ends behind the last of these entries.
    virtual bool ends_window(std::span<const Entry> entries) = 0;
    /// Records what this rank does of the window, and says of each entry that it is done with.
    virtual void run(std::span<Entry> window, const std::function<void(Entry&)>& done) = 0;
    /// Whatever was recorded for this rank's part of the memory is run.
    virtual void complete(Storage& storage) = 0;

    /// Of a rank alone: memory of the place with the contents of new memory of the host that a
    /// packed array has all of, spread as the memory of `like` is. `local` null: with new memory,
    /// which the caller is about to write where PlacedMemory::here says.
    virtual Array adopted(Storage* local, const Layout* packed, DType dtype, const View& like) = 0;
    Array adopted(const Array& local, const View& like) {
        const View& v = local.view();
        return adopted(v.storage, v.layout, v.dtype, like);
    }
    /// Of a rank alone with nothing recorded: where the host has the contents; else null.
    virtual Storage* memory_of(const Storage& storage) = 0;
    /// What the window that is recorded will do and send, a line for each statement.
    virtual std::string describe() = 0;

    /// The elements on this host, packed, equal on all ranks. Ends a window.
    virtual Array whole(const Array& a) = 0;
    /// The same elements in row-major order in another shape: new memory.
    virtual Array reshaped(const Array& a, Dims shape) = 0;
    /// Elements at positions along the first axes, which are in range: one vector of positions for
    /// each; new memory of shape (positions, other axes...).
    virtual Array take(const Array& table, std::span<const Array> positions) = 0;
    /// Writes rows of that shape there, the later of two that meet last.
    virtual void put(const Array& target, std::span<const Array> positions, const Array& rows) = 0;

  protected:
    bool is_alone_ = false;
};

/// Of arrays of a place that records apart, else null: for the host the answer is at hand.
inline Windows* windows_of(const Device* device) {
    return device ? Tape::of(device).windows() : nullptr;
}
inline Windows* windows_of(const Array& a) { return windows_of(a.device()); }

/// A result, as statements give it: on such a place what has no axes is a value that all ranks get,
/// as it is on the host.
inline Array shared_value(Array made) {
    Windows* windows = made.is_value() ? windows_of(made) : nullptr;
    return windows ? Array::of(windows->whole(made).view(), true) : made;
}

/// Of places of one rank where nothing is recorded, else null.
inline Windows* windows_alone(const Device* device) {
    Tape& tape = Tape::of(device);
    Windows* windows = tape.windows();
    return windows && windows->is_alone() && tape.length() == 0 ? windows : nullptr;
}
/// There: the view as one of the host's memory, so that a statement can be the host's; false where
/// something has to be planned or refused first.
inline bool view_here(const View& view, View& local) {
    const auto* memory = static_cast<const PlacedMemory*>(view.storage->owner);
    if (!memory || !memory->here.storage || view.storage->poison) return false;
    if (view.layout != memory->packed && !memory->shows(view)) return false;
    local.storage = memory->here.storage;
    local.layout = view.layout;
    local.offset = view.offset;
    if (memory->here.offset != 0)
        local.offset += memory->here.offset * (memory->width / size_of(view.dtype));
    local.dtype = view.dtype;
    return true;
}

/// The same of one element, by its place in the storage: where it is, if it is there now; else
/// null.
inline const char* element_here(const View& view, std::int64_t place) {
    if (!view.storage->device || !windows_alone(view.storage->device)) return nullptr;
    const auto* memory = static_cast<const PlacedMemory*>(view.storage->owner);
    if (!memory || view.storage->poison || size_of(view.dtype) != memory->width || place < 0 ||
        place >= memory->packed->size())
        return nullptr;
    const View& here = memory->here;
    if (!here.storage || !eager::is_ready(here.storage)) return nullptr;
    return here.storage->data() + (here.offset + place) * memory->width;
}

/// Of a rank alone: packed memory of the place, made for the caller to write.
struct ResultAlone {
    Array array;
    const View& here;  ///< the same memory as the host's

    ResultAlone(Windows& windows, const Layout* packed, DType dtype, const View& like)
        : array(windows.adopted(nullptr, packed, dtype, like)),
          here(static_cast<const PlacedMemory*>(array.view().storage->owner)->here) {}
};

}  // namespace unisono
