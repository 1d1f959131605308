#define PY_SSIZE_T_CLEAN  // sizes of bytes
#include "c/native.h"

#include "c/adapters.h"
#include "c/text.h"
#include "errors.h"
#include "frontend/syntax/tree.h"
#include "reference.h"

namespace unisono::python {

namespace {

PyObject* list_of(const std::vector<std::string>& texts) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(texts.size()));
    if (!list) throw PythonError{};
    for (std::size_t k = 0; k < texts.size(); ++k)
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(k), PyUnicode_FromString(texts[k].c_str()));
    return list;
}

/// _native_with_forms(capsule, name, declaration, parameters, forms as text): the function as
/// compiled functions see it.
PyObject* native_with_forms(PyObject*, PyObject* args) {
    PyObject *capsule, *parameters;
    const char *name, *declaration, *text;
    if (!PyArg_ParseTuple(args, "OssO!s", &capsule, &name, &declaration, &PyList_Type, &parameters,
                          &text))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        auto given = native_source(capsule);
        if (!given) fail(ErrorKind::Internal, "_native_with_forms: takes a function of C text");
        auto native = std::make_shared<frontend::NativeFunction>(*given->native);
        native->declaration = declaration;
        set_forms(*native, text);
        auto source = source_of(native, given->file, given->first_line, texts_of(parameters));
        source->name = name;
        return capsule_of(std::move(source));
    });
}

/// _native_state(capsule): what _native_from makes the function of again, in another process.
PyObject* native_state(PyObject*, PyObject* capsule) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        auto source = native_source(capsule);
        if (!source) fail(ErrorKind::Internal, "_native_state: takes a function of C text");
        const frontend::NativeFunction& n = *source->native;
        Ref params(PyList_New(0));
        if (!params) throw PythonError{};
        for (std::size_t k = 0; k < n.params.size(); ++k) {
            const frontend::NativeParam& p = n.params[k];
            Ref row(Py_BuildValue("(iiis)", static_cast<int>(p.dtype), p.is_pointer, p.writes,
                                  p.spelling.c_str()));
            if (!row || PyList_Append(params.get(), row.get()) < 0) throw PythonError{};
        }
        Ref names(list_of(source->params));
        const std::string& code = n.code->bitcode;
        return Py_BuildValue("(ssOssiiOiisy#)", source->name.c_str(), n.declaration.c_str(),
                             names.get(), n.symbol.c_str(), source->file.c_str(),
                             source->first_line, n.result ? static_cast<int>(*n.result) : -1,
                             params.get(), n.is_pure, n.is_short, n.form_text.c_str(), code.data(),
                             static_cast<Py_ssize_t>(code.size()));
    });
}

/// _native_from(what _native_state gave): a capsule
PyObject* native_from(PyObject*, PyObject* state) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const char *name, *declaration, *symbol, *file, *forms, *bytes;
        int line, result, is_pure, is_short;
        Py_ssize_t size;
        PyObject *names, *params;
        if (!PyArg_ParseTuple(state, "ssO!ssiiO!iisy#", &name, &declaration, &PyList_Type, &names,
                              &symbol, &file, &line, &result, &PyList_Type, &params, &is_pure,
                              &is_short, &forms, &bytes, &size))
            throw PythonError{};
        auto code = std::make_shared<ir::NativeCode>();
        code->bitcode.assign(bytes, static_cast<std::size_t>(size));
        code->key = key_of(code->bitcode);
        auto native = std::make_shared<frontend::NativeFunction>();
        native->code = code;
        native->symbol = symbol;
        native->declaration = declaration;
        native->is_pure = is_pure != 0;
        native->is_short = is_short != 0;
        if (result >= 0) native->result = static_cast<DType>(result);
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(params); ++k) {
            const char* spelling;
            int dtype, is_pointer, writes;
            if (!PyArg_ParseTuple(PyList_GET_ITEM(params, k), "iiis", &dtype, &is_pointer, &writes,
                                  &spelling))
                throw PythonError{};
            native->params.push_back(
                {static_cast<DType>(dtype), is_pointer != 0, writes != 0, spelling, {}});
        }
        if (*forms) set_forms(*native, forms);
        auto source = source_of(native, file, line, texts_of(names));
        source->name = name;
        return capsule_of(std::move(source));
    });
}

PyMethodDef functions[] = {{"_native_with_forms", native_with_forms, METH_VARARGS, nullptr},
                           {"_native_state", native_state, METH_O, nullptr},
                           {"_native_from", native_from, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_c_native(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
