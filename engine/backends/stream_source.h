// What devices of one driver share with each other and with other libraries: streams and memory.
#pragma once

#include <cstdint>

#include "backends/queue.h"

namespace unisono {

struct Memory;  // backends/backend.h

/// A device whose driver's streams others own, too, implements this beside Device. Queues of such
/// devices wait for each other's events.
class StreamSource {
  public:
    virtual ~StreamSource() = default;
    /// A queue in order of what the stream is given, which must live as long as it is used. Throws
    /// where there is no such stream of the device.
    virtual Queue& adopt_queue(void* stream) = 0;
    /// What the device's own queue is given later comes behind what the stream was given so far.
    virtual void come_behind(void* stream) = 0;
    /// The same the other way round.
    virtual void let_wait(void* stream) = 0;
    /// Whether the address is one of the device's memory, whoever made that.
    virtual bool owns(const void* address) = 0;
    /// Copies from memory of another device, on the calling thread's queue, without the host
    /// between; false where that cannot be.
    virtual bool copy_from_peer(const Memory& to, Device& device, const Memory& from,
                                std::int64_t offset, std::int64_t bytes) = 0;
};

}  // namespace unisono
