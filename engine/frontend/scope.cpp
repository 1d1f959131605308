// Collects assigned names, occurrences and home blocks.
#include "frontend/scope.h"

#include <algorithm>

namespace unisono::frontend {

/// The targets of a statement: all children of Assign but the last, the first of AugAssign and For.
static std::vector<const Node*> targets(const Node& node) {
    std::vector<const Node*> list;
    if (node.kind == NodeKind::Assign) {
        for (std::size_t i = 0; i + 1 < node.children.size(); ++i)
            list.push_back(&node.children[i]);
    } else if (node.kind == NodeKind::AugAssign || node.kind == NodeKind::For ||
               node.kind == NodeKind::NamedExpr) {
        list.push_back(&node.children[0]);
    }
    return list;
}

std::set<std::string> assigned_names(const Node& node) {
    std::set<std::string> names;
    walk(node, [&](const Node& n) {
        for (const Node* t : targets(n))
            each_target(*t, [&](const Node& name) { names.insert(name.text); });
    });
    return names;
}

std::vector<Occurrence> occurrences(const Node& node, const std::string& name) {
    std::set<const Node*> stores;
    std::vector<Occurrence> found;
    walk(node, [&](const Node& n) {
        for (const Node* t : targets(n)) each_target(*t, [&](const Node& s) { stores.insert(&s); });
        if (n.kind == NodeKind::Name && n.text == name) found.push_back({&n, stores.count(&n) > 0});
    });
    return found;
}

bool mentions(const Node& node, const std::string& name) {
    if (node.kind == NodeKind::Name && node.text == name) return true;
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const Node& child) { return mentions(child, name); });
}

namespace {

using Path = std::vector<const Node*>;

/// Shortens each name's path to the blocks shared by all its occurrences.
void collect(const Node& node, Path& path, std::map<std::string, Path>& homes) {
    if (node.kind == NodeKind::Name) {
        auto [it, is_new] = homes.emplace(node.text, path);
        Path& home = it->second;
        std::size_t shared = 0;
        while (shared < home.size() && shared < path.size() && home[shared] == path[shared])
            ++shared;
        if (!is_new) home.resize(shared);
    }
    bool is_block = node.kind == NodeKind::Block;
    if (is_block) path.push_back(&node);
    // A loop's target lives in its body unless it is used elsewhere.
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        bool is_target = node.kind == NodeKind::For && i == 0;
        if (is_target) path.push_back(&node.children[2]);
        collect(node.children[i], path, homes);
        if (is_target) path.pop_back();
    }
    if (is_block) path.pop_back();
}

}  // namespace

std::map<std::string, const Node*> home_blocks(const Node& body,
                                               const std::vector<std::string>& params) {
    std::map<std::string, Path> paths;
    Path path;
    collect(body, path, paths);
    std::map<std::string, const Node*> homes;
    for (auto& [name, blocks] : paths) homes[name] = blocks.empty() ? &body : blocks.back();
    for (const std::string& p : params) homes[p] = &body;
    return homes;
}

std::string after_dot(const std::string& name) {
    auto dot = name.find('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
}

bool is_elementwise_call(const Node& n) {
    const Node& callee = n.children[0];
    if (callee.kind != NodeKind::Builtin) return false;
    bool is_numpy = callee.text.rfind("np.", 0) == 0 || callee.text.rfind("un.", 0) == 0;
    if (!is_numpy) return false;
    std::string base = callee.text.substr(3);
    std::size_t count = n.children.size() - 1;
    for (std::size_t k = 1; k <= count; ++k) {
        if (n.children[k].kind == NodeKind::Keyword || n.children[k].kind == NodeKind::Starred)
            return false;
    }
    if (base == "where") return count == 3;
    auto op = op_from_numpy_name(base);
    return op && static_cast<std::size_t>(info(*op).arity) == count;
}

}  // namespace unisono::frontend
