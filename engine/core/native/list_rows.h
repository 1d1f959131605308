// What compiled code reads of a list of objects without a call: where its items lie.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unisono {

struct ListRows {
    std::int64_t* first_item = nullptr;  ///< its words; those of the next ones follow
    std::int64_t item_count = 0;
    std::int64_t item_step = 1;  ///< words from one item to the next
    bool is_changed = false;     ///< since it came from Python
};

/// From the address of a list to its ListRows.
inline constexpr std::size_t list_rows_offset = sizeof(void*);

}  // namespace unisono
