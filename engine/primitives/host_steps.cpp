// Tells from the row whether a factorisation contains a step on the host.
#include "primitives/host_steps.h"

#include "primitives/primitives.h"

namespace unisono::primitives {

bool steps_on_host(const Primitive& row) { return &row == &eig; }

}  // namespace unisono::primitives
