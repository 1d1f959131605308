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
};

/// The device as such, null where it is none.
inline HostShared* host_shared(Device& device) {
    auto* shared = dynamic_cast<HostShared*>(&device);
    return shared && shared->shares_memory() ? shared : nullptr;
}

}  // namespace unisono
