// Entry of the Python extension unisono._engine: calls the binders, one per concept.
#include <nanobind/nanobind.h>

#include "core/version.h"

namespace nb = nanobind;

NB_MODULE(_engine, m) { m.attr("__version__") = unisono::version(); }
