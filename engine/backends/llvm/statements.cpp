// Emits statements but for loops, and a function's frame: its locals, its one exit.
#include <cstddef>

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include "backends/llvm/emitter.h"
#include "ir/atomics.h"
#include "ir/fence.h"
#include "ir/rewrite.h"
#include "ir/shuffle.h"

namespace unisono::codegen {

using ir::StmtKind;

FunctionEmitter::FunctionEmitter(ModuleEmitter& module, const ir::Function& f, int index)
    : m_(module),
      f_(f),
      index_(index),
      b_(module.context),
      params_(f.params.size()),
      arrays_(f.arrays.size()),
      slots_(f.arrays.size()),
      vars_(f.vars.size()) {
    if (!module.target.fastmath) return;
    llvm::FastMathFlags flags;  // but NaN and infinities stay what they are
    flags.setAllowReassoc();
    flags.setAllowContract();
    flags.setAllowReciprocal();
    flags.setNoSignedZeros();
    flags.setApproxFunc();
    b_.setFastMathFlags(flags);
}

llvm::BasicBlock* FunctionEmitter::block(const char* name) {
    return llvm::BasicBlock::Create(m_.context, name, fn_);
}

void FunctionEmitter::start(llvm::Function* into) {
    fn_ = into;
    m_.describe_function(into, f_);
    if (f_.body) mark(f_.body->line);
    llvm::BasicBlock* first = block("entry");
    exit_ = block("exit");
    b_.SetInsertPoint(exit_);
    exit_site_ = b_.CreatePHI(m_.i64, 4, "site");
    end_ = exit_;
    end_site_ = exit_site_;
    b_.SetInsertPoint(first);
}

/// Ends the body (with "no fault") and fills the exit block.
void FunctionEmitter::finish() {
    if (f_.body) mark(f_.body->line);
    leave_with(int64(-1));
    llvm::BasicBlock* last = b_.GetInsertBlock();
    last->eraseFromParent();  // the empty block after the branch
    b_.SetInsertPoint(exit_);
    for (llvm::AllocaInst* slot : scratch_) {
        auto* type = llvm::FunctionType::get(b_.getVoidTy(), {m_.ptr}, false);
        b_.CreateCall(m_.declare("unisono_scratch_free", type), {b_.CreateLoad(m_.ptr, slot)});
    }
    give_back(given_back_);
    release_slots();
    fence_if_streamed();
    b_.CreateRet(exit_site_);
}

void FunctionEmitter::emit_function(llvm::Function* into) {
    start(into);
    std::vector<Value*> args;
    for (llvm::Argument& a : into->args()) args.push_back(&a);
    emit_body(args);
}

/// `args` as the module's signature for f lists them.
void FunctionEmitter::emit_body(std::span<Value* const> args) {
    auto arg = args.begin();
    fault_ = *arg++;
    if (m_.for_device()) range_ = *arg++;
    for (std::size_t p = 0; p < f_.params.size(); ++p) {
        if (!f_.params[p].is_array()) {
            params_[p] = *arg++;
            continue;
        }
        ArrayValue& a = arrays_[static_cast<std::size_t>(f_.params[p].array)];
        int rank = f_.arrays[static_cast<std::size_t>(f_.params[p].array)].rank;
        a.base = *arg++;
        for (int k = 0; k < rank; ++k) a.extents.push_back(*arg++);
        for (int k = 0; k < rank; ++k) a.strides.push_back(*arg++);
        // No extent is negative: the two tests of an index become one.
        const llvm::ConstantRange natural(llvm::APInt(64, 0), llvm::APInt::getSignedMinValue(64));
        for (Value* extent : a.extents) {
            if (auto* given = llvm::dyn_cast<llvm::Argument>(extent))
                given->addAttr(llvm::Attribute::get(m_.context, llvm::Attribute::Range, natural));
            else if (auto* read = llvm::dyn_cast<llvm::LoadInst>(extent))
                read->setMetadata(llvm::LLVMContext::MD_range,
                                  llvm::MDBuilder(m_.context)
                                      .createRange(natural.getLower(), natural.getUpper()));
        }
    }
    for (std::size_t r = 0; r < f_.results.size(); ++r) results_.push_back(*arg++);
    if (m_.for_device() && is_device_kernel(f_)) {
        for (const Scratch& s : scratch_of(f_)) shared_[s.array] = *arg++;
        for (const std::int32_t k : slots_of(f_))
            arrays_[static_cast<std::size_t>(k)].base = *arg++;
    }
    make_scopes();
    plan_parts();
    if (f_.body) emit(f_.body);
    finish();
}

llvm::AllocaInst* FunctionEmitter::local(llvm::Type* type, const char* name, Value* count) {
    llvm::BasicBlock& first = fn_->getEntryBlock();
    llvm::IRBuilder<> at(&first, first.begin());
    return at.CreateAlloca(type, count, name);
}

llvm::AllocaInst* FunctionEmitter::variable(int id) {
    auto& slot = vars_[static_cast<std::size_t>(id)];
    const ir::Var& v = f_.vars[static_cast<std::size_t>(id)];
    if (!slot) slot = local(m_.type(v.dtype), v.name.c_str());
    return slot;
}

void FunctionEmitter::emit_all(std::span<const ir::S> list) {
    if (is_long_ && divides(list)) return emit_in_parts(list);
    for (ir::S s : list) emit(s);
}

void FunctionEmitter::emit(ir::S s) {
    cache_.clear();
    mark(s->line);
    switch (s->kind) {
        case StmtKind::Block: emit_all(s->body); break;
        case StmtKind::Declare:
            // Undefined until assigned: said explicitly, so that no value is carried from one
            // iteration to the next.
            b_.CreateStore(s->args.empty()
                               ? llvm::UndefValue::get(variable(s->id)->getAllocatedType())
                               : emit(s->args[0]),
                           variable(s->id));
            break;
        case StmtKind::Assign: emit_assign(s); break;
        case StmtKind::Store: {
            Value* value = emit(s->args.back());
            auto indices = s->args.first(s->args.size() - 1);
            Value* where =
                s->access == ir::Access::Linear
                    ? b_.CreateInBoundsGEP(
                          m_.memory_type(f_.arrays[static_cast<std::size_t>(s->id)].dtype),
                          base_of(s->id), emit(indices[0]))
                    : address(s->id, indices);
            store_value(s->id, part_of(s->id, where, s->axis), value, s == streaming_);
            break;
        }
        case StmtKind::Atomic: emit_atomic(s); break;
        case StmtKind::Allocate: emit_allocate(s); break;
        case StmtKind::Make: emit_make(s); break;
        case StmtKind::Point: emit_point(s); break;
        case StmtKind::Retain: emit_retain(s); break;
        case StmtKind::For: emit_for(s); break;
        case StmtKind::While: emit_while(s); break;
        case StmtKind::If: emit_if(s); break;
        case StmtKind::Break:
            UNISONO_ASSERT(!loops_.empty());
            branch_away(loops_.back().leave);
            break;
        case StmtKind::Continue:
            UNISONO_ASSERT(!loops_.empty());
            branch_away(loops_.back().next);
            break;
        case StmtKind::Return: emit_return(s); break;
        case StmtKind::Prefetch: break;  // devices with cores alone gain from it
        case StmtKind::Barrier:
            if (ir::is_shuffle(s))
                device_shuffle(s);
            else if (ir::is_vote(s))
                device_vote(s);
            else if (!ir::is_fence(s))
                device_barrier();
            else if (m_.for_device())
                b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::nvvm_membar_gl, {});
            else
                b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
            break;
        case StmtKind::Call: emit_call(s); break;
        case StmtKind::Native: emit_native(s); break;
        case StmtKind::Try: emit_try(s); break;
    }
}

