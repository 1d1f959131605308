// Positions in arrays of devices.
#pragma once

#include "library/on_device/device_work.h"

namespace unisono::library {

/// Throws an Index error that names the first position outside of [-extent, extent), which it waits
/// for.
void check_positions(DeviceWork& work, const DeviceVector& index, int axis, std::int64_t extent);

}  // namespace unisono::library
