// Values, their registers by place, conditions, and the walk over statements.
#include "passes/analysis/intervals/kernel_intervals.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/atomics.h"
#include "ir/fence.h"
#include "ir/rewrite.h"
#include "passes/analysis/intervals/wide_index.h"
#include "passes/analysis/nests.h"

namespace unisono::passes {

using namespace ir;
using Step = IntervalStep;
using Kind = IntervalStep::Kind;

namespace {

constexpr std::size_t most_steps = 1500, most_values = 1500;

bool is_followed(DType t) { return is_integer(t) || is_bool(t); }

Op opposite(Op op) {
    switch (op) {
        case Op::Lt: return Op::Ge;
        case Op::Le: return Op::Gt;
        case Op::Gt: return Op::Le;
        case Op::Ge: return Op::Lt;
        case Op::Eq: return Op::Ne;
        default: return Op::Eq;
    }
}

bool compares(Op op) {
    return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge || op == Op::Eq ||
           op == Op::Ne;
}

/// A value number; -1: not followed.
using V = std::int32_t;

struct Value {
    enum class Kind : std::uint8_t { Given, Unary, Binary, Cast, Select };
    Kind kind = Kind::Given;
    Op op = Op::Add;
    DType dtype = DType::Int64;
    V args[3] = {-1, -1, -1};
    /// Of a Given value, such as a constant, a variable of a loop or an element; of a Select that
    /// stands for a variable behind a branch.
    std::int32_t base = -1;
    auto key() const { return std::tuple(kind, op, dtype, args[0], args[1], args[2]); }
};

/// What is known at a place: registers of values, and values of variables.
struct State {
    struct Known {
        std::int32_t to = -1;                 ///< the register
        std::int32_t from[3] = {-1, -1, -1};  ///< registers that it was computed of
        bool is_learned = false;
        std::int32_t seen = -1;  ///< State::changes when it was last found to be up to date
    };
    std::vector<Known> known;  ///< by value
    std::vector<V> vars;
    struct Difference {
        V a, b;  ///< a - b >= least
        std::int64_t least;
    };
    std::vector<Difference> differences;
    std::int32_t reached = -1;  ///< a register, false where no work-item comes here; -1: true
    bool is_over = false;       ///< behind a return, break or continue
};

class Walk {
  public:
    explicit Walk(Function& f) : f_(f), b_(f), extents_(f.arrays.size()) {
        at_.vars.assign(f.vars.size(), -1);
    }

    std::optional<KernelIntervals> run() {
        stmt(f_.body);
        if (is_lost_) return std::nullopt;
        number_loops(out_.program);
        return std::move(out_);
    }

  private:
    struct Loop {
        std::vector<std::int32_t> vars;                            ///< that it changes
        std::vector<std::vector<std::int32_t>> continues, breaks;  ///< registers of those
    };

    // ---- Steps

    std::int32_t emit(Step s) {
        if (out_.program.steps.size() >= most_steps) is_lost_ = true;
        if (s.to < 0 && s.proof < 0) s.to = out_.program.add_register();
        out_.program.steps.push_back(s);
        return s.to;
    }
    std::int32_t all_of(DType t) {
        auto [at, is_new] = types_.try_emplace(t, -1);
        if (is_new) at->second = out_.program.add_register(Interval::of_type(t));
        return at->second;
    }

    // ---- Values

    V given(DType t, std::int32_t base) {
        values_.push_back({Value::Kind::Given, Op::Add, t, {-1, -1, -1}, base});
        at_.known.emplace_back();
        if (values_.size() >= most_values) is_lost_ = true;
        return static_cast<V>(values_.size() - 1);
    }
    /// Any of its type.
    V any(DType t) { return is_followed(t) ? given(t, all_of(t)) : -1; }

    V constant(DType t, std::int64_t number) {
        auto [at, is_new] = constants_.try_emplace({t, number}, -1);
        if (is_new) at->second = given(t, out_.program.add_register({number, number}));
        return at->second;
    }

