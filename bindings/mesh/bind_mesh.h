// Binds meshes and distributed arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_mesh(nanobind::module_& m);

}  // namespace unisono::python
