// Finds blocks that are kept for one slot only, and gives the slot none.
#include "passes/cleanup/borrowed_blocks.h"

#include <algorithm>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

/// How often variables and blocks are used, and whether nothing in the function lets go of memory.
class Uses final : public Visitor {
  public:
    explicit Uses(const Function& f, std::int32_t keep)
        : reads(f.vars.size()),
          writes(f.vars.size()),
          points(f.arrays.size()),
          seen(f.arrays.size()),
          status(f.vars.size(), -1),
          f_(f),
          keep_(keep) {
        stmt(f.body);
    }

    std::vector<int> reads, writes;  ///< of variables
    std::vector<int> points;         ///< how often a slot gets memory
    std::vector<bool> seen;          ///< a slot whose block is used elsewhere
    /// Per variable: the status beside the block that it takes from a keep, or -1.
    std::vector<std::int32_t> status;
    bool is_simple = true;

    void expr(E e) override {
        if (e->kind == ExprKind::Var) ++reads[index(e->id)];
        if (e->kind == ExprKind::Memory && e->axis == 1) seen[index(e->id)] = true;
        children(e);
    }

    void stmt(S s) override {
        switch (s->kind) {
            case StmtKind::Declare:
            case StmtKind::Assign: ++writes[index(s->id)]; break;
            case StmtKind::Point:
                ++points[index(s->id)];
                for (std::int32_t from : s->arrays) seen[index(root(from))] = true;
                break;
            case StmtKind::Native:
                is_simple = is_simple && s->id == keep_;
                if (is_simple) status[index(s->outs[1])] = s->outs[0];
                for (std::int32_t out : s->outs) ++writes[index(out)];
                break;
            case StmtKind::Block:
            case StmtKind::Store:
            case StmtKind::If:
            case StmtKind::Return: break;
            default: is_simple = false;
        }
        children(s);
    }

  private:
    std::int32_t root(std::int32_t array) const {
        const Array& a = f_.arrays[index(array)];
        return a.is_view() ? a.base : array;
    }

    const Function& f_;
    std::int32_t keep_;
};

class Borrowed final : public Rewriter {
  public:
    Borrowed(Function& f, std::int32_t keep)
        : Rewriter(f), uses_(f, keep), keep_(keep), is_for_slot_(f.vars.size()) {
        if (uses_.is_simple) find(f.body);
    }

    bool found() const { return found_; }

    S stmt(S s) override {
        if (s->kind == StmtKind::Native && s->id == keep_ && is_for_slot_[index(s->outs[1])])
            return nullptr;
        if (is_borrowing(s)) return b_.adopt(s->id, s->args[0], b_.i64(0));
        return children(s);
    }

  private:
    /// A slot's memory with a block of which nothing but the slot knows.
    bool is_borrowing(S s) const {
        if (s->kind != StmtKind::Point || s->args.size() != 2) return false;
        E block = s->args[1];
        return block->kind == ExprKind::Var && is_for_slot_[index(block->id)];
    }

    void find(S s) {
        if (s->kind == StmtKind::Point && s->args.size() == 2 &&
            s->args[1]->kind == ExprKind::Var && is_only_of(s->args[1]->id, s->id))
            found_ = is_for_slot_[index(s->args[1]->id)] = true;
        for (S t : s->body) find(t);
        for (S t : s->orelse) find(t);
    }

    /// Whether the variable takes a kept block once, which goes to this slot and nowhere else.
    bool is_only_of(std::int32_t block, std::int32_t slot) const {
        std::int32_t status = uses_.status[index(block)];
        // Declared, and set by the keep.
        return status >= 0 && uses_.writes[index(block)] == 2 && uses_.reads[index(block)] == 1 &&
               uses_.reads[index(status)] == 0 && uses_.points[index(slot)] == 1 &&
               !uses_.seen[index(slot)];
    }

    Uses uses_;
    std::int32_t keep_;
    std::vector<bool> is_for_slot_;  ///< variables with a block that is kept for a slot alone
    bool found_ = false;
};

}  // namespace

void borrowed_blocks(Module& module) {
    for (Function& f : module.functions) {
        auto keep = std::find(f.natives.begin(), f.natives.end(), "block_keep");
        if (!f.body || keep == f.natives.end()) continue;
        Borrowed borrowed(f, static_cast<std::int32_t>(keep - f.natives.begin()));
        if (borrowed.found()) borrowed.run();
    }
}

}  // namespace unisono::passes
