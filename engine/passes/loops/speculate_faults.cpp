// Copies a loop's body with flags in the place of exceptions, and writes the strips around it.
#include "passes/loops/speculate_faults.h"

#include <algorithm>

#include "passes/analysis/column_sums.h"
#include "passes/analysis/linear_forms.h"
#include "passes/analysis/speculation.h"
#include "passes/cleanup/copies.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::int64_t log_strip = 6;
constexpr std::int64_t strip_length = 1 << log_strip;
/// Shorter loops run as they are written, and cost the compiler no more than that.
constexpr std::int64_t least_length = 256;
/// The same inside of another loop, which runs them many times.
constexpr std::int64_t least_inner_length = 128;
/// Functions below a condition: a strip computes them for all iterations, which does not pay where
/// fewer need them.
constexpr std::int64_t least_uses = strip_length / 8;
constexpr int most_calls_deep = 4;
constexpr std::size_t most_statements = 200;

std::vector<S> flat(std::span<const S> list) {
    std::vector<S> all;
    flatten(list, all);
    return all;
}

bool is_fault(S s) { return s->kind == StmtKind::Return && s->fault >= 0; }

bool has_result(S s) {
    return (s->kind == StmtKind::Return && s->fault < 0) ||
           std::any_of(s->body.begin(), s->body.end(), has_result) ||
           std::any_of(s->orelse.begin(), s->orelse.end(), has_result);
}

/// A loop whose strips may be computed first.
class Strip {
  public:
    /// `is_shared`: the loop's iterations are shared among threads. `is_inner`: it stands in a
    /// loop.
    Strip(Builder& b, const Module& module, S loop, bool is_shared, bool is_inner)
        : b_(b),
          module_(module),
          loop_(loop),
          is_shared_(is_shared),
          least_(is_inner ? least_inner_length : least_length),
          nest_(b, loop, nullptr) {}

    /// The loop in strips, or null.
    S made() {
        auto sums = sums_of(loop_);
        if (!sums || !understands(loop_->body)) return nullptr;
        sums_ = *sums;
        lane_ = b_.var("lane", DType::Int64);
        from_ = b_.var("from", DType::Int64);
        any_ = b_.var("raises", DType::Bool);
        used_ = b_.var("used", DType::Bool);
        Copies copies(b_, b_.function());
        copies.values[loop_->id] = b_.add(b_.read(from_), b_.read(lane_));
        std::vector<S> body;
        if (!copy(loop_->body, copies, {}, 0, body)) return nullptr;
        if (!has_faults_ || !has_functions_) return nullptr;
        if (!always_ && loop_->loop == LoopKind::Parallel) return nullptr;
        E apart = test();
        return apart ? strips(apart, body) : nullptr;
    }

  private:
    struct Kept {
        S store;
        std::int32_t scratch;
        std::int32_t runs;  ///< -1: in each iteration
    };

    /// What the loop itself loads and stores, with definitions of its variables.
    bool understands(std::span<const S> list) {
        for (S s : flat(list)) {
            for (E e : s->args) {
                if (!nest_.loads(e, accesses_)) return false;
            }
            if (s->kind == StmtKind::Store) {
                if (s->access != Access::Linear || s->axis != 0) return false;
                accesses_.push_back({s->id, true, nest_.form(s->args[0])});
            }
            if (!understands(s->body) || !understands(s->orelse)) return false;
        }
        return true;
    }

    /// Appends a copy of the statements that ends no iteration: exceptions set the flag, results of
    /// a called function are assigned to `outs`.
    bool copy(std::span<const S> list, Copies& copies, std::span<const std::int32_t> outs,
              int depth, std::vector<S>& out) {
        std::vector<S> all = flat(list);
        for (std::size_t k = 0; k < all.size(); ++k) {
            S s = all[k];
            b_.line = s->line;
            if (++count_ > most_statements) return false;
            if (s->kind != StmtKind::Return || s->fault < 0) {
                if (!std::all_of(s->args.begin(), s->args.end(), is_computed)) return false;
            }
            if (std::any_of(s->args.begin(), s->args.end(), has_function)) {
                has_functions_ = true;
                if (branches_ == 0) always_ = true;
                // What this iteration computes is for nothing where it stands below a condition
                // that does not hold.
                if (branches_ > 0) out.push_back(b_.assign(used_, b_.boolean(true)));
            }
            switch (s->kind) {
                case StmtKind::Assign:
                    if (depth == 0 && branches_ > 0 &&
                        std::find(sums_.begin(), sums_.end(), s->id) != sums_.end()) {
                        add_behind(s, copies, out);
                        break;
                    }
                    [[fallthrough]];
                case StmtKind::Declare: out.push_back(copies.statement(s)); break;
                case StmtKind::Store:
                    if (depth > 0 || !keep(s, copies, out)) return false;
                    break;
                case StmtKind::Call:
                    if (!take_in(s, copies, depth, out)) return false;
                    break;
                case StmtKind::Return:
                    if (s->fault >= 0) {
                        has_faults_ = true;
                        out.push_back(b_.assign(any_, b_.boolean(true)));
                    } else if (depth == 0 || s->args.size() != outs.size()) {
                        return false;
                    } else {
                        for (std::size_t r = 0; r < outs.size(); ++r)
                            out.push_back(b_.assign(outs[r], copies.expression(s->args[r])));
                    }
                    return true;
                case StmtKind::If: {
                    auto past = copy_branch(s, std::span<const S>(all).subspan(k + 1), copies, outs,
                                            depth, out);
                    if (!past) return false;
                    if (!*past) return true;
                    break;
                }
                default: return false;
            }
        }
        return true;
    }

