// What extensions in C, C++ and Cython find in the package: conversions, and Python's exceptions
// for the errors of the C interface.
#include "c/interface.h"

#include "api/handle.h"
#include "array/object.h"
#include "unisono/python.h"

namespace unisono::python {

namespace {

int check(PyObject* object) noexcept { return is_array(object); }

un_array* from_object(PyObject* object) noexcept {
    return guarded<un_array*>(nullptr, [&] {
        note_line();  // what the extension records comes from the line that called it
        return api::handle(to_array(object, true));
    });
}

PyObject* to_object(un_array* taken) noexcept {
    std::unique_ptr<un_array> array(taken);
    return wrap(std::move(array->array));
}

int device_from_object(PyObject* object, const un_device** out) noexcept {
    return guarded(-1, [&] {
        *out = api::device_handle(to_device_pointer(object));
        return 0;
    });
}

PyObject* device_to_object(const un_device* device) noexcept {
    return guarded<PyObject*>(nullptr, [&] { return device_object(api::device_of(device)); });
}

int dtype_from_object(PyObject* object, un_dtype* out) noexcept {
    return guarded(-1, [&] {
        *out = static_cast<un_dtype>(to_dtype(object));
        return 0;
    });
}

PyObject* dtype_to_object(un_dtype dtype) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        if (dtype < 0 || dtype >= dtype_count)
            fail(ErrorKind::Type, "dtype: " + std::to_string(dtype) + " is not an un_dtype");
        return dtype_object(static_cast<DType>(dtype));
    });
}

void set_exception() noexcept {
    if (PyErr_Occurred()) return;
    const un_error& e = *api::functions().last_error();
    guarded(0, [&] {
        set_error(Error(static_cast<ErrorKind>(e.kind), e.message, {e.file, e.line}));
        return 0;
    });
}

PyObject* exception_class(un_error_kind kind) noexcept {
    return class_of(static_cast<ErrorKind>(kind));
}

}  // namespace

bool add_c_interface(PyObject* module) {
    static const un_python_functions table = {
        .abi = UN_ABI,
        .bytes = sizeof(un_python_functions),
        .functions = &api::functions(),
        .check = check,
        .from_object = from_object,
        .to_object = to_object,
        .device_from_object = device_from_object,
        .device_to_object = device_to_object,
        .dtype_from_object = dtype_from_object,
        .dtype_to_object = dtype_to_object,
        .set_exception = set_exception,
        .exception_class = exception_class,
    };
    PyObject* capsule = PyCapsule_New(const_cast<un_python_functions*>(&table),
                                      "unisono._engine._c_interface", nullptr);
    return capsule && PyModule_AddObject(module, "_c_interface", capsule) == 0;
}

}  // namespace unisono::python
