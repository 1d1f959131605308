// Follows conversions, sums and products down to what is of 64 bits already.
#include "passes/analysis/intervals/wide_index.h"

#include "passes/cleanup/simplify.h"

namespace unisono::passes {

using namespace ir;

bool counts_from_end(E index, Access access) {
    std::int64_t number = 0;
    return access == Access::Wrapped && is_constant(index, number) && number < 0;
}

namespace {
/// An int64 with the number, or of 64 bits with the bits, that the integer has.
E widened(Builder& b, E e, const std::function<void(E)>& needs) {
    const bool is_half = e->dtype == DType::Int32 || e->dtype == DType::UInt32;
    const bool is_whole = e->dtype == DType::Int64 || e->dtype == DType::UInt64;
    if (e->kind == ExprKind::Const && (is_half || is_whole))
        return b.i64(Scalar{e->bits, e->dtype}.as<std::int64_t>());
    if (e->kind == ExprKind::Cast && is_integer(e->args[0]->dtype) && (is_half || is_whole)) {
        if (is_half && needs) needs(e);
        return widened(b, e->args[0], needs);
    }
    const bool is_sum =
        e->kind == ExprKind::Binary && (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul);
    if (is_sum && (is_half || is_whole)) {
        if (is_half && needs) needs(e);
        const E x = widened(b, e->args[0], needs), y = widened(b, e->args[1], needs);
        if (x == e->args[0] && y == e->args[1]) return e;
        return simplified(b, b.binary(e->op, x, y));
    }
    return b.cast(e, DType::Int64);
}
}  // namespace

E wide_index(Builder& b, E index, const std::function<void(E)>& needs) {
    return widened(b, index, needs);
}

}  // namespace unisono::passes
