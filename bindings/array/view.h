// What a compiled function or kernel needs of an array object.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>

#include "tape/storage.h"

namespace unisono::python {

struct ArrayView {
    Storage* storage = nullptr;  ///< whose contents may be pending, and not yet have memory
    Device* device = nullptr;    ///< null: host memory
    std::int64_t offset = 0;     ///< bytes
    DType dtype = DType::Float64;
    std::span<const std::int64_t> shape, strides;  ///< strides in elements; the object's own
    bool writable = true;
};

/// Fills the view of an object of the array type; false for any other object, and for values, which
/// are scalars on the host.
bool view_of_array(PyObject* object, ArrayView& view);

}  // namespace unisono::python
