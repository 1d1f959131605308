// Declares the module's functions and adds the entry point that the outside calls.
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

ModuleEmitter::ModuleEmitter(const ir::Module& m, const Target& t, llvm::LLVMContext& c)
    : module(m),
      target(t),
      context(c),
      out(std::make_unique<llvm::Module>("unisono", c)),
      i1(llvm::Type::getInt1Ty(c)),
      i8(llvm::Type::getInt8Ty(c)),
      i32(llvm::Type::getInt32Ty(c)),
      i64(llvm::Type::getInt64Ty(c)),
      ptr(llvm::PointerType::getUnqual(c)) {
    for (const ir::Function& f : m.functions) {
        first_site.push_back(sites_);
        sites_ += static_cast<int>(f.sites.size());
    }
}

llvm::Type* ModuleEmitter::type(DType t) const { return is_bool(t) ? i1 : memory_type(t); }

llvm::Type* ModuleEmitter::memory_type(DType t) const {
    switch (t) {
        case DType::Float32: return llvm::Type::getFloatTy(context);
        case DType::Float64: return llvm::Type::getDoubleTy(context);
        case DType::Complex64:
        case DType::Complex128: return llvm::ArrayType::get(memory_type(part_dtype(t)), 2);
        default: return llvm::IntegerType::get(context, static_cast<unsigned>(size_of(t)) * 8);
    }
}

llvm::Function* ModuleEmitter::declare(const char* name, llvm::FunctionType* type) {
    if (llvm::Function* f = out->getFunction(name)) return f;
    llvm::Function* f =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, out.get());
    f->setDoesNotThrow();
    return f;
}

llvm::MDNode* ModuleEmitter::streaming_group() {
    llvm::NamedMDNode* named = out->getOrInsertNamedMetadata(streaming_marker);
    if (named->getNumOperands() == 0) named->addOperand(llvm::MDNode::getDistinct(context, {}));
    return named->getOperand(0);
}

/// int64_t f(Fault*, [NDRange slots], per param: scalar, or address, extents and strides; per
/// result: its address).
llvm::FunctionType* ModuleEmitter::signature(const ir::Function& f) const {
    std::vector<llvm::Type*> types{ptr};
    if (for_device()) types.push_back(ptr);
    for (const ir::Param& p : f.params) {
        if (!p.is_array()) {
            types.push_back(type(p.dtype));
            continue;
        }
        types.push_back(ptr);
        auto rank = static_cast<std::size_t>(f.arrays[static_cast<std::size_t>(p.array)].rank);
        types.insert(types.end(), 2 * rank, i64);
    }
    types.insert(types.end(), f.results.size(), ptr);
    if (for_device() && is_device_kernel(f))
        types.insert(types.end(), scratch_of(f).size() + slots_of(f).size(), ptr);
    return llvm::FunctionType::get(i64, types, false);
}

/// What the function calls, and so on; deferred functions are compiled for themselves.
void ModuleEmitter::mark_called(ir::S s) {
    if (s->kind == ir::StmtKind::Call) {
        const ir::Function& callee = module.functions[static_cast<std::size_t>(s->id)];
        calls_entry_ = calls_entry_ || s->id == 0;
        if (!callee.is_deferred && !is_needed_[static_cast<std::size_t>(s->id)]) {
            is_needed_[static_cast<std::size_t>(s->id)] = true;
            if (callee.body) mark_called(callee.body);
        }
    }
    for (ir::S b : s->body) mark_called(b);
    for (ir::S b : s->orelse) mark_called(b);
}

void ModuleEmitter::declare_functions() {
    is_needed_.assign(module.functions.size(), for_device());
    auto root = static_cast<std::size_t>(std::max(0, target.function));
    if (!for_device()) {
        is_needed_[root] = true;
        if (module.functions[root].body) mark_called(module.functions[root].body);
    }
    for (std::size_t k = 0; k < module.functions.size(); ++k) {
        functions.push_back(nullptr);
        if (!is_needed_[k]) continue;
        bool is_outside = target.function >= 0 && k == root;
        functions[k] = llvm::Function::Create(
            signature(module.functions[k]),
            is_outside ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
            is_outside ? kernel_symbol : module.functions[k].name, out.get());
        functions[k]->setDoesNotThrow();
    }
}

std::unique_ptr<llvm::Module> ModuleEmitter::run() {
    begin_lines();
    link_natives();
    declare_functions();
    // The entry that the outside calls holds the first function's body, unless others need it too.
    bool has_entry = !for_device() && target.function < 0;
    bool entry_is_first = has_entry && !calls_entry_ && !target.callback;
    for (std::size_t k = 0; k < functions.size(); ++k) {
        if (!functions[k]) continue;
        if (natives_[k]) {
            emit_native(module.functions[k], functions[k]);
            continue;
        }
        FunctionEmitter emitter(*this, module.functions[k], static_cast<int>(k));
        if (k == 0 && entry_is_first) {
            functions[0]->eraseFromParent();
            functions[0] = nullptr;
            emitter.emit_entry(declare_host_entry());
        } else {
            emitter.emit_function(functions[k]);
        }
    }
    if (for_device()) {
        for (std::size_t k = 0; k < functions.size(); ++k) {
            if (is_device_kernel(module.functions[k])) add_device_entry(k);
        }
    } else if (has_entry && !entry_is_first) {
        add_host_entry();
        if (target.callback) add_callback();
    }
    if (!used_.empty()) llvm::appendToCompilerUsed(*out, used_);
    finish_lines();
    return std::move(out);
}