    V input(LaunchInput in, DType t) {
        const auto key = std::tuple(in.kind, in.query, in.param, in.axis);
        auto [at, is_new] = inputs_.try_emplace(key, -1);
        if (is_new) {
            in.dtype = t;
            in.to = out_.program.add_register(Interval::of_type(t));
            out_.program.inputs.push_back(in);
            at->second = given(t, in.to);
        }
        return at->second;
    }

    V made(const Value& v) {
        auto [at, is_new] = made_.try_emplace(v.key(), -1);
        if (is_new) {
            at->second = static_cast<V>(values_.size());
            values_.push_back(v);
            at_.known.emplace_back();
            if (values_.size() >= most_values) is_lost_ = true;
        }
        return at->second;
    }

    V value(E e) {
        if (!is_followed(e->dtype)) return -1;
        switch (e->kind) {
            case ExprKind::Const: {
                const Scalar s{e->bits, e->dtype};
                return constant(e->dtype, is_bool(e->dtype) ? e->bits != 0 : s.as<std::int64_t>());
            }
            case ExprKind::Var: {
                V& known = at_.vars[static_cast<std::size_t>(e->id)];
                if (known < 0) known = any(e->dtype);
                return known;
            }
            case ExprKind::Param: return param(e);
            case ExprKind::WorkItem: return work_item(e);
            case ExprKind::Unary: return unary(e);
            case ExprKind::Binary: return binary(e);
            case ExprKind::Cast: {
                const V a = value(e->args[0]);
                return a < 0 ? any(e->dtype)
                             : made({Value::Kind::Cast, Op::Add, e->dtype, {a, -1, -1}});
            }
            case ExprKind::Select: {
                const V c = value(e->args[0]), a = value(e->args[1]), b = value(e->args[2]);
                return made({Value::Kind::Select, Op::Add, e->dtype, {c, a, b}});
            }
            default: return any(e->dtype);
        }
    }

    V param(E e) {
        if (e->field == Field::Stride) return any(e->dtype);
        LaunchInput in;
        in.kind = e->field == Field::Extent ? LaunchInput::Kind::Extent : LaunchInput::Kind::Value;
        in.param = e->id;
        in.axis = e->field == Field::Extent ? e->axis : 0;
        return input(in, e->dtype);
    }
    V work_item(E e) {
        LaunchInput in;
        in.kind = LaunchInput::Kind::WorkItem;
        in.query = e->query;
        in.axis = e->axis;
        return input(in, e->dtype);
    }
    V unary(E e) {
        const V a = value(e->args[0]);
        return a < 0 ? any(e->dtype) : made({Value::Kind::Unary, e->op, e->dtype, {a, -1, -1}});
    }
    V binary(E e) {
        const V a = value(e->args[0]), b = value(e->args[1]);
        if (a < 0 || b < 0) return any(e->dtype);
        return made({Value::Kind::Binary, e->op, e->dtype, {a, b, -1}});
    }

    const Value& of(V v) const { return values_[static_cast<std::size_t>(v)]; }
    State::Known& known(V v) { return at_.known[static_cast<std::size_t>(v)]; }

    /// The register that holds the value here.
    std::int32_t reg(V v) {
        if (is_lost_) return 0;
        if (known(v).seen == changes_) return known(v).to;
        const Value value = of(v);
        if (value.kind == Value::Kind::Given || value.base >= 0) {
            if (known(v).to < 0) known(v).to = value.base;
        } else if (value.kind == Value::Kind::Select) {
            if (known(v).to < 0 || known(v).seen < changes_) select(v, value);
        } else {
            compute(v, value);
        }
        known(v).seen = changes_;
        return known(v).to;
    }

    void compute(V v, const Value& value) {
        std::int32_t from[3] = {-1, -1, -1};
        for (int k = 0; k < 2 && value.args[k] >= 0; ++k) from[k] = reg(value.args[k]);
        const State::Known now = known(v);
        if (now.to >= 0 && std::equal(from, from + 3, now.from)) return;
        std::int32_t to = -1;
        const DType t = value.kind == Value::Kind::Binary ? of(value.args[0]).dtype : value.dtype;
        if (value.kind == Value::Kind::Unary)
            to = emit({Kind::Unary, value.op, t, -1, from[0]});
        else if (value.kind == Value::Kind::Cast)
            to = emit({Kind::Cast, Op::Add, t, -1, from[0]});
        else
            to = binary_step(value, t, from);
        if (now.is_learned) to = emit({Kind::Both, Op::Add, t, -1, to, now.to});
        known(v).to = to;
        std::copy(from, from + 3, known(v).from);
    }

