// Errors of compilation: the place in the user's file with a caret, related places, and a way out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "frontend/syntax/tree.h"

namespace unisono::frontend {

struct Diagnosis {
    Place place;
    std::string what;
    /// Places that explain it, each with what to say there.
    std::vector<std::pair<Place, std::string>> related;
    std::string way_out;
};

/// Throws a Compile error whose text shows the line and points below the expression.
[[noreturn]] void refuse(const Source& source, const Diagnosis& diagnosis);

/// The lines that say which call led to an error, to be put below it.
std::string called_from(const Source& source, const Place& call);

/// Where the function is defined: the line of its def.
Place definition_place(const Source& source);

/// The text of one line of the source without its end, or nothing.
std::string line_text(const Source& source, int line);

}  // namespace unisono::frontend
