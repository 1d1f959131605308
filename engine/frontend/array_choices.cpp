// Gives each path of a kernel its own arrays, since memory of a kernel is known by its name.
//
//     if step % 2 == 0: src = a; dst = b        if step % 2 == 0: src = a; dst = b; dst[i] = src[i]
//     else: src = b; dst = a              ->    else: src = b; dst = a; dst[i] = src[i]
//     dst[i] = src[i]
//
// What follows in the block is written into both branches. Names that are used behind the block
// stay as they are, and are refused later.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "frontend/array_choices.h"
#include "frontend/scope.h"

namespace unisono::frontend {
namespace {

constexpr int most_splits = 8;  ///< each copies what follows

class Choices {
  public:
    Choices(const Source& source, const std::vector<Type>& args) {
        std::set<std::string> assigned;
        walk(source.body, [&](const Node& n) {
            const bool binds = n.kind == NodeKind::Assign || n.kind == NodeKind::For ||
                               n.kind == NodeKind::AugAssign || n.kind == NodeKind::NamedExpr;
            for (std::size_t k = 0; binds && k < n.children.size(); ++k)
                each_target(n.children[k], [&](const Node& t) {
                    if (k == 0 || k + 1 < n.children.size()) assigned.insert(t.text);
                });
        });
        for (std::size_t k = 0; k < std::min(args.size(), source.params.size()); ++k) {
            if (args[k].is_array() && !assigned.count(source.params[k]))
                arrays_.insert(source.params[k]);
        }
    }

    bool split(Node& body) {
        block(body);
        return count_ > 0;
    }

  private:
    using Meaning = std::map<std::string, std::string>;  ///< name, array

    void block(Node& b) {
        for (std::size_t k = 0; k < b.children.size(); ++k) {
            write_branches(b.children[k]);
            Node& s = b.children[k];
            const auto rest = b.children.begin() + static_cast<std::ptrdiff_t>(k) + 1;
            const std::set<std::string> names = s.kind == NodeKind::If && count_ < most_splits
                                                    ? chosen(s)
                                                    : std::set<std::string>{};
            const bool are_used =
                std::any_of(rest, b.children.end(), [&](const Node& n) { return uses(n, names); });
            if (are_used) {
                ++count_;
                append(s,
                       {std::make_move_iterator(rest), std::make_move_iterator(b.children.end())});
                b.children.resize(k + 1);
            }
            for (Node& child : b.children[k].children) {
                if (child.kind == NodeKind::Block) block(child);
            }
        }
    }

    /// `src = a if c else b`, also of tuples, as an If.
    void write_branches(Node& s) const {
        if (s.kind != NodeKind::Assign || s.children.size() != 2 ||
            s.children[1].kind != NodeKind::IfExp)
            return;
        const Node& choice = s.children[1];
        Node yes = s, no = s;
        yes.children[1] = choice.children[1];
        no.children[1] = choice.children[2];
        Meaning a, b;
        if (!means(yes, a) || !means(no, b) || a.empty() || b.empty()) return;
        Node made;
        made.kind = NodeKind::If;
        made.place = s.place;
        made.children = {choice.children[0], in_block(std::move(yes)), in_block(std::move(no))};
        s = std::move(made);
    }

    static Node in_block(Node s) {
        Node b;
        b.kind = NodeKind::Block;
        b.place = s.place;
        b.children.push_back(std::move(s));
        return b;
    }

    /// Adds what names the assignment gives to arrays: whether all it assigns are such.
    bool means(const Node& s, Meaning& known) const {
        if (s.kind != NodeKind::Assign || s.children.size() != 2) return false;
        return means(s.children[0], s.children[1], known);
    }

    bool means(const Node& target, const Node& value, Meaning& known) const {
        if (target.kind == NodeKind::Name && value.kind == NodeKind::Name &&
            arrays_.count(value.text)) {
            known[target.text] = value.text;
            return true;
        }
        if (target.kind != NodeKind::Tuple || value.kind != NodeKind::Tuple ||
            target.children.size() != value.children.size())
            return false;
        bool are_all = true;
        for (std::size_t k = 0; k < target.children.size(); ++k)
            are_all = means(target.children[k], value.children[k], known) && are_all;
        return are_all;
    }

    Meaning meaning(const Node& b) const {
        Meaning known;
        for (const Node& s : b.children) means(s, known);
        return known;
    }

    /// The If at the end of an else, as `elif` makes it.
    static Node* nested(Node& b) {
        return !b.children.empty() && b.children.back().kind == NodeKind::If ? &b.children.back()
                                                                             : nullptr;
    }

    /// Names that are one array behind the first branch, and another behind the second.
    std::set<std::string> chosen(Node& s) const {
        const Meaning yes = meaning(s.children[1]), no = meaning(s.children[2]);
        std::set<std::string> names;
        for (const auto& [name, array] : yes) {
            auto other = no.find(name);
            if (other != no.end() && other->second != array) names.insert(name);
        }
        Node* inner = nested(s.children[2]);
        if (inner && !yes.empty()) names.merge(chosen(*inner));
        return names;
    }

    static bool uses(const Node& n, const std::set<std::string>& names) {
        if (n.kind == NodeKind::Name && names.count(n.text)) return true;
        return std::any_of(n.children.begin(), n.children.end(),
                           [&](const Node& c) { return uses(c, names); });
    }

    void append(Node& s, std::vector<Node> rest) const {
        auto& yes = s.children[1].children;
        yes.insert(yes.end(), rest.begin(), rest.end());
        Node* inner = nested(s.children[2]);
        if (inner && !chosen(*inner).empty()) return append(*inner, std::move(rest));
        auto& no = s.children[2].children;
        no.insert(no.end(), std::make_move_iterator(rest.begin()),
                  std::make_move_iterator(rest.end()));
    }

    std::set<std::string> arrays_;  ///< parameters that are never assigned
    int count_ = 0;
};

}  // namespace

std::shared_ptr<const Source> split_array_choices(const Source& kernel,
                                                  const std::vector<Type>& args) {
    auto changed = std::make_shared<Source>(kernel);
    return Choices(kernel, args).split(changed->body) ? changed : nullptr;
}

}  // namespace unisono::frontend