    std::int32_t binary_step(const Value& value, DType t, const std::int32_t* from) {
        if (value.op != Op::Sub) return emit({Kind::Binary, value.op, t, -1, from[0], from[1]});
        const Value b = of(value.args[1]);
        if (b.kind == Value::Kind::Binary && b.op == Op::Fmod && b.args[0] == value.args[0])
            return emit({Kind::Whole, Op::Sub, t, -1, from[0], reg(b.args[1])});
        std::int32_t to = emit({Kind::Binary, Op::Sub, t, -1, from[0], from[1]});
        for (const State::Difference& d : at_.differences) {
            if (d.a == value.args[0] && d.b == value.args[1])
                to = emit({Kind::Apart, Op::Sub, t, -1, to, from[0], from[1], d.least});
        }
        return to;
    }

    /// Each of the two where the condition chooses it.
    void select(V v, const Value& value) {
        const std::int32_t before = known(v).is_learned ? known(v).to : -1;
        std::int32_t to[2];
        for (int k = 0; k < 2; ++k) {
            const V arm = value.args[k + 1];
            if (arm < 0 || value.args[0] < 0) {
                to[k] = arm < 0 ? all_of(value.dtype) : reg(arm);
                continue;
            }
            const State kept = at_;
            learn(value.args[0], k == 0);
            to[k] = reg(arm);
            restore(kept);
        }
        std::int32_t both = emit({Kind::Hull, Op::Add, value.dtype, -1, to[0], to[1]});
        if (before >= 0) both = emit({Kind::Both, Op::Add, value.dtype, -1, both, before});
        known(v).to = both;
    }

    /// Goes back to a state; values that were made since have no registers there.
    void restore(const State& to) {
        at_ = to;
        at_.known.resize(values_.size());
        ++changes_;
    }

    // ---- Conditions

    void learn(V c, bool holds) {
        if (c < 0) return;
        const Value value = of(c);
        if (value.kind == Value::Kind::Unary && value.op == Op::Not)
            return learn(value.args[0], !holds);
        if (value.kind == Value::Kind::Select) return learn_select(value, holds);
        if (value.kind != Value::Kind::Binary) {
            if (is_bool(value.dtype))
                set_learned(c, emit({Kind::Both, Op::Add, DType::Bool, -1, reg(c),
                                     reg(constant(DType::Bool, holds))}));
            return;
        }
        if (value.op == (holds ? Op::And : Op::Or) && is_bool(value.dtype)) {
            learn(value.args[0], holds);
            learn(value.args[1], holds);
            return;
        }
        if (!compares(value.op)) return;
        learn_comparison(holds ? value.op : opposite(value.op), value.args[0], value.args[1]);
    }

    /// c and x, or not c and y.
    void learn_select(const Value& value, bool holds) {
        if (value.args[0] < 0 || !is_bool(value.dtype)) return;
        auto is_constant_of = [&](V v, bool number) {
            const auto found = constants_.find({DType::Bool, number});
            return found != constants_.end() && found->second == v;
        };
        if (is_constant_of(value.args[2], !holds)) {
            learn(value.args[0], true);
            learn(value.args[1], holds);
        } else if (is_constant_of(value.args[1], !holds)) {
            learn(value.args[0], false);
            learn(value.args[2], holds);
        }
    }

