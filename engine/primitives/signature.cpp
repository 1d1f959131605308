// Reads signatures: "(m,k),(k,n)->(m,n)", with "*" for arrays that are computed as a whole: which
// operands beyond those that a signature names are, too.
#include "primitives/signature.h"

#include <algorithm>

namespace unisono::primitives {

namespace {

constexpr int whole = -1;

/// How many axes of each array are computed together, or `whole`.
std::vector<int> core_axes(std::string_view side) {
    std::vector<int> made;
    for (std::size_t k = 0; k < side.size(); ++k) {
        if (side[k] == '*') made.push_back(whole);
        if (side[k] != '(') continue;
        const std::string_view names = side.substr(k + 1, side.find(')', k) - k - 1);
        const auto commas = std::count(names.begin(), names.end(), ',');
        made.push_back(names.empty() ? 0 : static_cast<int>(commas) + 1);
        k += names.size() + 1;
    }
    return made;
}

/// The axes outside of the last `core` ones; a core axis that the attributes name stands elsewhere.
LoopAxes outer_axes(int rank, int core, int named) {
    LoopAxes axes;
    for (int k = 0; k < rank && core != whole; ++k) {
        const bool is_core = named >= 0 && core == 1 ? k == named : k >= rank - core;
        if (!is_core) axes.push_back(k);
    }
    return axes;
}

}  // namespace

Independence independent_axes(const Primitive& row, const void* attributes,
                              std::span<const int> operands, std::span<const int> results) {
    const std::size_t arrow = row.signature.find("->");
    const std::vector<int> in = core_axes(row.signature.substr(0, arrow));
    const std::vector<int> out = core_axes(row.signature.substr(arrow + 2));
    const int named = row.by_address->axis(attributes);
    Independence made;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        made.operands.push_back(outer_axes(operands[k], k < in.size() ? in[k] : whole, named));
        made.loops = std::max(made.loops, static_cast<int>(made.operands[k].size()));
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
        const bool is_whole = k < out.size() && out[k] == whole;
        // Results may lack axes that the signature names: products with vectors.
        const int core = is_whole ? whole : results[k] - made.loops;
        made.results.push_back(outer_axes(results[k], core, named));
    }
    return made;
}

}  // namespace unisono::primitives
