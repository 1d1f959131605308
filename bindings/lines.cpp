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

#include <string_view>

#include "array_object.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

/// Whether code belongs to this package: such frames are ours, the user's line is further out.
/// Answers are kept in a small table by address; a new object at an old address can only make a
/// line less exact.
bool is_ours(PyCodeObject* code) noexcept {
    struct Row {
        PyCodeObject* code;
        bool ours;
    };
    static Row rows[64] = {};
    Row& row = rows[(reinterpret_cast<std::uintptr_t>(code) >> 6) % 64];
    if (row.code != code) {
        const char* file = PyUnicode_AsUTF8(code->co_filename);
        if (!file) PyErr_Clear();
        std::string_view name = file ? file : "";
        row = {code, name.find("/unisono/_") != std::string_view::npos};
    }
    return row.ours;
}

}  // namespace

void note_line() noexcept {
    LineRef& line = Tape::instance().line;
    line = {};
#ifdef UNISONO_FAST_FRAMES
    _PyCFrame* cframe = PyThreadState_GET()->cframe;
    _PyInterpreterFrame* frame = cframe ? cframe->current_frame : nullptr;
    while (frame && frame->previous && (!frame->f_code || is_ours(frame->f_code)))
        frame = frame->previous;
    if (!frame || !frame->f_code) return;
    line.code = frame->f_code;
    line.offset = _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
#else
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        line.code = code;
        line.offset = PyFrame_GetLasti(frame);
        Py_DECREF(code);  // the frame keeps it
        PyFrameObject* back = is_ours(code) ? PyFrame_GetBack(frame) : nullptr;
        Py_DECREF(frame);
        frame = back;
    }
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
