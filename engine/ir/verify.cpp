// Checks that a tree obeys the rules of ir.h: a broken one is a bug of the engine, found where it
// was made.
//
// Scopes. A variable or allocated array is visible from its declaration to the end of the body (of
// a function, loop or branch) that holds it; a plain Block is no scope. A loop variable is visible
// in the loop's body and not assigned there. What is visible is not declared again; bodies that
// exclude each other may declare the same variable.
#include <algorithm>
#include <string_view>
#include <type_traits>

#include "ir/atomics.h"
#include "ir/build.h"
#include "ir/fence.h"
#include "ir/shuffle.h"

namespace unisono::ir {
namespace {

bool is_independent(LoopKind k) { return k != LoopKind::Serial && k != LoopKind::Unroll; }

class Verifier {
  public:
    Verifier(const Module& m, const Function& f) : module_(m), f_(f) {}

    void run() {
        tables();
        vars_.assign(f_.vars.size(), {});
        arrays_.assign(f_.arrays.size(), false);
        for (std::size_t i = 0; i < f_.arrays.size(); ++i) {
            const Array& a = f_.arrays[i];
            arrays_[i] = a.param >= 0 || a.is_slot || a.is_view();
        }
        require(f_.body != nullptr, "a function has a body");
        stmt(f_.body);
        for (E e : f_.grid) {
            want(e, DType::Int64, "a grid size");
            expr(e);
        }
    }

  private:
    struct VarState {
        bool visible = false;
        bool is_loop_var = false;
        int independent_depth = 0;  ///< how many independent loops surround its declaration
    };
    struct Loop {
        LoopKind kind;
        bool is_while;
        std::span<const Reduction> reductions;
    };

    [[noreturn]] void broken(const std::string& rule) const {
        std::string where = "ir: function " + f_.name;
        if (line_.line > 0) where += ", line " + std::to_string(line_.line);
        throw Error(ErrorKind::Internal, where + ": a rule is broken: " + rule);
    }

    void require(bool holds, const char* rule) const {
        if (!holds) broken(rule);
    }
    /// The text is made only when it is needed: trees are verified whenever something is compiled.
    template <class Text>
    requires std::is_invocable_v<Text>
    void require(bool holds, Text rule) const {
        if (!holds) broken(rule());
    }

    template <class T>
    const T& at(const std::vector<T>& table, std::int32_t id, const char* what) const {
        require(id >= 0 && static_cast<std::size_t>(id) < table.size(), [&] {
            return std::string(what) + " has an id of its table; got " + std::to_string(id) +
                   " of " + std::to_string(table.size());
        });
        return table[static_cast<std::size_t>(id)];
    }

    void want(E e, DType t, std::string_view what, std::string_view whose = {}) const {
        if (e->dtype == t) return;
        std::string text(what);
        if (!whose.empty()) text += " " + std::string(whose);
        broken(text + " has dtype " + std::string(name(t)) + "; got " +
               std::string(name(e->dtype)) + " in " + print(f_, e));
    }

    /// Complex elements are accessed whole or, with a part's dtype, by parts.
    void element(DType t, std::int32_t part, const Array& a, std::string_view what, E e) const {
        bool is_part = is_complex(a.dtype) && t == part_dtype(a.dtype) && (part == 0 || part == 1);
        if (!is_part) want(e, a.dtype, what, a.name);
    }

