// Mathematical functions: SLEEF's finz forms on the host, scalar and vector alike, so that bits do
// not depend on where a vector loop ends.
#include <llvm/TargetParser/Host.h>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

namespace {

/// "_ZGV_LLVM_N<lanes>v_<scalar>(<vector>)": how the vectoriser is told of a vector form.
std::string variant(const std::string& scalar, const std::string& vector, int lanes) {
    return "_ZGV_LLVM_N" + std::to_string(lanes) + "v_" + scalar + "(" + vector + ")";
}

}  // namespace

Value* ModuleEmitter::call_math(llvm::IRBuilder<>& b, Op op, DType t, Value* x) {
    std::string function(name(op));
    if (for_device() || (target.portable_math && op == Op::Exp))
        return call_device_math(b, op, t, x);
    std::string letter = t == DType::Float64 ? "d" : "f";
    std::string stem = "Sleef_finz_" + function + letter;
    std::string scalar = stem + "1_u10purecfma";
    llvm::Type* element = type(t);
    auto declare_form = [&](const std::string& symbol, llvm::Type* type) {
        llvm::Function* f = out->getFunction(symbol);
        if (!f) {
            f = declare(symbol.c_str(), llvm::FunctionType::get(type, {type}, false));
            f->setDoesNotAccessMemory();
            f->setDoesNotThrow();
            f->setWillReturn();
        }
        return f;
    };
    llvm::Function* f = declare_form(scalar, element);
    llvm::CallInst* call = b.CreateCall(f, {x});
    std::string variants;
    for (int bytes : {64, 32, 16}) {
        if (bytes > width_of_vectors) continue;
        int lanes = bytes / static_cast<int>(size_of(t));
        const char* extension = bytes == 64 ? "avx512f" : bytes == 32 ? "avx2" : "avx2128";
        std::string symbol = stem + std::to_string(lanes) + "_u10" + extension;
        llvm::Function* form =
            declare_form(symbol, llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes)));
        if (std::find(used_.begin(), used_.end(), form) == used_.end()) used_.push_back(form);
        variants += (variants.empty() ? "" : ",") + variant(scalar, symbol, lanes);
    }
    if (!variants.empty()) {
        call->addFnAttr(llvm::Attribute::get(context, "vector-function-abi-variant", variants));
    }
    return call;
}

}  // namespace unisono::codegen
