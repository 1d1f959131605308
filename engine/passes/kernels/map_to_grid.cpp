// Makes a kernel of each piece of a function (split_kernels.h), where the loops of a nest become
// axes of the grid, the innermost axis 0, with a test of the range; and the host program.
#include "passes/kernels/map_to_grid.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/rewrite.h"
#include "passes/kernels/pack_elements.h"
#include "passes/kernels/split_kernels.h"
#include "passes/kernels/stage_streams.h"

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
        to_.natives = from.natives;  // the writer of device code refuses their calls
        to_.sites = from.sites;
        to_.files = from.files;
        if (piece.returns) to_.results = from.results;
        written_.resize(from.vars.size());
        for (S s : piece.serial) mark_written(s, written_);
        cloner_.replace_statement = [this](S s) { return replace(s); };
        cloner_.replace_expression = [this](E e) { return replace(e); };
    }

    Function make() {
        std::vector<S> body;
        std::vector<S> work;
        if (piece_.nest.empty()) {
            work = serial_work();
        } else {
            axes(work);
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

    Home home(std::int32_t var) const {
        auto found = piece_.homes.find(var);
        return found == piece_.homes.end() ? Home{} : found->second;
    }

    /// Variables of the host program are parameters here, but for those that the kernel changes.
    E replace(E e) {
        if (e->kind != ExprKind::Var || written_[static_cast<std::size_t>(e->id)]) return nullptr;
        return home(e->id).kind == Home::Kind::Host ? host_param(e->id) : nullptr;
    }
    E host_param(std::int32_t var) { return b_.param(split_.host_params.at(var)); }

    E copy(E e) { return cloner_.expression(e); }

    /// e with the scalars from outside replaced by what the host knows them by.
    E resolved(E e) {
        Cloner cloner(b_);
        cloner.replace_expression = [&](E x) -> E {
            if (x->kind != ExprKind::Var) return nullptr;
            const Home h = home(x->id);
            return h.kind == Home::Kind::Known ? copy(h.value) : host_param(x->id);
        };
        return cloner.expression(e);
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
        for (std::size_t k = loops; k-- > folded;) to_.grid.push_back(counts(k));
        to_.grid.push_back(folded == 1 ? counts(0)
                                       : product(folded, [&](auto k) { return counts(k); }));

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

    /// Declares the scalars from outside that the kernel uses: computed again, or read from where
    /// another kernel kept them.
    void declare_outer(const std::vector<S>& work, std::vector<S>& out) {
        for (std::int32_t var : free_variables(work)) {
            const Home h = home(var);
            b_.line = {};
            E value = nullptr;
            switch (h.kind) {
                case Home::Kind::Unset: break;
                case Home::Kind::Known:
                    b_.line = h.value->line;
                    value = copy(h.value);
                    break;
                case Home::Kind::Host: value = host_param(var); break;
                case Home::Kind::Device:
                    value = b_.load(split_.kept.at(var), {b_.i64(0)}, Access::Linear);
                    break;
            }
            out.push_back(b_.declare(var, value));
        }
    }

    /// The statements of a serial piece, then stores of what other kernels or the host use.
    std::vector<S> serial_work() {
        std::vector<S> work;
        for (S s : piece_.serial) work.push_back(cloner_.statement(s));
        // Variables of inner bodies are not visible at the end.
        std::vector<std::int32_t> visible = free_variables(work);
        std::vector<S> list;
        flatten(work, list);
        for (S s : list) {
            if (s->kind == StmtKind::Declare) visible.push_back(s->id);
        }
        to_.grid = {b_.i64(1)};
        b_.line = {};
        for (auto [var, array] : split_.kept) {
            bool is_visible = std::find(visible.begin(), visible.end(), var) != visible.end();
            if (!is_visible || !written_[static_cast<std::size_t>(var)]) continue;
            E at[] = {b_.i64(0)};
            work.push_back(b_.store(array, at, b_.read(var), Access::Linear));
        }
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
    std::vector<bool> written_;  ///< variables that a serial piece assigns
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
                                  StmtKind::Atomic, StmtKind::Allocate, StmtKind::Barrier}) {
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
    S body = b.block({b.declare(first, b.add(begin, b.mul(b.read(run), size))),
                      stage_streams(f, b.own(inner), first, length)});
    return b.loop(loop->loop, run, b.i64(0), count, b.i64(1), body);
}

/// Whether s uses arrays other than those that passes made, which are short.
bool uses_arrays(const Function& f, S s) {
    class Uses final : public Visitor {
      public:
        explicit Uses(const Function& f) : f_(f) {}
        bool found = false;
        void expr(E e) override {
            if (e->kind == ExprKind::Load) note(e->id);
            children(e);
        }
        void stmt(S s) override {
            if (s->kind == StmtKind::Store || s->kind == StmtKind::Atomic) note(s->id);
            for (std::int32_t id : s->arrays) note(id);
            children(s);
        }

      private:
        void note(std::int32_t id) {
            const Array& a = f_.arrays[static_cast<std::size_t>(id)];
            found = found || a.param >= 0 || a.is_slot || a.is_view();
        }
        const Function& f_;
    } uses(f);
    uses.stmt(s);
    return uses.found;
}

/// The lines of loops over arrays that stand in no other one.
void add_loops(const Function& f, S s, std::vector<Line>& lines) {
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) {
        if (uses_arrays(f, s)) lines.push_back(s->line);
        return;
    }
    for (S b : s->body) add_loops(f, b, lines);
    for (S b : s->orelse) add_loops(f, b, lines);
}

/// Whether e asks where memory is.
bool has_memory(E e) {
    return e->kind == ExprKind::Memory || std::any_of(e->args.begin(), e->args.end(), has_memory);
}

/// The function that launches the kernels: piece k is function numbers[k] of the module.
HostProgram host_program(const Function& from, const KernelSplit& split,
                         const std::vector<std::int32_t>& numbers) {
    HostProgram made{Function(from.name), {}, 0, false, {}, {}};
    Function& host = made.function;
    host.params = from.params;
    host.arrays = from.arrays;
    host.vars = from.vars;
    host.results = from.results;
    host.natives = from.natives;
    host.sites = from.sites;
    host.files = from.files;
    Builder b(host);
    Cloner cloner(b);
    cloner.replace_statement = [&](S s) -> S {
        if (s->kind == StmtKind::Native && std::any_of(s->args.begin(), s->args.end(), has_memory))
            made.natives.push_back({s->line, s->id});
        if (s->kind != StmtKind::Call) return nullptr;
        Stmt call = *s;
        call.id = numbers[static_cast<std::size_t>(s->id)];
        return b.own(call);
    };
    std::vector<S> body;
    for (S s : split.host) body.push_back(cloner.statement(s));
    host.body = b.block(std::span<const S>(body));
    for (auto [var, param] : split.host_params) made.passed.push_back({var, param});
    for (const KernelPiece& piece : split.pieces) {
        for (S s : piece.serial) add_loops(from, s, made.serial_loops);
    }
    made.has_loops = contains(host.body, StmtKind::For) || contains(host.body, StmtKind::While);
    return made;
}

}  // namespace

