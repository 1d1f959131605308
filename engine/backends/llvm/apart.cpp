// Long functions: each of their outermost loops becomes a function of its own.
//
// Allocating registers and other steps of generating code take more than linear time in the length
// of a function. Where a function has many loops, each is therefore emitted apart: what it uses
// comes through a block of memory, as for parallel loops, and the variables that it assigns go back
// through it. A loop that sets variables which hold arrays, or returns, stays where it is.
#include "backends/llvm/emitter.h"
#include "ir/rewrite.h"

namespace unisono::codegen {

using ir::StmtKind;

namespace {

constexpr int many_loops = 64;

/// Outermost loops, those in branches included.
int count_loops(ir::S s) {
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) return 1;
    int sum = 0;
    for (ir::S b : s->body) sum += count_loops(b);
    for (ir::S b : s->orelse) sum += count_loops(b);
    return sum;
}

class StaysInside final : public ir::Visitor {
  public:
    bool found = false;
    void expr(ir::E e) override {
        found = found || (e->kind == ir::ExprKind::Memory && e->axis != 0);
        children(e);
    }
    void stmt(ir::S s) override {
        bool sets_array =
            s->kind == StmtKind::Make || s->kind == StmtKind::Point || s->kind == StmtKind::Retain;
        found = found || sets_array || (s->kind == StmtKind::Return && s->fault < 0);
        children(s);
    }
};

}  // namespace

bool FunctionEmitter::goes_apart(ir::S s) {
    if (m_.for_device() || is_apart_ || iteration_ || !loops_.empty() || !groups_.empty())
        return false;
    if (!is_long_) is_long_ = f_.body && count_loops(f_.body) >= many_loops;
    if (!*is_long_) return false;
    StaysInside walk;
    walk.stmt(s);
    return !walk.found;
}

/// The loop's function: int64_t (Fault*, context*).
void FunctionEmitter::emit_apart_body(ir::S s, const Captured& c, Context context,
                                      const std::vector<unsigned>& written, llvm::Function* into) {
    is_apart_ = true;
    start(into);
    fault_ = into->getArg(0);
    context.memory = into->getArg(1);
    read_context(context, 0, c);
    make_scopes();
    emit(s);
    for (unsigned k : written) {
        llvm::AllocaInst* held = variable(c.vars[k]);
        b_.CreateStore(b_.CreateLoad(held->getAllocatedType(), held),
                       b_.CreateStructGEP(context.layout, context.memory, context.first_var + k));
    }
    finish();
}

void FunctionEmitter::emit_apart(ir::S s) {
    Captured c = captured_by(s);
    for (ir::E e : s->args) capture(e, c);
    std::vector<bool> assigned(f_.vars.size());
    ir::mark_written(s, assigned);
    std::vector<unsigned> written;
    for (unsigned k = 0; k < c.vars.size(); ++k) {
        if (assigned[static_cast<std::size_t>(c.vars[k])]) written.push_back(k);
    }
    Context context = make_context({}, c);
    auto* type = llvm::FunctionType::get(m_.i64, {m_.ptr, m_.ptr}, false);
    auto* made = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                        fn_->getName() + ".loop", m_.out.get());
    made->setDoesNotThrow();
    made->addFnAttr(llvm::Attribute::NoInline);
    FunctionEmitter(m_, f_, index_).emit_apart_body(s, c, context, written, made);
    Value* site = b_.CreateCall(made, {fault_, context.memory});
    llvm::BasicBlock* after = block("after");
    exit_site_->addIncoming(site, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(site, int64(0)), after, exit_);
    b_.SetInsertPoint(after);
    for (unsigned k : written) {
        llvm::AllocaInst* held = variable(c.vars[k]);
        Value* at = b_.CreateStructGEP(context.layout, context.memory, context.first_var + k);
        b_.CreateStore(b_.CreateLoad(held->getAllocatedType(), at), held);
    }
    cache_.clear();
}

}  // namespace unisono::codegen
