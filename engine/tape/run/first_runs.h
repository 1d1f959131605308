// First runs of a group on a device that shares its memory with the host.
//
// A kernel takes the device's compiler a tenth of a second, the host's precompiled loops nothing.
// So the host does the first runs, in the device's memory; groups that go on running, or that have
// much to do, are compiled. The bits are the same.
#pragma once

#include <deque>
#include <vector>

#include "backends/host/shared.h"
#include "tape/run/run_group.h"

namespace unisono {

/// The operands of a call on a device, as the host sees them while this lives.
class MappedOperands {
  public:
    MappedOperands(const GroupKernel::Call& call, HostShared& device);
    ~MappedOperands();
    MappedOperands(const MappedOperands&) = delete;
    MappedOperands& operator=(const MappedOperands&) = delete;
    /// The same call, on the host.
    GroupKernel::Call call() const;

  private:
    View on_host(const View& far);

    const GroupKernel::Call& far_;
    HostShared& device_;
    std::deque<std::pair<Storage*, Storage>> mapped_;  ///< of the device, and as the host sees it
    std::vector<View> views_;
};

}  // namespace unisono
