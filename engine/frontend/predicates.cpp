// Takes barriers out of conditions that differ between the work-items of a group, as GPUs allow
// them: those for which the condition is false, or that have returned, wait as well and do nothing
// else.
//
//     if i >= n: return         p = i < n
//     s[t] = a[i]               if p: s[t] = a[i]
//     barrier()           ->    barrier()
//     o[i] = s[0]               if p: o[i] = s[0]
//
// What contains a barrier is executed by all, with a variable, the predicate, that says who takes
// part. Loops around barriers have the same number of turns for all: names that only such a part of
// the kernel has, and that pure expressions of numbers give, are computed by all. Where that does
// not make the control flow around a barrier uniform, or a loop is left early, nothing is done.
//
// A kernel that counts at its barriers tells each of them how the work-item comes to it
// (ir::Arrival): as the predicates on the way to it say.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "frontend/predicates.h"
#include "frontend/scope.h"
#include "frontend/uniform.h"
#include "ir/fence.h"

namespace unisono::frontend {
namespace {

Node made(NodeKind kind, const Place& place, std::vector<Node> children = {},
          std::string text = {}) {
    Node n;
    n.kind = kind;
    n.place = place;
    n.text = std::move(text);
    n.children = std::move(children);
    return n;
}

Node truth(bool value, const Place& place) {
    Node n = made(NodeKind::Const, place);
    n.value = Scalar::of(DType::Bool, value);
    n.weak = Weak::Bool;
    return n;
}

Node number(ir::Arrival value, const Place& place) {
    Node n = made(NodeKind::Const, place);
    n.value = Scalar::of(DType::Int64, static_cast<std::int64_t>(value));
    n.weak = Weak::Int;
    return n;
}

bool is_call_of(const Node& n, bool (*accepts)(std::string_view)) {
    return n.kind == NodeKind::Call && n.children[0].kind == NodeKind::Builtin &&
           accepts(n.children[0].text);
}

bool names_local_memory(std::string_view name) {
    return name == "un.local_array" || name == "un.private_array";
}

/// Whether the function gives a number for any numbers: those of Python's `math` and conversions to
/// Python's integers raise for some.
bool never_raises(std::string_view name) {
    static constexpr std::string_view plain[] = {"abs", "bool", "float", "len", "max", "min"};
    return name.starts_with("np.") || name.starts_with("dtype:") ||
           (name.starts_with("un.") && !names_local_memory(name)) ||
           std::find(std::begin(plain), std::end(plain), name) != std::end(plain);
}

/// Whether anything below the node is of the kind; loops below have their own break and continue.
bool has(const Node& n, NodeKind kind) {
    const bool leaves_loop = kind == NodeKind::Break || kind == NodeKind::Continue;
    if (n.kind == kind) return true;
    return std::any_of(n.children.begin(), n.children.end(), [&](const Node& c) {
        const bool is_loop = c.kind == NodeKind::For || c.kind == NodeKind::While;
        return !(leaves_loop && is_loop) && has(c, kind);
    });
}

class Predicates {
  public:
    Predicates(const Source& source, bool counts) : source_(source), counts_(counts) {}

    /// Whether the kernel was changed into one that may do.
    bool transform(Node& body) {
        end_in_branches(body);
        Node changed = body;
        changed.children.clear();
        block(body, {}, changed.children, true);
        body = std::move(changed);
        return is_possible_ && count_ > 0;
    }

  private:
    bool has_barrier(const Node& n) const {
        if (n.kind == NodeKind::Builtin && names_barrier(n.text)) return true;
        if (n.kind == NodeKind::Function) {
            const Source* callee = function_of(source_, n);
            if (callee && reaches_barrier(*callee)) return true;
        }
        return std::any_of(n.children.begin(), n.children.end(),
                           [&](const Node& c) { return has_barrier(c); });
    }

    /// `if c: return` before barriers: what follows goes to the other branch. The block is one
    /// behind which the kernel ends.
    void end_in_branches(Node& b) {
        for (std::size_t k = 0; k < b.children.size(); ++k) {
            Node& s = b.children[k];
            if (s.kind != NodeKind::If) continue;
            const auto rest = b.children.begin() + static_cast<std::ptrdiff_t>(k) + 1;
            const bool is_before_barrier =
                std::any_of(rest, b.children.end(), [&](const Node& n) { return has_barrier(n); });
            if (is_before_barrier) {
                const int leaving = ends(s.children[1]) ? 1 : ends(s.children[2]) ? 2 : 0;
                if (!leaving) continue;
                Node& other = s.children[leaving == 1 ? 2 : 1];
                other.children.insert(other.children.end(), rest, b.children.end());
                b.children.resize(k + 1);
            }
            if (k + 1 == b.children.size()) {
                end_in_branches(b.children[k].children[1]);
                end_in_branches(b.children[k].children[2]);
            }
        }
    }

