// Numbers and arrays as Python writes them, for templates of compiled code.
#include "jit/values/text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "array/object.h"
#include "core/native/block.h"
#include "core/native/native.h"
#include "errors.h"
#include "frontend/exceptions.h"
#include "jit/dispatch.h"
#include "jit/values/tables.h"
#include "reference.h"
#include "runtime/text_methods.h"

namespace unisono::python {

namespace {

/// In UTF-8; lone surrogates are kept.
std::string text_of(PyObject* object) {
    Ref bytes(object ? PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass") : nullptr);
    if (!bytes) throw PythonError{};
    return {PyBytes_AS_STRING(bytes.get()),
            static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

PyObject* str_of(const std::string& utf8) {
    return PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass");
}

/// As the NumPy at hand writes it; without NumPy the shortest digits that give the same float32.
std::string text_of_float32(float value) {
    PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    Ref type(numpy ? PyObject_GetAttrString(numpy, "float32") : nullptr);
    if (type) {
        Ref number(PyObject_CallFunction(type.get(), "d", static_cast<double>(value)));
        return text_of(Ref(number ? PyObject_Str(number.get()) : nullptr).get());
    }
    PyErr_Clear();
    char digits[32];
    *std::to_chars(digits, digits + sizeof digits - 1, value).ptr = '\0';
    return text_of(Ref(PyObject_Repr(Ref(PyFloat_FromDouble(std::atof(digits))).get())).get());
}

/// An array that compiled code holds, copied: values are its address, extents and strides.
PyObject* copied_array(const std::int64_t* values, DType t, std::size_t rank) {
    const std::int64_t *extents = values + 1, *strides = extents + rank;
    std::int64_t count = 1, size = size_of(t);
    for (std::size_t k = 0; k < rank; ++k) count *= extents[k];
    Block* block = make_block(std::max<std::int64_t>(count, 1) * size);
    if (!block) throw std::bad_alloc();
    const auto* from = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(values[0]));
    auto* to = static_cast<char*>(block->data);
    std::vector<std::int64_t> at(rank);
    for (std::int64_t n = 0; n < count; ++n) {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < rank; ++k) offset += at[k] * strides[k];
        std::memcpy(to + n * size, from + offset * size, static_cast<std::size_t>(size));
        for (std::size_t k = rank; k-- > 0 && ++at[k] == extents[k];) at[k] = 0;
    }
    Storage* storage = Storage::create(nullptr, block->bytes);
    storage->memory = {reinterpret_cast<std::uintptr_t>(block->data), block->bytes};
    forget_block(block);
    std::vector<std::int64_t> shape(extents, extents + rank), packed(rank);
    for (std::int64_t k = static_cast<std::int64_t>(rank), step = 1; k-- > 0;) {
        packed[static_cast<std::size_t>(k)] = step;
        step *= shape[static_cast<std::size_t>(k)];
    }
    return wrap(Array::of({storage, Layout::make(shape, packed), 0, t}));
}

/// "A11,2" or "L11,1": an array of dtype 11 and rank 2, or a list of such items.
std::string text_of_items(const std::string& how, const std::int64_t* values) {
    auto comma = how.find(',');
    auto t = static_cast<DType>(std::stoi(how.substr(1, comma - 1)));
    Ref array(copied_array(values, t, static_cast<std::size_t>(std::stoi(how.substr(comma + 1)))));
    if (!array) throw PythonError{};
    if (how[0] == 'A') return text_of(Ref(PyObject_Str(array.get())).get());
    Ref list(PyObject_CallMethod(array.get(), "tolist", nullptr));
    return text_of(Ref(list ? PyObject_Repr(list.get()) : nullptr).get());
}

/// What an exception is raised with: the number that its text is, else the text.
Ref argument_of(const std::string& text, const std::int64_t* values) {
    if (text[0] == '\1' || text[0] == '\2') return Ref(object_of_words(text.substr(1), values));
    if (text == "{0t}") return Ref(python_from(text_at(*values)));
    bool is_number = text == "{0}" || text == "{0b}" || text == "{0f}";
    if (text == "{0f}") return Ref(PyFloat_FromDouble(std::bit_cast<double>(*values)));
    if (is_number)
        return Ref(text == "{0}" ? PyLong_FromLongLong(*values) : PyBool_FromLong(*values != 0));
    std::string all = filled(text, {values, 4});
    return Ref(str_of(all));
}

/// The class of a code, borrowed; null where it is none of Python's nor of a program.
PyObject* exception_class(std::int64_t code) {
    if (const void* own = frontend::exception_python(code))
        return static_cast<PyObject*>(const_cast<void*>(own));
    std::string name = frontend::exception_name(code);
    if (name == "LinAlgError") {
        static PyObject* known = nullptr;
        PyObject* of_numpy = kept(known, "numpy.linalg", "LinAlgError");
        PyErr_Clear();
        return of_numpy ? of_numpy : PyExc_ValueError;
    }
    return name.empty() ? nullptr : PyDict_GetItemString(PyEval_GetBuiltins(), name.c_str());
}

/// An exception with what its text tells: no argument, one, or, behind a \2, several.
Ref exception_of(PyObject* type, const std::string& text, const std::int64_t* values) {
    Ref argument = text.empty() ? Ref() : argument_of(text, values);
    if (!text.empty() && !argument) throw PythonError{};
    Ref made(text.empty()      ? PyObject_CallNoArgs(type)
             : text[0] == '\2' ? PyObject_CallObject(type, argument.get())
                               : PyObject_CallOneArg(type, argument.get()));
    if (!made) throw PythonError{};
    return made;
}

/// An exception that was caught, as str or repr: values are its code, its text and what that tells.
std::string text_of_exception(const std::int64_t* values, bool is_repr) {
    std::string text = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(values[1]));
    PyObject* type = exception_class(values[0]);
    if (!type) return "";
    Ref made = exception_of(type, text, values + 2);
    return text_of(Ref(is_repr ? PyObject_Repr(made.get()) : PyObject_Str(made.get())).get());
}

/// A text of compiled code as Python's.
Ref python_text(std::int64_t handle) {
    const Text& text = text_at(handle);
    return Ref(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data, text.length));
}

/// One value; `how` says what its bits are (nothing, or b B f h u c t T A L E R N), a format may
/// follow behind |. O and a table_code is any object.
std::string written(const std::int64_t* values, const std::string& how) {
    auto bar = how.find('|');
    std::string kind = how.substr(0, bar);
    std::string format = bar == std::string::npos ? "" : how.substr(bar + 1);
    if (kind[0] == 'S') {  // the format is a text in front of the value
        kind.erase(0, 1);
        format = text_of(python_text(*values++).get());
    }
    auto number = [&] { return std::bit_cast<double>(*values); };
    if (kind.empty() && format.empty()) return std::to_string(*values);
    if (kind == "B") return *values ? "np.True_" : "np.False_";
    if (kind == "h" && format.empty()) return text_of_float32(static_cast<float>(number()));
    if (kind == "t" || kind == "T") {
        Ref text = python_text(*values);
        if (text && kind == "T") text = Ref(PyObject_Repr(text.get()));
        Ref spec(str_of(format));
        return text_of(Ref(text && spec ? PyObject_Format(text.get(), spec.get()) : nullptr).get());
    }
    if (kind[0] == 'O')
        return text_of(
            Ref(PyObject_Repr(Ref(object_of_words(kind.substr(1), values)).get())).get());
    if (kind == "E" || kind == "R") return text_of_exception(values, kind == "R");
    if (kind == "N") {
        PyObject* type = exception_class(values[0]);
        return type ? text_of(Ref(PyObject_GetAttrString(type, "__name__")).get()) : "Exception";
    }
    if (kind[0] == 'A' || kind[0] == 'L') return text_of_items(kind, values);
    bool is_float = kind == "f" || kind == "h";
    Ref value(is_float      ? PyFloat_FromDouble(number())
              : kind == "b" ? PyBool_FromLong(*values != 0)
              : kind == "u" ? PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(*values))
              : kind == "c" ? PyComplex_FromDoubles(number(), std::bit_cast<double>(values[1]))
                            : PyLong_FromLongLong(*values));
    Ref spec(str_of(format));
    return text_of(Ref(value && spec ? PyObject_Format(value.get(), spec.get()) : nullptr).get());
}

