// The operator @, matmul, and what python/unisono/linalg.py is made of.
#include "linalg.h"

#include <sys/stat.h>

#include "array_object.h"
#include "library/blas.h"
#include "library/call.h"
#include "library/matmul.h"

namespace unisono::python {

namespace {

/// The operand as an array with memory, or false if it is none.
bool array_operand(PyObject* o, Array& a) {
    if (is_array(o)) {
        a = library::stored(array_of(o));
        return true;
    }
    if (PyList_Check(o) || PyTuple_Check(o)) {
        a = to_array(o, true);
        return true;
    }
    Arg arg;
    if (!operand(o, arg, a)) return false;
    a = library::stored(arg.is_scalar() ? Array::known(arg.scalar()) : Array::of(arg.view));
    return true;
}

PyObject* matmul_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                          PyObject* names) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject* out = n == 3 ? args[2] : nullptr;
        Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t k = 0; k < named; ++k) {
            PyObject* key = PyTuple_GET_ITEM(names, k);
            if (PyUnicode_CompareWithASCIIString(key, "out") != 0)
                fail(ErrorKind::Type, std::string("matmul: unexpected keyword '") +
                                          PyUnicode_AsUTF8(key) + "'; only out= is there");
            out = args[n + k];
        }
        if (n < 2 || n > 3)
            fail(ErrorKind::Type, "matmul: takes two arrays; got " + std::to_string(n));
        if (out == Py_None) out = nullptr;
        Array a, b;
        if (!array_operand(args[0], a)) a = to_array(args[0], true);
        if (!array_operand(args[1], b)) b = to_array(args[1], true);
        if (out && !is_array(out))
            fail(ErrorKind::Type, std::string("matmul: out= must be an array of unisono; got ") +
                                      Py_TYPE(out)->tp_name);
        note_line();
        if (!out) return wrap(library::matmul(a, b));
        library::matmul(a, b, &array_of(out));
        return Py_NewRef(out);
    });
}

/// _strided(x, shape, strides, offset): a view by any strides, in elements; callers keep it inside.
PyObject* strided_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 4 || !is_array(args[0]))
            fail(ErrorKind::Internal, "_strided: takes an array, shape, strides, offset");
        Array a = library::stored(array_of(args[0]));
        std::vector<std::int64_t> strides;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[2]); ++k)
            strides.push_back(to_int64(PyTuple_GET_ITEM(args[2], k)));
        View v = a.view();
        v.offset += to_int64(args[3]);
        v.layout = Layout::make(to_shape(args[1]), strides);
        Array made = Array::of(v);
        if (a.readonly()) made.set_readonly();
        return wrap(made);
    });
}

/// The wheel scipy-openblas64 in the folders that Python imports from, without importing it.
std::string locate_wheel() {
    PyGILState_STATE state = PyGILState_Ensure();
    std::string found;
    PyObject* path = PySys_GetObject("path");
    Py_ssize_t n = path && PyList_Check(path) ? PyList_GET_SIZE(path) : 0;
    for (Py_ssize_t k = 0; k < n && found.empty(); ++k) {
        PyObject* entry = PyList_GET_ITEM(path, k);
        const char* folder = PyUnicode_Check(entry) ? PyUnicode_AsUTF8(entry) : nullptr;
        if (!folder) continue;
        std::string file = std::string(folder) + "/scipy_openblas64/lib/libscipy_openblas64_.so";
        struct stat status;
        if (stat(file.c_str(), &status) == 0) found = file;
    }
    PyErr_Clear();
    PyGILState_Release(state);
    return found;
}

PyMethodDef functions[] = {
    {"matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(matmul_function)),
     METH_FASTCALL | METH_KEYWORDS,
     "``matmul(x1, x2, /, out=None)``: product of matrices and stacks of them, as the operator @.\n"
     "\nParameters\n----------\nx1 : array_like, shape (..., m, k) or (k,)\n"
     "x2 : array_like, shape (..., k, n) or (k,)\nout : ndarray, optional\n\n"
     "Returns\n-------\nndarray, shape (..., m, n)\n    Axes that vectors lack are dropped.\n\n"
     "Examples\n--------\n>>> import unisono as un\n>>> un.matmul([[1, 2], [3, 4]], [1, "
     "1]).tolist()\n"
     "[3, 7]\n"},
    {"_strided", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(strided_function)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* matrix_multiply(PyObject* x, PyObject* y) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Array a, b;
        if (!array_operand(x, a) || !array_operand(y, b)) Py_RETURN_NOTIMPLEMENTED;
        note_line();
        return wrap(library::matmul(a, b));
    });
}

PyObject* matrix_multiply_in_place(PyObject* x, PyObject* y) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Array b;
        if (!array_operand(y, b)) Py_RETURN_NOTIMPLEMENTED;
        note_line();
        library::matmul(array_of(x), b, &array_of(x));
        return Py_NewRef(x);
    });
}

bool add_linalg(PyObject* module) {
    library::blas::locate_wheel = locate_wheel;
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
