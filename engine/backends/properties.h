// What a device's driver tells of it, for people: by the driver's names.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace unisono {

struct DeviceProperty {
    std::string name;
    std::variant<bool, std::int64_t, std::string, std::vector<std::int64_t>,
                 std::vector<std::string>>
        value;
};

}  // namespace unisono
