// Type rules and identities of the scalar operations.
#include "ops/ops.h"

#include <limits>

#include "core/error.h"

namespace unisono {

std::optional<DType> result_dtype(Op op, DType t) {
    if (is_complex(t)) {
        if (!defined_on_complex(op)) return std::nullopt;
        OpRule rule = info(op).rule;
        if (rule == OpRule::Compare || rule == OpRule::Test) return DType::Bool;
        return op == Op::Abs ? part_dtype(t) : t;
    }
    switch (info(op).rule) {
        case OpRule::Arith:
            // NumPy's add and multiply of bools are logical or and and; callers map them before
            // they come here.
            return is_bool(t) ? std::nullopt : std::optional(t);
        case OpRule::Any: return t;
        case OpRule::Float:
        case OpRule::Math: return is_float(t) ? std::optional(t) : std::nullopt;
        case OpRule::Bits: return is_float(t) ? std::nullopt : std::optional(t);
        case OpRule::Logic: return is_bool(t) ? std::optional(t) : std::nullopt;
        case OpRule::Compare: return DType::Bool;
        case OpRule::Whole: return is_integer(t) ? std::optional(t) : std::nullopt;
        case OpRule::Test: return is_float(t) ? std::optional(DType::Bool) : std::nullopt;
        case OpRule::Count: return is_integer(t) ? std::optional(DType::UInt8) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<DType> compute_dtype(Op op, DType t) {
    if (info(op).rule == OpRule::Logic) return DType::Bool;
    if (result_dtype(op, t)) return t;
    // Of bools NumPy counts with these in its smallest integers.
    bool counts = op == Op::FloorDiv || op == Op::Mod || op == Op::Fmod || op == Op::Shl ||
                  op == Op::Shr || op == Op::Power || op == Op::BitCount;
    if (is_bool(t) && counts) return DType::Int8;
    // Divisions of integers are float64's; functions take the smallest float that NumPy gives them.
    if (is_float_function(op) && !is_complex(t))
        return op == Op::Div ? DType::Float64 : promote(t, DType::Float16);
    return std::nullopt;
}

Scalar identity(Op op, DType t) {
    std::string_view kind = info(op).identity;
    if (kind == "0") return Scalar::of(t, 0);
    if (kind == "1") return Scalar::of(t, 1);
    if (kind == "ones") return is_bool(t) ? Scalar::of(t, true) : Scalar::of(t, -1);
    UNISONO_ASSERT(kind == "lowest" || kind == "highest");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_half(t)) return Scalar::of(t, kind == "lowest" ? -infinity : infinity);
    return dispatch(t, [&]<class C>() {
        Scalar s;
        s.dtype = t;
        using L = std::numeric_limits<C>;
        if constexpr (L::has_infinity) {
            s.set(kind == "lowest" ? -L::infinity() : L::infinity());
        } else {
            s.set(kind == "lowest" ? L::lowest() : L::max());
        }
        return s;
    });
}

std::optional<Op> op_from_numpy_name(std::string_view wanted) {
    for (int i = 0; i < op_count; ++i) {
        if (op_infos[i].numpy_name == wanted) return static_cast<Op>(i);
    }
    return std::nullopt;
}

}  // namespace unisono
