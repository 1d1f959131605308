// What compiled functions pass to C functions that take structs and functions.
#pragma once

#include <Python.h>

#include <string>

#include "frontend/native.h"

namespace unisono::python {

/// `text` holds (forms of the parameters, form of the result or None, whether it may throw), as
/// Python prints them.
void set_forms(frontend::NativeFunction& native, const std::string& text);

}  // namespace unisono::python
