// The text of each helper: docs/ir.md's tables, written in the common subset of the C dialects.
#include "backends/c_source/helpers.h"

#include "core/error.h"

namespace unisono::c_source {

std::string_view c_type(DType t) { return is_bool(t) ? "bool" : info(t).c_name; }

std::string_view c_unsigned(DType t) {
    // Narrow types are promoted to int in C; uint keeps their arithmetic unsigned.
    return size_of(t) == 8 ? "ulong" : "uint";
}

/// Replaces $T by the type, $U by the unsigned type, $W by the width in bits, $F by "f" for float.
static std::string fill(std::string_view text, DType t) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            out += text[i];
            continue;
        }
        switch (text[++i]) {
            case 'T': out += c_type(t); break;
            case 'U': out += c_unsigned(t); break;
            case 'W': out += std::to_string(8 * size_of(t)); break;
            case 'F': out += t == DType::Float32 ? "f" : ""; break;
            default: out += text[i];
        }
    }
    return out;
}

// NumPy's npy_divmod without its floating-point status.
static constexpr std::string_view float_floordiv =
    "    if (b == 0) return a / b;\n"
    "    $T mod = fmod(a, b);\n"
    "    $T div = (a - mod) / b;\n"
    "    if (mod != 0 && (b < 0) != (mod < 0)) div -= 1.0$F;\n"
    "    if (div == 0) return copysign(($T)0, a / b);\n"
    "    $T whole = floor(div);\n"
    "    return div - whole > 0.5$F ? whole + 1.0$F : whole;\n";
static constexpr std::string_view float_mod =
    "    $T mod = fmod(a, b);\n"
    "    if (b == 0) return mod;\n"
    "    if (mod == 0) return copysign(($T)0, b);\n"
    "    return (b < 0) != (mod < 0) ? mod + b : mod;\n";
static constexpr std::string_view signed_floordiv =
    "    if (b == 0) return 0;\n"
    "    if (b == -1) return ($T)(0 - ($U)a);\n"
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);\n";
static constexpr std::string_view signed_mod =
    "    if (b == 0 || b == -1) return 0;\n"
    "    $T rest = a % b;\n"
    "    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n";

#define UNISONO_POWER                             \
    "    $U result = 1, factor = ($U)a;\n"        \
    "    for ($U n = ($U)b; n != 0; n >>= 1) {\n" \
    "        if (n & 1) result *= factor;\n"      \
    "        factor *= factor;\n"                 \
    "    }\n"                                     \
    "    return ($T)result;\n"
static constexpr std::string_view unsigned_power = UNISONO_POWER;
static constexpr std::string_view signed_power = "    if (b < 0) return 0;\n" UNISONO_POWER;
#undef UNISONO_POWER
static constexpr std::string_view scale =
    "    $T n = !(b > -5000) ? -5000 : b < 5000 ? b : 5000;\n"
    "    return ldexp(a, (int)n);\n";
#define UNISONO_GCD(magnitude_a, magnitude_b)      \
    "    $U x = " magnitude_a ", y = " magnitude_b \
    ";\n"                                          \
    "    while (y != 0) {\n"                       \
    "        $U rest = x % y;\n"                   \
    "        x = y;\n"                             \
    "        y = rest;\n"                          \
    "    }\n"
#define UNISONO_SIZE(x) "(" #x " < 0 ? 0 - ($U)" #x " : ($U)" #x ")"
static constexpr std::string_view signed_gcd =
    UNISONO_GCD(UNISONO_SIZE(a), UNISONO_SIZE(b)) "    return ($T)x;\n";
static constexpr std::string_view unsigned_gcd = UNISONO_GCD("a", "b") "    return ($T)x;\n";
static constexpr std::string_view signed_lcm =
    UNISONO_GCD(UNISONO_SIZE(a), UNISONO_SIZE(b)) "    return x == 0 ? 0 : ($T)(" UNISONO_SIZE(
        a) " / x * " UNISONO_SIZE(b) ");\n";
