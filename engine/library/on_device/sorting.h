// Sorts by keys on devices.
#pragma once

#include <limits>
#include <utility>

#include "library/on_device/device_work.h"

namespace unisono::library {

/// What makes unsigned keys of the bits of real elements of a dtype.
struct KeyBits {
    explicit KeyBits(DType t);
    Scalar scalar(std::uint64_t value) const { return Scalar::of(dtype, value); }

    DType dtype;                        ///< unsigned, of the same size
    std::uint64_t all, sign, infinity;  ///< all bits, the leading one, those of a float's infinity
    std::uint64_t offset;               ///< of integers: makes the least element zero
};

/// Unsigned keys in the order of real elements, NaN last; zeros of both signs are equal unless
/// `zeros_apart`. Descending: the other way round.
DeviceVector keys_of(DeviceWork& work, const DeviceVector& x, bool descending, bool zeros_apart);
/// The places of a lane that have to hold what a sort puts there: what lies before them belongs
/// before, what lies behind belongs behind, both in any order.
struct Wanted {
    std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
};
/// Each lane of n keys in order. May use the memory of what it is given.
DeviceVector sorted_keys(DeviceWork& work, const DeviceVector& keys, std::int64_t n,
                         Wanted wanted = {});
/// Each lane of n elements in order.
DeviceVector sorted_elements(DeviceWork& work, const DeviceVector& x, std::int64_t n);
/// The stable order of the elements of each lane of n, as int32.
DeviceVector order_of(DeviceWork& work, const DeviceVector& x, std::int64_t n, bool descending,
                      Wanted wanted = {});

/// Sorts the `bits` lowest bits of keys with the numbers of their elements.
void sort_pairs(DeviceWork& work, DeviceVector& keys, DeviceVector& order, std::int64_t n,
                int bits);
/// 0, 1, ..., n - 1 for each lane.
DeviceVector first_order(DeviceWork& work, std::int64_t size, std::int64_t n);
/// Elements of one lane in an order.
DeviceVector in_order(DeviceWork& work, const DeviceVector& x, const DeviceVector& order,
                      std::int64_t n);

}  // namespace unisono::library
