// Shapes and dtypes of products, factorisations and Fourier transforms.
#include "primitives/algebra.h"

#include <algorithm>
#include <vector>

namespace unisono::primitives::rules {

namespace {

struct Matrices {
    Dims leading;
    std::int64_t rows, columns, least;
};

Matrices matrices(const Operand& a) {
    const std::size_t rank = a.shape.size();
    const std::int64_t m = a.shape[rank - 2], n = a.shape[rank - 1];
    return {a.shape.first(rank - 2), m, n, std::min(m, n)};
}

DType real_form(DType t) { return part_dtype(t); }
DType complex_form(DType t) {
    return part_dtype(t) == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

}  // namespace

void product(const Product& product, Operands operands, Results& results) {
    const Matrices a = matrices(operands[0]), b = matrices(operands[1]);
    const DType t = operands[0].dtype;
    if (product.row && product.column) return results.add(t, a.leading);
    if (product.row) return results.add(t, a.leading, {b.columns});
    if (product.column) return results.add(t, a.leading, {a.rows});
    results.add(t, a.leading, {a.rows, b.columns});
}

void scaled_product(const Scaling&, Operands operands, Results& results) {
    results.add(operands[0].dtype, operands[0].shape.first(1));
}

void windows(const Sliding& sliding, Operands operands, Results& results) {
    results.add(operands[0].dtype, {}, {sliding.count});
}

void solution(const NoAttributes&, Operands operands, Results& results) {
    results.add(operands[1].dtype, operands[1].shape);
}

void determinants(const NoAttributes&, Operands operands, Results& results) {
    const Dims leading = matrices(operands[0]).leading;
    const DType t = operands[0].dtype;
    results.add(t, leading);
    results.add(t, leading);
    results.add(real_form(t), leading);
}

void orthogonal_factors(const Orthogonal& orthogonal, Operands operands, Results& results) {
    const auto [leading, m, n, least] = matrices(operands[0]);
    const DType t = operands[0].dtype;
    const QrMode mode = orthogonal.mode;
    if (mode == QrMode::Raw) {
        results.add(t, leading, {n, m});
        results.add(t, leading, {least});
        return;
    }
    const std::int64_t width = mode == QrMode::Complete ? m : least;
    if (mode != QrMode::R) results.add(t, leading, {m, width});
    results.add(t, leading, {width, n});
}

void singular_values(const SingularValues& values, Operands operands, Results& results) {
    const auto [leading, m, n, least] = matrices(operands[0]);
    const DType t = operands[0].dtype;
    const bool full = values.mode == SvdMode::Full, vectors = values.mode != SvdMode::Values;
    if (vectors) results.add(t, leading, {m, full ? m : least});
    results.add(real_form(t), leading, {least});
    if (vectors) results.add(t, leading, {full ? n : least, n});
}

void symmetric_eigen(const SymmetricEigen& eigen, Operands operands, Results& results) {
    const Matrices a = matrices(operands[0]);
    results.add(real_form(operands[0].dtype), a.leading, {a.rows});
    if (eigen.vectors) results.add(operands[0].dtype, operands[0].shape);
}

void eigen(const Eigen& eigen, Operands operands, Results& results) {
    const Matrices a = matrices(operands[0]);
    const DType t = complex_form(operands[0].dtype);
    results.add(t, a.leading, {a.rows});
    if (eigen.vectors) results.add(t, operands[0].shape);
}

void least_squares(const LeastSquares&, Operands operands, Results& results) {
    const Matrices a = matrices(operands[0]);
    const std::int64_t sides = operands[1].shape.back();
    results.add(operands[0].dtype, {}, {std::max(a.rows, a.columns), sides});
    results.add(real_form(operands[0].dtype), {}, {a.least});
    results.add(DType::Int64, {});
}

void transformed(const FftStep& step, Operands operands, Results& results) {
    std::int64_t shape[max_rank];
    const Dims given = operands[0].shape;
    std::copy(given.begin(), given.end(), shape);
    shape[step.axis] = step.kind == FftKind::RealForward ? step.length / 2 + 1 : step.length;
    const DType t = operands[0].dtype;
    const bool is_single = t == DType::Float32 || t == DType::Complex64;
    const DType whole = is_single ? DType::Float32 : DType::Float64;
    results.add(step.kind == FftKind::RealBackward ? whole : complex_form(whole),
                {shape, given.size()});
}

}  // namespace unisono::primitives::rules
