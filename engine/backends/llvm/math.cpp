// Calls of the engine's own functions: what the pass expand_math leaves of mathematical functions,
// and rules of operations.
#include <llvm/IR/MDBuilder.h>
#include <llvm/TargetParser/Host.h>

#include "backends/llvm/emitter.h"
#include "ops/functions/table.h"

namespace unisono::codegen {

namespace {

/// "_ZGV_LLVM_N<lanes>v_<scalar>(<vector>)": declares a vector variant to the vectoriser.
std::string variant(const std::string& scalar, const std::string& vector, int lanes,
                    bool is_binary) {
    return "_ZGV_LLVM_N" + std::to_string(lanes) + (is_binary ? "vv_" : "v_") + scalar + "(" +
           vector + ")";
}

/// The lanes that need a long form, and the value where none does.
std::pair<Value*, Value*> long_form_guard(llvm::IRBuilder<>& b, Value* x, Value* y) {
    Value* limit = llvm::ConstantFP::get(x->getType(), functions::largest_angle);
    return {b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), limit), y};
}
/// The lanes with whole exponents.
std::pair<Value*, Value*> power_guard(llvm::IRBuilder<>& b, Value*, Value* y) {
    Value* whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, y);
    return {b.CreateFCmpOEQ(whole, y), llvm::Constant::getNullValue(y->getType())};
}

/// C's nextafter by the bits of its operands, for devices; NaN of x comes before that of y.
Value* next_after(llvm::IRBuilder<>& b, Value* x, Value* y) {
    llvm::Type* t = b.getIntNTy(x->getType()->getScalarSizeInBits());
    Value* one = llvm::ConstantInt::get(t, 1);
    Value* zero = llvm::Constant::getNullValue(x->getType());
    Value* bits = b.CreateBitCast(x, t);
    Value* sign = llvm::ConstantInt::get(t, std::uint64_t{1} << (t->getIntegerBitWidth() - 1));
    // Away from zero where y lies further in x's own direction.
    Value* grows = b.CreateICmpEQ(b.CreateFCmpOLT(x, y), b.CreateFCmpOGT(x, zero));
    Value* moved = b.CreateSelect(grows, b.CreateAdd(bits, one), b.CreateSub(bits, one));
    Value* smallest = b.CreateOr(b.CreateAnd(b.CreateBitCast(y, t), sign), one);
    Value* made =
        b.CreateBitCast(b.CreateSelect(b.CreateFCmpOEQ(x, zero), smallest, moved), x->getType());
    made = b.CreateSelect(b.CreateFCmpUEQ(x, y), y, made);  // equal, or one of them NaN
    return b.CreateSelect(b.CreateFCmpUNO(x, x), x, made);
}

/// The blocks of a function with one loop, which is left where its test says.
struct LoopBlocks {
    llvm::BasicBlock *entry, *test, *step, *done;
    explicit LoopBlocks(llvm::Function* f) {
        auto block = [&](const char* name) {
            return llvm::BasicBlock::Create(f->getContext(), name, f);
        };
        entry = block("entry"), test = block("test"), step = block("step"), done = block("done");
    }
};

/// For devices, x to the power n by squaring, wrapping (ops/scalar_rules.h).
void emit_power(llvm::Function* f) {
    const LoopBlocks blocks(f);
    llvm::IRBuilder<> b(blocks.entry);
    llvm::Type* t = f->getReturnType();
    Value *zero = llvm::ConstantInt::get(t, 0), *one = llvm::ConstantInt::get(t, 1);
    b.CreateBr(blocks.test);
    b.SetInsertPoint(blocks.test);
    llvm::PHINode *rest = b.CreatePHI(t, 2), *factor = b.CreatePHI(t, 2),
                  *product = b.CreatePHI(t, 2);
    b.CreateCondBr(b.CreateICmpEQ(rest, zero), blocks.done, blocks.step);
    b.SetInsertPoint(blocks.step);
    Value* is_odd = b.CreateICmpNE(b.CreateAnd(rest, one), zero);
    Value* more = b.CreateSelect(is_odd, b.CreateMul(product, factor), product);
    auto from_step = [&](llvm::PHINode* phi, Value* first, Value* next) {
        phi->addIncoming(first, blocks.entry);
        phi->addIncoming(next, blocks.step);
    };
    from_step(rest, f->getArg(1), b.CreateLShr(rest, one));
    from_step(factor, f->getArg(0), b.CreateMul(factor, factor));
    from_step(product, one, more);
    b.CreateBr(blocks.test);
    b.SetInsertPoint(blocks.done);
    b.CreateRet(product);
}

