// What PTX lacks as an operation, as LLVM functions emitted once per module: fmod.
#include "backends/llvm/emitter.h"

namespace unisono::codegen {

namespace {

namespace Intrinsic = llvm::Intrinsic;

/// Builds one function of floats; blocks are named for readers of the PTX.
struct Body {
    llvm::Function* f;
    llvm::IRBuilder<> b;
    explicit Body(llvm::Function* function)
        : f(function), b(llvm::BasicBlock::Create(function->getContext(), "entry", function)) {}
    llvm::BasicBlock* block(const char* name) {
        return llvm::BasicBlock::Create(f->getContext(), name, f);
    }
};

/// A float's bits as an integer significand (its leading bit at a fixed place, subnormals
/// normalised) and the exponent that belongs to it.
struct Parts {
    Value *significand, *exponent;
};

Parts split(llvm::IRBuilder<>& b, Value* magnitude, unsigned width, unsigned fraction) {
    llvm::Type* t = magnitude->getType();
    auto number = [&](std::uint64_t v) { return llvm::ConstantInt::get(t, v); };
    Value* exponent = b.CreateLShr(magnitude, fraction);
    Value* normal = b.CreateICmpNE(exponent, number(0));
    Value* low = b.CreateAnd(magnitude, number((std::uint64_t{1} << fraction) - 1));
    Value* leading = b.CreateBinaryIntrinsic(Intrinsic::ctlz, magnitude, b.getFalse());
    // Places by which a subnormal's leading bit lies below that of a normal number.
    Value* shift =
        b.CreateSelect(normal, number(0), b.CreateSub(leading, number(width - 1 - fraction)));
    Value* significand = b.CreateSelect(
        normal, b.CreateOr(low, number(std::uint64_t{1} << fraction)), b.CreateShl(low, shift));
    return {significand, b.CreateSelect(normal, exponent, b.CreateSub(number(1), shift))};
}

/// C's fmod, exactly: long division of significands, one bit at a time.
void emit_fmod(llvm::Function* f) {
    Body body(f);
    llvm::IRBuilder<>& b = body.b;
    Value *x = f->getArg(0), *y = f->getArg(1);
    unsigned width = x->getType()->getScalarSizeInBits();
    unsigned fraction = width == 64 ? 52 : 23;
    llvm::Type* t = b.getIntNTy(width);
    auto number = [&](std::uint64_t v) { return llvm::ConstantInt::get(t, v); };
    Value* zero = number(0);
    Value* x_bits = b.CreateBitCast(x, t);
    Value* sign = b.CreateAnd(x_bits, number(std::uint64_t{1} << (width - 1)));
    Value* x_size = b.CreateXor(x_bits, sign);
    Value* y_size =
        b.CreateAnd(b.CreateBitCast(y, t), number((std::uint64_t{1} << (width - 1)) - 1));
    Value* infinity = number(width == 64 ? 0x7ff0000000000000 : 0x7f800000);

    llvm::BasicBlock *invalid = body.block("invalid"), *compare = body.block("compare"),
                     *small = body.block("small"), *divide = body.block("divide"),
                     *step = body.block("step"), *last = body.block("last"),
                     *done = body.block("done");
    Value* bad = b.CreateOr(b.CreateICmpEQ(y_size, zero), b.CreateICmpUGT(y_size, infinity));
    b.CreateCondBr(b.CreateOr(bad, b.CreateICmpUGE(x_size, infinity)), invalid, compare);
    b.SetInsertPoint(invalid);
    b.CreateRet(llvm::ConstantFP::getNaN(x->getType()));
    b.SetInsertPoint(compare);
    b.CreateCondBr(b.CreateICmpULT(x_size, y_size), small, divide);
    b.SetInsertPoint(small);
    b.CreateRet(x);

    b.SetInsertPoint(divide);
    Parts numerator = split(b, x_size, width, fraction);
    Parts divisor = split(b, y_size, width, fraction);
    Value* more = b.CreateICmpSGT(numerator.exponent, divisor.exponent);
    b.CreateCondBr(more, step, last);

    b.SetInsertPoint(step);
    llvm::PHINode* rest = b.CreatePHI(t, 2);
    llvm::PHINode* exponent = b.CreatePHI(t, 2);
    Value* fits = b.CreateICmpUGE(rest, divisor.significand);
    Value* reduced = b.CreateSelect(fits, b.CreateSub(rest, divisor.significand), rest);
    Value* doubled = b.CreateShl(reduced, 1);
    Value* lower = b.CreateSub(exponent, number(1));
    rest->addIncoming(numerator.significand, divide);
    rest->addIncoming(doubled, step);
    exponent->addIncoming(numerator.exponent, divide);
    exponent->addIncoming(lower, step);
    b.CreateCondBr(b.CreateICmpSGT(lower, divisor.exponent), step, last);

    b.SetInsertPoint(last);
    llvm::PHINode* left = b.CreatePHI(t, 2);
    left->addIncoming(numerator.significand, divide);
    left->addIncoming(doubled, step);
    Value* remainder = b.CreateSelect(b.CreateICmpUGE(left, divisor.significand),
                                      b.CreateSub(left, divisor.significand), left);
    llvm::BasicBlock* compose = body.block("compose");
    b.CreateCondBr(b.CreateICmpEQ(remainder, zero), done, compose);
    b.SetInsertPoint(done);
    b.CreateRet(b.CreateBitCast(sign, x->getType()));

    b.SetInsertPoint(compose);
    Value* leading = b.CreateBinaryIntrinsic(Intrinsic::ctlz, remainder, b.getFalse());
    Value* shift = b.CreateSub(leading, number(width - 1 - fraction));
    Value* scaled = b.CreateShl(remainder, shift);
    Value* power = b.CreateSub(divisor.exponent, shift);
    Value* is_normal = b.CreateICmpSGT(power, zero);
    Value* low = b.CreateAnd(scaled, number((std::uint64_t{1} << fraction) - 1));
    Value* normal = b.CreateOr(low, b.CreateShl(b.CreateSelect(is_normal, power, zero), fraction));
    Value* down = b.CreateSelect(is_normal, zero, b.CreateSub(number(1), power));
    Value* size = b.CreateSelect(is_normal, normal, b.CreateLShr(scaled, down));
    b.CreateRet(b.CreateBitCast(b.CreateOr(size, sign), x->getType()));
}

}  // namespace

/// The function of that name, emitted at its first use.
llvm::Function* ModuleEmitter::device_function(const std::string& name, llvm::Type* type,
                                               unsigned arity, void (*emit)(llvm::Function*)) {
    if (llvm::Function* found = out->getFunction(name)) return found;
    std::vector<llvm::Type*> types(arity, type);
    auto* made = llvm::Function::Create(llvm::FunctionType::get(type, types, false),
                                        llvm::GlobalValue::InternalLinkage, name, out.get());
    made->setDoesNotThrow();
    emit(made);
    return made;
}

Value* ModuleEmitter::remainder(llvm::IRBuilder<>& b, Value* x, Value* y) {
    if (!for_device() && !target.portable_math) return b.CreateFRem(x, y);
    llvm::Type* t = x->getType();
    return b.CreateCall(device_function(t->isDoubleTy() ? "un_fmod" : "un_fmodf", t, 2, emit_fmod),
                        {x, y});
}

}  // namespace unisono::codegen
