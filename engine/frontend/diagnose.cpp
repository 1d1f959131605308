// Formats the errors of compilation.
#include "frontend/diagnose.h"

#include <algorithm>

namespace unisono::frontend {

std::string line_text(const Source& source, int line) {
    int index = line - source.first_line;
    if (index < 0 || index >= static_cast<int>(source.lines.size())) return {};
    return source.lines[static_cast<std::size_t>(index)];
}

static std::string base_name(const std::string& path) {
    auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// The line with its indentation removed, and carets below the place.
static std::string pointed(const Source& source, const Place& place) {
    std::string text = line_text(source, place.line);
    auto indent = text.find_first_not_of(" \t");
    if (indent == std::string::npos) return {};
    text.erase(0, indent);
    int from = std::max(0, place.column - static_cast<int>(indent));
    int to = place.end_line == place.line ? place.end_column - static_cast<int>(indent)
                                          : static_cast<int>(text.size());
    to = std::clamp(to, from + 1, std::max(from + 1, static_cast<int>(text.size())));
    return "    " + text + "\n    " + std::string(static_cast<std::size_t>(from), ' ') +
           std::string(static_cast<std::size_t>(to - from), '^') + "\n";
}

std::string called_from(const Source& source, const Place& call) {
    std::string text = "  called from " + source.name + ", " + base_name(source.file) + ":" +
                       std::to_string(call.line) + "\n" + pointed(source, call);
    text.pop_back();
    return text;
}

Place definition_place(const Source& source) {
    Place place{source.first_line, 0, source.first_line, 1};
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
        auto column = source.lines[i].find("def " + source.name);
        if (column == std::string::npos) continue;
        place.line = place.end_line = source.first_line + static_cast<int>(i);
        place.column = static_cast<int>(column);
        place.end_column = static_cast<int>(source.lines[i].size());
        break;
    }
    return place;
}

void refuse(const Source& source, const Diagnosis& d) {
    std::string text = source.name + ": " + d.what + "\n  " + source.file + ":" +
                       std::to_string(d.place.line) + ":" + std::to_string(d.place.column + 1) +
                       "\n" + pointed(source, d.place);
    for (const auto& [place, note] : d.related) {
        text += "  " + base_name(source.file) + ":" + std::to_string(place.line) + ": " + note +
                "\n" + pointed(source, place);
    }
    if (!d.way_out.empty()) text += "  what to do: " + d.way_out + "\n";
    text.pop_back();
    throw Error(ErrorKind::Compile, text,
                SourcePlace{source.file, d.place.line, d.place.column,
                            d.place.end_line == d.place.line ? d.place.end_column : -1});
}

}  // namespace unisono::frontend
