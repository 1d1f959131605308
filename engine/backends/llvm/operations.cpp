// Emits scalar operations and casts with exactly the semantics of docs/ir.md; no operand makes
// undefined behaviour.
#include <cmath>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

Value* FunctionEmitter::unary(ir::E e) {
    Value* a = emit(e->args[0]);
    DType t = e->args[0]->dtype;
    switch (e->op) {
        case Op::Neg: return is_float(t) ? b_.CreateFNeg(a) : b_.CreateNeg(a);
        case Op::Abs:
            if (is_float(t)) return intrinsic(Intrinsic::fabs, a);
            if (info(t).kind != 'i') return a;
            return b_.CreateBinaryIntrinsic(Intrinsic::abs, a, b_.getFalse());
        case Op::Sqrt: return intrinsic(Intrinsic::sqrt, a);
        case Op::Floor: return intrinsic(Intrinsic::floor, a);
        case Op::Ceil: return intrinsic(Intrinsic::ceil, a);
        case Op::Trunc: return intrinsic(Intrinsic::trunc, a);
        case Op::Not:
        case Op::Invert: return b_.CreateNot(a);
        case Op::Rint: return intrinsic(Intrinsic::rint, a);
        case Op::IsNan: return b_.CreateFCmpUNO(a, a);
        case Op::IsInf: return b_.CreateFCmpOEQ(intrinsic(Intrinsic::fabs, a), infinity(a));
        case Op::IsFinite: return b_.CreateFCmpOLT(intrinsic(Intrinsic::fabs, a), infinity(a));
        case Op::SignBit: {
            Value* bits = b_.CreateBitCast(a, b_.getIntNTy(a->getType()->getScalarSizeInBits()));
            return b_.CreateICmpSLT(bits, llvm::ConstantInt::get(bits->getType(), 0));
        }
        case Op::Sign: return sign(a, t);
        case Op::Exponent: return exponent(a);
        case Op::BitCount: {
            Value* size = info(t).kind == 'i'
                              ? b_.CreateBinaryIntrinsic(Intrinsic::abs, a, b_.getFalse())
                              : a;
            return b_.CreateZExtOrTrunc(intrinsic(Intrinsic::ctpop, size), b_.getInt8Ty());
        }
        default: break;
    }
    if (is_math(e->op)) return m_.call_math(b_, e->op, a, nullptr);
    fail(ErrorKind::Internal, "llvm: no code for the operation " + std::string(name(e->op)));
}

Value* FunctionEmitter::infinity(Value* like) {
    return llvm::ConstantFP::getInfinity(like->getType());
}

/// -1, 0, 1 or NaN.
Value* FunctionEmitter::sign(Value* a, DType t) {
    llvm::Type* type = a->getType();
    if (!is_float(t)) {
        Value* zero = llvm::ConstantInt::get(type, 0);
        Value* above = b_.CreateZExt(
            info(t).kind == 'i' ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero), type);
        if (info(t).kind != 'i') return above;
        return b_.CreateSub(above, b_.CreateZExt(b_.CreateICmpSLT(a, zero), type));
    }
    Value* zero = llvm::ConstantFP::get(type, 0.0);
    auto choose = [&](Value* condition, double yes, Value* no) {
        return b_.CreateSelect(condition, llvm::ConstantFP::get(type, yes), no);
    };
    Value* s = choose(b_.CreateFCmpOGT(a, zero), 1, choose(b_.CreateFCmpOLT(a, zero), -1, zero));
    return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, s);
}

/// As rules::exponent.
Value* FunctionEmitter::exponent(Value* a) {
    llvm::Type* type = a->getType();
    const llvm::fltSemantics& format = type->getScalarType()->getFltSemantics();
    const int digits = static_cast<int>(llvm::APFloat::semanticsPrecision(format));
    const int least = llvm::APFloat::semanticsMinExponent(format);  // of normal numbers
    auto real = [&](double v) { return llvm::ConstantFP::get(type, v); };
    auto bits_of = [&](Value* v) {
        return b_.CreateBitCast(v, b_.getIntNTy(type->getScalarSizeInBits()));
    };
    const double unit = std::ldexp(1.0, digits - 1);
    Value* size = intrinsic(Intrinsic::fabs, a);
    Value* is_small = b_.CreateFCmpOLT(size, real(std::ldexp(1.0, least)));
    Value* scaled = b_.CreateSelect(is_small, b_.CreateFMul(size, real(2 * unit)), size);
    Value* bits = b_.CreateLShr(bits_of(scaled), static_cast<std::uint64_t>(digits - 1));
    Value* e = b_.CreateFSub(b_.CreateBitCast(b_.CreateOr(bits, bits_of(real(unit))), type),
                             real(unit - least));
    e = b_.CreateFSub(e, b_.CreateSelect(is_small, real(digits), real(0)));
    Value* is_plain =
        b_.CreateAnd(b_.CreateFCmpOGT(size, real(0)), b_.CreateFCmpOLT(size, infinity(a)));
    return b_.CreateSelect(is_plain, e, real(0));
}

