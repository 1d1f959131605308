// Splits the top level of a function into pieces and makes a kernel of each.
//
// How it works. Splitter walks the top level with two facts: for each local scalar set there, its
// value as an expression of parameters (or that it is unknown), and the condition under which this
// place is reached, also of parameters. Each parallel loop nest and each run of other statements
// becomes a Piece; make_kernel turns a piece into a function whose grid is empty (size 0) where the
// condition does not hold.
#include "passes/map_to_grid.h"

#include <algorithm>
#include <map>

#include "ir/clone.h"
#include "ir/evaluate.h"
#include "ir/rewrite.h"

namespace unisono::passes {
using namespace ir;

namespace {

bool is_independent(S s) {
    return s->kind == StmtKind::For &&
           (s->loop == LoopKind::Parallel || s->loop == LoopKind::Vector);
}

class HasIndependent : public Visitor {
  public:
    bool found = false;
    void stmt(S s) override {
        found |= is_independent(s) && s->loop == LoopKind::Parallel;
        children(s);
    }
};

[[noreturn]] void unsupported(const Function& f, Line line, const std::string& what) {
    SourcePlace place;
    place.line = line.line;
    place.column = line.column;
    if (line.file < f.files.size()) place.file = f.files[line.file];
    std::string at = line.line > 0 ? " (line " + std::to_string(line.line) + ")" : "";
    throw Error(ErrorKind::Unsupported, f.name + at + ": " + what, place);
}

/// Values are written out where they are used; chains that double at each step must not grow
/// without bound.
constexpr int max_tree_size = 500;

int tree_size(E e) {
    int size = 1;
    for (E a : e->args) {
        if (size < max_tree_size) size += tree_size(a);
    }
    return size;
}

/// Values of the top level's scalars: expressions of parameters, or null where only the device
/// could know.
using Values = std::map<std::int32_t, E>;

struct Piece {
    std::vector<S> nest;  ///< the loops that become axes, outermost first; empty: serial statements
    std::vector<S> serial;            ///< statements of a serial piece
    E guard = nullptr;                ///< of parameters; null: always
    Values values;                    ///< at the start of the piece
    std::vector<std::int32_t> unset;  ///< variables declared before without a value
};

struct Split {
    std::vector<Piece> pieces;
    std::vector<S> scratch;  ///< Allocate statements of arrays that kernels share
};

class Splitter {
  public:
    explicit Splitter(Function& f) : f_(f), b_(f) {}

    Split run() {
        walk(f_.body);
        close_serial();
        return std::move(split_);
    }

  private:
    /// e with the known variables replaced, or null if something else than parameters remains.
    E known(E e) {
        Cloner cloner(b_);
        cloner.replace_expression = [&](E x) -> E {
            if (x->kind != ExprKind::Var) return nullptr;
            auto found = values_.find(x->id);
            return found == values_.end() ? nullptr : found->second;
        };
        E out = cloner.expression(e);
        return is_param_expression(out) && tree_size(out) < max_tree_size ? out : nullptr;
    }

    E both(E a, E b) { return !a ? b : !b ? a : b_.binary(Op::And, a, b); }

    void set(std::int32_t var, E now) {
        if (guard_) {
            auto before = values_.find(var);
            if (before != values_.end() && before->second)
                now = b_.select(guard_, now, before->second);
        }
        values_[var] = now;
    }

    void serial(S s) {
        if (current_.empty()) {
            serial_values_ = values_;
            serial_unset_ = unset_;
        }
        current_.push_back(s);
        // What a serial kernel assigns stays on the device.
        std::vector<bool> written(f_.vars.size(), false);
        mark_written(s, written);
        for (std::size_t v = 0; v < written.size(); ++v) {
            if (written[v]) values_[static_cast<std::int32_t>(v)] = nullptr;
        }
    }

