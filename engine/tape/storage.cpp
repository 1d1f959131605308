// Creates and destroys storages, keeping dead ones for reuse.
#include "tape/storage.h"

#include <algorithm>
#include <vector>

#include "core/pool.h"
#include "core/stats.h"

namespace unisono {

static std::vector<Storage*>& free_storages() {
    static auto* list = new std::vector<Storage*>;  // storages may die after static objects
    return *list;
}

Storage* Storage::create(Device* device, std::int64_t bytes) {
    auto& list = free_storages();
    Storage* s;
    if (list.empty()) {
        s = new Storage;
    } else {
        s = list.back();
        list.pop_back();
    }
    s->device = device;
    s->bytes = bytes;
    return s;
}

static std::vector<Device*>& used() {
    static auto& devices = *new std::vector<Device*>;
    return devices;
}

static void note_use(Device* device) {
    if (std::find(used().begin(), used().end(), device) == used().end()) used().push_back(device);
}

std::span<Device* const> devices_in_use() { return used(); }

void Storage::allocate() {
    if (memory.handle || borrowed) return;
    std::int64_t wanted = bytes > 0 ? bytes : 1;
    if (wanted <= inline_bytes && on_host()) {
        memory = {reinterpret_cast<std::uintptr_t>(inline_memory_), wanted};
        count(stats().bytes_allocated, wanted);
    } else if (on_host()) {
        memory = {reinterpret_cast<std::uintptr_t>(pool::allocate(wanted)), wanted};
    } else {
        memory = device->allocate(wanted);
        note_use(device);
    }
}

void Storage::destroy() noexcept {
    if (borrowed) {
        if (release_owner) release_owner(owner);
    } else if (memory.handle && memory.handle != reinterpret_cast<std::uintptr_t>(inline_memory_)) {
        if (on_host()) {
            pool::free(reinterpret_cast<void*>(memory.handle), memory.bytes);
        } else {
            device->free(memory);
        }
    }
    auto& list = free_storages();
    if (list.size() < 1024) {
        if (poison) poison.reset();
        std::uint32_t epoch = mark_epoch;
        static_cast<StorageState&>(*this) = StorageState{};
        mark_epoch = epoch;
        list.push_back(this);
    } else {
        delete this;
    }
}

}  // namespace unisono
