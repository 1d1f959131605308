// What compiled code reads and writes of lists of objects, dicts and sets without a call: their
// rows, and the index of keys that are one integer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unisono {

/// Rows of equally many words: the hash of the key, or 1 in a list; 0 where the row was removed;
/// then the words of the key and of the value.
struct TableRows {
    std::int64_t *words = nullptr,
                 *end = nullptr;    ///< memory of the rows, up to the last one's end
    std::int64_t* limit = nullptr;  ///< rows may be added up to here without more memory
    std::int64_t* first_item =
        nullptr;                  ///< the first row, behind its hash; of a list the first item
    std::int64_t item_count = 0;  ///< rows that were not removed
    std::int64_t item_step = 1;   ///< words from one row to the next
    std::int64_t row_count = 0;   ///< of dicts and sets: rows, those that were removed among them
    std::int64_t loop_count = 0;  ///< item_count when the last loop over it began
    /// Number of the row and 1 by the hash of its key; 0: free. A power of two, at most half full.
    std::uint32_t* index = nullptr;
    std::uint64_t index_mask = 0, index_shift = 63;
    bool is_changed = false;  ///< since it came from Python
};

/// Multiples of the golden ratio keep apart: consecutive integers hardly ever meet.
inline constexpr std::uint64_t whole_key_factor = 0x9e3779b97f4a7c15u;
/// Of a key that is one integer: the search begins at (hash >> index_shift) & index_mask.
inline std::uint64_t hash_of_whole(std::int64_t key) {
    return static_cast<std::uint64_t>(key) * whole_key_factor | 1;
}

/// From the address of a table to its TableRows.
inline constexpr std::size_t table_rows_offset = sizeof(void*);

}  // namespace unisono