/// The greatest common divisor of magnitudes by Euclid's algorithm.
void emit_divisor(llvm::Function* f) {
    const LoopBlocks blocks(f);
    llvm::IRBuilder<> b(blocks.entry);
    llvm::Type* t = f->getReturnType();
    b.CreateBr(blocks.test);
    b.SetInsertPoint(blocks.test);
    llvm::PHINode *x = b.CreatePHI(t, 2), *y = b.CreatePHI(t, 2);
    b.CreateCondBr(b.CreateICmpEQ(y, llvm::ConstantInt::get(t, 0)), blocks.done, blocks.step);
    b.SetInsertPoint(blocks.step);
    x->addIncoming(f->getArg(0), blocks.entry);
    y->addIncoming(f->getArg(1), blocks.entry);
    x->addIncoming(y, blocks.step);
    y->addIncoming(b.CreateURem(x, y), blocks.step);
    b.CreateBr(blocks.test);
    b.SetInsertPoint(blocks.done);
    b.CreateRet(x);
}

/// Power, Gcd and Lcm of integers for devices, at 32 or 64 bits, by a function of those two.
Value* integer_rule(llvm::IRBuilder<>& b, Op op, bool is_signed, llvm::Function* function, Value* x,
                    Value* y) {
    llvm::Type *narrow = x->getType(), *wide = function->getReturnType();
    x = b.CreateIntCast(x, wide, is_signed);
    y = b.CreateIntCast(y, wide, is_signed);
    Value *zero = llvm::ConstantInt::get(wide, 0), *one = llvm::ConstantInt::get(wide, 1);
    if (op == Op::Power) {
        Value* below = is_signed ? b.CreateICmpSLT(y, zero) : b.getFalse();
        Value* power = b.CreateCall(function, {x, b.CreateSelect(below, zero, y)});
        return b.CreateTrunc(b.CreateSelect(below, zero, power), narrow);
    }
    if (is_signed) {
        x = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());
        y = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, y, b.getFalse());
    }
    Value* made = b.CreateCall(function, {x, y});
    if (op == Op::Lcm) {
        Value* is_zero = b.CreateICmpEQ(made, zero);
        Value* quotient = b.CreateUDiv(x, b.CreateSelect(is_zero, one, made));
        made = b.CreateSelect(is_zero, zero, b.CreateMul(quotient, y));
    }
    return b.CreateTrunc(made, narrow);
}

}  // namespace

llvm::Function* ModuleEmitter::declare_pure(const std::string& symbol, llvm::Type* result,
                                            llvm::Type* operand, int arity) {
    llvm::Function* f = out->getFunction(symbol);
    if (f) return f;
    llvm::SmallVector<llvm::Type*, 2> operands(static_cast<unsigned>(arity), operand);
    f = declare(symbol.c_str(), llvm::FunctionType::get(result, operands, false));
    f->setDoesNotAccessMemory();
    f->setWillReturn();
    return f;
}

Value* ModuleEmitter::call_math(llvm::IRBuilder<>& b, Op op, Value* x, Value* y) {
    if (for_device()) {
        unsupported(std::string(name(op)) +
                    ": this function has no PTX form yet; got a kernel that calls it; run it "
                    "on the cpu or an opencl device");
    }
    if (functions::is_long_form(op)) return call_long_form(b, op, x, y);
    if (op == Op::Power) return call_power(b, x, y);
    fail(ErrorKind::Internal, "llvm: no code for the function " + std::string(name(op)));
}

