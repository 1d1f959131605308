// Sorts by keys on devices.
#pragma once

#include <utility>

#include "library/on_device/device_work.h"

namespace unisono::library {

/// Unsigned keys in the order of real elements, NaN last; zeros of both signs are equal unless
/// `zeros_apart`. Descending: the other way round.
DeviceVector keys_of(DeviceWork& work, const DeviceVector& x, bool descending, bool zeros_apart);
/// Each lane of n keys in order. May use the memory of what it is given.
DeviceVector sorted_keys(DeviceWork& work, DeviceVector keys, std::int64_t n);
/// The stable order of the elements of each lane of n, as int32 or, for long lanes, int64.
DeviceVector order_of(DeviceWork& work, const DeviceVector& x, std::int64_t n, bool descending);

}  // namespace unisono::library
