// Reads functions as arguments: compiled ones, plain ones of the program, those known by name,
// methods.
#include "errors.h"
#include "frontend/syntax/tree.h"
#include "jit/dispatch.h"
#include "jit/values/arguments.h"
#include "reference.h"

namespace unisono::python {

/// The key holds where the function's source is; the specialisation keeps it alive.
void Arguments::add_function(const frontend::Source* source) {
    auto address = reinterpret_cast<std::uintptr_t>(source);
    key_.push_back(FunctionCode);
    key_.push_back(static_cast<std::uint32_t>(address));
    key_.push_back(static_cast<std::uint32_t>(address >> 32));
}

void Arguments::add_dispatch(Dispatch& function) {
    const auto source = function.source();
    add_function(source.get());
    function.add_captured(*source, *this);
}

/// What the function captured, as it is now, in the cells of the one that was compiled.
static void copy_cells(PyObject* from, PyObject* to) {
    PyObject* held = PyFunction_GET_CLOSURE(from);
    PyObject* own = PyFunction_GET_CLOSURE(to);
    for (Py_ssize_t k = 0; own && k < PyTuple_GET_SIZE(own); ++k) {
        PyObject* value = PyCell_GET(PyTuple_GET_ITEM(held, k));
        if (value != from) PyCell_Set(PyTuple_GET_ITEM(own, k), value);
    }
}

/// A function that is not compiled yet, or one that compiled code knows by its name; false for
/// others.
bool Arguments::add_callable(PyObject* object) {
    static PyObject* known = nullptr;
    PyObject* ask = kept(known, "unisono._jit.plain_functions", "argument_form");
    Ref form(ask ? PyObject_CallOneArg(ask, object) : nullptr);
    if (!form) throw PythonError{};
    if (form.get() == Py_None) return false;
    if (PyUnicode_Check(form.get())) {
        static std::set<std::string> names;
        const char* text = PyUnicode_AsUTF8(form.get());
        if (!text) throw PythonError{};
        key_.push_back(BuiltinCode);
        add_pointer(&*names.insert(text).first);
        return true;
    }
    Dispatch& function = *dispatch_of(form.get());
    kept_.push_back(std::move(form));
    const auto source = function.source();
    // No other thread runs between the two: functions of one text share the cells.
    if (PyFunction_Check(object) && function.function() != object)
        copy_cells(object, function.function());
    add_function(source.get());
    function.add_captured(*source, *this);
    return true;
}

/// A method of an object that compiled code knows; false for any other.
bool Arguments::add_bound(PyObject* method, const std::string& name) {
    PyObject *function = PyMethod_GET_FUNCTION(method), *self = PyMethod_GET_SELF(method);
    const auto& record = record_of(Py_TYPE(self));
    Dispatch* known = dispatch_of(function);
    std::shared_ptr<const frontend::Source> source;
    if (known) {
        source = known->source();
    } else if (record && record->find_method) {
        Ref text(PyObject_GetAttrString(function, "__name__"));
        const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
        if (!utf8) throw PythonError{};
        if (auto found = record->find_method(utf8)) source = found->source;
    }
    if (!source) return false;
    key_.push_back(BoundCode);
    add_pointer(source.get());
    add(self, name);
    return true;
}

}  // namespace unisono::python
