// Arrays of nested sequences.
#pragma once

#include <Python.h>

#include <optional>
#include <string>

#include "tape/array.h"

namespace unisono::python {

/// The array of a list or tuple of numbers, arrays and sequences of them.
Array from_nested(PyObject* o, std::optional<DType> wanted);

[[noreturn]] void too_large(const std::string& what);

}  // namespace unisono::python
