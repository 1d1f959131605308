// Creates and destroys storages, keeping dead ones for reuse.
#include "tape/storage.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/error.h"
#include "core/pool.h"
#include "core/settings.h"
#include "tape/run/holders.h"
#include "tape/run/submission.h"
#include "tape/windows.h"

namespace unisono {

Storage* Storage::create(Device* device, std::int64_t bytes) {
    Places& places = current<Places>();
    ++places.alive_;
    Storage* s;
    if (places.free_.empty()) {
        s = new Storage;
    } else {
        s = places.free_.back();
        places.free_.pop_back();
    }
    s->device = device;
    s->bytes = bytes;
    return s;
}

const std::string& device_name(const Device* device) {
    static const std::string host = "cpu";
    return device ? device->info().name : host;
}

Device* device_named(const std::string& name) {
    if (name == "cpu" || name.empty()) return nullptr;
    Device& d = find_device(name);
    return d.info().name == "cpu" ? nullptr : &d;
}

Places::~Places() {
    for (Storage* s : free_) delete s;
}

void Places::note_use(Device* device) {
    if (std::find(used_.begin(), used_.end(), device) == used_.end()) used_.push_back(device);
}

std::uint16_t Places::number_of(Queue& queue) {
    const auto found = std::find(queues_.begin(), queues_.end(), &queue);
    if (found != queues_.end()) return static_cast<std::uint16_t>(found - queues_.begin() + 1);
    if (queues_.size() == std::numeric_limits<std::uint16_t>::max())
        fail(ErrorKind::Device, "Queue: there are too many queues; expected at most 65535");
    queues_.push_back(&queue);
    return static_cast<std::uint16_t>(queues_.size());
}

Device* Places::default_device() {
    if (chosen) {
        if (const Choice c = chosen(); c.is_set) return c.device;
    }
    if (generation_ != settings_generation()) {
        default_ = device_named(setting("device"));
        generation_ = settings_generation();
    }
    return default_;
}

void Storage::allocate_now() {
    std::int64_t wanted = bytes > 0 ? bytes : 1;
    if (wanted <= inline_bytes && addressable()) {
        memory = {reinterpret_cast<std::uintptr_t>(inline_memory_), wanted};
        count(counters().bytes_allocated, wanted);
    } else if (addressable()) {
        memory = {reinterpret_cast<std::uintptr_t>(pool::allocate(wanted)), wanted};
    } else {
        allocate_on_device(wanted);
    }
}

void Storage::allocate_on_device(std::int64_t wanted) {
    std::vector<Completion> after;
    try {
        memory = device->pool().take(wanted, after);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::Memory) throw;
        throw with_holders(error, *device);
    }
    if (!after.empty()) use_of(*this).read = std::move(after);
    Places& places = current<Places>();
    places.note_use(device);
    places.on_devices_.insert(this);
}

void Storage::free_on_device() noexcept {
    current<Places>().on_devices_.erase(this);
    if (use && use->is_known_outside) return device->pool().give_to_driver(memory);
    std::vector<Completion> users;
    if (use) {
        users = std::move(use->read);
        users.push_back(use->written);
    }
    device->pool().give(memory, std::move(users));
}

void Storage::lie_in(Memory other, void* its_owner, void (*release)(void*)) noexcept {
    if (memory.handle) free_on_device();
    memory = other;
    borrowed = adopted = true;
    owner = its_owner;
    release_owner = release;
}

void release_placed(void* memory) { delete static_cast<PlacedMemory*>(memory); }

void Storage::destroy() noexcept {
    if (borrowed) {
        if (release_owner == release_placed && static_cast<PlacedMemory*>(owner)->keeps(*this))
            return;
        if (release_owner) release_owner(owner);
    } else if (memory.handle && memory.handle != reinterpret_cast<std::uintptr_t>(inline_memory_)) {
        if (addressable()) {
            pool::free(reinterpret_cast<void*>(memory.handle), memory.bytes);
        } else {
            free_on_device();
        }
    }
    Places& places = current<Places>();
    --places.alive_;
    if (places.free_.size() < 1024) {
        const std::uint32_t epoch = mark_epoch;
        // Made anew where it lies: a StorageState{} to assign from is cleared by a string
        // instruction, which takes longer than all the rest.
        StorageState* const state = this;
        std::destroy_at(state);
        ::new (state) StorageState;
        mark_epoch = epoch;
        places.free_.push_back(this);
    } else {
        delete this;
    }
}

}  // namespace unisono
