// Binds meshes whose ranks are threads of this process.
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_virtual_ranks(nanobind::module_& m);

}  // namespace unisono::python
