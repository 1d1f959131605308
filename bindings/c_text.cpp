// C text as Python sees it: _c_text compiles, and gives each function as a capsule that a
// Dispatcher takes in place of a flattened function.
#include "c_text.h"

#include <map>

#include "backends/codegen/c_text.h"
#include "errors.h"
#include "frontend/tree.h"
#include "jit_dispatch.h"

namespace unisono::python {

namespace {

using codegen::CType;

constexpr const char* capsule_name = "unisono.native_source";

std::optional<DType> dtype_of(CType::Kind kind, int bytes, bool is_signed) {
    switch (kind) {
        case CType::Kind::Bool: return DType::Bool;
        case CType::Kind::Float: return bytes == 4 ? DType::Float32 : DType::Float64;
        case CType::Kind::Integer:
            switch (bytes) {
                case 1: return is_signed ? DType::Int8 : DType::UInt8;
                case 2: return is_signed ? DType::Int16 : DType::UInt16;
                case 4: return is_signed ? DType::Int32 : DType::UInt32;
                case 8: return is_signed ? DType::Int64 : DType::UInt64;
                default: return std::nullopt;
            }
        default: return std::nullopt;
    }
}

std::string declaration_of(const codegen::CFunction& f) {
    std::string text = f.result.spelling + " " + f.name + "(";
    for (std::size_t k = 0; k < f.params.size(); ++k)
        text += (k ? ", " : "") + f.params[k].spelling +
                (f.param_names[k].empty() ? "" : " " + f.param_names[k]);
    return text + (f.is_variadic ? ", ...)" : ")");
}

/// Why Python cannot call the function, or empty.
std::string fill(const codegen::CFunction& f, frontend::NativeFunction& made) {
    if (f.is_variadic) return "it takes any number of arguments";
    for (const CType& t : f.params) {
        frontend::NativeParam p;
        p.spelling = t.spelling;
        p.is_pointer = t.kind == CType::Kind::Pointer;
        auto dtype = p.is_pointer ? dtype_of(t.target, t.target_bytes, t.target_signed)
                                  : dtype_of(t.kind, t.bytes, t.is_signed);
        if (!dtype && !p.is_pointer) return "it takes " + t.spelling + " by value";
        p.dtype = dtype.value_or(DType::UInt8);  // memory of any kind
        p.writes = !t.target_const;
        made.params.push_back(p);
    }
    if (f.result.kind == CType::Kind::Void) return {};
    made.result = dtype_of(f.result.kind, f.result.bytes, f.result.is_signed);
    return made.result ? "" : "it returns " + f.result.spelling;
}

std::string key_of(const std::string& bytes) {
    std::uint64_t a = 14695981039346656037ull, b = 0x9E3779B97F4A7C15ull;
    for (char c : bytes) {
        a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
        b = (b + static_cast<unsigned char>(c)) * 0xD6E8FEB86659FD93ull;
        b ^= b >> 29;
    }
    return std::to_string(a) + "-" + std::to_string(b) + "-" + std::to_string(bytes.size());
}

void delete_source(PyObject* capsule) {
    delete static_cast<std::shared_ptr<frontend::Source>*>(
        PyCapsule_GetPointer(capsule, capsule_name));
}

std::vector<std::string> texts_of(PyObject* list) {
    std::vector<std::string> made;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        const char* text = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!text) throw PythonError{};
        made.emplace_back(text);
    }
    return made;
}

/// (name, declaration, names of parameters, capsule or the reason why there is none)
PyObject* function_row(const codegen::CFunction& f, const std::string& file,
                       const std::shared_ptr<const ir::NativeCode>& code) {
    auto native = std::make_shared<frontend::NativeFunction>();
    native->code = code;
    native->symbol = f.name;
    native->declaration = declaration_of(f);
    std::string why = fill(f, *native);
    Ref parameters(PyList_New(0));
    if (!parameters) throw PythonError{};
    if (!why.empty())
        return Py_BuildValue("(ssOs)", f.name.c_str(), native->declaration.c_str(),
                             parameters.get(), why.c_str());
    auto source = std::make_shared<frontend::Source>();
    source->name = f.name;
    source->file = file;
    source->first_line = f.line;
    source->body.kind = frontend::NodeKind::Block;
    source->body.place = {f.line, 0, f.line, 1};
    for (std::size_t k = 0; k < f.params.size(); ++k)
        source->params.push_back(f.param_names[k].empty() ? "p" + std::to_string(k)
                                                          : f.param_names[k]);
    source->positional = source->params.size();
    for (const std::string& p : source->params) {
        Ref text(PyUnicode_FromString(p.c_str()));
        if (!text || PyList_Append(parameters.get(), text.get()) < 0) throw PythonError{};
    }
    source->native = native;
    auto* held = new std::shared_ptr<frontend::Source>(source);
    PyObject* capsule = PyCapsule_New(held, capsule_name, delete_source);
    if (!capsule) {
        delete held;
        throw PythonError{};
    }
    return Py_BuildValue("(ssON)", f.name.c_str(), native->declaration.c_str(), parameters.get(),
                         capsule);
}

