// Fills in what compiled functions tell: messages of exceptions, and print.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>
#include <string>

#include "ir/ir.h"
#include "runtime/objects.h"

namespace unisono::python {

/// The template with its values, as frontend/text.cpp writes them: {0f|.3f} becomes value 0, read
/// as a float, in that format; doubled braces become single ones. Needs Python's lock; throws
/// PythonError.
std::string filled(const std::string& text, std::span<const std::int64_t> values);

/// A str on the heap of the call; null where there is none, or no memory. Needs Python's lock.
const Text* text_from(PyObject* text) noexcept;
/// A new reference; null with a Python error.
PyObject* python_from(const Text& text) noexcept;

/// Sets the exception that a site of compiled code raises. Needs Python's lock.
void set_exception(const ir::FaultSite& site, std::span<const std::int64_t> values);

/// Takes the error that is set for what ends the compiled function that runs. Needs Python's lock.
void keep_error() noexcept;
/// Raises what keep_error took, if it is this that ended the function: a print that failed, an
/// exception of a block of Python. Needs Python's lock.
bool restore_print_error() noexcept;

}  // namespace unisono::python
