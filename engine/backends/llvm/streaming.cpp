// Stores that bypass the caches: strips of a loop go to a buffer in the first-level cache, and from
// there in whole cache lines to memory.
//
// A store of part of a line makes the processor read the line first, and a non-temporal store of
// part of a line is slower still. So the loop runs over strips of at most strip_bytes whose ends
// lie on line boundaries of the destination; the strip's body is the ordinary vectorised loop into
// a buffer with the destination's alignment, and unisono_stream_copy moves it out.
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

namespace {

constexpr std::int64_t strip_bytes = 4096;
constexpr std::int64_t line_bytes = 64;

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

/// Whether a loop is run in strips: an innermost independent loop with streaming stores, each to
/// neighbouring elements and not under a condition.
bool FunctionEmitter::streams(ir::S s) const {
    if (!m_.target.streaming || m_.for_device()) return false;
    if (s->loop != ir::LoopKind::Vector && s->loop != ir::LoopKind::Parallel) return false;
    bool innermost = true, any = false;
    std::vector<bool> changes(f_.vars.size(), false);
    walk(s->body, [&](ir::S inner) {
        using ir::StmtKind;
        if (inner->kind == StmtKind::For || inner->kind == StmtKind::While ||
            inner->kind == StmtKind::Call || inner->kind == StmtKind::Return ||
            inner->kind == StmtKind::Break || inner->kind == StmtKind::Continue) {
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
    std::vector<ir::S> stores;
    walk(s->body, [&](ir::S inner) {
        if (inner->kind == ir::StmtKind::Store && inner->streaming) stores.push_back(inner);
    });
    llvm::AllocaInst* position = local(m_.i64, "strip");
    llvm::BasicBlock* strips = block("strips");
    llvm::BasicBlock* strip = block("strip");
    llvm::BasicBlock* after = block("strips.end");
    b_.CreateStore(begin, position);
    b_.CreateBr(strips);
    b_.SetInsertPoint(strips);
    Value* first = b_.CreateLoad(m_.i64, position);
    b_.CreateCondBr(b_.CreateICmpSLT(first, end), strip, after);
    b_.SetInsertPoint(strip);
    cache_.clear();
    b_.CreateStore(first, variable(s->id));

    std::vector<Value*> targets,
        offsets;  // of the strip's first element: its address, its place in the buffer
    Value* last = nullptr;
    for (ir::S store : stores) {
        DType t = f_.arrays[static_cast<std::size_t>(store->id)].dtype;
        auto size = size_of(t);
        targets.push_back(b_.CreateInBoundsGEP(m_.memory_type(t),
                                               arrays_[static_cast<std::size_t>(store->id)].base,
                                               emit(store->args[0])));
        Value* in_line =
            b_.CreateAnd(b_.CreatePtrToInt(targets.back(), m_.i64), int64(line_bytes - 1));
        offsets.push_back(b_.CreateLShr(in_line, static_cast<std::uint64_t>(__builtin_ctzll(
                                                     static_cast<unsigned long long>(size)))));
        if (!last) {
            Value* room = b_.CreateSub(int64(strip_bytes / size), offsets.back());
            last = b_.CreateAdd(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, room,
                                                                b_.CreateSub(end, first)));
        }
    }
    for (std::size_t k = 0; k < stores.size(); ++k) {
        auto* buffer = local(llvm::ArrayType::get(m_.i8, strip_bytes * 8 + line_bytes), "buffer");
        buffer->setAlignment(llvm::Align(line_bytes));
        buffered_.push_back({stores[k], buffer, nullptr});
    }
    loop(s->loop, first, last, [&](Value* value) {
        b_.CreateStore(value, variable(s->id));
        for (std::size_t k = 0; k < stores.size(); ++k) {
            buffered_[k].shift = b_.CreateAdd(b_.CreateSub(value, first), offsets[k]);
        }
        emit_all(s->body);
    });
    for (std::size_t k = 0; k < stores.size(); ++k) {
        auto size =
            static_cast<int>(size_of(f_.arrays[static_cast<std::size_t>(stores[k]->id)].dtype));
        copy_out_strip(buffered_[k], targets[k], offsets[k], b_.CreateSub(last, first), size);
    }
    buffered_.clear();
    b_.CreateStore(last, position);
    b_.CreateBr(strips);
    b_.SetInsertPoint(after);
}

void FunctionEmitter::copy_out_strip(const Buffered& b, Value* target, Value* offset, Value* count,
                                     int size) {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {m_.ptr, m_.ptr, m_.i64}, false);
    Value* from =
        b_.CreateInBoundsGEP(b_.getIntNTy(static_cast<unsigned>(size) * 8), b.buffer, offset);
    b_.CreateCall(m_.declare("unisono_stream_copy", type),
                  {target, from, b_.CreateMul(count, int64(size))});
}

/// Non-temporal stores become visible to other threads only after a fence.
void FunctionEmitter::fence_if_streamed() {
    if (streamed_) b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
}

}  // namespace unisono::codegen