Value* FunctionEmitter::binary(ir::E e) {
    Value* a = emit(e->args[0]);
    return combine(e->op, e->args[0]->dtype, a, emit(e->args[1]));
}

Value* FunctionEmitter::combine(Op op, DType t, Value* a, Value* b) {
    if (is_comparison(op)) return compare(op, t, a, b);
    if (is_float(t)) return float_operation(op, a, b);
    if (is_bool(t)) return bool_operation(op, a, b);
    return integer_operation(op, t, a, b);
}

Value* FunctionEmitter::compare(Op op, DType t, Value* a, Value* b) {
    if (is_float(t)) {
        switch (op) {
            case Op::Lt: return b_.CreateFCmpOLT(a, b);
            case Op::Le: return b_.CreateFCmpOLE(a, b);
            case Op::Gt: return b_.CreateFCmpOGT(a, b);
            case Op::Ge: return b_.CreateFCmpOGE(a, b);
            case Op::Eq: return b_.CreateFCmpOEQ(a, b);
            default: return b_.CreateFCmpUNE(a, b);
        }
    }
    bool is_signed = info(t).kind == 'i';
    switch (op) {
        case Op::Lt: return is_signed ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
        case Op::Le: return is_signed ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b);
        case Op::Gt: return is_signed ? b_.CreateICmpSGT(a, b) : b_.CreateICmpUGT(a, b);
        case Op::Ge: return is_signed ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
        case Op::Eq: return b_.CreateICmpEQ(a, b);
        default: return b_.CreateICmpNE(a, b);
    }
}

Value* FunctionEmitter::float_operation(Op op, Value* a, Value* b) {
    switch (op) {
        case Op::Add: return b_.CreateFAdd(a, b);
        case Op::Sub: return b_.CreateFSub(a, b);
        case Op::Mul: return b_.CreateFMul(a, b);
        case Op::Div: return b_.CreateFDiv(a, b);
        case Op::FloorDiv:
        case Op::Mod: return divide_floats(op, a, b);
        case Op::Min:
        case Op::Max: {
            // Where b is NaN the ordered comparison is false and chooses b; where a is, the second
            // select does.
            Value* ordered = op == Op::Min ? b_.CreateFCmpOLE(a, b) : b_.CreateFCmpOGE(a, b);
            Value* chosen = b_.CreateSelect(ordered, a, b);
            return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, chosen);
        }
        case Op::Fmin:
        case Op::Fmax: {
            Value* ordered = op == Op::Fmin ? b_.CreateFCmpOLE(a, b) : b_.CreateFCmpOGE(a, b);
            return b_.CreateSelect(b_.CreateOr(ordered, b_.CreateFCmpUNO(b, b)), a, b);
        }
        case Op::Fmod: return m_.remainder(b_, a, b);
        case Op::CopySign: return b_.CreateBinaryIntrinsic(Intrinsic::copysign, a, b);
        default: break;
    }
    DType t = a->getType()->isDoubleTy() ? DType::Float64 : DType::Float32;
    return is_math(op) ? m_.call_math(b_, op, a, b) : m_.call_rule(b_, op, t, a, b);
}

/// NumPy's npy_divmod.
Value* FunctionEmitter::divide_floats(Op op, Value* a, Value* b) {
    llvm::Type* t = a->getType();
    Value* zero = llvm::ConstantFP::get(t, 0.0);
    Value* one = llvm::ConstantFP::get(t, 1.0);
    Value* by_zero = b_.CreateFCmpOEQ(b, zero);
    Value* mod = m_.remainder(b_, a, b);
    Value* has_mod = b_.CreateFCmpUNE(mod, zero);
    Value* opposite = b_.CreateXor(b_.CreateFCmpOLT(b, zero), b_.CreateFCmpOLT(mod, zero));
    Value* adjust = b_.CreateAnd(has_mod, opposite);
    if (op == Op::Mod) {
        Value* moved = b_.CreateSelect(adjust, b_.CreateFAdd(mod, b), mod);
        Value* signed_zero = b_.CreateBinaryIntrinsic(Intrinsic::copysign, zero, b);
        return b_.CreateSelect(by_zero, mod, b_.CreateSelect(has_mod, moved, signed_zero));
    }
    Value* div = b_.CreateFDiv(b_.CreateFSub(a, mod), b);
    div = b_.CreateSelect(adjust, b_.CreateFSub(div, one), div);
    Value* floored = intrinsic(Intrinsic::floor, div);
    Value* far = b_.CreateFCmpOGT(b_.CreateFSub(div, floored), llvm::ConstantFP::get(t, 0.5));
    Value* rounded = b_.CreateSelect(far, b_.CreateFAdd(floored, one), floored);
    Value* plain = b_.CreateFDiv(a, b);
    Value* signed_zero = b_.CreateBinaryIntrinsic(Intrinsic::copysign, zero, plain);
    Value* result = b_.CreateSelect(b_.CreateFCmpUNE(div, zero), rounded, signed_zero);
    return b_.CreateSelect(by_zero, plain, result);
}

