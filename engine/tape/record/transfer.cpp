// Copies of arrays to other devices: entries like any other.
#include <algorithm>
#include <vector>

#include "backends/stream_source.h"
#include "context/context.h"
#include "tape/record/hazards.h"
#include "tape/record/record.h"
#include "tape/run/submission.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

namespace {

/// Moves packed elements from one place to another.
class Transfer final : public OpaqueCall {
  public:
    void run(std::span<const View> in, std::span<const View> out) override {
        const Storage &from = *in[0].storage, &to = *out[0].storage;
        const std::int64_t bytes = in[0].layout->size() * size_of(in[0].dtype);
        const std::int64_t begin = in[0].offset * size_of(in[0].dtype);
        count_apart(counters_apart().bytes_copied, bytes);
        if (from.addressable() && to.addressable()) {
            std::copy_n(from.data() + begin, bytes, to.data());
        } else if (from.addressable()) {
            to.device->copy_in(to.memory, 0, from.data() + begin, bytes);
        } else if (to.addressable()) {
            copy_out(to.data(), from, begin, bytes);
        } else if (!copy_between(to, from, begin, bytes)) {
            std::vector<char> host(static_cast<std::size_t>(bytes));
            copy_out(host.data(), from, begin, bytes);
            to.device->copy_in(to.memory, 0, host.data(), bytes);
        }
    }
    std::string name() const override { return "transfer"; }
    bool may_take_long() const override { return true; }
    bool restarts() const override { return true; }
    bool transfers() const override { return true; }

  private:
    /// Without the host between, where both devices are of one driver that can; the step's queue
    /// comes behind what writes the memory.
    static bool copy_between(const Storage& to, const Storage& from, std::int64_t begin,
                             std::int64_t bytes) {
        auto* peer = dynamic_cast<StreamSource*>(to.device);
        return peer && peer->copy_from_peer(to.memory, *from.device, from.memory, begin, bytes);
    }
    /// On the queue for copies. The wait for what writes the memory ends on Ctrl-C.
    static void copy_out(void* to, const Storage& from, std::int64_t begin, std::int64_t bytes) {
        if (from.use) from.use->written.wait();
        QueueScope scope(*from.device->copy_queue(), {});
        from.device->copy_out(to, from.memory, begin, bytes);
    }
};

}  // namespace

Array to_device(const Array& given, Device* device) {
    Array a = materialised(given);
    if (a.device() == device) return a;
    if (Windows* from = windows_of(a)) return to_device(from->whole(a), device);
    Windows* to = windows_of(device);
    if (to && a.device()) return to_device(to_device(a, nullptr), device);
    // A window runs later, and the array may be written before.
    const Array packed = a.view().layout->contiguous() && !to ? a : copy(a);
    Array made = empty(a.shape(), a.dtype(), device);
    if (a.size() == 0) return made;
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = 1;
    e.in[0] = packed.view();
    e.out = made.view();
    e.compute = a.dtype();
    e.call = std::make_unique<Transfer>().release();  // owned by the tape
    Tape::of(device).append(e);
    return made;
}

}  // namespace unisono
