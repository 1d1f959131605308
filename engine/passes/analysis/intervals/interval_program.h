// Programs over intervals: what the numbers of a launch say about the values in a kernel.
//
// A program is a list of steps over registers, each of which holds an interval of what an
// expression may be in any work-item. It is written once per kernel (kernels/prove_accesses.h) and
// run once per launch, which takes some nanoseconds a step. Loops of the kernel are loops of the
// program: their variables are widened until a round changes nothing.
//
// An interval without values is that of code that no work-item reaches. A result that may wrap in
// its type may be any value of the type. Integers of 64 bits without a sign stand for the signed
// ones with the same bits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace unisono::passes {

struct Interval {
    std::int64_t lo = 0, hi = 0;  ///< both included
    bool operator==(const Interval&) const = default;
    bool is_empty() const { return lo > hi; }
    bool is_one() const { return lo == hi; }
    static constexpr Interval none() {
        return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    }
    /// All values of an integer type or of bool.
    static Interval of_type(DType t);
};

/// A number of the launch that a program reads.
struct LaunchInput {
    enum class Kind : std::uint8_t { Value, Extent, WorkItem };
    Kind kind = Kind::Value;
    ir::WorkItemQuery query = ir::WorkItemQuery::GlobalId;
    DType dtype = DType::Int64;  ///< of a Value
    std::int32_t param = -1;
    std::int32_t axis = 0;
    std::int32_t to = -1;  ///< the register
    bool operator==(const LaunchInput&) const = default;
};

struct IntervalStep {
    enum class Kind : std::uint8_t {
        Unary,    ///< op of a
        Binary,   ///< op of a and b
        Cast,     ///< a, an integer or bool, as `dtype`
        Whole,    ///< a - fmod(a, b)
        Hull,     ///< a or b
        AtMost,   ///< a where a <= b + number
        AtLeast,  ///< a where a >= b + number
        Unequal,  ///< a where a != b
        Both,     ///< a where it is in b, too
        Operand,  ///< a where a op c is in b, or c op a for number 1; op is Add or Sub
        Source,   ///< a where its conversion to `dtype` is in b
        Apart,    ///< a, a difference b - c, where b - c >= number
        Counter,  ///< of a loop from a to b in steps of c
        Reached,  ///< bool: a, and b may be true (number 1) or false (number 0)
        Runs,     ///< bool: a, and b is not empty
        Copy,     ///< a
        Loop,     ///< begin of loop `number`
        Repeat,   ///< end of loop `number`
        Inside,   ///< holds where 0 <= a < b, or where c is false
        IsFalse,  ///< holds where a is false, or where c is false
        Fits,     ///< holds where a op b, or the conversion of a, loses no bits in `dtype`
    };
    Kind kind;
    Op op = Op::Add;
    DType dtype = DType::Int64;
    std::int32_t to = -1, a = -1, b = -1, c = -1;
    std::int64_t number = 0;
    std::int32_t proof = -1;  ///< Inside, IsFalse, Fits: what it is part of
};

class IntervalProgram {
  public:
    std::vector<LaunchInput> inputs;
    std::vector<Interval> registers;  ///< with the values of constants
    std::vector<IntervalStep> steps;
    /// A variable that a loop changes: registers with its value before, at the start of a round,
    /// and at its end.
    struct Carried {
        std::int32_t before, at, after;
        DType dtype;
    };
    struct Loop {
        std::size_t first = 0;  ///< step behind its Loop
        std::vector<Carried> carried;
    };
    std::vector<Loop> loops;

    std::int32_t add_register(Interval value = {}) {
        registers.push_back(value);
        return static_cast<std::int32_t>(registers.size() - 1);
    }
    /// The proof that fails where the inputs have these values; -1 where all hold.
    std::int32_t run(std::span<const Interval> values) const;
};

}  // namespace unisono::passes
