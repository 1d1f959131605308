// Writes a function of C text, which comes as LLVM bitcode, as OpenCL C: a label for each block and
// a statement for each instruction.
//
// How it works. First all that the function calls is inlined and its local variables become values,
// so that most pointers are made of its parameters. Pointers are byte pointers in the address space
// of what they are made of; integers are unsigned, as those of LLVM have no sign.
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Passes/PassBuilder.h>

#include <map>
#include <vector>

#include "backends/codegen/native_text.h"
#include "core/error.h"

namespace unisono::codegen {

namespace {

using llvm::Value;

/// Where a pointer points. Any: it is null, or nothing is known yet.
enum class Space : unsigned char { Any, Global, Local, Private, Constant };

std::string_view qualifier(Space s) {
    switch (s) {
        case Space::Global: return "__global ";
        case Space::Local: return "__local ";
        case Space::Constant: return "__constant ";
        default: return "__private ";
    }
}

Space space_of(ir::Space s) {
    return s == ir::Space::Global  ? Space::Global
           : s == ir::Space::Local ? Space::Local
                                   : Space::Private;
}

/// C's name of a function of one to three numbers as OpenCL C spells it, or nothing.
std::string_view mathematics(llvm::StringRef name, std::size_t count) {
    static const std::map<std::string_view, std::pair<std::string_view, std::size_t>> known = {
        {"sin", {"sin", 1}},
        {"cos", {"cos", 1}},
        {"tan", {"tan", 1}},
        {"asin", {"asin", 1}},
        {"acos", {"acos", 1}},
        {"atan", {"atan", 1}},
        {"sinh", {"sinh", 1}},
        {"cosh", {"cosh", 1}},
        {"tanh", {"tanh", 1}},
        {"asinh", {"asinh", 1}},
        {"acosh", {"acosh", 1}},
        {"atanh", {"atanh", 1}},
        {"exp", {"exp", 1}},
        {"exp2", {"exp2", 1}},
        {"expm1", {"expm1", 1}},
        {"log", {"log", 1}},
        {"log2", {"log2", 1}},
        {"log10", {"log10", 1}},
        {"log1p", {"log1p", 1}},
        {"sqrt", {"sqrt", 1}},
        {"cbrt", {"cbrt", 1}},
        {"floor", {"floor", 1}},
        {"ceil", {"ceil", 1}},
        {"trunc", {"trunc", 1}},
        {"round", {"round", 1}},
        {"rint", {"rint", 1}},
        {"nearbyint", {"rint", 1}},
        {"fabs", {"fabs", 1}},
        {"erf", {"erf", 1}},
        {"erfc", {"erfc", 1}},
        {"tgamma", {"tgamma", 1}},
        {"lgamma", {"lgamma", 1}},
        {"pow", {"pow", 2}},
        {"atan2", {"atan2", 2}},
        {"fmod", {"fmod", 2}},
        {"hypot", {"hypot", 2}},
        {"fmin", {"fmin", 2}},
        {"fmax", {"fmax", 2}},
        {"fdim", {"fdim", 2}},
        {"copysign", {"copysign", 2}},
        {"remainder", {"remainder", 2}},
        {"nextafter", {"nextafter", 2}},
        {"fma", {"fma", 3}},
    };
    auto found = known.find({name.data(), name.size()});
    if (found == known.end() && name.ends_with("f"))
        found = known.find({name.data(), name.size() - 1});
    return found != known.end() && found->second.second == count ? found->second.first
                                                                 : std::string_view();
}

class TextWriter {
  public:
    TextWriter(llvm::Function& f, std::string symbol, std::string name,
               std::span<const ir::Space> pointers)
        : f_(f),
          layout_(f.getParent()->getDataLayout()),
          symbol_(std::move(symbol)),
          name_(std::move(name)) {
        std::size_t next = 0;
        for (llvm::Argument& a : f_.args()) {
            if (a.hasByValAttr() || a.hasStructRetAttr()) refuse("takes a struct by value");
            if (a.getType()->isPointerTy()) spaces_[&a] = space_of(pointers[next++]);
        }
    }

