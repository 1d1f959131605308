// The operator @, matmul, and the functions behind python/unisono/linalg/.
#include "functions/linalg.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "array/beside.h"
#include "array/object.h"
#include "array/subclasses.h"
#include "backends/device_libraries.h"
#include "functions/by_numpy.h"
#include "library/fft/fft.h"
#include "library/linalg/blas.h"
#include "library/linalg/lapack.h"
#include "library/linalg/matmul.h"
#include "primitives/primitive.h"
#include "reference.h"
#include "tape/record/record.h"
#include "tape/record/reinterpret.h"

namespace unisono::python {

namespace {

/// The operand as an array with memory, or false if it is none.
bool array_operand(PyObject* o, Array& a) {
    if (is_array(o)) {
        a = materialised(used_array(o));
        return true;
    }
    if (PyList_Check(o) || PyTuple_Check(o)) {
        a = to_array(o, true);
        return true;
    }
    Arg arg;
    if (!operand(o, arg, a)) return false;
    a = materialised(arg.is_scalar() ? Array::known(arg.scalar()) : Array::of(arg.view));
    return true;
}

/// matmul with keywords other than out=, which are seldom used: written in Python.
PyObject* matmul_with_keywords(PyObject* const* args, Py_ssize_t n, PyObject* names) {
    Ref module(PyImport_ImportModule("unisono._numpy.core_axes"));
    Ref function(module.p ? PyObject_GetAttrString(module.p, "matmul") : nullptr);
    return function.p ? PyObject_Vectorcall(function.p, args, static_cast<std::size_t>(n), names)
                      : nullptr;
}

PyObject* matmul_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                          PyObject* names) noexcept {
    const Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
    if (n > 1 && any_by_protocol(args, all)) [[unlikely]] {
        PyObject* made = call_by_protocol("matmul", args[0], args + 1, n - 1, names);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    if (n > 1 && (is_of_numpys(args[0]) || is_of_numpys(args[1]))) {
        Ref module(PyImport_ImportModule("unisono._arrays.exchange.numpys_elements"));
        Ref function(module.p ? PyObject_GetAttrString(module.p, "by_numpy") : nullptr);
        Ref name(PyUnicode_FromString("matmul"));
        PyObject* made =
            function.p && name.p ? call_with(function.p, name.p, args, n, names) : nullptr;
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    PyObject* made = guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject* out = n == 3 ? args[2] : nullptr;
        Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t k = 0; k < named; ++k) {
            PyObject* key = PyTuple_GET_ITEM(names, k);
            if (PyUnicode_CompareWithASCIIString(key, "out") != 0)
                return matmul_with_keywords(args, n, names);
            out = args[n + k];
        }
        if (n < 2 || n > 3)
            fail(ErrorKind::Type, "matmul: takes two arrays; got " + std::to_string(n));
        if (out && PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1) out = PyTuple_GET_ITEM(out, 0);
        if (out == Py_None) out = nullptr;
        Array in[2];
        auto& [a, b] = in;
        if (!array_operand(args[0], a)) a = to_array(args[0], true);
        if (!array_operand(args[1], b)) b = to_array(args[1], true);
        bring_together(args, in);
        if (out && !is_array(out))
            fail(ErrorKind::Type, std::string("matmul: out= must be an array of unisono; got ") +
                                      Py_TYPE(out)->tp_name);
        note_line();
        if (!out) return wrap(library::matmul(a, b));
        library::matmul(a, b, &used_array(out));
        return Py_NewRef(out);
    });
    return made ? made : by_numpy("matmul", args, n, names);
}

/// _strided(x, shape, strides, offset): a view by any strides, in elements; callers keep it inside.
PyObject* strided_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 4) fail(ErrorKind::Internal, "_strided: takes an array, shape, strides, offset");
        // Arrays of records come here, too, and are refused.
        Array a = materialised(is_array(args[0]) ? used_array(args[0]) : to_array(args[0], true));
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

/// _view_as(x, dtype): the same memory as another dtype.
PyObject* view_as_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 2) fail(ErrorKind::Internal, "_view_as: takes an array and a dtype");
        const Array a = is_array(args[0]) ? used_array(args[0]) : to_array(args[0], true);
        Array made = view_as(materialised(a), to_dtype(args[1]));
        return wrap(a.is_value() ? to_value(made) : made);
    });
}

std::vector<Array> factors(const std::string& what, const Array& a, const Array& b, int option,
                           double limit) {
    using namespace library;
    if (what == "solve") return {solve(a, b)};
    if (what == "inv") return {inverse(a)};
    if (what == "det") return determinant(a);
    if (what == "cholesky") return {cholesky(a, option != 0)};
    if (what == "qr") return qr(a, static_cast<primitives::QrMode>(option));
    if (what == "svd") return svd(a, static_cast<primitives::SvdMode>(option));
    if (what == "eigh") return eigh(a, (option & 1) != 0, (option & 2) != 0);
    if (what == "eig") return eig(a, option != 0);
    if (what == "lstsq") return lstsq(a, b, limit);
    fail(ErrorKind::Internal, "_lapack: unknown factorisation " + what);
}