static constexpr std::string_view unsigned_lcm =
    UNISONO_GCD("a", "b") "    return x == 0 ? 0 : ($T)(($U)a / x * b);\n";
#undef UNISONO_GCD
#undef UNISONO_SIZE

static std::string_view body(Op op, DType t) {
    bool f = is_float(t), b = is_bool(t), has_sign = is_signed(t);
    switch (op) {
        case Op::Neg: return "    return ($T)(0 - ($U)a);\n";
        case Op::Abs:
            return f          ? "    return fabs(a);\n"
                   : has_sign ? "    return a < 0 ? ($T)(0 - ($U)a) : a;\n"
                              : "    return a;\n";
        case Op::Invert: return b ? "    return !a;\n" : "    return ($T)~a;\n";
        case Op::Add: return "    return ($T)(($U)a + ($U)b);\n";
        case Op::Sub: return "    return ($T)(($U)a - ($U)b);\n";
        case Op::Mul: return "    return ($T)(($U)a * ($U)b);\n";
        case Op::FloorDiv:
            return f          ? float_floordiv
                   : has_sign ? signed_floordiv
                              : "    return b == 0 ? 0 : ($T)(a / b);\n";
        case Op::Mod:
            return f ? float_mod : has_sign ? signed_mod : "    return b == 0 ? 0 : ($T)(a % b);\n";
        case Op::Min:
            return f   ? "    return ((a <= b) | (a != a)) ? a : b;\n"
                   : b ? "    return a && b;\n"
                       : "    return a <= b ? a : b;\n";
        case Op::Max:
            return f   ? "    return ((a >= b) | (a != a)) ? a : b;\n"
                   : b ? "    return a || b;\n"
                       : "    return a >= b ? a : b;\n";
        case Op::Shl: return "    return b < 0 || b >= $W ? 0 : ($T)(($U)a << b);\n";
        case Op::Shr:
            return has_sign ? "    return b < 0 || b >= $W ? (a < 0 ? -1 : 0) : a >> b;\n"
                            : "    return b >= $W ? 0 : ($T)(a >> b);\n";
        case Op::Power:
            return f ? "    return pow(a, b);\n" : has_sign ? signed_power : unsigned_power;
        case Op::Sign:
            return f          ? "    return a != a ? a : a > 0 ? 1.0$F : a < 0 ? -1.0$F : 0.0$F;\n"
                   : has_sign ? "    return (a > 0) - (a < 0);\n"
                              : "    return a > 0;\n";
        case Op::IsNan: return "    return a != a;\n";
        case Op::IsInf: return "    return fabs(a) == INFINITY;\n";
        case Op::IsFinite: return "    return fabs(a) < INFINITY;\n";
        case Op::SignBit: return "    return copysign(1.0$F, a) < 0;\n";
        case Op::Fmod:
            return f          ? "    return fmod(a, b);\n"
                   : has_sign ? "    return b == 0 || b == -1 ? 0 : a % b;\n"
                              : "    return b == 0 ? 0 : ($T)(a % b);\n";
        case Op::Fmin:
            return f   ? "    return a <= b || b != b ? a : b;\n"
                   : b ? "    return a && b;\n"
                       : "    return a <= b ? a : b;\n";
        case Op::Fmax:
            return f   ? "    return a >= b || b != b ? a : b;\n"
                   : b ? "    return a || b;\n"
                       : "    return a >= b ? a : b;\n";
        case Op::NextAfter: return "    return a != a ? a : nextafter(a, b);\n";
        case Op::Ldexp: return scale;
        case Op::Exponent:
            return "    int e = 0;\n"
                   "    frexp(a, &e);\n"
                   "    return fabs(a) < INFINITY ? ($T)e : 0;\n";
        case Op::Gcd: return has_sign ? signed_gcd : unsigned_gcd;
        case Op::Lcm: return has_sign ? signed_lcm : unsigned_lcm;
        case Op::BitCount:
            return has_sign ? "    return (uchar)popcount(a < 0 ? 0 - ($U)a : ($U)a);\n"
                            : "    return (uchar)popcount(a);\n";
        default: break;
    }
    UNISONO_ASSERT(!"an operation without a C helper");
    return {};
}

