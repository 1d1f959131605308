// Brings code that was compiled from C text into the module, and calls it as C does.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>

#include <map>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

/// Links each piece of code once; its functions become internal, so that names cannot clash.
void ModuleEmitter::link_natives() {
    natives_.assign(module.functions.size(), nullptr);
    std::map<std::string, std::map<std::string, llvm::Function*>> linked;
    for (std::size_t k = 0; k < module.functions.size(); ++k) {
        const ir::Function& f = module.functions[k];
        if (!f.native) continue;
        if (for_device())
            fail(ErrorKind::Unsupported,
                 f.name + ": a C function runs on the host; got a device; call it on the cpu");
        auto [found, is_new] = linked.try_emplace(f.native->key);
        if (is_new) {
            auto read = llvm::parseBitcodeFile(
                llvm::MemoryBufferRef(f.native->bitcode, f.native->key), context);
            if (!read) {
                fail(ErrorKind::Internal,
                     "llvm: bitcode of C text: " + llvm::toString(read.takeError()));
            }
            std::unique_ptr<llvm::Module> code = std::move(*read);
            out->setTargetTriple(code->getTargetTriple());
            out->setDataLayout(code->getDataLayout());
            std::vector<std::string> names, variables;
            for (llvm::Function& g : *code) names.push_back(g.getName().str());
            for (llvm::GlobalVariable& v : code->globals()) {
                if (v.hasExternalLinkage() && !v.isDeclaration())
                    variables.push_back(v.getName().str());
            }
            if (llvm::Linker::linkModules(*out, std::move(code)))
                fail(ErrorKind::Internal, "llvm: C text cannot be linked");
            for (const std::string& name : variables) {
                if (auto* v = out->getNamedGlobal(name))
                    v->setLinkage(llvm::GlobalValue::InternalLinkage);
            }
            for (const std::string& name : names) {
                llvm::Function* g = out->getFunction(name);
                if (!g) continue;
                found->second[name] = g;
                if (g->isDeclaration()) continue;
                g->setLinkage(llvm::GlobalValue::InternalLinkage);
                g->setName(f.native->key + "." + name);  // another text may have one of that name
            }
        }
        llvm::Function*& known = found->second[f.symbol];
        if (!known) known = declare_native(f);
        natives_[k] = known;
    }
}

/// A function that the text declares and does not call: the C library's, or a shared library's.
llvm::Function* ModuleEmitter::declare_native(const ir::Function& f) {
    std::vector<llvm::Type*> types;
    for (const ir::Param& p : f.params) types.push_back(c_type(p));
    llvm::Type* result =
        f.results.empty() ? llvm::Type::getVoidTy(context) : type(f.results.front());
    llvm::Function* made = declare(f.symbol.c_str(), llvm::FunctionType::get(result, types, false));
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        auto extension = c_extension(f.params[k].dtype);
        if (!f.params[k].is_array() && extension != llvm::Attribute::None)
            made->addParamAttr(static_cast<unsigned>(k), extension);
    }
    if (!f.results.empty() && c_extension(f.results.front()) != llvm::Attribute::None)
        made->addRetAttr(c_extension(f.results.front()));
    return made;
}

void ModuleEmitter::emit_native(const ir::Function& f, llvm::Function* into) {
    llvm::Function* callee = natives_[static_cast<std::size_t>(&f - module.functions.data())];
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", into));
    std::vector<Value*> args;
    auto* arg = into->arg_begin();
    ++arg;  // the fault: C functions have none
    for (const ir::Param& p : f.params) {
        args.push_back(&*arg++);
        if (p.is_array()) arg += 2 * f.arrays[static_cast<std::size_t>(p.array)].rank;
    }
    bool fits = callee->arg_size() == args.size() && !callee->isVarArg();
    for (std::size_t k = 0; fits && k < args.size(); ++k)
        fits = callee->getArg(static_cast<unsigned>(k))->getType() == args[k]->getType();
    if (!fits)
        fail(ErrorKind::Unsupported,
             f.symbol + ": C arguments of this kind are not supported; pass numbers and pointers");
    llvm::CallInst* call = b.CreateCall(callee, args);
    call->setAttributes(callee->getAttributes());
    call->setCallingConv(callee->getCallingConv());
    if (!f.results.empty()) {
        Value* result = call;
        if (is_bool(f.results.front())) result = b.CreateZExt(result, i8);
        b.CreateStore(result, &*arg);
    }
    b.CreateRet(b.getInt64(static_cast<std::uint64_t>(-1)));
}

}  // namespace unisono::codegen
