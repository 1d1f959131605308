// The table of callbacks, and the function by which compiled code reads it.
#include "core/native/callbacks.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/native/native.h"
#include "core/threads/fork.h"

namespace unisono {

namespace {

struct Table {
    ProcessMutex mutex;
    std::map<std::int64_t, std::pair<void*, std::shared_ptr<const void>>> rows;
};

Table& table() {
    static auto& all = *new Table;  // C may call while the process ends
    return all;
}

/// [0, number]: [1 where there is none, address]
void callback_address(std::int64_t* v) noexcept {
    std::lock_guard lock(table().mutex);
    auto found = table().rows.find(v[1]);
    bool is_known = found != table().rows.end();
    v[0] = !is_known;
    v[1] = is_known ? reinterpret_cast<std::intptr_t>(found->second.first) : 0;
}

[[maybe_unused]] const bool is_added = add_natives({{"callback_address", callback_address}});

}  // namespace

void keep_callback(std::int64_t number, void* address, std::shared_ptr<const void> owner) {
    std::lock_guard lock(table().mutex);
    table().rows.try_emplace(number, address, std::move(owner));
}

bool has_callback(std::int64_t number) {
    std::lock_guard lock(table().mutex);
    return table().rows.count(number) > 0;
}

}  // namespace unisono
