// Runs blocks of Python for compiled functions (un.python()), and knows the exceptions of programs.
#include "jit/python.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "array/object.h"
#include "core/native/block.h"
#include "core/native/native.h"
#include "errors.h"
#include "frontend/exceptions.h"
#include "frontend/interpreted.h"
#include "jit/source.h"
#include "jit/values/tables.h"
#include "jit/values/text.h"

namespace unisono::python {

namespace {

std::vector<PyObject*>& blocks() {
    static auto* all = new std::vector<PyObject*>;  // compiled code may run them at any time
    return *all;
}

std::int64_t item_of(const Ref& tuple, std::size_t k) {
    return PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k)));
}

/// The words of an array that a block gave back: a copy, side by side.
std::string put_array(PyObject* object, const char*& code, std::vector<std::int64_t>& words) {
    auto t = static_cast<DType>(code[1] - 'a');
    auto rank = static_cast<std::size_t>(code[2] - 'a');
    code += 3;
    std::string wanted =
        "array of " + std::string(unisono::name(t)) + " and rank " + std::to_string(rank);
    Ref bytes(PyObject_CallMethod(object, "tobytes", nullptr));
    Ref dtype(bytes ? PyObject_GetAttrString(object, "dtype") : nullptr);
    Ref shape(dtype ? PyObject_GetAttrString(object, "shape") : nullptr);
    Ref name(shape ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
    const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    if (!text) {
        PyErr_Clear();
        return wanted;
    }
    bool fits = unisono::name(t) == text && PyTuple_Check(shape.get()) &&
                static_cast<std::size_t>(PyTuple_GET_SIZE(shape.get())) == rank;
    if (!fits) return wanted;
    auto size = static_cast<std::int64_t>(PyBytes_GET_SIZE(bytes.get()));
    Block* block = make_block(std::max<std::int64_t>(size, 1));
    if (!block) throw std::bad_alloc();
    std::memcpy(block->data, PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(size));
    words.push_back(handle_of(block->data));
    words.push_back(handle_of(block));
    std::vector<std::int64_t> strides(rank);
    std::int64_t step = 1;
    for (std::size_t k = rank; k-- > 0;) {
        strides[k] = step;
        step *= item_of(shape, k);
    }
    for (std::size_t k = 0; k < rank; ++k) words.push_back(item_of(shape, k));
    words.insert(words.end(), strides.begin(), strides.end());
    return "";
}

/// The words of a number; the answer names what was expected.
std::string put_number(PyObject* object, DType t, std::vector<std::int64_t>& words) {
    auto wrong = [](const char* wanted) {
        PyErr_Clear();
        return std::string(wanted);
    };
    bool is_true_or_false = PyBool_Check(object);
    if (is_complex(t)) {
        Py_complex c = PyComplex_AsCComplex(object);
        if (PyErr_Occurred()) return wrong("complex");
        for (double part : {c.real, c.imag}) words.push_back(std::bit_cast<std::int64_t>(part));
    } else if (is_float(t)) {
        double x = is_true_or_false ? 0 : PyFloat_AsDouble(object);
        if (is_true_or_false || PyErr_Occurred()) return wrong("float");
        words.push_back(std::bit_cast<std::int64_t>(x));
    } else if (is_bool(t)) {
        bool is_numpy = std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) == 0;
        if (!is_true_or_false && !is_numpy) return wrong("bool");
        words.push_back(PyObject_IsTrue(object));
    } else {
        Ref whole(is_true_or_false ? nullptr : PyNumber_Index(object));
        if (!whole) return wrong("int");
        words.push_back(PyLong_AsLongLong(whole.get()));
        if (PyErr_Occurred()) throw PythonError{};
    }
    return "";
}

/// The words of what a block gave back; the answer names what was expected.
std::string put(PyObject* object, const char*& code, std::vector<std::int64_t>& words) {
    if (*code == 'A') return put_array(object, code, words);
    char kind = *code++;
    if (kind == '(') {
        Py_ssize_t i = 0, size = PyTuple_Check(object) ? PyTuple_GET_SIZE(object) : -1;
        for (; *code != ')'; ++i) {
            if (i >= size) return size < 0 ? "tuple" : "tuple with more items";
            std::string odd = put(PyTuple_GET_ITEM(object, i), code, words);
            if (!odd.empty()) return odd;
        }
        ++code;
        return size == i ? "" : "tuple of " + std::to_string(i);
    }
    if (kind == 'n') return object == Py_None ? "" : "None";
    if (kind == 't') {
        TableObjects plain;
        const char* one = "t";
        return plain.put(object, one, words).empty() ? "" : "str";
    }
    DType t = kind == 'f'   ? DType::Float64
              : kind == 'c' ? DType::Complex128
              : kind == 'b' ? DType::Bool
              : kind == 'N' ? static_cast<DType>(*code++ - 'a')
                            : DType::Int64;
    return put_number(object, t, words);
}

/// Gives up the references that the words of arrays hold.
void release(const char*& code, const std::int64_t*& words) {
    char kind = *code++;
    if (kind == 'A') {
        release_block(reinterpret_cast<Block*>(static_cast<std::uintptr_t>(words[1])));
        words += 2 + 2 * (code[1] - 'a');
        code += 2;
    } else if (kind == '(') {
        while (*code != ')') release(code, words);
        ++code;
    } else {
        bool is_pair = kind == 'c' || (kind == 'N' && is_complex(static_cast<DType>(*code - 'a')));
        if (kind == 'N') ++code;
        words += kind == 'n' ? 0 : is_pair ? 2 : 1;
    }
}

