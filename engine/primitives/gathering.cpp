// Shapes and dtypes of elements at positions and under masks.
#include "primitives/gathering.h"

namespace unisono::primitives {

std::int64_t BlockAxes::size() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= shape[k];
    return n;
}

void BlockAxes::add(std::int64_t extent, std::int64_t table_stride, std::int64_t row_stride) {
    if (extent == 1) return;
    int k = rank - 1;
    if (k >= 0 && table[k] == table_stride * extent && rows[k] == row_stride * extent) {
        shape[k] *= extent;
    } else {
        k = rank++;
        shape[k] = extent;
    }
    table[k] = table_stride;
    rows[k] = row_stride;
}

namespace rules {

void taken(const Taking& taking, Operands operands, Results& results) {
    results.add(operands[0].dtype, taking.shape.shape());
}

void selected(const Selecting& selecting, Operands operands, Results& results) {
    results.add(operands[0].dtype, {}, {selecting.total});
}

}  // namespace rules

}  // namespace unisono::primitives