    void learn_comparison(Op op, V a, V b) {
        if (op == Op::Gt || op == Op::Ge) {
            std::swap(a, b);
            op = op == Op::Gt ? Op::Lt : Op::Le;
        }
        const DType t = of(a).dtype;
        const std::int32_t x = reg(a), y = reg(b);
        if (op == Op::Ne) {
            set_learned(a, emit({Kind::Unequal, Op::Add, t, -1, x, y}));
            set_learned(b, emit({Kind::Unequal, Op::Add, t, -1, y, x}));
            return;
        }
        const std::int64_t by = op == Op::Lt ? 1 : 0;
        std::int32_t low = emit({Kind::AtMost, Op::Add, t, -1, x, y, -1, -by});
        std::int32_t high = emit({Kind::AtLeast, Op::Add, t, -1, y, x, -1, by});
        if (op == Op::Eq) {
            low = emit({Kind::AtLeast, Op::Add, t, -1, low, y});
            high = emit({Kind::AtMost, Op::Add, t, -1, high, x});
        }
        set_learned(a, low);
        set_learned(b, high);
        if (t == DType::UInt64) return;
        at_.differences.push_back({b, a, by});
        if (op == Op::Eq) at_.differences.push_back({a, b, 0});
    }

    /// The value is in the register here, and so are its operands such that it is.
    void set_learned(V v, std::int32_t to, int depth = 0) {
        State::Known& now = known(v);
        now.to = to;
        now.is_learned = true;
        ++changes_;
        now.seen = changes_;
        const Value value = of(v);
        if (depth >= 4 || value.base >= 0) return;
        const DType t = value.dtype;
        if (value.kind == Value::Kind::Cast && is_integer(t) &&
            is_integer(of(value.args[0]).dtype)) {
            const V a = value.args[0];
            set_learned(a, emit({Kind::Source, Op::Add, t, -1, reg(a), to}), depth + 1);
        } else if (value.kind == Value::Kind::Binary && is_integer(t) &&
                   (value.op == Op::Add || value.op == Op::Sub)) {
            const V a = value.args[0], b = value.args[1];
            const std::int32_t x = reg(a), y = reg(b);
            const bool swaps = value.op == Op::Sub;
            set_learned(a, emit({Kind::Operand, value.op, t, -1, x, to, y}), depth + 1);
            if (a != b)
                set_learned(b, emit({Kind::Operand, value.op, t, -1, y, to, x, swaps}), depth + 1);
        }
        // What the operands are now is what it was computed of.
        for (int k = 0; k < 2 && value.args[k] >= 0; ++k)
            known(v).from[k] = known(value.args[k]).to;
    }

    std::int32_t reached_if(V c, bool holds) {
        if (c < 0) return at_.reached;
        const std::int32_t before = at_.reached < 0 ? reg(constant(DType::Bool, 1)) : at_.reached;
        return emit({Kind::Reached, Op::Add, DType::Bool, -1, before, reg(c), -1, holds});
    }

    /// From here on the condition holds, or does not.
    void assume(V c, bool holds) {
        const std::int32_t reached = reached_if(c, holds);
        learn(c, holds);
        at_.reached = reached;
    }

    // ---- Accesses

    void accesses(E e) {
        for (E a : e->args) accesses(a);
        if (e->kind == ExprKind::Load) access(e->id, e->args, e->access);
    }

    static bool is_tested(Access a) { return a == Access::Checked || a == Access::Wrapped; }

    void access(std::int32_t array, std::span<const E> indices, Access how) {
        if (!is_tested(how)) return;
        const std::vector<V> extents = extents_of(array);
        const bool is_known = !keeps_tests_ && extents.size() == indices.size();
        out_.accesses.push_back(is_known ? out_.proofs++ : -1);
        if (!is_known) return;
        const std::int32_t proof = out_.accesses.back();
        for (std::size_t k = 0; k < indices.size(); ++k) {
            const auto needs = [&](E e) { need_fit(e, proof); };
            wide_index(b_, indices[k], needs);
            V index = value(indices[k]);
            if (counts_from_end(indices[k], how)) {
                index = made({Value::Kind::Binary, Op::Add, DType::Int64, {extents[k], index, -1}});
            }
            emit({Kind::Inside, Op::Add, DType::Int64, -1, reg(index), reg(extents[k]), at_.reached,
                  0, proof});
        }
    }

