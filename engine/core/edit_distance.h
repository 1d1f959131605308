// How far apart two names are: for "did you mean".
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace unisono {

/// How many letters must be added, left out or replaced to make one text of the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

/// Of the rows' names (name_of(row)) the one with the fewest edits to `text`, fewer than `limit`;
/// else an empty text.
template <class Rows, class NameOf>
std::string_view nearest_name(std::string_view text, const Rows& rows, std::size_t limit,
                              NameOf&& name_of) {
    std::string_view near;
    for (const auto& row : rows) {
        const std::size_t edits = edit_distance(text, name_of(row));
        if (edits < limit) {
            limit = edits;
            near = name_of(row);
        }
    }
    return near;
}

}  // namespace unisono
