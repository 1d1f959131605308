// C text: compiled into functions that Python and compiled code call.
#pragma once

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/codegen/c_text.h"
#include "frontend/syntax/tree.h"

namespace unisono::python {

/// The function behind a capsule that _c_text made, or null.
std::shared_ptr<frontend::Source> native_source(PyObject* object);

/// The texts of a Python list.
std::vector<std::string> texts_of(PyObject* list);

std::optional<DType> dtype_of(codegen::CType::Kind kind, int bytes, bool is_signed);

/// A number of the bytes, the same in every process.
std::string key_of(const std::string& bytes);

/// What Python and compiled functions see of a C function.
std::shared_ptr<frontend::Source> source_of(std::shared_ptr<frontend::NativeFunction> native,
                                            const std::string& file, int line,
                                            std::vector<std::string> params);
PyObject* capsule_of(std::shared_ptr<frontend::Source> source);

/// Whether the module calls C functions that hold variables, or change what is not theirs.
bool has_state(const ir::Module& module);

bool add_c_text(PyObject* module);

/// (name, name of its dtype or None, of its struct, extents, bytes or a list of texts)
PyObject* constant_row(const codegen::CVariable& v);

}  // namespace unisono::python
