// Entry of the Python extension unisono._engine: calls the binders, one per concept.
#include <nanobind/nanobind.h>

#include "core/version.h"
#include "errors.h"

namespace nb = nanobind;

NB_MODULE(_engine, m) {
    m.attr("__version__") = unisono::version();
    if (!unisono::python::add_errors(m.ptr())) throw nb::python_error();
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const unisono::Error& e) {
            unisono::python::set_error(e);
        }
    });
}
