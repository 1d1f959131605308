// Which parameters a function changes or keeps where they are lists: those lists its callers must
// share.
#include <algorithm>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

namespace {

using Names = std::set<std::string>;
using Functions = std::map<std::string, const Source*>;  ///< functions inside, by their names

/// Names that stand for what something else holds from now on: items, also in tuples.
void kept_names(const Node& item, Names& names) {
    if (item.kind == NodeKind::Name) names.insert(item.text);
    if (item.kind == NodeKind::Tuple)
        for (const Node& i : item.children) kept_names(i, names);
}

/// Names whose items or length a node changes, if they are lists, or which it keeps, or asks
/// whether they stand for one list.
void changed_names(const Node& n, Names& names) {
    static const Names keepers = {"append", "insert", "setdefault"};
    static const Names methods = {"append", "extend",  "insert", "pop",
                                  "clear",  "reverse", "sort",   "remove"};
    auto note = [&](const Node& owner) {
        if (owner.kind == NodeKind::Name) names.insert(owner.text);
    };
    auto target = [&](const Node& t, auto&& self) -> void {
        if (t.kind == NodeKind::Subscript) note(t.children[0]);
        if (t.kind == NodeKind::Tuple)
            for (const Node& item : t.children) self(item, self);
    };
    if (n.kind == NodeKind::Assign)
        for (std::size_t k = 0; k + 1 < n.children.size(); ++k) target(n.children[k], target);
    bool is_item = n.kind == NodeKind::Assign && (n.children[0].kind == NodeKind::Subscript ||
                                                  n.children[0].kind == NodeKind::Attribute);
    if (is_item) kept_names(n.children.back(), names);
    bool asks_identity = n.kind == NodeKind::Compare && (n.text == "is" || n.text == "is not");
    if (n.kind == NodeKind::List || asks_identity)
        for (const Node& item : n.children) kept_names(item, names);
    if (n.kind == NodeKind::Delete)
        for (const Node& t : n.children) target(t, target);
    if (n.kind == NodeKind::AugAssign) {
        target(n.children[0], target);
        note(n.children[0]);
    }
    if (n.kind == NodeKind::Call) {
        const Node& callee = n.children[0];
        if (callee.kind == NodeKind::Attribute && methods.count(callee.text))
            note(callee.children[0]);
        if (callee.kind == NodeKind::Attribute && keepers.count(callee.text))
            for (std::size_t k = 1; k < n.children.size(); ++k) kept_names(n.children[k], names);
        if (callee.kind == NodeKind::Builtin && callee.text == "delete_item") note(n.children[1]);
    }
    for (const Node& child : n.children) changed_names(child, names);
}

/// The function that a call names, where that is known.
const Source* called(const Source& source, const Functions& inside, const Node& callee) {
    if (callee.kind == NodeKind::Name) {
        auto found = inside.find(callee.text);
        return found == inside.end() ? nullptr : found->second;
    }
    return callee.kind == NodeKind::Function ? function_of(source, callee) : nullptr;
}

/// Names that a node gives to functions which change them.
void changed_by_calls(const Node& n, const Source& source, const Functions& inside, Names& names) {
    const Source* callee =
        n.kind == NodeKind::Call ? called(source, inside, n.children[0]) : nullptr;
    for (std::size_t k = 1; callee && k < n.children.size(); ++k) {
        const Node& arg = n.children[k];
        bool is_named = arg.kind == NodeKind::Keyword;
        const Node& given = is_named ? arg.children[0] : arg;
        if (arg.kind == NodeKind::Starred) break;
        if (given.kind != NodeKind::Name || (!is_named && k > callee->positional)) continue;
        if (callee->changed.count(is_named ? arg.text : callee->params[k - 1]))
            names.insert(given.text);
    }
    // What a function inside takes from around it has the same name there, or is named.
    if (callee) {
        const std::vector<Node>& taken = n.children[0].children;
        std::size_t own = callee->params.size() - callee->captures;
        for (std::size_t k = 0; k < callee->captures; ++k) {
            const std::string& name = callee->params[own + k];
            bool is_named = taken.size() == callee->captures && taken[k].kind == NodeKind::Name;
            if (callee->changed.count(name)) names.insert(is_named ? taken[k].text : name);
        }
    }
    for (const Node& child : n.children) changed_by_calls(child, source, inside, names);
}

/// Names that the function returns as they are.
void returned_names(const Node& n, Names& names) {
    if (n.kind == NodeKind::Return && !n.children.empty()) {
        const Node& value = n.children[0];
        kept_names(value, names);
        if (value.kind == NodeKind::IfExp || value.kind == NodeKind::BoolOp)
            for (const Node& part : value.children) kept_names(part, names);
    }
    for (const Node& child : n.children) returned_names(child, names);
}

/// What a function of this request returns and gets changed behind that, it must share, too.
/// Whether there is more of it.
bool changed_behind_calls(const Node& n, const Source& source, const Functions& inside) {
    bool more = false;
    auto share = [&](const Node& value) {
        const Source* callee =
            value.kind == NodeKind::Call ? called(source, inside, value.children[0]) : nullptr;
        bool is_ours =
            callee && (callee == &source || !callee->callers.empty() || !callee->around.expired());
        if (!is_ours) return;
        Names names;
        returned_names(callee->body, names);
        for (const std::string& name : names) more = callee->changed.insert(name).second || more;
    };
    if (n.kind == NodeKind::Assign) {
        Names targets;
        for (std::size_t k = 0; k + 1 < n.children.size(); ++k) kept_names(n.children[k], targets);
        bool is_changed = std::any_of(targets.begin(), targets.end(), [&](const std::string& t) {
            return source.changed.count(t) > 0;
        });
        if (is_changed) share(n.children.back());
    }
    const Source* callee =
        n.kind == NodeKind::Call ? called(source, inside, n.children[0]) : nullptr;
    for (std::size_t k = 1; callee && k < n.children.size() && k <= callee->positional; ++k) {
        if (callee->changed.count(callee->params[k - 1])) share(n.children[k]);
    }
    for (const Node& child : n.children) more = changed_behind_calls(child, source, inside) || more;
    return more;
}

/// Pairs of names that an assignment makes stand for one object.
void shared_names(const Node& n, std::vector<std::pair<std::string, std::string>>& pairs) {
    auto names = [](const Node& e) {
        std::vector<std::string> list;
        if (e.kind == NodeKind::Name) list.push_back(e.text);
        if (e.kind == NodeKind::Tuple || e.kind == NodeKind::IfExp) {
            for (const Node& item : e.children)
                if (item.kind == NodeKind::Name) list.push_back(item.text);
        }
        return list;
    };
    if (n.kind == NodeKind::Assign) {
        for (std::size_t k = 0; k + 1 < n.children.size(); ++k) {
            for (const std::string& a : names(n.children[k]))
                for (const std::string& b : names(n.children.back())) pairs.emplace_back(a, b);
        }
    }
    for (const Node& child : n.children) shared_names(child, pairs);
}

void functions_inside(const Node& n, const Source& source, Functions& inside) {
    bool is_kept = n.kind == NodeKind::Assign && n.children.size() == 2 &&
                   n.children[0].kind == NodeKind::Name &&
                   n.children[1].kind == NodeKind::KeptClosure;
    if (is_kept)
        inside[n.children[0].text] =
            source.nested.at(static_cast<std::size_t>(n.children[1].index)).get();
    for (const Node& child : n.children) functions_inside(child, source, inside);
}

/// One round over the function and those inside of it; whether it found more.
bool note_more(const Source& source, Functions inside) {
    functions_inside(source.body, source, inside);
    std::size_t before = source.changed.size();
    bool more = false;
    for (auto& inner : source.nested) more = note_more(*inner, inside) || more;
    changed_names(source.body, source.changed);
    changed_by_calls(source.body, source, inside, source.changed);
    std::vector<std::pair<std::string, std::string>> pairs;
    shared_names(source.body, pairs);
    for (std::size_t size = 0; size != source.changed.size();) {
        size = source.changed.size();
        for (const auto& [a, b] : pairs) {
            if (source.changed.count(a)) source.changed.insert(b);
            if (source.changed.count(b)) source.changed.insert(a);
        }
    }
    more = changed_behind_calls(source.body, source, inside) || more;
    return more || source.changed.size() != before;
}

/// Functions that are called and call back.
void add_circle(const Source& source, std::set<const Source*>& circle) {
    for (const auto& callee : source.callees) {
        if (callee && !callee->callers.empty() && circle.insert(callee.get()).second)
            add_circle(*callee, circle);
    }
}

}  // namespace

void note_changed_lists(const Source& source) {
    std::set<const Source*> circle{&source};
    add_circle(source, circle);
    for (bool more = true; more;) {
        more = false;
        for (const Source* s : circle) more = note_more(*s, {}) || more;
    }
}

}  // namespace unisono::frontend
