// Functions that order, search, scan and count: what unisono's _sorting, _statistics and _sets
// call.
#include "array_order.h"

#include "array_object.h"
#include "library/call.h"
#include "library/extremes.h"

namespace unisono::python {

namespace {

using library::stored;

/// A function of n positional arguments that gives an array; its Python side checked them.
template <Py_ssize_t count, auto body>
PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (n != count) {
            fail(ErrorKind::Internal,
                 "expected " + std::to_string(count) + " arguments; got " + std::to_string(n));
        }
        note_line();
        return body(args);
    });
}

template <Py_ssize_t count, auto body>
PyMethodDef entry(const char* name) {
    return {name,
            reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function<count, body>)),
            METH_FASTCALL, nullptr};
}

int to_axis(PyObject* o) { return static_cast<int>(to_int64(o)); }
bool to_bool(PyObject* o) { return PyObject_IsTrue(o) == 1; }

PyObject* arg_extreme(PyObject* const* args) {
    return wrap(library::arg_extreme(to_array(args[0], true), to_axis(args[1]), to_bool(args[2])));
}

}  // namespace

bool add_order_functions(PyObject* module) {
    // Function pointers are cast at run time.
    static PyMethodDef functions[] = {
        entry<3, arg_extreme>("_arg_extreme"),
        {nullptr, nullptr, 0, nullptr},
    };
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