PyObject* print_error[3] = {};  // what the last print or block that failed raised

/// A template with its values: bytes of the template, what the caller takes, number of values, the
/// template, the values.
std::string filled_template(const std::int64_t* values) {
    const auto bytes = static_cast<std::size_t>(values[0]);
    const std::string text(reinterpret_cast<const char*>(values + 3), bytes);
    return filled(text, {values + 3 + (bytes + 7) / 8, static_cast<std::size_t>(values[2])});
}

/// Shows a text by f, with Python's lock; value 0 tells whether that failed.
template <class F>
void show(std::int64_t* values, F f) {
    PyGILState_STATE state = PyGILState_Ensure();
    values[0] = guarded<std::int64_t>(1, [&]() -> std::int64_t {
        f();
        return 0;
    });
    if (values[0] != 0) keep_error();
    PyGILState_Release(state);
}

/// As of filled_template; value 1: whether to flush.
void print(std::int64_t* values) {
    show(values, [&] {
        const bool flushes = values[1] != 0;
        const std::string all = filled_template(values);
        PyObject* out = PySys_GetObject("stdout");
        if (!out || out == Py_None) return;
        Ref held = Ref::of(out);
        Ref line(str_of(all));
        if (!line || PyFile_WriteObject(line.get(), out, Py_PRINT_RAW) != 0) throw PythonError{};
        if (flushes && !Ref(PyObject_CallMethod(out, "flush", nullptr))) throw PythonError{};
    });
}

