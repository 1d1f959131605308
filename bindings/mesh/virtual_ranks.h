// Binds meshes whose ranks are threads of this process.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "comm/virtual/world.h"

namespace unisono::python {

/// Of Python's handle on it.
std::shared_ptr<comm::World> world_of(nanobind::handle world);
void add_virtual_ranks(nanobind::module_& m);

}  // namespace unisono::python
