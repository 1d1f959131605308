// pybind11 extensions take and return un::Array and un::Device, and un::Error becomes Python's.
//
//     PYBIND11_MODULE(waves, m) {
//         un::import_pybind11();
//         m.def("energy", [](const un::Array& u) { return (u * u).sum(); });
//     }
#pragma once

#include <pybind11/pybind11.h>

#include "unisono/python.hpp"

namespace un {

/// For a module's initialisation: loads the engine and translates un::Error of this module.
inline void import_pybind11() {
    if (un_import() < 0) throw pybind11::error_already_set();
    pybind11::register_local_exception_translator([](std::exception_ptr p) {
        try {
            if (p) std::rethrow_exception(p);
        } catch (const Error&) {
            set_python_error();
        } catch (const PythonError&) {
        }
    });
}

}  // namespace un

namespace pybind11::detail {

template <>
struct type_caster<un::Array> {
    PYBIND11_TYPE_CASTER(un::Array, const_name("unisono.ndarray"));

    bool load(handle source, bool convert) {
        if (!convert && !un::is_array(source.ptr())) return false;
        un_array* a = un_from_object(source.ptr());
        if (!a) {
            PyErr_Clear();
            return false;
        }
        value = un::Array(a);
        return true;
    }
    static handle cast(un::Array a, return_value_policy, handle) {
        return un_to_object(a.release());
    }
};

template <>
struct type_caster<un::Device> {
    PYBIND11_TYPE_CASTER(un::Device, const_name("unisono.Device"));

    bool load(handle source, bool) {
        const un_device* d = nullptr;
        if (un_device_from_object(source.ptr(), &d) < 0) {
            PyErr_Clear();
            return false;
        }
        value = un::Device(d);
        return true;
    }
    static handle cast(const un::Device& d, return_value_policy, handle) {
        return un_device_to_object(d.handle());
    }
};

}  // namespace pybind11::detail
