// Formulas over nodes of the IR, written as C++ writes them.
#pragma once

#include <limits>

#include "ir/build.h"

namespace unisono::passes {

/// A real number in a formula; builds where `building` points.
inline thread_local ir::Builder* building = nullptr;

struct N {
    ir::E e;
    N(ir::E node) : e(node) {}  // NOLINT(google-explicit-constructor): expressions read as text
};
inline N constant(N like, double value) { return building->number(like.e->dtype, value); }
inline N operator+(N a, N b) { return building->add(a.e, b.e); }
inline N operator-(N a, N b) { return building->sub(a.e, b.e); }
inline N operator*(N a, N b) { return building->mul(a.e, b.e); }
inline N operator/(N a, N b) { return building->binary(Op::Div, a.e, b.e); }
inline N operator-(N a) { return building->unary(Op::Neg, a.e); }
inline N operator<(N a, N b) { return building->binary(Op::Lt, a.e, b.e); }
inline N operator<=(N a, N b) { return building->binary(Op::Le, a.e, b.e); }
inline N operator>(N a, N b) { return building->binary(Op::Gt, a.e, b.e); }
inline N operator>=(N a, N b) { return building->binary(Op::Ge, a.e, b.e); }
inline N operator==(N a, N b) { return building->binary(Op::Eq, a.e, b.e); }
inline N operator!=(N a, N b) { return building->binary(Op::Ne, a.e, b.e); }
inline N operator&(N a, N b) { return building->binary(Op::And, a.e, b.e); }
inline N operator|(N a, N b) { return building->binary(Op::Or, a.e, b.e); }
inline N operator!(N a) { return building->unary(Op::Not, a.e); }
inline N operator+(N a, double c) { return a + constant(a, c); }
inline N operator-(N a, double c) { return a - constant(a, c); }
inline N operator*(N a, double c) { return a * constant(a, c); }
inline N operator<(N a, double c) { return a < constant(a, c); }
inline N operator>(N a, double c) { return a > constant(a, c); }
inline N operator==(N a, double c) { return a == constant(a, c); }
inline N select(N c, N a, N b) { return building->select(c.e, a.e, b.e); }
inline N fabs(N a) { return building->unary(Op::Abs, a.e); }
inline N sqrt(N a) { return building->unary(Op::Sqrt, a.e); }
inline N call(Op op, N a) { return building->unary(op, a.e); }
inline N call(Op op, N a, N b) { return building->binary(op, a.e, b.e); }
inline N with_sign(N size, N sign) { return building->binary(Op::CopySign, size.e, sign.e); }
inline N fma(N a, N b, N c) { return building->fma(a.e, b.e, c.e); }
inline N is_infinite(N a) { return call(Op::IsInf, a); }
inline N is_finite(N a) { return call(Op::IsFinite, a); }

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace unisono::passes