/// What follows in the same list is unreachable and goes to a block that nothing enters.
void FunctionEmitter::branch_away(llvm::BasicBlock* to) {
    b_.CreateBr(to);
    b_.SetInsertPoint(block("unreached"));
}

/// What the compiler shall think of a branch: faults hardly ever happen, and would else count as
/// half of all ways out of a loop.
llvm::MDNode* FunctionEmitter::weights(ir::S s) {
    constexpr std::uint32_t seldom = 1, often = 1 << 20;
    llvm::MDBuilder make(m_.context);
    std::vector<ir::S> taken;
    ir::flatten(s->body, taken);
    auto is_fault = [](ir::S t) { return t->kind == ir::StmtKind::Return && t->fault >= 0; };
    auto raises = [&](ir::S t) {
        return is_fault(t) || (t->kind == ir::StmtKind::If && t->orelse.empty() &&
                               t->body.size() == 1 && is_fault(t->body[0]));
    };
    if (s->orelse.empty() && !taken.empty() && std::all_of(taken.begin(), taken.end(), raises))
        return make.createBranchWeights(seldom, often);
    return s->rare ? make.createBranchWeights(often, seldom) : nullptr;
}

void FunctionEmitter::emit_if(ir::S s) {
    Value* condition = emit(s->args[0]);
    llvm::BasicBlock* yes = block("then");
    llvm::BasicBlock* after = block("endif");
    llvm::BasicBlock* no = s->orelse.empty() ? after : block("else");
    b_.CreateCondBr(condition, yes, no, weights(s));
    b_.SetInsertPoint(yes);
    if (m_.for_device()) assume_multiples(s->args[0]);
    emit_all(s->body);
    b_.CreateBr(after);
    if (!s->orelse.empty()) {
        b_.SetInsertPoint(no);
        emit_all(s->orelse);
        b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
    cache_.clear();
}

/// Says in the body of a branch what its condition tells of addresses and strides: accesses of
/// neighbours become wide ones by that (in_packs).
void FunctionEmitter::assume_multiples(ir::E condition) {
    using ir::ExprKind;
    auto is_binary = [](ir::E e, Op op) { return e->kind == ExprKind::Binary && e->op == op; };
    if (is_binary(condition, Op::And)) {
        for (ir::E part : condition->args) assume_multiples(part);
        return;
    }
    if (!is_binary(condition, Op::Eq) || !is_binary(condition->args[0], Op::And)) return;
    auto [value, mask] = std::pair(condition->args[0]->args[0], condition->args[0]->args[1]);
    if (mask->kind != ExprKind::Const || (mask->bits & (mask->bits + 1)) != 0) return;
    if (value->kind == ExprKind::Memory && value->axis == 0) {
        b_.CreateAlignmentAssumption(m_.out->getDataLayout(), base_of(value->id),
                                     static_cast<unsigned>(mask->bits + 1));
    } else {
        b_.CreateAssumption(emit(condition));
    }
}

void FunctionEmitter::emit_while(ir::S s) {
    fn_->addFnAttr(while_attribute);
    llvm::BasicBlock* test = block("while");
    llvm::BasicBlock* body = block("while.body");
    llvm::BasicBlock* after = block("endwhile");
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    cache_.clear();
    b_.CreateCondBr(emit(s->args[0]), body, after);
    b_.SetInsertPoint(body);
    if (!LoopBounds::halves(s)) poll_interrupt(s->line);
    ++loops_emitted_;
    loops_.push_back({test, after});
    emit_all(s->body);
    loops_.pop_back();
    b_.CreateBr(test);
    b_.SetInsertPoint(after);
    cache_.clear();
}

void FunctionEmitter::emit_return(ir::S s) {
    if (s->fault == -1) {
        UNISONO_ASSERT(s->args.size() == results_.size() || iteration_);
        for (std::size_t k = 0; k < s->args.size(); ++k) {
            Value* v = emit(s->args[k]);
            b_.CreateStore(is_bool(s->args[k]->dtype) ? b_.CreateZExt(v, m_.i8) : v, results_[k]);
        }
        end_site_->addIncoming(int64(-1), b_.GetInsertBlock());
        branch_away(end_);
        return;
    }
    if (s->fault == ir::raised_again) {
        std::vector<Value*> values;
        for (ir::E e : s->args) values.push_back(emit(e));
        return raise(values[0], std::span<Value* const>(values).subspan(1));
    }
    Value* site = int64(m_.first_site[static_cast<std::size_t>(index_)] + s->fault);
    std::vector<Value*> values;
    for (ir::E e : s->args) values.push_back(emit(e));
    if (m_.for_device()) {
        device_fault(site, values);
        return leave_with(site);
    }
    raise(site, values);
}

/// Calls what the run-time library finds, or compiles, under the function's number.
Value* FunctionEmitter::call_deferred(int function, std::span<Value* const> args) {
    auto* find_type = llvm::FunctionType::get(m_.ptr, {m_.ptr, m_.i64}, false);
    llvm::Function* find = m_.declare("unisono_deferred", find_type);
    find->addFnAttr(llvm::Attribute::Cold);
    Value* code = b_.CreateCall(find, {fault_, int64(function)});
    const ir::Function& callee = m_.module.functions[static_cast<std::size_t>(function)];
    return b_.CreateCall(m_.signature(callee), code, llvm::ArrayRef(args.data(), args.size()));
}

/// Where deferred functions leave their results, which are read at once: one local serves all.
llvm::AllocaInst* FunctionEmitter::deferred_result(llvm::Type* type, std::size_t number) {
    auto& into = deferred_results_[{type, number}];
    if (!into) into = local(type, "result");
    return into;
}

void FunctionEmitter::emit_call(ir::S s) {
    const ir::Function& callee = m_.module.functions.at(static_cast<std::size_t>(s->id));
    std::vector<Value*> args{fault_};
    if (m_.for_device()) args.push_back(range_);
    auto scalar = s->args.begin();
    auto array = s->arrays.begin();
    for (const ir::Param& p : callee.params) {
        if (!p.is_array()) {
            args.push_back(emit(*scalar++));
            continue;
        }
        append_array(*array++, args);
    }
    std::vector<llvm::AllocaInst*> outs;
    for (std::size_t k = 0; k < callee.results.size(); ++k) {
        llvm::Type* type = m_.memory_type(callee.results[k]);
        outs.push_back(callee.is_deferred ? deferred_result(type, k) : local(type, "result"));
        args.push_back(outs.back());
    }
    Value* site = callee.is_deferred
                      ? call_deferred(s->id, args)
                      : b_.CreateCall(m_.functions[static_cast<std::size_t>(s->id)], args);
    llvm::BasicBlock* failed = block("failed");
    llvm::BasicBlock* after = block("returned");
    b_.CreateCondBr(b_.CreateICmpSLT(site, int64(0)), after, failed);
    b_.SetInsertPoint(failed);
    if (iteration_ && !m_.for_device()) {
        b_.CreateStore(iteration_, b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, 1));
    }
    exit_site_->addIncoming(site, b_.GetInsertBlock());
    b_.CreateBr(exit_);
    b_.SetInsertPoint(after);
    for (std::size_t k = 0; k < s->outs.size(); ++k) {
        Value* v = b_.CreateLoad(outs[k]->getAllocatedType(), outs[k]);
        if (is_bool(callee.results[k])) v = b_.CreateICmpNE(v, b_.getInt8(0));
        b_.CreateStore(v, variable(s->outs[k]));
    }
}

