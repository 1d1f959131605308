// Where in the Python program an operation is recorded, and the engine's hooks into the
// interpreter.
//
// The interpreter's current frame is read without making a frame object where its layout is known
// (3.11 to 3.13); elsewhere the public calls do the same more slowly.
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#include <internal/pycore_frame.h>
#include <opcode.h>
#define UNISONO_FAST_FRAMES 1
#endif
#undef Py_BUILD_CORE

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>
#include <utility>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "functions/numpy_operators.h"
#include "tape/tape.h"

namespace unisono::python {

bool has_timed_statements = false;

namespace {

#ifdef UNISONO_FAST_FRAMES
/// The innermost frame of this thread.
_PyInterpreterFrame* current_frame() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GET()->current_frame;
#else
    const _PyCFrame* cframe = PyThreadState_GET()->cframe;
    return cframe ? cframe->current_frame : nullptr;
#endif
}

/// Null for frames that stand for calls from C.
PyCodeObject* code_of(const _PyInterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK) return nullptr;
#endif
#if PY_VERSION_HEX >= 0x030D0000
    return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
    return frame->f_code;
#endif
}
#endif

struct CodeKind {
    PyCodeObject* code;
    bool ours;   ///< of this package's private modules: such frames are ours, the user's line is
                 ///< further out
    bool timed;  ///< the loop that timeit makes around a statement
};

/// Answers are kept in a small table by address; code in it is kept, so that no other code gets its
/// address.
const CodeKind& kind_of(PyCodeObject* code) noexcept {
    static CodeKind rows[64] = {};
    CodeKind& row = rows[(reinterpret_cast<std::uintptr_t>(code) >> 6) % 64];
    if (row.code != code) {
        const char* file = PyUnicode_AsUTF8(code->co_filename);
        if (!file) PyErr_Clear();
        std::string_view name = file ? file : "";
        PyCodeObject* before = row.code;
        const bool timed = name == "<timeit-src>" || name.starts_with("<magic-timeit");
        Py_INCREF(code);
        const auto package = name.rfind("/unisono/");
        const bool ours = package != std::string_view::npos &&
                          name.find("/_", package + 8) != std::string_view::npos;
        row = {code, ours, timed};
        has_timed_statements |= timed;
        Py_XDECREF(before);
    }
    return row;
}

/// Finishes what a timed statement left when it ran before: its work is what is timed.
void finish_last_round(LineRef line) noexcept {
    static LineRef last;  // keeps its code, so that no other code has its address
    const bool again = last.code == line.code && line.offset <= last.offset;
    if (last.code != line.code) {
        auto* before = static_cast<PyObject*>(last.code);
        Py_XINCREF(static_cast<PyObject*>(line.code));
        last.code = line.code;
        Py_XDECREF(before);
    }
    last.offset = line.offset;
    if (!again || Tape::current().length() == 0) return;
    try {
        Tape::current().flush_all(FlushReason::Eval);
    } catch (...) {
        // What failed says so where it is read.
    }
}

}  // namespace

bool in_timed_statement() noexcept {
#ifdef UNISONO_FAST_FRAMES
    const _PyInterpreterFrame* frame = current_frame();
    PyCodeObject* code = frame ? code_of(frame) : nullptr;
    return code && kind_of(code).timed;
#else
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    if (!frame) return false;
    PyCodeObject* code = PyFrame_GetCode(frame);
    const bool timed = kind_of(code).timed;
    Py_DECREF(code);
    Py_DECREF(frame);
    return timed;
#endif
}

namespace {

/// The line of what is recorded next keeps its code: a statement may be recorded without a line of
/// its own after that code is gone.
void set_line(PyCodeObject* code, int offset) noexcept {
    LineRef& line = Tape::current().line;
    void* before = line.code;
    line.offset = offset;
    if (before == code) return;
    Py_XINCREF(code);
    line.code = code;
    Py_XDECREF(static_cast<PyObject*>(before));
}

}  // namespace

void note_line() noexcept {
#ifdef UNISONO_FAST_FRAMES
    _PyInterpreterFrame *frame = current_frame(), *user = frame;
    PyCodeObject* code = frame ? code_of(frame) : nullptr;
    const CodeKind* kind = code ? &kind_of(code) : nullptr;
    while (frame && frame->previous && (!kind || kind->ours)) {
        frame = frame->previous;
        if (PyCodeObject* outer = code_of(frame)) {
            code = outer;
            kind = &kind_of(outer);
            user = frame;
        }
    }
    if (!code) return set_line(nullptr, 0);
    const bool timed = kind->timed;
    set_line(code, _PyInterpreterFrame_LASTI(user) * static_cast<int>(sizeof(_Py_CODEUNIT)));
    if (timed) finish_last_round(Tape::current().line);
#else
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    if (!frame) set_line(nullptr, 0);
    while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        set_line(code, PyFrame_GetLasti(frame));
        Py_DECREF(code);  // the line keeps it
        PyFrameObject* back = kind_of(code).ours ? PyFrame_GetBack(frame) : nullptr;
        if (!back && kind_of(code).timed) finish_last_round(Tape::current().line);
        Py_DECREF(frame);
        frame = back;
    }
