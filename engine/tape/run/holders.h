// What holds the memory of a device, for people who ran out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"

namespace unisono {

class Device;

struct Holder {
    std::int64_t bytes = 0;
    SourcePlace written;  ///< by which statement; line 0: none wrote it, or it is not known
};

/// The storages of the current context on a device, the largest first. To be called with the engine
/// held.
std::vector<Holder> holders(const Device& device);
/// The error of a device that is out of memory, with the largest holders.
Error with_holders(const Error& error, const Device& device);

}  // namespace unisono
