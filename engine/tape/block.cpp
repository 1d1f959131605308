// Makes storages of blocks; the storage owns the block.
#include "tape/block.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/host/shared.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/run/submission.h"
#include "tape/tape.h"

namespace unisono {

namespace {

void release_block(void* block) { delete static_cast<MemoryBlock*>(block); }

/// Who synchronises all devices waits for this one too.
void note_queue(Device& device) {
    if (device.own_queue()) current<Places>().number_of(*device.own_queue());
}

Storage* storage_of(std::unique_ptr<MemoryBlock> block, Device* device, std::int64_t bytes) {
    Storage* s = Storage::create(block->memory.handle ? device : nullptr, bytes);
    s->memory = block->memory.handle ? block->memory
                                     : Memory{reinterpret_cast<std::uintptr_t>(block->host), bytes};
    s->borrowed = true;
    s->owner = block.release();
    s->release_owner = release_block;
    if (s->device) note_queue(*s->device);
    return s;
}

BlockSource& source_of(Device& device, const char* what) {
    if (auto* source = dynamic_cast<BlockSource*>(&device)) return *source;
    fail(ErrorKind::Device, "device '" + device.info().name + "' has no " + what +
                                "; expected an OpenCL device, or memory=\"device\"");
}

}  // namespace

MemoryBlock* block_of(const Storage& s) {
    return s.release_owner == release_block ? static_cast<MemoryBlock*>(s.owner) : nullptr;
}

MemoryKind memory_kind(const Array& a) {
    if (a.is_known()) return MemoryKind::Host;
    const Storage& s = *a.view().storage;
    if (const MemoryBlock* block = block_of(s)) return block->kind;
    return s.addressable() ? MemoryKind::Host : MemoryKind::Device;
}

char* host_address(const Storage& s) {
    if (s.addressable()) return s.data();
    const MemoryBlock* block = block_of(s);
    return block ? block->host : nullptr;
}

bool become_shared(Storage& s) {
    if (host_address(s)) return true;
    HostShared* shared = host_shared(*s.device);
    auto* source = dynamic_cast<BlockSource*>(s.device);
    const bool is_known = s.shared_outside() || (s.use && s.use->is_known_outside);
    if (!shared || !source || is_known || block_of(s)) return false;
    Tape::current().complete_for_write(&s, FlushReason::Shared);
    wait_for_memory(s);
    auto block = source->make_block(MemoryKind::Shared, std::max<std::int64_t>(s.bytes, 1));
    if (s.memory.handle && s.bytes > 0) {
        void* old = shared->map(s.memory);
        std::memcpy(block->host, old, static_cast<std::size_t>(s.bytes));
        shared->unmap(s.memory, old);
    }
    const Memory memory = block->memory;
    s.lie_in(memory, block.release(), release_block);
    note_queue(*s.device);
    return true;
}

Array empty_of_kind(MemoryKind kind, Dims shape, DType dtype, Device* device) {
    if (kind == MemoryKind::Host) return empty(shape, dtype, nullptr);
    const bool is_on_host = !device || device->info().host_memory;
    if (kind == MemoryKind::Device || is_on_host) return empty(shape, dtype, device);
    const Array plain = empty(shape, dtype, device);  // checks what is asked for
    const std::int64_t bytes = std::max<std::int64_t>(plain.view().storage->bytes, 1);
    const char* what =
        kind == MemoryKind::Shared ? "memory that the host can use too" : "pinned memory";
    Storage* s = storage_of(source_of(*device, what).make_block(kind, bytes), device, bytes);
    s->adopted = true;
    return Array(s, plain.view().layout, dtype, false);
}

Array array_over(std::unique_ptr<MemoryBlock> block, Device& device, const Layout* layout,
                 DType dtype, std::int64_t offset) {
    const std::int64_t bytes = block->memory.bytes, width = size_of(dtype);
    const bool fits = layout->size() == 0 || (offset + layout->lowest() >= 0 &&
                                              (offset + layout->highest() + 1) * width <= bytes);
    if (!fits) {
        fail(ErrorKind::Value,
             "asarray: the array does not fit its buffer of " + std::to_string(bytes) + " bytes");
    }
    Storage* s = storage_of(std::move(block), &device, bytes);
    return Array::of({s, layout, offset, dtype});
}

}  // namespace unisono