/// Of the variables of one text: the same in each process that loads the same texts in this order,
/// so that code which names them can come from disk.
std::string variable_prefix(const codegen::CText& text) {
    static auto& loaded = *new std::map<std::string, int>;
    std::string all = text.text + '\0' + text.file + '\0' + text.declarations;
    for (const std::string& m : text.macros) all += '\0' + m;
    std::string key = key_of(all);
    return "unisono_variable_" + key + "_" + std::to_string(loaded[key]++) + "_";
}

/// (name, name of its dtype or None, extents, address, bytes); the memory is made here.
PyObject* variable_row(const codegen::CVariable& v) {
    auto address = reinterpret_cast<std::uintptr_t>(codegen::add_variable(v));
    auto dtype = dtype_of(v.type.kind, v.type.bytes, v.type.is_signed);
    Ref extents(PyTuple_New(static_cast<Py_ssize_t>(v.extents.size())));
    if (!extents) throw PythonError{};
    for (std::size_t k = 0; k < v.extents.size(); ++k)
        PyTuple_SET_ITEM(extents.get(), static_cast<Py_ssize_t>(k),
                         PyLong_FromLongLong(v.extents[k]));
    return Py_BuildValue("(szOKn)", v.name.c_str(),
                         dtype ? std::string(unisono::name(*dtype)).c_str() : nullptr,
                         extents.get(), static_cast<unsigned long long>(address),
                         static_cast<Py_ssize_t>(v.initial.size()));
}

/// _c_text(text, file, declarations, folders, macros): (functions, constants, variables that are
/// not static, names of variables that cannot be had)
PyObject* c_text(PyObject*, PyObject* args) {
    const char *text, *file, *declarations;
    PyObject *folders, *macros;
    if (!PyArg_ParseTuple(args, "sssO!O!", &text, &file, &declarations, &PyList_Type, &folders,
                          &PyList_Type, &macros))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        codegen::CText given{text, file, declarations, texts_of(folders), texts_of(macros), {}};
        given.prefix = variable_prefix(given);
        codegen::CResult made;
        try {
            made = codegen::compile_c(given);
        } catch (const Error& e) {
            throw Error(e.kind(), e.what());
        }
        auto code = std::make_shared<ir::NativeCode>();
        code->key = key_of(made.bitcode);
        code->bitcode = std::move(made.bitcode);
        Ref functions(PyList_New(0)), constants(PyDict_New());
        if (!functions || !constants) throw PythonError{};
        for (const auto& f : made.functions) {
            Ref row(function_row(f, file, code));
            if (!row || PyList_Append(functions.get(), row.get()) < 0) throw PythonError{};
        }
        for (const auto& c : made.constants) {
            Ref value(PyLong_FromLongLong(c.value));
            if (!value || PyDict_SetItemString(constants.get(), c.name.c_str(), value.get()) < 0)
                throw PythonError{};
        }
        Ref variables(PyList_New(0));
        if (!variables) throw PythonError{};
        for (const auto& v : made.variables) {
            Ref row(variable_row(v));
            if (!row || (v.is_visible && PyList_Append(variables.get(), row.get()) < 0))
                throw PythonError{};
        }
        return Py_BuildValue("(OOOs)", functions.get(), constants.get(), variables.get(),
                             made.refused.c_str());
    });
}

/// _open_library(path)
PyObject* open_library(PyObject*, PyObject* path) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const char* text = PyUnicode_AsUTF8(path);
        if (!text) throw PythonError{};
        codegen::open_library(text);
        Py_RETURN_NONE;
    });
}

PyMethodDef functions[] = {{"_c_text", c_text, METH_VARARGS, nullptr},
                           {"_open_library", open_library, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::shared_ptr<frontend::Source> native_source(PyObject* object) {
    if (!PyCapsule_IsValid(object, capsule_name)) return nullptr;
    return *static_cast<std::shared_ptr<frontend::Source>*>(
        PyCapsule_GetPointer(object, capsule_name));
}

bool add_c_text(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace unisono::python
