// Chooses which axis of a user's kernel runs fastest on the device.
#pragma once

#include "ir/ir.h"

namespace unisono::c_source {

/// The axis of the NDRange whose neighbouring work-items touch neighbouring elements in most
/// accesses; 0 where nothing tells. Accesses are linear (after lower_access).
int fastest_axis(const ir::Function& kernel);

}  // namespace unisono::c_source
