// Makes a kernel of each piece of a function's top level (split_kernels.h): the loops of a nest
// become axes of the grid, the innermost axis 0, with a test of the range.
#include "passes/kernels/map_to_grid.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/rewrite.h"
#include "passes/kernels/split_kernels.h"

namespace unisono::passes {
using namespace ir;

namespace {

/// Makes one kernel of a piece, in a function of its own with the same tables.
class KernelMaker {
  public:
    KernelMaker(const Function& from, const KernelSplit& split, const KernelPiece& piece,
                std::string name)
        : from_(from), split_(split), piece_(piece), to_(std::move(name)), b_(to_), cloner_(b_) {
        to_.params = from.params;
        to_.arrays = from.arrays;
        to_.vars = from.vars;
        to_.sites = from.sites;
        to_.files = from.files;
        // Kernels of loops give no results, nor do serial ones that end without a return.
        for (S s : piece.serial) {
            if (contains(s, StmtKind::Return)) to_.results = from.results;
        }
        cloner_.replace_statement = [this](S s) { return replace(s); };
    }

    Function make() {
        std::vector<S> body;
        std::vector<S> work;
        if (piece_.nest.empty()) {
            work = serial_work();
        } else {
            axes(work);
            if (piece_.device_guard) {
                E guard = copy(piece_.device_guard);
                work.push_back(b_.branch(b_.unary(Op::Not, guard), b_.ret({})));
            }
            in_nest_ = true;
            for (S s : piece_.nest.back()->body) work.push_back(cloner_.statement(s));
        }
        std::vector<S> prelude;
        declare_outer(work, prelude);
        work.insert(work.begin(), prelude.begin(), prelude.end());
        allocate_scratch(work, body);
        body.insert(body.end(), work.begin(), work.end());
        to_.dimensions = static_cast<int>(to_.grid.size());
        to_.body = b_.block(std::span<const S>(body));
        return std::move(to_);
    }

  private:
    /// Work-items have no next iteration: a continue of the nest ends the work-item.
    S replace(S s) {
        if (s->kind == StmtKind::Continue && in_nest_ && depth_ == 0) {
            b_.line = s->line;
            return b_.ret({});
        }
        if (s->kind == StmtKind::For || s->kind == StmtKind::While) {
            if (entered_ == s) return nullptr;
            entered_ = s;
            ++depth_;
            S out = cloner_.statement(s);
            --depth_;
            return out;
        }
        return nullptr;
    }

    E copy(E e) { return cloner_.expression(e); }

    /// e with the top level's scalars replaced by what they are computed from.
    E resolved(E e) {
        Cloner cloner(b_);
        cloner.replace_expression = [&](E x) -> E {
            if (x->kind != ExprKind::Var) return nullptr;
            return copy(piece_.values.at(x->id));
        };
        return cloner.expression(e);
    }

    E guarded(E size) {
        return piece_.guard ? b_.select(copy(piece_.guard), size, b_.i64(0)) : size;
    }

    static bool is_constant(E e, std::int64_t v) {
        return e->kind == ExprKind::Const && static_cast<std::int64_t>(e->bits) == v;
    }

    /// The trip count; may be negative for an empty loop.
    E count(E begin, E end, E step) {
        if (is_constant(step, 1)) return is_constant(begin, 0) ? end : b_.sub(end, begin);
        auto up = [&] {
            return b_.binary(Op::FloorDiv, b_.sub(b_.add(b_.sub(end, begin), step), b_.i64(1)),
                             step);
        };
        auto down = [&] {
            return b_.binary(Op::FloorDiv, b_.add(b_.add(b_.sub(end, begin), step), b_.i64(1)),
                             step);
        };
        if (step->kind == ExprKind::Const)
            return static_cast<std::int64_t>(step->bits) > 0 ? up() : down();
        return b_.select(b_.binary(Op::Gt, step, b_.i64(0)), up(), down());
    }

    /// Declares the loop variables from work-item ids and leaves where an id is beyond the range.
    void axes(std::vector<S>& out) {
        std::size_t loops = piece_.nest.size();
        std::size_t folded = loops > 3 ? loops - 2 : 1;  // how many outer loops share the last axis
        for (std::size_t k = loops; k-- > folded;) to_.grid.push_back(guarded(counts(k)));
        to_.grid.push_back(
            guarded(folded == 1 ? counts(0) : product(folded, [&](auto k) { return counts(k); })));

        E is_outside = nullptr;
        auto test = [&](E e) { is_outside = is_outside ? b_.binary(Op::Or, is_outside, e) : e; };
        if (folded == 1) {
            out.push_back(loop_variable(0, id(0)));
            test(outside(0));
        } else {
            unfold(folded, out);
            test(
                b_.binary(Op::Ge, id(0), product(folded, [&](auto k) { return local_counts(k); })));
        }
        for (std::size_t k = folded; k < loops; ++k) {
            out.push_back(loop_variable(k, id(k)));
            test(outside(k));
        }
        b_.line = piece_.nest.front()->line;
        out.push_back(b_.branch(is_outside, b_.ret({})));
    }

