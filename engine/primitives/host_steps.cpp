// Tells from row and shape whether a factorisation contains a step on the host.
#include "primitives/host_steps.h"

#include "primitives/primitives.h"

namespace unisono::primitives {

bool steps_on_host(const Primitive& row, Dims shape) {
    if (&row == &eig || &row == &lstsq) return true;
    const std::size_t rank = shape.size();
    if (&row == &eigh) return !rotates_hermitian(shape[rank - 1]);
    return &row == &svd && !rotates_columns(shape[rank - 2], shape[rank - 1]);
}

}  // namespace unisono::primitives