    void tables() const {
        require(!f_.is_kernel || f_.results.empty(), "a kernel has no results");
        require(f_.dimensions >= 1 && f_.dimensions <= 3, "a kernel has 1 to 3 dimensions");
        for (std::size_t i = 0; i < f_.params.size(); ++i) {
            if (!f_.params[i].is_array()) continue;
            const Array& a = at(f_.arrays, f_.params[i].array, "an array parameter");
            require(a.param == static_cast<std::int32_t>(i) && a.dtype == f_.params[i].dtype, [&] {
                return "parameter " + f_.params[i].name + " and its array agree on index and dtype";
            });
        }
        for (const Array& a : f_.arrays) {
            require(a.rank >= 0 && a.strides.size() == static_cast<std::size_t>(a.rank),
                    [&] { return "array " + a.name + " has a stride class per axis"; });
            require(a.param < 0 || a.space == Space::Global,
                    [&] { return "array parameter " + a.name + " lies in global memory"; });
            if (a.param >= 0) at(f_.params, a.param, "an array");
        }
    }

    // ---- Expressions

    void expr(E e) {
        for (E a : e->args) expr(a);
        static constexpr int counts[] = {
#define UNISONO_EXPR(Kind, name, operands) operands,
#include "ir/nodes.def"
        };
        int count = counts[static_cast<int>(e->kind)];
        require(count < 0 || e->args.size() == static_cast<std::size_t>(count),
                [&] { return "operand count of its kind; in " + print(f_, e); });
        switch (e->kind) {
            case ExprKind::Const:
                require(!is_complex(e->dtype), "a complex constant is a pair of real ones");
                require(size_of(e->dtype) == 8 || e->bits >> (size_of(e->dtype) * 8) == 0,
                        "the bits of a constant are zero beyond its dtype");
                break;
            case ExprKind::Var: {
                const Var& v = at(f_.vars, e->id, "a variable");
                require(vars_[static_cast<std::size_t>(e->id)].visible, [&] {
                    return "a variable is declared before it is read, in an enclosing body; got " +
                           v.name;
                });
                want(e, v.dtype, "variable", v.name);
                break;
            }
            case ExprKind::Param: param(e); break;
            case ExprKind::Load:
                access(e->id, e->access, e->args);
                element(e->dtype, e->axis, f_.arrays[static_cast<std::size_t>(e->id)], "a load", e);
                break;
            case ExprKind::Part:
                require(is_complex(e->args[0]->dtype) && (e->axis == 0 || e->axis == 1),
                        "complex numbers have two parts");
                want(e, part_dtype(e->args[0]->dtype), "a part");
                break;
            case ExprKind::Pair:
                require(is_complex(e->dtype), "a pair is a complex number");
                for (E a : e->args) want(a, part_dtype(e->dtype), "a part");
                break;
            case ExprKind::Unary:
            case ExprKind::Binary: operation(e); break;
            case ExprKind::Select:
                want(e->args[0], DType::Bool, "a select's condition");
                want(e->args[1], e->dtype, "a select's value");
                want(e->args[2], e->dtype, "a select's value");
                break;
            case ExprKind::Cast: break;
            case ExprKind::Bitcast:
                require(size_of(e->dtype) == size_of(e->args[0]->dtype),
                        "a bitcast keeps the size");
                break;
            case ExprKind::Fma:
                require(is_float(e->dtype), "fma is for floats");
                for (E a : e->args) want(a, e->dtype, "an operand of fma");
                break;
            case ExprKind::Memory: {
                const Array& a = at(f_.arrays, e->id, "a memory");
                require(a.param >= 0 || a.is_slot, "only slots and parameters have memory");
                break;
            }
            case ExprKind::WorkItem:
                require(f_.is_kernel || !f_.grid.empty(),
                        "work-item queries occur in kernels only");
                require(e->axis >= 0 && e->axis < 3 && e->dtype == DType::Int64,
                        "a work-item query is an int64 of axis 0 to 2");
                break;
        }
    }

    void param(E e) const {
        const Param& p = at(f_.params, e->id, "a parameter");
        if (e->field == Field::Value) {
            require(!p.is_array(),
                    [&] { return "only scalar parameters have a value; got " + p.name; });
            want(e, p.dtype, "parameter", p.name);
            return;
        }
        require(p.is_array(),
                [&] { return "only array parameters have extents and strides; got " + p.name; });
        int rank = f_.arrays[static_cast<std::size_t>(p.array)].rank;
        require(e->axis >= 0 && e->axis < rank,
                [&] { return "an axis lies below the rank of " + p.name; });
        want(e, DType::Int64, "an extent or stride");
    }