    void need_fit(E e, std::int32_t proof) {
        const V a = value(e->args[0]);
        const V b = e->kind == ExprKind::Binary ? value(e->args[1]) : -1;
        emit({Kind::Fits, e->op, e->dtype, -1, reg(a), b < 0 ? -1 : reg(b), at_.reached, 0, proof});
    }

    /// Empty where they are not known.
    std::vector<V> extents_of(std::int32_t array) {
        const Array& a = f_.arrays[static_cast<std::size_t>(array)];
        if (a.param < 0 && !a.is_view()) return extents_[static_cast<std::size_t>(array)];
        std::vector<V> all;
        for (int k = 0; k < a.rank; ++k) all.push_back(value(b_.extent(array, k)));
        return all;
    }

    // ---- Statements

    void list(std::span<const S> body) {
        for (S s : body) stmt(s);
    }

    void stmt(S s) {
        if (is_lost_) return;
        switch (s->kind) {
            case StmtKind::For:
            case StmtKind::While: return loop(s);
            case StmtKind::If: return branch(s);
            case StmtKind::Try:
            case StmtKind::Make:
            case StmtKind::Point:
            case StmtKind::Retain: is_lost_ = true; return;
            default: break;
        }
        for (E e : s->args) accesses(e);
        switch (s->kind) {
            case StmtKind::Block: return list(s->body);
            case StmtKind::Declare:
            case StmtKind::Assign: return set(s->id, s->args.empty() ? -1 : value(s->args[0]));
            case StmtKind::Store:
            case StmtKind::Atomic: access(s->id, s->args.first(index_count(*s)), s->access); break;
            case StmtKind::Allocate: allocate(s); break;
            case StmtKind::Break: return leave(&Loop::breaks);
            case StmtKind::Continue: return leave(&Loop::continues);
            case StmtKind::Return: return end();
            default: break;
        }
        for (std::int32_t v : s->outs) set(v, -1);
    }

    void set(std::int32_t var, V v) {
        if (is_followed(f_.vars[static_cast<std::size_t>(var)].dtype))
            at_.vars[static_cast<std::size_t>(var)] = v;
    }

    void allocate(S s) {
        auto& extents = extents_[static_cast<std::size_t>(s->id)];
        extents.clear();
        for (E e : s->args) extents.push_back(value(e));
    }

    /// Nothing comes here.
    void end() {
        at_.is_over = true;
        at_.reached = reg(constant(DType::Bool, 0));
    }

    void leave(std::vector<std::vector<std::int32_t>> Loop::*to) {
        if (!at_.is_over) {
            Loop& loop = loops_.back();
            (loop.*to).push_back(registers_of(loop.vars));
        }
        end();
    }

    std::vector<std::int32_t> registers_of(const std::vector<std::int32_t>& vars) {
        std::vector<std::int32_t> all;
        for (std::int32_t var : vars) {
            const V v = at_.vars[static_cast<std::size_t>(var)];
            all.push_back(v < 0 ? all_of(f_.vars[static_cast<std::size_t>(var)].dtype) : reg(v));
        }
        return all;
    }

    void branch(S s) {
        for (E e : s->args) accesses(e);
        const V c = value(s->args[0]);
        if (only_raises(s)) return raise(s, c);
        const State before = at_;
        assume(c, true);
        list(s->body);
        const State then = at_;
        const auto then_registers = registers_of(changed_since(before, then));
        const auto vars_then = changed_since(before, then);
        restore(before);
        assume(c, false);
        list(s->orelse);
        if (then.is_over) return;  // what holds here holds from here on
        if (at_.is_over) return restore(then);
        meet(before, then, c, vars_then, then_registers);
    }

    static std::vector<std::int32_t> changed_since(const State& before, const State& now) {
        std::vector<std::int32_t> all;
        for (std::size_t k = 0; k < now.vars.size(); ++k) {
            if (now.vars[k] != before.vars[k]) all.push_back(static_cast<std::int32_t>(k));
        }
        return all;
    }

