#include "passes/kernels/stage_streams.h"

#include <algorithm>
#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

using namespace ir;

namespace {

class Stager final : public Rewriter {
  public:
    Stager(Function& f, S loop, std::int32_t first, std::int64_t length)
        : Rewriter(f), loop_(loop), first_(first), length_(length), written_(f.vars.size()) {
        b_.line = loop->line;
        mark_written(loop, written_);
        class Reads final : public Visitor {
          public:
            std::vector<std::int32_t> arrays;
            void expr(E e) override {
                if (e->kind == ExprKind::Load) arrays.push_back(e->id);
                children(e);
            }
        } reads;
        reads.stmt(loop);
        read_ = std::move(reads.arrays);
    }

    S staged() {
        const S loop = children(loop_);
        if (copies_.empty()) return loop_;
        std::vector<S> all = allocations_;
        all.push_back(loop);
        all.insert(all.end(), copies_.begin(), copies_.end());
        return b_.block(all);
    }

    S stmt(S s) override {
        if (s->kind == StmtKind::If) return s;  // not in each iteration
        if (s->kind != StmtKind::Store || !can_stage(s)) return children(s);
        const DType t = function().arrays[static_cast<std::size_t>(s->id)].dtype;
        const std::int32_t stage =
            b_.local_array(function().arrays[static_cast<std::size_t>(s->id)].name + "_staged", t,
                           1, Space::Private);
        const E size[] = {b_.i64(length_)}, to[] = {s->args[0]};
        const E at[] = {b_.sub(b_.read(loop_->id), b_.read(first_))};
        allocations_.push_back(b_.allocate(stage, size));
        Stmt copy = *loop_;
        const S body[] = {
            b_.store(s->id, to, b_.load(stage, at, Access::Linear), Access::Linear, true)};
        copy.body = b_.list(std::span<const S>(body));
        copies_.push_back(b_.own(copy));
        return b_.store(stage, at, s->args.back(), Access::Linear);
    }

  private:
    bool can_stage(S s) {
        const Array& a = function().arrays[static_cast<std::size_t>(s->id)];
        return s->streaming && s->access == Access::Linear && !is_complex(a.dtype) &&
               std::find(read_.begin(), read_.end(), s->id) == read_.end() && walks(s->args[0]);
    }
    /// Whether an index is the loop's variable and what no iteration changes.
    bool walks(E index) const {
        if (index->kind == ExprKind::Var && index->id == loop_->id) return true;
        if (index->kind != ExprKind::Binary || index->op != Op::Add) return false;
        const E a = index->args[0], b = index->args[1];
        return (walks(a) && is_fixed(b)) || (is_fixed(a) && walks(b));
    }
    bool is_fixed(E e) const {
        if (e->kind == ExprKind::Load) return false;
        if (e->kind == ExprKind::Var && written_[static_cast<std::size_t>(e->id)]) return false;
        return std::all_of(e->args.begin(), e->args.end(), [&](E a) { return is_fixed(a); });
    }

    S loop_;
    std::int32_t first_;
    std::int64_t length_;
    std::vector<bool> written_;  ///< variables; the loop's own one among them
    std::vector<std::int32_t> read_;
    std::vector<S> allocations_, copies_;
};

}  // namespace

S stage_streams(Function& f, S loop, std::int32_t first, std::int64_t length) {
    return Stager(f, loop, first, length).staged();
}

}  // namespace unisono::passes