    void operation(E e) const {
        bool unary = e->kind == ExprKind::Unary;
        require(info(e->op).arity == (unary ? 1 : 2),
                [&] { return std::string(name(e->op)) + " has its arity"; });
        DType t = e->args[0]->dtype;
        if (!unary) want(e->args[1], t, "the second operand of", name(e->op));
        auto result = result_dtype(e->op, t);
        require(result.has_value(), [&] {
            return std::string(name(e->op)) + " is defined on " + std::string(name(t));
        });
        want(e, *result, "the result of", name(e->op));
    }

    void access(std::int32_t id, Access mode, std::span<const E> indices) {
        const Array& a = at(f_.arrays, id, "an array");
        require(arrays_[static_cast<std::size_t>(id)],
                [&] { return "an array is allocated before it is used; got " + a.name; });
        require(!a.is_slot || mode == Access::Linear,
                [&] { return "a slot is accessed through views; got " + a.name; });
        if (a.is_view()) view(a);
        std::size_t count = mode == Access::Linear ? 1 : static_cast<std::size_t>(a.rank);
        require(indices.size() == count, [&] {
            return "an access of " + a.name + " has " + std::to_string(count) + " indices; got " +
                   std::to_string(indices.size());
        });
        for (E i : indices) want(i, DType::Int64, "an index of", a.name);
    }

    /// What a view reads is declared where the view is used.
    void view(const Array& a) {
        const Array& base = at(f_.arrays, a.base, "a view");
        require(!base.is_view(), [&] {
            return "a view sees a slot, a parameter or an array of a kernel; got " + a.name;
        });
        require(a.extents.size() == static_cast<std::size_t>(a.rank) &&
                    a.view_strides.size() == a.extents.size(),
                [&] { return "a view has an extent and a stride per axis; got " + a.name; });
        want(a.offset, DType::Int64, "the offset of", a.name);
        expr(a.offset);
        for (E e : a.extents) expr(e);
        for (E e : a.view_strides) expr(e);
    }

    void slot(S s) const {
        const Array& a = at(f_.arrays, s->id, "a slot");
        require(a.is_slot, [&] { return "memory is held by slots; got " + a.name; });
        for (E e : s->args) want(e, DType::Int64, "a size or address of", a.name);
        if (s->kind != StmtKind::Point || s->arrays.empty()) return;
        const Array& source = at(f_.arrays, s->arrays[0], "what a slot points to");
        require((source.is_slot || source.param >= 0) && source.dtype == a.dtype,
                [&] { return "a slot points to memory of its dtype; got " + a.name; });
    }

    // ---- Statements

    void declare(std::int32_t id, bool is_loop_var) {
        const Var& v = at(f_.vars, id, "a declaration");
        VarState& state = vars_[static_cast<std::size_t>(id)];
        require(!state.visible,
                [&] { return "a visible variable is not declared again; got " + v.name; });
        state = {true, is_loop_var, independent_depth_};
        declared_vars_.push_back(id);
    }

    void assign(std::int32_t id, DType t) const {
        const Var& v = at(f_.vars, id, "an assignment");
        const VarState& state = vars_[static_cast<std::size_t>(id)];
        require(state.visible,
                [&] { return "a variable is declared before it is assigned; got " + v.name; });
        require(!state.is_loop_var,
                [&] { return "a loop variable is not assigned; got " + v.name; });
        require(t == v.dtype, [&] {
            return "variable " + v.name + " takes values of its dtype " +
                   std::string(name(v.dtype)) + "; got " + std::string(name(t));
        });
        if (state.independent_depth == independent_depth_) return;
        auto loop = std::find_if(loops_.rbegin(), loops_.rend(), [](const Loop& l) {
            return !l.is_while && is_independent(l.kind);
        });
        bool reduced = std::any_of(loop->reductions.begin(), loop->reductions.end(),
                                   [&](const Reduction& r) { return r.var == id; });
        require(reduced, [&] {
            return "an independent loop assigns outer variables only where it reduces them; got " +
                   v.name;
        });
    }