/// A vector form behind its test, which the caller takes in: the call is rare.
llvm::Function* ModuleEmitter::guarded_form(const std::string& symbol, llvm::Type* vector,
                                            Guard guard) {
    std::string name = symbol + ".guarded";
    if (llvm::Function* made = out->getFunction(name)) return made;
    llvm::Function* form = declare_pure(symbol, vector, vector, 2);
    auto* f = llvm::Function::Create(form->getFunctionType(), llvm::Function::InternalLinkage, name,
                                     *out);
    f->setDoesNotAccessMemory();
    f->setWillReturn();
    f->setDoesNotThrow();
    f->addFnAttr(llvm::Attribute::AlwaysInline);
    auto* entry = llvm::BasicBlock::Create(context, "entry", f);
    auto* rare = llvm::BasicBlock::Create(context, "rare", f);
    auto* done = llvm::BasicBlock::Create(context, "done", f);
    llvm::IRBuilder<> b(entry);
    Value* x = f->getArg(0);
    Value* y = f->getArg(1);
    auto [test, otherwise] = guard(b, x, y);
    llvm::MDNode* weights = llvm::MDBuilder(context).createBranchWeights(1, 1 << 20);
    b.CreateCondBr(b.CreateOrReduce(test), rare, done, weights);
    b.SetInsertPoint(rare);
    Value* found = b.CreateCall(form, {x, y});
    b.CreateBr(done);
    b.SetInsertPoint(done);
    llvm::PHINode* value = b.CreatePHI(vector, 2);
    value->addIncoming(otherwise, entry);
    value->addIncoming(found, rare);
    b.CreateRet(value);
    return f;
}

/// The long reductions of angles are functions of the engine, in vectors too: y where |x| is small.
Value* ModuleEmitter::call_long_form(llvm::IRBuilder<>& b, Op op, Value* x, Value* y) {
    return call_with_lanes(b, "unisono_" + std::string(name(op)) + "_", x, y, &long_form_guard);
}

/// Powers are a function of the engine, in vectors too, where expand_math leaves them: for whole
/// exponents. What others give is not used.
Value* ModuleEmitter::call_power(llvm::IRBuilder<>& b, Value* x, Value* y) {
    bool is_narrow = x->getType() != b.getDoubleTy();
    std::string stem = "unisono_power_";
    return call_with_lanes(b, is_narrow ? stem + "narrow_" : stem, x, y, &power_guard);
}

/// A call of the function of numbers, which knows its vector forms; on float64.
Value* ModuleEmitter::call_with_lanes(llvm::IRBuilder<>& b, const std::string& stem, Value* x,
                                      Value* y, Guard guard) {
    llvm::Type* element = b.getDoubleTy();
    bool is_narrow = x->getType() != element;
    if (is_narrow) {
        x = b.CreateFPExt(x, element);
        y = b.CreateFPExt(y, element);
    }
    std::string scalar = stem + "1";
    llvm::CallInst* call = b.CreateCall(declare_pure(scalar, element, element, 2), {x, y});
    std::string variants;
    for (int lanes : {8, 4, 2}) {
        if (lanes * 8 > width_of_vectors) continue;
        std::string symbol = stem + std::to_string(lanes);
        auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
        llvm::Function* form = guarded_form(symbol, vector, guard);
        if (std::find(used_.begin(), used_.end(), form) == used_.end()) used_.push_back(form);
        variants +=
            (variants.empty() ? "" : ",") + variant(scalar, form->getName().str(), lanes, true);
    }
    call->addFnAttr(llvm::Attribute::get(context, "vector-function-abi-variant", variants));
    return is_narrow ? b.CreateFPTrunc(call, b.getFloatTy()) : call;
}

/// A call of the engine's own function (cpu/imports.cpp).
Value* ModuleEmitter::call_rule(llvm::IRBuilder<>& b, Op op, DType t, Value* x, Value* y) {
    std::string operation(name(op));
    if (for_device() && op == Op::NextAfter) return next_after(b, x, y);
    if (for_device() && (op == Op::Power || op == Op::Gcd || op == Op::Lcm)) {
        const bool is_power = op == Op::Power, is_wide = size_of(t) == 8;
        llvm::Function* function = device_function(
            std::string(is_power ? "un_power" : "un_divisor") + (is_wide ? "64" : "32"),
            is_wide ? i64 : i32, 2, is_power ? emit_power : emit_divisor);
        return integer_rule(b, op, is_signed(t), function, x, y);
    }
    if (for_device()) {
        unsupported(operation +
                    ": this function has no PTX form yet; got a kernel that calls it; "
                    "run it on the cpu or an opencl device");
    }
    std::string symbol = "unisono_" + operation + "_" + std::string(name(t));
    llvm::SmallVector<Value*, 2> operands{x};
    if (y) operands.push_back(y);
    llvm::CallInst* call =
        b.CreateCall(declare_pure(symbol, type(t), type(t), y ? 2 : 1), operands);
    if (is_integer(t) && size_of(t) < 4) {
        // The callee may take a narrow argument for an extended one.
        auto extended = is_signed(t) ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
        for (unsigned k = 0; k < call->arg_size(); ++k) call->addParamAttr(k, extended);
    }
    return call;
}

}  // namespace unisono::codegen