/// Sums of a loop whose order is free are vectorised.
void FunctionEmitter::emit_assign(ir::S s) {
    ir::E e = s->args[0];
    bool is_sum = any_order_ && e->kind == ir::ExprKind::Binary && e->op == Op::Add &&
                  is_float(e->dtype) && e->args[0]->kind == ir::ExprKind::Var &&
                  e->args[0]->id == s->id && !m_.type(e->dtype)->isHalfTy();
    Value* value = nullptr;
    if (is_sum) {
        value = b_.CreateFAdd(emit(e->args[0]), emit(e->args[1]));
        if (auto* sum = llvm::dyn_cast<llvm::Instruction>(value)) sum->setHasAllowReassoc(true);
    } else {
        value = emit(e);
    }
    b_.CreateStore(value, variable(s->id));
}

/// Values go through a block of memory, in which the function leaves its own.
void FunctionEmitter::call_native(ir::S s, std::span<Value* const> args) {
    const std::string& name = f_.natives[static_cast<std::size_t>(s->id)];
    llvm::AllocaInst* values = local(llvm::ArrayType::get(m_.i64, args.size()), "values");
    auto at = [&](std::size_t k) { return b_.CreateConstInBoundsGEP1_64(m_.i64, values, k); };
    for (std::size_t k = 0; k < args.size(); ++k) b_.CreateStore(args[k], at(k));
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {m_.ptr}, false);
    // Nothing that the lock guards is read before or written behind it.
    bool is_lock = name == "lock_take" || name == "lock_give";
    if (is_lock) b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    b_.CreateCall(m_.declare(("unisono_native_" + name).c_str(), type), {values});
    if (is_lock) b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    for (std::size_t k = 0; k < s->outs.size(); ++k)
        b_.CreateStore(b_.CreateLoad(m_.i64, at(k)), variable(s->outs[k]));
}

