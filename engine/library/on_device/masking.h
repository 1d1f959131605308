// Counts of masks on devices.
#pragma once

#include "library/on_device/device_work.h"
#include "primitives/primitives.h"

namespace unisono::library {

/// Work-items of a group that takes a block of a mask, on devices without cores.
inline constexpr std::int64_t mask_group = 256;

/// A mask and, on devices without cores, its words of eight elements.
struct MaskOfDevice {
    MaskOfDevice(DeviceWork& work, const DeviceVector& mask);
    std::int64_t blocks() const {
        return (bytes.size + primitives::mask_block - 1) / primitives::mask_block;
    }
    DeviceVector bytes, words;
};

/// counts[b] becomes how many elements are set before block b; the last one, all of them.
void count_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts);
/// The places of the elements that are set, of which `counts` tells.
void find_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts,
              const DeviceVector& places);
/// The elements of `from` that are set.
void select_set(DeviceWork& work, const MaskOfDevice& mask, const DeviceVector& counts,
                const DeviceVector& from, const DeviceVector& to);

}  // namespace unisono::library