    /// A body that is a scope.
    void scope(std::span<const S> body) {
        std::size_t vars = declared_vars_.size();
        std::size_t arrays = declared_arrays_.size();
        for (S s : body) stmt(s);
        close(vars, arrays);
    }

    void close(std::size_t vars, std::size_t arrays) {
        for (; declared_vars_.size() > vars; declared_vars_.pop_back()) {
            vars_[static_cast<std::size_t>(declared_vars_.back())].visible = false;
        }
        for (; declared_arrays_.size() > arrays; declared_arrays_.pop_back()) {
            arrays_[static_cast<std::size_t>(declared_arrays_.back())] = false;
        }
    }

    void stmt(S s) {
        require(s != nullptr, "no statement is null");
        Line outer = line_;
        if (s->line.line > 0) line_ = s->line;
        for (E e : s->args) expr(e);
        switch (s->kind) {
            case StmtKind::Block:
                for (S b : s->body) stmt(b);
                break;
            case StmtKind::Declare:
                require(s->args.size() <= 1, "a declaration has one first value or none");
                declare(s->id, false);
                if (!s->args.empty()) assign(s->id, s->args[0]->dtype);
                break;
            case StmtKind::Assign:
                require(s->args.size() == 1, "an assignment has one value");
                assign(s->id, s->args[0]->dtype);
                break;
            case StmtKind::Store:
            case StmtKind::Atomic: store(s); break;
            case StmtKind::Allocate: allocate(s); break;
            case StmtKind::Make:
            case StmtKind::Point:
            case StmtKind::Retain: slot(s); break;
            case StmtKind::For: loop(s); break;
            case StmtKind::While:
                condition(s, "a while");
                loops_.push_back({LoopKind::Serial, true, {}});
                scope(s->body);
                loops_.pop_back();
                break;
            case StmtKind::If:
                condition(s, "an if");
                scope(s->body);
                scope(s->orelse);
                break;
            case StmtKind::Try:
                require(s->outs.size() == 7, "a try tells what ended it in seven variables");
                scope(s->body);
                for (std::int32_t v : s->outs) assign(v, DType::Int64);
                break;
            case StmtKind::Break:
                require(!loops_.empty() && !is_independent(loops_.back().kind),
                        "break stands in a loop whose iterations run in order");
                break;
            case StmtKind::Continue: require(!loops_.empty(), "continue stands in a loop"); break;
            case StmtKind::Return: leave(s); break;
            case StmtKind::Prefetch:
                require(s->args.size() == 1 && s->args[0]->kind == ExprKind::Load &&
                            !is_complex(s->args[0]->dtype),
                        "a prefetch names an element that is not a complex number");
                break;
            case StmtKind::Barrier:
                if (is_fence(s)) break;
                if (is_shuffle(s)) {
                    require(s->args.size() == 2 && s->outs.size() == 1,
                            "a shuffle has a value, a distance and a variable");
                    require(!is_complex(s->args[0]->dtype), "a shuffle moves no complex number");
                    want(s->args[1], DType::Int64, "the distance of", "a shuffle");
                    assign(s->outs[0], s->args[0]->dtype);
                    break;
                }
                if (is_vote(s)) {
                    require(s->args.size() <= 1 && s->outs.size() == s->args.size(),
                            "a vote has a predicate and a variable, or neither");
                    for (E e : s->args) want(e, DType::Bool, "the predicate of", "a vote");
                    for (std::int32_t v : s->outs) assign(v, DType::UInt32);
                    break;
                }
                require(f_.is_kernel, "a barrier stands in a kernel");
                require(independent_depth_ == 0, "a barrier does not stand in an independent loop");
                if (s->args.empty()) break;
                require(s->args.size() == 1 && s->args[0]->kind == ExprKind::Var,
                        "the arrival at a barrier is a variable");
                want(s->args[0], DType::Int64, "the arrival at", "a barrier");
                at(f_.sites, s->fault, "a fault");
                break;
            case StmtKind::Call: call(s); break;
            case StmtKind::Native:
                require(s->id >= 0 && static_cast<std::size_t>(s->id) < f_.natives.size(),
                        "a native call names a function");
                require(s->outs.size() <= s->args.size(), "a native call gives back its values");
                for (E e : s->args) want(e, DType::Int64, "a value of", "a native call");
                for (std::int32_t v : s->outs) assign(v, DType::Int64);
                break;
        }
        line_ = outer;
    }