/// As of filled_template: a RuntimeWarning at the caller's line.
void warn(std::int64_t* values) {
    show(values, [&] {
        if (PyErr_WarnEx(PyExc_RuntimeWarning, filled_template(values).c_str(), 1) < 0)
            throw PythonError{};
    });
}

/// Runs f with Python's lock; where it throws, value 0 becomes `failed`.
template <class F>
void with_python(std::int64_t* values, std::int64_t failed, F f) {
    PyGILState_STATE state = PyGILState_Ensure();
    if (guarded<int>(-1, [&] { return f(), 0; }) != 0) {
        PyErr_Clear();
        values[0] = failed;
    }
    PyGILState_Release(state);
}

/// A template with its values, as of print: a text, or -2 and why a format is refused.
void make_text_of(std::int64_t* values) {
    PyGILState_STATE state = PyGILState_Ensure();
    int failed = guarded<int>(-1, [&] {
        const Text* made = make_text(decoded(filled_template(values)));
        values[0] = made ? handle_of(made) : Heap::current() ? 0 : -1;
        return 0;
    });
    if (failed != 0) {
        bool is_format = PyErr_ExceptionMatches(PyExc_ValueError) != 0;
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        Ref held_type(type), held(value), held_trace(trace);
        Ref text(is_format && value ? PyObject_Str(value) : nullptr);
        const Text* why = text ? text_from(text.get()) : nullptr;
        PyErr_Clear();
        values[0] = why ? -2 : 0;
        values[1] = why ? handle_of(why) : 0;
    }
    PyGILState_Release(state);
}