    /// Behind both branches; the state is that of the second one.
    void meet(const State& before, const State& then, V c,
              const std::vector<std::int32_t>& vars_then,
              const std::vector<std::int32_t>& registers_then) {
        struct Met {
            std::int32_t var;
            V a, b;
            std::int32_t from_a, from_b;
        };
        std::vector<Met> met;
        for (std::size_t k = 0; k < at_.vars.size(); ++k) {
            const V a = then.vars[k], b = at_.vars[k];
            if (a == b) continue;
            const auto var = static_cast<std::int32_t>(k);
            std::int32_t from_a = -1;
            const auto at = std::find(vars_then.begin(), vars_then.end(), var);
            if (at != vars_then.end())
                from_a = registers_then[static_cast<std::size_t>(at - vars_then.begin())];
            else if (a >= 0)
                from_a = then.known[static_cast<std::size_t>(a)].to;
            const bool is_known = a >= 0 && b >= 0;
            met.push_back({var, a, b, from_a, is_known ? reg(b) : -1});
        }
        restore(before);
        for (const Met& m : met) {
            V& now = at_.vars[static_cast<std::size_t>(m.var)];
            now = -1;
            if (m.a < 0 || m.b < 0) continue;
            const std::int32_t from_a = m.from_a >= 0 ? m.from_a : reg(m.a);
            const DType t = of(m.b).dtype;
            const std::int32_t to = emit({Kind::Hull, Op::Add, t, -1, from_a, m.from_b});
            now = given(t, to);
            if (!is_bool(t) || c < 0) continue;
            values_[static_cast<std::size_t>(now)].kind = Value::Kind::Select;
            const V parts[] = {c, m.a, m.b};
            std::copy(parts, parts + 3, values_[static_cast<std::size_t>(now)].args);
        }
    }

    void raise(S s, V c) {
        out_.raises.push_back(c < 0 || keeps_tests_ ? -1 : out_.proofs++);
        if (const std::int32_t proof = out_.raises.back(); proof >= 0) {
            emit({Kind::IsFalse, Op::Add, DType::Bool, -1, reg(c), -1, at_.reached, 0, proof});
        }
        const bool outer = std::exchange(keeps_tests_, true);
        const State before = at_;
        list(s->body);
        restore(before);
        keeps_tests_ = outer;
        assume(c, false);
    }

    // ---- Loops

    void loop(S s) {
        const bool is_for = s->kind == StmtKind::For;
        std::int32_t counter = -1;
        if (is_for) {
            for (E e : s->args) accesses(e);
            std::int32_t from[3];
            for (int k = 0; k < 3; ++k) from[k] = reg(value(s->args[static_cast<std::size_t>(k)]));
            counter = emit({Kind::Counter, Op::Add, DType::Int64, -1, from[0], from[1], from[2]});
        }
        Loop made;
        made.vars = changed_in(s);
        const auto before = registers_of(made.vars);
        const State outside = at_;
        const std::int64_t number = static_cast<std::int64_t>(out_.program.loops.size());
        out_.program.loops.emplace_back();
        std::vector<V> carried;
        for (std::size_t k = 0; k < made.vars.size(); ++k) {
            const auto var = static_cast<std::size_t>(made.vars[k]);
            carried.push_back(given(f_.vars[var].dtype, out_.program.add_register()));
            at_.vars[var] = carried.back();
        }
        emit({Kind::Loop, Op::Add, DType::Int64, 0, -1, -1, -1, number});
        V c = -1;
        if (is_for) {
            at_.vars[static_cast<std::size_t>(s->id)] = given(DType::Int64, counter);
            const std::int32_t outer =
                at_.reached < 0 ? reg(constant(DType::Bool, 1)) : at_.reached;
            at_.reached = emit({Kind::Runs, Op::Add, DType::Bool, -1, outer, counter});
        } else {
            accesses(s->args[0]);
            c = value(s->args[0]);
        }
        loops_.push_back(std::move(made));
        const State head = at_;
        if (!is_for) assume(c, true);
        list(s->body);
        if (!at_.is_over) loops_.back().continues.push_back(registers_of(loops_.back().vars));
        end_of_loop(number, before, carried);
        leave_loop(head, outside, carried, c);
    }

