// What the syntax alone says of a function's names: where each is assigned, and the block that is
// home to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// Names that the subtree assigns (loop targets included).
std::set<std::string> assigned_names(const Node& node);

/// Every occurrence of a local name, in order.
struct Occurrence {
    const Node* node;
    bool is_store;
};
std::vector<Occurrence> occurrences(const Node& node, const std::string& name);
bool mentions(const Node& node, const std::string& name);

/// Whether it calls a function of NumPy's that computes element by element, by operands alone.
bool is_elementwise_call(const Node& node);

/// "sum" of "np.sum"; the name itself where it has no dot.
std::string after_dot(const std::string& name);

/// For each name the innermost Block that holds all its occurrences: a local is declared there.
std::map<std::string, const Node*> home_blocks(const Node& body,
                                               const std::vector<std::string>& params);

/// Calls visit(target) for each Name in an assignment target (through tuples).
template <class F>
void each_target(const Node& target, F&& visit) {
    if (target.kind == NodeKind::Name) visit(target);
    if (target.kind == NodeKind::Tuple) {
        for (const Node& item : target.children) each_target(item, visit);
    }
    if (target.kind == NodeKind::Starred) each_target(target.children[0], visit);
}

/// Calls visit(node) for the node and all below it, parents first.
template <class F>
void walk(const Node& node, F&& visit) {
    visit(node);
    for (const Node& child : node.children) walk(child, visit);
}

}  // namespace unisono::frontend
