// Keeps the parts of devices, which live as long as the process.
#include "backends/parts.h"

#include <algorithm>
#include <mutex>

#include "backends/backend.h"

namespace unisono {

namespace {

struct Division {
    Device* whole;
    std::vector<int> units;
    std::vector<Device*> parts;
};

struct Divisions {
    ProcessMutex mutex;
    std::vector<Division> all;
};

Divisions& divisions() {
    static auto& known = *new Divisions;
    return known;
}

/// The first part of which `holds` is true, and its division.
template <class F>
std::pair<Device*, Device*> find(F&& holds) {
    Divisions& known = divisions();
    std::lock_guard lock(known.mutex);
    for (const Division& d : known.all) {
        const auto part = std::find_if(d.parts.begin(), d.parts.end(), holds);
        if (part != d.parts.end()) return {*part, d.whole};
    }
    return {};
}

}  // namespace

std::vector<Device*> divide(Device& device, std::span<const int> units) {
    Divisions& known = divisions();
    std::lock_guard lock(known.mutex);
    for (const Division& d : known.all) {
        if (d.whole == &device &&
            std::equal(units.begin(), units.end(), d.units.begin(), d.units.end()))
            return d.parts;
    }
    std::vector<Device*> parts = device.divided(units);
    known.all.push_back({&device, {units.begin(), units.end()}, parts});
    return parts;
}

Device* whole_of(const Device& part) {
    return find([&](const Device* d) { return d == &part; }).second;
}

Device* find_part(std::string_view name) {
    return find([&](const Device* d) { return d->info().name == name; }).first;
}

}  // namespace unisono