    NativeText write() {
        find_spaces();
        const std::string head =
            "static " +
            (f_.getReturnType()->isVoidTy() ? std::string("void")
                                            : type(f_.getReturnType(), Space::Any)) +
            " " + name_ + "(" + parameters() + ")\n{\n";
        for (llvm::BasicBlock& block : f_) labels_[&block] = "b" + std::to_string(labels_.size());
        std::string declared;
        for (llvm::BasicBlock& block : f_) {
            for (llvm::Instruction& i : block) declare(i, declared);
        }
        for (llvm::BasicBlock& block : f_) {
            body_ += "  " + labels_[&block] + ":;\n";
            for (llvm::Instruction& i : block) statement(i);
        }
        made_.text = constants_ + head + declared + body_ + "}\n";
        return std::move(made_);
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const {
        fail(ErrorKind::Unsupported, symbol_ + ": a C function that runs on a device " + what +
                                         "; expected arithmetic on numbers and arrays; call it on "
                                         "the cpu, or write that part without");
    }

    // ---- Types and address spaces

    std::string type(llvm::Type* t, Space space) {
        if (t->isPointerTy()) return std::string(qualifier(space)) + "uchar*";
        if (t->isDoubleTy()) {
            made_.has_float64 = true;
            return "double";
        }
        if (t->isFloatTy()) return "float";
        if (t->isIntegerTy()) {
            switch (t->getIntegerBitWidth()) {
                case 1: return "bool";
                case 8: return "uchar";
                case 16: return "ushort";
                case 32: return "uint";
                case 64: return "ulong";
                default: break;
            }
        }
        std::string spelled;
        llvm::raw_string_ostream stream(spelled);
        t->print(stream);
        refuse("has values that devices lack (" + stream.str() + ")");
    }

    Space space(const Value* v) {
        if (llvm::isa<llvm::ConstantPointerNull, llvm::UndefValue>(v)) return Space::Any;
        if (const auto* g = llvm::dyn_cast<llvm::GlobalVariable>(v)) {
            if (!g->isConstant() || !g->hasInitializer())
                refuse("uses the variable '" + g->getName().str() + "', which the host has");
            return Space::Constant;
        }
        if (const auto* e = llvm::dyn_cast<llvm::ConstantExpr>(v)) {
            if (!llvm::isa<llvm::GEPOperator>(e)) refuse("converts an address");
            return space(e->getOperand(0));
        }
        if (llvm::isa<llvm::Function>(v)) refuse("takes the address of a function");
        const auto found = spaces_.find(v);
        return found == spaces_.end() ? Space::Any : found->second;
    }

    Space joined(Space a, Space b) const {
        if (a == Space::Any) return b;
        if (b != Space::Any && a != b)
            refuse("has a pointer that points to arrays here and to its own variables there");
        return a;
    }

    Space space_made(const llvm::Instruction& i) {
        if (llvm::isa<llvm::AllocaInst>(i)) return Space::Private;
        if (llvm::isa<llvm::GetElementPtrInst, llvm::FreezeInst, llvm::BitCastInst>(i))
            return space(i.getOperand(0));
        Space found = Space::Any;
        if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
            for (const Value* v : phi->incoming_values()) found = joined(found, space(v));
        } else if (const auto* s = llvm::dyn_cast<llvm::SelectInst>(&i)) {
            found = joined(space(s->getTrueValue()), space(s->getFalseValue()));
        } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
            refuse("calls '" + called(*call) + "', which devices do not have");
        } else {
            refuse("keeps a pointer in memory, or makes one of a number");
        }
        return found;
    }

    void find_spaces() {
        for (bool changed = true; changed;) {
            changed = false;
            for (llvm::BasicBlock& block : f_) {
                for (llvm::Instruction& i : block) {
                    if (!i.getType()->isPointerTy()) continue;
                    Space& known = spaces_[&i];
                    const Space now = space_made(i);
                    changed = changed || now != known;
                    known = now;
                }
            }
        }
    }

    // ---- Values

    std::string parameters() {
        std::string out;
        for (llvm::Argument& a : f_.args()) {
            names_[&a] = "a" + std::to_string(a.getArgNo());
            out += (out.empty() ? "" : ", ") + type(a.getType(), space(&a)) + " " + names_[&a];
        }
        return out;
    }