    void condition(S s, std::string_view what) const {
        require(s->args.size() == 1, [&] { return std::string(what) + " has one condition"; });
        want(s->args[0], DType::Bool, "the condition of", what);
    }

    void store(S s) {
        require(!s->args.empty(), "a store has a value");
        const std::size_t indices = index_count(*s);
        access(s->id, s->access, s->args.first(indices));
        const Array& a = f_.arrays[static_cast<std::size_t>(s->id)];
        require(a.writable, [&] { return "a store goes to a writable array; got " + a.name; });
        if (s->kind != StmtKind::Atomic) {
            element(s->args.back()->dtype, s->axis, a, "the value stored to", s->args.back());
            return;
        }
        for (E value : s->args.subspan(indices))
            want(value, a.dtype, "the value combined with", a.name);
        const AtomicForm form = atomic_form(*s);
        if (form == AtomicForm::Combine) {
            require(info(s->op).identity != "none" && result_dtype(s->op, a.dtype) == a.dtype,
                    "an atomic combines by an operation with an identity on its dtype");
        }
        if (form == AtomicForm::CountUp || form == AtomicForm::CountDown)
            require(info(a.dtype).kind == 'u', "an atomic counts in unsigned integers");
        require(s->outs.size() <= 1, "an atomic gives at most the value before");
        for (std::int32_t v : s->outs) assign(v, a.dtype);
    }

    void allocate(S s) {
        const Array& a = at(f_.arrays, s->id, "an allocation");
        require(a.param < 0, [&] { return "an array parameter is not allocated; got " + a.name; });
        require(!arrays_[static_cast<std::size_t>(s->id)],
                [&] { return "a visible array is not allocated again; got " + a.name; });
        require(s->args.size() == static_cast<std::size_t>(a.rank),
                [&] { return "array " + a.name + " has an extent per axis"; });
        for (E e : s->args) want(e, DType::Int64, "an extent of", a.name);
        arrays_[static_cast<std::size_t>(s->id)] = true;
        declared_arrays_.push_back(s->id);
    }

    void loop(S s) {
        require(s->args.size() == 3, "a loop has begin, end and step");
        for (E e : s->args) want(e, DType::Int64, "a loop bound");
        require(s->axis >= 0 && s->axis < 3, "a loop's axis is 0 to 2");
        for (const Reduction& r : s->reductions) {
            const Var& v = at(f_.vars, r.var, "a reduction");
            require(is_independent(s->loop), "only independent loops declare reductions");
            require(vars_[static_cast<std::size_t>(r.var)].visible,
                    [&] { return "a reduced variable is declared; got " + v.name; });
            require(info(r.op).identity != "none" && result_dtype(r.op, v.dtype) == v.dtype,
                    "a reduction's operation has an identity on its dtype");
            assign(r.var, v.dtype);
        }
        std::size_t vars = declared_vars_.size();
        std::size_t arrays = declared_arrays_.size();
        independent_depth_ += is_independent(s->loop) ? 1 : 0;
        loops_.push_back({s->loop, false, s->reductions});
        declare(s->id, true);
        require(f_.vars[static_cast<std::size_t>(s->id)].dtype == DType::Int64,
                "a loop variable is an int64");
        for (S b : s->body) stmt(b);
        close(vars, arrays);
        loops_.pop_back();
        independent_depth_ -= is_independent(s->loop) ? 1 : 0;
    }

