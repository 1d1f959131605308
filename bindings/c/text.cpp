// C text as Python sees it: _c_text compiles, and gives each function as a capsule that a
// Dispatcher takes in place of a flattened function.
#define PY_SSIZE_T_CLEAN  // sizes of bytes
#include "c/text.h"

#include <algorithm>
#include <map>
#include <set>

#include "backends/codegen/c_text.h"
#include "c/addresses.h"
#include "c/bound.h"
#include "c/cpp_text.h"
#include "c/native.h"
#include "errors.h"
#include "frontend/native.h"
#include "frontend/syntax/tree.h"
#include "jit/dispatch.h"

namespace unisono::python {

namespace {

using codegen::CType;

constexpr const char* capsule_name = "unisono.native_source";

}  // namespace

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

namespace {

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
        if (t.target_function) return "it takes a function, " + t.spelling;
        auto dtype = p.is_pointer ? dtype_of(t.target, t.target_bytes, t.target_signed)
                                  : dtype_of(t.kind, t.bytes, t.is_signed);
        if (p.is_pointer && t.target == CType::Kind::Complex)
            dtype = t.target_bytes == 8 ? DType::Complex64 : DType::Complex128;
        if (!dtype && !p.is_pointer) return "it takes " + t.spelling + " by value";
        p.dtype = dtype.value_or(DType::UInt8);  // memory of any kind
        p.writes = !t.target_const;
        made.params.push_back(p);
    }
    if (f.result.kind == CType::Kind::Void) return {};
    made.result = dtype_of(f.result.kind, f.result.bytes, f.result.is_signed);
    return made.result ? "" : "it returns " + f.result.spelling;
}

void delete_source(PyObject* capsule) {
    delete static_cast<std::shared_ptr<frontend::Source>*>(
        PyCapsule_GetPointer(capsule, capsule_name));
}

}  // namespace

std::vector<std::string> texts_of(PyObject* list) {
    std::vector<std::string> made;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        const char* text = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!text) throw PythonError{};
        made.emplace_back(text);
    }
    return made;
}

namespace {

/// C functions that are more than a function of their arguments; guarded by Python's lock.
std::set<std::pair<std::string, std::string>>& functions_with_state() {
    static auto& all = *new std::set<std::pair<std::string, std::string>>;
    return all;
}

/// (as C writes it, form, name of the struct)
PyObject* type_row(const CType& t) {
    const char* form = t.target_function                                     ? "function"
                       : t.kind == CType::Kind::Void                         ? "void"
                       : t.kind == CType::Kind::Pointer && !t.record.empty() ? "record*"
                       : t.kind == CType::Kind::Pointer                      ? "pointer"
                       : t.kind == CType::Kind::Other && !t.record.empty()   ? "record"
                       : t.kind == CType::Kind::Complex                      ? "complex"
                       : t.is_wide                                           ? "long double"
                                                                             : "number";
    return Py_BuildValue("(sssO)", t.spelling.c_str(), form, t.record.c_str(),
                         t.target_const ? Py_True : Py_False);
}

/// Of the result, and a tuple of those of the parameters.
PyObject* types_row(const codegen::CFunction& f) {
    Ref params(PyTuple_New(static_cast<Py_ssize_t>(f.params.size())));
    if (!params) throw PythonError{};
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        PyObject* row = type_row(f.params[k]);
        if (!row) throw PythonError{};
        PyTuple_SET_ITEM(params.get(), static_cast<Py_ssize_t>(k), row);
    }
    return Py_BuildValue("(NO)", type_row(f.result), params.get());
}

}  // namespace

PyObject* capsule_of(std::shared_ptr<frontend::Source> source) {
    auto* held = new std::shared_ptr<frontend::Source>(std::move(source));
    PyObject* capsule = PyCapsule_New(held, capsule_name, delete_source);
    if (!capsule) {
        delete held;
        throw PythonError{};
    }
    return capsule;
}

std::shared_ptr<frontend::Source> source_of(std::shared_ptr<frontend::NativeFunction> native,
                                            const std::string& file, int line,
                                            std::vector<std::string> params) {
    if (!native->is_pure) functions_with_state().emplace(native->code->key, native->symbol);
    auto source = std::make_shared<frontend::Source>();
    source->name = native->symbol;
    source->file = file;
    source->first_line = line;
    source->body.kind = frontend::NodeKind::Block;
    source->body.place = {line, 0, line, 1};
    source->params = std::move(params);
    source->positional = source->params.size();
    source->native = std::move(native);
    return source;
}

