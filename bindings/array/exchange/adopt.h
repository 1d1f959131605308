// How asarray treats arrays of other libraries: which it takes over, which share memory, which are
// copied.
#pragma once

#include <Python.h>

#include <optional>

#include "tape/array.h"

namespace unisono::python {

/// Whether what stands at `place` is a temporary of the running Python expression that nothing else
/// refers to. Where the interpreter cannot tell, the answer is no.
bool is_unique_temporary(PyObject* const* place) noexcept;

/// Whether NumPy's array is the only owner of its memory: no base, no weak references, writable.
bool owns_memory(PyObject* object) noexcept;

/// The unisono array, or part of one, whose memory a NumPy view shares, if its bases lead to one.
std::optional<Array> array_behind(PyObject* object);

/// Whether the buffer of an object of this class is that of its __array__(): arrays of
/// records, and views of their fields that are not aligned.
bool has_buffer_of_array(PyObject* o);
bool add_buffer_of_array(PyObject* module);

/// The array of ours on the memory of pyopencl's array, or of its elements where that belongs to
/// another context, or on what an object's __cuda_array_interface__ describes; a new reference, or
/// null without a Python error for anything else.
PyObject* shared_on_device(PyObject* o);
/// Refuses text as ``copy=``, which would count as true whatever it says.
void refuse_text_as_copy(const char* what, PyObject* copy);
bool add_device_memory(PyObject* module);

/// Whether the elements lie in a file that is mapped into memory: huge files are never read whole.
bool is_memory_map(PyObject* object);

/// Whether bools in memory of others are 0 or 1, as ours are: views of other integers need not be.
bool are_truth_bytes(const void* first, const Layout& layout) noexcept;

}  // namespace unisono::python
