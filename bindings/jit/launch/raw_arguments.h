// Arguments of raw kernels (un.RawKernel) that may be passed as they are.
#pragma once

#include <Python.h>

#include <string>
#include <string_view>

#include "core/dtype.h"

namespace unisono {
class Device;
}

namespace unisono::python {

/// One character for each of ((dtype, whether it is a pointer), ...); empty where one is no dtype.
std::string raw_types(PyObject* parameters);
/// Of one of these characters.
inline constexpr char raw_pointer_bit = 0x40;
inline bool is_raw_pointer(char type) { return (type & raw_pointer_bit) != 0; }
inline DType raw_dtype(char type) { return static_cast<DType>(type & ~raw_pointer_bit); }
/// Whether a number is passed for a parameter of the dtype as it is.
bool is_raw_number(PyObject* object, DType t);
/// The device of the arrays in a tuple of arguments; null where they are not on one, or an argument
/// is not passed as it is.
Device* raw_device(std::string_view types, PyObject* args);

}  // namespace unisono::python