    /// Appends a copy of an If and, where one of its branches returns, of `rest`, the statements
    /// behind it. Whether the copy of those is still to be made; none where that cannot be done.
    std::optional<bool> copy_branch(S s, std::span<const S> rest, Copies& copies,
                                    std::span<const std::int32_t> outs, int depth,
                                    std::vector<S>& out) {
        std::vector<S> body = flat(s->body);
        std::vector<S> orelse = flat(s->orelse);
        const bool returns = has_result(s);
        const bool raises = !returns && (is_final(body) || is_final(orelse));
        if (raises && !compares_floats(s->args[0])) return std::nullopt;
        E condition = copies.expression(s->args[0]);
        if (body.size() == 1 && is_fault(body[0]) && orelse.empty()) {
            has_faults_ = true;
            out.push_back(b_.assign(any_, b_.binary(Op::Or, b_.read(any_), condition)));
            return true;
        }
        if (returns) {
            if (!is_final(body) && !is_final(orelse)) return std::nullopt;
            std::vector<S>& other = is_final(body) ? orelse : body;
            other.insert(other.end(), rest.begin(), rest.end());
        }
        std::vector<S> yes, no;
        ++branches_;
        if (!copy(body, copies, outs, depth, yes) || !copy(orelse, copies, outs, depth, no))
            return std::nullopt;
        --branches_;
        out.push_back(b_.branch(condition, b_.block(yes), no.empty() ? nullptr : b_.block(no)));
        return !returns;
    }

    /// A term below a condition is added at the end of the iteration: where the condition does not
    /// hold, what it adds changes no bit.
    void add_behind(S s, Copies& copies, std::vector<S>& out) {
        E sum = s->args[0];
        const bool is_first = sum->args[0]->kind == ExprKind::Var && sum->args[0]->id == s->id;
        E term = copies.expression(sum->args[is_first ? 1 : 0]);
        E nothing = b_.zero(term->dtype);
        if (is_float(term->dtype) && sum->op == Op::Add) nothing = b_.number(term->dtype, -0.0);
        const std::int32_t v = b_.var("term", term->dtype);
        before_.push_back(b_.declare(v, nothing));
        out.push_back(b_.assign(v, term));
        behind_.push_back(b_.assign(s->id, b_.binary(sum->op, b_.read(s->id), b_.read(v))));
    }

    /// What the statement would store goes to scratch memory at the end of the iteration, where it
    /// stands below a condition together with whether it has run.
    bool keep(S s, Copies& copies, std::vector<S>& out) {
        const DType t = b_.function().arrays[static_cast<std::size_t>(s->id)].dtype;
        if (is_complex(t) || is_bool(t) || size_of(t) < 4) return false;
        Kept kept{s, scratch("kept", t), -1};
        E value = copies.expression(s->args[1]);
        if (branches_ > 0) {
            const std::int32_t v = b_.var("value", t);
            const std::int32_t runs = b_.var("runs", DType::Bool);
            kept.runs = scratch("runs", DType::Int64);
            before_.push_back(b_.declare(v, b_.zero(t)));
            before_.push_back(b_.declare(runs, b_.boolean(false)));
            out.push_back(b_.assign(v, value));
            out.push_back(b_.assign(runs, b_.boolean(true)));
            behind_.push_back(into(kept.runs, b_.select(b_.read(runs), b_.i64(1), b_.i64(0))));
            behind_.push_back(into(kept.scratch, b_.read(v)));
        } else {
            out.push_back(into(kept.scratch, value));
        }
        kept_.push_back(kept);
        return true;
    }
    std::int32_t scratch(const char* name, DType t) {
        const std::int32_t made = b_.local_array(name, t, 1, Space::Private);
        E n[] = {b_.i64(strip_length)};
        scratch_.push_back(b_.allocate(made, n));
        return made;
    }
    S into(std::int32_t array, E value) {
        E at[] = {b_.read(lane_)};
        return b_.store(array, at, value, Access::Linear);
    }

