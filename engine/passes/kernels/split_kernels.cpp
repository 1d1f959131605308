// Walks a function and cuts it into kernels and the host program around them.
#include "passes/kernels/split_kernels.h"

#include <algorithm>
#include <optional>

#include "ir/clone.h"
#include "ir/rewrite.h"
#include "passes/kernels/value_homes.h"

namespace unisono::passes {
using namespace ir;

namespace {

bool is_independent(S s) {
    return s->kind == StmtKind::For &&
           (s->loop == LoopKind::Parallel || s->loop == LoopKind::Vector);
}

/// Whether s holds a parallel loop, gives memory to an array variable, or calls a function that
/// only the host has.
bool needs_host(S s) {
    if (s->kind == StmtKind::For && s->loop == LoopKind::Parallel) return true;
    for (StmtKind kind : {StmtKind::Make, StmtKind::Point, StmtKind::Retain, StmtKind::Native}) {
        if (s->kind == kind) return true;
    }
    return std::any_of(s->body.begin(), s->body.end(), needs_host) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), needs_host);
}

/// Whether a break or continue in s belongs to a loop around it.
bool escapes(S s) {
    if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) return true;
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) return false;
    return std::any_of(s->body.begin(), s->body.end(), escapes) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), escapes);
}

[[noreturn]] void unsupported(const Function& f, Line line, const std::string& what) {
    SourcePlace place;
    place.line = line.line;
    place.column = line.column;
    if (line.file < f.files.size()) place.file = f.files[line.file];
    std::string at = line.line > 0 ? " (line " + std::to_string(line.line) + ")" : "";
    throw Error(ErrorKind::Unsupported, f.name + at + ": " + what, place);
}

class Splitter {
  public:
    Splitter(Function& f, Decisions& decided) : f_(f), values_(f, decided) {}

    /// Nothing where the walk has to be repeated.
    std::optional<KernelSplit> run() {
        values_.out = &values_.split.host;
        walk(f_.body);
        values_.close_serial();
        if (values_.must_repeat) return std::nullopt;
        place_local_arrays();
        for (const KernelPiece& piece : values_.split.pieces) values_.bring_used(piece);
        return std::move(values_.split);
    }

  private:
    // ---- Arrays

    void set_memory(S s) {
        std::vector<E> values;
        for (E e : s->args) values.push_back(values_.host_value(e, "size"));
        values_.close_serial();
        Stmt made = *s;
        made.args = values_.build.list(std::span<const E>(values));
        values_.out->push_back(values_.build.own(made));
    }

    /// Memory of a constant size: a serial piece's own, or shared by the pieces that use it.
    void allocate(S s) {
        if (f_.arrays[static_cast<std::size_t>(s->id)].space == Space::Global) {
            values_.split.scratch.push_back(s);
        } else {
            local_.push_back(s);
        }
    }

    /// Arrays of the work-item around the pieces become one piece's own, or memory of the device.
    void place_local_arrays() {
        for (S s : local_) {
            std::vector<KernelPiece*> users;
            for (KernelPiece& piece : values_.split.pieces) {
                if (uses_array(piece, s->id)) users.push_back(&piece);
            }
            if (users.size() == 1 && users[0]->nest.empty()) {
                users[0]->serial.insert(users[0]->serial.begin(), s);
            } else if (!users.empty()) {
                f_.arrays[static_cast<std::size_t>(s->id)].space = Space::Global;
                values_.split.scratch.push_back(s);
            }
        }
    }

    static bool uses_array(const KernelPiece& piece, std::int32_t array) {
        class Uses final : public Visitor {
          public:
            explicit Uses(std::int32_t wanted) : array(wanted) {}
            std::int32_t array;
            bool found = false;
            void expr(E e) override {
                found |= e->kind == ExprKind::Load && e->id == array;
                children(e);
            }
            void stmt(S s) override {
                found |=
                    (s->kind == StmtKind::Store || s->kind == StmtKind::Atomic) && s->id == array;
                found |= std::find(s->arrays.begin(), s->arrays.end(), array) != s->arrays.end();
                children(s);
            }
        } uses(array);
        for (S s : piece.serial) uses.stmt(s);
        for (S s : piece.nest) uses.stmt(s);
        return uses.found;
    }

