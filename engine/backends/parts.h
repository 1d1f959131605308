// Parts of devices that are devices themselves.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace unisono {

class Device;

/// Divides a device into parts of so many compute units each; find_device() knows their names from
/// then on. A division that was asked for before gives the same devices.
std::vector<Device*> divide(Device& device, std::span<const int> units);
/// The device that it is a part of; null for a whole one.
Device* whole_of(const Device& part);
/// A part of that name, or null.
Device* find_part(std::string_view name);

}  // namespace unisono