/// One of the arguments that an exception was raised with. values: as of text_of_exception, which
/// one (-1: how many), what compiled code takes it for (t i f b). Then 0 and the word; 1 where it
/// is something else.
void take_argument(std::int64_t* values) {
    with_python(values, 1, [&] {
        std::string text = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(values[1]));
        PyObject* type = exception_class(values[0]);
        Ref made = type ? exception_of(type, text, values + 2) : Ref();
        Ref args(made ? PyObject_GetAttrString(made.get(), "args") : nullptr);
        if (!args || !PyTuple_Check(args.get())) throw PythonError{};
        std::int64_t which = values[6], count = PyTuple_GET_SIZE(args.get());
        auto kind = static_cast<char>(values[7]);
        PyObject* item =
            which < 0 || which >= count ? nullptr : PyTuple_GET_ITEM(args.get(), which);
        bool fits = which < 0 || (item && (kind == 't'   ? PyUnicode_Check(item)
                                           : kind == 'b' ? PyBool_Check(item)
                                           : kind == 'f' ? PyFloat_Check(item)
                                                         : PyLong_CheckExact(item)));
        values[0] = !fits;
        if (!fits) return;
        const Text* word = which >= 0 && kind == 't' ? text_from(item) : nullptr;
        if (which >= 0 && kind == 't' && !word) throw PythonError{};
        values[1] = which < 0     ? count
                    : kind == 't' ? handle_of(word)
                    : kind == 'f' ? std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(item))
                                  : PyLong_AsLongLong(item);
    });
}

/// int(text, base), whose base and 1 is value 1, or float(text), where that is 0: 0 and the number;
/// 1 where it is none, 2 where it is too large.
void read_number(std::int64_t* values) {
    bool is_int = values[1] != 0;
    const std::u32string_view points = text_at(values[0]).view();
    double real = 0;
    const bool is_plain = values[1] == 0    ? text_float(points, real)
                          : values[1] == 11 ? text_integer(points, values[1])
                                            : false;
    if (is_plain) {
        if (!is_int) values[1] = std::bit_cast<std::int64_t>(real);
        values[0] = 0;
        return;
    }
    with_python(values, 1, [&] {
        Ref text = python_text(values[0]);
        Ref number(!text    ? nullptr
                   : is_int ? PyLong_FromUnicodeObject(text.get(), static_cast<int>(values[1]) - 1)
                            : PyFloat_FromString(text.get()));
        if (!number) throw PythonError{};
        int overflow = 0;
        values[1] = is_int ? PyLong_AsLongLongAndOverflow(number.get(), &overflow)
                           : std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(number.get()));
        values[0] = overflow ? 2 : 0;
    });
}

/// A list of texts; null without memory.
const Table* texts_from(PyObject* list) {
    TableForm form{0, 1, static_cast<std::uint64_t>(WordKind::Text), 0, true};
    Table* made = make_table(form);
    for (Py_ssize_t i = 0; made && i < PyList_GET_SIZE(list); ++i) {
        const Text* item = text_from(PyList_GET_ITEM(list, i));
        if (!item) return nullptr;
        std::int64_t word = handle_of(item);
        made->insert(made->rows(), &word);
    }
    return made;
}

/// What Python raised: 2 and the text of a ValueError, 3 and that of a TypeError; else 1.
void tell_exception(std::int64_t* values) {
    const bool is_value = PyErr_ExceptionMatches(PyExc_ValueError) != 0;
    const bool is_type = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Ref held_type(type), held(value), held_trace(trace);
    Ref text(value ? PyObject_Str(value) : nullptr);
    const Text* made = text ? text_from(text.get()) : nullptr;
    PyErr_Clear();
    values[0] = !made ? 1 : is_value ? 2 : is_type ? 3 : 1;
    values[1] = made ? handle_of(made) : 0;
}