    // ---- Functions that only the host has

    void call_native(S s) {
        for (E e : s->args) {
            if (!may_pass(e))
                unsupported(f_, s->line,
                            "a function of the host needs the address of an array, which is not "
                            "known on this device; call it outside of the compiled function");
        }
        std::vector<E> values;
        for (E e : s->args) values.push_back(values_.host_value(e, "value"));
        values_.close_serial();
        Stmt call = *s;
        call.args = values_.build.list(std::span<const E>(values));
        values_.out->push_back(values_.build.own(call));
        for (std::int32_t v : s->outs) {
            values_.homes[v] = {Home::Kind::Host, nullptr};
            values_.decide(values_.decided.on_host, v);
        }
    }

    /// Whether the host program knows which arrays e is the address of.
    bool may_pass(E e) const {
        if (e->kind == ExprKind::Memory) return e->axis == 0;
        if (e->kind == ExprKind::Var && values_.addresses.contains(e->id)) return false;
        return std::all_of(e->args.begin(), e->args.end(), [this](E a) { return may_pass(a); });
    }

    // ---- Parallel loops

    void nest(S s) {
        KernelPiece piece;
        S outer = with_known_bounds(s);
        values_.close_serial();
        piece.homes = values_.homes;
        for (S loop = outer; loop;) {
            bool is_rectangular = std::all_of(loop->args.begin(), loop->args.end(),
                                              [&](E e) { return values_.is_on_host(e); });
            if (!is_rectangular) break;
            piece.nest.push_back(loop);
            std::vector<S> list;
            flatten(loop->body, list);
            loop = list.size() == 1 && is_independent(list[0]) ? list[0] : nullptr;
        }
        values_.launch(std::move(piece));
    }

    /// The loop with bounds that the host program can evaluate: it reads what the device computed.
    S with_known_bounds(S s) {
        Stmt changed = *s;
        std::vector<E> bounds;
        for (E bound : s->args) {
            if (!values_.is_on_host(bound)) {
                E value = values_.host_value(bound, "bound");
                std::int32_t v = values_.build.var("bound", DType::Int64);
                values_.set_on_host(v, value, s->line);
                bound = values_.build.read(v);
            }
            bounds.push_back(bound);
        }
        if (std::equal(bounds.begin(), bounds.end(), s->args.begin())) return s;
        changed.args = values_.build.list(std::span<const E>(bounds));
        return values_.build.own(changed);
    }

    // ---- Control of the host program

    /// Whether the host program can run the statement by itself, at no more cost than a kernel.
    bool is_host_work(S s) const {
        switch (s->kind) {
            case StmtKind::Block:
            case StmtKind::If:
                return std::all_of(s->args.begin(), s->args.end(),
                                   [this](E e) { return values_.is_on_host(e); }) &&
                       std::all_of(s->body.begin(), s->body.end(),
                                   [this](S b) { return is_host_work(b); }) &&
                       std::all_of(s->orelse.begin(), s->orelse.end(),
                                   [this](S b) { return is_host_work(b); });
            case StmtKind::Declare:
            case StmtKind::Assign:
                return !values_.decided.on_device.contains(s->id) &&
                       std::all_of(s->args.begin(), s->args.end(),
                                   [this](E e) { return values_.is_on_host(e); });
            case StmtKind::Return:
                return s->fault >= 0 && std::all_of(s->args.begin(), s->args.end(),
                                                    [this](E e) { return values_.is_on_host(e); });
            default: return false;
        }
    }

    /// The statements of one branch.
    std::vector<S> body(std::span<const S> list) {
        std::vector<S> made;
        std::vector<S>* outer = std::exchange(values_.out, &made);
        for (S s : list) walk(s);
        values_.close_serial();
        values_.out = outer;
        end_scope(list, values_.homes);
        return made;
    }

    /// Forgets the variables that the statements of a body declare.
    void end_scope(std::span<const S> list, Homes& homes) const {
        std::erase_if(
            homes, [&](const auto& h) { return static_cast<std::size_t>(h.first) >= own_vars_; });
        std::vector<S> all;
        flatten(list, all);
        for (S s : all) {
            if (s->kind == StmtKind::Declare || s->kind == StmtKind::For) homes.erase(s->id);
        }
    }