#endif
}

bool runs_operator() noexcept {
#if PY_VERSION_HEX < 0x030C0000
    const _PyInterpreterFrame* frame = current_frame();
    if (!frame || !code_of(frame)) return false;
    const _Py_CODEUNIT instruction = *frame->prev_instr;
    switch (_Py_OPCODE(instruction)) {
        case BINARY_OP:
        case BINARY_OP_ADAPTIVE: return _Py_OPARG(instruction) < NB_INPLACE_ADD;
        case COMPARE_OP:
        case COMPARE_OP_ADAPTIVE: return true;
        default: return false;
    }
#else
    return false;
#endif
}

bool is_unique_temporary(PyObject* const* place) noexcept {
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(*place);
#elif defined(UNISONO_FAST_FRAMES)
    // A reference that the running frame's stack alone holds: what others call us with (partial
    // objects, argument tuples) lies elsewhere, and a variable holds a reference of its own.
    if (Py_REFCNT(*place) != 1) return false;
    const _PyInterpreterFrame* frame = current_frame();
    const PyCodeObject* code = frame ? code_of(frame) : nullptr;
    if (!code) return false;
    PyObject* const* stack = frame->localsplus + code->co_nlocalsplus;
    return place >= stack && place < stack + code->co_stacksize;
#else
    (void)place;
    return false;
#endif
}

/// Loops ask for one line again and again, and long code takes long to search.
static SourcePlace decode(LineRef line) {
    static LineRef last;  // keeps its code, so that no other code has its address
    static SourcePlace place_of_last;
    SourcePlace place;
    auto* code = static_cast<PyCodeObject*>(line.code);
    if (!code) return place;
    if (last.code == code && last.offset == line.offset) return place_of_last;
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (file) {
        place.file = file;
    } else {
        PyErr_Clear();
    }
    place.line = PyCode_Addr2Line(code, line.offset);
    place_of_last = place;
    last.offset = line.offset;
    Py_INCREF(code);
    Py_XDECREF(static_cast<PyObject*>(std::exchange(last.code, code)));
    return place;
}

/// Whether Ctrl-C raises KeyboardInterrupt: no other handler is installed.
static bool is_default_interrupt() {
    PyObject* module = PyImport_ImportModule("signal");
    PyObject* now = module ? PyObject_CallMethod(module, "getsignal", "i", SIGINT) : nullptr;
    PyObject* usual = module ? PyObject_GetAttrString(module, "default_int_handler") : nullptr;
    bool same = now && now == usual;
    Py_XDECREF(now);
    Py_XDECREF(usual);
    Py_XDECREF(module);
    PyErr_Clear();
    return same;
}

/// Threads that run statements without the interpreter's lock.
static std::atomic<int> computing{0};

/// Behind the interpreter's end, before what the engine owns is destroyed: lets threads that Python
/// has left behind finish what they compute; they stop where they ask for its lock.
static void await_threads() {
    for (int k = 0; k < 2500 && computing.load(std::memory_order_acquire) > 0; ++k) usleep(200);
}

void install_hooks() {
    HostHooks& hooks = Tape::current().hooks;
    hooks.leave_engine = [] {
        computing.fetch_add(1, std::memory_order_relaxed);
        return static_cast<void*>(release_thread());
    };
    hooks.enter_engine = [](void* state) {
        computing.fetch_sub(1, std::memory_order_release);
        restore_thread(static_cast<PyThreadState*>(state));
    };
    static const bool waits = Py_AtExit(await_threads) == 0;
    (void)waits;  // where its places are used up, threads are not waited for
    hooks.interrupted = [] {
        // Handlers may use arrays, which wait for this flush: none may run inside it. Ctrl-C with
        // Python's own handler needs none; any other waits for the interpreter.
        if (!PyOS_InterruptOccurred()) return false;
        if (is_default_interrupt()) return true;
        PyErr_SetInterrupt();
        return false;
    };
    hooks.retain_line = [](void* code) { Py_INCREF(static_cast<PyObject*>(code)); };
    hooks.release_line = [](void* code) { Py_DECREF(static_cast<PyObject*>(code)); };
    hooks.decode_line = decode;
}

}  // namespace unisono::python
