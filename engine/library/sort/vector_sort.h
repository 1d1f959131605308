// Sorts unsigned keys in place on the calling thread, with the widest vectors that the processor
// has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unisono::library {

void vector_sort(std::uint16_t* keys, std::size_t n);
void vector_sort(std::uint32_t* keys, std::size_t n);
void vector_sort(std::uint64_t* keys, std::size_t n);

}  // namespace unisono::library
