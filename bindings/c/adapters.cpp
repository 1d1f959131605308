// Reads the forms that python/unisono/_jit/c_forms.py writes.
#include "c/adapters.h"

#include "errors.h"
#include "jit/values/records.h"

namespace unisono::python {

namespace {

std::string text_at(PyObject* tuple, Py_ssize_t i) {
    const char* text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i));
    if (!text) throw PythonError{};
    return text;
}

DType dtype_at(PyObject* tuple, Py_ssize_t i) {
    bool found = true;
    DType t = dtype_from_name(text_at(tuple, i), found);
    UNISONO_ASSERT(found);
    return t;
}

/// (kind, name, spelling, ...)
frontend::NativeForm form_of(PyObject* row) {
    using Kind = frontend::NativeForm::Kind;
    frontend::NativeForm made;
    std::string kind = text_at(row, 0);
    made.name = text_at(row, 1);
    made.spelling = text_at(row, 2);
    auto items = [&](Py_ssize_t i) {
        PyObject* list = PyTuple_GET_ITEM(row, i);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(list); ++k)
            made.items.push_back(form_of(PyTuple_GET_ITEM(list, k)));
    };
    if (kind == "plain") {
        if (PyTuple_GET_ITEM(row, 3) != Py_None) made.dtype = dtype_at(row, 3);
    } else if (kind == "struct") {
        made.kind = Kind::Struct;
        made.record = record_of(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(row, 3)));
        items(4);
    } else if (kind == "complex") {
        made.kind = Kind::Complex;
        items(3);
    } else if (kind == "items") {
        made.kind = Kind::Items;
        items(3);
    } else if (kind == "address") {
        made.kind = Kind::Address;
        made.writes = PyTuple_GET_ITEM(row, 3) == Py_False;
        made.size = PyLong_AsLongLong(PyTuple_GET_ITEM(row, 4));
        PyObject* leaves = PyTuple_GET_ITEM(row, 5);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(leaves); ++k) {
            PyObject* leaf = PyTuple_GET_ITEM(leaves, k);
            made.leaves.push_back({text_at(leaf, 0), PyLong_AsLongLong(PyTuple_GET_ITEM(leaf, 1)),
                                   dtype_at(leaf, 2)});
        }
    } else if (kind == "refused") {
        made.kind = Kind::Refused;
    } else {
        made.kind = Kind::Callback;
        PyObject* args = PyTuple_GET_ITEM(row, 3);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
            made.args.push_back(text_at(args, k));
        made.result = text_at(row, 4);
    }
    return made;
}

void name_leaves(const frontend::NativeForm& form, frontend::NativeFunction& native,
                 std::size_t& k) {
    if (form.items.empty()) {
        native.params.at(k).spelling = form.spelling;
        native.params.at(k++).name = form.name;
    }
    for (const auto& item : form.items) name_leaves(item, native, k);
}

}  // namespace

/// `text` holds (forms of the parameters, form of the result or None, whether it may throw, whether
/// arrays may lie in Fortran's order), as Python prints them.
void set_forms(frontend::NativeFunction& native, const std::string& text) {
    Ref helpers(PyImport_ImportModule("unisono._jit.c_forms"));
    if (!helpers) throw PythonError{};
    Ref both(PyObject_CallMethod(helpers.get(), "read", "s", text.c_str()));
    if (!both) throw PythonError{};
    native.forms.clear();
    PyObject* params = PyTuple_GET_ITEM(both.get(), 0);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(params); ++k)
        native.forms.push_back(form_of(PyTuple_GET_ITEM(params, k)));
    PyObject* result = PyTuple_GET_ITEM(both.get(), 1);
    if (result != Py_None) native.result_form = form_of(result);
    native.may_throw = PyTuple_GET_ITEM(both.get(), 2) == Py_True;
    native.any_order = PyTuple_GET_ITEM(both.get(), 3) == Py_True;
    native.form_text = text;
    if (native.forms.empty()) return;
    std::size_t k = 0;
    for (const auto& form : native.forms) {
        if (form.kind != frontend::NativeForm::Kind::Refused) name_leaves(form, native, k);
    }
    for (; k < native.params.size(); ++k) native.params[k].name = "result";
}

}  // namespace unisono::python
