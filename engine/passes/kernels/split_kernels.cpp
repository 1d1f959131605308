// Walks a function and cuts it into kernels and the host program around them.
#include "passes/kernels/split_kernels.h"

#include <algorithm>
#include <optional>
#include <set>

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

/// Whether e asks where memory is.
bool has_memory(E e) {
    return e->kind == ExprKind::Memory || std::any_of(e->args.begin(), e->args.end(), has_memory);
}

/// Whether a break or continue in s belongs to a loop around it.
bool escapes(S s) {
    if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) return true;
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) return false;
    return std::any_of(s->body.begin(), s->body.end(), escapes) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), escapes);
}

/// Whether s returns from the function, other than by a fault.
bool returns(S s) {
    if (s->kind == StmtKind::Return) return s->fault < 0;
    return std::any_of(s->body.begin(), s->body.end(), returns) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), returns);
}

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

/// Variables that are to have one home wherever they are assigned, found out by earlier walks.
struct Decisions {
    std::set<std::int32_t> on_host, on_device;
    std::set<std::int32_t> wanted;                     ///< the host program's control needs them
    std::map<std::pair<S, std::int32_t>, Home> first;  ///< of a loop's later iterations
};

class Splitter {
  public:
    Splitter(Function& f, Decisions& decided) : f_(f), b_(f), decided_(decided) {}

    /// Nothing where the walk has to be repeated.
    std::optional<KernelSplit> run() {
        out_ = &split_.host;
        walk(f_.body);
        close_serial();
        if (must_repeat_) return std::nullopt;
        place_local_arrays();
        for (const KernelPiece& piece : split_.pieces) bring_used(piece);
        return std::move(split_);
    }

  private:
    // ---- Values

    Home home(std::int32_t var) const {
        auto found = homes_.find(var);
        return found == homes_.end() ? Home{} : found->second;
    }

    /// e with the known variables replaced, or null if something else than the function's own
    /// parameters remains.
    E known(E e) {
        Cloner cloner(b_);
        cloner.replace_expression = [&](E x) -> E {
            if (x->kind != ExprKind::Var) return nullptr;
            const Home h = home(x->id);
            return h.kind == Home::Kind::Known ? h.value : nullptr;
        };
        E out = cloner.expression(e);
        return is_param_expression(out) && tree_size(out) < max_tree_size ? out : nullptr;
    }

    /// Whether the host program can evaluate e as it stands.
    bool is_on_host(E e) const {
        switch (e->kind) {
            case ExprKind::Const:
            case ExprKind::Memory:
            case ExprKind::Param: return true;
            case ExprKind::Var: {
                const Home::Kind kind = home(e->id).kind;
                return kind == Home::Kind::Known || kind == Home::Kind::Host;
            }
            case ExprKind::Unary:
            case ExprKind::Binary:
            case ExprKind::Select:
            case ExprKind::Cast:
            case ExprKind::Bitcast:
            case ExprKind::Fma:
                return std::all_of(e->args.begin(), e->args.end(),
                                   [this](E a) { return is_on_host(a); });
            default: return false;
        }
    }

    /// e as the host program evaluates it: with the known variables replaced.
    E as_host(E e) {
        Cloner cloner(b_);
        cloner.replace_expression = [&](E x) -> E {
            if (x->kind != ExprKind::Var) return nullptr;
            const Home h = home(x->id);
            return h.kind == Home::Kind::Known ? cloner.expression(h.value) : nullptr;
        };
        return cloner.expression(e);
    }

    /// What control depends on, as the host program evaluates it; what only the device knows is
    /// read from there.
    E host_value(E e, const char* name) {
        want_variables(e);
        if (is_on_host(e)) return as_host(e);
        if (e->kind == ExprKind::Var && home(e->id).kind == Home::Kind::Device) {
            close_serial();
            return b_.load(keep(e->id), {b_.i64(0)}, Access::Linear);
        }
        b_.line = e->line;
        std::int32_t v = b_.var(name, e->dtype);
        serial(b_.declare(v, e));
        close_serial();
        return b_.load(keep(v), {b_.i64(0)}, Access::Linear);
    }

    void want_variables(E e) {
        if (e->kind == ExprKind::Var) decided_.wanted.insert(e->id);
        for (E a : e->args) want_variables(a);
    }

    /// The parameter that brings a variable of the host program to kernels.
    void pass_to_kernels(std::int32_t var) {
        if (split_.host_params.contains(var)) return;
        const Var v = f_.vars[static_cast<std::size_t>(var)];
        split_.host_params[var] = b_.scalar_param(v.name, v.dtype);
    }