    void declare(llvm::Instruction& i, std::string& out) {
        if (i.getType()->isVoidTy()) return;
        if (i.getType()->isStructTy()) refuse("returns several values at once");
        const std::string number = std::to_string(names_.size());
        names_[&i] = "v" + number;
        if (const auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
            const auto size = memory->getAllocationSize(layout_);
            if (!size || size->isScalable()) refuse("has an array of a size that is not constant");
            out += "    ulong m" + number + "[" +
                   std::to_string(std::max<std::uint64_t>((size->getFixedValue() + 7) / 8, 1)) +
                   "];\n";
        }
        out += "    " + type(i.getType(), space(&i)) + " v" + number + ";\n";
    }

    static std::string bits(std::uint64_t value, unsigned width) {
        const std::string digits = std::to_string(value);
        switch (width) {
            case 1: return value ? "true" : "false";
            case 8: return "(uchar)" + digits;
            case 16: return "(ushort)" + digits;
            case 32: return digits + "u";
            default: return digits + "ul";
        }
    }

    /// An operand; a pointer that may be null as one of `wanted`.
    std::string value(const Value* v, Space wanted = Space::Any) {
        if (const auto found = names_.find(v); found != names_.end()) return found->second;
        llvm::Type* t = v->getType();
        if (const auto* n = llvm::dyn_cast<llvm::ConstantInt>(v)) {
            type(t, Space::Any);
            return bits(n->getZExtValue(), t->getIntegerBitWidth());
        }
        if (const auto* x = llvm::dyn_cast<llvm::ConstantFP>(v)) {
            const std::uint64_t word = x->getValueAPF().bitcastToAPInt().getZExtValue();
            const std::string name = type(t, Space::Any);
            return "as_" + name + "(" + bits(word, name == "float" ? 32 : 64) + ")";
        }
        if (const auto* g = llvm::dyn_cast<llvm::GlobalVariable>(v)) return constant(*g);
        if (const auto* e = llvm::dyn_cast<llvm::GEPOperator>(v)) return moved(*e);
        if (t->isPointerTy()) return "((" + type(t, wanted) + ")0)";
        if (llvm::isa<llvm::UndefValue>(v)) return "(" + type(t, Space::Any) + ")0";
        refuse("has a constant that devices lack");
    }

    std::string with_sign(const Value* v) {
        const unsigned width = v->getType()->getIntegerBitWidth();
        if (width == 1) return "(" + value(v) + " ? -1 : 0)";
        const char* name = width == 8    ? "char"
                           : width == 16 ? "short"
                           : width == 32 ? "int"
                                         : "long";
        return "(" + std::string(name) + ")" + value(v);
    }

    std::string moved(const llvm::GEPOperator& g) {
        llvm::MapVector<Value*, llvm::APInt> variables;
        llvm::APInt fixed(64, 0);
        if (!g.collectOffset(layout_, 64, variables, fixed)) refuse("moves a pointer oddly");
        std::string out = "(" + value(g.getPointerOperand(), space(&g));
        for (const auto& [index, scale] : variables)
            out += " + (long)" + with_sign(index) + " * " + std::to_string(scale.getSExtValue());
        if (!fixed.isZero()) out += " + " + std::to_string(fixed.getSExtValue()) + "l";
        return out + ")";
    }

    // ---- Constant memory

    std::string constant(const llvm::GlobalVariable& g) {
        space(&g);  // refuses variables
        auto [at, is_new] = constant_names_.try_emplace(&g, "");
        if (is_new) {
            at->second = name_ + "_c" + std::to_string(constant_names_.size());
            std::vector<std::uint8_t> bytes(
                (layout_.getTypeAllocSize(g.getValueType()).getFixedValue() + 7) / 8 * 8);
            fill(*g.getInitializer(), bytes.data());
            constants_ += "__constant ulong " + at->second + "[] = {";
            for (std::size_t k = 0; k < bytes.size(); k += 8) {
                std::uint64_t word = 0;
                for (std::size_t b = 0; b < 8; ++b)
                    word |= static_cast<std::uint64_t>(bytes[k + b]) << (8 * b);
                constants_ += (k ? ", " : "") + bits(word, 64);
            }
            constants_ += bytes.empty() ? "0};\n" : "};\n";
        }
        return "((__constant uchar*)" + at->second + ")";
    }

