// Counts, for each axis, the accesses in which its id is added to the index without a factor.
#include "backends/c_source/axes.h"

#include <algorithm>
#include <array>
#include <map>

#include "ir/rewrite.h"

namespace unisono::c_source {
using namespace ir;

namespace {

class Votes final : public Visitor {
  public:
    std::array<int, 3> count{0, 0, 0};

    void expr(E e) override {
        if (e->kind == ExprKind::Load) vote(e->args.back(), 0);
        children(e);
    }
    void stmt(S s) override {
        if ((s->kind == StmtKind::Store || s->kind == StmtKind::Atomic) && s->args.size() > 1)
            vote(s->args[s->args.size() - 2], 0);
        if (s->kind == StmtKind::Declare && !s->args.empty()) values_[s->id] = s->args[0];
        children(s);
    }

  private:
    void vote(E e, int depth) {
        if (depth > 16) return;
        switch (e->kind) {
            case ExprKind::WorkItem:
                if (e->query == WorkItemQuery::GlobalId || e->query == WorkItemQuery::LocalId)
                    ++count[static_cast<std::size_t>(e->axis)];
                return;
            case ExprKind::Var:
                if (auto value = values_.find(e->id); value != values_.end())
                    vote(value->second, depth + 1);
                return;
            case ExprKind::Select:  // a wrapped index: i < 0 ? i + n : i
                vote(e->args[2], depth + 1);
                return;
            case ExprKind::Binary:
                if (e->op != Op::Add && e->op != Op::Sub) return;
                for (E a : e->args) vote(a, depth + 1);
                return;
            default: return;
        }
    }

    std::map<std::int32_t, E> values_;
};

}  // namespace

int fastest_axis(const Function& kernel) {
    Votes votes;
    votes.stmt(kernel.body);
    auto end = votes.count.begin() + kernel.dimensions;
    return static_cast<int>(std::max_element(votes.count.begin(), end) - votes.count.begin());
}

}  // namespace unisono::c_source
