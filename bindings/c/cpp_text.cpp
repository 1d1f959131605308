#include "c/cpp_text.h"

#include "c/text.h"
#include "errors.h"
#include "reference.h"

namespace unisono::python {

namespace {

using codegen::CType;

/// (as C++ writes it, form, class, whether what it points to is const, name of the number's dtype)
PyObject* type_row(const CType& t) {
    bool is_pointer = t.kind == CType::Kind::Pointer;
    auto dtype = is_pointer ? dtype_of(t.target, t.target_bytes, t.target_signed)
                            : dtype_of(t.kind, t.bytes, t.is_signed);
    std::string form = t.kind == CType::Kind::Void     ? "void"
                       : t.target_function             ? "other"
                       : dtype                         ? "number"
                       : !t.record.empty()             ? "record"
                       : is_pointer && !t.is_reference ? "memory"
                                                       : "other";
    bool has_end = is_pointer && (form == "number" || form == "record");
    if (has_end) form += t.is_reference ? "&" : "*";
    std::string text(dtype ? unisono::name(*dtype) : "");
    return Py_BuildValue("(sssOs)", t.spelling.c_str(), form.c_str(), t.record.c_str(),
                         t.target_const ? Py_True : Py_False, text.c_str());
}

void append(const Ref& list, PyObject* row) {
    Ref held(row);
    if (!list || !held || PyList_Append(list.get(), held.get()) < 0) throw PythonError{};
}

/// (name, qualified name, type of the result, [(name, type)], defaults, static, may throw)
PyObject* function_row(const codegen::CppFunction& f) {
    Ref params(PyList_New(0));
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        bool is_named = k < f.param_names.size() && !f.param_names[k].empty();
        std::string name = is_named ? f.param_names[k] : "p" + std::to_string(k);
        append(params, Py_BuildValue("(sN)", name.c_str(), type_row(f.params[k])));
    }
    return Py_BuildValue("(ssNOiOO)", f.name.c_str(), f.qualified.c_str(), type_row(f.result),
                         params.get(), f.defaults, f.is_static ? Py_True : Py_False,
                         f.may_throw ? Py_True : Py_False);
}

PyObject* function_rows(const std::vector<codegen::CppFunction>& list) {
    Ref made(PyList_New(0));
    for (const auto& f : list) append(made, function_row(f));
    return Py_NewRef(made.get());
}

/// (name, base, constructors, methods, fields as (name, type), whether it can be deleted)
PyObject* class_row(const codegen::CppClass& c) {
    Ref fields(PyList_New(0));
    for (const auto& f : c.fields)
        append(fields, Py_BuildValue("(sN)", f.name.c_str(), type_row(f.type)));
    return Py_BuildValue("(ssNNOO)", c.name.c_str(), c.base.c_str(), function_rows(c.makers),
                         function_rows(c.methods), fields.get(), c.can_delete ? Py_True : Py_False);
}

/// _cpp_text(text, file, folders, macros, whether with the system's headers): (functions, classes,
/// constants of enumerations, variables that cannot change)
PyObject* cpp_text(PyObject*, PyObject* args) {
    const char *text, *file;
    PyObject *folders, *macros;
    int uses_system;
    if (!PyArg_ParseTuple(args, "ssO!O!p", &text, &file, &PyList_Type, &folders, &PyList_Type,
                          &macros, &uses_system))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        codegen::CText given{
            text, file, {}, texts_of(folders), texts_of(macros), {}, true, uses_system != 0};
        codegen::CResult made;
        try {
            made = codegen::compile_c(given);
        } catch (const Error& e) {
            throw Error(e.kind(), e.what());  // it shows its place itself
        }
        Ref classes(PyList_New(0)), constants(PyDict_New());
        for (const auto& c : made.cpp_classes) append(classes, class_row(c));
        for (const auto& c : made.constants) {
            Ref value(PyLong_FromLongLong(c.value));
            if (!value || PyDict_SetItemString(constants.get(), c.name.c_str(), value.get()) < 0)
                throw PythonError{};
        }
        Ref fixed(PyList_New(0));
        for (const auto& v : made.fixed) append(fixed, constant_row(v));
        return Py_BuildValue("(NOOO)", function_rows(made.cpp_functions), classes.get(),
                             constants.get(), fixed.get());
    });
}

PyMethodDef functions[] = {{"_cpp_text", cpp_text, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_cpp_text(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
