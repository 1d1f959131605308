// Emits counted loops, already rotated: a guard, then a body that tests at its end.
#include <llvm/IR/MDBuilder.h>

#include "backends/llvm/emitter.h"
#include "ir/rewrite.h"

namespace unisono::codegen {

using ir::LoopKind;

namespace {

bool is_constant(ir::E e, std::int64_t value) {
    return e->kind == ir::ExprKind::Const && static_cast<std::int64_t>(e->bits) == value;
}

/// Iterations between two questions: some milliseconds of the simplest ones.
constexpr std::int64_t strip = 1 << 24;

/// Whether e is below limit, as its text shows.
bool is_below(ir::E e, std::int64_t limit) {
    if (e->kind == ir::ExprKind::Const) return static_cast<std::int64_t>(e->bits) < limit;
    return e->kind == ir::ExprKind::Binary && e->op == Op::Min &&
           std::any_of(e->args.begin(), e->args.end(), [&](ir::E a) { return is_below(a, limit); });
}

/// Iterations of this kind never depend on each other within one thread.
bool is_independent(LoopKind kind) {
    return kind == LoopKind::Parallel || kind == LoopKind::Vector || kind == LoopKind::Group ||
           kind == LoopKind::Item;
}

bool reads(ir::E e, int var) {
    return (e->kind == ir::ExprKind::Var && e->id == var) ||
           std::any_of(e->args.begin(), e->args.end(), [&](ir::E a) { return reads(a, var); });
}

/// Whether the variable counts in strides that are not known.
bool strides(ir::E e, int var) {
    if (e->kind == ir::ExprKind::Binary && e->op == Op::Mul) {
        bool first = reads(e->args[0], var);
        ir::E by = e->args[first ? 1 : 0];
        return (first || reads(e->args[1], var)) && by->kind != ir::ExprKind::Const;
    }
    return std::any_of(e->args.begin(), e->args.end(), [&](ir::E a) { return strides(a, var); });
}

int strided_loads(ir::E e, int var) {
    bool here = e->kind == ir::ExprKind::Load && e->access == ir::Access::Linear &&
                strides(e->args[0], var);
    int count = here ? 1 : 0;
    for (ir::E a : e->args) count += strided_loads(a, var);
    return count;
}

/// Elements of this loop read parts of rows that lie apart (see unroll_and_jam): vectors would
/// gather each, while one by one they share lines and overlap.
bool reads_rows(ir::S s) {
    constexpr int several = 8;
    std::vector<ir::S> body;
    ir::flatten(s->body, body);
    int count = 0;
    for (ir::S b : body) {
        if (!b->body.empty()) return false;
        for (ir::E e : b->args) count += strided_loads(e, s->id);
    }
    return count >= several;
}

/// Loads and operations of a value that a processor computes in the time of one rounded addition,
/// counted; more than that where anything else is in it.
constexpr int within_an_addition = 4;
int light_operations(ir::E e) {
    switch (e->kind) {
        case ir::ExprKind::Const:
        case ir::ExprKind::Var:
        case ir::ExprKind::Param: return 0;
        case ir::ExprKind::Load: return is_complex(e->dtype) ? within_an_addition + 1 : 1;
        case ir::ExprKind::Binary:
            if (is_float(e->dtype) && (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul))
                return 1 + light_operations(e->args[0]) + light_operations(e->args[1]);
            [[fallthrough]];
        default: return within_an_addition + 1;
    }
}

/// Whether all that the loop does is to add to variables, in order and each time rounded: vectors
/// would wait for the same additions one after another, and their code takes longer to compile.
bool adds_in_order(ir::S s) {
    std::vector<ir::S> body;
    ir::flatten(s->body, body);
    return !body.empty() && std::all_of(body.begin(), body.end(), [](ir::S b) {
        if (b->kind != ir::StmtKind::Assign || !is_float(b->args[0]->dtype)) return false;
        ir::E sum = b->args[0];
        if (sum->kind != ir::ExprKind::Binary || sum->op != Op::Add) return false;
        for (int k = 0; k < 2; ++k) {
            ir::E own = sum->args[static_cast<std::size_t>(k)];
            ir::E other = sum->args[static_cast<std::size_t>(1 - k)];
            if (own->kind == ir::ExprKind::Var && own->id == b->id && !reads(other, b->id))
                return light_operations(other) <= within_an_addition;
        }
        return false;
    });
}

/// Of a vector loop of few iterations, a known number: the vectors that take them all at once.
std::uint32_t whole_vectors(const ir::Function& f, ir::S s) {
    constexpr std::uint64_t vector_bytes = 64;
    constexpr std::uint64_t most = 8;
    bool is_known = s->loop == LoopKind::Vector && is_constant(s->args[0], 0) &&
                    s->args[1]->kind == ir::ExprKind::Const;
    std::vector<ir::S> body;
    if (is_known) ir::flatten(s->body, body);
    if (body.empty() || body.back()->kind != ir::StmtKind::Store) return 0;
    const ir::Array& stored = f.arrays[static_cast<std::size_t>(body.back()->id)];
    std::uint64_t bytes = s->args[1]->bits * static_cast<std::uint64_t>(size_of(stored.dtype));
    if (bytes == vector_bytes / 2) return 1;
    bool fits = bytes % vector_bytes == 0 && bytes <= most * vector_bytes;
    return fits ? static_cast<std::uint32_t>(bytes / vector_bytes) : 0;
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
    bool outer_order = std::exchange(any_order_, s->any_order);
    Value* begin = emit(s->args[0]);
    auto body = [&](Value* value) {
        if (s->numbers && iteration_) iteration_ = value;
        b_.CreateStore(value, variable(s->id));
        emit_all(s->body);
    };
    if (is_constant(s->args[2], 1)) {
        Value* end = emit(s->args[1]);
        if (streams(s)) {
            streaming_loop(s, begin, end);
        } else {
            striped_loop(s, begin, end, body);
        }
    } else {
        Value* step = emit(s->args[2]);
        Value* trips = trip_count(s);
        striped_loop(s, int64(0), trips,
                     [&](Value* k) { body(b_.CreateAdd(begin, b_.CreateMul(k, step))); });
    }
    any_order_ = outer_order;
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

/// for (value = begin; value < end; ++value) body(value), with the enclosing statement's promises;
/// a break goes to `past`, if there is one.
void FunctionEmitter::loop(LoopKind kind, Value* begin, Value* end,
                           llvm::function_ref<void(Value*)> emit_body, ir::Line line,
                           llvm::BasicBlock* past) {
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
    loops_.push_back({next, past ? past : after});
    cache_.clear();
    int inner = loops_emitted_;
    Value* outer_iteration = iteration_;
    emit_body(value);
    loops_.pop_back();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    mark(line);
    if (loops_emitted_ > inner) poll_interrupt(line);
    ++loops_emitted_;
    Value* following = b_.CreateNSWAdd(value, int64(1));
    value->addIncoming(following, b_.GetInsertBlock());
    auto* latch = b_.CreateCondBr(b_.CreateICmpSLT(following, end), body, after);
    finish_loop(latch, kind,
                groups_.empty() || !is_independent(kind)
                    ? nullptr
                    : llvm::cast<llvm::MDNode>(groups_.back()));
    b_.SetInsertPoint(after);
    iteration_ = outer_iteration;  // the body's is not known here
    if (!loops_.empty()) count_work(b_.CreateSub(end, begin));
    cache_.clear();
}

/// Adds to the iterations since the user was asked; functions of the tape are never asked.
void FunctionEmitter::count_work(Value* more) {
    if (!f_.polls || m_.for_device()) return;
    if (!work_) {
        work_ = local(m_.i64, "work");
        llvm::IRBuilder<> at(&fn_->getEntryBlock(), std::next(work_->getIterator()));
        at.CreateStore(int64(0), work_);
    }
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(m_.i64, work_), more), work_);
}

/// One more iteration; after about a million of them the user may have asked to stop.
void FunctionEmitter::poll_interrupt(ir::Line line) {
    if (!f_.polls || m_.for_device()) return;
    count_work(int64(1));
    llvm::BasicBlock* ask = block("ask");
    llvm::BasicBlock* on = block("go_on");
    Value* is_due = b_.CreateICmpUGT(b_.CreateLoad(m_.i64, work_), int64(1 << 20));
    b_.CreateCondBr(is_due, ask, on, llvm::MDBuilder(m_.context).createBranchWeights(1, 1 << 20));
    b_.SetInsertPoint(ask);
    b_.CreateStore(int64(0), work_);
    ask_user(line, on);
    b_.SetInsertPoint(on);
}

/// Goes on at a block, unless the user asks to stop.
void FunctionEmitter::ask_user(ir::Line line, llvm::BasicBlock* on) {
    auto* type = llvm::FunctionType::get(m_.i64, {m_.ptr, m_.i64, m_.i64, m_.i64}, false);
    Value* answer = b_.CreateCall(
        m_.declare("unisono_poll_interrupt", type),
        {fault_, iteration_ ? iteration_ : int64(0), int64(line.line), int64(line.file)});
    exit_site_->addIncoming(int64(interrupted_site), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpEQ(answer, int64(0)), on, exit_);
}

/// A loop that contains no other one runs in strips, so that the user can be asked in between and
/// it stays as simple as it is. Of parallel loops, the run-time part makes the strips.
void FunctionEmitter::striped_loop(ir::S s, Value* begin, Value* end,
                                   llvm::function_ref<void(Value*)> body) {
    one_by_one_ = reads_rows(s) || s->loop == LoopKind::Unroll ||
                  (!m_.target.fastmath && s->loop == LoopKind::Serial && adds_in_order(s));
    in_flight_ = whole_vectors(f_, s);
    lanes_ = in_flight_ ? static_cast<std::uint32_t>(s->args[1]->bits) / in_flight_ : 0;
    bool is_short = !is_below(s->args[0], 0) && s->args[0]->kind == ir::ExprKind::Const &&
                    is_below(s->args[1], strip);
    auto inside = [&](ir::StmtKind kind) {
        return std::any_of(s->body.begin(), s->body.end(),
                           [&](ir::S b) { return ir::contains(b, kind); });
    };
    bool is_plain = !inside(ir::StmtKind::For) && !inside(ir::StmtKind::While);
    bool is_kind = s->loop == LoopKind::Serial;
    bool is_outermost = loops_.empty() || s->numbers;
    if (!f_.polls || m_.for_device() || is_short || !is_plain || !is_kind) {
        return loop(s->loop, begin, end, body, s->line);
    }
    bool is_first = is_outermost && !inside(ir::StmtKind::Break);
    if (!is_first || (index_ != 0 && !f_.is_deferred)) {
        if (!bounds_) bounds_.emplace(f_);
        if (bounds_->ends_soon(s))
            loop(s->loop, begin, end, body, s->line);
        else
            rare_strips(s, begin, end, body);
    }
    if (!is_first) return;
    if (index_ != 0 && !f_.is_deferred) {
        // Often inlined into a hot loop of the caller, whose iterations then count for more.
        count_work(
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(end, begin), int64(0)));
        return poll_interrupt(s->line);
    }
    loop(
        LoopKind::Serial, int64(0),
        b_.CreateAShr(b_.CreateAdd(b_.CreateSub(end, begin), int64(strip - 1)), int64(24)),
        [&](Value* k) {
            Value* from = b_.CreateAdd(begin, b_.CreateShl(k, int64(24)));
            Value* to = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                 b_.CreateAdd(from, int64(strip)), end);
            loop(s->loop, from, to, body, s->line);
        },
        s->line);
}

