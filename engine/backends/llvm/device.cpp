// What only PTX has: work-item ids, barriers, faults that many threads may raise at once, the
// kernel's entry.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

namespace {

using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

constexpr ID thread_ids[] = {Intrinsic::nvvm_read_ptx_sreg_tid_x,
                             Intrinsic::nvvm_read_ptx_sreg_tid_y,
                             Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr ID block_ids[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                            Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                            Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr ID block_sizes[] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x,
                              Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                              Intrinsic::nvvm_read_ptx_sreg_ntid_z};
}  // namespace

/// A launch runs a slice of the range: its blocks count on from the first one's number.
Value* FunctionEmitter::device_work_item(ir::WorkItemQuery query, int axis) {
    auto read = [&](const ID* ids) {
        return b_.CreateZExt(b_.CreateIntrinsic(m_.i32, ids[axis], {}), m_.i64);
    };
    using Q = ir::WorkItemQuery;
    auto slot = [&](int k) {
        return b_.CreateLoad(m_.i64, b_.CreateConstInBoundsGEP1_64(
                                         m_.i64, range_, static_cast<std::uint64_t>(k + axis)));
    };
    switch (query) {
        case Q::LocalId: return read(thread_ids);
        case Q::GroupId: return b_.CreateAdd(read(block_ids), slot(3));
        case Q::LocalSize: return read(block_sizes);
        case Q::GroupCount: {
            Value* size = read(block_sizes);
            return b_.CreateUDiv(b_.CreateAdd(slot(0), b_.CreateSub(size, int64(1))), size);
        }
        case Q::GlobalId: {
            Value* group = b_.CreateAdd(read(block_ids), slot(3));
            Value* flat = b_.CreateAdd(b_.CreateMul(group, read(block_sizes)), read(thread_ids));
            return b_.CreateAdd(flat, slot(6));
        }
        case Q::GlobalSize: return slot(0);
        case Q::GlobalOffset: return slot(6);
    }
    __builtin_unreachable();
}

void FunctionEmitter::device_barrier() {
    if (!m_.for_device())
        fail(ErrorKind::Internal, "llvm: a barrier reached the host's code generator");
    b_.CreateIntrinsic(b_.getVoidTy(), Intrinsic::nvvm_barrier0, {});
}

/// Moves the bits, by words of 32: all lanes of the warp are there.
void FunctionEmitter::device_shuffle(ir::S s) {
    if (!m_.for_device())
        fail(ErrorKind::Internal, "llvm: a shuffle reached the host's code generator");
    Value* value = emit(s->args[0]);
    Value* distance = b_.CreateTrunc(emit(s->args[1]), m_.i32);
    llvm::Type* type = value->getType();
    const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
    llvm::Type* number = b_.getIntNTy(bits);
    auto moved = [&](Value* word) -> Value* {
        Value* args[] = {b_.getInt32(0xffffffff), word, distance, b_.getInt32(31)};
        return b_.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_down_i32, {}, args);
    };
    Value* all = type->isIntegerTy() ? value : b_.CreateBitCast(value, number);
    if (bits <= 32) {
        all = b_.CreateTrunc(moved(b_.CreateZExt(all, m_.i32)), number);
    } else {
        Value* low = moved(b_.CreateTrunc(all, m_.i32));
        Value* high = moved(b_.CreateTrunc(b_.CreateLShr(all, 32), m_.i32));
        all =
            b_.CreateOr(b_.CreateZExt(low, m_.i64), b_.CreateShl(b_.CreateZExt(high, m_.i64), 32));
    }
    b_.CreateStore(type->isIntegerTy() ? all : b_.CreateBitCast(all, type), variable(s->outs[0]));
}

void FunctionEmitter::device_vote(ir::S s) {
    if (!m_.for_device())
        fail(ErrorKind::Internal, "llvm: a vote reached the host's code generator");
    Value* all = b_.getInt32(0xffffffff);
    if (s->args.empty()) {
        b_.CreateIntrinsic(b_.getVoidTy(), Intrinsic::nvvm_bar_warp_sync, {all});
        return;
    }
    Value* predicate = b_.CreateIsNotNull(emit(s->args[0]));
    b_.CreateStore(b_.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {all, predicate}),
                   variable(s->outs[0]));
}