    /// Memory for a variable's value.
    std::int32_t keep(std::int32_t var) {
        auto found = split_.kept.find(var);
        if (found != split_.kept.end()) return found->second;
        const Var v = f_.vars[static_cast<std::size_t>(var)];
        std::int32_t array = b_.local_array(v.name + ".kept", v.dtype, 1, Space::Global);
        E one[] = {b_.i64(1)};
        split_.scratch.push_back(b_.allocate(array, one));
        return split_.kept[var] = array;
    }

    /// Gives memory to what one piece computes and another one uses, and a parameter to what the
    /// host program computes.
    void bring_used(const KernelPiece& piece) {
        std::vector<S> uses = piece.serial;
        uses.insert(uses.end(), piece.nest.begin(), piece.nest.end());
        for (std::int32_t v : free_variables(uses)) {
            auto at = piece.homes.find(v);
            if (at == piece.homes.end()) continue;
            if (at->second.kind == Home::Kind::Device) keep(v);
            if (at->second.kind == Home::Kind::Host) pass_to_kernels(v);
        }
    }

    // ---- Paths that meet

    void decide(std::set<std::int32_t>& where, std::int32_t var) {
        must_repeat_ = where.insert(var).second || must_repeat_;
    }

    /// Where a variable without a value is to be: in its one home, if it has such.
    Home decided_home(std::int32_t var, const Home& otherwise) const {
        if (decided_.on_host.contains(var)) return {Home::Kind::Host, nullptr};
        if (decided_.on_device.contains(var)) return {Home::Kind::Device, nullptr};
        return otherwise;
    }

    /// The home of a variable where paths meet.
    Home merged(std::int32_t var, const Home& a, const Home& b) {
        using K = Home::Kind;
        if (a.kind == K::Unset) return b;
        if (b.kind == K::Unset) return a;
        if (a.kind == b.kind && (a.kind != K::Known || same(a.value, b.value))) return a;
        const bool is_device = a.kind == K::Device || b.kind == K::Device;
        decide(is_device && !decided_.wanted.contains(var) ? decided_.on_device : decided_.on_host,
               var);
        return is_device ? Home{K::Device, nullptr} : Home{K::Host, nullptr};
    }

    Homes merged(const Homes& a, const Homes& b) {
        Homes out = a;
        for (const auto& [var, h] : b) out[var] = merged(var, out[var], h);
        return out;
    }

    // ---- Serial pieces

