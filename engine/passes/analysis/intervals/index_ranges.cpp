// Forward analysis: values of int64 variables as polynomials of symbols, with bounds from loops and
// conditions.
#include "passes/analysis/intervals/index_ranges.h"

#include <algorithm>

#include "ir/atomics.h"
#include "passes/analysis/known_values.h"
#include "passes/analysis/nests.h"
#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::size_t most_bounds = 4;

void combine(const std::vector<Bound>& a, const std::vector<Bound>& b, std::int64_t scale,
             std::vector<Bound>& out) {
    for (const Bound& x : a) {
        for (const Bound& y : b) {
            auto value = sum(x.value, y.value, scale);
            if (!value || out.size() >= most_bounds) continue;
            Bound both{*value, x.needs, x.is_loose || y.is_loose};
            both.needs.insert(both.needs.end(), y.needs.begin(), y.needs.end());
            out.push_back(std::move(both));
        }
    }
}

/// A bound that holds where those of `from` and all `needs` do; none where that cannot be.
void add_bound(std::vector<Bound>& to, const Poly& value, std::initializer_list<const Bound*> from,
               std::initializer_list<Poly> needs) {
    if (to.size() >= most_bounds) return;
    Bound made{value, {}};
    for (const Bound* b : from) {
        made.needs.insert(made.needs.end(), b->needs.begin(), b->needs.end());
        made.is_loose = made.is_loose || b->is_loose;
    }
    for (const Poly& need : needs) {
        if (!need.is_constant())
            made.needs.push_back(need);
        else if (need.constant() < 0)
            return;
    }
    to.push_back(std::move(made));
}

void add_written(S s, std::vector<std::int32_t>& out) {
    if (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For)
        out.push_back(s->id);
    out.insert(out.end(), s->outs.begin(), s->outs.end());
    for (S b : s->body) add_written(b, out);
    for (S b : s->orelse) add_written(b, out);
}

