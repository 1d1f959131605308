// Methods and attributes of the array type that are written in Python: unisono._arrays.methods,
// which falls back on the package's function of the same name.
#include <algorithm>
#include <vector>

#include "array/object.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// unisono._arrays.methods' function of that name, a new reference.
PyObject* function_of(const char* name) {
    PyObject* module = PyImport_ImportModule("unisono._arrays.methods");
    PyObject* function = module ? PyObject_GetAttrString(module, name) : nullptr;
    Py_XDECREF(module);
    return function;
}

template <std::size_t n>
struct Name {
    char text[n];
    constexpr Name(const char (&t)[n]) { std::copy(t, t + n, text); }
};

/// self.name(...) as unisono._arrays.methods.name(self, ...).
template <Name name>
PyObject* call(PyObject* self, PyObject* args, PyObject* names) noexcept {
    static PyObject* known = nullptr;
    PyObject* function = kept(known, "unisono._arrays.methods", name.text);
    PyObject* bound = function ? PyMethod_New(function, self) : nullptr;
    PyObject* result = bound ? PyObject_Call(bound, args, names) : nullptr;
    Py_XDECREF(bound);
    return result;
}

/// self.name as unisono._arrays.methods.name(self).
template <Name name>
PyObject* get(PyObject* self, void*) noexcept {
    PyObject* function = function_of(name.text);
    PyObject* result = function ? PyObject_CallOneArg(function, self) : nullptr;
    Py_XDECREF(function);
    return result;
}

/// self.name = value as unisono._arrays.methods.set_name(self, value).
template <Name name>
int set(PyObject* self, PyObject* value, void*) noexcept {
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "ndarray: attributes cannot be deleted");
        return -1;
    }
    PyObject* function = function_of(name.text);
    PyObject* result =
        function ? PyObject_CallFunctionObjArgs(function, self, value, nullptr) : nullptr;
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/// squeeze() of all axes of one element is a view made here.
PyObject* squeeze(PyObject* self, PyObject* args, PyObject* names) noexcept {
    if (PyTuple_GET_SIZE(args) || names) return call<"squeeze">(self, args, names);
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = used_array(self);
        if (a.is_value()) return wrap(a);
        std::vector<std::int64_t> shape;
        for (std::int64_t n : a.shape()) {
            if (n != 1) shape.push_back(n);
        }
        return wrap(reshape(a, shape));
    });
}

PyObject* priority(PyObject*, void*) noexcept { return PyFloat_FromDouble(0.0); }

PyObject* is_value(PyObject* self, PyObject*) noexcept {
    return PyBool_FromLong(array_of(self).is_value());
}

PyObject* set_writeable(PyObject* self, PyObject* on) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Array& a = reinterpret_cast<PyArray*>(self)->array;
        if (on != Py_True) {
            a.set_readonly();
        } else if (a.readonly()) {
            Array open = Array::of(a.view());
            if (a.is_value() || open.readonly())
                fail(ErrorKind::Value,
                     "setflags: cannot set WRITEABLE flag to True of this array: values and "
                     "read-only memory stay so; copy it");
            a = std::move(open);
        }
        Py_RETURN_NONE;
    });
}

PyObject* as_type(PyObject* self, PyObject* type) noexcept {
    if (!PyType_Check(type) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), array_type)) {
        return PyErr_Format(PyExc_TypeError, "view: expected a subclass of ndarray; got %R", type);
    }
    return guarded<PyObject*>(
        nullptr, [&] { return wrap_as(reinterpret_cast<PyTypeObject*>(type), used_array(self)); });
}

PyObject* become(PyObject* self, PyObject* other) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (!is_array(other)) fail(ErrorKind::Internal, "_become: takes an array");
        auto* mine = reinterpret_cast<PyArray*>(self);
        const Array& taken = used_array(other);
        forget_first(mine);
        mine->array = taken;
        Py_RETURN_NONE;
    });
}

/// Where the first element lies in the host's memory, which a view of its holder keeps.
PyObject* address(PyObject* self, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        Py_buffer held;
        if (PyObject_GetBuffer(self, &held, PyBUF_FULL_RO) != 0)
            return static_cast<PyObject*>(nullptr);
        PyObject* made = PyLong_FromVoidPtr(held.buf);
        PyBuffer_Release(&held);
        return made;
    });
}

PyObject* divide_with_rest(PyObject* a, PyObject* b) noexcept {
    PyObject* function = function_of("divmod");
    PyObject* result = function ? PyObject_CallFunctionObjArgs(function, a, b, nullptr) : nullptr;
    Py_XDECREF(function);
    return result;
}

}  // namespace

PyType_Slot python_slots[] = {
    {Py_nb_divmod, reinterpret_cast<void*>(divide_with_rest)},
    {0, nullptr},
};

#define METHOD(name, doc)                                                              \
    {                                                                                  \
        name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call<name>)), \
            METH_VARARGS | METH_KEYWORDS, doc                                          \
    }
