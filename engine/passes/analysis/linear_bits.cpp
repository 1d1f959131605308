// An abstract run of the loop: what each bit of each variable depends on.
#include "passes/analysis/linear_bits.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <tuple>

#include "passes/analysis/linear_forms.h"

namespace unisono::passes {

using namespace ir;

namespace {

constexpr std::size_t most_states = 4;

/// Bits of the variables of the short loop at its start, 64 of each.
using Bits = std::bitset<64 * most_states>;

/// What is known of a value: a linear function of the bits at the start, to which something may be
/// added that is the same in all iterations of the loop around.
struct Value {
    enum class Kind : std::uint8_t { Unknown, Fixed, Linear };
    Kind kind = Kind::Unknown;
    bool is_shifted = false;         ///< of Linear: something is added
    std::int64_t number = 0;         ///< equal numbers: the same function, or the same fixed value
    std::optional<std::int64_t> is;  ///< of Fixed: the value itself, where it is known
    std::array<Bits, 64> of{};       ///< of Linear: what each bit depends on

    bool is_fixed() const { return kind == Kind::Fixed; }
    bool is_linear() const { return kind == Kind::Linear; }
    bool is_pure() const { return is_linear() && !is_shifted; }
};

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
int width(DType t) { return is_bool(t) ? 1 : static_cast<int>(size_of(t)) * 8; }
bool has_bits(DType t) { return is_integer(t) || is_bool(t); }

/// The only bit that can be one, or -1.
int only_bit(const Value& v) {
    int found = -1;
    for (int k = 0; k < 64; ++k) {
        if (v.of[at(k)].none()) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

/// The loop as it runs where no bit is set that decides anything.
class Otherwise final : public Rewriter {
  public:
    Otherwise(Function& f, const std::set<const void*>& decided) : Rewriter(f), decided_(decided) {}

    E expr(E e) override {
        if (!decided_.contains(e)) return children(e);
        return e->kind == ExprKind::Select ? expr(e->args[2]) : b_.zero(e->dtype);
    }
    S stmt(S s) override {
        if (!decided_.contains(s)) return children(s);
        return as_one(b_, each(s->orelse));
    }

  private:
    const std::set<const void*>& decided_;
};

/// Runs a short loop on such values.
class Follow {
  public:
    /// `changes`: the variables that the loop around changes.
    Follow(const Function& f, const std::vector<bool>& changes, S loop)
        : f_(f), changes_(changes), loop_(loop), writes_(f.vars.size()) {
        mark_written(loop, writes_);
    }

    std::optional<LinearLoop> through(std::int64_t begin, std::int64_t end) {
        if (!find_states()) return {};
        for (std::int64_t i = begin; i < end; ++i) {
            values_[loop_->id] = fixed(i);
            if (!all(loop_->body)) return {};
        }
        Bits once, often;
        for (std::int32_t v : states_) {
            if (!values_[v].is_pure()) return {};
            for (const Bits& bit : values_[v].of) {
                often |= once & bit;
                once |= bit;
            }
        }
        if (decisive_.none()) decisive_ = often;
        auto both = [&](const void* node) { return open_.contains(node); };
        if (std::any_of(decided_.begin(), decided_.end(), both)) return {};
        LinearLoop found{{}, decided_};
        for (std::size_t n = 0; n < states_.size(); ++n) {
            constexpr Bits low(~0ull);
            const std::uint64_t bits = ((decisive_ >> (n * 64)) & low).to_ullong();
            found.states.push_back({states_[n], writes_[at(states_[n])], bits});
        }
        return found;
    }

  private:
    using Kind = Value::Kind;

    bool find_states() {
        Names names(f_);
        names.stmt(loop_);
        for (std::size_t v = 0; v < f_.vars.size(); ++v) {
            if (names.declared[v] || !(writes_[v] || (names.read[v] && changes_[v]))) continue;
            if (!is_integer(f_.vars[v].dtype) || states_.size() == most_states) return false;
            Value start = linear(++numbers_);
            for (int k = 0; k < width(f_.vars[v].dtype); ++k)
                start.of[at(k)].set(states_.size() * 64 + at(k));
            states_.push_back(static_cast<std::int32_t>(v));
            values_[states_.back()] = start;
        }
        return !states_.empty();
    }

    static Value linear(std::int64_t number) {
        Value v;
        v.kind = Kind::Linear;
        v.number = number;
        return v;
    }
    Value fixed(std::optional<std::int64_t> is = {}) {
        Value v;
        v.kind = Kind::Fixed;
        v.number = ++numbers_;
        v.is = is;
        return v;
    }
    /// Nothing is known of a number that its dtype does not hold.
    Value known(E e, std::optional<std::int64_t> is) {
        const bool holds = is && Scalar::of(e->dtype, *is).as<std::int64_t>() == *is;
        return fixed(holds ? is : std::nullopt);
    }
    /// The same operation on the same functions is the same function.
    Value made(E e, const Value& a, std::int64_t b = 0) {
        const int how = static_cast<int>(e->kind) * 1000 + static_cast<int>(e->op);
        auto key = std::make_tuple(how, static_cast<int>(e->dtype), a.number, b);
        auto [found, is_new] = made_.try_emplace(key, numbers_ + 1);
        if (is_new) ++numbers_;
        Value v = linear(found->second);
        v.is_shifted = a.is_shifted;
        return v;
    }

    bool all(std::span<const S> list) {
        return std::all_of(list.begin(), list.end(), [&](S s) { return statement(s); });
    }

    bool statement(S s) {
        switch (s->kind) {
            case StmtKind::Block: return all(s->body);
            case StmtKind::Declare:
            case StmtKind::Assign: {
                if (s->args.empty() || !has_bits(f_.vars[at(s->id)].dtype)) return false;
                Value v = value(s->args[0]);
                values_[s->id] = v;
                return v.kind != Kind::Unknown;
            }
            case StmtKind::If: return branch(s);
            default: return false;
        }
    }

    /// Both ways from the same start: what they make of a variable may differ by what is fixed.
    bool branch(S s) {
        const Value c = value(s->args[0]);
        if (c.is_fixed() && c.is) {
            open_.insert(s);
            return all(*c.is != 0 ? s->body : s->orelse);
        }
        if (!c.is_pure()) return false;
        decided_.insert(s);
        const std::map<std::int32_t, Value> before = values_;
        if (!all(s->body)) return false;
        const std::map<std::int32_t, Value> taken = std::move(values_);
        values_ = before;
        if (!all(s->orelse)) return false;
        for (auto& [id, otherwise] : values_) {
            auto found = taken.find(id);
            if (found == taken.end()) continue;  // a name of the other branch
            otherwise = chosen(c, found->second, otherwise);
            if (otherwise.kind == Kind::Unknown) return false;
        }
        return true;
    }

    /// `yes` where the only bit of c is set, else `no`.
    Value chosen(const Value& c, const Value& yes, const Value& no) {
        if (yes.kind != no.kind) return {};
        if (yes.is_fixed()) {
            if (yes.number == no.number || (yes.is && yes.is == no.is)) return no;
            return no.is == 0 ? spread(c, linear(++numbers_)) : Value{};
        }
        if (!yes.is_linear() || yes.number != no.number) return {};
        if (!yes.is_shifted && !no.is_shifted) return no;
        Value v = linear(++numbers_);
        v.is_shifted = no.is_shifted;
        v.of = no.of;
        return spread(c, v);
    }

    /// v plus something fixed where the only bit of c is set.
    Value spread(const Value& c, Value v) {
        const Bits deciding = c.of[at(std::max(only_bit(c), 0))];
        decisive_ |= deciding;
        for (Bits& bit : v.of) bit |= deciding;
        return v;
    }

    Value value(E e) {
        if (!has_bits(e->dtype)) return {};
        Value v = computed(e);
        for (int k = width(e->dtype); k < 64; ++k) v.of[at(k)] = {};
        return v;
    }

    Value computed(E e) {
        switch (e->kind) {
            case ExprKind::Const: return fixed(Scalar{e->bits, e->dtype}.as<std::int64_t>());
            case ExprKind::Param: return e->field == Field::Value ? fixed() : Value{};
            case ExprKind::Var: {
                auto found = values_.find(e->id);
                if (found != values_.end()) return found->second;
                return writes_[at(e->id)] || changes_[at(e->id)] ? Value{} : fixed();
            }
            case ExprKind::Cast: return cast(e, value(e->args[0]));
            case ExprKind::Select: {
                const Value c = value(e->args[0]);
                if (!c.is_pure()) return {};
                decided_.insert(e);
                const Value yes = value(e->args[1]);
                return chosen(c, yes, value(e->args[2]));
            }
            case ExprKind::Unary: {
                const Value a = value(e->args[0]);
                if (!a.is_fixed()) return e->op == Op::Neg ? times(e, a) : Value{};
                open_.insert(e);
                return fixed();
            }
            case ExprKind::Binary: {
                const Value a = value(e->args[0]);
                return binary(e, a, value(e->args[1]));
            }
            default: return {};
        }
    }

    Value cast(E e, const Value& a) {
        if (a.is_fixed()) return known(e, a.is);
        if (!a.is_linear()) return {};
        Value v = made(e, a);
        const DType from = e->args[0]->dtype;
        if (is_bool(e->dtype)) {
            const int k = only_bit(a);
            if (a.is_shifted || k < 0) return {};
            v.of[0] = a.of[at(k)];
            return v;
        }
        v.of = a.of;
        for (int k = width(from); k < 64 && is_signed(from); ++k)
            v.of[at(k)] = a.of[at(width(from) - 1)];
        return v;
    }

    Value binary(E e, const Value& a, const Value& b) {
        if (a.kind == Kind::Unknown || b.kind == Kind::Unknown) return {};
        if (a.is_fixed() && b.is_fixed()) {
            open_.insert(e);
            return number(e, a, b);
        }
        switch (e->op) {
            case Op::Xor: return sum(e, a, b);
            case Op::Or: {
                if (!a.is_pure() || !b.is_pure()) return {};
                for (std::size_t k = 0; k < 64; ++k) {
                    if (a.of[k].any() && b.of[k].any()) return {};
                }
                return sum(e, a, b);
            }
            case Op::And: return a.is_fixed() ? masked(e, b, a) : masked(e, a, b);
            case Op::Mul: return a.is_fixed() ? times(e, b) : times(e, a);
            case Op::Shl:
            case Op::Shr: return moved(e, a, b);
            case Op::Ne:
            case Op::Eq: return compared(e, a, b);
            default: return {};
        }
    }

    Value number(E e, const Value& a, const Value& b) {
        const bool are_small = a.is && b.is && is_small(*a.is) && is_small(*b.is);
        switch (e->op) {
            case Op::Add: return are_small ? known(e, *a.is + *b.is) : fixed();
            case Op::Sub: return are_small ? known(e, *a.is - *b.is) : fixed();
            case Op::Lt: return are_small ? fixed(*a.is < *b.is) : fixed();
            case Op::Ge: return are_small ? fixed(*a.is >= *b.is) : fixed();
            case Op::Mul:
            case Op::And:
            case Op::Or:
            case Op::Xor:
            case Op::Shl:
            case Op::Shr: return fixed();
            default: return {};
        }
    }

    Value sum(E e, const Value& a, const Value& b) {
        if (a.is_fixed() || b.is_fixed()) {
            Value v = a.is_fixed() ? b : a;
            v.is_shifted = true;
            return v;
        }
        Value v = made(e, a, b.number);
        v.is_shifted = a.is_shifted || b.is_shifted;
        for (std::size_t k = 0; k < 64; ++k) v.of[k] = a.of[k] | b.of[k];
        return v;
    }

    Value masked(E e, const Value& a, const Value& mask) {
        if (!mask.is_fixed()) return {};
        Value v = mask.is ? made(e, a, *mask.is) : linear(++numbers_);
        v.is_shifted = a.is_shifted;
        for (int k = 0; k < 64; ++k) {
            if (!mask.is || (static_cast<std::uint64_t>(*mask.is) >> k) & 1)
                v.of[at(k)] = a.of[at(k)];
        }
        return v;
    }

    /// Something fixed where the number is one, else zero.
    Value times(E e, const Value& a) {
        if (!a.is_pure() || only_bit(a) != 0) return {};
        decided_.insert(e);
        return spread(a, linear(++numbers_));
    }

    Value moved(E e, const Value& a, const Value& by) {
        const int bits = width(e->dtype);
        if (!a.is_linear() || !by.is || *by.is < 0 || *by.is >= bits) return {};
        Value v = made(e, a, *by.is);
        const int up = static_cast<int>(e->op == Op::Shl ? *by.is : -*by.is);
        for (int k = 0; k < bits; ++k) {
            const int from = k - up;
            if (from >= 0 && from < bits) v.of[at(k)] = a.of[at(from)];
            if (from >= bits && is_signed(e->dtype)) v.of[at(k)] = a.of[at(bits - 1)];
        }
        return v;
    }

    /// Whether the only bit is set: (x & 4) != 0, (x & 4) == 4.
    Value compared(E e, const Value& a, const Value& b) {
        const Value& x = a.is_fixed() ? b : a;
        const std::optional<std::int64_t> with = a.is_fixed() ? a.is : b.is;
        const int k = x.is_pure() ? only_bit(x) : -1;
        if (k < 0 || !with) return {};
        if (e->op == Op::Ne ? *with != 0
                            : static_cast<std::uint64_t>(*with) != std::uint64_t{1} << k)
            return {};
        Value v = made(e, x, *with);
        v.of[0] = x.of[at(k)];
        return v;
    }

    const Function& f_;
    const std::vector<bool>& changes_;
    S loop_;
    std::vector<bool> writes_;
    std::map<std::int32_t, Value> values_;  ///< of variables
    std::vector<std::int32_t> states_;      ///< see LinearLoop
    Bits decisive_;                         ///< of all states
    std::set<const void*> decided_;         ///< nodes that a bit decides
    std::set<const void*> open_;            ///< and those that none decides
    std::int64_t numbers_ = 0;
    std::map<std::tuple<int, int, std::int64_t, std::int64_t>, std::int64_t> made_;
};

}  // namespace

S LinearLoop::otherwise(Function& f, S loop) const { return Otherwise(f, decided).stmt(loop); }

std::optional<LinearLoop> linear_loop(const Function& f, const std::vector<bool>& changes, S loop,
                                      std::int64_t begin, std::int64_t end) {
    return Follow(f, changes, loop).through(begin, end);
}

}  // namespace unisono::passes
