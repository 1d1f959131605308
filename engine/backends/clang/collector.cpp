#include "backends/clang/collector.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecordLayout.h>
#include <clang/Basic/SourceManager.h>

#include <set>

#include "backends/clang/constants.h"

#pragma GCC diagnostic ignored "-Wnonnull"  // in clang's lists of bases, inlined

namespace unisono::codegen {

namespace {

CType::Kind kind_of(clang::QualType t) {
    if (t->isVoidType()) return CType::Kind::Void;
    if (t->isBooleanType()) return CType::Kind::Bool;
    if (t->isIntegralOrEnumerationType()) return CType::Kind::Integer;
    if (t->isSpecificBuiltinType(clang::BuiltinType::Float) ||
        t->isSpecificBuiltinType(clang::BuiltinType::Double))
        return CType::Kind::Float;
    if (const auto* z = t->getAs<clang::ComplexType>();
        z && kind_of(z->getElementType()) == CType::Kind::Float)
        return CType::Kind::Complex;
    return t->isPointerType() ? CType::Kind::Pointer : CType::Kind::Other;
}

int bytes_of(const clang::ASTContext& context, clang::QualType t) {
    if (t->isVoidType() || t->isFunctionType() || t->isIncompleteType()) return 0;
    return static_cast<int>(context.getTypeSizeInChars(t).getQuantity());
}

/// The name that C text calls a struct by, without the word.
std::string record_name(clang::QualType t) {
    const auto* record = t->getAs<clang::RecordType>();
    if (!record) return {};
    const clang::RecordDecl* d = record->getDecl();
    if (const auto* name = d->getTypedefNameForAnonDecl()) return name->getNameAsString();
    if (llvm::isa<clang::CXXRecordDecl>(d)) {
        clang::ASTContext& context = d->getASTContext();
        return context.getRecordType(d).getCanonicalType().getAsString(context.getPrintingPolicy());
    }
    return d->getNameAsString();
}

CType describe(const clang::ASTContext& context, clang::QualType t) {
    CType made;
    bool is_cpp = context.getLangOpts().CPlusPlus;
    made.spelling =
        is_cpp ? t.getCanonicalType().getAsString(context.getPrintingPolicy()) : t.getAsString();
    t = t.getCanonicalType();
    made.is_reference = t->isLValueReferenceType();
    if (made.is_reference) t = context.getPointerType(t->getPointeeType());
    made.kind = kind_of(t);
    made.is_wide = t->isSpecificBuiltinType(clang::BuiltinType::LongDouble);
    made.bytes = bytes_of(context, t);
    made.is_signed = t->isSignedIntegerOrEnumerationType();
    made.record = record_name(t->isPointerType() ? t->getPointeeType() : t);
    if (made.kind == CType::Kind::Pointer) {
        clang::QualType target = t->getPointeeType();
        while (const auto* array = context.getAsArrayType(target)) target = array->getElementType();
        made.target = kind_of(target);
        if (made.target == CType::Kind::Pointer) made.target = CType::Kind::Other;
        made.target_bytes = bytes_of(context, target);
        made.target_signed = target->isSignedIntegerOrEnumerationType();
        made.target_const = target.isConstQualified();
        made.target_function = target->isFunctionType();
        if (made.target_function) made.spelling = t.getAsString();  // not a name of the text's
    }
    return made;
}

/// Notes what the text defines and what its declarations ask for.
class Collector final : public clang::ASTConsumer {
  public:
    Collector(CResult& result, const CText& given)
        : result_(result), has_declarations_(!given.declarations.empty()), is_cpp_(given.is_cpp) {}

    void Initialize(clang::ASTContext& context) override { context_ = &context; }

    bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
        for (clang::Decl* d : group) {
            if (is_cpp_) of_cpp(*d);
            if (is_cpp_) continue;
            if (auto* f = llvm::dyn_cast<clang::FunctionDecl>(d)) function(*f);
            if (auto* v = llvm::dyn_cast<clang::VarDecl>(d)) variable(*v);
            if (auto* e = llvm::dyn_cast<clang::EnumDecl>(d)) enumeration(*e);
            if (auto* r = llvm::dyn_cast<clang::RecordDecl>(d)) structure(*r);
        }
        return true;
    }

  private:
    std::string file_of(const clang::Decl& d) const {
        clang::PresumedLoc at = context_->getSourceManager().getPresumedLoc(d.getLocation());
        return at.isValid() ? at.getFilename() : "";
    }
    bool is_of_header(const clang::Decl& d) const {
        return llvm::StringRef(file_of(d)).starts_with(header_folder);
    }

