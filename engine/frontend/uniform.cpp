// Refuses barriers that not all work-items of a group would reach: control flow around them must be
// uniform.
//
// A name is divergent if any assignment to it uses a work-item id, an array element or a divergent
// name, or happens under a divergent condition. Group ids, sizes, extents of arrays, arguments and
// constants are uniform. A called function that has a barrier is a barrier, and is looked through
// likewise. Where work-items may leave a loop, or an iteration of it, under such a condition, they
// differ in all that the loop does, and meet again behind it.
#include <algorithm>
#include <set>
#include <utility>

#include "frontend/diagnose.h"
#include "frontend/parallel.h"
#include "frontend/scope.h"
#include "frontend/uniform.h"

namespace unisono::frontend {
namespace {

/// x.shape[k], which is no element: it differs where x or k do.
bool is_extent(const Node& e) {
    const Node& object = e.children[0];
    return object.kind == NodeKind::Attribute && object.text == "shape";
}

class Uniformity {
  public:
    /// `around`: the functions that called it. `misses`: is set, instead of an error, where a
    /// barrier may not be reached.
    Uniformity(const Source& source, std::set<std::string> divergent,
               std::vector<const Source*> around, bool* misses = nullptr)
        : source_(source),
          divergent_{std::move(divergent)},
          around_(std::move(around)),
          misses_(misses) {
        around_.push_back(&source);
        std::size_t before;
        do {
            before = divergent_.names.size();
            block(source.body, nullptr);
        } while (divergent_.names.size() != before);
        is_checking_ = true;
        left_early_ = nullptr;  // of what comes before a barrier
        block(source.body, nullptr);
    }

    const Divergence& divergence() const { return divergent_; }

  private:
    bool diverges(const Node& e) const { return divergent_.of(e); }

    void mark(const Node& target) {
        each_target(target, [&](const Node& name) { divergent_.names.insert(name.text); });
    }

    /// `cause` is the innermost divergent condition around the block, or null.
    void block(const Node& b, const Node* cause) {
        for (const Node& s : b.children) statement(s, cause);
    }

    void statement(const Node& s, const Node* cause) {
        if (is_checking_) calls(s, cause);
        switch (s.kind) {
            case NodeKind::Assign:
                for (std::size_t i = 0; i + 1 < s.children.size(); ++i) {
                    if (cause || diverges(s.children.back())) mark(s.children[i]);
                }
                return;
            case NodeKind::AugAssign:
                if (cause || diverges(s.children[1])) mark(s.children[0]);
                return;
            case NodeKind::For:
                if (cause || diverges(s.children[1])) mark(s.children[0]);
                return loop(s.children[2], diverges(s.children[1]) ? &s.children[1] : cause,
                            &s.children[0]);
            case NodeKind::While:
                return loop(s.children[1], diverges(s.children[0]) ? &s.children[0] : cause,
                            nullptr);
            case NodeKind::If: {
                const Node* inner = diverges(s.children[0]) ? &s.children[0] : cause;
                block(s.children[1], inner);
                return block(s.children[2], inner);
            }
            case NodeKind::Return:
                if (cause && !left_early_) left_early_ = cause;
                return;
            case NodeKind::Break:
            case NodeKind::Continue:
                if (cause && !loop_left_) loop_left_ = cause;
                return;
            case NodeKind::Evaluate: return barrier(s, cause);
            default: return;
        }
    }

    /// Calls in the expressions of a statement, not in the blocks that it holds.
    void calls(const Node& n, const Node* cause) {
        if (n.kind == NodeKind::Call && n.children[0].kind == NodeKind::Function) {
            if (const Source* callee = function_of(source_, n.children[0])) call(n, *callee, cause);
        }
        const bool chooses = n.kind == NodeKind::IfExp || n.kind == NodeKind::BoolOp;
        const Node* inner = chooses && diverges(n.children[0]) ? &n.children[0] : cause;
        for (const Node& child : n.children) {
            if (child.kind != NodeKind::Block) calls(child, inner);
        }
    }

    void call(const Node& n, const Source& callee, const Node* cause) {
        const bool recurs = std::find(around_.begin(), around_.end(), &callee) != around_.end();
        if (recurs || !has_barrier(callee)) return;
        refuse_unless_all(n.place, cause, callee.name);
        std::set<std::string> divergent;
        for (std::size_t k = 1; k < n.children.size(); ++k) {
            const Node& arg = n.children[k];
            if (!diverges(arg)) continue;
            if (arg.kind == NodeKind::Keyword) {
                divergent.insert(arg.text);
            } else if (k - 1 < callee.params.size()) {
                divergent.insert(callee.params[k - 1]);
            }
        }
        Uniformity check(callee, std::move(divergent), around_, misses_);
    }

