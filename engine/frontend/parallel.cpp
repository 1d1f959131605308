// Infers the plan of a prange loop from its syntax: private names, reductions and dependences
// between iterations.
//
// Index expressions are read as sums of constants times names. Two accesses of one array carry a
// proven dependence where one of them writes, some axis of both moves with the loop by the same
// factor and differs by a constant that this factor divides, and all other axes are equal. Anything
// that is not such a sum is unknown, and reported.
#include "frontend/parallel.h"

#include <algorithm>
#include <optional>

#include "frontend/diagnose.h"
#include "frontend/scope.h"

namespace unisono::frontend {
namespace {

struct Affine {
    std::int64_t constant = 0;
    std::map<std::string, std::int64_t>
        factors;  ///< of names; an opaque invariant term is named by its text
    bool operator==(const Affine&) const = default;
};

Affine scaled(Affine a, std::int64_t by) {
    a.constant *= by;
    for (auto& [name, factor] : a.factors) factor *= by;
    return a;
}

Affine sum(Affine a, const Affine& b) {
    a.constant += b.constant;
    for (const auto& [name, factor] : b.factors) {
        if ((a.factors[name] += factor) == 0) a.factors.erase(name);
    }
    return a;
}

struct Access {
    const Node* node;
    std::string array;
    bool is_write;
    std::vector<std::optional<Affine>> axes;
    bool is_locked = false;
    std::map<const Node*, std::size_t> ways{};  ///< of ifs that all iterations decide alike
};

class Planner {
  public:
    Planner(const Source& source, const Node& loop, const std::set<std::string>& outer)
        : source_(source),
          loop_(loop),
          body_(loop.children[2]),
          outer_(outer),
          target_(loop.children[0].text),
          assigned_(assigned_names(loop.children[2])) {
        walk(body_, [&](const Node& n) {
            if (n.kind == NodeKind::For) inner_targets_.insert(n.children[0].text);
        });
    }

    ParallelPlan names() {
        for (const std::string& name : assigned_) {
            auto op = outer_.count(name) ? reduction(name) : std::nullopt;
            if (op)
                plan_.reductions[name] = *op;
            else
                plan_.privates.insert(name);
        }
        plan_.privates.insert(target_);
        return plan_;
    }

    ParallelPlan run() {
        names();
        find_accesses(body_, false);
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            for (std::size_t j = 0; j < accesses_.size(); ++j) compare(accesses_[i], accesses_[j]);
        }
        for (const Access& a : accesses_) {
            if (!a.is_write || plan_.array_reductions.count(a.array)) continue;
            if (is_neighbour(a)) plan_.neighbours.emplace_back(a.array, a.node->place);
            auto& list = unknown_.count(a.node)  ? plan_.unknown
                         : locked_.count(a.node) ? plan_.locked
                                                 : plan_.independent;
            std::string text = a.array + " at line " + std::to_string(a.node->place.line);
            if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
        }
        return plan_;
    }

  private:
    // ---- reductions
    static std::optional<Op> combining(const std::string& op) {
        static const std::map<std::string, Op> ops = {{"+", Op::Add}, {"-", Op::Add},
                                                      {"*", Op::Mul}, {"&", Op::And},
                                                      {"|", Op::Or},  {"^", Op::Xor}};
        auto it = ops.find(op);
        return it == ops.end() ? std::nullopt : std::optional(it->second);
    }

