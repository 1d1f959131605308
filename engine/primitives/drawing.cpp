// Shapes and dtypes of random numbers.
#include "primitives/drawing.h"

namespace unisono::primitives::rules {

void drawn(const Drawing& drawing, Operands, Results& results) {
    results.add(drawing.dtype, drawing.shape.shape());
}

void drawn_integers(const Range& range, Operands, Results& results) {
    results.add(range.dtype, range.shape.shape());
}

void permutations(const Permuting& permuting, Operands, Results& results) {
    results.add(DType::Int64, {}, {permuting.count, permuting.n});
}

}  // namespace unisono::primitives::rules
