// Arguments of raw kernels (un.RawKernel) that may be passed as they are.
#pragma once

#include <Python.h>

#include <string>
#include <string_view>

namespace unisono {
class Device;
}

namespace unisono::python {

/// One character for each of ((dtype, whether it is a pointer), ...); empty where one is no dtype.
std::string raw_types(PyObject* parameters);
/// The device of the arrays in a tuple of arguments; null where they are not on one, or an argument
/// is not passed as it is.
Device* raw_device(std::string_view types, PyObject* args);

/// Adds _raw_types and _raw_place to the module; returns false with a Python error set.
bool add_raw_arguments(PyObject* module);

}  // namespace unisono::python
