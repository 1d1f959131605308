// Converts the tuples of python/unisono/_jit/flatten.py into the front end's syntax tree.
#pragma once

#include <Python.h>

#include <memory>

#include "frontend/syntax/tree.h"

namespace unisono::python {

/// A node of the tree. Throws PythonError or an Internal error.
frontend::Node read_node(PyObject* tuple);

/// All but the callees of a flattened function.
std::shared_ptr<frontend::Source> read_source(PyObject* flattened);

/// A type as _jit/signatures.py writes it.
frontend::Declared declared_of(PyObject* spec);

}  // namespace unisono::python
