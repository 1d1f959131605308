// What tools read of a compiled function: its sources, types, generated code, and facts per line.
#pragma once

#include "jit/dispatch.h"

namespace unisono::python {

/// "f(a: float64[:], n: int)".
std::string signature(const Dispatch& d, const Specialisation& s);
/// The names of the function with their types, as `name: type` lines.
std::string types_of_names(const Specialisation& s);
/// A list with a dict for each specialisation; a new reference. Compiles anew.
PyObject* remarks_of(Dispatch& d);

}  // namespace unisono::python