    void fill(const llvm::Constant& c, std::uint8_t* to) const {
        if (c.isNullValue() || llvm::isa<llvm::UndefValue>(c)) return;
        auto put = [&](std::uint64_t word, std::uint64_t size) {
            for (std::uint64_t b = 0; b < size; ++b)
                to[b] = static_cast<std::uint8_t>(word >> (8 * b));
        };
        const std::uint64_t size = layout_.getTypeStoreSize(c.getType()).getFixedValue();
        if (const auto* n = llvm::dyn_cast<llvm::ConstantInt>(&c); n && size <= 8)
            return put(n->getZExtValue(), size);
        if (const auto* x = llvm::dyn_cast<llvm::ConstantFP>(&c); x && size <= 8)
            return put(x->getValueAPF().bitcastToAPInt().getZExtValue(), size);
        if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&c)) {
            const llvm::StringRef raw = data->getRawDataValues();
            std::copy(raw.begin(), raw.end(), to);
            return;
        }
        if (const auto* s = llvm::dyn_cast<llvm::ConstantStruct>(&c)) {
            const llvm::StructLayout* fields = layout_.getStructLayout(s->getType());
            for (unsigned k = 0; k < s->getNumOperands(); ++k)
                fill(*s->getOperand(k), to + fields->getElementOffset(k).getFixedValue());
            return;
        }
        if (const auto* a = llvm::dyn_cast<llvm::ConstantArray>(&c)) {
            const std::uint64_t step =
                layout_.getTypeAllocSize(a->getType()->getElementType()).getFixedValue();
            for (unsigned k = 0; k < a->getNumOperands(); ++k)
                fill(*a->getOperand(k), to + k * step);
            return;
        }
        refuse("has a table of addresses");
    }

    // ---- Statements

    void line(const std::string& text) { body_ += "    " + text + "\n"; }
    void set(const Value& v, const std::string& text) { line(names_.at(&v) + " = " + text + ";"); }

    /// Sets the values that a block takes from the one before it, and goes there.
    std::string jump(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
        std::string first, then;
        std::size_t number = 0;
        for (const llvm::PHINode& phi : to.phis()) {
            const std::string t = "t" + std::to_string(number++);
            first += type(phi.getType(), space(&phi)) + " " + t + " = " +
                     value(phi.getIncomingValueForBlock(&from), space(&phi)) + "; ";
            then += names_.at(&phi) + " = " + t + "; ";
        }
        return "{ " + first + then + "goto " + labels_.at(&to) + "; }";
    }

    void statement(llvm::Instruction& i) {
        using llvm::Instruction;
        auto operand = [&](unsigned k) { return value(i.getOperand(k)); };
        auto in_type = [&](const std::string& text) {
            return "(" + type(i.getType(), Space::Any) + ")(" + text + ")";
        };
        auto infix = [&](const char* op) {
            set(i, in_type(operand(0) + " " + op + " " + operand(1)));
        };
        auto signed_infix = [&](const char* op) {
            set(i,
                in_type(with_sign(i.getOperand(0)) + " " + op + " " + with_sign(i.getOperand(1))));
        };
        const llvm::BasicBlock& block = *i.getParent();
        switch (i.getOpcode()) {
            case Instruction::PHI: return;  // the blocks before set it
            case Instruction::Alloca:
                return set(i, "(__private uchar*)m" + names_.at(&i).substr(1));
            case Instruction::Add:
            case Instruction::FAdd: return infix("+");
            case Instruction::Sub:
            case Instruction::FSub: return infix("-");
            case Instruction::Mul:
            case Instruction::FMul: return infix("*");
            case Instruction::UDiv:
            case Instruction::FDiv: return infix("/");
            case Instruction::URem: return infix("%");
            case Instruction::And: return infix("&");
            case Instruction::Or: return infix("|");
            case Instruction::Xor: return infix("^");
            case Instruction::Shl: return infix("<<");
            case Instruction::LShr: return infix(">>");
            case Instruction::AShr: return signed_infix(">>");
            case Instruction::SDiv: return signed_infix("/");
            case Instruction::SRem: return signed_infix("%");
            case Instruction::FRem: return set(i, "fmod(" + operand(0) + ", " + operand(1) + ")");
            case Instruction::FNeg: return set(i, "-" + operand(0));
            case Instruction::ZExt:
            case Instruction::UIToFP:
            case Instruction::FPToUI:
            case Instruction::FPExt:
            case Instruction::FPTrunc: return set(i, in_type(operand(0)));
            case Instruction::SExt:
            case Instruction::SIToFP: return set(i, in_type(with_sign(i.getOperand(0))));
            case Instruction::FPToSI: {
                const bool is_wide = i.getType()->getIntegerBitWidth() == 64;
                return set(i, in_type((is_wide ? "(long)" : "(int)") + operand(0)));
            }
            case Instruction::Trunc:
                return set(i, i.getType()->isIntegerTy(1) ? "(" + operand(0) + " & 1) != 0"
                                                          : in_type(operand(0)));
            case Instruction::BitCast:
                return set(i, i.getType()->isPointerTy()
                                  ? operand(0)
                                  : "as_" + type(i.getType(), Space::Any) + "(" + operand(0) + ")");
            case Instruction::Freeze: return set(i, value(i.getOperand(0), space(&i)));
            case Instruction::GetElementPtr: return set(i, moved(llvm::cast<llvm::GEPOperator>(i)));
            case Instruction::Select:
                return set(i, operand(0) + " ? " + value(i.getOperand(1), space(&i)) + " : " +
                                  value(i.getOperand(2), space(&i)));
            case Instruction::ICmp: return compare(llvm::cast<llvm::ICmpInst>(i));
            case Instruction::FCmp: return compare(llvm::cast<llvm::FCmpInst>(i));
            case Instruction::Load: return set(i, "*" + memory(i.getOperand(0), i.getType()));
            case Instruction::Store:
                return line("*" + memory(i.getOperand(1), i.getOperand(0)->getType()) + " = " +
                            operand(0) + ";");
            case Instruction::Ret:
                return line(i.getNumOperands() ? "return " + operand(0) + ";" : "return;");
            case Instruction::Unreachable:
                return line(f_.getReturnType()->isVoidTy()
                                ? "return;"
                                : "return (" + type(f_.getReturnType(), Space::Any) + ")0;");
            case Instruction::Br: {
                const auto& branch = llvm::cast<llvm::BranchInst>(i);
                if (!branch.isConditional()) return line(jump(block, *branch.getSuccessor(0)));
                return line("if (" + operand(0) + ") " + jump(block, *branch.getSuccessor(0)) +
                            " else " + jump(block, *branch.getSuccessor(1)));
            }
            case Instruction::Switch: {
                const auto& choice = llvm::cast<llvm::SwitchInst>(i);
                for (const auto& c : choice.cases())
                    line("if (" + operand(0) + " == " + value(c.getCaseValue()) + ") " +
                         jump(block, *c.getCaseSuccessor()));
                return line(jump(block, *choice.getDefaultDest()));
            }
            case Instruction::Call: return call(llvm::cast<llvm::CallInst>(i));
            default: refuse(std::string("needs what devices lack (") + i.getOpcodeName() + ")");
        }
    }

    /// A pointer to values of that type.
    std::string memory(const Value* at, llvm::Type* t) {
        if (t->isPointerTy()) refuse("keeps a pointer in memory");
        const std::string stored = t->isIntegerTy(1) ? "uchar" : type(t, Space::Any);
        return "(" + std::string(qualifier(space(at))) + stored + "*)(" + value(at) + ")";
    }

    void compare(const llvm::ICmpInst& i) {
        const Value *a = i.getOperand(0), *b = i.getOperand(1);
        const std::string op(spelled(i.getPredicate()));
        if (!a->getType()->isPointerTy())
            return i.isSigned() ? set(i, with_sign(a) + " " + op + " " + with_sign(b))
                                : set(i, value(a) + " " + op + " " + value(b));
        const Space both = joined(space(a), space(b));
        set(i, value(a, both) + " " + op + " " + value(b, both));
    }

    static std::string_view spelled(llvm::CmpInst::Predicate p) {
        using P = llvm::CmpInst;
        switch (p) {
            case P::ICMP_EQ:
            case P::FCMP_OEQ:
            case P::FCMP_UEQ: return "==";
            case P::ICMP_NE:
            case P::FCMP_ONE:
            case P::FCMP_UNE: return "!=";
            case P::ICMP_UGT:
            case P::ICMP_SGT:
            case P::FCMP_OGT:
            case P::FCMP_UGT: return ">";
            case P::ICMP_UGE:
            case P::ICMP_SGE:
            case P::FCMP_OGE:
            case P::FCMP_UGE: return ">=";
            case P::ICMP_ULT:
            case P::ICMP_SLT:
            case P::FCMP_OLT:
            case P::FCMP_ULT: return "<";
            default: return "<=";
        }
    }

    void compare(const llvm::FCmpInst& i) {
        using P = llvm::CmpInst;
        const std::string a = value(i.getOperand(0)), b = value(i.getOperand(1));
        const std::string is_nan = "(" + a + " != " + a + " || " + b + " != " + b + ")";
        const P::Predicate p = i.getPredicate();
        const std::string plain = "(" + a + " " + std::string(spelled(p)) + " " + b + ")";
        switch (p) {
            case P::FCMP_FALSE: return set(i, "false");
            case P::FCMP_TRUE: return set(i, "true");
            case P::FCMP_ORD: return set(i, "!" + is_nan);
            case P::FCMP_UNO: return set(i, is_nan);
            case P::FCMP_ONE: return set(i, plain + " && !" + is_nan);
            case P::FCMP_UEQ:
            case P::FCMP_UGT:
            case P::FCMP_UGE:
            case P::FCMP_ULT:
            case P::FCMP_ULE: return set(i, plain + " || " + is_nan);
            default: return set(i, plain);  // != holds for NaN, the others do not
        }
    }

    // ---- Calls

    static std::string called(const llvm::CallInst& i) {
        const llvm::Function* callee = i.getCalledFunction();
        return callee ? callee->getName().str() : "a function by its address";
    }

    void call(const llvm::CallInst& i) {
        const llvm::Function* callee = i.getCalledFunction();
        if (!callee) refuse("calls a function by its address");
        if (callee->isIntrinsic()) return intrinsic(llvm::cast<llvm::IntrinsicInst>(i));
        if (!callee->isDeclaration()) refuse("calls itself");
        const std::string_view known = mathematics(callee->getName(), i.arg_size());
        if (known.empty() || !i.getType()->isFloatingPointTy())
            refuse("calls '" + called(i) + "', which devices do not have");
        set(i, std::string(known) + "(" + arguments(i) + ")");
    }

    std::string arguments(const llvm::CallInst& i, unsigned most = 3) {
        std::string out;
        for (unsigned k = 0; k < std::min(most, i.arg_size()); ++k)
            out += (k ? ", " : "") + value(i.getArgOperand(k));
        return out;
    }

    void intrinsic(const llvm::IntrinsicInst& i) {
        using namespace llvm;
        auto operand = [&](unsigned k) { return value(i.getArgOperand(k)); };
        auto choice = [&](const char* op, bool is_signed) {
            const Value *a = i.getArgOperand(0), *b = i.getArgOperand(1);
            set(i, (is_signed ? with_sign(a) + op + with_sign(b) : value(a) + op + value(b)) +
                       " ? " + value(a) + " : " + value(b));
        };
        switch (i.getIntrinsicID()) {
            case Intrinsic::lifetime_start:
            case Intrinsic::lifetime_end:
            case Intrinsic::assume:
            case Intrinsic::dbg_declare:
            case Intrinsic::dbg_value:
            case Intrinsic::donothing:
            case Intrinsic::experimental_noalias_scope_decl: return;
            case Intrinsic::expect: return set(i, operand(0));
            case Intrinsic::fmuladd:
                return set(i, operand(0) + " * " + operand(1) + " + " + operand(2));
            case Intrinsic::smax: return choice(" > ", true);
            case Intrinsic::smin: return choice(" < ", true);
            case Intrinsic::umax: return choice(" > ", false);
            case Intrinsic::umin: return choice(" < ", false);
            case Intrinsic::abs:
                return set(i, with_sign(i.getArgOperand(0)) + " < 0 ? 0 - " + operand(0) + " : " +
                                  operand(0));
            case Intrinsic::ctpop: return set(i, "popcount(" + operand(0) + ")");
            case Intrinsic::ctlz: return set(i, "clz(" + operand(0) + ")");
            case Intrinsic::cttz:
                return set(i, "popcount((" + type(i.getType(), Space::Any) + ")(~" + operand(0) +
                                  " & (" + operand(0) + " - 1)))");
            case Intrinsic::memcpy:
            case Intrinsic::memmove: {
                const auto& copy = cast<MemTransferInst>(i);
                return copy_bytes(copy.getRawDest(), copy.getRawSource(), value(copy.getLength()),
                                  i.getIntrinsicID() == Intrinsic::memmove);
            }
            case Intrinsic::memset: {
                const auto& set_memory = cast<MemSetInst>(i);
                return line("for (ulong k = 0; k < " + value(set_memory.getLength()) + "; ++k) " +
                            value(set_memory.getRawDest()) +
                            "[k] = " + value(set_memory.getValue()) + ";");
            }
            default: break;
        }
        // llvm.sqrt.f64
        const StringRef name = i.getCalledFunction()->getName().drop_front(5).split('.').first;
        const StringRef plain = name == "minnum"      ? "fmin"
                                : name == "maxnum"    ? "fmax"
                                : name == "roundeven" ? "rint"
                                                      : name;
        const std::string_view known = mathematics(plain, i.arg_size());
        if (known.empty() || !i.getType()->isFloatingPointTy())
            refuse("needs what devices lack (" + called(i) + ")");
        set(i, std::string(known) + "(" + arguments(i) + ")");
    }

    void copy_bytes(const Value* to, const Value* from, const std::string& count,
                    bool may_overlap) {
        const std::string step = value(to) + "[k] = " + value(from) + "[k];";
        const std::string up = "for (ulong k = 0; k < " + count + "; ++k) " + step;
        const bool meets = may_overlap && space(to) == space(from);
        if (!meets) return line(up);
        line("if (" + value(to) + " <= " + value(from) + ") { " + up + " }");
        line("else { for (ulong k = " + count + "; k-- > 0;) " + step + " }");
    }

    llvm::Function& f_;
    const llvm::DataLayout& layout_;
    std::string symbol_, name_;
    std::map<const Value*, Space> spaces_;
    std::map<const Value*, std::string> names_;
    std::map<const llvm::BasicBlock*, std::string> labels_;
    std::map<const llvm::GlobalVariable*, std::string> constant_names_;
    std::string constants_, body_;
    NativeText made_;
};

