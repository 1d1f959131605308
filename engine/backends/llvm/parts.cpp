// Emits a long function in parts: runs of statements become LLVM functions of their own.
//
// Much of what the optimiser and the code generator do takes more than linear time in the size of
// one function. A part takes what it uses in a block of memory, as the body of a parallel loop
// does, works on copies, and leaves its variables there: inside of a try on every way out, since
// what follows a fault that it catches sees them as they were, else at its end.
#include <algorithm>

#include "backends/llvm/emitter.h"
#include "ir/rewrite.h"

namespace unisono::codegen {

using ir::StmtKind;

namespace {

// In nodes of the IR; a small loop over an array has about 40.
constexpr int long_function = 4000;
constexpr int longest_part = 1000;
/// Without loops: what each part reads and tests again, indices above all, costs more than its
/// size.
constexpr int longest_straight = 4000;

/// Counts nodes, up to slightly more than the limit.
class Size final : public ir::Visitor {
  public:
    explicit Size(int limit) : limit_(limit) {}
    void expr(ir::E e) override {
        if (++count <= limit_) children(e);
    }
    void stmt(ir::S s) override {
        if (++count <= limit_) children(s);
    }
    int count = 0;

  private:
    int limit_;
};

int size_up_to(int limit, std::span<const ir::S> list) {
    Size size(limit);
    for (ir::S s : list) size.stmt(s);
    return size.count;
}

class Mentions final : public ir::Visitor {
  public:
    explicit Mentions(std::size_t vars) : of(vars) {}
    void expr(ir::E e) override {
        if (e->kind == ir::ExprKind::Var) add(e->id);
        children(e);
    }
    void stmt(ir::S s) override {
        if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For)
            add(s->id);
        for (std::int32_t v : s->outs) add(v);
        for (const ir::Reduction& r : s->reductions) add(r.var);
        children(s);
    }
    std::vector<int> of;

  private:
    void add(std::int32_t var) { ++of[static_cast<std::size_t>(var)]; }
};

/// Whether control leaves the statement otherwise than at its end or by a fault.
bool leaves(ir::S s, bool in_loop = false) {
    switch (s->kind) {
        case StmtKind::Return: return s->fault == -1;
        case StmtKind::Break:
        case StmtKind::Continue: return !in_loop;
        case StmtKind::For:
        case StmtKind::While: in_loop = true; break;
        default: break;
    }
    auto inside = [&](ir::S b) { return leaves(b, in_loop); };
    return std::any_of(s->body.begin(), s->body.end(), inside) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), inside);
}

/// What an Allocate makes lives as long as the function that it stands in.
bool can_move(ir::S s) {
    if (s->kind == StmtKind::Block) return std::all_of(s->body.begin(), s->body.end(), can_move);
    return s->kind != StmtKind::Allocate && s->kind != StmtKind::Barrier && !leaves(s);
}

bool has_loop(ir::S s) {
    return ir::contains(s, StmtKind::For) || ir::contains(s, StmtKind::While);
}

}  // namespace

/// What a part uses of the function around it.
struct FunctionEmitter::Part {
    Captured uses;
    std::vector<int> slots;  ///< given and taken back, as the variables are
    Context context{};
    unsigned first_of_uses = 0;  ///< field of the context
    bool has_iteration = false;
    bool is_in_try = false;
};

void FunctionEmitter::plan_parts() {
    if (m_.for_device() || !f_.body) return;
    is_long_ = size_up_to(long_function, std::span(&f_.body, 1)) > long_function;
    if (!is_long_) return;
    Mentions mentions(f_.vars.size());
    mentions.stmt(f_.body);
    mentions_ = std::move(mentions.of);
    // Views read variables wherever they are used.
    Mentions by_views(f_.vars.size());
    for (const ir::Array& a : f_.arrays) {
        if (a.offset) by_views.expr(a.offset);
        for (ir::E e : a.extents) by_views.expr(e);
        for (ir::E e : a.view_strides) by_views.expr(e);
    }
    for (std::size_t v = 0; v < mentions_.size(); ++v) mentions_[v] += by_views.of[v];
}

/// The body of a loop that may become one on vectors stays whole.
bool FunctionEmitter::divides(std::span<const ir::S> list) const {
    if (list.size() < 2 || any_order_ || streaming_) return false;
    bool loops = std::any_of(list.begin(), list.end(), has_loop);
    int limit = loops ? longest_part : longest_straight;
    return (groups_.empty() || loops) && size_up_to(limit, list) > limit;
}

void FunctionEmitter::emit_in_parts(std::span<const ir::S> list) {
    std::vector<ir::S> flat;
    ir::flatten(list, flat);
    std::size_t begin = 0;
    int size = 0;
    bool loops = false;
    auto end_run = [&](std::size_t end) {
        auto run = std::span<const ir::S>(flat).subspan(begin, end - begin);
        if (loops || size > longest_part / 4)
            emit_part(run);
        else
            for (ir::S s : run) emit(s);
        begin = end;
        size = 0;
        loops = false;
    };
    for (std::size_t k = 0; k < flat.size(); ++k) {
        int own = size_up_to(longest_part, std::span(&flat[k], 1));
        bool is_alone = own > longest_part || !can_move(flat[k]);
        bool loop = has_loop(flat[k]);
        if (is_alone || size + own > (loops || loop ? longest_part : longest_straight)) end_run(k);
        size += own;
        loops = loops || loop;
        if (!is_alone) continue;
        emit(flat[k]);
        begin = k + 1;
        size = 0;
        loops = false;
    }
    end_run(flat.size());
}