struct Release {
    const char* code;
    const std::int64_t* words;
    ~Release() {
        while (code && *code && *code != ' ') release(code, words);
    }
};

void run_block(std::int64_t* v) {
    PyObject* function = blocks().at(static_cast<std::size_t>(v[0]));
    auto bytes = static_cast<std::size_t>(v[1]), back_bytes = static_cast<std::size_t>(v[2]);
    const std::int64_t* at = v + 3;
    std::string code(reinterpret_cast<const char*>(at), bytes);
    at += (bytes + 7) / 8;
    std::string back(reinterpret_cast<const char*>(at), back_bytes);
    at += (back_bytes + 7) / 8;
    Release held{code.c_str(), at};
    std::vector<Ref> objects;
    std::vector<std::int64_t> words;
    {
        TableObjects tables;
        for (const char* c = code.c_str(); *c;) {
            objects.emplace_back(tables.object_from(c, at));
            if (!objects.back()) throw PythonError{};
        }
    }
    std::vector<PyObject*> args;
    for (const Ref& o : objects) args.push_back(o.get());
    Ref result(PyObject_Vectorcall(function, args.data(), args.size(), nullptr));
    if (!result) throw PythonError{};
    Py_ssize_t k = 0;
    std::vector<std::pair<std::size_t, const char*>> taken;  // words and code of each
    for (std::size_t from = 0; from < back.size(); ++k) {
        std::size_t colon = back.find(':', from);
        std::string name = back.substr(from, colon - from);
        const char* c = back.c_str() + colon + 1;
        PyObject* object = PyTuple_GET_ITEM(result.get(), k);
        taken.emplace_back(words.size(), c);
        std::string wanted = put(object, c, words);
        if (!wanted.empty()) {
            taken.pop_back();
            for (auto [first, its] : taken) const Release taken_back{its, words.data() + first};
            if (name.find('.') != std::string::npos)
                fail(ErrorKind::Type,
                     name + " gave " + Py_TYPE(object)->tp_name +
                         " here where the compiled function takes " + wanted +
                         ", as for other arguments of these types; call it in `with un.python():`");
            fail(ErrorKind::Type, "un.python(): '" + name + "' is " + wanted +
                                      " in the compiled function; got " + Py_TYPE(object)->tp_name +
                                      "; annotate '" + name +
                                      "' with the type that it gets, or convert it");
        }
        from = static_cast<std::size_t>(c - back.c_str()) + 1;
    }
    // What was passed is given up before its words are written over.
    { Release now = std::exchange(held, Release{nullptr, nullptr}); }
    v[0] = 0;
    std::copy(words.begin(), words.end(), v + 1);
}

/// See frontend/python_block.cpp. Value 0 is 0, or 1 where an error is kept.
void python_block(std::int64_t* v) {
    PyGILState_STATE state = PyGILState_Ensure();
    if (guarded<int>(-1, [&] { return run_block(v), 0; }) != 0) {
        keep_error();
        v[0] = 1;
    }
    PyGILState_Release(state);
}

[[maybe_unused]] const bool natives = add_natives({{"python_block", python_block}});

/// _python_block(function): its number
PyObject* add_block(PyObject*, PyObject* function) {
    return guarded<PyObject*>(nullptr, [&] {
        blocks().push_back(Py_NewRef(function));
        return PyLong_FromSize_t(blocks().size() - 1);
    });
}

/// _exception(class, names of its bases): the name by which compiled code knows it
PyObject* add_class(PyObject*, PyObject* args) {
    PyObject *cls, *bases;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &cls, &PyTuple_Type, &bases)) return nullptr;
    return guarded<PyObject*>(nullptr, [&] {
        std::vector<std::string> names;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i)
            names.emplace_back(PyUnicode_AsUTF8(PyTuple_GET_ITEM(bases, i)));
        Ref own(PyObject_GetAttrString(cls, "__name__"));
        if (!own) throw PythonError{};
        // Its address stays its own: classes that compiled code raises live for good.
        std::string name =
            frontend::add_exception(PyUnicode_AsUTF8(own.get()), names, Py_NewRef(cls));
        return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
    });
}

/// What NumPy gives as a view of an argument is a copy here, which cannot be written instead.
void make_read_only(frontend::Type& t) {
    t.writable = false;
    for (frontend::Type& item : t.items) make_read_only(item);
}

/// See frontend/interpreted.h, and _jit/interpreted.py, which knows. Runs under Python's lock, as
/// all that compiles does.
std::optional<frontend::Interpreted> inferred(const std::string& path,
                                              const std::string& arguments) {
    Ref module(PyImport_ImportModule("unisono._jit.interpreted"));
    Ref found(
        module ? PyObject_CallMethod(module.get(), "infer", "ss", path.c_str(), arguments.c_str())
               : nullptr);
    if (!found) throw PythonError{};
    if (found.get() == Py_None) return std::nullopt;
    frontend::Interpreted made;
    made.block = item_of(found, 0);
    made.result = declared_of(PyTuple_GET_ITEM(found.get(), 1)).type;
    if (item_of(found, 2) != 0) make_read_only(made.result);
    return made;
}

PyMethodDef functions[] = {{"_python_block", add_block, METH_O, nullptr},
                           {"_exception", add_class, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_python_blocks(PyObject* module) {
    frontend::set_inference(inferred);
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace unisono::python
