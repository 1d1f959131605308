// Storages and views: memory that arrays share, and rectangular windows on it.
//
// Ownership. A Storage counts its references: array handles and pending tape entries, and apart
// from them entries in flight. It belongs to whoever holds the engine (in Python: the global
// interpreter lock); counts are plain integers. Its memory is allocated when a kernel first writes
// it, so a temporary that fuses away never has any.
//
// States. Contents are pending while recorded entries write them, in flight while a segment that
// writes them runs and its thread has let go of the engine (run/flights.h), else done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "backends/backend.h"
#include "context/context.h"
#include "core/layout.h"

namespace unisono {

struct QueueUse;  // run/submission.h
/// Defined beside it.
struct FreeQueueUse {
    void operator()(QueueUse* use) const noexcept;
};

struct StorageState {
    Device* device = nullptr;  ///< null: host memory of the pool
    Memory memory;             ///< handle 0: not allocated yet
    std::int64_t bytes = 0;    ///< size that memory has or will have
    /// For the language above, which views are told of as their base: its object that was made of
    /// this memory first, or whatever it puts there once that exists no more. Null in new memory.
    const void* first_object = nullptr;
    // Counters that change together do not lie side by side: compilers would join their updates,
    // and a wide load after two narrow stores waits for both.
    std::uint32_t refs = 0;        ///< references of handles and pending entries
    std::uint32_t exports = 0;     ///< buffers, DLPack capsules and NumPy bases that see the memory
    std::uint32_t pending = 0;     ///< pending entries that write it
    std::uint32_t mark_epoch = 0;  ///< scratch of the flush that runs: mark is valid in this epoch
    std::uint32_t readers = 0;     ///< pending entries that read it
    std::uint32_t mark = 0;
    bool borrowed = false;  ///< the memory is someone else's; release_owner gives it back
    bool adopted = false;   ///< borrowed, and nobody else sees it while `owner` lives
    bool readonly = false;
    bool waits = false;  ///< while pending: others may yet join a call that it comes from
    /// Entries of segments in flight that write and read it: they do not count among those above,
    /// so that plans depend on the program and never on how far other threads are.
    std::uint32_t flight_writers = 0, flight_readers = 0;
    /// Number of the flush that wrote it last, for explain.
    std::uint32_t evaluation = 0;
    std::uint64_t version = 0;  ///< grows with each recorded write
    std::unique_ptr<QueueUse, FreeQueueUse>
        use;                ///< on a device, once queues were given work on it
    void* owner = nullptr;  ///< of borrowed memory
    void (*release_owner)(void*) = nullptr;
    /// Why the contents are invalid, set when a kernel that should have written them failed.
    std::shared_ptr<const Error> poison;
};

struct Storage : StorageState {
    /// Host arrays of up to this many bytes live inside the storage: tiny programs never see the
    /// pool.
    static constexpr std::int64_t inline_bytes = 512;
    /// In `evaluation`: written by a statement that was not recorded (eager.h).
    static constexpr std::uint32_t unrecorded = ~std::uint32_t{0};

    bool in_flight() const { return flight_writers > 0 || flight_readers > 0; }
    bool shared_outside() const { return exports > 0 || (borrowed && !adopted); }
    /// Whether the host can use its memory; whether the host computes it is another matter.
    bool addressable() const { return device == nullptr || device->info().host_memory; }
    char* data() const { return reinterpret_cast<char*>(memory.handle); }

    static Storage* create(Device* device, std::int64_t bytes);
    void allocate() {  ///< if it has no memory yet
        if (!memory.handle && !borrowed) allocate_now();
    }
    /// Memory of an owner takes the place of the storage's own, which is on a device and goes back
    /// to its pool. Nobody else knows of the owner's.
    void lie_in(Memory other, void* its_owner, void (*release)(void*)) noexcept;
    void retain() { ++refs; }
    void release() {
        if (--refs == 0 && !in_flight()) destroy();
    }
    /// What a pending entry holds becomes what one in flight holds, and back.
    void take_off(std::uint32_t& recorded, std::uint32_t& flying) {
        --recorded;
        ++flying;
        --refs;
    }
    void return_to_tape(std::uint32_t& recorded, std::uint32_t& flying) {
        ++recorded;
        --flying;
        ++refs;
    }
    /// An entry in flight has ended.
    void land(std::uint32_t& flying) {
        --flying;
        if (refs == 0 && !in_flight()) destroy();
    }

  private:
    void allocate_now();
    void allocate_on_device(std::int64_t wanted);
    void free_on_device() noexcept;
    void destroy() noexcept;
    alignas(64) std::byte inline_memory_[inline_bytes];
};

/// Where a context's arrays lie: storages to reuse, and the devices that it uses.
class Places final : public Context::Part {
  public:
    static constexpr Context::Slot slot = Context::Slot::Places;
    ~Places() override;
    bool is_referenced() const override { return alive_ > 0; }

    /// Devices other than the host on which a storage was ever allocated: those that may have work
    /// queued.
    std::span<Device* const> devices_in_use() const { return used_; }
    /// Of arrays that are made without naming one: what the thread chose, else the setting's; null
    /// for the host.
    Device* default_device();

    /// Queues that work was put on beside devices' own. Entries name them by numbers from 1 on.
    std::span<Queue* const> queues() const { return queues_; }
    std::uint16_t number_of(Queue& queue);
    /// 0: the device's own.
    Queue* queue(std::uint16_t number, Device& device) const {
        return number ? queues_[number - 1] : device.own_queue();
    }
    /// What a thread chose; where it did not, `is_set` is false.
    struct Choice {
        bool is_set = false;
        Device* device = nullptr;
        Queue* queue = nullptr;
    };
    /// Asked for each array that is made and each statement; null while no thread ever chose.
    Choice (*chosen)() = nullptr;

    /// Those that have memory of a device.
    const std::unordered_set<const Storage*>& on_devices() const { return on_devices_; }

  private:
    friend struct Storage;
    void note_use(Device* device);

    std::vector<Storage*> free_;
    std::int64_t alive_ = 0;  ///< storages that something refers to
    std::vector<Device*> used_;
    std::unordered_set<const Storage*> on_devices_;
    std::vector<Queue*> queues_;
    friend class Submission;
    struct Submitted {
        Completion completion;
        std::int64_t bytes;  ///< written
    };
    std::deque<Submitted> submitted_;  ///< steps that were not seen to be done, in order
    std::int64_t submitted_bytes_ = 0;
    Device* default_ = nullptr;
    int generation_ = -1;  ///< of the settings, when the default device was looked up
};

inline Device* default_device() { return current<Places>().default_device(); }

/// Name of the device of an array, "cpu" for the host.
const std::string& device_name(const Device* device);
/// The device of that name; null for the host.
Device* device_named(const std::string& name);

/// A window on a storage: plain data that owns nothing, without initialisers so that arrays of
/// views cost nothing; `offset` and strides are in elements of dtype.
struct View {
    Storage* storage;
    const Layout* layout;
    std::int64_t offset;
    DType dtype;

    [[gnu::always_inline]] bool same_as(const View& o) const {
        return storage == o.storage && layout == o.layout && offset == o.offset && dtype == o.dtype;
    }
    char* data() const { return storage->data() + offset * size_of(dtype); }
    void retain() const {
        storage->retain();
        layout->retain();
    }
    void release() const {
        layout->release();
        storage->release();
    }
};

}  // namespace unisono
