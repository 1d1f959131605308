// Emits expressions but for scalar operations: constants, variables, parameters, loads.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "backends/llvm/emitter.h"

namespace unisono::codegen {

using ir::ExprKind;

void unsupported(const std::string& message) { fail(ErrorKind::Unsupported, message); }

/// Expressions may be shared: within one statement each is emitted once.
Value* FunctionEmitter::emit(ir::E e) {
    if (auto found = cache_.find(e); found != cache_.end()) return found->second;
    if (m_.target.want_lines) mark(e->line);
    Value* v = emit_uncached(e);
    cache_.emplace(e, v);
    return v;
}

Value* FunctionEmitter::emit_uncached(ir::E e) {
    switch (e->kind) {
        case ExprKind::Const: return constant(e);
        case ExprKind::Var: return b_.CreateLoad(m_.type(e->dtype), variable(e->id));
        case ExprKind::Param: {
            auto id = static_cast<std::size_t>(e->id);
            if (e->field == ir::Field::Value) return params_[id];
            const ArrayValue& a = arrays_[static_cast<std::size_t>(f_.params[id].array)];
            const auto& of = e->field == ir::Field::Extent ? a.extents : a.strides;
            return of.at(static_cast<std::size_t>(e->axis));
        }
        case ExprKind::Load: return load(e);
        case ExprKind::Unary: return unary(e);
        case ExprKind::Binary: return binary(e);
        case ExprKind::Select: {
            Value* c = emit(e->args[0]);
            Value* yes = emit(e->args[1]);
            return b_.CreateSelect(c, yes, emit(e->args[2]));
        }
        case ExprKind::Cast: return cast(e);
        case ExprKind::Bitcast: {
            Value* x = emit(e->args[0]);
            DType from = e->args[0]->dtype;
            if (is_bool(from)) x = b_.CreateZExt(x, m_.i8);
            if (is_bool(e->dtype)) return b_.CreateICmpNE(x, b_.getInt8(0));
            return b_.CreateBitCast(x, m_.type(e->dtype));
        }
        case ExprKind::Fma: {
            Value* a = emit(e->args[0]);
            Value* b = emit(e->args[1]);
            return b_.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {a, b, emit(e->args[2])});
        }
        case ExprKind::Memory:
            return b_.CreatePtrToInt(e->axis == 0 ? base_of(e->id) : block_of(e->id), m_.i64);
        case ExprKind::WorkItem: return work_item(e);
        case ExprKind::Part:
        case ExprKind::Pair: UNISONO_ASSERT(!"complex numbers were split before");
    }
    __builtin_unreachable();
}

Value* FunctionEmitter::constant(ir::E e) {
    Scalar s{e->bits, e->dtype};
    llvm::Type* t = m_.type(e->dtype);
    switch (e->dtype) {
        case DType::Float64:
            return llvm::ConstantFP::get(m_.context, llvm::APFloat(s.get<double>()));
        case DType::Float32:
            return llvm::ConstantFP::get(m_.context, llvm::APFloat(s.get<float>()));
        case DType::Bool: return llvm::ConstantInt::getBool(m_.context, (e->bits & 1) != 0);
        default: return llvm::ConstantInt::get(t, llvm::APInt(t->getIntegerBitWidth(), e->bits));
    }
}

/// On the host kernels became loops when the module was lowered.
Value* FunctionEmitter::work_item(ir::E e) {
    UNISONO_ASSERT(m_.for_device());
    return device_work_item(e->query, e->axis);
}

/// One index is linear; several are multiplied with the strides.
Value* FunctionEmitter::address(int array, std::span<const ir::E> indices) {
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(array)];
    const ArrayValue& a = arrays_[static_cast<std::size_t>(array)];
    Value* linear = nullptr;
    if (indices.size() == 1 && info.rank != 1) {
        linear = emit(indices[0]);
    } else {
        for (std::size_t k = 0; k < indices.size(); ++k) {
            Value* i = emit(indices[k]);
            if (k < a.strides.size() && info.strides[k] != ir::StrideClass::One)
                i = b_.CreateMul(i, a.strides[k]);
            linear = linear ? b_.CreateAdd(linear, i) : i;
        }
    }
    if (!linear) linear = int64(0);
    return b_.CreateInBoundsGEP(m_.memory_type(info.dtype), base_of(array), linear);
}

