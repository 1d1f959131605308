// Binds devices.
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_devices(nanobind::module_& m);

}  // namespace unisono::python