    /// The operation of `name op= e`, `name = name op e` or `name = min(name, e)`, where e does not
    /// read the name.
    static std::optional<Op> update(const Node& s, const std::string& name) {
        auto is_name = [&](const Node& n) { return n.kind == NodeKind::Name && n.text == name; };
        if (s.kind == NodeKind::AugAssign) {
            if (!is_name(s.children[0]) || mentions(s.children[1], name)) return std::nullopt;
            return combining(s.text);
        }
        if (s.kind != NodeKind::Assign || s.children.size() != 2 || !is_name(s.children[0]))
            return std::nullopt;
        const Node& e = s.children[1];
        if (e.kind == NodeKind::BinOp) {
            bool left = is_name(e.children[0]) && !mentions(e.children[1], name);
            bool right = is_name(e.children[1]) && !mentions(e.children[0], name) && e.text != "-";
            return left || right ? combining(e.text) : std::nullopt;
        }
        auto op = extreme(e);
        if (!op) return std::nullopt;
        bool left = is_name(e.children[1]) && !mentions(e.children[2], name);
        bool right = is_name(e.children[2]) && !mentions(e.children[1], name);
        return left || right ? op : std::nullopt;
    }

    /// A name whose every occurrence in the body is an update by one operation.
    std::optional<Op> reduction(const std::string& name) const {
        std::size_t covered = 0;
        std::optional<Op> op;
        bool fits = true;
        walk(body_, [&](const Node& n) {
            if (n.kind != NodeKind::Assign && n.kind != NodeKind::AugAssign) return;
            auto found = update(n, name);
            if (!found) return;
            fits = fits && (!op || *op == *found);
            op = found;
            covered += n.kind == NodeKind::AugAssign ? 1 : 2;
        });
        return fits && op && covered == occurrences(body_, name).size() ? op : std::nullopt;
    }

    static bool is_same_text(const Node& a, const Node& b) {
        return a.kind == b.kind && a.text == b.text && a.note == b.note && a.value == b.value &&
               a.index == b.index && a.children.size() == b.children.size() &&
               std::equal(a.children.begin(), a.children.end(), b.children.begin(), is_same_text);
    }

    /// The operation of `name[...] op= e`, `name[...] = name[...] op e` and
    /// `name[...] = min(name[...], e)`, where e does not read the array; with how often these name
    /// it.
    static std::pair<std::optional<Op>, std::size_t> item_update(const Node& s,
                                                                 const std::string& name) {
        bool is_update =
            s.kind == NodeKind::AugAssign || (s.kind == NodeKind::Assign && s.children.size() == 2);
        if (!is_update || s.children[0].kind != NodeKind::Subscript) return {};
        const Node &target = s.children[0], &object = target.children[0], &e = s.children[1];
        if (object.kind != NodeKind::Name || object.text != name) return {};
        if (s.kind == NodeKind::AugAssign) return {combining(s.text), 1};
        auto is_item = [&](const Node& a, const Node& other) {
            return is_same_text(a, target) && !mentions(other, name);
        };
        if (e.kind == NodeKind::BinOp) {
            bool left = is_item(e.children[0], e.children[1]);
            bool right = is_item(e.children[1], e.children[0]) && e.text != "-";
            return {left || right ? combining(e.text) : std::nullopt, 2};
        }
        auto op = extreme(e);
        bool fits =
            op && (is_item(e.children[1], e.children[2]) || is_item(e.children[2], e.children[1]));
        return {fits ? op : std::nullopt, 2};
    }

    /// Min or Max of a call of two arguments.
    static std::optional<Op> extreme(const Node& e) {
        if (e.kind != NodeKind::Call || e.children[0].kind != NodeKind::Builtin ||
            e.children.size() != 3)
            return std::nullopt;
        const std::string& f = e.children[0].text;
        if (f == "min" || f == "np.minimum") return Op::Min;
        if (f == "max" || f == "np.maximum") return Op::Max;
        return std::nullopt;
    }

    /// An array from outside whose every occurrence is such an update, by one operation.
    std::optional<Op> array_reduction(const std::string& name) const {
        if (!outer_.count(name) || assigned_.count(name)) return std::nullopt;
        std::size_t covered = 0;
        std::optional<Op> op;
        bool fits = true;
        walk(body_, [&](const Node& n) {
            auto [found, count] = item_update(n, name);
            if (count == 0) return;
            fits = fits && found && (!op || *op == *found);
            op = found;
            covered += count;
        });
        return fits && covered == occurrences(body_, name).size() ? op : std::nullopt;
    }

