// Tells from row, operand and device whether a factorisation contains a step on the host.
#include "primitives/host_steps.h"

#include "backends/device_libraries.h"
#include "primitives/primitives.h"

namespace unisono::primitives {

bool steps_on_host(const Primitive& row, Dims shape, DType t, Device& device) {
    if (&row == &eig || &row == &lstsq) return true;
    if (&row != &eigh && &row != &svd) return false;
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (&row == &eigh ? rotates_hermitian(columns) : rotates_columns(rows, columns)) return false;
    if (!suits_libraries(element_count(shape.first(shape.size() - 2)), rows, columns)) return true;
    DeviceLibraries* libraries = libraries_of(device);
    return !libraries || !libraries->factors(t);
}

}  // namespace unisono::primitives
