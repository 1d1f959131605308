// Numbers and arrays as Python writes them, for templates of compiled code.
#include "jit_text.h"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "array_object.h"
#include "core/block.h"
#include "core/native.h"
#include "errors.h"
#include "jit_dispatch.h"

namespace unisono::python {

namespace {

std::string text_of(PyObject* object) {
    const char* utf8 = object ? PyUnicode_AsUTF8(object) : nullptr;
    if (!utf8) throw PythonError{};
    return utf8;
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

/// One value; `how` says what its bits are (nothing, or b B f h u c A L), a format may follow
/// behind |.
std::string written(const std::int64_t* values, const std::string& how) {
    auto bar = how.find('|');
    std::string kind = how.substr(0, bar);
    std::string format = bar == std::string::npos ? "" : how.substr(bar + 1);
    auto number = [&] { return std::bit_cast<double>(*values); };
    if (kind.empty() && format.empty()) return std::to_string(*values);
    if (kind == "B") return *values ? "np.True_" : "np.False_";
    if (kind == "h" && format.empty()) return text_of_float32(static_cast<float>(number()));
    if (kind[0] == 'A' || kind[0] == 'L') return text_of_items(kind, values);
    bool is_float = kind == "f" || kind == "h";
    Ref value(is_float      ? PyFloat_FromDouble(number())
              : kind == "b" ? PyBool_FromLong(*values != 0)
              : kind == "u" ? PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(*values))
              : kind == "c" ? PyComplex_FromDoubles(number(), std::bit_cast<double>(values[1]))
                            : PyLong_FromLongLong(*values));
    Ref spec(PyUnicode_FromStringAndSize(format.data(), static_cast<Py_ssize_t>(format.size())));
    return text_of(Ref(value && spec ? PyObject_Format(value.get(), spec.get()) : nullptr).get());
}

PyObject* print_error[3] = {};  // what the last write that failed raised

/// values: bytes of the template, whether to flush, number of values, the template, the values.
void print(std::int64_t* values) {
    PyGILState_STATE state = PyGILState_Ensure();
    values[0] = guarded<std::int64_t>(1, [&]() -> std::int64_t {
        auto bytes = static_cast<std::size_t>(values[0]);
        bool flushes = values[1] != 0;
        std::string text(reinterpret_cast<const char*>(values + 3), bytes);
        std::string all =
            filled(text, {values + 3 + (bytes + 7) / 8, static_cast<std::size_t>(values[2])});
        PyObject* out = PySys_GetObject("stdout");
        if (!out || out == Py_None) return 0;
        Ref held = Ref::of(out);
        Ref line(PyUnicode_FromStringAndSize(all.data(), static_cast<Py_ssize_t>(all.size())));
        if (!line || PyFile_WriteObject(line.get(), out, Py_PRINT_RAW) != 0) throw PythonError{};
        if (flushes && !Ref(PyObject_CallMethod(out, "flush", nullptr))) throw PythonError{};
        return 0;
    });
    if (values[0] != 0) {
        for (PyObject*& held : print_error) Py_CLEAR(held);
        PyErr_Fetch(&print_error[0], &print_error[1], &print_error[2]);
    }
    PyGILState_Release(state);
}

[[maybe_unused]] const bool natives = add_natives({{"print", print}});

}  // namespace

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

bool restore_print_error() noexcept {
    if (!print_error[0]) return false;
    PyErr_Restore(print_error[0], print_error[1], print_error[2]);
    for (PyObject*& held : print_error) held = nullptr;
    return true;
}

}  // namespace unisono::python