    static bool ends(const Node& b) {
        return !b.children.empty() && b.children.back().kind == NodeKind::Return &&
               b.children.back().children.empty();
    }

    /// Adds the block's statements to `out`, under the predicate if there is one.
    void block(const Node& b, const std::string& predicate, std::vector<Node>& out, bool is_last) {
        std::vector<Node> waiting;  // statements that those under the predicate alone execute
        auto flush = [&] {
            if (waiting.empty()) return;
            const Place place = waiting.front().place;
            out.push_back(made(NodeKind::If, place,
                               {name(predicate, place), made(NodeKind::Block, place, waiting),
                                made(NodeKind::Block, place)}));
            waiting.clear();
        };
        for (std::size_t k = 0; k < b.children.size(); ++k) {
            const Node& s = b.children[k];
            const bool is_end = is_last && k + 1 == b.children.size();
            if (is_end && s.kind == NodeKind::Return && s.children.empty()) break;
            if (!has_barrier(s)) {
                if (predicate.empty() || is_of_all(s)) {
                    flush();
                    out.push_back(s);
                } else {
                    waiting.push_back(s);
                }
                continue;
            }
            flush();
            around_barrier(s, predicate, out, is_end);
        }
        flush();
    }

    void around_barrier(const Node& s, const std::string& predicate, std::vector<Node>& out,
                        bool is_last) {
        if (s.kind == NodeKind::Evaluate && is_call_of(s.children[0], names_barrier)) {
            out.push_back(counts_ && !predicate.empty() ? counted(s) : s);
        } else if (s.kind == NodeKind::If) {
            branch(s, predicate, out, is_last);
        } else if ((s.kind == NodeKind::For && s.children.size() == 3) ||
                   (s.kind == NodeKind::While && s.children.size() == 2)) {
            const Node& body = s.children.back();
            const bool is_left = has(body, NodeKind::Break) || has(body, NodeKind::Continue) ||
                                 has(body, NodeKind::Return);
            if (is_left && !predicate.empty()) is_possible_ = false;
            Node loop = s;
            loop.children.back().children.clear();
            block(body, predicate, loop.children.back().children, false);
            out.push_back(std::move(loop));
        } else if (predicate.empty()) {
            out.push_back(s);
        } else {
            is_possible_ = false;
        }
    }

    void branch(const Node& s, const std::string& predicate, std::vector<Node>& out, bool is_last) {
        if (predicate.empty() && !differs(s.children[0])) {
            Node kept = s;
            for (std::size_t k : {1, 2}) {
                kept.children[k].children.clear();
                block(s.children[k], {}, kept.children[k].children, is_last);
            }
            out.push_back(std::move(kept));
            return;
        }
        const Place& place = s.children[0].place;
        const std::string then = fresh(), other = fresh();
        Node test =
            made(NodeKind::IfExp, place, {s.children[0], truth(true, place), truth(false, place)});
        Node rest = truth(true, place);
        if (!predicate.empty()) {
            test = made(NodeKind::IfExp, place,
                        {name(predicate, place), std::move(test), truth(false, place)});
            rest = name(predicate, place);
        }
        assign(then, std::move(test), place, out);
        if (region_.empty()) note_region(s);
        const auto those_without = [&](int k) {
            return is_last && !has_barrier(s.children[static_cast<std::size_t>(k)])
                       ? ir::Arrival::Ended
                       : ir::Arrival::Elsewhere;
        };
        way_.push_back({then, those_without(2)});
        block(s.children[1], then, out, is_last);
        way_.back() = {other, those_without(1)};
        if (!s.children[2].children.empty()) {
            Node no = made(NodeKind::IfExp, place,
                           {name(then, place), truth(false, place), std::move(rest)});
            assign(other, std::move(no), place, out);
            block(s.children[2], other, out, is_last);
        }
        way_.pop_back();
        if (predicate.empty()) region_.clear();
    }

    /// The barrier, with how a work-item comes to it: the first predicate on the way that is false
    /// says where the others are.
    Node counted(const Node& s) const {
        const Place& place = s.place;
        Node arrival = number(ir::Arrival::Reached, place);
        for (auto step = way_.rbegin(); step != way_.rend(); ++step) {
            arrival = made(NodeKind::IfExp, place,
                           {name(step->predicate, place), std::move(arrival),
                            number(step->those_without, place)});
        }
        Node barrier = s;
        Node& call = barrier.children[0];
        call.children[0].text = "counted:" + call.children[0].text;
        call.children.resize(1);
        call.children.push_back(std::move(arrival));
        return barrier;
    }

    bool differs(const Node& test) {
        if (!divergence_) divergence_ = divergence_of(source_);
        return divergence_->of(test);
    }

    Node name(const std::string& text, const Place& place) const {
        return made(NodeKind::Name, place, {}, text);
    }

    void assign(const std::string& to, Node value, const Place& place, std::vector<Node>& out) {
        out.push_back(made(NodeKind::Assign, place, {name(to, place), std::move(value)}));
    }

