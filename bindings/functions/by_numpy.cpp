// Asks unisono._arrays.exchange.numpys_elements about a call that failed.
#include "functions/by_numpy.h"

#include "array/object.h"
#include "array/subclasses.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// The exception that is set, taken away for as long as the object lives unless it is dropped.
class PutAside {
  public:
    PutAside() { PyErr_Fetch(&type_, &value_, &trace_); }
    PutAside(const PutAside&) = delete;
    PutAside& operator=(const PutAside&) = delete;
    ~PutAside() {
        if (type_) PyErr_Restore(type_, value_, trace_);
    }
    void drop() {
        Py_CLEAR(type_);
        Py_CLEAR(value_);
        Py_CLEAR(trace_);
    }

  private:
    PyObject *type_, *value_, *trace_;
};

PyObject* ask(const char* name, PyObject* const* args, Py_ssize_t n, PyObject* names,
              bool arrays_only) {
    Ref positional(PyTuple_New(n)), named(names ? PyDict_New() : Py_NewRef(Py_None));
    if (!positional.p || !named.p) return nullptr;
    for (Py_ssize_t k = 0; k < n; ++k) PyTuple_SET_ITEM(positional.p, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k) {
        if (PyDict_SetItem(named.p, PyTuple_GET_ITEM(names, k), args[n + k]) != 0) return nullptr;
    }
    Ref module(PyImport_ImportModule("unisono._arrays.exchange.numpys_elements"));
    return module.p ? PyObject_CallMethod(module.p, "retried", "sOOO", name, positional.p, named.p,
                                          arrays_only ? Py_True : Py_False)
                    : nullptr;
}

}  // namespace

PyObject* by_numpy(const char* name, PyObject* const* args, Py_ssize_t n,
                   PyObject* names) noexcept {
    // Shapes that do not fit are no matter of the elements; of NumPy's dates some functions say so,
    // and what takes objects for numbers misses an attribute.
    const bool arrays_only = PyErr_ExceptionMatches(PyExc_ValueError) != 0 ||
                             PyErr_ExceptionMatches(PyExc_AttributeError) != 0;
    if (!arrays_only && !PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_OverflowError))  // integers beyond 64 bits are objects
        return nullptr;
    PutAside error;
    Ref made(ask(name, args, n, names, arrays_only));
    if (!made.p && !PyErr_ExceptionMatches(PyExc_Exception)) {  // as Ctrl-C
        error.drop();
        return nullptr;
    }
    PyErr_Clear();
    if (!made.p || made.p == Py_NotImplemented) return nullptr;
    error.drop();
    return made.release();
}

PyObject* operated_by_numpy(const char* name, PyObject* a, PyObject* b) noexcept {
    Ref module(PyImport_ImportModule("unisono._arrays.exchange.numpys_elements"));
    return module.p ? PyObject_CallMethod(module.p, "operated", "sOO", name, a, b) : nullptr;
}

PyObject* as_numpys_number(PyObject* o) noexcept {
    if (!is_number(o)) return Py_NewRef(o);
    static PyObject* known = nullptr;
    PyObject* convert = kept(known, "unisono._arrays.exchange.numpys_elements", "as_numpys_number");
    return convert ? PyObject_CallOneArg(convert, o) : nullptr;
}

PyObject* computed_by_numpy(const char* name, PyObject* const* args, Py_ssize_t n) noexcept {
    Ref module(PyImport_ImportModule("unisono._arrays.exchange.numpys_elements"));
    Ref function(module.p ? PyObject_GetAttrString(module.p, "by_numpy") : nullptr);
    Ref first(PyUnicode_FromString(name));
    return function.p && first.p ? call_with(function.p, first.p, args, n, nullptr) : nullptr;
}

}  // namespace unisono::python