/// A method of str, or `list` of its characters. values: bytes of its name, number of arguments,
/// the name; of each argument whether it is a number (2: None), and what it is; the first is the
/// text itself.
/// Then 0 and the result.
void call_method(std::int64_t* values) {
    auto bytes = static_cast<std::size_t>(values[0]);
    auto count = static_cast<std::size_t>(values[1]);
    std::array<TextArgument, 4> few;
    const std::int64_t* words = values + 2 + (bytes + 7) / 8;
    bool has_none = false;
    for (std::size_t k = 0; k < count; ++k) has_none = has_none || words[2 * k] == 2;
    if (count <= few.size() && !has_none) {
        for (std::size_t k = 0; k < count; ++k) few[k] = {words[2 * k] != 0, words[2 * k + 1]};
        try {
            std::int64_t result = 0;
            if (text_method({reinterpret_cast<const char*>(values + 2), bytes}, {few.data(), count},
                            result)) {
                values[0] = 0;
                values[1] = result;
                return;
            }
        } catch (const std::bad_alloc&) {
            values[0] = 1;
            return;
        }
    }
    with_python(values, 1, [&] {
        Ref name(PyUnicode_FromStringAndSize(reinterpret_cast<const char*>(values + 2),
                                             static_cast<Py_ssize_t>(bytes)));
        std::vector<Ref> objects;
        std::vector<PyObject*> list;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t kind = words[2 * k], word = words[2 * k + 1];
            objects.push_back(kind == 2   ? Ref(Py_NewRef(Py_None))
                              : kind == 1 ? Ref(PyLong_FromLongLong(word))
                                          : python_text(word));
            list.push_back(objects.back().get());
            if (!list.back()) throw PythonError{};
        }
        if (!name) throw PythonError{};
        bool is_list = PyUnicode_CompareWithASCIIString(name.get(), "list") == 0;
        Ref result(is_list ? PySequence_List(list[0])
                           : PyObject_VectorcallMethod(name.get(), list.data(), count, nullptr));
        if (!result) return tell_exception(values);
        if (PyUnicode_Check(result.get())) {
            const Text* made = text_from(result.get());
            values[1] = made ? handle_of(made) : 0;
            values[0] = !made;
        } else if (PyList_Check(result.get())) {
            const Table* made = texts_from(result.get());
            values[1] = made ? handle_of(made) : 0;
            values[0] = !made;
        } else {
            values[1] = PyLong_AsLongLong(result.get());
            values[0] = 0;
        }
    });
}

[[maybe_unused]] const bool natives = add_natives({{"print", print},
                                                   {"warn", warn},
                                                   {"text_of", make_text_of},
                                                   {"text_argument", take_argument},
                                                   {"text_number", read_number},
                                                   {"text_method", call_method}});

}  // namespace

const Text* text_from(PyObject* text) noexcept {
    std::u32string points;
    try {
        for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i)
            points += static_cast<char32_t>(PyUnicode_READ_CHAR(text, i));
    } catch (...) {
        return nullptr;
    }
    return make_text(points);
}

PyObject* python_from(const Text& text) noexcept { return python_text(handle_of(&text)).release(); }

std::string filled(const std::string& message, std::span<const std::int64_t> values) {
    std::string text;
    for (std::size_t i = 0; i < message.size(); ++i) {
        char c = message[i];
        char next = i + 1 < message.size() ? message[i + 1] : '\0';
        auto end = message.find('}', i);
        if ((c == '{' || c == '}') && next == c) {
            text += c;
            ++i;
        } else if (c == '{' && next >= '0' && next <= '9' && end != std::string::npos) {
            std::size_t first = i + 1, k = 0;
            for (; message[first] >= '0' && message[first] <= '9'; ++first)
                k = 10 * k + static_cast<std::size_t>(message[first] - '0');
            text += written(&values[k], message.substr(first, end - first));
            i = end;
        } else {
            text += c;
        }
    }
    return text;
}

void set_exception(const ir::FaultSite& site, std::span<const std::int64_t> values) {
    PyObject* type = exception_class(site.code());
    if (!type) return set_error(Error(site.kind, filled(site.message, values)));
    Ref made = exception_of(type, site.message, values.data());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.get())), made.get());
}

void keep_error() noexcept {
    for (PyObject*& held : print_error) Py_CLEAR(held);
    PyErr_Fetch(&print_error[0], &print_error[1], &print_error[2]);
}

bool restore_print_error() noexcept {
    if (!print_error[0]) return false;
    PyErr_Restore(print_error[0], print_error[1], print_error[2]);
    for (PyObject*& held : print_error) held = nullptr;
    return true;
}

}  // namespace unisono::python
