// Emits variables that hold arrays: where their memory is, and who owns it.
//
// A slot is two locals: the address of the memory, and the block that keeps it alive (null where
// somebody else does). A slot that is set in a function lets go of its block on every way out.
// Inside of an outlined loop a slot from outside is its address alone.
#include "backends/llvm/emitter.h"

namespace unisono::codegen {

FunctionEmitter::Slot& FunctionEmitter::slot(int array) {
    Slot& s = slots_[static_cast<std::size_t>(array)];
    if (s.pointer) return s;
    if (m_.for_device()) {
        unsupported(
            "array '" + f_.arrays[static_cast<std::size_t>(array)].name +
            "': on this device an array variable must stay one array, and none can be made");
    }
    s.pointer = local(m_.ptr, "pointer");
    s.block = local(m_.ptr, "block");
    llvm::BasicBlock& first = fn_->getEntryBlock();
    llvm::IRBuilder<> at(&first,
                         std::next(std::max(s.pointer->getIterator(), s.block->getIterator(),
                                            [](auto a, auto b) { return a->comesBefore(&*b); })));
    auto* null = llvm::ConstantPointerNull::get(m_.ptr);
    at.CreateStore(null, s.pointer);
    at.CreateStore(null, s.block);
    return s;
}

Value* FunctionEmitter::base_of(int array) {
    if (Value* known = arrays_[static_cast<std::size_t>(array)].base) return known;
    UNISONO_ASSERT(f_.arrays[static_cast<std::size_t>(array)].is_slot);
    return b_.CreateLoad(m_.ptr, slot(array).pointer);
}

/// Parameters, and slots from outside, are kept alive by others.
Value* FunctionEmitter::block_of(int array) {
    if (arrays_[static_cast<std::size_t>(array)].base)
        return llvm::ConstantPointerNull::get(m_.ptr);
    return b_.CreateLoad(m_.ptr, slot(array).block);
}

void FunctionEmitter::call_block_function(const char* name, Value* made) {
    llvm::BasicBlock* held = block("held");
    llvm::BasicBlock* after = block("counted");
    b_.CreateCondBr(b_.CreateIsNull(made), after, held);
    b_.SetInsertPoint(held);
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {m_.ptr}, false);
    b_.CreateCall(m_.declare(name, type), {made});
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

/// Takes over one reference of the block.
void FunctionEmitter::set_slot(int array, Value* pointer, Value* made) {
    Slot s = slot(array);
    Value* old = b_.CreateLoad(m_.ptr, s.block);
    b_.CreateStore(pointer, s.pointer);
    b_.CreateStore(made, s.block);
    call_block_function("unisono_block_release", old);
    for (auto& inside : made_in_) inside[static_cast<std::size_t>(array)] = true;
}

void FunctionEmitter::leave_out_of_memory_if(Value* is_missing) {
    llvm::BasicBlock* missing = block("out_of_memory");
    llvm::BasicBlock* after = block("allocated");
    b_.CreateCondBr(is_missing, missing, after);
    b_.SetInsertPoint(missing);
    if (iteration_) b_.CreateStore(iteration_, b_.CreateConstInBoundsGEP1_64(m_.i64, fault_, 1));
    exit_site_->addIncoming(int64(out_of_memory_site), missing);
    b_.CreateBr(exit_);
    b_.SetInsertPoint(after);
}

void FunctionEmitter::emit_make(ir::S s) {
    slot(s->id);
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(s->id)];
    // A size beyond memory becomes -1, which the allocation refuses.
    Value* count = emit(s->args[0]);
    Value* too_many = b_.CreateICmpUGT(count, int64(std::int64_t{1} << 48));
    Value* bytes =
        b_.CreateSelect(too_many, int64(-1), b_.CreateMul(count, int64(size_of(info.dtype))));
    auto* type = llvm::FunctionType::get(m_.ptr, {m_.i64}, false);
    Value* made = b_.CreateCall(m_.declare("unisono_block_make", type), {bytes});
    leave_out_of_memory_if(b_.CreateIsNull(made));
    set_slot(s->id, b_.CreateLoad(m_.ptr, made), made);  // Block::data comes first
    cache_.clear();
}

void FunctionEmitter::emit_point(ir::S s) {
    slot(s->id);
    if (!s->arrays.empty()) {
        int source = s->arrays[0];
        Value* made = block_of(source);
        call_block_function("unisono_block_retain", made);
        set_slot(s->id, base_of(source), made);
    } else {
        Value* pointer = b_.CreateIntToPtr(emit(s->args[0]), m_.ptr);
        Value* made = b_.CreateIntToPtr(emit(s->args[1]), m_.ptr);
        set_slot(s->id, pointer, made);
    }
    cache_.clear();
}

void FunctionEmitter::emit_retain(ir::S s) {
    call_block_function("unisono_block_retain", block_of(s->id));
}

void FunctionEmitter::release_slots() {
    for (const Slot& s : slots_) {
        if (s.block && !s.lent)
            call_block_function("unisono_block_release", b_.CreateLoad(m_.ptr, s.block));
    }
}

/// Address, extents and strides, as the callee's signature wants them.
void FunctionEmitter::append_array(int array, std::vector<Value*>& args) {
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(array)];
    if (!info.is_view()) {
        const ArrayValue& a = arrays_[static_cast<std::size_t>(array)];
        args.push_back(base_of(array));
        args.insert(args.end(), a.extents.begin(), a.extents.end());
        args.insert(args.end(), a.strides.begin(), a.strides.end());
        return;
    }
    args.push_back(b_.CreateGEP(m_.memory_type(info.dtype), base_of(info.base), emit(info.offset)));
    for (ir::E e : info.extents) args.push_back(emit(e));
    for (ir::E e : info.view_strides) args.push_back(emit(e));
}

}  // namespace unisono::codegen