Helper op_helper(Op op, DType t) {
    std::string name = "un_" + std::string(unisono::name(op)) + "_" + std::string(c_type(t));
    std::string type(c_type(t));
    std::string text = std::string(c_type(*result_dtype(op, t))) + " " + name + "(" + type + " a" +
                       (info(op).arity == 2 ? ", " + type + " b" : "") + ")\n{\n";
    // Never negative: the comparison would only draw a warning.
    std::string_view lines = is_unsigned(t) && op == Op::Shl
                                 ? "    return b >= $W ? 0 : ($T)(($U)a << b);\n"
                                 : body(op, t);
    return {name, text + fill(lines, t) + "}\n"};
}

/// float16 lies in a ushort; only float becomes it and comes from it directly.
static Helper half_helper(DType from, DType to) {
    if (is_half(from)) {
        return {"un_float_from_half",
                "float un_float_from_half(ushort a)\n{\n"
                "    return vload_half(0, (const half*)&a);\n}\n"};
    }
    UNISONO_ASSERT(is_half(to) && is_float(from));
    if (from == DType::Float32) {
        return {"un_half_from_float",
                "ushort un_half_from_float(float a)\n{\n"
                "    ushort bits;\n"
                "    vstore_half_rte(a, 0, (half*)&bits);\n"
                "    return bits;\n}\n"};
    }
    // The last bit of the float says whether bits were lost: rounding that rounds once.
    return {"un_half_from_double",
            "ushort un_half_from_double(double a)\n{\n"
            "    const ulong word = as_ulong(a), lost = (1ul << 29) - 1;\n"
            "    const ulong odd = (word & lost) != 0 ? lost + 1 : 0;\n"
            "    return un_half_from_float((float)as_double((word & ~lost) | odd));\n}\n"};
}

Helper cast_helper(DType from, DType to) {
    if (is_half(from) || is_half(to)) return half_helper(from, to);
    if (!is_float(from) || is_float(to) || is_bool(to)) return {};
    std::string name = "un_" + std::string(c_type(to)) + "_from_" + std::string(c_type(from));
    std::string head =
        std::string(c_type(to)) + " " + name + "(" + std::string(c_type(from)) + " a)\n{\n";
    std::string_view source = from == DType::Float32 ? "float" : "double";
    auto through = [&](DType t) {
        return "un_" + std::string(c_type(t)) + "_from_" + std::string(source);
    };
    std::string lines;
    // The bounds are exact in the source's format; a NaN fails both tests.
    if (size_of(to) < 4) {
        lines = "    return ($T)" + through(DType::Int32) + "(a);\n";
        return {name, head + fill(lines, to) + "}\n"};
    }
    if (is_unsigned(to)) {
        // The upper half of the range as the lower one, with the top bit set.
        std::string low = through(dtype_of('i', size_of(to)));
        std::string half = size_of(to) == 8 ? "9223372036854775808.0$F" : "2147483648.0$F";
        std::string type(c_type(to));
        lines = "    return a >= " + half + " ? (" + type + ")" + low + "(a - " + half + ") ^ ((" +
                type + ")1 << " + std::to_string(8 * size_of(to) - 1) + ") : (" + type + ")" + low +
                "(a);\n";
    } else if (to == DType::Int64) {
        lines =
            "    return a >= -9223372036854775808.0$F && a < 9223372036854775808.0$F\n"
            "        ? (long)a : (-9223372036854775807L - 1);\n";
    } else {
        lines = from == DType::Float32 ? "    return a >= -2147483648.0f && a < 2147483648.0f ? "
                                         "(int)a : (-2147483647 - 1);\n"
                                       : "    return a > -2147483649.0 && a < 2147483648.0 ? "
                                         "(int)a : (-2147483647 - 1);\n";
    }
    return {name, head + fill(lines, from) + "}\n"};
}

}  // namespace unisono::c_source
