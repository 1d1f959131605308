// The table of functions that compiled code calls by name.
#include "core/native/native.h"

#include <map>

namespace unisono {

static std::map<std::string_view, NativeFunction>& table() {
    static std::map<std::string_view, NativeFunction> functions;
    return functions;
}

bool add_natives(std::initializer_list<std::pair<std::string_view, NativeFunction>> functions) {
    for (const auto& [name, function] : functions) table().emplace(name, function);
    return true;
}

NativeFunction find_native(std::string_view name) noexcept {
    auto found = table().find(name);
    return found == table().end() ? nullptr : found->second;
}

}  // namespace unisono
