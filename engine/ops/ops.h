// Scalar operations: the enum and its properties, from ops.def, and their type rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dtype.h"
#include "core/scalar.h"

namespace unisono {

enum class Op : std::uint8_t {
#define UNISONO_OP(Name, ...) Name,
#include "ops/ops.def"
};

enum class OpRule : std::uint8_t {
    Arith,
    Any,
    Float,
    Math,
    Bits,
    Logic,
    Compare,
    Whole,
    Test,
    Count
};
enum class OpIdentity : std::uint8_t { none, zero, one, lowest, highest, ones };
enum class OpDomain : std::uint8_t { any, positive, small, nonzero };

struct OpInfo {
    std::string_view name;
    std::uint8_t arity;
    OpRule rule;
    std::string_view numpy_name;
    std::string_view c_spelling;
    std::string_view algebra;
    std::string_view identity;
    OpDomain domain;
};

inline constexpr OpInfo op_infos[] = {
#define UNISONO_OP(Name, name, arity, rule, numpy, c, algebra, identity, domain) \
    {name, arity, OpRule::rule, numpy, c, algebra, #identity, OpDomain::domain},
#include "ops/ops.def"
};
inline constexpr int op_count = static_cast<int>(sizeof(op_infos) / sizeof(op_infos[0]));

constexpr const OpInfo& info(Op op) { return op_infos[static_cast<int>(op)]; }
constexpr std::string_view name(Op op) { return info(op).name; }
constexpr bool is_comparison(Op op) { return info(op).rule == OpRule::Compare; }
/// A mathematical function: costs many operations, and its bits are ours (docs/numbers.md).
constexpr bool is_math(Op op) { return info(op).rule == OpRule::Math || op == Op::Power; }
/// Defined on floats only, and in NumPy computed in float for integers.
constexpr bool is_float_function(Op op) {
    OpRule rule = info(op).rule;
    return rule == OpRule::Float || rule == OpRule::Math || rule == OpRule::Test;
}
/// Costs as much as ten additions or more.
constexpr bool is_costly(Op op) {
    return is_math(op) || op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod || op == Op::Gcd ||
           op == Op::Lcm || op == Op::NextAfter || op == Op::Ldexp;
}

/// The operation that raises floats to that power, where there is one besides Power.
constexpr std::optional<Op> op_of_half_power(double exponent) {
    if (exponent == 0.5) return Op::Sqrt;
    if (exponent == -0.5) return Op::InverseRoot;
    if (exponent == 1.5) return Op::ThreeHalves;
    if (exponent == -1.5) return Op::InverseThreeHalves;
    return {};
}
constexpr bool is_half_power(Op op) {
    return op == Op::InverseRoot || op == Op::ThreeHalves || op == Op::InverseThreeHalves;
}

/// Whether op takes complex operands; block runs it (ops/complex_rules.h).
constexpr bool defined_on_complex(Op op) {
    switch (info(op).rule) {
        case OpRule::Compare: return true;
        case OpRule::Math: return info(op).arity == 1 && op != Op::Cbrt && !is_half_power(op);
        case OpRule::Test: return op != Op::SignBit;
        case OpRule::Any: return true;
        case OpRule::Arith: return op != Op::FloorDiv && op != Op::Mod && op != Op::Fmod;
        case OpRule::Float: return op == Op::Sqrt || op == Op::Div || op == Op::Rint;
        default: return false;
    }
}

/// Result dtype where all operands have dtype t, or nothing where the operation is not defined on
/// t.
std::optional<DType> result_dtype(Op op, DType t);

/// The dtype to which NumPy casts the operands of op whose common dtype is t (int / int computes in
/// float64, sqrt of int32 in float64), or nothing where NumPy refuses.
std::optional<DType> compute_dtype(Op op, DType t);

/// Identity of the reduction by op on dtype t; op must have one.
Scalar identity(Op op, DType t);

/// The operation of that NumPy name.
std::optional<Op> op_from_numpy_name(std::string_view name);

}  // namespace unisono