    /// Whether neighbouring iterations write neighbouring elements.
    bool is_neighbour(const Access& a) const {
        if (a.axes.empty() || !a.axes.back()) return false;
        for (std::size_t k = 0; k + 1 < a.axes.size(); ++k) {
            if (!a.axes[k] || factor_of(*a.axes[k]) != 0) return false;
        }
        std::int64_t factor = factor_of(*a.axes.back());
        return factor == 1 || factor == -1;
    }

    // ---- accesses
    /// "a" of a, "a.x" of a.x, a["x"], a[i].x and a[i]["x"]; empty for anything else. `index` is
    /// the subscript that is not a name.
    static std::string path_of(const Node& n, const Node*& index) {
        if (n.kind == NodeKind::Name) return n.text;
        bool is_key = n.kind == NodeKind::Subscript && n.children.size() == 2 &&
                      n.children[1].kind == NodeKind::Text;
        if (n.kind != NodeKind::Attribute && n.kind != NodeKind::Subscript) return {};
        std::string owner = path_of(n.children[0], index);
        if (owner.empty()) return {};
        if (is_key) return owner + "." + n.children[1].text;
        if (n.kind == NodeKind::Attribute) return owner + "." + n.text;
        if (index) return {};
        index = &n;
        return owner;
    }

    void find_accesses(const Node& n, bool is_write) {
        const Node* index = nullptr;
        std::string path = path_of(n, index);
        bool is_field = n.kind == NodeKind::Attribute && is_write && index == nullptr;
        if (!path.empty() && (index || is_field)) {
            Access a{&n, path, is_write, {}, lock_depth_ > 0, ways_};
            if (index) {
                bool is_tuple =
                    index->children.size() == 2 && index->children[1].kind == NodeKind::Tuple;
                const Node& list = is_tuple ? index->children[1] : *index;
                for (std::size_t i = is_tuple ? 0 : 1; i < list.children.size(); ++i)
                    a.axes.push_back(affine(list.children[i]));
            }
            accesses_.push_back(a);
        }
        if (!path.empty() && index) {
            for (std::size_t i = 1; i < index->children.size(); ++i)
                find_accesses(index->children[i], false);
            return;
        }
        bool is_lock = n.kind == NodeKind::Finally && n.text == "lock";
        lock_depth_ += is_lock;
        const bool is_decided = n.kind == NodeKind::If && is_invariant(n.children[0]);
        for (std::size_t i = 0; i < n.children.size(); ++i) {
            if (is_decided && i > 0) ways_[&n] = i;
            bool writes = (n.kind == NodeKind::Assign && i + 1 < n.children.size()) ||
                          (n.kind == NodeKind::AugAssign && i == 0) ||
                          (is_write && n.kind == NodeKind::Tuple);
            find_accesses(n.children[i], writes);
        }
        lock_depth_ -= is_lock;
        if (is_decided) ways_.erase(&n);
        if (n.kind == NodeKind::AugAssign) {
            std::optional<Access> read;
            for (const Access& a : accesses_) {
                if (a.node == &n.children[0]) read = a;
            }
            if (!read) return;
            read->is_write = false;
            accesses_.push_back(*read);
        }
    }

    /// Whether numbers from outside of the loop alone decide: the same in all iterations.
    bool is_invariant(const Node& test) const {
        bool is_same = true;
        walk(test, [&](const Node& n) {
            const bool is_number = n.kind == NodeKind::Const || n.kind == NodeKind::Compare ||
                                   n.kind == NodeKind::BinOp || n.kind == NodeKind::UnaryOp ||
                                   n.kind == NodeKind::BoolOp;
            const bool is_outer = n.kind == NodeKind::Name && n.text != target_ &&
                                  !assigned_.count(n.text) && !inner_targets_.count(n.text);
            is_same = is_same && (is_number || is_outer);
        });
        return is_same;
    }
    /// Whether the accesses stand in two branches of one if, of which one run of the loop takes
    /// one.
    static bool exclude(const Access& a, const Access& b) {
        return std::any_of(a.ways.begin(), a.ways.end(), [&](const auto& way) {
            auto other = b.ways.find(way.first);
            return other != b.ways.end() && other->second != way.second;
        });
    }

