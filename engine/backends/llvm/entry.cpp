// Declares the module's functions and adds the entry point that the outside calls.
#include <llvm/Transforms/Utils/ModuleUtils.h>

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
    int sites = 0;
    for (const ir::Function& f : m.functions) {
        first_site.push_back(sites);
        sites += static_cast<int>(f.sites.size());
    }
}

llvm::Type* ModuleEmitter::type(DType t) const { return is_bool(t) ? i1 : memory_type(t); }

llvm::Type* ModuleEmitter::memory_type(DType t) const {
    switch (t) {
        case DType::Float32: return llvm::Type::getFloatTy(context);
        case DType::Float64: return llvm::Type::getDoubleTy(context);
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
    if (for_device() && is_device_kernel(f)) types.insert(types.end(), scratch_of(f).size(), ptr);
    return llvm::FunctionType::get(i64, types, false);
}

void ModuleEmitter::declare_functions() {
    for (const ir::Function& f : module.functions) {
        auto* made = llvm::Function::Create(signature(f), llvm::GlobalValue::InternalLinkage,
                                            f.name, out.get());
        made->setDoesNotThrow();
        functions.push_back(made);
    }
}

std::unique_ptr<llvm::Module> ModuleEmitter::run() {
    declare_functions();
    for (std::size_t k = 0; k < functions.size(); ++k) {
        FunctionEmitter(*this, module.functions[k], static_cast<int>(k))
            .emit_function(functions[k]);
    }
    if (for_device()) {
        for (std::size_t k = 0; k < functions.size(); ++k) {
            if (is_device_kernel(module.functions[k])) add_device_entry(k);
        }
    } else {
        functions[0]->addFnAttr(llvm::Attribute::AlwaysInline);
        add_host_entry();
    }
    if (!used_.empty()) llvm::appendToCompilerUsed(*out, used_);
    return std::move(out);
}

/// int64_t unisono_kernel(int64_t* args, Fault*): unpacks the argument block, see compile.h.
void ModuleEmitter::add_host_entry() {
    const ir::Function& f = module.entry();
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(i64, {ptr, ptr}, false),
                               llvm::GlobalValue::ExternalLinkage, kernel_symbol, out.get());
    made->setDoesNotThrow();
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", made));
    std::uint64_t slot = 0;
    auto next = [&](llvm::Type* as) {
        return b.CreateLoad(as, b.CreateConstInBoundsGEP1_64(i64, made->getArg(0), slot++));
    };
    std::vector<Value*> args{made->getArg(1)};
    for (const ir::Param& p : f.params) {
        if (p.is_array()) {
            args.push_back(next(ptr));
            int rank = f.arrays[static_cast<std::size_t>(p.array)].rank;
            for (int k = 0; k < 2 * rank; ++k) args.push_back(next(i64));
        } else if (is_bool(p.dtype)) {
            args.push_back(b.CreateICmpNE(next(i8), b.getInt8(0)));
        } else {
            args.push_back(next(type(p.dtype)));
        }
    }
    for (std::size_t r = 0; r < f.results.size(); ++r) {
        args.push_back(b.CreateConstInBoundsGEP1_64(i64, made->getArg(0), slot++));
    }
    b.CreateRet(b.CreateCall(functions[0], args));
}

}  // namespace unisono::codegen
