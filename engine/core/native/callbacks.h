// Compiled functions whose addresses compiled code gives to C.
#pragma once

#include <cstdint>
#include <memory>

namespace unisono {

/// Notes where the function of this number lies; it stays as long as the process, as C may keep the
/// address. The number is the same in every process: code that names it can come from disk.
void keep_callback(std::int64_t number, void* address, std::shared_ptr<const void> owner);
bool has_callback(std::int64_t number);

}  // namespace unisono
