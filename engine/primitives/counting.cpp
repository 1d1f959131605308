// Shapes and dtypes of scans, segments and counts.
#include "primitives/counting.h"

namespace unisono::primitives::rules {

void segments(const Segments&, Operands operands, Results& results) {
    results.add(operands[0].dtype, operands[1].shape);
}

void numbers(const Counting& counting, Operands, Results& results) {
    results.add(counting.weighted ? DType::Float64 : DType::Int64, {}, {counting.bins});
}

void bins(const Binning& binning, Operands operands, Results& results) {
    results.add(binning.weighted ? DType::Float64 : DType::Int64, {}, {operands[1].shape[0] - 1});
}

}  // namespace unisono::primitives::rules