/// _lapack(what, a, b, option, limit): a tuple of arrays.
PyObject* lapack_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 5 || !is_array(args[1]))
            fail(ErrorKind::Internal, "_lapack: takes a name, two arrays, an option and a limit");
        note_line();
        const std::vector<Array> made =
            factors(PyUnicode_AsUTF8(args[0]), used_array(args[1]),
                    is_array(args[2]) ? used_array(args[2]) : Array(),
                    static_cast<int>(to_int64(args[3])), PyFloat_AsDouble(args[4]));
        auto size = static_cast<Py_ssize_t>(made.size());
        PyObject* tuple = PyTuple_New(size);
        if (!tuple) throw PythonError{};
        for (Py_ssize_t k = 0; k < size; ++k) {
            const Array& a = made[static_cast<std::size_t>(k)];
            PyTuple_SET_ITEM(tuple, k, wrap(a.rank() == 0 ? to_value(a) : a));
        }
        return tuple;
    });
}

/// What call_fortran passes for one Python argument.
struct FortranArgument {
    std::int64_t integer = 0;
    double real = 0;
    float single = 0;
    std::complex<double> complex;
    std::complex<float> single_complex;
    char letter = 0;
    Array array;
    const void* address = nullptr;
};

void set_argument(PyObject* o, bool single, FortranArgument& a) {
    if (is_array(o)) {
        a.array = materialised(used_array(o));
        a.address = host_data(a.array, !a.array.readonly());
    } else if (PyUnicode_Check(o)) {
        a.letter = *PyUnicode_AsUTF8(o);
        a.address = &a.letter;
    } else if (PyFloat_Check(o)) {
        a.real = PyFloat_AS_DOUBLE(o);
        a.single = static_cast<float>(a.real);
        a.address = single ? static_cast<const void*>(&a.single) : &a.real;
    } else if (PyComplex_Check(o)) {
        a.complex = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
        a.single_complex = std::complex<float>(a.complex);
        a.address = single ? static_cast<const void*>(&a.single_complex) : &a.complex;
    } else {
        a.integer = to_int64(o);
        a.address = &a.integer;
    }
}

/// _fortran(name, *arguments): calls a routine of BLAS or LAPACK; numbers go by address, arrays by
/// their memory. A function's result is returned as a float, else None.
PyObject* fortran_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        constexpr int most = 24;
        if (n < 2 || n > most + 1)
            fail(ErrorKind::Internal, "_fortran: takes a name and up to 24 arguments");
        std::string name = PyUnicode_AsUTF8(args[0]);
        void* function = library::blas::routine(name);
        bool single = name[0] == 's' || name[0] == 'c' || name.starts_with("is");
        FortranArgument held[most];
        const void* p[most] = {};
        for (Py_ssize_t k = 1; k < n; ++k) {
            set_argument(args[k], single, held[k - 1]);
            p[k - 1] = held[k - 1].address;
        }
        // Arguments beyond those that a routine has are never looked at.
        auto run = [&]<class R>() {
            return library::blas::call<R>(function, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7],
                                          p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15],
                                          p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23]);
        };
        std::string stem = name.substr(1);
        if (name[0] == 'd' && (stem == "dot" || stem == "nrm2" || stem == "asum"))
            return PyFloat_FromDouble(run.template operator()<double>());
        if (name[0] == 's' && (stem == "dot" || stem == "nrm2" || stem == "asum"))
            return PyFloat_FromDouble(static_cast<double>(run.template operator()<float>()));
        if (name == "isamax" || name == "idamax")
            return PyLong_FromLong(run.template operator()<int>());
        run.template operator()<void>();
        Py_RETURN_NONE;
    });
}

/// _fft(x, axis, n, scale, forward, kind, axes): None where several axes are to come one by one.
PyObject* fft_function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (n != 7 || !is_array(args[0])) fail(ErrorKind::Internal, "_fft: takes seven arguments");
        const int axes = static_cast<int>(to_int64(args[6]));
        if (axes > 1 && !library::transforms_together(used_array(args[0]))) Py_RETURN_NONE;
        library::FftStep step{static_cast<int>(to_int64(args[1])),
                              to_int64(args[2]),
                              PyFloat_AsDouble(args[3]),
                              args[4] == Py_True,
                              static_cast<library::FftKind>(to_int64(args[5])),
                              axes};
        note_line();
        return wrap(library::transform(materialised(used_array(args[0])), step));
    });
}

PyObject* blas_description(PyObject*, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        bool present = library::blas::present();
        return Py_BuildValue("(OsO)", present ? Py_True : Py_False,
                             library::blas::description().c_str(),
                             library::blas::wide() ? Py_True : Py_False);
    });
}