    void branch(S s) {
        E condition = values_.host_value(s->args[0], "taken");
        values_.close_serial();
        const Homes before = values_.homes;
        std::vector<S> first = body(s->body);
        Homes after_first = std::move(values_.homes);
        const bool is_first_reached = std::exchange(is_reached_, true);
        values_.homes = before;
        std::vector<S> second = body(s->orelse);
        if (!is_reached_)
            values_.homes = std::move(after_first);
        else if (is_first_reached)
            values_.homes = values_.merged(after_first, values_.homes);
        is_reached_ = is_reached_ || is_first_reached;
        values_.build.line = s->line;
        values_.out->push_back(values_.build.branch(
            condition, values_.build.block(std::span<const S>(first)),
            second.empty() ? nullptr : values_.build.block(std::span<const S>(second))));
    }

    struct LoopPaths {
        std::vector<Homes> nexts, ends;
    };

    /// The body of a loop, whose later iterations may find values in other homes than the first.
    std::vector<S> loop_body(S s, E condition) {
        for (const auto& [key, h] : values_.decided.first) {
            if (key.first == s && values_.home(key.second).kind == Home::Kind::Unset)
                values_.homes[key.second] = values_.decided_home(key.second, h);
        }
        const Homes start = values_.homes;
        LoopPaths paths;
        LoopPaths* outer = std::exchange(paths_, &paths);
        std::vector<S> made;
        std::vector<S>* outer_out = std::exchange(values_.out, &made);
        if (condition) {
            E goes_on = values_.host_value(condition, "goes_on");
            values_.close_serial();
            values_.build.line = s->line;
            made.push_back(
                values_.build.branch(values_.build.unary(Op::Not, goes_on), values_.build.leave()));
            paths.ends.push_back(values_.homes);
        } else {
            paths.ends.push_back(start);
        }
        for (S inner : s->body) walk(inner);
        values_.close_serial();
        values_.out = outer_out;
        paths_ = outer;
        if (is_reached_) paths.nexts.push_back(values_.homes);
        for (auto* list : {&paths.nexts, &paths.ends}) {
            for (Homes& h : *list) end_scope(s->body, h);
        }
        for (const Homes& next : paths.nexts) meet_start(s, start, next);
        values_.homes = paths.ends.front();
        for (const Homes& end : paths.ends) values_.homes = values_.merged(values_.homes, end);
        is_reached_ = true;
        return made;
    }

    /// Notes where the next iteration finds what the first one did not have.
    void meet_start(S s, const Homes& start, const Homes& next) {
        for (const auto& [var, h] : next) {
            auto before = start.find(var);
            if (before != start.end() && before->second.kind != Home::Kind::Unset) {
                values_.merged(var, before->second, h);
            } else if (h.kind != Home::Kind::Unset) {
                values_.must_repeat =
                    values_.decided.first.try_emplace({s, var}, h).second || values_.must_repeat;
            }
        }
    }

    void counted_loop(S s) {
        std::vector<E> bounds;
        for (E e : s->args) bounds.push_back(values_.host_value(e, "bound"));
        values_.close_serial();
        values_.homes[s->id] = {Home::Kind::Host, nullptr};
        std::vector<S> made = loop_body(s, nullptr);
        values_.build.line = s->line;
        values_.out->push_back(values_.build.loop(LoopKind::Serial, s->id, bounds[0], bounds[1],
                                                  bounds[2],
                                                  values_.build.block(std::span<const S>(made))));
    }

    void conditional_loop(S s) {
        values_.close_serial();
        std::vector<S> made = loop_body(s, s->args[0]);
        values_.build.line = s->line;
        values_.out->push_back(values_.build.loop_while(
            values_.build.boolean(true), values_.build.block(std::span<const S>(made))));
    }

    void jump(S s) {
        values_.close_serial();
        UNISONO_ASSERT(paths_);
        (s->kind == StmtKind::Break ? paths_->ends : paths_->nexts).push_back(values_.homes);
        values_.build.line = s->line;
        values_.out->push_back(s->kind == StmtKind::Break ? values_.build.leave()
                                                          : values_.build.next());
        is_reached_ = false;
    }

