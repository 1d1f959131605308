// Operations on complex numbers as operations on their parts.
#pragma once

#include <functional>
#include <utility>

#include "ir/build.h"

namespace unisono::passes {

struct Parts {
    ir::E re = nullptr, im = nullptr;
};

/// Makes the formulas: operands are parts that may be read often; `name` keeps a value in a
/// variable and returns the expression that reads it. Without float64 what complex64 needs is
/// computed in float32, with scales of its range.
class ComplexFormulas {
  public:
    ComplexFormulas(ir::Builder& b, std::function<ir::E(ir::E)> name, bool has_float64)
        : b_(b), name_(std::move(name)), has_float64_(has_float64) {}

    static bool knows(Op op);
    Parts unary(Op op, Parts a);
    Parts binary(Op op, Parts a, Parts b);
    ir::E compare(Op op, Parts a, Parts b);
    ir::E test(Op op, Parts a);
    ir::E absolute(Parts a);

  private:
    Parts product(Parts a, Parts b);
    Parts quotient(Parts a, Parts b);
    Parts sign(Parts a);
    Parts wide_unary(Op op, Parts a);
    Parts exponential(Parts a);
    Parts logarithm(Parts a);
    Parts root(Parts a);
    Parts power(Parts a, Parts b);
    Parts exponential_less_one(Parts a);
    Parts hyperbolic_sine(Parts a);
    Parts hyperbolic_cosine(Parts a);
    Parts hyperbolic_tangent(Parts a);
    std::pair<Parts, Parts> roots_beside_one(Parts a);
    Parts arcsine(Parts a);
    Parts arccosine(Parts a);
    Parts area_tangent(Parts a);
    Parts widened(Parts a);
    Parts rounded(Parts a, DType t);
    ir::E log_of_size(Parts a);
    ir::E less(Parts a, Parts b, bool or_equal);
    ir::E equal(Parts a, Parts b);
    ir::E is_nan(Parts a);
    ir::E magnitude(ir::E x, ir::E y);
    /// A bound or scale: of float64, or of float32.
    static double of_range(ir::E like, double wide, double single) {
        return like->dtype == DType::Float64 ? wide : single;
    }
    Parts chosen(ir::E condition, Parts yes, Parts no);
    Parts named(Parts a) { return {name_(a.re), name_(a.im)}; }

    ir::Builder& b_;
    std::function<ir::E(ir::E)> name_;
    bool has_float64_;
};

}  // namespace unisono::passes
