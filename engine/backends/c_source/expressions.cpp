// Expressions as C text, with only the parentheses that C's precedence or a reader needs.
#include <array>
#include <charconv>
#include <cmath>

#include "backends/c_source/helpers.h"
#include "backends/c_source/writer.h"

namespace unisono::c_source {
using namespace ir;

namespace {

// How tightly C's operators bind. Bit operators are written as if they bound loosest: C's own order
// surprises readers.
enum Precedence {
    any = 0,
    ternary = 1,
    logical_or = 2,
    logical_and = 3,
    bits = 4,
    equality = 5,
    relation = 6,
    sum = 7,
    product = 8,
    prefix = 9,
    primary = 10
};

struct Operator {
    std::string_view spelling;
    Precedence precedence;
};
constexpr std::array operators = {
    Operator{"+", sum},       Operator{"-", sum},       Operator{"*", product},
    Operator{"/", product},   Operator{"<", relation},  Operator{"<=", relation},
    Operator{">", relation},  Operator{">=", relation}, Operator{"==", equality},
    Operator{"!=", equality}, Operator{"&", bits},      Operator{"|", bits},
    Operator{"^", bits},
};

/// The operator of a spelling "($0 + $1)" in ops.def, or an empty one.
Operator infix(std::string_view spelling) {
    if (!spelling.starts_with("($0 ") || !spelling.ends_with(" $1)")) return {"", any};
    std::string_view middle = spelling.substr(4, spelling.size() - 8);
    for (const Operator& o : operators) {
        if (o.spelling == middle) return o;
    }
    return {"", any};
}

/// Plain C operators of operations that ops.def leaves to helpers: right for floats, and for
/// integers that cannot wrap.
std::string_view plain(Op op) {
    switch (op) {
        case Op::Add: return "($0 + $1)";
        case Op::Sub: return "($0 - $1)";
        case Op::Mul: return "($0 * $1)";
        default: return info(op).c_spelling;
    }
}

std::string replaced(std::string_view spelling, std::span<const std::string> operands, DType t) {
    std::string out;
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        if (spelling[i] != '$') {
            out += spelling[i];
        } else if (spelling[++i] == 'T') {
            out += c_type(t);
        } else {
            out += operands[static_cast<std::size_t>(spelling[i] - '0')];
        }
    }
    return out;
}

template <class T>
std::string shortest(T v) {
    std::array<char, 40> buffer{};
    auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
    std::string text(buffer.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return sizeof(T) == 4 ? text + "f" : text;
}

}  // namespace

Text Writer::literal(Scalar s) {
    switch (s.dtype) {
        case DType::Bool: return {s.as<bool>() ? "true" : "false", primary};
        case DType::Float16: return {std::to_string(s.bits), primary};
        case DType::Float32:
        case DType::Float64: {
            bool single = s.dtype == DType::Float32;
            double v = s.as<double>();
            if (!std::isfinite(v)) {
                std::string bits_text =
                    single ? std::to_string(static_cast<std::uint32_t>(s.bits)) + "u"
                           : std::to_string(s.bits) + "ul";
                return {bits_as(bits_text, single ? DType::Int32 : DType::Int64, s.dtype), primary};
            }
            return {single ? shortest(s.get<float>()) : shortest(v),
                    std::signbit(v) ? prefix : primary};
        }
        default: break;
    }
    if (s.dtype == DType::UInt64 || s.dtype == DType::UInt32)
        return {std::to_string(s.bits) + (s.dtype == DType::UInt64 ? "ul" : "u"), primary};
    auto v = s.as<std::int64_t>();
    if (v == INT64_MIN) return {"(-9223372036854775807L - 1)", primary};
    if (v == INT32_MIN) return {"(-2147483647 - 1)", primary};
    std::string text = std::to_string(v);
    if (v > INT32_MAX || v < INT32_MIN) text += "L";
    return {text, v < 0 ? prefix : primary};
}

std::string Writer::value(E e, int at_least, bool in_index) {
    Text t = expression(e, in_index);
    return t.precedence < at_least ? "(" + t.text + ")" : t.text;
}

std::string Writer::part(std::int32_t param, Field field, std::int32_t axis) {
    auto found = part_names_.find({param, field, axis});
    UNISONO_ASSERT(found != part_names_.end());
    return found->second;
}

Text Writer::expression(E e, bool in_index) {
    need_type(e->dtype, e->line, "an expression");
    switch (e->kind) {
        case ExprKind::Const: return literal({e->bits, e->dtype});
        case ExprKind::Var: return {var_names_.at(e->id), primary};
        case ExprKind::Param: {
            std::string name = part(e->id, e->field, e->axis);
            if (e->field == Field::Value && is_bool(e->dtype) && is_kernel(current_))
                return {name + " != 0", equality};
            return {name, primary};
        }
        case ExprKind::Load: {
            std::string text = element(e->id, e->args, e->access, e->axis);
            if (is_bool(e->dtype)) return {text + " != 0", equality};
            return {text, primary};
        }
        case ExprKind::Unary: return unary(e, in_index);
        case ExprKind::Binary: return binary(e, in_index);
        case ExprKind::Select:
            return {value(e->args[0], logical_or) + " ? " +
                        value(e->args[1], logical_or, in_index) + " : " +
                        value(e->args[2], logical_or, in_index),
                    ternary};
        case ExprKind::Cast: return conversion(e);
        case ExprKind::Bitcast:
            return {bits_as(value(e->args[0]), e->args[0]->dtype, e->dtype), primary};
        case ExprKind::Fma:
            return {"fma(" + value(e->args[0]) + ", " + value(e->args[1]) + ", " +
                        value(e->args[2]) + ")",
                    primary};
        case ExprKind::Part:
        case ExprKind::Pair: UNISONO_ASSERT(!"complex numbers were split before");
        case ExprKind::Memory:
            unsupported(e->line, "the address of an array is not known on this device");
        case ExprKind::WorkItem: return {work_item(e->query, dimension_of(e->axis)), prefix};
    }
    return {};
}

/// A bound of |e|, infinite where nothing is known. Extents, strides and work-item ids lie far
/// below 2^62.
double Writer::magnitude(E e) const {
    constexpr double size_limit = 281474976710656.0;  // 2^48
    constexpr double unknown = HUGE_VAL;
    switch (e->kind) {
        case ExprKind::Const:
            return is_float(e->dtype) ? unknown : std::fabs(Scalar{e->bits, e->dtype}.as<double>());
        case ExprKind::Param: return e->field == Field::Value ? unknown : size_limit;
        case ExprKind::WorkItem: return size_limit;
        case ExprKind::Var: {
            auto found = var_magnitudes_.find(e->id);
            return found == var_magnitudes_.end() ? unknown : found->second;
        }
        case ExprKind::Cast:
            return size_of(e->args[0]->dtype) == 1   ? 255
                   : size_of(e->args[0]->dtype) == 2 ? 65535
                   : size_of(e->dtype) == 8          ? magnitude(e->args[0])
                                                     : unknown;
        case ExprKind::Select: return std::max(magnitude(e->args[1]), magnitude(e->args[2]));
        case ExprKind::Unary:
            return e->op == Op::Neg || e->op == Op::Abs ? magnitude(e->args[0]) : unknown;
        case ExprKind::Binary: {
            double a = magnitude(e->args[0]), b = magnitude(e->args[1]);
            switch (e->op) {
                case Op::Add:
                case Op::Sub: return a + b;
                case Op::Mul: return a * b;
                case Op::Min:
                case Op::Max: return std::max(a, b);
                case Op::FloorDiv: return a;
                case Op::Mod: return b;
                default: return unknown;
            }
        }
        default: return unknown;
    }
}

bool Writer::cannot_wrap(E e) const { return e->dtype == DType::Int64 && magnitude(e) < 4e18; }

Text Writer::unary(E e, bool in_index) {
    in_index = in_index || cannot_wrap(e);
    DType t = e->args[0]->dtype;
    if (e->op == Op::Neg) {
        if (is_float(t) || in_index) return {"-" + value(e->args[0], primary, in_index), prefix};
        return {helper(e->op, t) + "(" + value(e->args[0]) + ")", primary};
    }
    if (e->op == Op::Not) return {"!" + value(e->args[0], primary), prefix};
    std::string_view spelling = info(e->op).c_spelling;
    if (spelling.starts_with("@"))
        return {helper(e->op, t) + "(" + value(e->args[0]) + ")", primary};
    std::string operand = value(e->args[0]);
    return {replaced(spelling, std::span(&operand, 1), t), primary};
}

Text Writer::binary(E e, bool in_index) {
    if (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul)
        in_index = in_index || cannot_wrap(e);
    DType t = e->args[0]->dtype;
    std::string_view spelling = info(e->op).c_spelling;
    if (is_bool(t) && e->op == Op::And) {
        return {value(e->args[0], logical_and) + " && " + value(e->args[1], logical_and + 1),
                logical_and};
    }
    if (is_bool(t) && e->op == Op::Or) {
        // Parentheses unless simple or a chain: compilers warn of && inside ||.
        bool is_chain = e->args[0]->kind == ExprKind::Binary && e->args[0]->op == Op::Or;
        return {value(e->args[0], is_chain ? logical_or : bits) + " || " + value(e->args[1], bits),
                logical_or};
    }
    if (is_bool(t) && e->op == Op::Xor) spelling = "($0 != $1)";
    if (is_float(t) || (in_index && t == DType::Int64)) spelling = plain(e->op);
    if (spelling.starts_with("@")) {
        return {helper(e->op, t) + "(" + value(e->args[0]) + ", " + value(e->args[1]) + ")",
                primary};
    }
    Operator o = infix(spelling);
    if (o.precedence == any) {
        std::array operands{value(e->args[0]), value(e->args[1])};
        return {replaced(spelling, operands, t), primary};
    }
    // Operands of comparisons and bit operators stand in parentheses where they are operators of
    // that class themselves.
    bool is_arithmetic = o.precedence == sum || o.precedence == product;
    int left = is_arithmetic ? o.precedence : o.precedence == bits ? prefix : sum;
    int right = is_arithmetic ? o.precedence + 1 : left;
    bool inner = in_index && is_arithmetic;
    return {value(e->args[0], left, inner) + " " + std::string(o.spelling) + " " +
                value(e->args[1], right, inner),
            o.precedence};
}

std::string Writer::need_cast_helper(DType from, DType to) {
    if (is_half(to) && from == DType::Float64) need_cast_helper(DType::Float32, to);
    if (is_float(from) && is_integer(to)) {
        if (size_of(to) < 4)
            need_cast_helper(from, DType::Int32);
        else if (is_unsigned(to))
            need_cast_helper(from, dtype_of('i', size_of(to)));
    }
    Helper h = cast_helper(from, to);
    if (!h.name.empty() && helpers_.emplace(h.name, h.text).second) helper_order_.push_back(h.name);
    return h.name;
}

Text Writer::conversion(E e) {
    DType from = e->args[0]->dtype;
    std::string name = need_cast_helper(from, e->dtype);
    if (!name.empty()) return {name + "(" + value(e->args[0]) + ")", primary};
    if (is_bool(e->dtype)) return {value(e->args[0], sum) + " != 0", equality};
    return {"(" + std::string(c_type(e->dtype)) + ")" + value(e->args[0], primary), prefix};
}

std::string Writer::index(std::int32_t array, std::span<const E> indices, Access access) {
    UNISONO_ASSERT(access == Access::Linear || access == Access::Inside);
    if (access == Access::Linear) return value(indices[0], any, true);
    const Array& a = f().arrays[static_cast<std::size_t>(array)];
    std::string out;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        std::string factor;
        if (a.param < 0) {
            for (std::size_t k = axis + 1; k < indices.size(); ++k) {
                std::string extent = value(usage().allocations.at(array)->args[k], product + 1);
                factor += (factor.empty() ? "" : " * ") + extent;
            }
        } else {
            switch (a.strides[axis]) {
                case StrideClass::Zero: continue;
                case StrideClass::One: break;
                case StrideClass::MinusOne: factor = "-1"; break;
                case StrideClass::Other:
                    factor = part(a.param, Field::Stride, static_cast<std::int32_t>(axis));
            }
        }
        std::string term = factor.empty() ? value(indices[axis], sum, true)
                                          : value(indices[axis], product, true) + " * " + factor;
        out += (out.empty() ? "" : " + ") + term;
    }
    return out.empty() ? "0" : out;
}

