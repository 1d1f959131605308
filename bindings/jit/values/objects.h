// Objects of compiled classes as Python sees them.
#pragma once

#include <Python.h>

#include "core/native/object.h"
#include "frontend/records.h"
#include "jit/values/arguments.h"

namespace unisono::python {

/// Whether it is an object of a compiled class; then its address, which is 0 before __init__.
bool object_address(PyObject* object, std::int64_t& address);

/// A Python object of the class that takes over one reference to the block.
PyObject* wrap_object(const frontend::Record& record, Block* block);

/// A block that keeps a Python object with a buffer; of others the object that it keeps is null.
Block* view_block(PyObject* owner);
/// A bytes object of items that lie apart by the stride; null with Python's exception.
PyObject* bytes_from(std::uintptr_t address, std::int64_t count, std::int64_t stride);
PyObject* owner_of_view(const Block* block);

/// While it exists, compiled code that this thread runs may keep the arrays among the arguments.
class KeepScope {
  public:
    explicit KeepScope(const Arguments& arguments);
    ~KeepScope();
    KeepScope(const KeepScope&) = delete;

    const Arguments& arguments;
    const KeepScope* outer;
};

/// Adds the base class of objects to the module; returns false with a Python error set.
bool add_objects(PyObject* module);

}  // namespace unisono::python
