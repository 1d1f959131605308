// What a compiled function captures: reads its source and tells whether it still holds.
#include "jit/dispatch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "array/object.h"
#include "c/text.h"
#include "errors.h"
#include "jit/dispatcher.h"
#include "jit/source.h"

namespace unisono::python {

/// Whether code made for one of them fits the other: numbers and texts of the same type and bits,
/// tuples of such, or one object.
static bool is_same_value(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_CheckExact(a)) {
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return std::memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyComplex_CheckExact(a)) {
        Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
        return std::memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a))
        return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (!PyTuple_Check(a) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); ++i) {
        if (!is_same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
    }
    return true;
}

bool Guard::holds() const {
    PyObject* now = nullptr;
    if (PyCell_Check(owner.get()))
        now = PyCell_GET(owner.get());
    else if (name.get() == Py_None)  // how many keys there are
        return value && PyDict_GET_SIZE(owner.get()) == PyLong_AsSsize_t(value.get());
    else
        now = PyDict_GetItemWithError(owner.get(), name.get());
    if (now == value.get()) return true;
    if (!now) PyErr_Clear();
    return now && value && is_same_value(now, value.get());
}

bool Dispatch::guards_hold() const {
    return source_ &&
           std::all_of(guards_.begin(), guards_.end(), [](const Guard& g) { return g.holds(); });
}

bool Dispatch::is_fresh() const {
    if (!guards_hold()) return false;
    for (const auto& [method, source] : methods_) {
        const Dispatch* d = dispatch_of(method);
        if (d->source_ != source || !d->guards_hold()) return false;
    }
    return callees_.empty() || is_asked_ || callees_are_fresh();
}

bool Dispatch::callees_are_fresh() const {
    is_asked_ = true;
    bool are_fresh = std::all_of(callees_.begin(), callees_.end(), [](const Callee& c) {
        const Dispatch* callee = dispatch_of(c.function.get());
        if (callee->is_preparing()) return c.source.lock() == callee->prepared_;
        return callee->is_fresh() && callee->source_ == c.source.lock();
    });
    is_asked_ = false;
    return are_fresh;
}

void Dispatch::prepare() {
    preparing_ = std::this_thread::get_id();
    auto own = prepared_ = std::make_shared<frontend::Source>();
    struct Done {
        Dispatch& of;
        ~Done() {
            of.preparing_ = {};
            of.prepared_.reset();
        }
    } done{*this};
    Ref flat(PyObject_CallNoArgs(prepare_.get()));
    if (!flat) throw PythonError{};
    auto native = native_source(flat.get());
    auto source = native ? native : own;
    if (!native) *source = std::move(*read_source(flat.get()));
    std::vector<Callee> callees;
    std::vector<Ref> names;
    Ref nothing(PyList_New(0));
    if (!nothing) throw PythonError{};
    PyObject* list = native ? nothing.get() : PyDict_GetItemString(flat.get(), "callees");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        Dispatch* callee = dispatch_of(PyList_GET_ITEM(list, i));
        UNISONO_ASSERT(callee != nullptr);
        if (callee == this) source->self = static_cast<int>(i);
        // One that is being prepared calls us, and owns our source.
        bool is_caller = callee->is_preparing();
        source->callees.push_back(is_caller ? nullptr : callee->source());
        if (is_caller) source->callers[static_cast<std::size_t>(i)] = callee->prepared_;
        if (callee != this)
            callees.push_back({Ref::of(PyList_GET_ITEM(list, i)),
                               is_caller ? callee->prepared_ : source->callees.back()});
    }
    std::vector<Guard> guards;
    list = native ? nothing.get() : PyDict_GetItemString(flat.get(), "guards");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* g = PyList_GET_ITEM(list, i);
        Ref value = PyTuple_GET_SIZE(g) > 2 ? Ref::of(PyTuple_GET_ITEM(g, 2)) : Ref();
        guards.push_back(
            {Ref::of(PyTuple_GET_ITEM(g, 0)), Ref::of(PyTuple_GET_ITEM(g, 1)), std::move(value)});
    }
    std::vector<std::pair<PyObject*, PyObject*>> arrays;
    Ref flat_arrays = Ref::of(native ? nothing.get() : PyDict_GetItemString(flat.get(), "arrays"));
    list = flat_arrays.get();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* place = PyTuple_GET_ITEM(PyList_GET_ITEM(list, i), 1);
        arrays.emplace_back(PyTuple_GET_ITEM(place, 0), PyTuple_GET_ITEM(place, 1));
    }
    for (const std::string& p : source->params) {
        names.push_back(Ref(PyUnicode_InternFromString(p.c_str())));
        if (!names.back()) throw PythonError{};
    }
    frontend::link_nested(*source);
    source->as_callback = [self = self_](const std::vector<std::string>& args,
                                         const std::string& result) {
        if (!*self) fail(ErrorKind::Runtime, "the function of a callback was deleted");
        return (*self)->keep_callback(args, result);
    };
    Ref defaults(PyObject_GetAttrString(function_.get(), "__defaults__"));
    Ref named(PyObject_GetAttrString(function_.get(), "__kwdefaults__"));
    if (!defaults || !named) throw PythonError{};
    retire(specialisations_);
    quick_ = nullptr;
    launched_ = nullptr;
    frontend::note_changed_lists(*source);
    source_ = std::move(source);
    guards_ = std::move(guards);
    callees_ = std::move(callees);
    arrays_ = std::move(arrays);
    flat_arrays_ = std::move(flat_arrays);
    parameter_names_ = std::move(names);
    defaults_ = std::move(defaults);
    named_defaults_ = std::move(named);
    specialisations_.clear();
    elements_.clear();
    methods_.clear();
}