namespace {

/// (name, declaration, names of parameters, capsule or the reason why there is none, types)
PyObject* function_row(const codegen::CFunction& f, const std::string& file,
                       const std::shared_ptr<const ir::NativeCode>& code) {
    auto native = std::make_shared<frontend::NativeFunction>();
    native->code = code;
    native->symbol = f.name;
    native->declaration = declaration_of(f);
    native->is_pure = f.is_pure;
    native->is_short = f.is_short;
    std::string why = fill(f, *native), declaration = native->declaration;
    Ref parameters(PyList_New(0)), types(types_row(f));
    if (!parameters || !types) throw PythonError{};
    std::vector<std::string> names;
    for (std::size_t k = 0; k < f.params.size(); ++k) {
        names.push_back(f.param_names[k].empty() ? "p" + std::to_string(k) : f.param_names[k]);
        Ref text(PyUnicode_FromString(names.back().c_str()));
        if (!text || PyList_Append(parameters.get(), text.get()) < 0) throw PythonError{};
    }
    if (!why.empty())
        return Py_BuildValue("(ssOsO)", f.name.c_str(), declaration.c_str(), parameters.get(),
                             why.c_str(), types.get());
    return Py_BuildValue("(ssONO)", f.name.c_str(), declaration.c_str(), parameters.get(),
                         capsule_of(source_of(native, file, f.line, std::move(names))),
                         types.get());
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

/// Name of its dtype; "text" for const char*, null for other types.
const char* name_of(const CType& t, std::string& held) {
    auto dtype = dtype_of(t.kind, t.bytes, t.is_signed);
    bool is_char = t.target == CType::Kind::Integer && t.target_bytes == 1;
    if (t.kind == CType::Kind::Pointer && is_char && t.target_const) return "text";
    if (dtype) held = std::string(unisono::name(*dtype));
    return dtype ? held.c_str() : nullptr;
}

PyObject* extents_of(const std::vector<long long>& list) {
    PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(list.size()));
    if (!made) throw PythonError{};
    for (std::size_t k = 0; k < list.size(); ++k)
        PyTuple_SET_ITEM(made, static_cast<Py_ssize_t>(k), PyLong_FromLongLong(list[k]));
    return made;
}

/// (name, bytes, fields as (name, dtype or None, struct, extents, offset, bytes, whether it is a
/// pointer, bits of a bit-field, the first of these from the offset), whether these are all and lie
/// apart)
PyObject* struct_row(const codegen::CStruct& s) {
    Ref fields(PyList_New(0));
    if (!fields) throw PythonError{};
    for (const codegen::CField& f : s.fields) {
        std::string held;
        bool is_pointer = f.type.kind == CType::Kind::Pointer;
        Ref row(Py_BuildValue(
            "(szsNLiOii)", f.name.c_str(), is_pointer ? nullptr : name_of(f.type, held),
            f.type.kind == CType::Kind::Other ? f.type.record.c_str() : "", extents_of(f.extents),
            f.offset, f.type.bytes, is_pointer ? Py_True : Py_False, f.bits, f.first_bit));
        if (!row || PyList_Append(fields.get(), row.get()) < 0) throw PythonError{};
    }
    return Py_BuildValue("(sLOO)", s.name.c_str(), s.size, fields.get(),
                         s.is_plain ? Py_True : Py_False);
}

/// (name, name of its dtype or None, extents, address, bytes); the memory is made here.
PyObject* variable_row(const codegen::CVariable& v) {
    auto address = reinterpret_cast<std::uintptr_t>(codegen::add_variable(v));
    std::string held;
    return Py_BuildValue("(szNKn)", v.name.c_str(), name_of(v.type, held), extents_of(v.extents),
                         static_cast<unsigned long long>(address),
                         static_cast<Py_ssize_t>(v.initial.size()));
}

}  // namespace

PyObject* constant_row(const codegen::CVariable& v) {
    std::string held;
    const char* dtype = name_of(v.type, held);
    const char* record = v.type.kind == CType::Kind::Other ? v.type.record.c_str() : "";
    if (v.texts.empty())
        return Py_BuildValue("(szsNy#)", v.name.c_str(), dtype, record, extents_of(v.extents),
                             v.initial.data(), static_cast<Py_ssize_t>(v.initial.size()));
    Ref texts(PyList_New(0));
    if (!texts) throw PythonError{};
    for (const auto& t : v.texts) {
        Ref text(t ? PyUnicode_DecodeUTF8(t->data(), static_cast<Py_ssize_t>(t->size()),
                                          "surrogateescape")
                   : Py_NewRef(Py_None));
        if (!text || PyList_Append(texts.get(), text.get()) < 0) throw PythonError{};
    }
    return Py_BuildValue("(szsNO)", v.name.c_str(), dtype, record, extents_of(v.extents),
                         texts.get());
}