  public:
    /// Each of the functions that call each other is looked at once.
    static bool has_barrier(const Source& source) {
        std::set<const Source*> seen{&source};
        return has_barrier(source, source.body, seen);
    }

  private:
    static bool has_barrier(const Source& source, const Node& n, std::set<const Source*>& seen) {
        if (n.kind == NodeKind::Builtin && names_barrier(n.text)) return true;
        if (n.kind == NodeKind::Function) {
            const Source* callee = function_of(source, n);
            if (callee && seen.insert(callee).second && has_barrier(*callee, callee->body, seen))
                return true;
        }
        return std::any_of(n.children.begin(), n.children.end(),
                           [&](const Node& c) { return has_barrier(source, c, seen); });
    }

    void loop(const Node& body, const Node* cause, const Node* target) {
        const Node* around = std::exchange(loop_left_, nullptr);
        const Node* before = left_early_;
        block(body, cause);
        if (left_early_ != before) block(body, cause);  // the next time others have left
        if (loop_left_ && !cause) {
            if (target) mark(*target);
            const bool was_leaving = std::exchange(is_leaving_, true);
            block(body, loop_left_);
            is_leaving_ = was_leaving;
        }
        loop_left_ = around;
    }

    void barrier(const Node& s, const Node* cause) const {
        const Node& e = s.children[0];
        bool is_barrier = e.kind == NodeKind::Call && e.children[0].kind == NodeKind::Builtin &&
                          names_barrier(e.children[0].text);
        if (is_barrier && is_checking_) refuse_unless_all(e.place, cause);
    }

    /// `called`: the function at the place, if the barrier is in one.
    void refuse_unless_all(const Place& place, const Node* cause,
                           const std::string& called = {}) const {
        const Node* why = cause ? cause : left_early_;
        if (!why) return;
        if (misses_) {
            *misses_ = true;
            return;
        }
        const std::string what =
            called.empty() ? "a barrier" : "a call of " + called + ", which has a barrier,";
        const std::string moved =
            called.empty() ? "move the barrier out of the branch or loop, so that every work-item "
                             "of the group passes it"
                           : "call it outside of the branch or loop, so that every work-item of "
                             "the group does; let a condition choose the values";
        refuse(source_, {place,
                         what + " that not every work-item of the group may reach",
                         {{why->place, cause && !is_leaving_
                                           ? "this condition may differ between work-items"
                                           : "work-items may leave early under this condition"}},
                         moved});
    }

    const Source& source_;
    Divergence divergent_;
    std::vector<const Source*> around_;
    bool* misses_;
    const Node* left_early_ = nullptr;  ///< a condition under which work-items return
    const Node* loop_left_ = nullptr;   ///< the same, of the loop around: break or continue
    bool is_leaving_ = false;
    bool is_checking_ = false;
};

}  // namespace

bool Divergence::of(const Node& e) const {
    if (e.kind == NodeKind::Name) return names.count(e.text) > 0;
    if (e.kind == NodeKind::Subscript && !is_extent(e)) return true;
    if (e.kind == NodeKind::Call && e.children[0].kind == NodeKind::Function) return true;
    if (e.kind == NodeKind::Builtin &&
        (e.text == "un.global_id" || e.text == "un.local_id" || e.text == "un.local_linear_id" ||
         e.text.rfind("atomic.", 0) == 0))
        return true;
    return std::any_of(e.children.begin(), e.children.end(),
                       [&](const Node& child) { return of(child); });
}

Divergence divergence_of(const Source& source) {
    bool misses = false;
    return Uniformity(source, {}, {}, &misses).divergence();
}

bool misses_barrier(const Source& source) {
    bool misses = false;
    Uniformity check(source, {}, {}, &misses);
    return misses;
}

bool reaches_barrier(const Source& source) { return Uniformity::has_barrier(source); }

void check_barriers(const Source& source) {
    for (const auto& nested : source.nested) {
        if (!reaches_barrier(*nested)) continue;
        refuse(*nested, {definition_place(*nested),
                         "a barrier in a function inside of a kernel",
                         {},
                         "write it in the kernel, or in a function of the module"});
    }
    Uniformity check(source, {}, {});
}

}  // namespace unisono::frontend
