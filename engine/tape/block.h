// Storages whose memory is a block of its own: shared by device and host, pinned, or owned by
// others.
#pragma once

#include <memory>

#include "backends/memory/memory_block.h"
#include "tape/array.h"

namespace unisono {

/// The block under a storage; null where its memory is from a pool.
MemoryBlock* block_of(const Storage& s);
MemoryKind memory_kind(const Array& a);
/// Where the host finds the storage's memory once no device works on it; null where it cannot.
char* host_address(const Storage& s);

/// Lets the host find what is in the storage: where the device's memory is the host's and nobody
/// else knows the storage's, its contents are completed, and move to memory that both use. Returns
/// false where that cannot be.
bool become_shared(Storage& s);

/// Array of that kind of memory of the device. Throws where the device has none. Memory of the host
/// and of devices that compute there is of every kind.
Array empty_of_kind(MemoryKind kind, Dims shape, DType dtype, Device* device);
/// Array over the memory of others, on its device: element [0, 0, ...] lies `offset` elements into
/// it.
Array array_over(std::unique_ptr<MemoryBlock> block, Device& device, const Layout* layout,
                 DType dtype, std::int64_t offset);

}  // namespace unisono