/// Row-major index of the work-item in the NDRange, the last axis outermost.
Value* FunctionEmitter::linear_id() {
    using Q = ir::WorkItemQuery;
    Value* linear = int64(0);
    for (int axis = 2; axis >= 0; --axis) {
        Value* id = b_.CreateSub(device_work_item(Q::GlobalId, axis),
                                 device_work_item(Q::GlobalOffset, axis));
        linear = b_.CreateAdd(b_.CreateMul(linear, device_work_item(Q::GlobalSize, axis)), id);
    }
    return linear;
}

/// Several threads may fail: under a lock, the lowest keeps its site and values in the DeviceFault.
void FunctionEmitter::device_fault(Value* site, std::span<Value* const> values) {
    using Q = ir::WorkItemQuery;
    Value* key = b_.CreateOr(b_.CreateShl(linear_id(), 16), site);
    // The kernel around knows which axis is its last one.
    auto of_range = [&](std::uint64_t k) {
        return b_.CreateLoad(m_.i64, b_.CreateConstInBoundsGEP1_64(m_.i64, range_, k));
    };
    Value* last = of_range(last_axis_slot);
    Value* iteration = int64(0);
    for (int axis = 0; axis < 3; ++axis) {
        Value* place = b_.CreateSub(device_work_item(Q::GlobalId, axis),
                                    device_work_item(Q::GlobalOffset, axis));
        iteration = b_.CreateSelect(b_.CreateICmpEQ(last, int64(axis)), place, iteration);
    }
    auto word = [&](std::uint64_t k) { return b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, k); };
    Value* lock = word(1);
    llvm::BasicBlock* attempt = block("fault.lock");
    llvm::BasicBlock* held = block("fault.held");
    llvm::BasicBlock* lower = block("fault.lower");
    llvm::BasicBlock* release = block("fault.release");
    llvm::BasicBlock* after = block("fault.done");
    auto order = llvm::AtomicOrdering::Monotonic;
    llvm::Align align(8);
    b_.CreateBr(attempt);
    b_.SetInsertPoint(attempt);
    Value* was = b_.CreateExtractValue(
        b_.CreateAtomicCmpXchg(lock, int64(0), int64(1), align, order, order), 0);
    b_.CreateCondBr(b_.CreateICmpEQ(was, int64(0)), held, attempt);
    b_.SetInsertPoint(held);
    b_.CreateIntrinsic(b_.getVoidTy(), Intrinsic::nvvm_membar_gl, {});
    Value* best = b_.CreateAlignedLoad(m_.i64, word(0), align, true);
    b_.CreateCondBr(b_.CreateICmpULT(key, best), lower, release);
    b_.SetInsertPoint(lower);
    b_.CreateAlignedStore(key, word(0), align, true);
    b_.CreateAlignedStore(of_range(launch_slot), word(2), align, true);
    b_.CreateAlignedStore(iteration, word(3), align, true);
    for (std::size_t k = 0; k < values.size() && k < 4; ++k)
        b_.CreateAlignedStore(values[k], word(4 + k), align, true);
    b_.CreateBr(release);
    b_.SetInsertPoint(release);
    b_.CreateIntrinsic(b_.getVoidTy(), Intrinsic::nvvm_membar_gl, {});
    b_.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, lock, int64(0), llvm::MaybeAlign(8), order);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