/// Marks an access as independent of those of other iterations of the enclosing independent loops.
/// Memory made inside such a loop is reused by the next iteration, so accesses to it make no such
/// promise.
void FunctionEmitter::annotate(llvm::Instruction* access, int array, bool marked) {
    if (!scopes_.empty() && scopes_[static_cast<std::size_t>(array)]) {
        access->setMetadata(llvm::LLVMContext::MD_alias_scope,
                            scopes_[static_cast<std::size_t>(array)]);
        access->setMetadata(llvm::LLVMContext::MD_noalias,
                            others_[static_cast<std::size_t>(array)]);
    }
    std::vector<llvm::Metadata*> list;
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        if (!made_in_[k][static_cast<std::size_t>(array)]) list.push_back(groups_[k]);
    }
    if (marked) list.push_back(m_.streaming_group());
    if (list.empty()) return;
    llvm::MDNode* node =
        list.size() == 1 ? llvm::cast<llvm::MDNode>(list[0]) : llvm::MDNode::get(m_.context, list);
    access->setMetadata(llvm::LLVMContext::MD_access_group, node);
}

/// Says which arrays lie apart from all others, so that loops over them need no test of it. Only
/// for the first function: where others are inlined, an array may be another one in each iteration.
/// Not for functions of the tape, whose outputs may be inputs at equal indices, nor where a
/// variable may hold a parameter's memory.
void FunctionEmitter::make_scopes() {
    if (index_ != 0 || !f_.polls || m_.for_device()) return;
    bool has_slots =
        std::any_of(f_.arrays.begin(), f_.arrays.end(), [](const auto& a) { return a.is_slot; });
    if (has_slots) return;
    llvm::MDBuilder make(m_.context);
    llvm::MDNode* domain = make.createAnonymousAliasScopeDomain();
    std::vector<llvm::Metadata*> all(f_.arrays.size(), nullptr);
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (f_.arrays[k].noalias && !f_.arrays[k].is_view())
            all[k] = make.createAnonymousAliasScope(domain);
    }
    scopes_.resize(all.size());
    others_.resize(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (!all[k]) continue;
        std::vector<llvm::Metadata*> others;
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (j != k && all[j]) others.push_back(all[j]);
        }
        scopes_[k] = llvm::MDNode::get(m_.context, {all[k]});
        others_[k] = llvm::MDNode::get(m_.context, others);
    }
}

/// Elements of complex arrays are pairs, accessed by parts.
Value* FunctionEmitter::part_of(int array, Value* where, int part) {
    DType t = f_.arrays[static_cast<std::size_t>(array)].dtype;
    if (!is_complex(t) || part == 0) return where;
    return b_.CreateConstInBoundsGEP1_64(m_.memory_type(part_dtype(t)), where, 1);
}

Value* FunctionEmitter::load(ir::E e) {
    UNISONO_ASSERT(e->access == ir::Access::Linear || e->access == ir::Access::Inside);
    const ir::Array& info = f_.arrays[static_cast<std::size_t>(e->id)];
    Value* where = nullptr;
    if (e->access == ir::Access::Linear) {
        where = b_.CreateInBoundsGEP(m_.memory_type(info.dtype), base_of(e->id), emit(e->args[0]));
    } else {
        where = address(e->id, e->args);
    }
    where = part_of(e->id, where, e->axis);
    auto* in = b_.CreateAlignedLoad(m_.memory_type(e->dtype), where,
                                    llvm::Align(static_cast<std::uint64_t>(size_of(e->dtype))));
    annotate(in, e->id);
    return is_bool(info.dtype) ? b_.CreateICmpNE(in, b_.getInt8(0)) : in;
}

void FunctionEmitter::store_value(int array, Value* where, Value* value, bool marked) {
    DType t = part_dtype(f_.arrays[static_cast<std::size_t>(array)].dtype);
    if (is_bool(t)) value = b_.CreateZExt(value, m_.i8);
    annotate(
        b_.CreateAlignedStore(value, where, llvm::Align(static_cast<std::uint64_t>(size_of(t)))),
        array, marked);
}

}  // namespace unisono::codegen