    /// Variables of integers that the loop changes and that have a value before it; others have
    /// none that is known, from here on.
    std::vector<std::int32_t> changed_in(S s) {
        std::vector<bool> written(f_.vars.size());
        if (s->kind == StmtKind::For) at_.vars[static_cast<std::size_t>(s->id)] = -1;
        for (S b : s->body) mark_written(b, written);
        std::vector<std::int32_t> changed;
        for (std::size_t k = 0; k < written.size(); ++k) {
            if (!written[k]) continue;
            if (at_.vars[k] >= 0)
                changed.push_back(static_cast<std::int32_t>(k));
            else
                at_.vars[k] = -1;
        }
        return changed;
    }

    /// The union of registers.
    std::int32_t hull(const std::vector<std::vector<std::int32_t>>& all, std::size_t k, DType t) {
        std::int32_t to = all.front()[k];
        for (std::size_t j = 1; j < all.size(); ++j)
            to = emit({Kind::Hull, Op::Add, t, -1, to, all[j][k]});
        return to;
    }

    void end_of_loop(std::int64_t number, const std::vector<std::int32_t>& before,
                     const std::vector<V>& carried) {
        const auto& ends = loops_.back().continues;
        std::vector<IntervalProgram::Carried> all;
        for (std::size_t k = 0; k < carried.size(); ++k) {
            const Value& v = of(carried[k]);
            all.push_back(
                {before[k], v.base, ends.empty() ? v.base : hull(ends, k, v.dtype), v.dtype});
        }
        out_.program.loops[static_cast<std::size_t>(number)].carried = std::move(all);
        emit({Kind::Repeat, Op::Add, DType::Int64, 0, -1, -1, -1, number});
    }

    /// Behind the loop: its condition does not hold, or a break was reached.
    void leave_loop(const State& head, const State& outside, const std::vector<V>& carried, V c) {
        const Loop loop = std::move(loops_.back());
        loops_.pop_back();
        restore(head);
        at_.reached = outside.reached;
        at_.is_over = outside.is_over;
        if (loop.breaks.empty()) {
            if (c >= 0) learn(c, false);
            return forget_inner(outside);
        }
        const State here = at_;
        if (c >= 0) learn(c, false);
        std::vector<std::vector<std::int32_t>> ends = loop.breaks;
        ends.push_back(registers_of(loop.vars));
        restore(here);
        for (std::size_t k = 0; k < loop.vars.size(); ++k) {
            const DType t = of(carried[k]).dtype;
            at_.vars[static_cast<std::size_t>(loop.vars[k])] = given(t, hull(ends, k, t));
        }
        forget_inner(outside);
    }

    /// Variables that the loop alone knows.
    void forget_inner(const State& outside) {
        for (std::size_t k = 0; k < at_.vars.size(); ++k) {
            if (outside.vars[k] < 0) at_.vars[k] = -1;
        }
    }

    Function& f_;
    Builder b_;
    KernelIntervals out_;
    State at_;
    std::int32_t changes_ = 0;
    std::vector<Value> values_;
    std::map<decltype(std::declval<Value>().key()), V> made_;
    std::map<std::pair<DType, std::int64_t>, V> constants_;
    std::map<std::tuple<LaunchInput::Kind, WorkItemQuery, std::int32_t, std::int32_t>, V> inputs_;
    std::map<DType, std::int32_t> types_;
    std::vector<std::vector<V>> extents_;  // of allocated arrays
    std::vector<Loop> loops_;
    bool keeps_tests_ = false;  // in a statement that raises
    bool is_lost_ = false;
};

}  // namespace

std::optional<KernelIntervals> find_kernel_intervals(Function& f) { return Walk(f).run(); }

void number_loops(IntervalProgram& program) {
    for (std::size_t k = 0; k < program.steps.size(); ++k) {
        const Step& s = program.steps[k];
        if (s.kind == Kind::Loop) program.loops[static_cast<std::size_t>(s.number)].first = k + 1;
    }
}

}  // namespace unisono::passes
