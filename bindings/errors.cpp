// The exception classes that Python lacks, and the translation of the engine's errors.
#include "errors.h"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>

#include "comm/argument_error.h"

namespace unisono::python {

namespace {

bool is_interpreter_gone() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() || !Py_IsInitialized();
#else
    return _Py_IsFinalizing() || !Py_IsInitialized();
#endif
}

std::terminate_handler terminate_before = nullptr;

/// A thread that the interpreter ends in Python code below a frame that lets no exception pass.
void terminate_or_wait() {
    if (is_left_behind()) wait_for_exit();
    if (terminate_before) terminate_before();
    std::abort();
}

PyObject* classes[static_cast<int>(ErrorKind::LinAlg) + 1] = {};

PyObject* comm_value_error = nullptr;

/// NumPy's own class, so that programs catch either; imported when it is first raised.
PyObject* linalg_error() {
    PyObject*& known = classes[static_cast<int>(ErrorKind::LinAlg)];
    if (known) return known;
    PyObject* module = PyImport_ImportModule("numpy.linalg");
    known = module ? PyObject_GetAttrString(module, "LinAlgError") : nullptr;  // kept for good
    Py_XDECREF(module);
    PyErr_Clear();
    return known ? known : PyExc_ValueError;  // its base
}

struct ClassInfo {
    ErrorKind kind;
    const char* name;
    PyObject** base;
    const char* doc;
};

}  // namespace

PyObject* class_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Value: return PyExc_ValueError;
        case ErrorKind::Type: return PyExc_TypeError;
        case ErrorKind::Index: return PyExc_IndexError;
        case ErrorKind::ZeroDivision: return PyExc_ZeroDivisionError;
        case ErrorKind::Overflow: return PyExc_OverflowError;
        case ErrorKind::Memory: return PyExc_MemoryError;
        case ErrorKind::Runtime: return PyExc_RuntimeError;
        case ErrorKind::Assertion: return PyExc_AssertionError;
        case ErrorKind::Interrupt: return PyExc_KeyboardInterrupt;
        case ErrorKind::LinAlg: return linalg_error();
        default: break;
    }
    PyObject* c = classes[static_cast<int>(kind)];
    return c ? c : PyExc_RuntimeError;
}

bool add_errors(PyObject* module) {
    if (!terminate_before) {
        terminate_before = std::set_terminate(terminate_or_wait);
        Py_AtExit([] { is_over = true; });
    }
    const ClassInfo table[] = {
        {ErrorKind::Compile, "CompileError", &PyExc_TypeError,
         "A Python function or C text that cannot be compiled; the message shows the line and a "
         "way out."},
        {ErrorKind::Device, "DeviceError", &PyExc_RuntimeError,
         "A device is absent or failed, or operands live on different devices."},
        {ErrorKind::Unsupported, "UnsupportedError", &PyExc_NotImplementedError,
         "A sound program that this device or this version cannot run."},
        {ErrorKind::Comm, "CommError", &PyExc_RuntimeError,
         "Ranks of a mesh diverge, or one of them failed."},
        {ErrorKind::Internal, "InternalError", &PyExc_RuntimeError,
         "A fault of unisono itself; please report the program that raised it."},
    };
    for (const ClassInfo& c : table) {
        std::string full = std::string("unisono.") + c.name;
        PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), c.doc, *c.base, nullptr);
        if (!made || PyModule_AddObjectRef(module, c.name, made) < 0) return false;
        classes[static_cast<int>(c.kind)] = made;  // kept for good
    }
    PyObject* bases = PyTuple_Pack(2, classes[static_cast<int>(ErrorKind::Comm)], PyExc_ValueError);
    comm_value_error = bases ? PyErr_NewExceptionWithDoc(
                                   "unisono.CommValueError",
                                   "An argument of a message, such as its rank or tag, that MPI "
                                   "refuses.",
                                   bases, nullptr)
                             : nullptr;
    Py_XDECREF(bases);
    return comm_value_error &&
           PyModule_AddObjectRef(module, "CommValueError", comm_value_error) == 0;
}

void add_note(const std::string& text) noexcept {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value) {
        PyObject* done = PyObject_CallMethod(value, "add_note", "s", text.c_str());
        if (!done) PyErr_Clear();
        Py_XDECREF(done);
    }
    PyErr_Restore(type, value, trace);
}

void set_error(const Error& e) noexcept {
    if (const auto* detail = dynamic_cast<const PythonDetail*>(e.detail())) {
        detail->set_exception();
    } else if (dynamic_cast<const comm::ArgumentDetail*>(e.detail())) {
        PyErr_SetString(comm_value_error, e.what());
    } else {
        PyErr_SetString(class_of(e.kind()), e.what());
    }
    if (e.place().line <= 0) return;
    try {
        add_note("recorded at " + e.place().file + ":" + std::to_string(e.place().line));
    } catch (const std::bad_alloc&) {
        // The error is set, without the note.
    }
}

std::atomic<bool> is_over{false}, is_ending{false};

/// Nothing is left to do for it.
void wait_for_exit() noexcept {
    for (;;) pause();
}

bool is_left_behind() noexcept { return is_interpreter_gone() && gettid() != getpid(); }

void stay_if_left_behind() noexcept {
    if (is_left_behind() && (is_over.load(std::memory_order_relaxed) || !PyGILState_Check()))
        wait_for_exit();
}

void set_current_error() noexcept {
    try {
        throw;
    } catch (const abi::__forced_unwind&) {  // Python code that was called ends its thread
        wait_for_exit();
    } catch (const PythonError&) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "unisono: a Python call failed without an error");
    } catch (const Error& e) {
        set_error(e);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(class_of(ErrorKind::Internal), e.what());
    } catch (...) {
        PyErr_SetString(class_of(ErrorKind::Internal), "unisono: an unknown C++ exception");
    }
}

}  // namespace unisono::python
