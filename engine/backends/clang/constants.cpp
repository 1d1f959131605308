// Evaluates the initialisers of constant variables, and lays the values out as memory has them.
#include "backends/clang/constants.h"

#include <clang/AST/APValue.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecordLayout.h>

namespace unisono::codegen {

namespace {

class Layout {
  public:
    Layout(const clang::ASTContext& context, std::string& bytes)
        : context_(context), bytes_(bytes) {}

    /// False where the value holds an address.
    bool write(const clang::APValue& value, clang::QualType type, std::size_t at) {
        switch (value.getKind()) {
            case clang::APValue::Int: return bits(value.getInt(), type, at);
            case clang::APValue::Float: return bits(value.getFloat().bitcastToAPInt(), type, at);
            case clang::APValue::Array: return array(value, type, at);
            case clang::APValue::Struct: return structure(value, type, at);
            case clang::APValue::Union: {
                const clang::FieldDecl* f = value.getUnionField();
                return !f || write(value.getUnionValue(), f->getType(), at);
            }
            case clang::APValue::Indeterminate: return true;
            default: return false;
        }
    }

  private:
    std::size_t size_of(clang::QualType t) const {
        return static_cast<std::size_t>(context_.getTypeSizeInChars(t).getQuantity());
    }

    bool bits(const llvm::APInt& value, clang::QualType type, std::size_t at) {
        std::size_t size = size_of(type);
        if (size > 8) return false;
        const auto* raw = reinterpret_cast<const char*>(value.getRawData());
        bytes_.replace(at, size, raw, size);  // processors that we have are little-endian
        return true;
    }

    bool array(const clang::APValue& value, clang::QualType type, std::size_t at) {
        clang::QualType element = context_.getAsArrayType(type)->getElementType();
        std::size_t size = size_of(element);
        unsigned given = value.getArrayInitializedElts();
        for (unsigned k = 0; k < value.getArraySize(); ++k) {
            const clang::APValue& item =
                k < given ? value.getArrayInitializedElt(k) : value.getArrayFiller();
            if (!write(item, element, at + k * size)) return false;
        }
        return true;
    }

    bool structure(const clang::APValue& value, clang::QualType type, std::size_t at) {
        const clang::RecordDecl* r = type->castAs<clang::RecordType>()->getDecl();
        const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(r);
        for (const clang::FieldDecl* f : r->fields()) {
            unsigned k = f->getFieldIndex();
            if (f->isUnnamedBitField()) continue;
            std::size_t bit = layout.getFieldOffset(k);
            if (f->isBitField()) {
                bit_field(value.getStructField(k), f->getBitWidthValue(context_), at * 8 + bit);
            } else if (!write(value.getStructField(k), f->getType(), at + bit / 8)) {
                return false;
            }
        }
        return true;
    }

    void bit_field(const clang::APValue& value, unsigned width, std::size_t bit) {
        if (!value.isInt()) return;  // not given: 0
        for (unsigned k = 0; k < width; ++k, ++bit) {
            if (value.getInt()[k]) bytes_[bit / 8] |= static_cast<char>(1 << bit % 8);
        }
    }

    const clang::ASTContext& context_;
    std::string& bytes_;
};

/// The text that a pointer points to; of a null pointer an empty optional in `into`.
bool text_of(const clang::APValue& value, std::vector<std::optional<std::string>>& into) {
    if (!value.isLValue()) return false;
    if (value.isNullPointer()) {
        into.emplace_back();
        return true;
    }
    const auto* base = value.getLValueBase().dyn_cast<const clang::Expr*>();
    const auto* literal = base ? llvm::dyn_cast<clang::StringLiteral>(base) : nullptr;
    if (!literal || literal->getCharByteWidth() != 1 || !value.getLValueOffset().isZero())
        return false;
    into.emplace_back(literal->getString().str());
    return true;
}

bool texts_of(const clang::APValue& value, std::vector<std::optional<std::string>>& into) {
    if (!value.isArray()) return text_of(value, into);
    for (unsigned k = 0; k < value.getArraySize(); ++k) {
        bool is_given = k < value.getArrayInitializedElts();
        if (!texts_of(is_given ? value.getArrayInitializedElt(k) : value.getArrayFiller(), into))
            return false;
    }
    return true;
}

/// Of const char x[] = "text".
const clang::StringLiteral* text_in(const clang::Expr& begins) {
    const auto* literal = llvm::dyn_cast<clang::StringLiteral>(begins.IgnoreParenImpCasts());
    return literal && literal->getCharByteWidth() == 1 ? literal : nullptr;
}

}  // namespace

bool take_constant(const clang::ASTContext& context, const clang::VarDecl& v, CVariable& into) {
    clang::QualType type = v.getType();
    if (!context.getBaseElementType(type).isConstQualified() || type.isVolatileQualified())
        return false;
    const clang::VarDecl* definition = nullptr;
    const clang::Expr* begins = v.getAnyInitializer(definition);
    const clang::APValue* value = begins ? definition->evaluateValue() : nullptr;
    if (!value) return true;
    if (const clang::StringLiteral* literal = text_in(*begins); literal && type->isArrayType()) {
        into.texts.emplace_back(literal->getString().str());
        into.extents.clear();
        return true;
    }
    if (into.type.kind == CType::Kind::Pointer) {
        bool is_char = into.type.target == CType::Kind::Integer && into.type.target_bytes == 1;
        if (!is_char || !texts_of(*value, into.texts)) into.texts.clear();
        return true;
    }
    into.initial.assign(static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity()),
                        '\0');
    if (!Layout(context, into.initial).write(*value, type, 0)) into.initial.clear();
    return true;
}

}  // namespace unisono::codegen