/// One function without calls of others, local variables in values.
void prepare(llvm::Module& module, const llvm::Function& entry) {
    for (llvm::Function& f : module) {
        f.removeFnAttr(llvm::Attribute::OptimizeNone);
        f.removeFnAttr(llvm::Attribute::NoInline);
        if (f.isDeclaration() || &f == &entry) continue;
        f.addFnAttr(llvm::Attribute::AlwaysInline);
        f.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    llvm::PassBuilder builder;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::ModulePassManager passes;
    constexpr const char* list = "always-inline,function(sroa,early-cse,simplifycfg,sroa,adce)";
    if (llvm::Error error = builder.parsePassPipeline(passes, list))
        fail(ErrorKind::Internal, "llvm: pass list: " + llvm::toString(std::move(error)));
    passes.run(module, modules);
}

NativeText write_text(const ir::NativeCode& code, const std::string& symbol,
                      const std::string& name, std::span<const ir::Space> pointers) {
    llvm::LLVMContext context;
    auto read = llvm::parseBitcodeFile(llvm::MemoryBufferRef(code.bitcode, code.key), context);
    if (!read)
        fail(ErrorKind::Internal, "llvm: bitcode of C text: " + llvm::toString(read.takeError()));
    llvm::Function* f = (*read)->getFunction(symbol);
    if (!f || f->isDeclaration() || f->isVarArg())
        fail(ErrorKind::Unsupported,
             symbol +
                 ": a C function that runs on a device must be defined in the text; got a "
                 "declaration; define it, or call it on the cpu");
    prepare(**read, *f);
    return TextWriter(*f, symbol, name, pointers).write();
}

}  // namespace

}  // namespace unisono::codegen

extern "C" void unisono_llvm_write_native(const unisono::ir::NativeCode& code,
                                          const std::string& symbol, const std::string& name,
                                          std::span<const unisono::ir::Space> pointers,
                                          unisono::codegen::NativeText& made) noexcept {
    try {
        made = unisono::codegen::write_text(code, symbol, name, pointers);
        return;
    } catch (const std::exception& error) {
        made.error = error.what();
    }
    made.failed = true;
}