    /// The index as an affine form, through names that the body assigns once.
    std::optional<Affine> affine(const Node& e, int depth = 4) const {
        if (e.kind == NodeKind::Const && is_integer(e.value.dtype))
            return Affine{e.value.as<std::int64_t>(), {}};
        if (e.kind == NodeKind::Name) {
            if (!assigned_.count(e.text) || e.text == target_ || inner_targets_.count(e.text))
                return Affine{0, {{e.text, 1}}};
            const Node* value = depth > 0 ? only_value(e.text) : nullptr;
            return value ? affine(*value, depth - 1) : std::nullopt;
        }
        if (e.kind == NodeKind::UnaryOp && e.text == "-") {
            auto a = affine(e.children[0], depth);
            return a ? std::optional(scaled(*a, -1)) : std::nullopt;
        }
        if (e.kind == NodeKind::BinOp && (e.text == "+" || e.text == "-" || e.text == "*")) {
            auto a = affine(e.children[0], depth), b = affine(e.children[1], depth);
            if (!a || !b) return std::nullopt;
            if (e.text == "+") return sum(*a, *b);
            if (e.text == "-") return sum(*a, scaled(*b, -1));
            if (b->factors.empty()) return scaled(*a, b->constant);
            if (a->factors.empty()) return scaled(*b, a->constant);
        }
        return std::nullopt;
    }

    const Node* only_value(const std::string& name) const {
        const Node* value = nullptr;
        int count = 0;
        walk(body_, [&](const Node& n) {
            if (n.kind == NodeKind::AugAssign && n.children[0].kind == NodeKind::Name &&
                n.children[0].text == name)
                count = 2;
            if (n.kind != NodeKind::Assign) return;
            for (std::size_t i = 0; i + 1 < n.children.size(); ++i) {
                each_target(n.children[i], [&](const Node& t) {
                    if (t.text != name) return;
                    ++count;
                    value = n.children[i].kind == NodeKind::Name ? &n.children.back() : nullptr;
                });
            }
        });
        return count == 1 ? value : nullptr;
    }

    // ---- dependences
    static std::string root_of(const std::string& path) { return path.substr(0, path.find('.')); }
    void compare(const Access& write, const Access& other) {
        if (!write.is_write || write.array != other.array ||
            write.axes.size() != other.axes.size() || exclude(write, other))
            return;
        bool is_unknown = assigned_.count(root_of(write.array)) > 0;  // another array each time
        for (std::size_t i = 0; i < write.axes.size(); ++i) {
            const auto &a = write.axes[i], &b = other.axes[i];
            Affine difference = a && b ? sum(*b, scaled(*a, -1)) : Affine{};
            if (!a || !b || !difference.factors.empty() || (factor_of(*a) != 0 && has_inner(*a))) {
                is_unknown = true;
                continue;
            }
            // Iterations that meet on this axis lie difference / factor apart: never, or the same
            // one, or another.
            std::int64_t factor = factor_of(*a);
            if (factor != 0 && (difference.constant == 0 || difference.constant % factor != 0))
                return;
            if (factor == 0 && difference.constant != 0 && !has_inner(*a)) return;
        }
        if (write.is_locked && other.is_locked) {
            locked_.insert(write.node);
            return;
        }
        if (auto op = array_reduction(write.array))
            plan_.array_reductions[write.array] = *op;
        else if (is_unknown || loop_.text == "tasks")  // not every iteration reaches it
            unknown_.insert(write.node);
        else
            refuse_dependence(write, other);
    }