    void function(const clang::FunctionDecl& f) {
        bool declared = file_of(f) == declarations_file;
        bool wanted = has_declarations_
                          ? declared
                          : f.isThisDeclarationADefinition() && f.isExternallyVisible();
        if (!wanted || !seen_.insert(f.getNameAsString()).second) return;
        CFunction made;
        made.name = f.getNameAsString();
        made.is_variadic = f.isVariadic();
        // Another text calls these, which does not know the names of types.
        auto as_given = [&](clang::QualType t) {
            return describe(*context_, made.is_variadic ? t.getCanonicalType() : t);
        };
        made.result = as_given(f.getReturnType());
        made.line =
            static_cast<int>(context_->getSourceManager().getPresumedLineNumber(f.getLocation()));
        for (const clang::ParmVarDecl* p : f.parameters()) {
            made.params.push_back(as_given(p->getType()));
            made.param_names.push_back(p->getNameAsString());
        }
        result_.functions.push_back(std::move(made));
    }

    /// What can be given away; which of these the text defines, and how they begin, its code says.
    void variable(const clang::VarDecl& v) {
        bool wanted = has_declarations_ ? file_of(v) == declarations_file : !is_of_header(v);
        if (!wanted) return;
        CVariable made;
        made.name = v.getNameAsString();
        made.is_visible = true;
        clang::QualType t = v.getType();
        while (const auto* array = context_->getAsConstantArrayType(t)) {
            made.extents.push_back(static_cast<long long>(array->getSize().getZExtValue()));
            t = array->getElementType();
        }
        made.type = describe(*context_, t);
        if (take_constant(*context_, v, made)) {
            if (!made.initial.empty() || !made.texts.empty())
                result_.fixed.push_back(std::move(made));
        } else if (v.isExternallyVisible() && !is_cpp_) {
            result_.variables.push_back(std::move(made));
        }
    }

    /// `path` names it where it has no name of its own.
    void structure(const clang::RecordDecl& given, const std::string& path = {}) {
        const clang::RecordDecl* r = given.getDefinition();
        if (!r || is_of_header(*r) || r->isInvalidDecl()) return;
        CStruct made;
        made.name = record_name(context_->getRecordType(r));
        if (made.name.empty()) made.name = path;
        if (made.name.empty() || !seen_structs_.insert(made.name).second) return;
        made.size = bytes_of(*context_, context_->getRecordType(r));
        made.is_plain = r->isStruct();
        add_fields(*r, 0, made);
        result_.structs.push_back(std::move(made));
    }

    /// Those of structs and unions without a name inside of it, too.
    void add_fields(const clang::RecordDecl& r, long long start, CStruct& made) {
        const clang::ASTRecordLayout& layout = context_->getASTRecordLayout(&r);
        for (const clang::FieldDecl* f : r.fields()) {
            if (f->isUnnamedBitField()) continue;
            made.is_plain = made.is_plain && !f->getName().empty();
            CField field;
            field.name = f->getNameAsString();
            auto bit = static_cast<long long>(layout.getFieldOffset(f->getFieldIndex()));
            field.offset = start + bit / 8;
            if (f->isBitField()) {
                field.bits = static_cast<int>(f->getBitWidthValue(*context_));
                field.first_bit = static_cast<int>(bit % 8);
            }
            clang::QualType t = f->getType();
            if (f->isAnonymousStructOrUnion()) {
                add_fields(*t->castAs<clang::RecordType>()->getDecl(), field.offset, made);
                continue;
            }
            while (const auto* array = context_->getAsConstantArrayType(t)) {
                field.extents.push_back(static_cast<long long>(array->getSize().getZExtValue()));
                t = array->getElementType();
            }
            field.type = describe(*context_, t);
            if (const auto* inside = t->getAs<clang::RecordType>()) {
                std::string path = made.name + "." + field.name;
                if (field.type.record.empty()) field.type.record = path;
                structure(*inside->getDecl(), path);
            }
            made.fields.push_back(std::move(field));
        }
    }

    // ---- C++

    bool is_own(const clang::Decl& d) const {
        return !is_of_header(d) && !context_->getSourceManager().isInSystemHeader(d.getLocation());
    }

    void of_cpp(const clang::Decl& d) {
        if (auto* n = llvm::dyn_cast<clang::NamespaceDecl>(&d)) {
            for (const clang::Decl* inside : n->decls()) of_cpp(*inside);
        } else if (auto* l = llvm::dyn_cast<clang::LinkageSpecDecl>(&d)) {
            for (const clang::Decl* inside : l->decls()) of_cpp(*inside);
        } else if (!is_own(d)) {
            return;
        } else if (auto* r = llvm::dyn_cast<clang::CXXRecordDecl>(&d)) {
            if (r->isThisDeclarationADefinition() && !r->isDependentType() &&
                r->isStruct() + r->isClass())
                cpp_class(*r);
        } else if (auto* f = llvm::dyn_cast<clang::FunctionDecl>(&d)) {
            if (f->isExternC() && f->getName().starts_with(cpp_prefix)) return function(*f);
            bool is_free = !llvm::isa<clang::CXXMethodDecl>(f) && !f->isTemplated() &&
                           f->isExternallyVisible() && !f->isDeleted();
            if (is_free && seen_cpp_.insert(f->getCanonicalDecl()).second && f->getIdentifier() &&
                !f->getName().starts_with(cpp_prefix))
                result_.cpp_functions.push_back(cpp_function(*f));
        } else if (auto* v = llvm::dyn_cast<clang::VarDecl>(&d)) {
            if (!v->isTemplated() && !v->isInvalidDecl()) variable(*v);
        } else if (auto* e = llvm::dyn_cast<clang::EnumDecl>(&d)) {
            enumeration(*e);
        }
    }

