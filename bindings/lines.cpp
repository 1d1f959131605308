// Where in the Python program an operation is recorded, and the engine's hooks into the
// interpreter.
//
// The interpreter's current frame is read without making a frame object where its layout is known
// (3.11); elsewhere the public calls do the same more slowly.
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#include <internal/pycore_frame.h>
#define UNISONO_FAST_FRAMES 1
#endif
#undef Py_BUILD_CORE

#include "array_object.h"
#include "tape/tape.h"

namespace unisono::python {

void note_line() noexcept {
    LineRef& line = Tape::instance().line;
#ifdef UNISONO_FAST_FRAMES
    _PyCFrame* cframe = PyThreadState_GET()->cframe;
    _PyInterpreterFrame* frame = cframe ? cframe->current_frame : nullptr;
    if (!frame || !frame->f_code) {
        line = {};
        return;
    }
    line.code = frame->f_code;
    line.offset = _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
#else
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    if (!frame) {
        line = {};
        return;
    }
    PyCodeObject* code = PyFrame_GetCode(frame);
    line.code = code;
    line.offset = PyFrame_GetLasti(frame);
    Py_DECREF(code);  // the frame keeps it
    Py_DECREF(frame);
#endif
}

static SourcePlace decode(LineRef line) {
    SourcePlace place;
    auto* code = static_cast<PyCodeObject*>(line.code);
    if (!code) return place;
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (file) {
        place.file = file;
    } else {
        PyErr_Clear();
    }
    place.line = PyCode_Addr2Line(code, line.offset);
    return place;
}

void install_hooks() {
    HostHooks& hooks = Tape::instance().hooks;
    hooks.leave_engine = [] { return static_cast<void*>(PyEval_SaveThread()); };
    hooks.enter_engine = [](void* state) {
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    };
    hooks.interrupted = [] {
        if (PyErr_CheckSignals() == 0) return false;
        PyErr_Clear();  // the engine raises KeyboardInterrupt with its own message
        return true;
    };
    hooks.retain_line = [](void* code) { Py_INCREF(static_cast<PyObject*>(code)); };
    hooks.release_line = [](void* code) { Py_DECREF(static_cast<PyObject*>(code)); };
    hooks.decode_line = decode;
}

}  // namespace unisono::python
