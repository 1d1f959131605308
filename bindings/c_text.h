// C text: compiled into functions that Python and compiled code call.
#pragma once

#include <Python.h>

#include <memory>
#include <string>

#include "frontend/tree.h"

namespace unisono::python {

/// The function behind a capsule that _c_text made, or null.
std::shared_ptr<frontend::Source> native_source(PyObject* object);

/// A number of the bytes, the same in every process.
std::string key_of(const std::string& bytes);

/// Whether the module calls C functions that hold variables, or change what is not theirs.
bool has_state(const ir::Module& module);

bool add_c_text(PyObject* module);

}  // namespace unisono::python