    /// The statements of a function that is called.
    bool take_in(S call, Copies& copies, int depth, std::vector<S>& out) {
        const Function& f = module_.functions[static_cast<std::size_t>(call->id)];
        if (depth == most_calls_deep || !f.body || f.native || !f.arrays.empty() ||
            !f.natives.empty() || !call->arrays.empty() || &f == &b_.function())
            return false;
        Copies inside(b_, f);
        std::vector<E> params;
        for (std::size_t k = 0; k < f.params.size(); ++k) {
            const std::int32_t own = b_.var(f.params[k].name, f.params[k].dtype);
            out.push_back(b_.declare(own, copies.expression(call->args[k])));
            params.push_back(b_.read(own));
        }
        inside.params = &params;
        std::vector<std::int32_t> outs;
        for (std::int32_t v : call->outs) {
            auto name = copies.names.find(v);
            outs.push_back(name == copies.names.end() ? v : name->second);
        }
        return copy(std::span<const S>(&f.body, 1), inside, outs, depth + 1, out);
    }

    /// A test in front of the loop that its iterations do not meet; null where none is known.
    E test() {
        auto array = [&](const NestAccess& a) -> const Array& {
            return b_.function().arrays[static_cast<std::size_t>(a.array)];
        };
        bool has_stored = false;
        for (std::size_t k = 0; k < accesses_.size(); ++k) {
            const NestAccess& a = accesses_[k];
            if (!a.form || array(a).space != Space::Global ||
                (array(a).param < 0 && !array(a).is_slot))
                return nullptr;
            has_stored = has_stored || a.is_store;
            // A load behind a store reads what is not there yet.
            for (std::size_t s = 0; s < k && has_stored && !a.is_store; ++s) {
                const NestAccess& store = accesses_[s];
                const bool differ =
                    store.array != a.array && array(store).noalias && array(a).noalias;
                if (store.is_store && !differ) return nullptr;
            }
        }
        E apart = nest_.independent(accesses_);
        for (E assumed : nest_.assumed())
            apart = apart ? b_.binary(Op::And, apart, assumed) : apart;
        return apart;
    }

    S strips(E apart, const std::vector<S>& body) {
        b_.line = loop_->line;
        const bool is_parallel = loop_->loop == LoopKind::Parallel;
        const std::int32_t strip = b_.var("strip", DType::Int64);
        const std::int32_t begin = b_.var("begin", DType::Int64);
        const std::int32_t end = b_.var("end", DType::Int64);
        const std::int32_t at = b_.var("at", DType::Int64);
        const std::int32_t raised = b_.var("raised", DType::Int64);
        auto behind_strips = [&](E strips) {
            return b_.add(b_.read(begin), b_.mul(strips, b_.i64(strip_length)));
        };
        std::vector<S> each{b_.declare(from_, behind_strips(b_.read(strip)))};
        each.insert(each.end(), scratch_.begin(), scratch_.end());
        std::vector<S> stores, undone;
        for (std::int32_t v : sums_) {
            const DType t = b_.function().vars[static_cast<std::size_t>(v)].dtype;
            const std::int32_t before = b_.var("before", t);
            each.push_back(b_.declare(before, b_.read(v)));
            undone.push_back(b_.assign(v, b_.read(before)));
        }
        std::vector<S> lanes{b_.declare(any_, b_.boolean(false)),
                             b_.declare(used_, b_.boolean(always_))};
        for (const std::vector<S>& part : {before_, body, behind_})
            lanes.insert(lanes.end(), part.begin(), part.end());
        // An integer of the size of the others: the vectoriser tries vectors of the smallest type.
        E raises = b_.select(b_.read(any_), b_.i64(1), b_.i64(0));
        lanes.push_back(b_.assign(raised, b_.binary(Op::Or, b_.read(raised), raises)));
        each.push_back(b_.declare(raised, b_.i64(0)));
        const std::int32_t uses = b_.var("uses", DType::Int64);
        if (!always_) {
            E one = b_.select(b_.read(used_), b_.i64(1), b_.i64(0));
            lanes.push_back(b_.assign(uses, b_.add(b_.read(uses), one)));
            each.push_back(b_.declare(uses, b_.i64(0)));
        }
        each.push_back(b_.loop(LoopKind::Serial, lane_, b_.i64(0), b_.i64(strip_length), b_.i64(1),
                               b_.block(lanes)));
        for (const Kept& k : kept_) stores.push_back(stored(k));
        if (is_parallel) {
            undone.push_back(as_written(
                b_.read(from_), b_.add(b_.read(from_), b_.i64(strip_length)), LoopKind::Serial));
        } else {
            undone.push_back(b_.leave());
            stores.push_back(b_.assign(at, b_.add(b_.read(from_), b_.i64(strip_length))));
            E seldom = b_.binary(Op::Lt, b_.read(uses), b_.i64(least_uses));
            if (!always_) stores.push_back(b_.branch(seldom, b_.leave()));
        }
        each.push_back(b_.branch(b_.binary(Op::Eq, b_.read(raised), b_.i64(0)), b_.block(stores),
                                 b_.block(undone)));
        E count = b_.binary(Op::Shr, b_.sub(b_.read(end), b_.read(begin)), b_.i64(log_strip));
        std::vector<S> ahead{
            b_.loop(loop_->loop, strip, b_.i64(0), count, b_.i64(1), b_.block(each))};
        if (is_parallel) ahead.push_back(b_.assign(at, behind_strips(count)));
        E few = b_.binary(Op::Lt, b_.read(end), b_.add(b_.read(begin), b_.i64(least_)));
        E stays = b_.binary(Op::Or, few, b_.unary(Op::Not, apart));
        Stmt choice = *b_.branch(stays, b_.block({}), b_.block(ahead));
        choice.rare = true;
        return b_.block({b_.declare(begin, loop_->args[0]), b_.declare(end, loop_->args[1]),
                         b_.declare(at, b_.read(begin)), b_.own(choice),
                         as_written(b_.read(at), b_.read(end), loop_->loop)});
    }

