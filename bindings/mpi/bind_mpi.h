// Binds messages, collective calls and one-sided memory (unisono.mpi).
#pragma once

#include <nanobind/nanobind.h>

namespace unisono::python {

void add_mpi(nanobind::module_& m);

}  // namespace unisono::python