PyObject* Dispatch::captured_arrays() {
    // While it is being read it is called by one of those that it calls: a recursion.
    if (is_preparing()) return PyList_New(0);
    source();
    return Py_NewRef(flat_arrays_.get());
}

const std::shared_ptr<const frontend::Source>& Dispatch::source() {
    if (!is_fresh()) prepare();
    return source_;
}

/// Whether it is a 0-d array that is used as a number.
static PyObject* is_value(PyObject*, PyObject* object) noexcept {
    return PyBool_FromLong(is_value_object(object) ||
                           (is_array(object) && array_of(object).is_value()));
}

/// The bytes of standard input that the C library read last: a program that comes through a pipe
/// is there while it is no longer than the buffer.
static PyObject* input_buffer(PyObject*, PyObject*) noexcept {
#ifdef __GLIBC__
    const char* begin = stdin->_IO_buf_base;
    if (begin) return PyBytes_FromStringAndSize(begin, stdin->_IO_buf_end - begin);
#endif
    return PyBytes_FromStringAndSize(nullptr, 0);
}

/// The texts that `exec` and `compile` ran last without a file, of which Python keeps none.
struct UnfiledTexts {
    static constexpr std::size_t most_bytes = std::size_t{1} << 21;
    std::mutex mutex;
    std::deque<std::string> texts;
    std::size_t bytes = 0;

    void note(const char* text, std::size_t size) {
        std::lock_guard guard(mutex);
        if (size > most_bytes / 2) return;
        if (!texts.empty() && texts.back().compare(0, std::string::npos, text, size) == 0) return;
        texts.emplace_back(text, size);
        bytes += size;
        while (bytes > most_bytes) {
            bytes -= texts.front().size();
            texts.pop_front();
        }
    }
};

static UnfiledTexts& unfiled_texts() {
    static auto* texts = new UnfiledTexts;  // hooks run until the interpreter's end
    return *texts;
}

/// Python tells hooks what it compiles. Never refuses anything.
static int note_compiled(const char* event, PyObject* args, void*) noexcept {
    if (std::strcmp(event, "compile") != 0 || !PyTuple_Check(args) || PyTuple_GET_SIZE(args) < 2)
        return 0;
    PyObject* text = PyTuple_GET_ITEM(args, 0);
    PyObject* file = PyTuple_GET_ITEM(args, 1);
    const bool is_exec =
        PyUnicode_Check(file) && PyUnicode_CompareWithASCIIString(file, "<string>") == 0;
    if (!is_exec || !PyBytes_Check(text)) return 0;
    const char* begin = PyBytes_AS_STRING(text);
    if (!std::strstr(begin, "def ") && !std::strstr(begin, "lambda")) return 0;
    try {
        unfiled_texts().note(begin, static_cast<std::size_t>(PyBytes_GET_SIZE(text)));
    } catch (...) {  // no memory: the text is not kept
    }
    return 0;
}

/// _note_texts(): from now on; once for the process, since no hook can be taken away.
static PyObject* note_texts(PyObject*, PyObject*) noexcept {
    static const int failed = PySys_AddAuditHook(note_compiled, nullptr);
    if (failed != 0) PyErr_Clear();  // another hook forbids it: texts are looked for elsewhere
    Py_RETURN_NONE;
}

/// _noted_texts(): the newest first, as bytes.
static PyObject* noted_texts(PyObject*, PyObject*) noexcept {
    std::deque<std::string> texts;
    {
        UnfiledTexts& held = unfiled_texts();
        std::lock_guard guard(held.mutex);  // not around calls of Python, which may compile
        texts = held.texts;
    }
    Ref list(PyList_New(0));
    for (auto it = texts.rbegin(); list && it != texts.rend(); ++it) {
        Ref text(PyBytes_FromStringAndSize(it->data(), static_cast<Py_ssize_t>(it->size())));
        if (!text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
    }
    return list.release();
}

static PyMethodDef capture_functions[] = {{"_is_value", is_value, METH_O, nullptr},
                                          {"_note_texts", note_texts, METH_NOARGS, nullptr},
                                          {"_noted_texts", noted_texts, METH_NOARGS, nullptr},
                                          {"_input_buffer", input_buffer, METH_NOARGS, nullptr},
                                          {nullptr, nullptr, 0, nullptr}};

bool add_captures(PyObject* module) {
    return PyModule_AddFunctions(module, capture_functions) == 0;
}

}  // namespace unisono::python
