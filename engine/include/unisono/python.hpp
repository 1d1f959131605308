// The engine for extensions of Python in C++: un::Array to and from Python objects.
//
// Call un::import() once in the module's initialisation, and all else with the interpreter's lock.
// pybind11 has converters in unisono/pybind11.hpp; Cython cimports unisono.cpp.
#pragma once

#include "unisono/python.h"
#include "unisono/unisono.hpp"

namespace un {

/// A call of Python failed and left its exception set.
class PythonError : public std::exception {
  public:
    const char* what() const noexcept override { return "unisono: a Python exception is set"; }
};

inline void import() {
    if (un_import() < 0) throw PythonError();
}

inline bool is_array(PyObject* object) { return un_check(object) != 0; }

/// As un.asarray: an array shares its memory.
inline Array from_python(PyObject* object) {
    un_array* a = un_from_object(object);
    if (!a) throw PythonError();
    return Array(a);
}
/// A new reference.
inline PyObject* to_python(Array a) {
    PyObject* made = un_to_object(a.release());
    if (!made) throw PythonError();
    return made;
}

inline Device device_from_python(PyObject* object) {
    const un_device* d = nullptr;
    if (un_device_from_object(object, &d) < 0) throw PythonError();
    return Device(d);
}

/// In a catch (...): sets Python's exception for the one being handled.
inline void set_python_error() noexcept {
    try {
        throw;
    } catch (const PythonError&) {
    } catch (const Error& e) {
        if (un_table) {
            un_table->set_error(e.kind(), e.what(), e.file().c_str(), e.line());
            un_raise();
        } else {
            PyErr_SetString(PyExc_ImportError, e.what());
        }
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

}  // namespace un
