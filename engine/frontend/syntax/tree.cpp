// Names of nodes, and what functions inside of one another share.
#include "frontend/syntax/tree.h"

#include <array>
#include <unordered_map>

namespace unisono::frontend {

static constexpr std::array node_names = {
#define UNISONO_NODE(kind, holds) std::string_view(#kind),
#include "frontend/syntax/nodes.def"
#undef UNISONO_NODE
};

std::string_view name_of(NodeKind kind) { return node_names[static_cast<std::size_t>(kind)]; }

std::optional<NodeKind> kind_named(std::string_view name) {
    static const auto& kinds = *[] {
        auto* made = new std::unordered_map<std::string_view, NodeKind>;
        for (std::size_t k = 0; k < node_names.size(); ++k)
            made->emplace(node_names[k], static_cast<NodeKind>(k));
        return made;
    }();
    const auto found = kinds.find(name);
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

/// None of those that they call is the function around.
void link_nested(Source& source) {
    for (auto& inner : source.nested) {
        inner->around = source.weak_from_this();
        inner->callees = source.callees;
        inner->callers = source.callers;
        inner->classes = source.classes;
        link_nested(*inner);
    }
}

}  // namespace unisono::frontend