/// Elements of complex arrays are vectors of two, accessed by parts.
std::string Writer::element(std::int32_t array, std::span<const E> indices, Access access,
                            int part) {
    bool is_pair = is_complex(f().arrays[static_cast<std::size_t>(array)].dtype);
    return array_names_.at(array) + "[" + index(array, indices, access) + "]" +
           (!is_pair    ? ""
            : part == 0 ? ".x"
                        : ".y");
}

std::string Writer::combined(Op op, DType t) {
    std::string_view spelling = is_float(t) ? plain(op) : info(op).c_spelling;
    std::array<std::string, 2> operands{"seen", "value"};
    const DType computed = is_half(t) ? DType::Float32 : t;
    if (is_half(t)) {
        for (std::string& o : operands) o = need_cast_helper(t, computed) + "(" + o + ")";
    }
    std::string made = spelling.starts_with("@")
                           ? helper(op, computed) + "(" + operands[0] + ", " + operands[1] + ")"
                           : replaced(spelling, operands, computed);
    return is_half(t) ? need_cast_helper(computed, t) + "(" + made + ")" : made;
}

std::string Writer::helper(Op op, DType t) {
    Helper h = op_helper(op, t);
    if (helpers_.emplace(h.name, h.text).second) helper_order_.push_back(h.name);
    return h.name;
}

}  // namespace unisono::c_source
