// Emits counted loops, already rotated: a guard, then a body that tests at its end.
#include "backends/llvm/emitter.h"

namespace unisono::codegen {

using ir::LoopKind;

namespace {

bool is_constant(ir::E e, std::int64_t value) {
    return e->kind == ir::ExprKind::Const && static_cast<std::int64_t>(e->bits) == value;
}

/// Iterations of this kind never depend on each other within one thread.
bool is_independent(LoopKind kind) {
    return kind == LoopKind::Parallel || kind == LoopKind::Vector || kind == LoopKind::Group ||
           kind == LoopKind::Item;
}

}  // namespace

void FunctionEmitter::emit_for(ir::S s) {
    bool shared = s->loop == LoopKind::Parallel || s->loop == LoopKind::Group;
    if (shared && !m_.for_device() && !iteration_ && groups_.empty()) {
        emit_parallel(s);
    } else {
        loop_of(s, is_independent(s->loop));
    }
    cache_.clear();
}

/// The loop of a For statement, in this function.
void FunctionEmitter::loop_of(ir::S s, bool independent) {
    if (independent) {
        groups_.push_back(llvm::MDNode::getDistinct(m_.context, {}));
        made_in_.emplace_back(f_.arrays.size(), false);
    }
    Value* begin = emit(s->args[0]);
    auto body = [&](Value* value) {
        b_.CreateStore(value, variable(s->id));
        emit_all(s->body);
    };
    if (is_constant(s->args[2], 1)) {
        Value* end = emit(s->args[1]);
        if (streams(s)) {
            streaming_loop(s, begin, end);
        } else {
            loop(s->loop, begin, end, body);
        }
    } else {
        Value* step = emit(s->args[2]);
        Value* trips = trip_count(s);
        loop(s->loop, int64(0), trips,
             [&](Value* k) { body(b_.CreateAdd(begin, b_.CreateMul(k, step))); });
    }
    if (independent) {
        groups_.pop_back();
        made_in_.pop_back();
    }
}

/// Iterations of a For; none where the step is 0.
Value* FunctionEmitter::trip_count(ir::S s) {
    Value* begin = emit(s->args[0]);
    Value* end = emit(s->args[1]);
    if (is_constant(s->args[2], 1)) {
        return b_.CreateSelect(b_.CreateICmpSLT(begin, end), b_.CreateSub(end, begin), int64(0));
    }
    Value* step = emit(s->args[2]);
    Value* rising = b_.CreateICmpSGT(step, int64(0));
    Value* distance = b_.CreateSelect(rising, b_.CreateSub(end, begin), b_.CreateSub(begin, end));
    Value* runs =
        b_.CreateSelect(rising, b_.CreateICmpSLT(begin, end), b_.CreateICmpSLT(end, begin));
    runs = b_.CreateAnd(runs, b_.CreateICmpNE(step, int64(0)));
    Value* size = b_.CreateSelect(rising, step, b_.CreateNeg(step));
    size = b_.CreateSelect(runs, size, int64(1));
    Value* trips = b_.CreateAdd(b_.CreateUDiv(b_.CreateSub(distance, int64(1)), size), int64(1));
    return b_.CreateSelect(runs, trips, int64(0));
}

/// for (value = begin; value < end; ++value) body(value), with the enclosing statement's promises.
void FunctionEmitter::loop(LoopKind kind, Value* begin, Value* end,
                           llvm::function_ref<void(Value*)> emit_body) {
    llvm::BasicBlock* before = block("loop.enter");
    llvm::BasicBlock* body = block("loop");
    llvm::BasicBlock* next = block("loop.next");
    llvm::BasicBlock* after = block("loop.end");
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), before, after);
    b_.SetInsertPoint(before);
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    llvm::PHINode* value = b_.CreatePHI(m_.i64, 2);
    value->addIncoming(begin, before);
    loops_.push_back({next, after});
    cache_.clear();
    emit_body(value);
    loops_.pop_back();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    Value* following = b_.CreateNSWAdd(value, int64(1));
    value->addIncoming(following, next);
    auto* latch = b_.CreateCondBr(b_.CreateICmpSLT(following, end), body, after);
    finish_loop(latch, kind,
                groups_.empty() || !is_independent(kind)
                    ? nullptr
                    : llvm::cast<llvm::MDNode>(groups_.back()));
    b_.SetInsertPoint(after);
    cache_.clear();
}

void FunctionEmitter::finish_loop(llvm::BranchInst* latch, LoopKind kind, llvm::MDNode* group) {
    auto text = [&](const char* s) { return llvm::MDString::get(m_.context, s); };
    std::vector<llvm::Metadata*> list{nullptr};
    if (group)
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.parallel_accesses"), group}));
    if (streaming_) {
        llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.interleave.count"), one}));
    }
    if (peeling_) {
        llvm::Metadata* no = llvm::ConstantAsMetadata::get(b_.getFalse());
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.vectorize.enable"), no}));
    }
    if (kind == LoopKind::Unroll)
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.unroll.full")}));
    if (list.size() == 1) return;
    llvm::MDNode* node = llvm::MDNode::getDistinct(m_.context, list);
    node->replaceOperandWith(0, node);
    latch->setMetadata(llvm::LLVMContext::MD_loop, node);
}

}  // namespace unisono::codegen
