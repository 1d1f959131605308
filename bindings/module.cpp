// Entry of the Python extension unisono._engine: calls the binders, one per concept.
#include <nanobind/nanobind.h>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "array/subclasses.h"
#include "array/view.h"
#include "c/interface.h"
#include "c/text.h"
#include "core/settings.h"
#include "core/version.h"
#include "devices.h"
#include "driver_calls.h"
#include "engine_state.h"
#include "errors.h"
#include "functions/fast_path.h"
#include "functions/functions.h"
#include "functions/linalg.h"
#include "functions/ordering.h"
#include "functions/random.h"
#include "functions/row_front.h"
#include "functions/selection.h"
#include "functions/ufunc.h"
#include "jit/bundle.h"
#include "jit/dispatcher.h"
#include "jit/launch/item_loops.h"
#include "jit/launch/known_calls.h"
#include "jit/launch/raw_launcher.h"
#include "jit/python.h"
#include "jit/values/objects.h"
#include "mesh/bind_mesh.h"
#include "mpi/bind_mpi.h"
#include "queues.h"

namespace nb = nanobind;

NB_MODULE(_engine, m) {
    // Whoever still holds a device when the interpreter ends (a cache, a test's fixture) would get
    // a page of complaints on the terminal.
    nb::set_leak_warnings(false);
    m.attr("__version__") = unisono::version();
    if (!unisono::python::add_errors(m.ptr())) throw nb::python_error();
    try {
        unisono::check_settings();
        for (const std::string& text : unisono::misspelt_settings()) {
            if (PyErr_WarnEx(PyExc_RuntimeWarning, ("unisono: " + text).c_str(), 1) < 0)
                throw nb::python_error();
        }
    } catch (const unisono::Error& e) {
        unisono::python::set_error(e);
        throw nb::python_error();
    }
    using namespace unisono::python;
    if (!add_array_type(m.ptr()) || !add_subclasses(m.ptr()) || !add_conversions(m.ptr()) ||
        !add_functions(m.ptr()) || !add_order_functions(m.ptr()) || !add_selection(m.ptr()) ||
        !add_ufuncs(m.ptr()) || !add_dispatcher(m.ptr()) || !add_item_loops(m.ptr()) ||
        !add_captures(m.ptr()) || !add_objects(m.ptr()) || !add_python_blocks(m.ptr()) ||
        !add_raw_launcher(m.ptr()) || !add_known_calls(m.ptr()) || !add_bundles(m.ptr()) ||
        !add_linalg(m.ptr()) || !add_c_text(m.ptr()) || !add_random(m.ptr()) ||
        !add_fast_path(m.ptr()) || !add_row_front(m.ptr()) || !add_c_interface(m.ptr()) ||
        !add_buffer_of_array(m.ptr()) || !add_device_memory(m.ptr()) || !add_driver_calls(m.ptr()))
        throw nb::python_error();
    add_devices(m);
    add_engine_state(m);
    add_queues(m);
    add_mesh(m);
    add_mpi(m);
    install_hooks();
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const unisono::Error& e) {
            unisono::python::set_error(e);
        }
    });
}