/// Each variable that the statements write, once.
std::vector<std::int32_t> written_by(std::span<const S> list) {
    std::vector<std::int32_t> all;
    for (S s : list) add_written(s, all);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Adds the variables that the statements assign other values than that of variable `i`, or
/// declare.
void add_others(S s, std::int32_t i, std::vector<std::int32_t>& out) {
    const bool is_record =
        s->kind == StmtKind::Assign && s->args[0]->kind == ExprKind::Var && s->args[0]->id == i;
    if (!is_record &&
        (s->kind == StmtKind::Declare || s->kind == StmtKind::Assign || s->kind == StmtKind::For))
        out.push_back(s->id);
    out.insert(out.end(), s->outs.begin(), s->outs.end());
    for (S b : s->body) add_others(b, i, out);
    for (S b : s->orelse) add_others(b, i, out);
}

class Ranges {
  public:
    explicit Ranges(Function& f) : f_(f), b_(f), env_(f.vars.size()), extents_(f.arrays.size()) {}

    FunctionFacts run() {
        stmt(f_.body);
        return std::move(facts_);
    }

  private:
    struct Loop {
        int number;
        int first_symbol;
        std::size_t mark;         // of the environment before the loop
        std::vector<Poly> known;  // at least 0 where the loop has an iteration
    };
    struct Refinement {
        int symbol;
        bool upper;
    };

    // ---- Symbols

    int add_symbol(Symbol s) {
        facts_.symbols.push_back(std::move(s));
        return static_cast<int>(facts_.symbols.size()) - 1;
    }
    Symbol& symbol(int s) { return facts_.symbols[static_cast<std::size_t>(s)]; }

    int param_symbol(E e) {
        auto key = std::tuple(e->id, e->field, e->axis);
        auto found = params_.find(key);
        if (found != params_.end()) return found->second;
        Symbol s;
        s.read = e;
        s.is_extent = e->field == Field::Extent;
        return params_[key] = add_symbol(s);
    }

    /// Of parameters, made before any loop: so they are never local to one.
    void make_param_symbols(E e) {
        if (e->kind == ExprKind::Param && e->dtype == DType::Int64) param_symbol(e);
        for (E a : e->args) make_param_symbols(a);
    }
    void make_param_symbols(S s) {
        for (E e : s->args) make_param_symbols(e);
        for (S b : s->body) make_param_symbols(b);
        for (S b : s->orelse) make_param_symbols(b);
        access_extents(s);
    }
    void access_extents(S s) {
        bool accesses = s->kind == StmtKind::Store || s->kind == StmtKind::Atomic;
        if (accesses) array_extents(s->id);
        for (E e : s->args) access_extents(e);
    }
    void access_extents(E e) {
        if (e->kind == ExprKind::Load) array_extents(e->id);
        for (E a : e->args) access_extents(a);
    }
    void array_extents(std::int32_t array) {
        const Array& a = f_.arrays[static_cast<std::size_t>(array)];
        auto& list = extents_[static_cast<std::size_t>(array)];
        if (a.is_view()) {
            for (E e : a.extents) make_param_symbols(e);
        }
        if (a.param < 0 || !list.empty()) return;
        for (int k = 0; k < a.rank; ++k)
            list.push_back(Poly::symbol(param_symbol(b_.extent(array, k))));
    }

    /// A new value of a variable, of which nothing is known but what `value` bounds.
    Value unknown(std::int32_t var, const Value& value = {}) {
        Symbol s;
        s.read = b_.read(var);
        s.var = var;
        s.upper = value.upper;
        s.lower = value.lower;
        return {Poly::symbol(add_symbol(s)), {}, {}};
    }

    void set(std::int32_t var, const Value& value) {
        if (f_.vars[static_cast<std::size_t>(var)].dtype != DType::Int64) return;
        env_.set(var, value.exact ? value : unknown(var, value));
    }

    void forget_written(std::span<const S> list) {
        for (std::int32_t v : written_by(list)) set(v, {});
    }

    // ---- Values

    Value value(E e) {
        if (e->dtype != DType::Int64) return {};
        switch (e->kind) {
            case ExprKind::Const: return {Poly(static_cast<std::int64_t>(e->bits)), {}, {}};
            case ExprKind::Param: return {Poly::symbol(param_symbol(e)), {}, {}};
            case ExprKind::Var: {
                if (!env_[e->id]) env_.set(e->id, unknown(e->id));
                return *env_[e->id];
            }
            case ExprKind::Unary:
                return e->op == Op::Neg ? difference({Poly(0), {}, {}}, value(e->args[0]))
                                        : Value{};
            case ExprKind::Binary: return binary(e);
            case ExprKind::Select: return either(value(e->args[1]), value(e->args[2]));
            case ExprKind::Cast: return converted(e->args[0]->dtype);
            default: return {};
        }
    }

    /// What an integer of less than 64 bits holds.
    static Value converted(DType from) {
        Value out;
        if (!(is_integer(from) || is_bool(from)) || size_of(from) >= 8) return out;
        const int bits = is_bool(from) ? 1 : static_cast<int>(8 * size_of(from));
        const std::int64_t half = std::int64_t{1} << (bits - 1);
        out.lower.push_back({Poly(is_signed(from) ? -half : 0), {}, true});
        out.upper.push_back({Poly(is_signed(from) ? half - 1 : 2 * half - 1), {}, true});
        return out;
    }

    /// One of two values: the bounds of each, where they hold for the other as well.
    static Value either(const Value& a, const Value& b) {
        Value out;
        auto shared = [](const std::vector<Bound>& of, const std::vector<Bound>& other, int sign,
                         std::vector<Bound>& to) {
            for (const Bound& x : of) {
                for (const Bound& y : other) {
                    const Bound& low = sign > 0 ? x : y;
                    auto apart = sum((sign > 0 ? y : x).value, low.value, -1);
                    if (apart) add_bound(to, x.value, {&x, &y}, {*apart});
                }
            }
        };
        shared(a.lowers(), b.lowers(), 1, out.lower);
        shared(b.lowers(), a.lowers(), 1, out.lower);
        shared(a.uppers(), b.uppers(), -1, out.upper);
        shared(b.uppers(), a.uppers(), -1, out.upper);
        return out;
    }

    static Value total(const Value& a, const Value& b) {
        Value out;
        if (a.exact && b.exact) out.exact = sum(*a.exact, *b.exact);
        if (out.exact && a.upper.empty() && b.upper.empty() && a.lower.empty() && b.lower.empty())
            return out;
        combine(a.uppers(), b.uppers(), 1, out.upper);
        combine(a.lowers(), b.lowers(), 1, out.lower);
        return out;
    }
    static Value difference(const Value& a, const Value& b) {
        Value out;
        if (a.exact && b.exact) out.exact = sum(*a.exact, *b.exact, -1);
        if (out.exact && a.upper.empty() && b.upper.empty() && a.lower.empty() && b.lower.empty())
            return out;
        combine(a.uppers(), b.lowers(), -1, out.upper);
        combine(a.lowers(), b.uppers(), -1, out.lower);
        return out;
    }

    Value binary(E e) {
        Value a = value(e->args[0]);
        Value b = value(e->args[1]);
        Value out;
        switch (e->op) {
            case Op::Add: return total(a, b);
            case Op::Sub: return difference(a, b);
            case Op::Mul:
                if (a.exact && b.exact) out.exact = product(*a.exact, *b.exact);
                return out;
            case Op::Min:
                out.upper = a.uppers();
                for (const Bound& x : b.uppers()) out.upper.push_back(x);
                out.lower = either(a, b).lower;
                return out;
            case Op::Max:
                out.lower = a.lowers();
                for (const Bound& x : b.lowers()) out.lower.push_back(x);
                out.upper = either(a, b).upper;
                return out;
            case Op::Mod:  // in [0, b) where b is positive; 0 where it is 0
                if (!b.exact) return out;
                if (auto last = sum(*b.exact, Poly(-1))) {
                    const bool is_known = remainder(a, *b.exact) != Remainder::Unknown;
                    add_bound(out.lower, Poly(0), {}, {is_known ? Poly(0) : *b.exact});
                    add_bound(out.upper, *last, {}, {is_known ? Poly(0) : *last});
                }
                return out;
            case Op::FloorDiv: return b.exact ? quotient(a, *b.exact) : out;
            case Op::Shr:
                return b.exact && b.exact->is_constant() && b.exact->constant() >= 0 &&
                               b.exact->constant() < 63
                           ? quotient(a, Poly(std::int64_t{1} << b.exact->constant()))
                           : out;
            case Op::And:  // no more than an operand that is not negative
                for (const Value* x : {&a, &b}) {
                    for (const Bound& low : x->lowers()) {
                        add_bound(out.lower, Poly(0), {&low}, {low.value});
                        for (const Bound& high : x->uppers())
                            add_bound(out.upper, high.value, {&low, &high}, {low.value});
                    }
                }
                return out;
            default: return out;
        }
    }

    /// a // b, where a is at least 0 and b at least 1: between 0 and a.
    static Value quotient(const Value& a, const Poly& b) {
        Value out;
        auto less = sum(b, Poly(-1));
        if (!less) return out;
        const std::int64_t by = b.is_constant() && b.constant() > 0 ? b.constant() : 1;
        for (const Bound& low : a.lowers()) {
            add_bound(out.lower, Poly(0), {&low}, {low.value, *less});
            for (const Bound& high : a.uppers()) {
                const bool is_number = high.value.is_constant() && high.value.constant() >= 0;
                const Poly most = is_number ? Poly(high.value.constant() / by) : high.value;
                add_bound(out.upper, most, {&low, &high}, {low.value, *less});
            }
        }
        return out;
    }

    // ---- Conditions

    /// a <= b + offset holds from here on: bounds for the symbols that stand alone on a side.
    void learn_at_most(const Value& a, const Value& b, std::int64_t offset) {
        if (!a.exact || !b.exact) return;
        if (int s = a.exact->lone_symbol(); s >= 0) {
            auto bound = sum(*b.exact, Poly(offset - a.exact->constant()));
            if (bound && bound->latest() < s) {
                symbol(s).upper.insert(symbol(s).upper.begin(), {*bound, {}});
                refinements_.push_back({s, true});
            }
        }
        if (int s = b.exact->lone_symbol(); s >= 0) {
            auto bound = sum(*a.exact, Poly(-offset - b.exact->constant()));
            if (bound && bound->latest() < s) {
                symbol(s).lower.insert(symbol(s).lower.begin(), {*bound, {}, bound->is_constant()});
                refinements_.push_back({s, false});
            }
        }
    }

    /// a != b holds from here on: a bound that is b moves by one.
    void learn_unequal(const Value& a, const Value& b) {
        if (!a.exact || !b.exact) return;
        int s = a.exact->lone_symbol();
        auto apart = s < 0 ? std::nullopt : sum(*b.exact, Poly(-a.exact->constant()));
        if (!apart || apart->latest() >= s) return;
        auto is_there = [&](const std::vector<Bound>& list) {
            return std::any_of(list.begin(), list.end(), [&](const Bound& known) {
                return known.needs.empty() && known.value == *apart;
            });
        };
        Value edge{apart, {}, {}};
        Value symbol_alone{Poly::symbol(s), {}, {}};
        if (is_there(symbol(s).lower)) learn_at_most(edge, symbol_alone, -1);
        if (is_there(symbol(s).upper)) learn_at_most(symbol_alone, edge, -1);
    }

    void learn(E condition, bool holds) {
        if (condition->kind == ExprKind::Unary && condition->op == Op::Not)
            return learn(condition->args[0], !holds);
        if (condition->kind != ExprKind::Binary) return;
        if (condition->op == (holds ? Op::And : Op::Or)) {
            learn(condition->args[0], holds);
            learn(condition->args[1], holds);
            return;
        }
        if (condition->args[0]->dtype != DType::Int64) return;
        Value a = value(condition->args[0]);
        Value b = value(condition->args[1]);
        switch (condition->op) {
            case Op::Lt: holds ? learn_at_most(a, b, -1) : learn_at_most(b, a, 0); break;
            case Op::Le: holds ? learn_at_most(a, b, 0) : learn_at_most(b, a, -1); break;
            case Op::Gt: holds ? learn_at_most(b, a, -1) : learn_at_most(a, b, 0); break;
            case Op::Ge: holds ? learn_at_most(b, a, 0) : learn_at_most(a, b, -1); break;
            case Op::Eq:
            case Op::Ne:
                if (holds == (condition->op == Op::Eq)) {
                    learn_at_most(a, b, 0);
                    learn_at_most(b, a, 0);
                } else {
                    learn_unequal(a, b);
                    learn_unequal(b, a);
                }
                break;
            default: break;
        }
    }

    void unlearn(std::size_t until) {
        for (; refinements_.size() > until; refinements_.pop_back()) {
            Symbol& s = symbol(refinements_.back().symbol);
            auto& list = refinements_.back().upper ? s.upper : s.lower;
            list.erase(list.begin());
        }
    }

    // ---- Accesses

    bool is_readable(int s, const Loop& loop) const {
        const Symbol& known = facts_.symbols[static_cast<std::size_t>(s)];
        if (known.var < 0) return true;
        const auto& now = env_.at(known.var, loop.mark);
        return now && now->exact && *now->exact == Poly::symbol(s);
    }

    bool is_usable(const Proof& p, const Loop& loop) const {
        auto readable = [&](int s) { return s >= loop.first_symbol || is_readable(s, loop); };
        return std::all_of(p.used.begin(), p.used.end(), readable);
    }

    /// Whether the loops around have no iteration where the value is below 0.
    bool is_known_in_loops(const Poly& p) const {
        return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& l) {
            return std::any_of(l.known.begin(), l.known.end(), [&](const Poly& known) {
                auto rest = sum(p, known, -1);
                return rest && is_at_least_zero(facts_.symbols, *rest);
            });
        });
    }

    static bool fails(const Proof& p) {
        return std::any_of(p.tests.begin(), p.tests.end(),
                           [](const Poly& t) { return t.is_constant() && t.constant() < 0; });
    }

    bool needs_no_test(const Proof& p) const {
        return p.tests.empty() && p.degree <= 1 &&
               std::all_of(p.used.begin(), p.used.end(), [&](int s) {
                   const Symbol& known = facts_.symbols[static_cast<std::size_t>(s)];
                   // Variables of the nest are bounded by what else is used.
                   return known.is_extent || !known.upper.empty() || !known.lower.empty();
               });
    }

    /// Adds what shows that one of the candidates is at least 0, or returns false.
    bool add_condition(const std::vector<Bound>& candidates, const Loop& loop,
                       AccessTest& test) const {
        std::vector<Proof> ways;
        for (const Bound& candidate : candidates) {
            for (Proof& p : prove_at_least_zero(facts_.symbols, candidate, loop.first_symbol)) {
                std::erase_if(p.tests, [&](const Poly& t) { return is_known_in_loops(t); });
                if (!is_usable(p, loop) || fails(p)) continue;
                if (needs_no_test(p)) return true;
                if (p.is_loose) continue;
                ways.push_back(std::move(p));
            }
        }
        if (ways.empty()) return false;
        test.conditions.push_back(std::move(ways));
        return true;
    }

    std::optional<AccessTest> test_at(const Loop& loop, std::span<const Value> indices,
                                      std::int32_t array,
                                      const std::vector<CountsFrom>& counts_from) const {
        AccessTest test;
        const auto& extents = extents_[static_cast<std::size_t>(array)];
        if (extents.size() != indices.size()) return std::nullopt;
        for (std::size_t k = 0; k < indices.size(); ++k) {
            std::vector<Bound> low = indices[k].lowers();
            std::vector<Bound> high;
            if (counts_from[k] != CountsFrom::Start) {
                std::vector<Bound> from_end;
                combine({{extents[k], {}}}, low, 1, from_end);
                low = std::move(from_end);
            }
            if (!add_condition(low, loop, test)) return std::nullopt;
            if (counts_from[k] == CountsFrom::End) continue;
            auto last = sum(extents[k], Poly(-1));
            if (last) combine({{*last, {}}}, indices[k].uppers(), -1, high);
            if (!add_condition(high, loop, test)) return std::nullopt;
        }
        return test;
    }

    /// What is known of an access at each loop around it, and at its place.
    void find_tests(AccessFacts& facts, std::span<const Value> indices, std::int32_t array) const {
        facts.tests.clear();
        for (const Loop& loop : loops_) {
            facts.tests.push_back(test_at(loop, indices, array, facts.counts_from));
            if (facts.tests.back() && facts.tests.back()->is_proven()) facts.is_proven = true;
        }
        const Loop here{-1, static_cast<int>(facts_.symbols.size()), env_.mark(), {}};
        const auto direct = test_at(here, indices, array, facts.counts_from);
        if (direct && direct->is_proven()) facts.is_proven = true;
    }

    /// The outermost loop that has a test for the access; their count where none has.
    static std::size_t first_tested(const AccessFacts& facts) {
        const auto has_test = [](const auto& t) { return t.has_value(); };
        return static_cast<std::size_t>(
            std::find_if(facts.tests.begin(), facts.tests.end(), has_test) - facts.tests.begin());
    }

    /// Lets indices that the outermost loops cannot show to be at least 0 count from either end,
    /// where those loops then know the access.
    void count_from_either(AccessFacts& facts, std::span<const Value> indices,
                           std::span<const E> args, std::int32_t array) const {
        const std::size_t before = first_tested(facts);
        AccessFacts other = facts;
        auto is_shown = [&](std::size_t axis, const Loop& loop) {
            AccessTest test;
            return add_condition(indices[axis].lowers(), loop, test);
        };
        std::vector<bool> is_open(args.size());
        for (std::size_t k = 0; k < args.size(); ++k)
            is_open[k] = facts.counts_from[k] == CountsFrom::Start && costs_little(args[k]);
        for (std::size_t l = 0; l < before && !facts.is_proven; ++l) {
            for (std::size_t k = 0; k < args.size(); ++k) {
                is_open[k] = is_open[k] && !is_shown(k, loops_[l]);
                other.counts_from[k] = is_open[k] ? CountsFrom::Either : facts.counts_from[k];
            }
            if (other.counts_from == facts.counts_from) return;
            find_tests(other, indices, array);
            if (other.is_proven || first_tested(other) <= l) {
                facts = std::move(other);
                return;
            }
        }
    }

    /// Whether one of the candidates is at least 0 at this place, without a test.
    bool holds(const std::vector<Bound>& candidates) const {
        const Loop all{-1, 0, env_.mark(), {}};  // nothing is left for a test to read
        AccessTest test;
        return add_condition(candidates, all, test) && test.is_proven();
    }

    Remainder remainder(const Value& a, const Poly& n) const {
        auto is_at_least = [&](const Poly& least) {  // -least <= a
            std::vector<Bound> low;
            combine(a.lowers(), {{least, {}}}, 1, low);
            return holds(low);
        };
        auto is_below = [&](std::int64_t times, std::int64_t less) {  // a <= times n - less
            std::vector<Bound> high;
            if (auto most = sum(Poly(-less), n, times))
                combine({{*most, {}}}, a.uppers(), -1, high);
            return holds(high);
        };
        if (is_at_least(Poly(0))) {
            if (is_below(1, 1)) return Remainder::Itself;
            return is_below(1, 0) || is_below(2, 1) ? Remainder::Above : Remainder::Unknown;
        }
        const bool wraps =
            (is_at_least(Poly(1)) && is_below(1, 2)) || (is_at_least(n) && is_below(1, 1));
        return wraps ? Remainder::Below : Remainder::Unknown;
    }

    void access(std::int32_t array, std::span<const E> args, Access mode) {
        if (mode != Access::Checked && mode != Access::Wrapped) return;
        const Array& info = f_.arrays[static_cast<std::size_t>(array)];
        if (info.is_view()) {
            // Its extents are expressions, which may have changed since the last access.
            auto& list = extents_[static_cast<std::size_t>(array)];
            list.clear();
            for (E e : info.extents) {
                Value v = value(e);
                if (v.exact) list.push_back(*v.exact);
            }
        }
        std::vector<Value> indices;
        AccessFacts facts;
        const bool has_extents = info.param >= 0 || info.is_view();
        for (E e : args) {
            indices.push_back(value(e));
            const auto& exact = indices.back().exact;
            bool counts_back =
                mode == Access::Wrapped && exact && exact->is_constant() && exact->constant() < 0;
            facts.counts_from.push_back(counts_back && has_extents ? CountsFrom::End
                                                                   : CountsFrom::Start);
        }
        for (const Loop& loop : loops_) facts.loops.push_back(loop.number);
        find_tests(facts, indices, array);
        if (mode == Access::Wrapped && has_extents) count_from_either(facts, indices, args, array);
        facts_.accesses.push_back(std::move(facts));
    }

    void expr(E e) {
        for (E a : e->args) expr(a);
        if (e->kind == ExprKind::Load) access(e->id, e->args, e->access);
        if (is_remainder(e)) {
            const Value divisor = value(e->args[1]);
            facts_.remainders.push_back(divisor.exact ? remainder(value(e->args[0]), *divisor.exact)
                                                      : Remainder::Unknown);
        }
    }

    // ---- Statements

    void stmt(S s) {
        if (!made_params_) {
            made_params_ = true;
            make_param_symbols(s);
        }
        switch (s->kind) {
            case StmtKind::For: return loop(s);
            case StmtKind::While: {
                forget_written(s->body);
                expr(s->args[0]);
                std::size_t known = refinements_.size();
                learn(s->args[0], true);
                list(s->body);
                unlearn(known);
                forget_written(s->body);
                return;
            }
            default: break;
        }
        for (E e : s->args) expr(e);
        switch (s->kind) {
            case StmtKind::Block:
                for (S b : s->body) stmt(b);
                break;
            case StmtKind::Declare:
            case StmtKind::Assign: set(s->id, s->args.empty() ? Value{} : value(s->args[0])); break;
            case StmtKind::Call:
            case StmtKind::Native:
                for (std::int32_t v : s->outs) set(v, {});
                break;
            case StmtKind::Allocate: allocate(s); break;
            case StmtKind::Store:
            case StmtKind::Atomic:
                access(s->id, s->args.first(index_count(*s)), s->access);
                for (std::int32_t v : s->outs) set(v, {});
                break;
            case StmtKind::If: branch(s); break;
            case StmtKind::Try: {  // it may end anywhere
                std::size_t before = env_.mark();
                list(s->body);
                env_.restore(before);
                forget_written(s->body);
                for (std::int32_t v : s->outs) set(v, {});
                break;
            }
            default: break;
        }
    }

    /// A body: what its conditions teach holds to its end.
    void list(std::span<const S> body) {
        std::size_t known = refinements_.size();
        for (S s : body) stmt(s);
        unlearn(known);
    }

    void allocate(S s) {
        auto& extents = extents_[static_cast<std::size_t>(s->id)];
        extents.clear();
        for (E e : s->args) {
            Value v = value(e);
            if (v.exact) extents.push_back(*v.exact);
        }
    }

    static bool leaves(std::span<const S> body) {
        if (body.empty()) return false;
        S last = body.back();
        if (last->kind == StmtKind::Block) return leaves(last->body);
        return last->kind == StmtKind::Return || last->kind == StmtKind::Continue ||
               last->kind == StmtKind::Break;
    }

    void branch(S s) {
        if (is_zero_test(s)) {
            std::vector<Bound> above;
            combine(value(s->args[0]->args[0]).lowers(), {{Poly(1), {}}}, -1, above);
            facts_.never_zero.push_back(
                std::any_of(loops_.begin(), loops_.end(), [&](const Loop& l) {
                    AccessTest test;
                    return add_condition(above, l, test) && test.is_proven();
                }));
        }
        std::size_t before = env_.mark();
        std::size_t known = refinements_.size();
        learn(s->args[0], true);
        list(s->body);
        unlearn(known);
        env_.restore(before);
        learn(s->args[0], false);
        list(s->orelse);
        unlearn(known);
        env_.restore(before);
        forget_written(s->body);
        forget_written(s->orelse);
        if (leaves(s->body) && s->orelse.empty()) learn(s->args[0], false);
    }

    /// The bounds, which hold only where `step` is positive.
    static std::vector<Bound> where_positive(const Poly& step, std::vector<Bound> bounds) {
        auto need = sum(step, Poly(-1));
        if (!need) return {};
        for (Bound& b : bounds) b.needs.push_back(*need);
        return bounds;
    }

    void loop(S s) {
        for (E e : s->args) expr(e);
        Value begin = value(s->args[0]);
        Value end = value(s->args[1]);
        std::int64_t step = 0;
        bool known_step = is_constant(s->args[2], step) && step != 0;
        int number = static_cast<int>(facts_.loops.size());
        int first_symbol = static_cast<int>(facts_.symbols.size());
        facts_.loops.push_back({loops_.empty() ? -1 : loops_.back().number, first_symbol, {}});
        if (!loops_.empty())
            facts_.loops[static_cast<std::size_t>(loops_.back().number)].children.push_back(number);
        loops_.push_back({number, first_symbol, env_.mark(), {}});
        Value var;
        Value one{Poly(1), {}, {}};
        if (known_step) {
            var.lower = step > 0 ? begin.lowers() : total(end, one).lowers();
            var.upper = step > 0 ? difference(end, one).uppers() : begin.uppers();
        } else if (Value by = value(s->args[2]); by.exact) {
            // Which end is which depends on the sign: it is asked for what nearly all loops do.
            var.lower = where_positive(*by.exact, begin.lowers());
            var.upper = where_positive(*by.exact, difference(end, one).uppers());
        }
        const auto kept = records(s, var);
        forget_written(s->body);
        for (const auto& [v, value] : kept) set(v, value);
        for (const Bound& low : var.lower) {
            for (const Bound& high : var.upper) {
                auto apart = sum(high.value, low.value, -1);
                if (apart && low.needs.empty() && high.needs.empty())
                    loops_.back().known.push_back(*apart);
            }
        }
        set(s->id, var);
        list(s->body);
        loops_.pop_back();
        forget_written(s->body);
        for (const auto& [v, value] : kept) set(v, value);
        set(s->id, {});
    }

    /// Variables that a loop assigns nothing but its own variable (`if x[i] < x[best]: best = i`):
    /// they have a value of it, or the one from before the loop.
    std::vector<std::pair<std::int32_t, Value>> records(S loop, const Value& var) {
        std::vector<std::pair<std::int32_t, Value>> found;
        std::vector<std::int32_t> others;
        for (S s : loop->body) add_others(s, loop->id, others);
        auto is_other = [&](std::int32_t v) {
            return std::find(others.begin(), others.end(), v) != others.end();
        };
        if (is_other(loop->id)) return found;
        for (std::int32_t v : written_by(loop->body)) {
            if (is_other(v) || !env_[v]) continue;
            found.emplace_back(v, either(*env_[v], var));
        }
        return found;
    }

    Function& f_;
    Builder b_;
    FunctionFacts facts_;
    Environment env_;
    std::vector<std::vector<Poly>> extents_;  // per array
    std::map<std::tuple<std::int32_t, Field, std::int32_t>, int> params_;
    std::vector<Loop> loops_;
    std::vector<Refinement> refinements_;
    bool made_params_ = false;
};

}  // namespace

bool is_remainder(E e) {
    return e->kind == ExprKind::Binary && e->op == Op::Mod && e->dtype == DType::Int64;
}

bool is_zero_test(S s) {
    if (!only_raises(s)) return false;
    std::vector<S> taken;
    flatten(s->body, taken);
    if (!taken[0]->args.empty()) return false;
    const E test = s->args[0];
    std::int64_t number = 0;
    return test->kind == ExprKind::Binary && test->op == Op::Eq && costs_little(test->args[0]) &&
           is_constant(test->args[1], number) && number == 0;
}

bool costs_little(E e) {
    const bool computes = e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub);
    return (computes || e->kind == ExprKind::Var || e->kind == ExprKind::Const ||
            e->kind == ExprKind::Param) &&
           std::all_of(e->args.begin(), e->args.end(), costs_little);
}

FunctionFacts find_index_ranges(Function& f) { return Ranges(f).run(); }

}  // namespace unisono::passes
