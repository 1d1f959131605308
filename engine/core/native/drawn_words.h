// Numbers that the generators of a thread have drawn ahead, which compiled code takes without a
// call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unisono {

struct DrawnWords {
    static constexpr std::size_t count = 624;
    std::uint64_t place = count;  ///< of the word that is next; count: none is left
    std::uint32_t words[count] = {};
};

/// Of the calling thread, whose address stays the same.
using DrawnWordsSource = DrawnWords* (*)();
/// What np.random and the module random draw from, told while the engine is loaded.
bool set_drawn_words(DrawnWordsSource of_numpy, DrawnWordsSource of_python);
DrawnWords* drawn_by_numpy() noexcept;
DrawnWords* drawn_by_python() noexcept;

}  // namespace unisono
