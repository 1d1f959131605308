// Tells from row and operand whether a factorisation contains a step on the host.
#include "primitives/host_steps.h"

#include "primitives/primitives.h"

namespace unisono::primitives {

bool steps_on_host(const Primitive& row, Dims shape) {
    return &row == &eig && !has_schur_form(shape.back());
}

}  // namespace unisono::primitives