    void leave(S s) {
        values_.build.line = s->line;
        auto is_host_value = [this](E e) { return values_.is_on_host(e); };
        if (s->fault >= 0 || std::all_of(s->args.begin(), s->args.end(), is_host_value) ||
            std::any_of(s->args.begin(), s->args.end(), has_memory)) {
            values_.close_serial();
            std::vector<E> values;
            for (E e : s->args) values.push_back(values_.host_value(e, "value"));
            values_.close_serial();
            values_.build.line = s->line;
            values_.out->push_back(s->fault >= 0 ? values_.build.raise(s->fault, values)
                                                 : values_.build.ret(std::span<const E>(values)));
        } else {
            values_.serial(s);
            values_.close_serial();
            values_.build.line = s->line;
            values_.out->push_back(values_.build.ret({}));
        }
        is_reached_ = false;
    }

    /// A serial loop from which the function may return: a flag tells the host program.
    void returning(S s) {
        values_.build.line = s->line;
        std::int32_t flag = values_.build.var("has_returned", DType::Bool);
        std::int32_t array = values_.keep(flag);
        Cloner cloner(values_.build);
        cloner.replace_statement = [&](S inner) -> S {
            if (inner->kind != StmtKind::Return || inner->fault >= 0) return nullptr;
            values_.build.line = inner->line;
            E at[] = {values_.build.i64(0)};
            return values_.build.block(
                {values_.build.store(array, at, values_.build.boolean(true), Access::Linear),
                 values_.build.own(Stmt(*inner))});
        };
        values_.close_serial();
        values_.serial(values_.build.declare(flag, values_.build.boolean(false)));
        values_.serial(cloner.statement(s));
        values_.close_serial();
        values_.build.line = s->line;
        values_.out->push_back(
            values_.build.branch(values_.build.load(array, {values_.build.i64(0)}, Access::Linear),
                                 values_.build.ret({})));
    }

    // ---- The walk

    void walk(S s) {
        if (!is_reached_) return;
        switch (s->kind) {
            case StmtKind::Block:
                for (S inner : s->body) walk(inner);
                return;
            case StmtKind::Declare:
                if (s->args.empty()) return values_.declare(s);
                [[fallthrough]];
            case StmtKind::Assign: return values_.assign(s);
            case StmtKind::For:
                if (is_independent(s)) return nest(s);
                if (needs_host(s)) return counted_loop(s);
                break;
            case StmtKind::While:
                if (needs_host(s)) return conditional_loop(s);
                break;
            case StmtKind::If:
                if (needs_host(s) || escapes(s) || returns(s) || is_host_work(s)) return branch(s);
                break;
            case StmtKind::Break:
            case StmtKind::Continue: return jump(s);
            case StmtKind::Return: return leave(s);
            case StmtKind::Allocate: return allocate(s);
            case StmtKind::Native: return call_native(s);
            case StmtKind::Make:
            case StmtKind::Point:
            case StmtKind::Retain: return set_memory(s);
            case StmtKind::Try:
                if (needs_host(s))
                    unsupported(
                        f_, s->line,
                        "a parallel loop, a new array or a call of the host inside a try "
                        "cannot run on a device; catch the exception where the function is called");
                break;
            default: break;
        }
        if (returns(s)) return returning(s);
        values_.serial(s);
    }

    Function& f_;
    const std::size_t own_vars_ = f_.vars.size();  ///< those after them are made here
    ValueHomes values_;
    LoopPaths* paths_ = nullptr;  ///< of the innermost loop of the host program
    bool is_reached_ = true;
    std::vector<S> local_;  ///< Allocate statements of local and private arrays
};

}  // namespace

KernelSplit split_kernels(Function& f) {
    Decisions decided;
    for (;;) {
        const std::size_t vars = f.vars.size(), arrays = f.arrays.size(), params = f.params.size();
        if (auto split = Splitter(f, decided).run()) return std::move(*split);
        f.vars.resize(vars);
        f.arrays.resize(arrays);
        f.params.resize(params);
    }
}

}  // namespace unisono::passes
