// Stores that bypass the caches.
//
// A store of part of a line makes the processor read the line first, and a non-temporal store of
// part of a line is slower still. So the loop's first elements, up to a line boundary of the
// destination, are peeled off; in the rest, which the vectoriser turns into whole vectors, the
// stores carry a marker: an access group of its own, the only metadata of ours that survives
// vectorisation. The pass MarkStreaming then makes marked vector stores
// non-temporal, and prefetches what the loop reads: without it they gain nothing.
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/emitter.h"
#include "backends/llvm/transforms/mark_streaming.h"

namespace unisono::codegen {

namespace {

constexpr std::int64_t line_bytes = 64;
constexpr std::int64_t streaming_bytes = 4096;  ///< shorter loops store through the caches

/// The constant by which e grows when the variable grows by 1; nothing where that is not certain.
/// `fixed` says which variables do not change inside the loop.
template <class Fixed>
std::optional<std::int64_t> growth(ir::E e, int var, const Fixed& fixed) {
    using ir::ExprKind;
    switch (e->kind) {
        case ExprKind::Const:
        case ExprKind::Param: return 0;
        case ExprKind::Var:
            if (e->id == var) return 1;
            return fixed(e->id) ? std::optional<std::int64_t>(0) : std::nullopt;
        case ExprKind::Binary: {
            auto a = growth(e->args[0], var, fixed);
            auto b = growth(e->args[1], var, fixed);
            if (!a || !b) return std::nullopt;
            if (e->op == Op::Add) return *a + *b;
            if (e->op == Op::Sub) return *a - *b;
            if (*a == 0 && *b == 0) return 0;
            if (e->op != Op::Mul) return std::nullopt;
            for (int k : {0, 1}) {
                ir::E constant = e->args[static_cast<std::size_t>(k)];
                if (constant->kind == ExprKind::Const)
                    return static_cast<std::int64_t>(constant->bits) * (k == 0 ? *b : *a);
            }
            return std::nullopt;
        }
        default: return std::nullopt;
    }
}

template <class F>
void walk(std::span<const ir::S> list, const F& visit) {
    for (ir::S s : list) {
        visit(s);
        walk(s->body, visit);
        walk(s->orelse, visit);
    }
}

}  // namespace

/// Whether a loop streams: an innermost independent loop with streaming stores, each to
/// neighbouring elements and not under a condition.
bool FunctionEmitter::streams(ir::S s) const {
    if (!m_.target.streaming || m_.for_device()) return false;
    if (s->loop != ir::LoopKind::Vector && s->loop != ir::LoopKind::Parallel) return false;
    bool innermost = true, any = false;
    std::vector<bool> changes(f_.vars.size(), false);
    walk(s->body, [&](ir::S inner) {
        using ir::StmtKind;
        if (inner->kind == StmtKind::For || inner->kind == StmtKind::While ||
            inner->kind == StmtKind::Call || inner->kind == StmtKind::Try ||
            inner->kind == StmtKind::Return || inner->kind == StmtKind::Break ||
            inner->kind == StmtKind::Continue) {
            innermost = false;
        }
        if (inner->kind == StmtKind::Declare || inner->kind == StmtKind::Assign)
            changes[static_cast<std::size_t>(inner->id)] = true;
        any = any || (inner->kind == StmtKind::Store && inner->streaming);
    });
    if (!innermost || !any) return false;
    auto fixed = [&](int id) { return !changes[static_cast<std::size_t>(id)]; };
    bool good = true;
    std::span<const ir::S> list = s->body;
    while (list.size() == 1 && list[0]->kind == ir::StmtKind::Block) list = list[0]->body;
    std::size_t at_top = 0, all = 0;
    for (ir::S inner : list) {
        if (inner->kind != ir::StmtKind::Store || !inner->streaming) continue;
        ++at_top;
        good = good && inner->access == ir::Access::Linear &&
               growth(inner->args[0], s->id, fixed) == 1;
    }
    walk(list, [&](ir::S inner) { all += inner->kind == ir::StmtKind::Store && inner->streaming; });
    return good && at_top == all;
}

void FunctionEmitter::streaming_loop(ir::S s, Value* begin, Value* end) {
    streamed_ = true;
    fn_->addFnAttr(streams_attribute);
    // Only the first store's lines are aligned; others stay ordinary stores.
    ir::S store = nullptr;
    walk(s->body, [&](ir::S inner) {
        if (!store && inner->kind == ir::StmtKind::Store && inner->streaming) store = inner;
    });
    DType t = f_.arrays[static_cast<std::size_t>(store->id)].dtype;
    auto size = static_cast<std::uint64_t>(size_of(t));
    auto body = [&](Value* value) {
        b_.CreateStore(value, variable(s->id));
        emit_all(s->body);
    };
    b_.CreateStore(begin, variable(s->id));
    Value* target = b_.CreateInBoundsGEP(
        m_.memory_type(t), arrays_[static_cast<std::size_t>(store->id)].base, emit(store->args[0]));
    Value* to_line =
        b_.CreateAnd(b_.CreateNeg(b_.CreatePtrToInt(target, m_.i64)), int64(line_bytes - 1));
    Value* width = int64(static_cast<std::int64_t>(size));
    Value* peeled = b_.CreateAdd(begin, b_.CreateUDiv(to_line, width));
    // Elements that are not aligned to their own size never reach a line boundary.
    Value* reaches = b_.CreateICmpEQ(b_.CreateURem(to_line, width), int64(0));
    peeled = b_.CreateSelect(reaches, peeled, end);
    // Neighbouring short rows share lines, which stores of both kinds would fetch and evict in
    // turns.
    Value* is_short = b_.CreateICmpSLT(b_.CreateSub(end, begin),
                                       int64(streaming_bytes / static_cast<std::int64_t>(size)));
    peeled = b_.CreateSelect(is_short, end, peeled);
    Value* middle = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, peeled, end);
    loop(s->loop, begin, middle, body);
    streaming_ = store;
    loop(s->loop, middle, end, body);
    streaming_ = nullptr;
}

/// Non-temporal stores become visible to other threads only after a fence.
void FunctionEmitter::fence_if_streamed() {
    if (streamed_) b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
}

}  // namespace unisono::codegen
