// Devices whose memory the host can use without a copy, as those that are the host's own processor.
#pragma once

#include "backends/backend.h"

namespace unisono {

/// What such a device is beside a Device.
class HostShared {
  public:
    virtual ~HostShared() = default;
    /// Whether it has such memory; asked before the others.
    virtual bool shares_memory() const = 0;
    /// An address of the memory's first byte, once what the calling thread's queue was given so far
    /// is done. Until it is given back, the device must not use the memory.
    virtual void* map(Memory memory) = 0;
    virtual void unmap(Memory memory, void* address) noexcept = 0;
    /// Bytes of the last cache before that memory, which is the host's; 0 where it is not known.
    virtual std::int64_t cache_bytes() const { return 0; }
};

/// The device as such, null where it is none.
inline HostShared* host_shared(Device& device) {
    auto* shared = dynamic_cast<HostShared*>(&device);
    return shared && shared->shares_memory() ? shared : nullptr;
}

/// Bytes of the caches that the device shares with the host; 0 where it shares none.
inline std::int64_t shared_cache(Device& device) {
    const HostShared* shared = host_shared(device);
    return shared ? shared->cache_bytes() : 0;
}

}  // namespace unisono
