// Singular values, eigenvalues and least squares on devices: small matrices by rotations, a
// work-item each; others, and what has no algorithm for devices yet, in a host step.
#include <algorithm>

#include "core/error.h"
#include "library/linalg/matrix_stack.h"
#include "library/on_device/device_work.h"
#include "library/on_device/host_step.h"
#include "library/on_device/vendor.h"
#include "primitives/host_steps.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

const char* conjugate_of(DType t) { return unisono::is_complex(t) ? "conjugate" : "same_number"; }
Scalar precision_of(DType t) {
    const DType real = part_dtype(t);
    return Scalar::of(real, real == DType::Float32 ? 0x1p-23 : 0x1p-52);
}

}  // namespace

void on_device::eigh(const primitives::SymmetricEigen& eigen, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::eigh(work, eigen, in, out)) return;
    const Stack a(in[0]);
    const std::int64_t n = a.rows;
    if (!primitives::rotates_hermitian(n)) {
        return step_on_host(in, out, device,
                            [&](Views near, Views made) { host::eigh(eigen, near, made); });
    }
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, a.count));
    const std::int64_t elements = a.count * n * n;
    const DeviceVector m = work.scratch(in[0].dtype, elements),
                       v = work.scratch(in[0].dtype, elements);
    work.run_pieces("rotate_hermitian",
                    {vector_of(in[0]), vector_of(out[0]), eigen.vectors ? vector_of(out[1]) : m, m,
                     v, failed, conjugate_of(in[0].dtype), n, std::int64_t{eigen.upper},
                     std::int64_t{eigen.vectors}, precision_of(in[0].dtype)},
                    a.count);
    const auto first = work.read<std::int64_t>(failed);
    require_none_failed("eigh", in[0], first < a.count ? first : -1,
                        "Eigenvalues did not converge");
}

void on_device::svd(const primitives::SingularValues& values, Views in, Views out, Device& device) {
    DeviceWork work(device);
    if (vendor::svd(work, values.mode, in, out)) return;
    const Stack a(in[0]);
    const std::int64_t long_side = std::max(a.rows, a.columns);
    const std::int64_t short_side = std::min(a.rows, a.columns);
    if (!primitives::rotates_columns(a.rows, a.columns)) {
        return step_on_host(in, out, device,
                            [&](Views near, Views made) { host::svd(values, near, made); });
    }
    const bool vectors = values.mode != primitives::SvdMode::Values;
    const std::int64_t kept = values.mode == primitives::SvdMode::Full ? long_side : short_side;
    const DType t = in[0].dtype;
    const DeviceVector failed = work.filled(1, Scalar::of(DType::Int64, a.count)),
                       g = work.scratch(t, a.count * long_side * kept),
                       v = work.scratch(t, a.count * short_side * short_side);
    work.run_pieces(
        "rotate_columns",
        {vector_of(in[0]), vectors ? vector_of(out[0]) : g, vector_of(out[vectors ? 1 : 0]),
         vectors ? vector_of(out[2]) : g, g, v, failed, conjugate_of(t), a.rows, a.columns, kept,
         std::int64_t{vectors}, precision_of(t)},
        a.count);
    const auto first = work.read<std::int64_t>(failed);
    require_none_failed("svd", in[0], first < a.count ? first : -1, "SVD did not converge");
}

void on_device::eig(const primitives::Eigen& eigen, Views in, Views out, Device& device) {
    step_on_host(in, out, device, [&](Views near, Views made) { host::eig(eigen, near, made); });
}

void on_device::lstsq(const primitives::LeastSquares& squares, Views in, Views out,
                      Device& device) {
    step_on_host(in, out, device,
                 [&](Views near, Views made) { host::lstsq(squares, near, made); });
}

}  // namespace unisono::library