    void add(Piece piece) {
        if (may_have_returned_) {
            unsupported(
                f_, returned_,
                "a return that depends on data, before a parallel loop, cannot run on a device; "
                "put what follows under the opposite condition");
        }
        for (S s : piece.serial) {
            if (contains(s, StmtKind::Return)) note_return(s);
        }
        split_.pieces.push_back(std::move(piece));
    }

    void note_return(S s) {
        class Returns : public Visitor {
          public:
            std::vector<S> found;
            void stmt(S inner) override {
                if (inner->kind == StmtKind::Return && inner->fault < 0) found.push_back(inner);
                children(inner);
            }
        } returns;
        returns.stmt(s);
        if (returns.found.empty() || s->kind == StmtKind::Return) return;
        may_have_returned_ = true;
        returned_ = returns.found[0]->line;
    }

    void close_serial() {
        if (current_.empty()) return;
        add({{}, std::move(current_), guard_, std::move(serial_values_), std::move(serial_unset_)});
        current_.clear();
    }

    /// Splits a branch whose condition is of parameters; true if it was one.
    bool branch(S s) {
        E condition = known(s->args[0]);
        if (!condition) return false;
        close_serial();
        E outer = guard_;
        for (bool taken : {true, false}) {
            std::span<const S> list = taken ? s->body : s->orelse;
            guard_ = both(outer, taken ? condition : b_.unary(Op::Not, condition));
            for (S inner : list) walk(inner);
            close_serial();
        }
        guard_ = both(outer, left_);
        return true;
    }

    void nest(S s) {
        close_serial();
        Piece piece{{}, {}, guard_, values_, unset_};
        std::vector<std::int32_t> inner_vars;
        for (S loop = s; loop;) {
            bool is_rectangular =
                std::all_of(loop->args.begin(), loop->args.end(), [&](E e) { return known(e); });
            if (!is_rectangular) break;
            piece.nest.push_back(loop);
            std::vector<S> list;
            flatten(loop->body, list);
            loop = list.size() == 1 && is_independent(list[0]) ? list[0] : nullptr;
        }
        if (piece.nest.empty()) {
            unsupported(
                f_, s->line,
                "the bounds of this parallel loop depend on data or on a serial computation, and "
                "cannot be known when its kernel is launched; compute them before the call and "
                "pass them in");
        }
        add(std::move(piece));
    }

    void walk(S s) {
        switch (s->kind) {
            case StmtKind::Block:
                for (S inner : s->body) walk(inner);
                return;
            case StmtKind::Declare:
                if (s->args.empty()) {
                    if (!current_.empty()) current_.push_back(s);
                    unset_.push_back(s->id);
                    return;
                }
                [[fallthrough]];
            case StmtKind::Assign: {
                E value = known(s->args[0]);
                // An open serial piece needs it too, in its place.
                if (!value || !current_.empty()) serial(s);
                if (value) set(s->id, value);
                return;
            }
            case StmtKind::For:
                if (is_independent(s)) return nest(s);
                break;
            case StmtKind::If:
                if (branch(s)) return;
                break;
            case StmtKind::Return:
                if (s->fault < 0) return leave(s);
                break;
            case StmtKind::Allocate:
                if (f_.arrays[static_cast<std::size_t>(s->id)].space == Space::Global) {
                    split_.scratch.push_back(s);
                    return;
                }
                break;
            default: break;
        }
        HasIndependent inside;
        inside.stmt(s);
        if (inside.found) {
            unsupported(
                f_, s->line,
                "a parallel loop inside serial code that depends on data, or inside a serial loop, "
                "cannot run on a device; call the function once per step from Python, or write "
                "the serial loop inside the parallel one");
        }
        serial(s);
    }

    void leave(S s) {
        if (!s->args.empty()) serial(s);
        close_serial();
        // Nothing after this is reached under this guard.
        left_ = both(left_, guard_ ? b_.unary(Op::Not, guard_) : b_.boolean(false));
        guard_ = b_.boolean(false);
    }