void FunctionEmitter::emit_native(ir::S s) {
    const std::string& name = f_.natives[static_cast<std::size_t>(s->id)];
    if (m_.for_device()) unsupported("'" + name + "': whole-array functions run on the host only");
    std::vector<Value*> args;
    for (ir::E e : s->args) args.push_back(emit(e));
    if (InlineNative inlined = inline_native(name))
        (this->*inlined)(s, args);
    else
        call_native(s, args);
    cache_.clear();
}

/// Small arrays of constant size lie on the stack, others on the heap until the function ends.
void FunctionEmitter::emit_allocate(ir::S s) {
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(s->id)];
    ArrayValue& a = arrays_[static_cast<std::size_t>(s->id)];
    a = {};
    a.made_here = true;
    for (ir::E e : s->args) a.extents.push_back(emit(e));
    Value* count = int64(1);
    a.strides.resize(a.extents.size());
    for (std::size_t k = a.extents.size(); k-- > 0;) {
        a.strides[k] = count;
        count = b_.CreateMul(count, a.extents[k]);
    }
    for (auto& inside : made_in_) inside[static_cast<std::size_t>(s->id)] = true;
    llvm::Type* type = m_.memory_type(info.dtype);
    if (auto found = shared_.find(s->id); found != shared_.end()) {
        a.base = found->second;
        return;
    }
    constexpr std::int64_t stack_bytes = 64 * 1024;
    auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(count);
    if (fixed && fixed->getSExtValue() * size_of(info.dtype) <= stack_bytes) {
        if (m_.for_device() && info.space == ir::Space::Local) {
            auto* array = llvm::ArrayType::get(type, fixed->getZExtValue());
            auto* global =
                new llvm::GlobalVariable(*m_.out, array, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(array), info.name, nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 3);
            global->setAlignment(llvm::Align(16));
            a.base = b_.CreateAddrSpaceCast(global, m_.ptr);
            return;
        }
        auto* made = local(llvm::ArrayType::get(type, fixed->getZExtValue()), info.name.c_str());
        made->setAlignment(llvm::Align(64));
        a.base = made;
        return;
    }
    if (m_.for_device()) {
        unsupported("array '" + info.name +
                    "': on this device the size of an array made in a kernel must be a "
                    "constant of at most 64 KiB; got one that is larger or only known at run time");
    }
    auto* slot = local(m_.ptr, info.name.c_str());
    llvm::IRBuilder<> at(&fn_->getEntryBlock(), std::next(slot->getIterator()));
    at.CreateStore(llvm::ConstantPointerNull::get(m_.ptr), slot);
    auto* type_of = llvm::FunctionType::get(m_.ptr, {m_.ptr, m_.i64}, false);
    // A size that overflows becomes -1, which the allocation refuses.
    Value* bytes = int64(size_of(info.dtype));
    Value* overflows = b_.getFalse();
    for (Value* extent : a.extents) {
        Value* pair = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
        bytes = b_.CreateExtractValue(pair, 0);
        overflows = b_.CreateOr(overflows, b_.CreateExtractValue(pair, 1));
    }
    bytes = b_.CreateSelect(overflows, int64(-1), bytes);
    // Reused by later iterations: the call gets the memory that the slot held.
    Value* made = b_.CreateCall(m_.declare("unisono_scratch_allocate", type_of),
                                {b_.CreateLoad(m_.ptr, slot), bytes});
    b_.CreateStore(made, slot);
    scratch_.push_back(slot);
    a.base = made;
    leave_out_of_memory_if(b_.CreateIsNull(made));
}

