// Binds what a program asks the engine about itself.
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_engine_state(nanobind::module_& m);

}  // namespace unisono::python
