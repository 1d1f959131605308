// Interval arithmetic with the wrap of each integer type, and the loop that runs a program.
#include "passes/analysis/intervals/interval_program.h"

#include <algorithm>
#include <bit>

namespace unisono::passes {

namespace {

__extension__ using Wide = __int128;
using Kind = IntervalStep::Kind;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

bool contains(const Interval& all, const Interval& part) {
    return all.lo <= part.lo && part.hi <= all.hi;
}

Interval both(const Interval& a, const Interval& b) {
    return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

std::int64_t saturated(Wide value) {
    return static_cast<std::int64_t>(std::clamp<Wide>(value, lowest, highest));
}

/// As computed in the type: all of it where the result may wrap.
Interval in_type(Wide lo, Wide hi, DType t) {
    const Interval all = Interval::of_type(t);
    if (lo < all.lo || hi > all.hi) return all;
    return {static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
}

/// Whether comparisons, quotients and shifts of the bits are those of the numbers.
bool is_ordered(DType t, const Interval& a) { return t != DType::UInt64 || a.lo >= 0; }

struct WideInterval {
    Wide lo, hi;
};

/// Without wrapping; of Add, Sub and Mul.
WideInterval exact(Op op, const Interval& a, const Interval& b) {
    if (op == Op::Add) return {Wide{a.lo} + b.lo, Wide{a.hi} + b.hi};
    if (op == Op::Sub) return {Wide{a.lo} - b.hi, Wide{a.hi} - b.lo};
    const Wide ends[] = {Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo,
                         Wide{a.hi} * b.hi};
    return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

bool fits(const WideInterval& value, DType t) {
    const Interval all = Interval::of_type(t);
    return value.lo >= all.lo && value.hi <= all.hi;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/// By a positive divisor.
Interval quotient(const Interval& a, const Interval& b) {
    const std::int64_t ends[] = {floor_quotient(a.lo, b.lo), floor_quotient(a.lo, b.hi),
                                 floor_quotient(a.hi, b.lo), floor_quotient(a.hi, b.hi)};
    return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

/// Python's remainder, by a positive divisor.
Interval remainder(const Interval& a, const Interval& b) {
    if (a.lo >= 0 && a.hi < b.lo) return a;
    if (b.is_one() && floor_quotient(a.lo, b.lo) == floor_quotient(a.hi, b.lo)) {
        const Wide least = Wide{floor_quotient(a.lo, b.lo)} * b.lo;
        return {static_cast<std::int64_t>(a.lo - least), static_cast<std::int64_t>(a.hi - least)};
    }
    return {0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
}

/// C's remainder, by a positive divisor: it has the sign of a.
Interval signed_remainder(const Interval& a, const Interval& b) {
    if (a.lo >= 0) return remainder(a, b);
    return {std::max(a.lo, 1 - b.hi), a.hi <= 0 ? 0 : std::min(a.hi, b.hi - 1)};
}

Interval shifted_left(const Interval& a, const Interval& by, DType t) {
    const std::int64_t bits = 8 * size_of(t);
    if (by.lo < 0 || by.hi >= bits) return Interval::of_type(t);
    const Wide least = Wide{1} << by.lo, most = Wide{1} << by.hi;
    return in_type(a.lo < 0 ? a.lo * most : a.lo * least, a.hi < 0 ? a.hi * least : a.hi * most, t);
}

Interval shifted_right(const Interval& a, const Interval& by, DType t) {
    if (by.lo < 0 || by.hi >= 63) {
        const Interval all = Interval::of_type(t);
        return {a.lo < 0 ? a.lo : 0, a.hi < 0 ? -1 : std::min(a.hi, all.hi)};
    }
    return {a.lo >> (a.lo < 0 ? by.lo : by.hi), a.hi >> (a.hi < 0 ? by.hi : by.lo)};
}

/// The least number of ones that is not below a value.
std::int64_t ones_over(std::int64_t value) {
    const auto width = std::bit_width(static_cast<std::uint64_t>(value));
    return width >= 63 ? highest : (std::int64_t{1} << width) - 1;
}

Interval of_bits(Op op, const Interval& a, const Interval& b, DType t) {
    if (is_bool(t) && op != Op::Xor) {
        return op == Op::And ? Interval{std::min(a.lo, b.lo), std::min(a.hi, b.hi)}
                             : Interval{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    if (op == Op::And && (a.lo >= 0 || b.lo >= 0)) {
        const std::int64_t most = std::min(a.lo >= 0 ? a.hi : highest, b.lo >= 0 ? b.hi : highest);
        return {0, most};
    }
    if (a.lo < 0 || b.lo < 0) return Interval::of_type(t);
    const std::int64_t most = ones_over(std::max(a.hi, b.hi));
    return {op == Op::Or ? std::max(a.lo, b.lo) : 0, most};
}

/// 1: always, 0: never, -1: not known.
int compared(Op op, const Interval& a, const Interval& b) {
    switch (op) {
        case Op::Lt: return a.hi < b.lo ? 1 : a.lo >= b.hi ? 0 : -1;
        case Op::Le: return a.hi <= b.lo ? 1 : a.lo > b.hi ? 0 : -1;
        case Op::Gt: return compared(Op::Lt, b, a);
        case Op::Ge: return compared(Op::Le, b, a);
        case Op::Eq:
            if (a.hi < b.lo || b.hi < a.lo) return 0;
            return a.is_one() && a == b ? 1 : -1;
        default: {
            const int equal = compared(Op::Eq, a, b);
            return equal < 0 ? -1 : 1 - equal;
        }
    }
}

bool compares(Op op) {
    return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge || op == Op::Eq ||
           op == Op::Ne;
}

Interval comparison(Op op, DType t, const Interval& a, const Interval& b) {
    const bool is_equality = op == Op::Eq || op == Op::Ne;
    if (!is_equality && !(is_ordered(t, a) && is_ordered(t, b))) return {0, 1};
    const int known = compared(op, a, b);
    return known < 0 ? Interval{0, 1} : Interval{known, known};
}

/// `t` is the type of the operands.
Interval binary(Op op, DType t, const Interval& a, const Interval& b) {
    if (a.is_empty() || b.is_empty()) return Interval::none();
    if (compares(op)) return comparison(op, t, a, b);
    const bool is_ordered_here = is_ordered(t, a) && is_ordered(t, b);
    const Interval all = Interval::of_type(t);
    switch (op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul: {
            const WideInterval value = exact(op, a, b);
            return in_type(value.lo, value.hi, t);
        }
        case Op::FloorDiv: return is_ordered_here && b.lo > 0 ? quotient(a, b) : all;
        case Op::Mod: return is_ordered_here && b.lo > 0 ? remainder(a, b) : all;
        case Op::Fmod: return is_ordered_here && b.lo > 0 ? signed_remainder(a, b) : all;
        case Op::Min:
            return is_ordered_here ? Interval{std::min(a.lo, b.lo), std::min(a.hi, b.hi)} : all;
        case Op::Max:
            return is_ordered_here ? Interval{std::max(a.lo, b.lo), std::max(a.hi, b.hi)} : all;
        case Op::And:
        case Op::Or:
        case Op::Xor: return both(of_bits(op, a, b, t), all);
        case Op::Shl: return shifted_left(a, b, t);
        case Op::Shr: return is_ordered_here ? shifted_right(a, b, t) : all;
        default: return all;
    }
}

Interval unary(Op op, DType t, const Interval& a) {
    if (a.is_empty()) return a;
    const Interval all = Interval::of_type(t);
    switch (op) {
        case Op::Neg: return in_type(-Wide{a.hi}, -Wide{a.lo}, t);
        case Op::Abs:
            if (a.lo >= 0) return a;
            if (!is_signed(t)) return all;
            return in_type(a.hi < 0 ? -Wide{a.hi} : Wide{0}, std::max(-Wide{a.lo}, Wide{a.hi}), t);
        case Op::Not: return {1 - a.hi, 1 - a.lo};
        case Op::Invert: return is_signed(t) ? Interval{~a.hi, ~a.lo} : all;
        default: return all;
    }
}

Interval converted(const Interval& a, DType to) {
    if (a.is_empty()) return a;
    if (is_bool(to)) {
        if (a == Interval{0, 0}) return a;
        return {a.lo > 0 || a.hi < 0 ? 1 : 0, 1};
    }
    return in_type(a.lo, a.hi, to);
}

/// a - fmod(a, b): the multiple of b that is next to a, towards 0.
Interval whole(const Interval& a, const Interval& b, DType t) {
    if (a.is_empty() || b.is_empty()) return Interval::none();
    if (b.lo <= 0 || !is_ordered(t, a)) return Interval::of_type(t);
    if (b.is_one()) return {a.lo - a.lo % b.lo, a.hi - a.hi % b.lo};
    return {std::min<std::int64_t>(a.lo, 0), std::max<std::int64_t>(a.hi, 0)};
}

Interval hull(const Interval& a, const Interval& b) {
    if (a.is_empty()) return b;
    if (b.is_empty()) return a;
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval at_most(const Interval& a, const Interval& b, std::int64_t number, DType t) {
    if (b.is_empty()) return b;
    if (!is_ordered(t, b)) return a;
    const Interval below{t == DType::UInt64 ? 0 : lowest, saturated(Wide{b.hi} + number)};
    return both(a, below);
}

Interval at_least(const Interval& a, const Interval& b, std::int64_t number, DType t) {
    if (b.is_empty()) return b;
    if (!is_ordered(t, b) || !is_ordered(t, a)) return a;
    return both(a, {saturated(Wide{b.lo} + number), highest});
}

Interval unequal(Interval a, const Interval& b) {
    if (b.is_empty()) return b;
    if (!b.is_one() || a.is_empty()) return a;
    if (a.lo == b.lo) {
        if (a.is_one()) return Interval::none();
        ++a.lo;
    } else if (a.hi == b.lo) {
        --a.hi;
    }
    return a;
}

/// a where a op c (with `swapped`, c op a) is in `result`, unless that may have wrapped.
Interval operand(Op op, const Interval& a, const Interval& result, const Interval& c, bool swapped,
                 DType t) {
    if (a.is_empty() || result.is_empty() || c.is_empty()) return Interval::none();
    if (!fits(swapped ? exact(op, c, a) : exact(op, a, c), t)) return a;
    WideInterval back{};
    if (op == Op::Add)
        back = {Wide{result.lo} - c.hi, Wide{result.hi} - c.lo};
    else if (!swapped)
        back = {Wide{result.lo} + c.lo, Wide{result.hi} + c.hi};
    else
        back = {Wide{c.lo} - result.hi, Wide{c.hi} - result.lo};
    return both(a, {saturated(back.lo), saturated(back.hi)});
}

Interval apart(const Interval& a, const Interval& b, const Interval& c, std::int64_t least,
               DType t) {
    if (a.is_empty() || b.is_empty() || c.is_empty() || !fits(exact(Op::Sub, b, c), t)) return a;
    return both(a, {least, highest});
}

Interval counter(const Interval& begin, const Interval& end, const Interval& step) {
    if (begin.is_empty() || end.is_empty() || step.is_empty()) return Interval::none();
    const Interval up{begin.lo, saturated(Wide{end.hi} - 1)};
    const Interval down{saturated(Wide{end.lo} + 1), begin.hi};
    if (step.lo > 0) return up;
    if (step.hi < 0) return down;
    return hull(up, down);
}

class Run {
  public:
    Run(const IntervalProgram& program, std::span<const Interval> values) : program_(program) {
        if (program.registers.size() > std::size(few_)) many_.resize(program.registers.size());
        r_ = many_.empty() ? few_ : many_.data();
        std::copy(program.registers.begin(), program.registers.end(), r_);
        for (std::size_t k = 0; k < values.size(); ++k)
            r_[static_cast<std::size_t>(program.inputs[k].to)] = values[k];
    }

    std::int32_t result() {
        std::size_t left = 64 * (program_.steps.size() + 16);  // nested loops multiply
        for (std::size_t k = 0; k < program_.steps.size();) {
            const IntervalStep& step = program_.steps[k++];
            if (--left == 0) return 0;
            if (step.proof >= 0) {
                if (!holds(step)) return step.proof;
            } else if (step.kind == Kind::Loop) {
                begin(program_.loops[static_cast<std::size_t>(step.number)]);
            } else if (step.kind == Kind::Repeat) {
                const IntervalProgram::Loop& loop =
                    program_.loops[static_cast<std::size_t>(step.number)];
                if (widens(loop)) k = loop.first;
            } else {
                reg(step.to) = value(step);
            }
        }
        return -1;
    }

  private:
    Interval& reg(std::int32_t k) { return r_[static_cast<std::size_t>(k)]; }

    void begin(const IntervalProgram::Loop& loop) {
        for (const auto& c : loop.carried) reg(c.at) = reg(c.before);
    }
    /// Whether a round has left the intervals at its start; those grow to any value on that side.
    bool widens(const IntervalProgram::Loop& loop) {
        bool grows = false;
        for (const auto& c : loop.carried) {
            const Interval after = reg(c.after);
            Interval& at = reg(c.at);
            if (after.is_empty() || contains(at, after)) continue;
            grows = true;
            if (at.is_empty()) {
                at = after;
                continue;
            }
            const Interval all = Interval::of_type(c.dtype);
            if (after.lo < at.lo) at.lo = all.lo;
            if (after.hi > at.hi) at.hi = all.hi;
        }
        return grows;
    }

    bool holds(const IntervalStep& s) {
        if (s.c >= 0 && reg(s.c).hi <= 0) return true;
        const Interval a = reg(s.a);
        if (a.is_empty()) return true;
        switch (s.kind) {
            case Kind::Inside: return a.lo >= 0 && (reg(s.b).is_empty() || a.hi < reg(s.b).lo);
            case Kind::IsFalse: return a.hi <= 0;
            default: break;
        }
        if (s.b < 0) return contains(Interval::of_type(s.dtype), a);
        return reg(s.b).is_empty() || fits(exact(s.op, a, reg(s.b)), s.dtype);
    }

    Interval value(const IntervalStep& s) {
        const Interval a = reg(s.a);
        switch (s.kind) {
            case Kind::Unary: return unary(s.op, s.dtype, a);
            case Kind::Binary: return binary(s.op, s.dtype, a, reg(s.b));
            case Kind::Cast: return converted(a, s.dtype);
            case Kind::Whole: return whole(a, reg(s.b), s.dtype);
            case Kind::Hull: return hull(a, reg(s.b));
            case Kind::AtMost: return at_most(a, reg(s.b), s.number, s.dtype);
            case Kind::AtLeast: return at_least(a, reg(s.b), s.number, s.dtype);
            case Kind::Unequal: return unequal(a, reg(s.b));
            case Kind::Both: return both(a, reg(s.b));
            case Kind::Operand: return operand(s.op, a, reg(s.b), reg(s.c), s.number != 0, s.dtype);
            case Kind::Source:
                return contains(Interval::of_type(s.dtype), a) ? both(a, reg(s.b)) : a;
            case Kind::Apart: return apart(a, reg(s.b), reg(s.c), s.number, s.dtype);
            case Kind::Counter: return counter(a, reg(s.b), reg(s.c));
            case Kind::Reached: {
                const Interval b = reg(s.b);
                const bool can = !b.is_empty() && (s.number ? b.hi > 0 : b.lo <= 0);
                return can ? a : Interval{0, 0};
            }
            case Kind::Runs: return reg(s.b).is_empty() ? Interval{0, 0} : a;
            default: return a;
        }
    }

    const IntervalProgram& program_;
    Interval few_[64];
    std::vector<Interval> many_;
    Interval* r_ = nullptr;
};

}  // namespace

Interval Interval::of_type(DType t) {
    if (is_bool(t)) return {0, 1};
    const std::int64_t bits = 8 * size_of(t);
    if (bits >= 64) return {lowest, highest};
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return is_signed(t) ? Interval{-half, half - 1} : Interval{0, 2 * half - 1};
}

std::int32_t IntervalProgram::run(std::span<const Interval> values) const {
    return Run(*this, values).result();
}

}  // namespace unisono::passes