/// The entry point of one kernel, see compile.h. Work-items beyond the NDRange's size return at
/// once.
void ModuleEmitter::add_device_entry(std::size_t function) {
    const ir::Function& f = module.functions[function];
    auto* global_ptr = llvm::PointerType::get(context, 1);
    std::vector<llvm::Type*> types{global_ptr, i64, global_ptr};
    types.insert(types.end(), range_slots, i64);
    for (const ir::Param& p : f.params) {
        types.push_back(p.is_array() ? static_cast<llvm::Type*>(global_ptr) : memory_type(p.dtype));
        if (p.is_array()) {
            auto rank = static_cast<std::size_t>(f.arrays[static_cast<std::size_t>(p.array)].rank);
            types.insert(types.end(), 2 * rank, i64);
        }
    }
    types.insert(types.end(), scratch_of(f).size() + slots_of(f).size(), global_ptr);
    auto* made = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
        llvm::GlobalValue::ExternalLinkage, kernel_symbol + ("_" + std::to_string(function)),
        out.get());
    made->setCallingConv(llvm::CallingConv::PTX_Kernel);
    llvm::Metadata* kernel[] = {llvm::ValueAsMetadata::get(made),
                                llvm::MDString::get(context, "kernel"),
                                llvm::ValueAsMetadata::get(llvm::ConstantInt::get(i32, 1))};
    out->getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context, kernel));

    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", made));
    auto arg = made->arg_begin();
    Value* record = &*arg++;
    Value* launch = &*arg++;
    std::vector<Value*> args{b.CreateAddrSpaceCast(record, ptr)};
    Value* results = &*arg++;
    Value* range = b.CreateAlloca(llvm::ArrayType::get(i64, range_slots + 2));
    b.CreateStore(launch, b.CreateConstInBoundsGEP1_64(i64, range, launch_slot));
    b.CreateStore(b.getInt64(static_cast<std::uint64_t>(std::max(1, f.dimensions) - 1)),
                  b.CreateConstInBoundsGEP1_64(i64, range, last_axis_slot));
    args.push_back(range);
    llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "body", made);
    llvm::BasicBlock* beyond = llvm::BasicBlock::Create(context, "beyond", made);
    Value* outside = b.getFalse();
    std::vector<Value*> words;
    for (int k = 0; k < range_slots; ++k) {
        Value* word = &*arg++;
        b.CreateStore(word,
                      b.CreateConstInBoundsGEP1_64(i64, range, static_cast<std::uint64_t>(k)));
        words.push_back(word);
    }
    for (int k = 0; k < f.dimensions; ++k) {
        auto read = [&](const ID* ids) {
            return b.CreateZExt(b.CreateIntrinsic(i32, ids[k], {}), i64);
        };
        Value* group = b.CreateAdd(read(block_ids), words[static_cast<std::size_t>(k) + 3]);
        Value* id = b.CreateAdd(b.CreateMul(group, read(block_sizes)), read(thread_ids));
        outside = b.CreateOr(outside, b.CreateICmpUGE(id, words[static_cast<std::size_t>(k)]));
    }
    b.CreateCondBr(outside, beyond, body);
    b.SetInsertPoint(beyond);
    b.CreateRetVoid();
    b.SetInsertPoint(body);
    if (has_sites()) {
        // What failed in this launch does not count: the lowest work-item that fails is wanted.
        llvm::BasicBlock* goes_on = llvm::BasicBlock::Create(context, "goes_on", made);
        Value* failed = b.CreateAlignedLoad(i64, b.CreateConstInBoundsGEP1_64(i64, record, 2),
                                            llvm::Align(8), true);
        b.CreateCondBr(b.CreateICmpSLT(failed, launch), beyond, goes_on);
        b.SetInsertPoint(goes_on);
    }
    auto generic = [&] { return b.CreateAddrSpaceCast(&*arg++, ptr); };
    for (const ir::Param& p : f.params) {
        if (p.is_array()) {
            args.push_back(generic());
            int rank = f.arrays[static_cast<std::size_t>(p.array)].rank;
            for (int k = 0; k < 2 * rank; ++k) args.push_back(&*arg++);
        } else {
            Value* v = &*arg++;
            args.push_back(is_bool(p.dtype) ? b.CreateICmpNE(v, b.getInt8(0)) : v);
        }
    }
    for (std::size_t r = 0; r < f.results.size(); ++r) {
        Value* slot = b.CreateConstInBoundsGEP1_64(i64, results, r);
        args.push_back(b.CreateAddrSpaceCast(slot, ptr));
    }
    while (arg != made->arg_end()) args.push_back(generic());
    functions[function]->addFnAttr(llvm::Attribute::AlwaysInline);
    b.CreateCall(functions[function], args);
    b.CreateRetVoid();
}

}  // namespace unisono::codegen
