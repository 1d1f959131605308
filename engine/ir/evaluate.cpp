// Evaluates expressions of parameters by the reference rules for scalars.
#include "ir/evaluate.h"

#include <algorithm>

#include "ops/scalar_eval.h"

namespace unisono::ir {

bool is_param_expression(E e) {
    switch (e->kind) {
        case ExprKind::Var:
        case ExprKind::Load:
        case ExprKind::Memory:
        case ExprKind::WorkItem: return false;
        default: return std::all_of(e->args.begin(), e->args.end(), is_param_expression);
    }
}

Scalar evaluate(E e, const ParamReader& read, const ValueReader& read_value) {
    auto operand = [&](std::size_t i) { return evaluate(e->args[i], read, read_value); };
    switch (e->kind) {
        case ExprKind::Const: return {e->bits, e->dtype};
        case ExprKind::Param: return {read(e->id, e->field, e->axis), e->dtype};
        case ExprKind::Var:
        case ExprKind::Load:
        case ExprKind::Memory: UNISONO_ASSERT(read_value); return {read_value(e), e->dtype};
        case ExprKind::Cast: return cast(operand(0), e->dtype);
        case ExprKind::Bitcast: return {operand(0).bits, e->dtype};
        case ExprKind::Select: return operand(operand(0).as<bool>() ? 1 : 2);
        case ExprKind::Unary: return eval(e->op, operand(0));
        case ExprKind::Binary: return eval(e->op, operand(0), operand(1));
        case ExprKind::Fma: return fused_multiply_add(operand(0), operand(1), operand(2));
        default: break;
    }
    UNISONO_ASSERT(!"an expression of parameters");
    return {};
}

}  // namespace unisono::ir
