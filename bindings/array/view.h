// What a compiled function or kernel needs of an array object: where its elements lie, once pending
// work is done.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>

#include "backends/backend.h"

namespace unisono::python {

struct ArrayView {
    Device* device = nullptr;  ///< null: host memory
    Memory memory;
    std::int64_t offset = 0;  ///< bytes
    DType dtype = DType::Float64;
    std::span<const std::int64_t> shape, strides;  ///< strides in elements; the object's own
    bool writable = true;
};

/// Fills the view of an object of the array type after completing pending work on it; false for any
/// other object. May throw Error. The array type's binding sets it; null until then.
using ArrayViewHook = bool (*)(PyObject* object, ArrayView& view);
extern ArrayViewHook array_view_hook;
void install_array_view();

}  // namespace unisono::python
