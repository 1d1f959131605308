// From Python objects to scalars, dtypes, shapes and devices, and back.
#include <algorithm>
#include <string_view>
#include <vector>

#include "array/object.h"
#include "array/subclasses.h"
#include "core/edit_distance.h"
#include "integers.h"
#include "reference.h"

namespace unisono::python {

static PyObject* dtype_objects[dtype_count] = {};

std::int64_t to_int64(PyObject* o) {
    Ref number(PyNumber_Index(o));
    if (!number.p) python_failed();
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(number.p, &overflow);
    if (overflow) fail(ErrorKind::Overflow, "integer: a Python integer does not fit in int64");
    if (v == -1 && PyErr_Occurred()) python_failed();
    return v;
}
PyObject* to_python(const Array& a) {
    if (!is_complex(a.dtype())) return to_python(item(a));
    const std::complex<double> v = complex_item(a);
    return PyComplex_FromDoubles(v.real(), v.imag());
}

PyObject* to_python(Scalar s) {
    if (is_bool(s.dtype)) return PyBool_FromLong(s.get<bool>());
    if (is_float(s.dtype)) return PyFloat_FromDouble(s.as<double>());
    if (is_unsigned(s.dtype)) return PyLong_FromUnsignedLongLong(s.as<std::uint64_t>());
    return PyLong_FromLongLong(s.as<std::int64_t>());
}

/// NumPy's other names: letters ("d"), kind and bytes ("<f8"), and those of C types.
static bool dtype_from_alias(std::string_view text, DType& t) {
    if (!text.empty() && (text[0] == '<' || text[0] == '=' || text[0] == '|'))
        text.remove_prefix(1);
    for (int k = 0; k < dtype_count; ++k) {
        const DTypeInfo& d = dtype_infos[k];
        std::string short_name = d.kind + std::to_string(d.bytes);
        if (text == std::string_view(&d.letter, 1) || text == short_name) {
            t = static_cast<DType>(k);
            return true;
        }
    }
    static const std::pair<std::string_view, DType> aliases[] = {{"bool_", DType::Bool},
                                                                 {"float", DType::Float64},
                                                                 {"double", DType::Float64},
                                                                 {"single", DType::Float32},
                                                                 {"half", DType::Float16},
                                                                 {"half", DType::Float16},
                                                                 {"int", DType::Int64},
                                                                 {"int_", DType::Int64},
                                                                 {"intp", DType::Int64},
                                                                 {"long", DType::Int64},
                                                                 {"longlong", DType::Int64},
                                                                 {"q", DType::Int64},
                                                                 {"p", DType::Int64},
                                                                 {"n", DType::Int64},
                                                                 {"uint", DType::UInt64},
                                                                 {"uintp", DType::UInt64},
                                                                 {"ulong", DType::UInt64},
                                                                 {"ulonglong", DType::UInt64},
                                                                 {"Q", DType::UInt64},
                                                                 {"P", DType::UInt64},
                                                                 {"N", DType::UInt64},
                                                                 {"byte", DType::Int8},
                                                                 {"ubyte", DType::UInt8},
                                                                 {"short", DType::Int16},
                                                                 {"ushort", DType::UInt16},
                                                                 {"intc", DType::Int32},
                                                                 {"uintc", DType::UInt32},
                                                                 {"complex", DType::Complex128},
                                                                 {"cdouble", DType::Complex128},
                                                                 {"csingle", DType::Complex64}};
    for (const auto& [alias, dtype] : aliases) {
        if (text == alias) {
            t = dtype;
            return true;
        }
    }
    return false;
}

/// The dtype that a misspelt name most likely means, as the end of a message.
static std::string suggestion(std::string_view text) {
    const std::size_t limit = std::min<std::size_t>(3, (text.size() + 1) / 2);
    const std::string_view near =
        nearest_name(text, dtype_infos, limit, [](const auto& d) { return d.name; });
    return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

DType to_dtype(PyObject* o) {
    for (int k = 0; k < dtype_count; ++k) {
        if (o == dtype_objects[k]) return static_cast<DType>(k);
    }
    if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
    if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
    if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
    if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::Complex128;
    std::string text;
    if (PyUnicode_Check(o)) {
        text = PyUnicode_AsUTF8(o);
    } else {
        Ref native(PyObject_GetAttrString(o, "isnative"));
        PyErr_Clear();
        if (native.p == Py_False) {
            Ref shown(PyObject_Repr(o));
            fail(ErrorKind::Type,
                 "dtype: elements are of the machine's byte order; got " +
                     std::string(shown.p ? PyUnicode_AsUTF8(shown.p) : "this dtype") +
                     "; use dtype.newbyteorder('='), and byteswap() for bytes in the other order");
        }
        // What has elements but is no array stands for their dtype, as linear operators.
        if (!PyType_Check(o) && !is_array(o) && !derives_from_numpys(Py_TYPE(o))) {
            Ref elements(PyObject_GetAttrString(o, "dtype"));
            PyErr_Clear();
            if (elements.p && elements.p != o && !PyUnicode_Check(elements.p))
                return to_dtype(elements.p);
        }
        // NumPy's dtypes have a name, its scalar types a __name__; a class or type variable that
        // only happens to be called "F" or "float32" has no dtype.
        const bool is_class = PyType_Check(o) && PyObject_HasAttrString(o, "dtype");
        Ref n(PyObject_GetAttrString(o, is_class ? "__name__" : "name"));
        PyErr_Clear();
        if (n.p && PyUnicode_Check(n.p)) text = PyUnicode_AsUTF8(n.p);
    }
    bool found = false;
    if (PyLong_Check(o) || PyTuple_Check(o)) {
        Ref shown(PyObject_Repr(o));
        fail(ErrorKind::Type,
             "dtype: " + std::string(shown.p ? PyUnicode_AsUTF8(shown.p) : "this object") +
                 " is not a dtype; expected a name such as 'float64' or a type; if it belongs to a "
                 "shape, give that as one tuple, as in un.zeros((3, 4))");
    }
    DType t = dtype_from_name(text, found);
    if (!found) found = dtype_from_alias(text, t);
    if (!found) {
        std::string known;
        for (const auto& d : dtype_infos)
            known += (known.empty() ? "" : ", ") + std::string(d.name);
        known += suggestion(text);
        fail(ErrorKind::Type, "dtype: '" +
                                  (text.empty() ? std::string(Py_TYPE(o)->tp_name) : text) +
                                  "' is not a dtype of this version; expected one of " + known);
    }
    return t;
}

PyObject* dtype_object(DType t) {
    PyObject* o = dtype_objects[static_cast<int>(t)];
    return Py_NewRef(o ? o : Py_None);
}

Device* to_device_pointer(PyObject* o) {
    if (o == Py_None) return default_device();
    if (is_array(o)) return array_of(o).device();
    if (PyUnicode_Check(o)) return device_named(PyUnicode_AsUTF8(o));
    if (Device* mesh = mesh_place(o)) return mesh;
    Ref n(PyObject_GetAttrString(o, "name"));
    if (!n.p || !PyUnicode_Check(n.p)) {
        PyErr_Clear();
        if (PyObject_HasAttrString(o, "_own")) {  // a virtual mesh stands for the rank's
            Ref own(PyObject_CallMethod(o, "_own", nullptr));
            if (!own.p) throw PythonError{};
            if (Device* mesh = mesh_place(own.p)) return mesh;
        }
        fail(ErrorKind::Type, std::string("device: expected a device, its name, or None; got ") +
                                  Py_TYPE(o)->tp_name);
    }
    return device_named(PyUnicode_AsUTF8(n.p));
}

bool is_one_integer(PyObject* o) {
    if (PyLong_Check(o)) return true;
    if (!PyIndex_Check(o)) return false;
    if (is_array(o)) return array_of(o).rank() == 0;
    if (!PySequence_Check(o) || PySequence_Size(o) < 0) {
        PyErr_Clear();
        return true;
    }
    return false;
}

/// An extent; True is a mistake more often than 1.
static std::int64_t to_extent(PyObject* o) {
    if (PyBool_Check(o)) fail(ErrorKind::Type, "shape: expected integers; got a bool");
    return to_int64(o);
}

std::vector<std::int64_t> to_shape(PyObject* o) {
    std::vector<std::int64_t> shape;
    if (is_one_integer(o)) {
        shape.push_back(to_extent(o));
    } else {
        Ref list(PySequence_Fast(o, "shape: expected an integer or a sequence of integers"));
        if (!list.p) python_failed();
        Py_ssize_t n = PySequence_Fast_GET_SIZE(list.p);
        if (n > max_rank)
            fail(ErrorKind::Value,
                 "shape: at most " + std::to_string(max_rank) + " axes; got " + std::to_string(n));
        for (Py_ssize_t k = 0; k < n; ++k)
            shape.push_back(to_extent(PySequence_Fast_GET_ITEM(list.p, k)));
    }
    for (auto extent : shape) {
        if (extent < -1)
            fail(ErrorKind::Value,
                 "shape: negative dimensions are not allowed; got " + shape_text(shape));
    }
    return shape;
}

static PyObject* set_dtypes(PyObject*, PyObject* list) noexcept {
    Py_ssize_t n = PySequence_Size(list);
    if (n != dtype_count) {
        PyErr_SetString(PyExc_ValueError, "dtypes: the Python table does not match the engine's");
        return nullptr;
    }
    for (Py_ssize_t k = 0; k < n; ++k) dtype_objects[k] = PySequence_GetItem(list, k);
    Py_RETURN_NONE;
}

static PyObject* dtype_of_object(PyObject*, PyObject* object) noexcept {
    return guarded<PyObject*>(nullptr, [&] { return dtype_object(to_dtype(object)); });
}

/// _promote(a, b): the dtype of both; _promote(a, kind): beside a Python bool, int, float, complex,
/// whose kind counts from 1; a may be None then.
static PyObject* promote_dtypes(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != 2) fail(ErrorKind::Internal, "_promote: takes two arguments");
        if (!PyLong_Check(args[1]))
            return dtype_object(promote(to_dtype(args[0]), to_dtype(args[1])));
        auto kind = static_cast<Weak>(to_int64(args[1]));
        return dtype_object(args[0] == Py_None ? default_dtype(kind)
                                               : promote_weak(to_dtype(args[0]), kind));
    });
}

static PyMethodDef conversion_methods[] = {
    {"_promote", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(promote_dtypes)),
     METH_FASTCALL, nullptr},
    {"_dtype_of", dtype_of_object, METH_O, "The dtype object of anything that names a dtype."},
    {"_set_dtypes", set_dtypes, METH_O,
     "Registers the Python dtype objects, in the engine's order."},
    {"_from_dlpack", from_dlpack, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool add_conversions(PyObject* module) {
    if (PyModule_AddFunctions(module, conversion_methods) < 0) return false;
    PyObject* names = PyList_New(0);
    for (const auto& d : dtype_infos) {
        PyObject* row = Py_BuildValue("(sCiC)", std::string(d.name).c_str(), d.kind,
                                      static_cast<int>(d.bytes), d.letter);
        if (!row || PyList_Append(names, row) < 0) return false;
        Py_DECREF(row);
    }
    return PyModule_AddObject(module, "_dtypes", names) == 0;
}

}  // namespace unisono::python