    Function& f_;
    Builder b_;
    Values values_;
    E guard_ = nullptr;
    E left_ = nullptr;  ///< of parameters: no return has been reached; null: there was none
    std::vector<std::int32_t> unset_;
    std::vector<S> current_;  ///< the open run of serial statements
    Values serial_values_;
    std::vector<std::int32_t> serial_unset_;
    Line returned_;  ///< of a return that depends on data
    bool may_have_returned_ = false;
    Split split_;
};

/// Makes one kernel of a piece, in a function of its own with the same tables.
class KernelMaker {
  public:
    KernelMaker(const Function& from, const Piece& piece, const std::vector<S>& scratch,
                std::string name)
        : from_(from),
          piece_(piece),
          scratch_(scratch),
          to_(std::move(name)),
          b_(to_),
          cloner_(b_) {
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
            to_.grid = {guarded(b_.i64(1))};
            for (S s : piece_.serial) work.push_back(cloner_.statement(s));
        } else {
            axes(work);
            in_nest_ = true;
            for (S s : piece_.nest.back()->body) work.push_back(cloner_.statement(s));
        }
        declare_outer(work, body);
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

    /// Declares the top level's scalars that the kernel uses; refuses those that only another
    /// kernel knows.
    void declare_outer(const std::vector<S>& work, std::vector<S>& out) {
        class Free : public Visitor {
          public:
            std::map<std::int32_t, Line> used;
            std::vector<std::int32_t> declared;
            Line line;
            void expr(E e) override {
                if (e->kind == ExprKind::Var)
                    used.try_emplace(e->id, e->line.line > 0 ? e->line : line);
                children(e);
            }
            void stmt(S s) override {
                line = s->line;
                if (s->kind == StmtKind::Declare || s->kind == StmtKind::For)
                    declared.push_back(s->id);
                if (s->kind == StmtKind::Assign) used.try_emplace(s->id, s->line);
                for (std::int32_t v : s->outs) used.try_emplace(v, s->line);
                children(s);
            }
        } free;
        for (S s : work) free.stmt(s);
        for (auto [var, line] : free.used) {
            if (std::find(free.declared.begin(), free.declared.end(), var) != free.declared.end())
                continue;
            auto found = piece_.values.find(var);
            b_.line = line;
            if (found != piece_.values.end() && found->second) {
                if (found->second->line.line > 0) b_.line = found->second->line;
                out.push_back(b_.declare(var, copy(found->second)));
            } else if (found == piece_.values.end() &&
                       std::find(piece_.unset.begin(), piece_.unset.end(), var) !=
                           piece_.unset.end()) {
                out.push_back(b_.declare(var, nullptr));
            } else {
                unsupported(
                    from_, line,
                    "variable '" + from_.vars[static_cast<std::size_t>(var)].name +
                        "' is computed by serial code on the device and used by another kernel; "
                        "keep it in an array, or compute it where it is used");
            }
        }
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
        for (S s : scratch_) {
            if (std::find(arrays.used.begin(), arrays.used.end(), s->id) != arrays.used.end()) {
                out.push_back(cloner_.statement(s));
            }
        }
    }

    const Function& from_;
    const Piece& piece_;
    const std::vector<S>& scratch_;
    Function to_;
    Builder b_;
    Cloner cloner_;
    bool in_nest_ = false;
    int depth_ = 0;
    S entered_ = nullptr;
};

}  // namespace

void map_to_grid(Module& module) {
    Function& entry = module.entry();
    if (entry.is_kernel || !entry.grid.empty()) return;
    Split split = Splitter(entry).run();
    if (split.pieces.empty()) split.pieces.push_back({});
    std::vector<Function> kernels;
    for (std::size_t i = 0; i < split.pieces.size(); ++i) {
        kernels.push_back(KernelMaker(entry, split.pieces[i], split.scratch,
                                      entry.name + (i ? "_" + std::to_string(i + 1) : ""))
                              .make());
    }
    module.functions[0] = std::move(kernels[0]);
    for (std::size_t i = 1; i < kernels.size(); ++i)
        module.functions.push_back(std::move(kernels[i]));
}

}  // namespace unisono::passes