    std::string fresh() { return "takes_part." + std::to_string(count_++); }

    // ---- what all execute

    /// Finds the names that this part of the kernel alone has, and whose values all can compute.
    void note_region(const Node& part) {
        std::map<std::string, int> here, everywhere;
        count_names(part, here);
        count_names(source_.body, everywhere);
        std::set<std::string> assigned;
        walk(part, [&](const Node& n) {
            if (n.kind == NodeKind::Assign || n.kind == NodeKind::AugAssign ||
                n.kind == NodeKind::For || n.kind == NodeKind::NamedExpr)
                each_target(n.children[0], [&](const Node& t) { assigned.insert(t.text); });
        });
        for (const std::string& one : assigned) {
            if (here[one] == everywhere[one]) region_.insert(one);
        }
        // Fewer and fewer: what is computed of others needs them to be computed by all.
        for (std::size_t before = region_.size() + 1; before != region_.size();) {
            before = region_.size();
            for (const Node& branch : {part.children[1], part.children[2]})
                keep_pure(branch, assigned, true);
        }
        region_.insert("");  // found, though there may be none
    }

    static void count_names(const Node& n, std::map<std::string, int>& counts) {
        walk(n, [&](const Node& one) {
            if (one.kind == NodeKind::Name) ++counts[one.text];
        });
    }

    /// Takes names out of the region that a statement gives a value which not all can compute.
    void keep_pure(const Node& b, const std::set<std::string>& assigned, bool is_spine) {
        for (const Node& s : b.children) {
            const bool assigns = s.kind == NodeKind::Assign || s.kind == NodeKind::AugAssign;
            const bool is_around = has_barrier(s);
            if (assigns) {
                const bool is_kept = is_spine && is_pure(s.children.back(), assigned) &&
                                     (s.kind == NodeKind::Assign || !may_divide_by_zero(s)) &&
                                     s.children.size() == 2 && s.children[0].kind == NodeKind::Name;
                if (!is_kept) forget(s);
            } else if (s.kind == NodeKind::For && !(is_spine && is_around)) {
                forget(s);
            }
            if (!assigns) {
                for (const Node& child : s.children) {
                    if (child.kind == NodeKind::Block)
                        keep_pure(child, assigned, is_spine && is_around);
                }
            }
        }
    }

    void forget(const Node& s) {
        for (std::size_t k = 0; k + 1 < s.children.size(); ++k)
            each_target(s.children[k], [&](const Node& t) { region_.erase(t.text); });
    }

    static bool may_divide_by_zero(const Node& n) {
        if (n.text.find_first_of("/%") == std::string::npos) return n.text == "**";
        const Node* given = &n.children.back();
        while (given->kind == NodeKind::Call && given->children.size() == 2 &&
               given->children[0].kind == NodeKind::Builtin)  // np.int32(2)
            given = &given->children[1];
        const Node& by = *given;
        return by.kind != NodeKind::Const || by.value.as<double>() == 0;
    }

    /// Whether the value follows from names that all have, without a fault.
    bool is_pure(const Node& n, const std::set<std::string>& assigned) const {
        switch (n.kind) {
            case NodeKind::Const:
            case NodeKind::Builtin: return true;
            case NodeKind::Name: return !assigned.count(n.text) || region_.count(n.text);
            case NodeKind::BinOp:
                if (may_divide_by_zero(n)) return false;
                break;
            case NodeKind::UnaryOp:
            case NodeKind::Compare:
            case NodeKind::BoolOp:
            case NodeKind::IfExp:
            case NodeKind::Attribute: break;
            case NodeKind::Call:
                if (!is_call_of(n, never_raises)) return false;
                break;
            default: return false;
        }
        return std::all_of(n.children.begin(), n.children.end(),
                           [&](const Node& c) { return is_pure(c, assigned); });
    }

    bool is_of_all(const Node& s) const {
        if (s.kind == NodeKind::Assign && is_call_of(s.children.back(), names_local_memory))
            return true;
        return (s.kind == NodeKind::Assign || s.kind == NodeKind::AugAssign) &&
               s.children[0].kind == NodeKind::Name && region_.count(s.children[0].text) > 0;
    }

    /// Of a branch on the way to a statement.
    struct Step {
        std::string predicate;
        ir::Arrival those_without;
    };

    const Source& source_;
    const bool counts_;
    std::vector<Step> way_;
    std::optional<Divergence> divergence_;
    std::set<std::string> region_;  ///< names that all compute in the part under a predicate
    int count_ = 0;
    bool is_possible_ = true;
};

}  // namespace

std::shared_ptr<const Source> all_reach_barriers(const Source& kernel, bool counts) {
    auto changed = std::make_shared<Source>(kernel);
    if (!Predicates(kernel, counts).transform(changed->body) || misses_barrier(*changed))
        return nullptr;
    return changed;
}

}  // namespace unisono::frontend