/// Strips of a loop that seldom has more than one: an inner one, where all that they cost between
/// two runs of it is a test.
void FunctionEmitter::rare_strips(ir::S s, Value* begin, Value* end,
                                  llvm::function_ref<void(Value*)> body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* one = block("strip");
    llvm::BasicBlock* ask = block("strip.ask");
    llvm::BasicBlock* next = block("strip.next");
    llvm::BasicBlock* after = block("strip.end");
    b_.CreateBr(one);
    b_.SetInsertPoint(one);
    llvm::PHINode* from = b_.CreatePHI(m_.i64, 2);
    from->addIncoming(begin, before);
    Value* count =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(end, from), int64(strip));
    Value* to = b_.CreateNSWAdd(from, count);
    loop(s->loop, from, to, body, s->line, after);
    b_.CreateCondBr(b_.CreateICmpSLT(to, end), ask, after,
                    llvm::MDBuilder(m_.context).createBranchWeights(1, 1 << 20));
    b_.SetInsertPoint(ask);
    ask_user(s->line, next);
    b_.SetInsertPoint(next);
    b_.CreateBr(one);
    from->addIncoming(to, next);
    b_.SetInsertPoint(after);
}

void FunctionEmitter::finish_loop(llvm::BranchInst* latch, LoopKind kind, llvm::MDNode* group) {
    auto text = [&](const char* s) { return llvm::MDString::get(m_.context, s); };
    std::vector<llvm::Metadata*> list{nullptr};
    if (group)
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.parallel_accesses"), group}));
    if (streaming_ || in_flight_ > 0) {
        llvm::Metadata* count =
            llvm::ConstantAsMetadata::get(b_.getInt32(streaming_ ? 1 : in_flight_));
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.interleave.count"), count}));
    }
    if (lanes_ > 0) {
        llvm::Metadata* width = llvm::ConstantAsMetadata::get(b_.getInt32(lanes_));
        list.push_back(llvm::MDNode::get(m_.context, {text("llvm.loop.vectorize.width"), width}));
    }
    if (one_by_one_) {
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