/// What is there below the folders that Python imports from, in their order.
std::vector<std::string> found_in_path(const char* below) {
    PyGILState_STATE state = PyGILState_Ensure();
    std::vector<std::string> found;
    PyObject* path = PySys_GetObject("path");
    Py_ssize_t n = path && PyList_Check(path) ? PyList_GET_SIZE(path) : 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject* entry = PyList_GET_ITEM(path, k);
        const char* folder = PyUnicode_Check(entry) ? PyUnicode_AsUTF8(entry) : nullptr;
        if (!folder) continue;
        const std::string file = std::string(folder) + below;
        struct stat status;
        if (stat(file.c_str(), &status) == 0) found.push_back(file);
    }
    PyErr_Clear();
    PyGILState_Release(state);
    return found;
}

/// The wheel scipy-openblas64, without importing it.
std::string locate_wheel() {
    const auto found = found_in_path("/scipy_openblas64/lib/libscipy_openblas64_.so");
    return found.empty() ? std::string() : found.front();
}

/// NVIDIA's packages, such as nvidia-cublas-cu12.
std::vector<std::string> locate_packages() { return found_in_path("/nvidia"); }

PyMethodDef functions[] = {
    {"matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(matmul_function)),
     METH_FASTCALL | METH_KEYWORDS,
     "matmul($module, x1, x2, /, out=None, *, axes=None, dtype=None, "
     "casting='same_kind')\n--\n\n"
     "Product of matrices and stacks of them, as the operator @.\n"
     "\nParameters\n----------\nx1 : array_like, shape (..., m, k) or (k,)\n"
     "x2 : array_like, shape (..., k, n) or (k,)\nout : ndarray, optional\n"
     "axes : list of tuple, optional\n    Axes of the matrices in both arrays and the result, "
     "as in ``[(0, 1), (-2, -1), (0, 1)]``.\n"
     "dtype : dtype, optional\n    To which both are converted first.\n"
     "casting : str, optional\n    Which conversions `dtype` may make.\n\n"
     "Returns\n-------\nndarray, shape (..., m, n)\n    Axes that vectors lack are dropped.\n\n"
     "Raises\n------\nValueError\n    Values without axes, or extents that do not match.\n\n"
     "Examples\n--------\n>>> import unisono as un\n>>> un.matmul([[1, 2], [3, 4]], [1, "
     "1]).tolist()\n"
     "[3, 7]\n"},
    {"_lapack", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(lapack_function)),
     METH_FASTCALL, nullptr},
    {"_fortran", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(fortran_function)),
     METH_FASTCALL, nullptr},
    {"_fft", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(fft_function)),
     METH_FASTCALL, nullptr},
    {"_blas", blas_description, METH_NOARGS,
     "Whether BLAS was found, its file, and whether its integers have 64 bits."},
    {"_strided", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(strided_function)),
     METH_FASTCALL, nullptr},
    {"_view_as", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(view_as_function)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

/// An operand of the operator @: also what NumPy's protocol makes an array of, unless its class has
/// the operator.
static bool operator_operand(PyObject* o, Array& a) {
    if (array_operand(o, a)) return true;
    const PyNumberMethods* own = Py_TYPE(o)->tp_as_number;
    if (PyType_Check(o) || (own && own->nb_matrix_multiply) ||
        !PyObject_HasAttrString(o, "__array__"))
        return false;
    a = to_array(o, true);
    return true;
}

PyObject* matrix_multiply(PyObject* x, PyObject* y) noexcept {
    PyObject* made = guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        auto is_stored = [](PyObject* o) {
            return Py_TYPE(o) == array_type && !array_of(o).is_known() && !is_elsewhere(o);
        };
        if (is_stored(x) && is_stored(y)) {
            note_line();
            return wrap_made([&] { return library::matmul(array_of(x), array_of(y)); });
        }
        Array in[2];
        auto& [a, b] = in;
        if (is_of_numpys(x) || is_of_numpys(y)) return operated_by_numpy("operator.matmul", x, y);
        if (!operator_operand(x, a) || !operator_operand(y, b)) Py_RETURN_NOTIMPLEMENTED;
        PyObject* const given[] = {x, y};
        bring_together(given, in);
        note_line();
        return wrap(library::matmul(a, b));
    });
    PyObject* const operands[] = {x, y};
    return made ? made : by_numpy("operator.matmul", operands, 2, nullptr);
}

PyObject* matrix_multiply_in_place(PyObject* x, PyObject* y) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Array b;
        if (!array_operand(y, b)) Py_RETURN_NOTIMPLEMENTED;
        bring_beside(used_array(x), y, b);
        note_line();
        library::matmul(array_of(x), b, &array_of(x));
        return Py_NewRef(x);
    });
}

bool add_linalg(PyObject* module) {
    library::blas::locate_wheel = locate_wheel;
    library_folders = locate_packages;
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
