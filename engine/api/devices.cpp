// Devices of the C interface: un_device is the engine's Device, the host among them.
#include <string>

#include "api/handle.h"
#include "api/tables.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::api {

const un_device* device_handle(Device* device) {
    return reinterpret_cast<const un_device*>(device ? device : &unisono::find_device("cpu"));
}

static Device& known_device(const un_device* device) {
    if (!device) device = device_handle(default_device());
    return *reinterpret_cast<Device*>(const_cast<un_device*>(device));
}

Device* device_of(const un_device* device) {
    Device& d = known_device(device);
    return d.info().name == "cpu" ? nullptr : &d;
}

int device_count() noexcept {
    return remembering(-1, [] { return static_cast<int>(all_devices().size()); });
}

const un_device* device_at(int index) noexcept {
    return remembering<const un_device*>(nullptr, [&] {
        const auto all = all_devices();
        if (index < 0 || static_cast<std::size_t>(index) >= all.size()) {
            fail(ErrorKind::Index, "device_at: there is no device " + std::to_string(index) +
                                       " of " + std::to_string(all.size()));
        }
        return device_handle(all[static_cast<std::size_t>(index)]);
    });
}

const un_device* find_device(const char* name) noexcept {
    return remembering<const un_device*>(
        nullptr, [&] { return device_handle(&unisono::find_device(name ? name : "")); });
}

int device_info(const un_device* device, un_device_info* out) noexcept {
    return remembering(-1, [&] {
        const DeviceInfo& i = known_device(device).info();
        *out = {i.name.c_str(),  i.kind.c_str(), i.vendor.c_str(), i.description.c_str(),
                i.compute_units, i.memory_bytes, i.host_memory};
        return 0;
    });
}

int native(const un_device* device, un_native* out) noexcept {
    return remembering(-1, [&] {
        const NativeHandles n = known_device(device).native();
        *out = {n.interface_name, n.context, n.device, n.queue};
        return 0;
    });
}

int synchronize(const un_device* device) noexcept {
    return remembering(-1, [&] {
        Tape::current().synchronize();
        known_device(device).synchronize();
        return 0;
    });
}

}  // namespace unisono::api
