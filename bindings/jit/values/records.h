// Classes and structured dtypes as compiled functions know them: read once from Python, kept for
// good.
#pragma once

#include <Python.h>

#include <memory>
#include <vector>

#include "frontend/records.h"
#include "reference.h"

namespace unisono::python {

/// Where the fields of a structured array lie.
struct RecordLayout {
    struct Place {
        PyObject* path;  ///< names from the whole array on, a tuple
        DType dtype = DType::Int64;
        std::int64_t offset = 0, size = 1;          ///< bytes
        std::vector<Py_ssize_t> shape, strides;     ///< of the field's own axes, strides in bytes
        std::shared_ptr<const RecordLayout> inner;  ///< a field that is a structure
    };
    std::shared_ptr<const frontend::Record> record;
    std::vector<Place> places;
    std::int64_t step = 1;  ///< bytes of a whole record
};

/// Of a NumPy dtype; null where it has no fields. Throws PythonError.
const RecordLayout* layout_of(PyObject* dtype);

/// What compiled code knows of the class; null where it knows nothing of such classes.
const std::shared_ptr<const frontend::Record>& record_of(PyTypeObject* cls);

/// An object of the class with these fields; `items` is a tuple.
PyObject* make_object(const frontend::Record& record, PyObject* items);

/// Methods looked up while it exists, in this thread: functions of type Dispatcher, borrowed from
/// classes that live for good.
class MethodLog {
  public:
    MethodLog();
    ~MethodLog();
    MethodLog(const MethodLog&) = delete;
    std::vector<PyObject*> methods;

  private:
    MethodLog* outer_;
};

}  // namespace unisono::python
