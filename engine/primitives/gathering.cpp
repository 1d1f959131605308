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

void counts_of_blocks(const NoAttributes&, Operands operands, Results& results) {
    const std::int64_t size = element_count(operands[0].shape);
    results.add(DType::Int64, {}, {(size + mask_block - 1) / mask_block + 1});
}

void selected(const Selecting& selecting, Operands operands, Results& results) {
    results.add(operands[0].dtype, {}, {selecting.total});
}

void places_of_true(const Selecting& selecting, Operands operands, Results& results) {
    const auto rank = static_cast<std::int64_t>(operands[0].shape.size());
    results.add(DType::Int64, {}, {rank, selecting.total});
}

void repeated(const Selecting& selecting, Operands, Results& results) {
    results.add(DType::Int64, {}, {selecting.total});
}

void joined(const Joining& joining, Operands operands, Results& results) {
    const Dims first = operands[0].shape;
    std::int64_t shape[max_rank];
    std::copy(first.begin(), first.end(), shape);
    for (const Operand& o : operands.subspan(1))
        shape[joining.along] += o.shape[static_cast<std::size_t>(joining.along)];
    results.add(operands[0].dtype, {shape, first.size()});
}

}  // namespace rules

}  // namespace unisono::primitives