llvm::Function* ModuleEmitter::declare_host_entry() {
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(i64, {ptr, ptr}, false),
                               llvm::GlobalValue::ExternalLinkage, kernel_symbol, out.get());
    made->setDoesNotThrow();
    return made;
}

/// The first function's arguments, read from the argument block that compile.h describes.
static std::vector<Value*> unpacked(const ModuleEmitter& m, llvm::IRBuilder<>& b,
                                    llvm::Function* entry) {
    const ir::Function& f = m.module.entry();
    std::uint64_t slot = 0;
    auto place = [&] { return b.CreateConstInBoundsGEP1_64(m.i64, entry->getArg(0), slot++); };
    auto next = [&](llvm::Type* as) { return b.CreateLoad(as, place()); };
    std::vector<Value*> args{entry->getArg(1)};
    for (const ir::Param& p : f.params) {
        if (p.is_array()) {
            args.push_back(next(m.ptr));
            int rank = f.arrays[static_cast<std::size_t>(p.array)].rank;
            for (int k = 0; k < 2 * rank; ++k) args.push_back(next(m.i64));
        } else if (is_bool(p.dtype)) {
            args.push_back(b.CreateICmpNE(next(m.i8), b.getInt8(0)));
        } else {
            args.push_back(next(m.type(p.dtype)));
        }
    }
    for (std::size_t r = 0; r < f.results.size(); ++r) args.push_back(place());
    return args;
}

void FunctionEmitter::emit_entry(llvm::Function* into) {
    start(into);
    emit_body(unpacked(m_, b_, into));
}

/// An entry that calls the first function.
void ModuleEmitter::add_host_entry() {
    llvm::Function* made = declare_host_entry();
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", made));
    std::vector<Value*> args = unpacked(*this, b, made);
    b.CreateRet(b.CreateCall(functions[0], args));
}

llvm::Attribute::AttrKind ModuleEmitter::c_extension(DType t) {
    if (is_float(t) || size_of(t) >= 4) return llvm::Attribute::None;
    return is_signed(t) ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
}

/// C's types and calling convention around the entry. A pointer has no extent: indices count from
/// it and are not checked.
void ModuleEmitter::add_callback() {
    const ir::Function& f = module.entry();
    std::vector<llvm::Type*> types;
    for (const ir::Param& p : f.params) types.push_back(c_type(p));
    llvm::Type* result =
        f.results.empty() ? llvm::Type::getVoidTy(context) : type(f.results.front());
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                               llvm::GlobalValue::ExternalLinkage, callback_symbol, out.get());
    made->setDoesNotThrow();
    made->setDSOLocal(true);  // it names itself, without a table
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        if (f.params[k].is_array()) continue;
        auto attribute = c_extension(f.params[k].dtype);
        if (attribute != llvm::Attribute::None)
            made->addParamAttr(static_cast<unsigned>(k), attribute);
    }
    if (!f.results.empty() && c_extension(f.results.front()) != llvm::Attribute::None)
        made->addRetAttr(c_extension(f.results.front()));
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", made));
    // A HostFault: its last word would say where deferred functions are; a callback has none.
    auto* fault = b.CreateAlloca(i64, b.getInt64(7), "fault");
    b.CreateStore(b.getInt64(0), b.CreateConstInBoundsGEP1_64(i64, fault, 6));
    std::vector<Value*> args{fault};
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        args.push_back(made->getArg(static_cast<unsigned>(k)));
        if (!f.params[k].is_array()) continue;
        int rank = f.arrays[static_cast<std::size_t>(f.params[k].array)].rank;
        for (int axis = 0; axis < rank; ++axis) args.push_back(b.getInt64(std::int64_t{1} << 56));
        for (int axis = 0; axis < rank; ++axis) args.push_back(b.getInt64(1));
    }
    llvm::AllocaInst* value = nullptr;
    if (!f.results.empty()) {
        value = b.CreateAlloca(i64, nullptr, "result");
        args.push_back(value);
    }
    Value* site = b.CreateCall(functions[0], args);
    auto* failed = llvm::BasicBlock::Create(context, "failed", made);
    auto* done = llvm::BasicBlock::Create(context, "done", made);
    b.CreateCondBr(b.CreateICmpSLT(site, b.getInt64(0)), done, failed);
    b.SetInsertPoint(failed);
    b.CreateStore(site, fault);
    auto* report = declare("unisono_callback_fault",
                           llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr}, false));
    b.CreateCall(report, {made, fault});
    if (value) b.CreateStore(b.getInt64(target.callback_failed), value);
    b.CreateBr(done);
    b.SetInsertPoint(done);
    if (!value) {
        b.CreateRetVoid();
    } else if (is_bool(f.results.front())) {
        b.CreateRet(b.CreateICmpNE(b.CreateLoad(i8, value), b.getInt8(0)));
    } else {
        b.CreateRet(b.CreateLoad(result, value));
    }
}

}  // namespace unisono::codegen
