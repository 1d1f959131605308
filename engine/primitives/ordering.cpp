// Shapes and dtypes of what orders, searches and selects.
#include "primitives/ordering.h"

namespace unisono::primitives::rules {

void top_k(const TopK& top, Operands operands, Results& results) {
    const Dims leading = operands[0].shape.first(operands[0].shape.size() - 1);
    results.add(operands[0].dtype, leading, {top.k});
    results.add(DType::Int64, leading, {top.k});
}

void places_of_values(const Side&, Operands operands, Results& results) {
    results.add(DType::Int64, operands[1].shape);
}

void distinct(const Distinct& distinct, Operands operands, Results& results) {
    results.add(operands[0].dtype, operands[0].shape);
    results.add(DType::Int64, {});
    for (int k = 0; distinct.places && k < 3; ++k) results.add(DType::Int64, operands[0].shape);
}

}  // namespace unisono::primitives::rules
