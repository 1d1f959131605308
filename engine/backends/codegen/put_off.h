// Stores that nobody should wait for: put off until the process ends.
#pragma once

#include <chrono>
#include <functional>

namespace unisono::codegen {

void put_off(std::function<void()> store);
/// Does what was put off, in that order, until the time is over; the rest is dropped.
void store_what_was_put_off(std::chrono::milliseconds most) noexcept;

}  // namespace unisono::codegen