FunctionEmitter::Part FunctionEmitter::used_by_part(std::span<const ir::S> list) const {
    Part part;
    Captured& c = part.uses;
    c.param_seen.resize(f_.params.size());
    c.array_seen.resize(f_.arrays.size());
    c.var_seen.resize(f_.vars.size());
    c.var_inside.resize(f_.vars.size());
    c.array_inside.resize(f_.arrays.size());
    Mentions mentions(f_.vars.size());
    for (ir::S s : list) {
        capture(s, c);
        mentions.stmt(s);
    }
    c.vars.clear();
    for (std::size_t v = 0; v < mentions.of.size(); ++v) {
        bool is_used = mentions.of[v] > 0 || c.var_seen[v];
        if (is_used && mentions.of[v] < mentions_[v]) c.vars.push_back(static_cast<int>(v));
    }
    c.arrays.clear();
    for (std::size_t a = 0; a < f_.arrays.size(); ++a) {
        auto id = static_cast<int>(a);
        bool is_set = c.array_inside[a];
        if (f_.arrays[a].is_slot && (c.array_seen[a] || is_set))
            part.slots.push_back(id);
        else if (c.array_seen[a] && !is_set)
            c.arrays.push_back(id);
    }
    return part;
}

void FunctionEmitter::emit_part(std::span<const ir::S> list) {
    mark(list.front()->line);
    Part part = used_by_part(list);
    std::vector<Value*> fields;
    // Slots whose address alone is known belong to the function around a parallel loop.
    std::erase_if(part.slots, [&](int a) {
        bool is_fixed = arrays_[static_cast<std::size_t>(a)].base != nullptr;
        if (is_fixed) part.uses.arrays.push_back(a);
        return is_fixed;
    });
    part.has_iteration = iteration_ != nullptr;
    part.is_in_try = exit_ != end_;
    if (iteration_) fields.push_back(iteration_);
    for (int a : part.slots) {
        fields.push_back(b_.CreateLoad(m_.ptr, slot(a).pointer));
        fields.push_back(b_.CreateLoad(m_.ptr, slot(a).block));
    }
    part.first_of_uses = static_cast<unsigned>(fields.size());
    part.context = make_context(std::move(fields), part.uses);
    auto* type = llvm::FunctionType::get(m_.i64, {m_.ptr, m_.ptr}, false);
    auto* body = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                        fn_->getName() + ".part", m_.out.get());
    body->setDoesNotThrow();
    body->addFnAttr(llvm::Attribute::NoInline);
    FunctionEmitter inside(m_, f_, index_);
    inside.mentions_ = mentions_;
    inside.emit_part_body(list, part, body);

    Value* site = b_.CreateCall(body, {fault_, part.context.memory});
    auto take = [&](unsigned field, llvm::AllocaInst* into) {
        Value* at = b_.CreateStructGEP(part.context.layout, part.context.memory, field);
        b_.CreateStore(b_.CreateLoad(into->getAllocatedType(), at), into);
    };
    unsigned field = part.has_iteration;
    for (int a : part.slots) {
        take(field++, slot(a).pointer);
        take(field++, slot(a).block);
    }
    field = part.context.layout->getNumElements() - static_cast<unsigned>(part.uses.vars.size());
    for (int v : part.uses.vars) take(field++, variable(v));
    llvm::BasicBlock* after = block("went_on");
    exit_site_->addIncoming(site, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(site, int64(0)), after, exit_);
    b_.SetInsertPoint(after);
    for (int a : part.slots) {
        for (auto& made : made_in_) made[static_cast<std::size_t>(a)] = true;
    }
    cache_.clear();
}

/// The function of a part: int64_t (Fault*, context*).
void FunctionEmitter::emit_part_body(std::span<const ir::S> list, const Part& part,
                                     llvm::Function* into) {
    start(into);
    mark(list.front()->line);
    fault_ = into->getArg(0);
    Context context{part.context.layout, into->getArg(1)};
    auto at = [&](unsigned field) {
        return b_.CreateStructGEP(context.layout, context.memory, field);
    };
    auto give = [&](unsigned field, llvm::AllocaInst* into_local) {
        Value* place = at(field);
        b_.CreateStore(b_.CreateLoad(into_local->getAllocatedType(), place), into_local);
        given_back_.emplace_back(place, into_local);
    };
    unsigned field = 0;
    if (part.has_iteration) iteration_ = b_.CreateLoad(m_.i64, at(field++));
    for (int a : part.slots) {
        slot(a).lent = true;
        give(field++, slot(a).pointer);
        give(field++, slot(a).block);
    }
    read_context(context, part.first_of_uses, part.uses);
    field = context.layout->getNumElements() - static_cast<unsigned>(part.uses.vars.size());
    std::vector<GivenBack> vars;
    for (int v : part.uses.vars) vars.emplace_back(at(field++), variable(v));
    if (part.is_in_try) given_back_.insert(given_back_.end(), vars.begin(), vars.end());
    make_scopes();
    for (ir::S s : list) emit(s);
    if (!part.is_in_try) give_back(vars);
    finish();
}

/// Leaves in the context what a part's function has made of what it was given.
void FunctionEmitter::give_back(std::span<const GivenBack> list) {
    for (const auto& [place, local] : list)
        b_.CreateStore(b_.CreateLoad(local->getAllocatedType(), local), place);
}

}  // namespace unisono::codegen