    /// Iterations of the outer loops that share an axis; no factor may be negative.
    template <class Counts>
    E product(std::size_t folded, Counts counts_of) {
        E all = nullptr;
        for (std::size_t k = 0; k < folded; ++k) {
            E n = b_.binary(Op::Max, counts_of(k), b_.i64(0));
            all = all ? b_.mul(all, n) : n;
        }
        return all;
    }

    /// Loop variables of the loops that share the last axis, from its id: the innermost runs
    /// fastest.
    void unfold(std::size_t folded, std::vector<S>& out) {
        E rest = id(0);
        std::vector<S> declared;
        for (std::size_t k = folded; k-- > 0;) {
            E n = local_counts(k);
            declared.push_back(loop_variable(k, k == 0 ? rest : b_.binary(Op::Mod, rest, n)));
            rest = b_.binary(Op::FloorDiv, rest, n);
        }
        out.insert(out.end(), declared.rbegin(), declared.rend());
    }

    E id(std::size_t k) { return b_.work_item(WorkItemQuery::GlobalId, axis(k)); }
    int axis(std::size_t k) const {
        return static_cast<int>(std::min<std::size_t>(piece_.nest.size() - 1 - k, 2));
    }
    /// The trip count of a loop, for the host.
    E counts(std::size_t k) {
        S loop = piece_.nest[k];
        b_.line = loop->line;
        return count(resolved(loop->args[0]), resolved(loop->args[1]), resolved(loop->args[2]));
    }
    /// The same for the kernel, which has the top level's scalars at hand.
    E local_counts(std::size_t k) {
        S loop = piece_.nest[k];
        b_.line = loop->line;
        return count(copy(loop->args[0]), copy(loop->args[1]), copy(loop->args[2]));
    }
    S loop_variable(std::size_t k, E number) {
        S loop = piece_.nest[k];
        b_.line = loop->line;
        E begin = copy(loop->args[0]), step = copy(loop->args[2]);
        E scaled = is_constant(step, 1) ? number : b_.mul(number, step);
        return b_.declare(loop->id, is_constant(begin, 0) ? scaled : b_.add(begin, scaled));
    }
    E outside(std::size_t k) {
        S loop = piece_.nest[k];
        b_.line = loop->line;
        if (is_constant(loop->args[2], 1))
            return b_.binary(Op::Ge, b_.read(loop->id), copy(loop->args[1]));
        return b_.binary(Op::Ge, id(k), local_counts(k));
    }

    /// Declares the top level's scalars that the kernel uses: computed again, or read from where an
    /// earlier kernel kept them.
    void declare_outer(const std::vector<S>& work, std::vector<S>& out) {
        for (std::int32_t var : free_variables(work)) {
            auto found = piece_.values.find(var);
            b_.line = {};
            if (found == piece_.values.end()) {
                out.push_back(b_.declare(var, nullptr));
            } else if (found->second) {
                b_.line = found->second->line;
                out.push_back(b_.declare(var, copy(found->second)));
            } else {
                out.push_back(
                    b_.declare(var, b_.load(split_.kept.at(var), {b_.i64(0)}, Access::Linear)));
            }
        }
    }

    /// The statements of a serial piece under its guards, then stores of what later kernels use.
    std::vector<S> serial_work() {
        std::vector<S> work, inside, outside;
        for (S s : piece_.serial) inside.push_back(cloner_.statement(s));
        std::vector<bool> written(from_.vars.size(), false);
        for (S s : piece_.serial) mark_written(s, written);
        std::vector<std::int32_t> outer = free_variables(inside);
        b_.line = {};
        for (auto [var, array] : split_.kept) {
            if (!written[static_cast<std::size_t>(var)]) continue;
            E at[] = {b_.i64(0)};
            S store = b_.store(array, at, b_.read(var), Access::Linear);
            bool is_outer = std::find(outer.begin(), outer.end(), var) != outer.end();
            // What is declared under the guard is not visible after it.
            (is_outer ? outside : inside).push_back(store);
        }
        E guard = piece_.device_guard ? copy(piece_.device_guard) : nullptr;
        bool stores_always = !outside.empty() && piece_.guard;
        if (stores_always) {
            E condition = resolved(piece_.guard);
            guard = guard ? b_.binary(Op::And, condition, guard) : condition;
        }
        to_.grid = {stores_always ? b_.i64(1) : guarded(b_.i64(1))};
        if (guard) {
            work.push_back(b_.branch(guard, b_.block(std::span<const S>(inside))));
        } else {
            work = std::move(inside);
        }
        work.insert(work.end(), outside.begin(), outside.end());
        return work;
    }