    /// The loop itself, through other iterations.
    S as_written(E begin, E end, LoopKind kind) {
        E bounds[] = {begin, end, b_.i64(1)};
        Stmt changed = *loop_;
        changed.loop = kind;
        changed.numbers = loop_->numbers || (is_shared_ && kind == LoopKind::Serial);
        changed.args = b_.list(std::span<const E>(bounds));
        return b_.own(changed);
    }

    /// A loop that stores what a strip has kept.
    S stored(const Kept& kept) {
        const std::int32_t lane = b_.var("lane", DType::Int64);
        // The index is linear in the loop's variable, but may go through variables of the body.
        auto form = nest_.form(kept.store->args[0]);
        E i = b_.add(b_.read(from_), b_.read(lane));
        if (!is_one(form->outer)) i = b_.mul(form->outer, i);
        E at = form->rest ? b_.add(form->rest, i) : i;
        E index[] = {at};
        E value = b_.load(kept.scratch, {b_.read(lane)}, Access::Linear);
        S store = b_.store(kept.store->id, index, value, Access::Linear);
        if (kept.runs >= 0) {
            E runs = b_.load(kept.runs, {b_.read(lane)}, Access::Linear);
            store = b_.branch(b_.binary(Op::Ne, runs, b_.i64(0)), store);
        }
        return b_.loop(LoopKind::Vector, lane, b_.i64(0), b_.i64(strip_length), b_.i64(1), store);
    }

    Builder& b_;
    const Module& module_;
    S loop_;
    bool is_shared_;
    std::int64_t least_;
    LoopNest nest_;
    std::vector<std::int32_t> sums_;
    std::vector<NestAccess> accesses_;
    std::vector<Kept> kept_;
    std::vector<S> scratch_, before_, behind_;
    std::int32_t lane_ = -1, from_ = -1, any_ = -1, used_ = -1;
    std::size_t count_ = 0;
    int branches_ = 0;
    bool has_faults_ = false, has_functions_ = false;
    bool always_ = false;  ///< each iteration needs some function
};

class SpeculateFaults final : public Rewriter {
  public:
    SpeculateFaults(Function& f, const Module& module) : Rewriter(f), module_(module) {}

    E expr(E e) override { return e; }
    S stmt(S s) override {
        const bool shares = s->kind == StmtKind::For &&
                            (s->loop == LoopKind::Parallel || s->loop == LoopKind::Group);
        const bool loops = s->kind == StmtKind::For || s->kind == StmtKind::While;
        shared_ += shares;
        depth_ += loops;
        s = children(s);
        depth_ -= loops;
        shared_ -= shares;
        const bool is_loop = s->kind == StmtKind::For && s->reductions.empty() && !s->any_order &&
                             (s->loop == LoopKind::Serial || s->loop == LoopKind::Parallel) &&
                             is_one(s->args[2]);
        if (!is_loop || std::any_of(s->body.begin(), s->body.end(), has_loop)) return s;
        S made = Strip(b_, module_, s, shares && shared_ == 0, depth_ > 0).made();
        return made ? made : s;
    }

  private:
    static bool has_loop(S s) { return contains(s, StmtKind::For) || contains(s, StmtKind::While); }
    const Module& module_;
    int shared_ = 0, depth_ = 0;
};

}  // namespace

void speculate_faults(Module& module) {
    for (Function& f : module.functions) {
        if (f.body && !f.is_deferred) SpeculateFaults(f, module).run();
    }
}

}  // namespace unisono::passes