Value* FunctionEmitter::integer_operation(Op op, DType t, Value* a, Value* b) {
    bool is_signed = info(t).kind == 'i';
    switch (op) {
        case Op::Add: return b_.CreateAdd(a, b);
        case Op::Sub: return b_.CreateSub(a, b);
        case Op::Mul: return b_.CreateMul(a, b);
        case Op::FloorDiv:
        case Op::Mod: return divide_integers(op, a, b, is_signed);
        case Op::Min:
        case Op::Fmin:
            return b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smin : Intrinsic::umin, a, b);
        case Op::Max:
        case Op::Fmax:
            return b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smax : Intrinsic::umax, a, b);
        case Op::And: return b_.CreateAnd(a, b);
        case Op::Or: return b_.CreateOr(a, b);
        case Op::Xor: return b_.CreateXor(a, b);
        case Op::Shl:
        case Op::Shr: return shift(op, a, b, is_signed);
        case Op::Fmod: return divide_integers(op, a, b, is_signed);
        default: break;
    }
    return m_.call_rule(b_, op, t, a, b);
}

/// Divisors of 0 and -1 are replaced by 1, whose remainder is 0, too: the processor would trap, and
/// loops test a divisor of theirs once.
Value* FunctionEmitter::divide_integers(Op op, Value* a, Value* b, bool is_signed) {
    llvm::Type* t = a->getType();
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(b);
    bool is_power = known && known->getValue().isPowerOf2() &&
                    (!is_signed || known->getValue().isStrictlyPositive());
    if (is_power && op == Op::Mod) return b_.CreateAnd(a, known->getValue() - 1);
    if (is_power && op == Op::FloorDiv) {
        // Rounds to minus infinity, as a shift does.
        std::uint64_t bits = known->getValue().logBase2();
        return is_signed ? b_.CreateAShr(a, bits) : b_.CreateLShr(a, bits);
    }
    Value* zero = llvm::ConstantInt::get(t, 0);
    Value* one = llvm::ConstantInt::get(t, 1);
    Value* by_zero = b_.CreateICmpEQ(b, zero);
    if (!is_signed) {
        Value* divisor = b_.CreateSelect(by_zero, one, b);
        if (op == Op::Fmod) return b_.CreateSelect(by_zero, zero, b_.CreateURem(a, divisor));
        if (op == Op::Mod) return b_.CreateURem(a, divisor);
        return b_.CreateSelect(by_zero, zero, b_.CreateUDiv(a, divisor));
    }
    Value* negates = b_.CreateICmpEQ(b, llvm::ConstantInt::getSigned(t, -1));
    Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, negates), one, b);
    Value* remainder = b_.CreateSRem(a, divisor);
    if (op == Op::Fmod) return remainder;
    Value* opposite = b_.CreateICmpSLT(b_.CreateXor(remainder, divisor), zero);
    Value* adjust = b_.CreateAnd(b_.CreateICmpNE(remainder, zero), opposite);
    if (op == Op::Mod) return b_.CreateSelect(adjust, b_.CreateAdd(remainder, divisor), remainder);
    Value* quotient = b_.CreateSDiv(a, divisor);
    quotient = b_.CreateSelect(adjust, b_.CreateSub(quotient, one), quotient);
    quotient = b_.CreateSelect(negates, b_.CreateNeg(a), quotient);
    return b_.CreateSelect(by_zero, zero, quotient);
}

Value* FunctionEmitter::shift(Op op, Value* a, Value* b, bool is_signed) {
    llvm::Type* t = a->getType();
    Value* zero = llvm::ConstantInt::get(t, 0);
    // As unsigned numbers, negative counts are wide too.
    Value* inside = b_.CreateICmpULT(b, llvm::ConstantInt::get(t, t->getIntegerBitWidth()));
    Value* count = b_.CreateSelect(inside, b, zero);
    if (op == Op::Shl) return b_.CreateSelect(inside, b_.CreateShl(a, count), zero);
    if (!is_signed) return b_.CreateSelect(inside, b_.CreateLShr(a, count), zero);
    Value* sign = b_.CreateAShr(a, llvm::ConstantInt::get(t, t->getIntegerBitWidth() - 1));
    return b_.CreateSelect(inside, b_.CreateAShr(a, count), sign);
}