    void allocate_scratch(const std::vector<S>& work, std::vector<S>& out) {
        class Arrays : public Visitor {
          public:
            std::vector<std::int32_t> used;
            void expr(E e) override {
                if (e->kind == ExprKind::Load) used.push_back(e->id);
                children(e);
            }
            void stmt(S s) override {
                if (s->kind == StmtKind::Store || s->kind == StmtKind::Atomic)
                    used.push_back(s->id);
                used.insert(used.end(), s->arrays.begin(), s->arrays.end());
                children(s);
            }
        } arrays;
        for (S s : work) arrays.stmt(s);
        for (S s : split_.scratch) {
            if (std::find(arrays.used.begin(), arrays.used.end(), s->id) != arrays.used.end()) {
                out.push_back(cloner_.statement(s));
            }
        }
    }

    const Function& from_;
    const KernelSplit& split_;
    const KernelPiece& piece_;
    Function to_;
    Builder b_;
    Cloner cloner_;
    bool in_nest_ = false;
    int depth_ = 0;
    S entered_ = nullptr;
};

/// True for loops of plain statements: runs of them vectorise, and no fault tells their number.
bool may_run(S loop) {
    class Plain final : public Visitor {
      public:
        bool holds = true;
        void stmt(S s) override {
            for (StmtKind kind : {StmtKind::For, StmtKind::While, StmtKind::Return, StmtKind::Call,
                                  StmtKind::Atomic, StmtKind::Allocate}) {
                holds = holds && s->kind != kind;
            }
            children(s);
        }
    } plain;
    for (S s : loop->body) plain.stmt(s);
    E step = loop->args[2];
    return plain.holds && step->kind == ExprKind::Const && step->bits == 1;
}

/// for x in range(begin, end) as a loop over runs, each a vector loop over up to `length` values.
S in_runs(Function& f, S loop, std::int64_t length) {
    Builder b(f);
    b.line = loop->line;
    std::string name = f.vars[static_cast<std::size_t>(loop->id)].name;
    std::int32_t run = b.var(name + "_run", DType::Int64),
                 first = b.var(name + "_first", DType::Int64);
    E begin = loop->args[0], end = loop->args[1], size = b.i64(length);
    E count = b.binary(Op::FloorDiv, b.add(b.sub(end, begin), b.i64(length - 1)), size);
    Stmt inner = *loop;
    inner.loop = LoopKind::Vector;
    E bounds[] = {b.read(first), b.binary(Op::Min, b.add(b.read(first), size), end), loop->args[2]};
    inner.args = b.list(std::span<const E>(bounds));
    S body = b.block({b.declare(first, b.add(begin, b.mul(b.read(run), size))), b.own(inner)});
    return b.loop(loop->loop, run, b.i64(0), count, b.i64(1), body);
}

}  // namespace

void map_to_grid(Module& module, std::int64_t run_length) {
    Function& entry = module.entry();
    if (entry.is_kernel || !entry.grid.empty()) return;
    KernelSplit split = split_kernels(entry);
    if (split.pieces.empty()) split.pieces.push_back({});
    for (KernelPiece& piece : split.pieces) {
        if (run_length > 1 && !piece.nest.empty() && may_run(piece.nest.back()))
            piece.nest.back() = in_runs(entry, piece.nest.back(), run_length);
    }
    std::vector<Function> kernels;
    for (std::size_t i = 0; i < split.pieces.size(); ++i) {
        std::string name = entry.name + (i ? "_" + std::to_string(i + 1) : "");
        kernels.push_back(KernelMaker(entry, split, split.pieces[i], name).make());
    }
    module.functions[0] = std::move(kernels[0]);
    for (std::size_t i = 1; i < kernels.size(); ++i)
        module.functions.push_back(std::move(kernels[i]));
}

}  // namespace unisono::passes
