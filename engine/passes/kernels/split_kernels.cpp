// Walks the top level of a function and cuts it into kernels.
#include "passes/kernels/split_kernels.h"

#include <algorithm>

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

using Values = std::map<std::int32_t, E>;

class Splitter {
  public:
    explicit Splitter(Function& f) : f_(f), b_(f) {}

    KernelSplit run() {
        walk(f_.body);
        close_serial();
        keep_crossing();
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

    /// Notes a value of parameters; false where the variable's value must stay on the device.
    bool set(S s, E now) {
        if (s->kind == StmtKind::Assign) {
            auto before = values_.find(s->id);
            bool is_kept = before != values_.end() && !before->second;
            if (device_guard_ || (guard_ && is_kept)) return false;
            if (guard_ && before != values_.end()) now = b_.select(guard_, now, before->second);
        }
        values_[s->id] = now;
        return true;
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

    void add(KernelPiece piece) {
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
        add({{},
             std::move(current_),
             guard_,
             device_guard_,
             std::move(serial_values_),
             std::move(serial_unset_)});
        current_.clear();
    }

    /// Splits a branch; false where it is better run as it stands, by one work-item.
    bool branch(S s) {
        HasIndependent inside;
        inside.stmt(s);
        bool has_effects = false;
        for (StmtKind kind : {StmtKind::Store, StmtKind::Atomic, StmtKind::Call, StmtKind::For,
                              StmtKind::While, StmtKind::Allocate}) {
            has_effects |= contains(s, kind);
        }
        if (!inside.found && has_effects) return false;
        E condition = known(s->args[0]);
        if (!condition && inside.found) device_branch(s);
        if (!condition) return inside.found;
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

    /// Around parallel loops: the condition is computed once and kept for all that hangs on it.
    void device_branch(S s) {
        b_.line = s->line;
        std::int32_t taken = b_.var("taken", DType::Bool);
        serial(b_.declare(taken, s->args[0]));
        close_serial();
        E outer = device_guard_;
        for (bool first : {true, false}) {
            E condition = first ? b_.read(taken) : b_.unary(Op::Not, b_.read(taken));
            device_guard_ = both(outer, condition);
            for (S inner : first ? s->body : s->orelse) walk(inner);
            close_serial();
        }
        device_guard_ = outer;
    }

    /// Gives a place in memory to what one piece computes and a later one uses.
    void keep_crossing() {
        for (const KernelPiece& piece : split_.pieces) {
            std::vector<S> uses = piece.serial;
            uses.insert(uses.end(), piece.nest.begin(), piece.nest.end());
            if (piece.device_guard) uses.push_back(b_.branch(piece.device_guard, b_.block({})));
            for (std::int32_t v : free_variables(uses)) {
                auto value = piece.values.find(v);
                if (value == piece.values.end() || value->second || split_.kept.contains(v))
                    continue;
                const Var var = f_.vars[static_cast<std::size_t>(v)];
                std::int32_t array =
                    b_.local_array(var.name + ".kept", var.dtype, 1, Space::Global);
                E one[] = {b_.i64(1)};
                split_.scratch.push_back(b_.allocate(array, one));
                split_.kept[v] = array;
            }
        }
    }

    void nest(S s) {
        close_serial();
        KernelPiece piece{{}, {}, guard_, device_guard_, values_, unset_};
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
                bool is_open = !current_.empty();
                // An open serial piece needs the value too, in its place.
                if (is_open) serial(s);
                if ((!value || !set(s, value)) && !is_open) serial(s);
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
                "a parallel loop inside a serial loop cannot run on a device; call the function "
                "once per step from Python, or write the serial loop inside the parallel one");
        }
        serial(s);
    }

    void leave(S s) {
        if (!s->args.empty()) serial(s);
        close_serial();
        if (device_guard_) {
            may_have_returned_ = true;
            returned_ = s->line;
            return;
        }
        // Nothing after this is reached under this guard.
        left_ = both(left_, guard_ ? b_.unary(Op::Not, guard_) : b_.boolean(false));
        guard_ = b_.boolean(false);
    }

    Function& f_;
    Builder b_;
    Values values_;
    E guard_ = nullptr;
    E device_guard_ = nullptr;
    E left_ = nullptr;  ///< of parameters: no return has been reached; null: there was none
    std::vector<std::int32_t> unset_;
    std::vector<S> current_;  ///< the open run of serial statements
    Values serial_values_;
    std::vector<std::int32_t> serial_unset_;
    Line returned_;  ///< of a return that depends on data
    bool may_have_returned_ = false;
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

KernelSplit split_kernels(Function& f) { return Splitter(f).run(); }

}  // namespace unisono::passes