    /// Adds a statement to the open piece, which finds the variables that it has not met so far
    /// where they are now.
    void push(S s) {
        if (current_.empty()) {
            serial_homes_.clear();
            open_.clear();
        }
        class Mentions final : public Visitor {
          public:
            std::set<std::int32_t> all;
            void expr(E e) override {
                if (e->kind == ExprKind::Var) all.insert(e->id);
                children(e);
            }
            void stmt(S s) override {
                if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign ||
                    s->kind == StmtKind::For)
                    all.insert(s->id);
                all.insert(s->outs.begin(), s->outs.end());
                children(s);
            }
        } mentions;
        mentions.stmt(s);
        for (std::int32_t v : mentions.all) {
            if (open_.insert(v).second) serial_homes_[v] = home(v);
        }
        current_.push_back(s);
    }

    void serial(S s) {
        push(s);
        // What a serial kernel assigns stays on the device.
        std::vector<bool> written(f_.vars.size(), false);
        mark_written(s, written);
        std::vector<std::int32_t> to_host;
        for (std::size_t k = 0; k < written.size(); ++k) {
            auto v = static_cast<std::int32_t>(k);
            if (!written[k]) continue;
            homes_[v] = {Home::Kind::Device, nullptr};
            if (decided_.on_host.contains(v)) to_host.push_back(v);
        }
        if (to_host.empty()) return;
        close_serial();
        for (std::int32_t v : to_host)
            set_on_host(v, b_.load(keep(v), {b_.i64(0)}, Access::Linear), s->line);
    }

    void close_serial() {
        if (current_.empty()) return;
        launch({{}, std::move(current_), std::move(serial_homes_)});
        current_.clear();
    }

    void launch(KernelPiece piece) {
        for (S s : piece.serial) piece.returns = piece.returns || returns(s);
        Stmt call{};
        call.kind = StmtKind::Call;
        call.id = static_cast<std::int32_t>(split_.pieces.size());
        call.line = (piece.nest.empty() ? piece.serial.front() : piece.nest.front())->line;
        out_->push_back(b_.own(call));
        split_.pieces.push_back(std::move(piece));
    }

    // ---- Assignments

    void set_on_host(std::int32_t var, E value, Line line) {
        b_.line = line;
        out_->push_back(b_.assign(var, value));
        homes_[var] = {Home::Kind::Host, nullptr};
    }

    void assign(S s) {
        const std::int32_t v = s->id;
        if (has_memory(s->args[0])) addresses_.insert(v);
        const bool is_kept_back = decided_.on_device.contains(v);
        const bool is_open = !current_.empty();
        E value = is_kept_back || decided_.on_host.contains(v) ? nullptr : known(s->args[0]);
        if (value) {
            if (is_open) push(s);  // an open serial piece needs it too, in its place
            homes_[v] = {Home::Kind::Known, value};
            return;
        }
        if (is_kept_back || !is_on_host(s->args[0])) return serial(s);
        if (!decided_.on_host.contains(v)) decide(decided_.on_host, v);
        if (is_open && open_.contains(v)) close_serial();
        set_on_host(v, as_host(s->args[0]), s->line);
    }

    void declare(S s) {
        homes_[s->id] = Home{};
        if (!current_.empty()) push(s);
    }

    // ---- Arrays

    void set_memory(S s) {
        std::vector<E> values;
        for (E e : s->args) values.push_back(host_value(e, "size"));
        close_serial();
        Stmt made = *s;
        made.args = b_.list(std::span<const E>(values));
        out_->push_back(b_.own(made));
    }

    /// Memory of a constant size: a serial piece's own, or shared by the pieces that use it.
    void allocate(S s) {
        if (f_.arrays[static_cast<std::size_t>(s->id)].space == Space::Global) {
            split_.scratch.push_back(s);
        } else {
            local_.push_back(s);
        }
    }

    /// Arrays of the work-item around the pieces become one piece's own, or memory of the device.
    void place_local_arrays() {
        for (S s : local_) {
            std::vector<KernelPiece*> users;
            for (KernelPiece& piece : split_.pieces) {
                if (uses_array(piece, s->id)) users.push_back(&piece);
            }
            if (users.size() == 1 && users[0]->nest.empty()) {
                users[0]->serial.insert(users[0]->serial.begin(), s);
            } else if (!users.empty()) {
                f_.arrays[static_cast<std::size_t>(s->id)].space = Space::Global;
                split_.scratch.push_back(s);
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
        for (E e : s->args) values.push_back(host_value(e, "value"));
        close_serial();
        Stmt call = *s;
        call.args = b_.list(std::span<const E>(values));
        out_->push_back(b_.own(call));
        for (std::int32_t v : s->outs) {
            homes_[v] = {Home::Kind::Host, nullptr};
            decide(decided_.on_host, v);
        }
    }

    /// Whether the host program knows which arrays e is the address of.
    bool may_pass(E e) const {
        if (e->kind == ExprKind::Memory) return e->axis == 0;
        if (e->kind == ExprKind::Var && addresses_.contains(e->id)) return false;
        return std::all_of(e->args.begin(), e->args.end(), [this](E a) { return may_pass(a); });
    }

    // ---- Parallel loops

    void nest(S s) {
        KernelPiece piece;
        S outer = with_known_bounds(s);
        close_serial();
        piece.homes = homes_;
        for (S loop = outer; loop;) {
            bool is_rectangular = std::all_of(loop->args.begin(), loop->args.end(),
                                              [&](E e) { return is_on_host(e); });
            if (!is_rectangular) break;
            piece.nest.push_back(loop);
            std::vector<S> list;
            flatten(loop->body, list);
            loop = list.size() == 1 && is_independent(list[0]) ? list[0] : nullptr;
        }
        launch(std::move(piece));
    }

    /// The loop with bounds that the host program can evaluate: it reads what the device computed.
    S with_known_bounds(S s) {
        Stmt changed = *s;
        std::vector<E> bounds;
        for (E bound : s->args) {
            if (!is_on_host(bound)) {
                E value = host_value(bound, "bound");
                std::int32_t v = b_.var("bound", DType::Int64);
                set_on_host(v, value, s->line);
                bound = b_.read(v);
            }
            bounds.push_back(bound);
        }
        if (std::equal(bounds.begin(), bounds.end(), s->args.begin())) return s;
        changed.args = b_.list(std::span<const E>(bounds));
        return b_.own(changed);
    }

    // ---- Control of the host program

    /// Whether the host program can run the statement by itself, at no more cost than a kernel.
    bool is_host_work(S s) const {
        switch (s->kind) {
            case StmtKind::Block:
            case StmtKind::If:
                return std::all_of(s->args.begin(), s->args.end(),
                                   [this](E e) { return is_on_host(e); }) &&
                       std::all_of(s->body.begin(), s->body.end(),
                                   [this](S b) { return is_host_work(b); }) &&
                       std::all_of(s->orelse.begin(), s->orelse.end(),
                                   [this](S b) { return is_host_work(b); });
            case StmtKind::Declare:
            case StmtKind::Assign:
                return !decided_.on_device.contains(s->id) &&
                       std::all_of(s->args.begin(), s->args.end(),
                                   [this](E e) { return is_on_host(e); });
            case StmtKind::Return:
                return s->fault >= 0 && std::all_of(s->args.begin(), s->args.end(),
                                                    [this](E e) { return is_on_host(e); });
            default: return false;
        }
    }

    /// The statements of one branch.
    std::vector<S> body(std::span<const S> list) {
        std::vector<S> made;
        std::vector<S>* outer = std::exchange(out_, &made);
        for (S s : list) walk(s);
        close_serial();
        out_ = outer;
        end_scope(list, homes_);
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
        E condition = host_value(s->args[0], "taken");
        close_serial();
        const Homes before = homes_;
        std::vector<S> first = body(s->body);
        Homes after_first = std::move(homes_);
        const bool is_first_reached = std::exchange(is_reached_, true);
        homes_ = before;
        std::vector<S> second = body(s->orelse);
        if (!is_reached_)
            homes_ = std::move(after_first);
        else if (is_first_reached)
            homes_ = merged(after_first, homes_);
        is_reached_ = is_reached_ || is_first_reached;
        b_.line = s->line;
        out_->push_back(b_.branch(condition, b_.block(std::span<const S>(first)),
                                  second.empty() ? nullptr : b_.block(std::span<const S>(second))));
    }

    struct LoopPaths {
        std::vector<Homes> nexts, ends;
    };

    /// The body of a loop, whose later iterations may find values in other homes than the first.
    std::vector<S> loop_body(S s, E condition) {
        for (const auto& [key, h] : decided_.first) {
            if (key.first == s && home(key.second).kind == Home::Kind::Unset)
                homes_[key.second] = decided_home(key.second, h);
        }
        const Homes start = homes_;
        LoopPaths paths;
        LoopPaths* outer = std::exchange(paths_, &paths);
        std::vector<S> made;
        std::vector<S>* outer_out = std::exchange(out_, &made);
        if (condition) {
            E goes_on = host_value(condition, "goes_on");
            close_serial();
            b_.line = s->line;
            made.push_back(b_.branch(b_.unary(Op::Not, goes_on), b_.leave()));
            paths.ends.push_back(homes_);
        } else {
            paths.ends.push_back(start);
        }
        for (S inner : s->body) walk(inner);
        close_serial();
        out_ = outer_out;
        paths_ = outer;
        if (is_reached_) paths.nexts.push_back(homes_);
        for (auto* list : {&paths.nexts, &paths.ends}) {
            for (Homes& h : *list) end_scope(s->body, h);
        }
        for (const Homes& next : paths.nexts) meet_start(s, start, next);
        homes_ = paths.ends.front();
        for (const Homes& end : paths.ends) homes_ = merged(homes_, end);
        is_reached_ = true;
        return made;
    }

    /// Notes where the next iteration finds what the first one did not have.
    void meet_start(S s, const Homes& start, const Homes& next) {
        for (const auto& [var, h] : next) {
            auto before = start.find(var);
            if (before != start.end() && before->second.kind != Home::Kind::Unset) {
                merged(var, before->second, h);
            } else if (h.kind != Home::Kind::Unset) {
                must_repeat_ = decided_.first.try_emplace({s, var}, h).second || must_repeat_;
            }
        }
    }

    void counted_loop(S s) {
        std::vector<E> bounds;
        for (E e : s->args) bounds.push_back(host_value(e, "bound"));
        close_serial();
        homes_[s->id] = {Home::Kind::Host, nullptr};
        std::vector<S> made = loop_body(s, nullptr);
        b_.line = s->line;
        out_->push_back(b_.loop(LoopKind::Serial, s->id, bounds[0], bounds[1], bounds[2],
                                b_.block(std::span<const S>(made))));
    }

    void conditional_loop(S s) {
        close_serial();
        std::vector<S> made = loop_body(s, s->args[0]);
        b_.line = s->line;
        out_->push_back(b_.loop_while(b_.boolean(true), b_.block(std::span<const S>(made))));
    }

    void jump(S s) {
        close_serial();
        UNISONO_ASSERT(paths_);
        (s->kind == StmtKind::Break ? paths_->ends : paths_->nexts).push_back(homes_);
        b_.line = s->line;
        out_->push_back(s->kind == StmtKind::Break ? b_.leave() : b_.next());
        is_reached_ = false;
    }

    void leave(S s) {
        b_.line = s->line;
        auto is_host_value = [this](E e) { return is_on_host(e); };
        if (s->fault >= 0 || std::all_of(s->args.begin(), s->args.end(), is_host_value) ||
            std::any_of(s->args.begin(), s->args.end(), has_memory)) {
            close_serial();
            std::vector<E> values;
            for (E e : s->args) values.push_back(host_value(e, "value"));
            close_serial();
            b_.line = s->line;
            out_->push_back(s->fault >= 0 ? b_.raise(s->fault, values)
                                          : b_.ret(std::span<const E>(values)));
        } else {
            serial(s);
            close_serial();
            b_.line = s->line;
            out_->push_back(b_.ret({}));
        }
        is_reached_ = false;
    }

    /// A serial loop from which the function may return: a flag tells the host program.
    void returning(S s) {
        b_.line = s->line;
        std::int32_t flag = b_.var("has_returned", DType::Bool);
        std::int32_t array = keep(flag);
        Cloner cloner(b_);
        cloner.replace_statement = [&](S inner) -> S {
            if (inner->kind != StmtKind::Return || inner->fault >= 0) return nullptr;
            b_.line = inner->line;
            E at[] = {b_.i64(0)};
            return b_.block(
                {b_.store(array, at, b_.boolean(true), Access::Linear), b_.own(Stmt(*inner))});
        };
        close_serial();
        serial(b_.declare(flag, b_.boolean(false)));
        serial(cloner.statement(s));
        close_serial();
        b_.line = s->line;
        out_->push_back(b_.branch(b_.load(array, {b_.i64(0)}, Access::Linear), b_.ret({})));
    }

    // ---- The walk

    void walk(S s) {
        if (!is_reached_) return;
        switch (s->kind) {
            case StmtKind::Block:
                for (S inner : s->body) walk(inner);
                return;
            case StmtKind::Declare:
                if (s->args.empty()) return declare(s);
                [[fallthrough]];
            case StmtKind::Assign: return assign(s);
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
        serial(s);
    }

    Function& f_;
    const std::size_t own_vars_ = f_.vars.size();  ///< those after them are made here
    Builder b_;
    Decisions& decided_;
    Homes homes_;
    std::vector<S>* out_ = nullptr;  ///< where the host program goes on
    LoopPaths* paths_ = nullptr;     ///< of the innermost loop of the host program
    bool is_reached_ = true, must_repeat_ = false;
    std::vector<S> local_;         ///< Allocate statements of local and private arrays
    std::vector<S> current_;       ///< the open run of serial statements
    std::set<std::int32_t> open_;  ///< the variables that it mentions
    Homes serial_homes_;
    std::set<std::int32_t> addresses_;  ///< variables that hold where memory is
    KernelSplit split_;
};

}  // namespace

std::vector<std::int32_t> free_variables(std::span<const S> statements) {
    class Uses : public Visitor {
      public:
        std::vector<std::int32_t> used, declared;
        void expr(E e) override {
            if (e->kind == ExprKind::Var) used.push_back(e->id);
            children(e);
        }
        void stmt(S s) override {
            if (s->kind == StmtKind::Declare || s->kind == StmtKind::For) declared.push_back(s->id);
            if (s->kind == StmtKind::Assign) used.push_back(s->id);
            used.insert(used.end(), s->outs.begin(), s->outs.end());
            children(s);
        }
    } uses;
    for (S s : statements) uses.stmt(s);
    std::vector<std::int32_t> out;
    for (std::int32_t v : uses.used) {
        bool is_declared =
            std::find(uses.declared.begin(), uses.declared.end(), v) != uses.declared.end();
        if (!is_declared && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
    std::sort(out.begin(), out.end());
    return out;
}

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
