// The C interface in an extension of Python: what unisono.h has, and arrays, devices and errors as
// Python objects. Nothing is linked: un_import() takes the tables from the imported package.
//
//     static PyObject* twice(PyObject* module, PyObject* object) {
//         un_array* a = un_from_object(object);
//         if (!a) return NULL;
//         un_operand both[] = {un_ref(a), un_real(2)};
//         un_array* made = un_apply(un_operation("multiply"), both, 2, NULL);
//         un_release(a);
//         return made ? un_to_object(made) : un_raise();
//     }
//
// Call un_import() once in the module's initialisation, and all else with the interpreter's lock.
// `python -m unisono include` prints the folder for -I.
#ifndef UNISONO_PYTHON_H
#define UNISONO_PYTHON_H

#include <Python.h>

#include "unisono/unisono.h"

#ifdef __cplusplus
extern "C" {
#endif

/// These fail with a Python exception set.
typedef struct {
    uint32_t abi;
    uint32_t bytes;  ///< of this table
    const un_functions* functions;

    int (*check)(PyObject* object);  ///< whether it is a unisono.ndarray
    /// As un.asarray: an array shares its memory, numbers and sequences are copied.
    un_array* (*from_object)(PyObject* object);
    PyObject* (*to_object)(un_array* taken);
    /// A device, its name, an array (its device), or None (NULL, the default device).
    int (*device_from_object)(PyObject* object, const un_device** out);
    PyObject* (*device_to_object)(const un_device* device);
    int (*dtype_from_object)(PyObject* object, un_dtype* out);
    PyObject* (*dtype_to_object)(un_dtype dtype);
    /// Sets the exception that belongs to un_last_error, unless Python has one already.
    void (*set_exception)(void);
    PyObject* (*exception_class)(un_error_kind kind);  ///< borrowed
} un_python_functions;

#ifdef __cplusplus
}
inline const un_python_functions* un_python_table = nullptr;
#else
static const un_python_functions* un_python_table;
#endif

/// 0, or -1 with ImportError set.
static inline int un_import(void) {
    un_python_table =
        (const un_python_functions*)PyCapsule_Import("unisono._engine._c_interface", 0);
    if (!un_python_table) return -1;
    if (un_python_table->abi != UN_ABI || un_python_table->bytes < sizeof(un_python_functions) ||
        un_python_table->functions->bytes < sizeof(un_functions)) {
        un_python_table = NULL;
        PyErr_SetString(PyExc_ImportError,
                        "unisono: this extension was built for another version of unisono; build "
                        "it again with the headers of the one that is installed");
        return -1;
    }
    un_table = un_python_table->functions;
    return 0;
}

/// After a function of unisono.h failed: sets the exception; NULL, for `return un_raise();`.
static inline PyObject* un_raise(void) {
    un_python_table->set_exception();
    return NULL;
}

#define un_check un_python_table->check
#define un_from_object un_python_table->from_object
#define un_to_object un_python_table->to_object
#define un_device_from_object un_python_table->device_from_object
#define un_device_to_object un_python_table->device_to_object
#define un_dtype_from_object un_python_table->dtype_from_object
#define un_dtype_to_object un_python_table->dtype_to_object
#define un_exception_class un_python_table->exception_class

#endif