void FunctionEmitter::emit_atomic(ir::S s) {
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(s->id)];
    auto indices = s->args.first(ir::index_count(*s));
    const ir::AtomicForm form = ir::atomic_form(*s);
    Value* where =
        s->access == ir::Access::Linear
            ? b_.CreateInBoundsGEP(m_.memory_type(info.dtype), base_of(s->id), emit(indices[0]))
            : address(s->id, indices);
    Value* value = emit(s->args.back());
    using RMW = llvm::AtomicRMWInst;
    constexpr auto relaxed = llvm::AtomicOrdering::Monotonic;
    bool is_signed = unisono::info(info.dtype).kind == 'i';
    RMW::BinOp direct = RMW::BAD_BINOP;
    llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(size_of(info.dtype)) * 8);
    llvm::Align align(static_cast<std::uint64_t>(size_of(info.dtype)));
    auto gives = [&](Value* before) {
        for (std::int32_t v : s->outs) b_.CreateStore(before, variable(v));
    };
    if (form == ir::AtomicForm::Compare) {
        Value* expected = b_.CreateBitCast(emit(s->args[s->args.size() - 2]), bits);
        Value* pair = b_.CreateAtomicCmpXchg(where, expected, b_.CreateBitCast(value, bits), align,
                                             relaxed, relaxed);
        gives(b_.CreateBitCast(b_.CreateExtractValue(pair, 0), m_.type(info.dtype)));
        return;
    }
    if (form == ir::AtomicForm::Exchange) {
        direct = RMW::Xchg;
    } else if (form == ir::AtomicForm::CountUp) {
        direct = RMW::UIncWrap;
    } else if (form == ir::AtomicForm::CountDown) {
        direct = RMW::UDecWrap;
    } else if (is_integer(info.dtype)) {
        switch (s->op) {
            case Op::Add: direct = RMW::Add; break;
            case Op::Sub: direct = RMW::Sub; break;
            case Op::And: direct = RMW::And; break;
            case Op::Or: direct = RMW::Or; break;
            case Op::Xor: direct = RMW::Xor; break;
            case Op::Min: direct = is_signed ? RMW::Min : RMW::UMin; break;
            case Op::Max: direct = is_signed ? RMW::Max : RMW::UMax; break;
            default: break;
        }
    } else if (is_float(info.dtype) && !is_half(info.dtype) && s->op == Op::Add) {
        direct = RMW::FAdd;
    }
    if (direct != RMW::BAD_BINOP) {
        gives(b_.CreateAtomicRMW(direct, where, value, align, relaxed));
        return;
    }
    // Any other operation: a compare-and-exchange loop.
    auto* first = b_.CreateAlignedLoad(bits, where, align);
    first->setAtomic(relaxed);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* again = block("atomic");
    llvm::BasicBlock* after = block("atomic.done");
    b_.CreateBr(again);
    b_.SetInsertPoint(again);
    llvm::PHINode* seen = b_.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    bool flag = is_bool(info.dtype);
    Value* old =
        flag ? b_.CreateICmpNE(seen, b_.getInt8(0)) : b_.CreateBitCast(seen, m_.type(info.dtype));
    Value* made = nullptr;
    if (is_half(info.dtype)) {  // computed as float32
        constexpr auto half = DType::Float16, single = DType::Float32;
        made = combine(s->op, single, half_cast(old, half, single), half_cast(value, half, single));
        made = half_cast(made, single, half);
    } else {
        made = combine(s->op, info.dtype, old, value);
    }
    made = flag ? b_.CreateZExt(made, m_.i8) : b_.CreateBitCast(made, bits);
    Value* pair = b_.CreateAtomicCmpXchg(where, seen, made, align, relaxed, relaxed);
    seen->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateExtractValue(pair, 1), after, again);
    b_.SetInsertPoint(after);
    gives(flag ? b_.CreateICmpNE(seen, b_.getInt8(0))
               : b_.CreateBitCast(seen, m_.type(info.dtype)));
}

}  // namespace unisono::codegen
