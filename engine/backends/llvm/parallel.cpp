// Outlines a parallel loop: its body becomes a function over a range of iterations, which the
// run-time library calls from several threads.
//
// What the body uses (parameters, arrays with their shapes, variables declared outside) is copied
// into one block of memory, the context, whose first slots hold the loop's begin and step.
// Iterations are numbered from 0. Reductions were made explicit by the passes, so chunks may be cut
// as work asks for.
#include "core/threads/parallel.h"

#include <algorithm>

#include "backends/llvm/emitter.h"
#include "ir/rewrite.h"

namespace unisono::codegen {

using ir::ExprKind;
using ir::LoopKind;
using ir::StmtKind;

void FunctionEmitter::capture(ir::E e, Captured& c) const {
    auto id = static_cast<std::size_t>(e->id);
    auto take_array = [&](int array) {
        if (c.array_seen[static_cast<std::size_t>(array)]) return;
        c.array_seen[static_cast<std::size_t>(array)] = true;
        c.arrays.push_back(array);
    };
    if (e->kind == ExprKind::Var && !c.var_seen[id]) {
        c.var_seen[id] = true;
        c.vars.push_back(e->id);
    } else if (e->kind == ExprKind::Param) {
        if (e->field != ir::Field::Value) {
            take_array(f_.params[id].array);
        } else if (!c.param_seen[id]) {
            c.param_seen[id] = true;
            c.params.push_back(e->id);
        }
    } else if (e->kind == ExprKind::Load || e->kind == ExprKind::Memory) {
        take_array(e->id);
    }
    for (ir::E a : e->args) capture(a, c);
}

void FunctionEmitter::capture(ir::S s, Captured& c) const {
    auto use_var = [&](int v) {
        if (c.var_seen[static_cast<std::size_t>(v)]) return;
        c.var_seen[static_cast<std::size_t>(v)] = true;
        c.vars.push_back(v);
    };
    auto use_array = [&](int a) {
        const ir::Array& info = f_.arrays[static_cast<std::size_t>(a)];
        if (info.is_view()) {
            capture(info.offset, c);
            for (ir::E e : info.extents) capture(e, c);
            for (ir::E e : info.view_strides) capture(e, c);
            a = info.base;
        }
        if (c.array_seen[static_cast<std::size_t>(a)]) return;
        c.array_seen[static_cast<std::size_t>(a)] = true;
        c.arrays.push_back(a);
    };
    for (ir::E e : s->args) capture(e, c);
    switch (s->kind) {
        case StmtKind::Declare:
        case StmtKind::For: c.var_inside[static_cast<std::size_t>(s->id)] = true; break;
        case StmtKind::Assign: use_var(s->id); break;
        case StmtKind::Make:
        case StmtKind::Point:
            for (int a : s->arrays) use_array(a);
            c.array_inside[static_cast<std::size_t>(s->id)] = true;
            break;
        case StmtKind::Allocate: c.array_inside[static_cast<std::size_t>(s->id)] = true; break;
        case StmtKind::Store:
        case StmtKind::Retain: use_array(s->id); break;
        case StmtKind::Atomic:
            use_array(s->id);
            for (int v : s->outs) use_var(v);
            break;
        case StmtKind::Call:
            for (int a : s->arrays) use_array(a);
            for (int v : s->outs) use_var(v);
            break;
        case StmtKind::Try:
        case StmtKind::Native:
            for (int v : s->outs) use_var(v);
            break;
        default: break;
    }
    for (ir::S inner : s->body) capture(inner, c);
    for (ir::S inner : s->orelse) capture(inner, c);
}

FunctionEmitter::Captured FunctionEmitter::captured_by(ir::S s) const {
    Captured c;
    c.param_seen.resize(f_.params.size());
    c.array_seen.resize(f_.arrays.size());
    c.var_seen.resize(f_.vars.size());
    c.var_inside.resize(f_.vars.size());
    c.array_inside.resize(f_.arrays.size());
    for (ir::S inner : s->body) capture(inner, c);
    c.var_inside[static_cast<std::size_t>(s->id)] = true;
    std::erase_if(c.vars, [&](int v) { return c.var_inside[static_cast<std::size_t>(v)]; });
    std::erase_if(c.arrays, [&](int a) { return c.array_inside[static_cast<std::size_t>(a)]; });
    return c;
}

/// Rough cost of evaluating e once, in the unit of unisono_parallel_for (about 0.1 ns).
std::int64_t FunctionEmitter::static_cost(ir::E e) const {
    std::int64_t sum = 1;
    if (e->kind == ExprKind::Load) {
        const auto& strides = f_.arrays[static_cast<std::size_t>(e->id)].strides;
        bool apart = !strides.empty() && strides.back() == ir::StrideClass::Other;
        sum = apart ? 20 : 2;  // each on a cache line of its own, or side by side
    }
    if ((e->kind == ExprKind::Unary || e->kind == ExprKind::Binary) && is_costly(e->op)) sum = 20;
    for (ir::E a : e->args) sum += static_cost(a);
    return sum;
}

namespace {

/// The trip count of a loop over a strip, `loop i in x to end` behind `end = min(x + 4096, ...)`:
/// 4096; of another loop whose range the body computes 8 is assumed.
std::int64_t computed_trips(ir::S loop, std::span<const ir::S> list) {
    ir::E end = loop->args[1];
    for (ir::S s : list) {
        bool is_end =
            end->kind == ExprKind::Var && s->kind == StmtKind::Declare && s->id == end->id;
        if (is_end && !s->args.empty()) end = s->args[0];
    }
    if (end->kind != ExprKind::Binary || end->op != Op::Min) return 8;
    for (ir::E side : end->args) {
        if (side->kind != ExprKind::Binary || side->op != Op::Add) continue;
        ir::E length = side->args[1];
        if (length->kind == ExprKind::Const && ir::same(side->args[0], loop->args[0]))
            return std::clamp<std::int64_t>(static_cast<std::int64_t>(length->bits), 1, 1 << 30);
    }
    return 8;
}

}  // namespace

Value* FunctionEmitter::cost(std::span<const ir::S> list, const Captured& c) {
    Value* sum = int64(0);
    for (ir::S s : list) sum = b_.CreateAdd(sum, cost(s, list, c));
    return sum;
}

/// Cost of a statement of `list` as known before the loop; of a branch whose condition is known the
/// side that is taken counts, else both.
Value* FunctionEmitter::cost(ir::S s, std::span<const ir::S> list, const Captured& c) {
    std::int64_t own = 2;
    for (ir::E e : s->args) own += static_cost(e);
    auto known = [&](auto&& self, ir::E e) -> bool {
        if (e->kind == ExprKind::Load || e->kind == ExprKind::WorkItem) return false;
        if (e->kind == ExprKind::Var && c.var_inside[static_cast<std::size_t>(e->id)]) return false;
        return std::all_of(e->args.begin(), e->args.end(), [&](ir::E a) { return self(self, a); });
    };
    bool all =
        std::all_of(s->args.begin(), s->args.end(), [&](ir::E e) { return known(known, e); });
    Value* body = cost(s->body, c);
    Value* orelse = cost(s->orelse, c);
    Value* inner = s->kind == StmtKind::If && all ? b_.CreateSelect(emit(s->args[0]), body, orelse)
                                                  : b_.CreateAdd(body, orelse);
    if (s->kind == StmtKind::For) {
        inner = b_.CreateMul(inner, all ? trip_count(s) : int64(computed_trips(s, list)));
        if (s->loop == LoopKind::Vector) inner = b_.CreateUDiv(inner, int64(4));  // elements a step
    } else if (s->kind == StmtKind::While) {
        inner = b_.CreateMul(inner, int64(8));
    } else if (s->kind == StmtKind::Call || s->kind == StmtKind::Native) {
        own += 100;
    }
    return b_.CreateAdd(inner, int64(own));
}

/// Puts `fields`, then what the loop uses, into a block of memory.
FunctionEmitter::Context FunctionEmitter::make_context(std::vector<Value*> fields,
                                                       const Captured& c) {
    for (int p : c.params) fields.push_back(params_[static_cast<std::size_t>(p)]);
    for (int id : c.arrays) {
        const ArrayValue& a = arrays_[static_cast<std::size_t>(id)];
        fields.push_back(base_of(id));
        if (f_.arrays[static_cast<std::size_t>(id)].is_slot) continue;
        for (int k = 0; k < f_.arrays[static_cast<std::size_t>(id)].rank; ++k) {
            fields.push_back(a.extents[static_cast<std::size_t>(k)]);
            fields.push_back(a.strides[static_cast<std::size_t>(k)]);
        }
    }
    for (int v : c.vars)
        fields.push_back(b_.CreateLoad(variable(v)->getAllocatedType(), variable(v)));
    std::vector<llvm::Type*> types;
    for (Value* v : fields) types.push_back(v->getType());
    auto* layout = llvm::StructType::get(m_.context, types);
    Value* memory = local(layout, "context");
    for (unsigned k = 0; k < fields.size(); ++k)
        b_.CreateStore(fields[k], b_.CreateStructGEP(layout, memory, k));
    return {layout, memory};
}

/// In the loop's function: what make_context put into memory behind its first fields.
void FunctionEmitter::read_context(const Context& context, unsigned field, const Captured& c) {
    auto next = [&] {
        Value* at = b_.CreateStructGEP(context.layout, context.memory, field);
        return b_.CreateLoad(context.layout->getElementType(field++), at);
    };
    for (int p : c.params) params_[static_cast<std::size_t>(p)] = next();
    for (int id : c.arrays) {
        ArrayValue& a = arrays_[static_cast<std::size_t>(id)];
        a.base = next();
        if (f_.arrays[static_cast<std::size_t>(id)].is_slot) continue;
        for (int k = 0; k < f_.arrays[static_cast<std::size_t>(id)].rank; ++k) {
            a.extents.push_back(next());
            a.strides.push_back(next());
        }
    }
    for (int v : c.vars) {
        Value* value = next();
        b_.CreateStore(value, variable(v));
    }
}

/// The body's function: int64_t (Fault*, context*, begin, end); its memory block holds what
/// Captured lists, in order.
void FunctionEmitter::emit_outlined(ir::S s, const Captured& c, Context context,
                                    llvm::Function* into) {
    start(into);
    fault_ = into->getArg(0);
    context.memory = into->getArg(1);
    auto field = [&](unsigned k) {
        return b_.CreateLoad(context.layout->getElementType(k),
                             b_.CreateStructGEP(context.layout, context.memory, k));
    };
    Value* begin = field(0);
    Value* step = field(1);
    read_context(context, 2, c);
    make_scopes();
    groups_.push_back(llvm::MDNode::getDistinct(m_.context, {}));
    made_in_.emplace_back(f_.arrays.size(), false);
    bool unit = s->args[2]->kind == ExprKind::Const && s->args[2]->bits == 1;
    auto body = [&](Value* k) {
        iteration_ = k;
        b_.CreateStore(b_.CreateAdd(begin, unit ? k : b_.CreateMul(k, step)), variable(s->id));
        emit_all(s->body);
    };
    if (unit && streams(s)) {
        iteration_ = into->getArg(2);  // never read: a streaming body has no faults
        streaming_loop(s, b_.CreateAdd(begin, into->getArg(2)),
                       b_.CreateAdd(begin, into->getArg(3)));
    } else {
        iteration_ = into->getArg(2);
        striped_loop(s, into->getArg(2), into->getArg(3), body);
    }
    groups_.pop_back();
    made_in_.pop_back();
    finish();
}

void FunctionEmitter::emit_parallel(ir::S s) {
    Captured c = captured_by(s);
    Value* begin = emit(s->args[0]);
    Value* step = emit(s->args[2]);
    Value* trips = trip_count(s);
    Context context = make_context({begin, step}, c);

    auto* body_type = llvm::FunctionType::get(m_.i64, {m_.ptr, m_.ptr, m_.i64, m_.i64}, false);
    auto* body = llvm::Function::Create(body_type, llvm::GlobalValue::InternalLinkage,
                                        fn_->getName() + ".chunk", m_.out.get());
    body->setDoesNotThrow();
    FunctionEmitter(m_, f_, index_).emit_outlined(s, c, context, body);

    Value* work = cost(s->body, c);
    auto* run_type =
        llvm::FunctionType::get(m_.i64, {m_.ptr, m_.ptr, m_.ptr, m_.i64, m_.i64, m_.i64}, false);
    llvm::Function* run = m_.declare("unisono_parallel_for", run_type);
    Value* place = int64(s->line.line | std::int64_t{s->line.file} << 32);
    Value* site = b_.CreateCall(run, {fault_, body, context.memory, trips, work, place});
    llvm::BasicBlock* after = block("joined");
    exit_site_->addIncoming(site, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(site, int64(0)), after, exit_);
    b_.SetInsertPoint(after);
    ++loops_emitted_;
    if (!loops_.empty()) count_work(trips);
    cache_.clear();
}

}  // namespace unisono::codegen
