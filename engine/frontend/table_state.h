// What a lowerer knows of dicts and sets whose types come from what is stored in them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "frontend/types.h"

namespace unisono::frontend {

/// Of one that is written empty, or comes empty: {}, set(), a parameter; and of a list of objects,
/// whose items are values.
struct TableItems {
    std::optional<Type> key, value;
    const void* inner = nullptr;  ///< the value is a table of its own, known by this origin
};

/// How tables are spelled for the run-time part, which makes Python objects of their words:
/// i f b numbers, N and a letter other dtypes, t text, n None, (...) tuples, D d and D s tables,
/// A arrays, L lists, O and the record's address, ; or ?, objects in memory, which may be None.
std::string table_code(const Type& type);

/// Words that a value takes in a table or an object.
int words_of(const Type& type);

}  // namespace unisono::frontend