namespace {

/// _c_text(text, file, declarations, folders, macros[, 1 for C++, 2 with the system's headers]):
/// (functions, constants, variables that are
/// not static, names of variables that cannot be had, structs, macros, what _add_variable takes of
/// each variable, variables that cannot change)
PyObject* c_text(PyObject*, PyObject* args) {
    const char *text, *file, *declarations;
    PyObject *folders, *macros;
    int language = 0;
    if (!PyArg_ParseTuple(args, "sssO!O!|i", &text, &file, &declarations, &PyList_Type, &folders,
                          &PyList_Type, &macros, &language))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        codegen::CText given{text, file,         declarations, texts_of(folders), texts_of(macros),
                             {},   language > 0, language == 2};
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
        Ref variables(PyList_New(0)), structs(PyList_New(0)), defined(PyDict_New()),
            states(PyList_New(0)), fixed(PyList_New(0));
        if (!variables || !structs || !defined || !states || !fixed) throw PythonError{};
        for (const auto& v : made.variables) {
            Ref row(variable_row(v));
            if (!row || (v.is_visible && PyList_Append(variables.get(), row.get()) < 0))
                throw PythonError{};
            Ref state(Py_BuildValue("(sy#)", v.symbol.c_str(), v.initial.data(),
                                    static_cast<Py_ssize_t>(v.initial.size())));
            if (!state || PyList_Append(states.get(), state.get()) < 0) throw PythonError{};
        }
        for (const auto& v : made.fixed) {
            Ref row(constant_row(v));
            if (!row || PyList_Append(fixed.get(), row.get()) < 0) throw PythonError{};
        }
        for (const auto& s : made.structs) {
            Ref row(struct_row(s));
            if (!row || PyList_Append(structs.get(), row.get()) < 0) throw PythonError{};
        }
        for (const auto& [name, value] : made.macros) {
            Ref text_of(PyUnicode_FromString(value.c_str()));
            if (!text_of || PyDict_SetItemString(defined.get(), name.c_str(), text_of.get()) < 0)
                throw PythonError{};
        }
        return Py_BuildValue("(OOOsOOOO)", functions.get(), constants.get(), variables.get(),
                             made.refused.c_str(), structs.get(), defined.get(), states.get(),
                             fixed.get());
    });
}

/// _add_variable(symbol, initial bytes)
PyObject* add_variable(PyObject*, PyObject* args) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const char *symbol, *bytes;
        Py_ssize_t size;
        if (!PyArg_ParseTuple(args, "sy#", &symbol, &bytes, &size)) throw PythonError{};
        codegen::CVariable v;
        v.symbol = symbol;
        v.initial.assign(bytes, static_cast<std::size_t>(size));
        codegen::add_variable(v);
        Py_RETURN_NONE;
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
                           {"_add_variable", add_variable, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::string key_of(const std::string& bytes) {
    std::uint64_t a = 14695981039346656037ull, b = 0x9E3779B97F4A7C15ull;
    for (char c : bytes) {
        a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
        b = (b + static_cast<unsigned char>(c)) * 0xD6E8FEB86659FD93ull;
        b ^= b >> 29;
    }
    return std::to_string(a) + "-" + std::to_string(b) + "-" + std::to_string(bytes.size());
}

std::shared_ptr<frontend::Source> native_source(PyObject* object) {
    if (!PyCapsule_IsValid(object, capsule_name)) return nullptr;
    return *static_cast<std::shared_ptr<frontend::Source>*>(
        PyCapsule_GetPointer(object, capsule_name));
}

bool has_state(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const auto& f) {
        return (f.native && functions_with_state().count({f.native->key, f.symbol}) > 0) ||
               std::any_of(f.natives.begin(), f.natives.end(), frontend::has_state);
    });
}

bool add_c_text(PyObject* module) {
    return PyModule_AddFunctions(module, functions) == 0 && add_c_native(module) &&
           add_cpp_text(module) && add_bound_call(module) && add_address_call(module);
}

}  // namespace unisono::python