// The function of the package of that name, with the array first.
#define FUNCTION(name, parameters)     \
    METHOD(name,                       \
           name "($self, /" parameters \
                ")\n--\n\n"            \
                "The package's function of that name of the array: see ``unisono." name "``.")

PyMethodDef python_methods[] = {
    METHOD("choose",
           "choose($self, /, *choices, out=None, mode='raise')\n--\n\n"
           "Construct an array from this index array and a list of arrays to choose from."),
    FUNCTION("clip", ", min=None, max=None, out=None, **options"),
    METHOD("compress",
           "compress($self, /, condition, axis=None, out=None)\n--\n\n"
           "Slices along `axis` where the condition is true; see ``unisono.compress``."),
    FUNCTION("conj", ", out=None"),
    FUNCTION("conjugate", ", out=None"),
    FUNCTION("dot", ", b, out=None"),
    FUNCTION("trace", ", offset=0, axis1=0, axis2=1, dtype=None, out=None"),
    METHOD("copy_to_device",
           "copy_to_device($self, source, /, stream=None)\n--\n\n"
           "Copies an array of the same shape into this one, with Numba's name."),
    METHOD(
        "copy_to_host",
        "copy_to_host($self, /, ary=None, stream=None)\n--\n\n"
        "A NumPy array with a copy of the elements, or `ary` filled with them, with Numba's name."),
    METHOD("split",
           "split($self, section, /, stream=None)\n--\n\n"
           "Yields views of `section` elements each, with Numba's name; of one axis."),
    METHOD("bind",
           "bind($self, /, stream=None)\n--\n\n"
           "The array itself, with Numba's name: work on it comes behind what writes it, on all "
           "streams."),
    METHOD("is_c_contiguous",
           "is_c_contiguous($self, /)\n--\n\n"
           "Whether it lies packed with the last axis first, with Numba's name."),
    METHOD("is_f_contiguous",
           "is_f_contiguous($self, /)\n--\n\n"
           "Whether it lies packed with the first axis first, with Numba's name."),
    METHOD(
        "get",
        "get($self, /, stream=None, order='C', out=None)\n--\n\n"
        "A NumPy array with a copy of the elements, or `out` filled with them, with CuPy's name."),
    METHOD("set",
           "set($self, source, /, stream=None)\n--\n\n"
           "Copies an array of the same shape into this one, with CuPy's name."),
    METHOD("toDlpack",
           "toDlpack($self, /)\n--\n\n"
           "A DLPack capsule over the same memory, with CuPy's older name of ``__dlpack__``."),
    METHOD("getfield",
           "getfield($self, /, dtype, offset=0)\n--\n\n"
           "A view of part of each element: as `dtype`, from `offset` bytes on."),
    METHOD("setfield",
           "setfield($self, /, val, dtype, offset=0)\n--\n\n"
           "Write `val` into the part of each element that ``getfield`` shows."),
    METHOD("setflags",
           "setflags($self, /, write=None, align=None, uic=None)\n--\n\n"
           "Allows or forbids writes through this array; views of it made later follow."),
    {"_is_value", is_value, METH_NOARGS, "_is_value($self, /)\n--\n\nWhether it is a value."},
    {"_set_writeable", set_writeable, METH_O,
     "_set_writeable($self, on, /)\n--\n\nAllows or forbids writes."},
    FUNCTION("diagonal", ", offset=0, axis1=0, axis2=1"),
    FUNCTION("nonzero", ""),
    FUNCTION("put", ", indices, values, mode='raise'"),
    FUNCTION("repeat", ", repeats, axis=None"),
    FUNCTION("round", ", decimals=0, out=None"),
    METHOD("resize",
           "resize($self, /, *new_shape, refcheck=True)\n--\n\n"
           "Change the shape in place; new elements are 0. Existing views keep the old "
           "memory."),
    METHOD("is_integer", "is_integer($self, /)\n--\n\nWhether the number is an integer."),
    METHOD("as_integer_ratio",
           "as_integer_ratio($self, /)\n--\n\n"
           "A pair of Python integers whose ratio equals the number."),
    METHOD("bit_count", "bit_count($self, /)\n--\n\nNumber of set bits in the absolute value."),
    METHOD(
        "to_layout",
        "to_layout($self, layout, /)\n--\n\n"
        "A distributed array in another layout, see ``unisono.empty``: itself where it has that."),
    METHOD("byteswap",
           "byteswap($self, /, inplace=False)\n--\n\n"
           "Swap the bytes of each element."),
    {"_address", address, METH_NOARGS, "_address($self, /)\n--\n\nOf its first element."},
    {"__init_subclass__",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call<"init_subclass">)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "__init_subclass__(**options)\n--\n\nLets results of the class be of the class."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
     "__class_getitem__($type, item, /)\n--\n\n"
     "For annotations: ``unisono.ndarray[tuple[int], unisono.dtype[unisono.float64]]``."},
    {"_as_type", as_type, METH_O, "_as_type($self, type, /)\n--\n\nThe array as a subclass."},
    {"_become", become, METH_O, "_become($self, other, /)\n--\n\nTakes the other's memory."},
    {"squeeze", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(squeeze)),
     METH_VARARGS | METH_KEYWORDS,
     "squeeze($self, /, axis=None)\n--\n\nRemove axes of extent 1 (those in `axis`); see "
     "``unisono.squeeze``."},
    FUNCTION("swapaxes", ", axis1, axis2"),
    FUNCTION("take", ", indices, axis=None, out=None, mode='raise'"),
    METHOD("dump",
           "dump($self, /, file)\n--\n\n"
           "Writes the array's pickle to a file."),
    METHOD("dumps",
           "dumps($self, /)\n--\n\n"
           "The array's pickle as bytes."),
    METHOD("tofile",
           "tofile($self, /, fid, sep='', format='%s')\n--\n\n"
           "Writes the elements to a file, as bytes or, with sep=, as text."),
    METHOD("view",
           "view($self, /, dtype=None, type=None)\n--\n\n"
           "The same memory as another dtype of the same size, or the array itself."),
    METHOD("__array_function__",
           "__array_function__($self, /, function, types, args, options)\n--\n\n"
           "NumPy protocol: NumPy functions of these arrays return these arrays."),
    METHOD("__array_wrap__",
           "__array_wrap__($self, array, context=None, return_scalar=False, /)\n--\n\n"
           "The result of an elementwise function as an array of this one's class."),
    METHOD("__array_namespace__",
           "__array_namespace__($self, /, *, api_version=None)\n--\n\n"
           "The package, as the array API standard asks."),
    METHOD("to_numpy",
           "to_numpy($self, /, dtype=None, copy=False, na_value=None)\n--\n\n"
           "A NumPy array that shares the memory, or a copy."),
    METHOD("factorize",
           "factorize($self, /, use_na_sentinel=True)\n--\n\n"
           "Codes and distinct elements, as ``pandas.factorize`` returns them."),
    METHOD("_repr_html_", "_repr_html_($self, /)\n--\n\nHTML representation for notebooks."),
    METHOD("__round__", "__round__($self, /, digits=None)\n--\n\n"),
    METHOD("__sizeof__",
           "__sizeof__($self, /)\n--\n\nBytes of the object and of the memory that it owns."),
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef python_attributes[] = {
    {"__array_interface__", get<"array_interface">, nullptr, "NumPy's protocol of that name.",
     nullptr},
    {"__numpy_dtype__", get<"numpy_dtype">, nullptr,
     "NumPy's dtype of a value, so that `numpy.dtype(x[0])` is known.", nullptr},
    {"__cuda_array_interface__", get<"cuda_array_interface">, nullptr,
     "CUDA's protocol of that name, of arrays on CUDA devices.", nullptr},
    {"flags", get<"flags">, nullptr, "Memory layout and whether the array is writable.", nullptr},
    {"flat", get<"flat">, set<"set_flat">, "Iterator over the elements in row-major order.",
     nullptr},
    {"mT", get<"matrix_transpose">, nullptr, "View with the last two axes exchanged.", nullptr},
    {"data", get<"data">, nullptr,
     "The memory of the elements: a buffer with the attributes of a memoryview, its address as "
     "`ptr`, "
     "and its device.",
     nullptr},
    {"__array_priority__", priority, nullptr,
     "0.0, as NumPy's arrays have: libraries compare it to find the operand that decides.",
     nullptr},
    {"matvec", get<"matvec">, nullptr,
     "The product of a matrix and a vector, a function, as scipy.sparse.linalg asks of operators.",
     nullptr},
    {"rmatvec", get<"rmatvec">, nullptr,
     "The product of the conjugate transpose and a vector, a function, as scipy.sparse.linalg asks "
     "of operators.",
     nullptr},
    {"_typ", get<"pandas_type">, nullptr, "Marks arrays that pandas converts by to_numpy().",
     nullptr},
    {"_hasna", get<"has_missing">, nullptr, "False: arrays have no masked elements.", nullptr},
    {"mesh", get<"mesh">, nullptr, "The mesh that the array is distributed over, or None.",
     nullptr},
    {"local", get<"local">, set<"set_local">,
     "This rank's part of a distributed array, read-only; the array itself on other devices.\n\n"
     "Assigning to it writes the part: all ranks do it together.",
     nullptr},
    {"layout", get<"layout">, nullptr,
     "How a distributed array is spread: \"replicated\", or a tuple with \"block\", \"cyclic\", or "
     "the "
     "sizes of parts for each axis that is split; None on other devices.",
     nullptr},
    {"global_index", get<"global_index">, nullptr,
     "Which part of the whole ``local`` is: for each axis a slice, or the indices where they are "
     "dealt out to the ranks.",
     nullptr},
    {"ctypes", get<"ctypes">, nullptr, "Address, extents and strides for ctypes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace unisono::python