    CppFunction cpp_function(const clang::FunctionDecl& f) const {
        CppFunction made;
        made.name = f.getNameAsString();
        made.qualified = f.getQualifiedNameAsString();
        made.result = describe(*context_, f.getReturnType());
        for (const clang::ParmVarDecl* p : f.parameters()) {
            made.params.push_back(describe(*context_, p->getType()));
            made.param_names.push_back(p->getNameAsString());
            made.defaults += p->hasDefaultArg();
        }
        const auto* type = f.getType()->getAs<clang::FunctionProtoType>();
        made.may_throw = !type || !type->isNothrow();
        if (f.isVariadic()) made.params.emplace_back().spelling = "...";
        if (const auto* m = llvm::dyn_cast<clang::CXXMethodDecl>(&f))
            made.is_static = m->isStatic();
        return made;
    }

    void add_methods(const clang::CXXRecordDecl& r, CppClass& made) const {
        std::set<std::string> hidden;
        for (const CppFunction& f : made.methods) hidden.insert(f.name);
        for (const clang::CXXMethodDecl* m : r.methods()) {
            bool is_special = llvm::isa<clang::CXXConstructorDecl>(m) ||
                              llvm::isa<clang::CXXDestructorDecl>(m) ||
                              llvm::isa<clang::CXXConversionDecl>(m) ||
                              m->isCopyAssignmentOperator() || m->isMoveAssignmentOperator();
            if (is_special || m->getAccess() != clang::AS_public || m->isDeleted() ||
                hidden.count(m->getNameAsString()))
                continue;
            made.methods.push_back(cpp_function(*m));
        }
        for (const clang::FieldDecl* f : r.fields()) {
            if (f->getAccess() != clang::AS_public || f->isBitField() || f->getName().empty())
                continue;
            CField field;
            field.name = f->getNameAsString();
            field.type = describe(*context_, f->getType());
            made.fields.push_back(std::move(field));
        }
        for (const clang::CXXBaseSpecifier& base : r.bases()) {
            const auto* b = base.getType()->getAsCXXRecordDecl();
            if (base.getAccessSpecifier() == clang::AS_public && b && b->hasDefinition())
                add_methods(*b->getDefinition(), made);
        }
    }

    void cpp_class(const clang::CXXRecordDecl& r) {
        if (r.isInvalidDecl()) return;
        CppClass made;
        made.name = record_name(context_->getRecordType(&r));
        for (const clang::CXXConstructorDecl* c : r.ctors()) {
            bool is_wanted = c->getAccess() == clang::AS_public && !c->isDeleted() &&
                             !c->isCopyOrMoveConstructor();
            if (is_wanted && !r.isAbstract()) made.makers.push_back(cpp_function(*c));
        }
        if (r.needsImplicitDefaultConstructor() && !r.isAbstract()) {
            CppFunction& plain = made.makers.emplace_back();
            plain.name = plain.qualified = made.name;
        }
        const clang::CXXDestructorDecl* d = r.getDestructor();
        made.can_delete = !d || (d->getAccess() == clang::AS_public && !d->isDeleted());
        const clang::ASTRecordLayout& layout = context_->getASTRecordLayout(&r);
        for (const clang::CXXBaseSpecifier& base : r.bases()) {
            const auto* b = base.getType()->getAsCXXRecordDecl();
            bool is_first = made.base.empty() && b && !base.isVirtual() &&
                            base.getAccessSpecifier() == clang::AS_public &&
                            layout.getBaseClassOffset(b).isZero();
            if (is_first) made.base = record_name(context_->getRecordType(b));
        }
        add_methods(r, made);
        result_.cpp_classes.push_back(std::move(made));
        for (const clang::Decl* inside : r.decls()) {
            if (auto* e = llvm::dyn_cast<clang::EnumDecl>(inside)) enumeration(*e);
        }
    }

    void enumeration(const clang::EnumDecl& e) {
        if (is_of_header(e)) return;
        for (const clang::EnumConstantDecl* c : e.enumerators())
            result_.constants.push_back({c->getNameAsString(), c->getInitVal().getExtValue()});
    }

    CResult& result_;
    bool has_declarations_, is_cpp_;
    clang::ASTContext* context_ = nullptr;
    std::set<std::string> seen_, seen_structs_;
    std::set<const clang::Decl*> seen_cpp_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_collector(CResult& result, const CText& given) {
    return std::make_unique<Collector>(result, given);
}

}  // namespace unisono::codegen