    std::int64_t factor_of(const Affine& a) const {
        auto it = a.factors.find(target_);
        return it == a.factors.end() ? 0 : it->second;
    }
    bool has_inner(const Affine& a) const {
        return std::any_of(a.factors.begin(), a.factors.end(), [&](const auto& f) {
            return f.first != target_ && inner_targets_.count(f.first);
        });
    }

    [[noreturn]] void refuse_dependence(const Access& write, const Access& other) const {
        bool same_node = write.node == other.node;
        std::string what = same_node || other.is_write
                               ? "iterations of prange over '" + target_ +
                                     "' write the same element of '" + write.array + "'"
                               : "an iteration of prange over '" + target_ +
                                     "' reads what another one writes in '" + write.array + "'";
        std::vector<std::pair<Place, std::string>> related;
        if (!same_node)
            related.emplace_back(other.node->place,
                                 other.is_write ? "also written here" : "read here");
        related.emplace_back(loop_.children[1].place,
                             "the iterations of this loop run in any order");
        refuse(source_, {write.node->place, what, related,
                         "use range for this loop, write into another array, or combine into a "
                         "scalar with += and the like"});
    }

    const Source& source_;
    const Node& loop_;
    const Node& body_;
    const std::set<std::string>& outer_;
    std::string target_;
    std::set<std::string> assigned_, inner_targets_;
    std::vector<Access> accesses_;
    std::set<const Node*> unknown_, locked_;
    std::map<const Node*, std::size_t> ways_;
    int lock_depth_ = 0;
    ParallelPlan plan_;
};

std::string joined(const std::vector<std::string>& items) {
    std::string s;
    for (const std::string& item : items) s += (s.empty() ? "" : ", ") + item;
    return s.empty() ? "none" : s;
}

std::string spelling(Op op) {
    switch (op) {
        case Op::Add: return "+";
        case Op::Mul: return "*";
        case Op::And: return "&";
        case Op::Or: return "|";
        case Op::Xor: return "^";
        default: return std::string(name(op));
    }
}

}  // namespace

ParallelPlan plan_parallel(const Source& source, const Node& loop,
                           const std::set<std::string>& outer) {
    return Planner(source, loop, outer).run();
}

ParallelPlan plan_names(const Source& source, const Node& body,
                        const std::set<std::string>& outer) {
    Node loop;
    loop.kind = NodeKind::For;
    loop.place = body.place;
    Node target;
    target.kind = NodeKind::Name;
    target.text = "thread number";
    loop.children = {target, Node{}, body};
    ParallelPlan plan = Planner(source, loop, outer).names();
    plan.privates.erase(target.text);
    return plan;
}

std::string describe(const Source& source, const Node& loop, const ParallelPlan& plan,
                     bool is_inner) {
    std::vector<std::string> privates(plan.privates.begin(), plan.privates.end()), reductions;
    for (const auto& [name, op] : plan.reductions)
        reductions.push_back(name + " (" + spelling(op) + ")");
    std::string text = source.name + ": prange over " + loop.children[0].text + " at line " +
                       std::to_string(loop.place.line) +
                       (is_inner ? ": serial, inside of another prange\n" : ": parallel\n");
    text += "  private: " + joined(privates) + "\n";
    for (const auto& [name, op] : plan.array_reductions)
        reductions.push_back("array " + name + " (" + spelling(op) + ")");
    if (!loop.note.empty()) reductions.push_back(loop.note);
    text += "  reductions: " + joined(reductions) + "\n";
    text += "  written, each element by one iteration: " + joined(plan.independent) + "\n";
    if (!plan.locked.empty()) text += "  under a lock: " + joined(plan.locked) + "\n";
    if (!plan.unknown.empty()) {
        text += "  not proven apart, iterations may meet: " + joined(plan.unknown) + "\n";
    }
    return text;
}

}  // namespace unisono::frontend