    void leave(S s) const {
        if (s->fault == raised_again) {
            require(s->args.size() == 5, "what is raised again has a site and 4 values");
            for (E e : s->args) want(e, DType::Int64, "a value of a fault");
            return;
        }
        if (s->fault >= 0) {
            at(f_.sites, s->fault, "a fault");
            require(s->args.size() <= 4, "a fault has at most 4 values");
            for (E e : s->args) want(e, DType::Int64, "a value of a fault");
            return;
        }
        require(independent_depth_ == 0, "only a fault leaves an independent loop");
        require(s->args.size() == f_.results.size(), "a return gives all results");
        for (std::size_t i = 0; i < s->args.size(); ++i)
            want(s->args[i], f_.results[i], "a result");
    }

    void call(S s) {
        const Function& callee = at(module_.functions, s->id, "a call");
        require(!callee.is_kernel, [&] {
            return "a call goes to a function that is not a kernel; got " + callee.name;
        });
        std::size_t scalars = 0;
        std::size_t arrays = 0;
        for (const Param& p : callee.params) {
            if (p.is_array()) {
                require(arrays < s->arrays.size(),
                        [&] { return "a call of " + callee.name + " passes all arrays"; });
                array_argument(callee, callee.arrays[static_cast<std::size_t>(p.array)],
                               s->arrays[arrays++]);
            } else {
                require(scalars < s->args.size(),
                        [&] { return "a call of " + callee.name + " passes all scalars"; });
                want(s->args[scalars++], p.dtype, "argument", p.name);
            }
        }
        require(scalars == s->args.size() && arrays == s->arrays.size(),
                [&] { return "a call of " + callee.name + " passes no more than it takes"; });
        require(s->outs.size() == callee.results.size(),
                [&] { return "a call takes all results of " + callee.name; });
        for (std::size_t i = 0; i < s->outs.size(); ++i) assign(s->outs[i], callee.results[i]);
    }

    void array_argument(const Function& callee, const Array& wanted, std::int32_t id) {
        const Array& given = at(f_.arrays, id, "an array argument");
        require(arrays_[static_cast<std::size_t>(id)],
                [&] { return "an array is allocated before it is passed; got " + given.name; });
        if (given.is_view()) view(given);
        if (callee.native && given.dtype == wanted.dtype) return;  // a pointer
        require(given.dtype == wanted.dtype && given.rank == wanted.rank &&
                    (given.writable || !wanted.writable),
                [&] {
                    return "array " + given.name + " fits " + wanted.name + " of " + callee.name +
                           " in dtype, rank and use";
                });
        for (std::size_t i = 0; i < wanted.strides.size(); ++i) {
            require(
                wanted.strides[i] == StrideClass::Other || wanted.strides[i] == given.strides[i],
                [&] {
                    return "array " + given.name + " has the stride classes that " + callee.name +
                           " was made for";
                });
        }
    }

    const Module& module_;
    const Function& f_;
    Line line_;
    std::vector<VarState> vars_;
    std::vector<bool> arrays_;
    std::vector<std::int32_t> declared_vars_, declared_arrays_;
    std::vector<Loop> loops_;
    int independent_depth_ = 0;
};

}  // namespace

void verify(const Module& module) {
    if (module.functions.empty())
        throw Error(ErrorKind::Internal, "ir: a module has an entry function");
    for (const Function& f : module.functions) Verifier(module, f).run();
}

}  // namespace unisono::ir