std::shared_ptr<const HostProgram> map_to_grid(Module& module, std::int64_t run_length,
                                               std::int64_t pack_bytes, int range_axes) {
    Function& entry = module.entry();
    if (entry.is_kernel || !entry.grid.empty()) return nullptr;
    KernelSplit split = split_kernels(entry);
    for (KernelPiece& piece : split.pieces) {
        if (run_length > 1 && !piece.nest.empty() && may_run(piece.nest.back()))
            piece.nest.back() = in_runs(entry, piece.nest.back(), run_length);
        if (pack_bytes > 0 && !piece.nest.empty())
            piece.nest.back() = in_packs(entry, piece.nest.back(), pack_bytes);
    }
    std::vector<Function> kernels;
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < split.pieces.size(); ++i) {
        std::string name = entry.name + (i ? "_" + std::to_string(i + 1) : "");
        numbers.push_back(i == 0 ? 0 : static_cast<std::int32_t>(module.functions.size() - 1 + i));
        kernels.push_back(KernelMaker(entry, split, split.pieces[i], name).make());
    }
    HostProgram made = host_program(entry, split, numbers);
    made.range_axes = range_axes;
    auto host = std::make_shared<const HostProgram>(std::move(made));
    if (kernels.empty()) kernels.push_back(KernelMaker(entry, split, {}, entry.name).make());
    module.functions[0] = std::move(kernels[0]);
    for (std::size_t i = 1; i < kernels.size(); ++i)
        module.functions.push_back(std::move(kernels[i]));
    return host;
}

}  // namespace unisono::passes
