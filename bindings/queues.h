// Queues of devices and the place that a thread chose, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_queues(nanobind::module_& m);

}  // namespace unisono::python