Value* FunctionEmitter::bool_operation(Op op, Value* a, Value* b) {
    switch (op) {
        case Op::And:
        case Op::Fmin:
        case Op::Min: return b_.CreateAnd(a, b);
        case Op::Or:
        case Op::Fmax:
        case Op::Max: return b_.CreateOr(a, b);
        case Op::Xor: return b_.CreateXor(a, b);
        default: break;
    }
    fail(ErrorKind::Internal,
         "llvm: no code for the operation " + std::string(name(op)) + " on bools");
}

Value* FunctionEmitter::cast(ir::E e) {
    Value* x = emit(e->args[0]);
    DType from = e->args[0]->dtype, to = e->dtype;
    if (from == to) return x;
    if (is_half(from) || is_half(to)) return half_cast(x, from, to);
    llvm::Type* t = m_.type(to);
    if (is_bool(to)) {
        if (is_float(from)) return b_.CreateFCmpUNE(x, llvm::ConstantFP::get(x->getType(), 0.0));
        return b_.CreateICmpNE(x, llvm::ConstantInt::get(x->getType(), 0));
    }
    if (is_float(from)) {
        if (to == DType::Float64) return b_.CreateFPExt(x, t);
        if (to == DType::Float32) return b_.CreateFPTrunc(x, t);
        if (size_of(to) < 4) return b_.CreateTrunc(float_to_integer(x, from, DType::Int32), t);
        if (is_signed(to)) return float_to_integer(x, from, to);
        // The upper half of the range as the lower one, with the top bit set.
        Value* half = llvm::ConstantFP::get(x->getType(), size_of(to) == 8 ? 0x1p63 : 0x1p31);
        Value* upper = b_.CreateFCmpOGE(x, half);
        Value* low = float_to_integer(b_.CreateSelect(upper, b_.CreateFSub(x, half), x), from,
                                      dtype_of('i', size_of(to)));
        Value* top =
            llvm::ConstantInt::get(t, llvm::APInt::getSignedMinValue(t->getIntegerBitWidth()));
        return b_.CreateSelect(upper, b_.CreateXor(low, top), low);
    }
    bool has_sign = is_signed(from);
    if (is_float(to)) return has_sign ? b_.CreateSIToFP(x, t) : b_.CreateUIToFP(x, t);
    return has_sign ? b_.CreateSExtOrTrunc(x, t) : b_.CreateZExtOrTrunc(x, t);
}

/// float16 is an integer of 16 bits but in its casts from and to floats, which processors have.
Value* FunctionEmitter::half_cast(Value* x, DType from, DType to) {
    llvm::Type* half = llvm::Type::getHalfTy(m_.context);
    llvm::Type* single = llvm::Type::getFloatTy(m_.context);
    if (is_half(from)) {
        UNISONO_ASSERT(to == DType::Float32);
        return b_.CreateFPExt(b_.CreateBitCast(x, half), single);
    }
    UNISONO_ASSERT(is_float(from));
    if (from == DType::Float64) {
        // As round_to_odd of core/half.h.
        Value* word = b_.CreateBitCast(x, m_.i64);
        const std::int64_t lost = (std::int64_t{1} << 29) - 1;
        Value* is_exact = b_.CreateICmpEQ(b_.CreateAnd(word, int64(lost)), int64(0));
        Value* odd = b_.CreateSelect(is_exact, int64(0), int64(lost + 1));
        word = b_.CreateOr(b_.CreateAnd(word, int64(~lost)), odd);
        x = b_.CreateFPTrunc(b_.CreateBitCast(word, x->getType()), single);
    }
    return b_.CreateBitCast(b_.CreateFPTrunc(x, half), m_.type(to));
}

/// The conversion's poison outside the range is not chosen by the select.
Value* FunctionEmitter::float_to_integer(Value* x, DType from, DType to) {
    llvm::Type* t = m_.type(to);
    unsigned bits = t->getIntegerBitWidth();
    Value* minimum = llvm::ConstantInt::get(t, llvm::APInt::getSignedMinValue(bits));
    auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
    Value* inside = nullptr;
    if (from == DType::Float64 && bits == 32) {
        // float64 has values between -2^31 - 1 and -2^31, which truncate into range.
        inside = b_.CreateAnd(b_.CreateFCmpOGT(x, number(-0x1p31 - 1)),
                              b_.CreateFCmpOLT(x, number(0x1p31)));
    } else {
        // The minimum itself is what is selected outside.
        Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
        inside = b_.CreateFCmpOLT(size, number(bits == 64 ? 0x1p63 : 0x1p31));
    }
    return b_.CreateSelect(inside, b_.CreateFPToSI(x, t), minimum);
}

}  // namespace unisono::codegen
