// Machine code for modules that are built ahead of time: recorded, and handed back.
#define PY_SSIZE_T_CLEAN
#include "jit/bundle.h"

#include "backends/codegen/bundle.h"
#include "backends/codegen/plugin.h"
#include "errors.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// _record_code(function): the code that the call needs, as pairs of bytes
PyObject* record_code(PyObject*, PyObject* function) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        codegen::Recording recording;
        Ref done(PyObject_CallNoArgs(function));
        if (!done) return nullptr;
        Ref list(PyList_New(0));
        for (const auto& [key, code] : recording.code) {
            Ref pair(Py_BuildValue("(y#y#)", key.data(), static_cast<Py_ssize_t>(key.size()),
                                   code.data(), static_cast<Py_ssize_t>(code.size())));
            if (!list || !pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
        }
        return list.release();
    });
}

/// _add_code(key, code)
PyObject* add_code(PyObject*, PyObject* args) {
    const char *key, *code;
    Py_ssize_t key_bytes, code_bytes;
    if (!PyArg_ParseTuple(args, "y#y#", &key, &key_bytes, &code, &code_bytes)) return nullptr;
    return guarded<PyObject*>(nullptr, [&] {
        codegen::add_bundled({key, static_cast<std::size_t>(key_bytes)},
                             {code, static_cast<std::size_t>(code_bytes)});
        return Py_NewRef(Py_None);
    });
}

/// _built_for(): (identity of this build, what the processor can do)
PyObject* built_for(PyObject*, PyObject*) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Ref list(PyList_New(0));
        for (const std::string& feature : codegen::processor_features()) {
            Ref text(PyUnicode_FromString(feature.c_str()));
            if (!list || !text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
        }
        return Py_BuildValue("(sO)", codegen::build_id().c_str(), list.get());
    });
}

PyMethodDef functions[] = {{"_record_code", record_code, METH_O, nullptr},
                           {"_add_code", add_code, METH_VARARGS, nullptr},
                           {"_built_for", built_for, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_bundles(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
