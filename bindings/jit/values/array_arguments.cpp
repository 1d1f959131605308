// Reads arrays as arguments: ours, NumPy's, structured ones, anything with a buffer.
#include "jit/values/arguments.h"

#include <cstring>

#include "array/exchange/adopt.h"
#include "array/exchange/buffer_format.h"
#include "array/exchange/numpy_layout.h"
#include "errors.h"
#include "reference.h"

namespace unisono::python {

bool dtype_of_items(const char* format, std::int64_t bytes, DType& t) {
    const bool has_order = format && std::strchr("@=<", *format) && *format;
    if (format && std::strcmp(format + has_order, "c") == 0) {  // ctypes writes "<c"
        t = DType::Int8;
        return bytes == 1;
    }
    return dtype_of_format(format, bytes, t);
}

bool Arguments::add_view(PyObject* object, const std::string& name) {
    ArrayView view;
    if (!view_of_array(object, view)) return false;
    if (view.shape.size() > max_rank) refuse(name, "an array of more than 16 axes", "reshape it");
    Held& held = arrays_.emplace_back();
    held.object = object;
    held.rank = static_cast<int>(view.shape.size());
    std::copy(view.shape.begin(), view.shape.end(), held.shape);
    std::copy(view.strides.begin(), view.strides.end(), held.strides);
    held.storage = view.storage;
    held.memory = view.storage->memory;
    held.offset = view.offset;
    held.device = view.device;
    if (view.storage->device != view.device) run_on_host(*view.storage->device);
    add_array(held, view.dtype, view.writable);
    return true;
}

static bool is_a(PyObject* object, const char* name) {
    PyTypeObject* type = Py_TYPE(object);
    while (type && std::strcmp(type->tp_name, name) != 0) type = type->tp_base;
    return type != nullptr;
}

/// Structured arrays and their elements; false for anything else.
bool Arguments::add_records(PyObject* object, const std::string& name) {
    NumPyArray element{};
    const auto* a = reinterpret_cast<const NumPyArray*>(object);
    if (has_buffer_of_array(object)) {  // ours: NumPy's view of them, while the call lasts
        Ref host(PyObject_CallMethod(object, "_in_host_memory", nullptr));
        if (!host) throw PythonError{};
        a = reinterpret_cast<const NumPyArray*>(host.get());
        kept_.push_back(std::move(host));
    } else if (is_a(object, "numpy.void")) {
        const auto* held = reinterpret_cast<const NumPyVoid*>(object);
        element.data = held->data;
        element.dtype = held->dtype;
        element.flags = held->flags;
        a = &element;
    } else if (!is_a(object, "numpy.ndarray")) {
        return false;
    }
    const RecordLayout* layout = layout_of(a->dtype);
    if (!layout) return false;
    if (a->rank > max_rank / 2) refuse(name, "an array of more than 8 axes", "reshape it");
    add_fields(object, a, *layout, static_cast<int>(arrays_.size()) + 1, name);
    return true;
}

void Arguments::add_fields(PyObject* object, const NumPyArray* a, const RecordLayout& layout,
                           int group, const std::string& name) {
    auto rank = static_cast<std::size_t>(a->rank);
    key_.push_back(RecordsCode | static_cast<std::uint32_t>(rank) << 4);
    add_pointer(layout.record.get());
    for (const RecordLayout::Place& p : layout.places) {
        if (p.inner) {
            add_fields(object, a, *p.inner, group, name);
            continue;
        }
        std::size_t k = static_cast<std::size_t>(&p - layout.places.data());
        if (!layout.record->fields[k].odd.empty()) {
            key_.push_back(NoneCode);
            continue;
        }
        Py_ssize_t shape[max_rank], strides[max_rank];
        if (rank + p.shape.size() > max_rank)
            refuse(name, "an array of more than 16 axes", "reshape it");
        std::copy(a->shape, a->shape + rank, shape);
        std::copy(a->strides, a->strides + rank, strides);
        std::copy(p.shape.begin(), p.shape.end(), shape + rank);
        std::copy(p.strides.begin(), p.strides.end(), strides + rank);
        bool is_aligned = reinterpret_cast<std::uintptr_t>(a->data + p.offset) %
                              static_cast<std::uintptr_t>(p.size) ==
                          0;
        for (std::size_t i = 0; i < rank; ++i) is_aligned = is_aligned && strides[i] % p.size == 0;
        if (!is_aligned) refuse(name, "a structured array that is not aligned", "copy it");
        Held& held = arrays_.emplace_back();
        held.object = object;
        held.path = p.path;
        held.group = group;
        held.step = layout.step;
        held.width = p.size;
        for (Py_ssize_t n : p.shape) held.width *= n;
        place(held, a->data + p.offset, p.size, {shape, rank + p.shape.size()}, strides);
        add_array(held, p.dtype, (a->flags & numpy_writable) != 0);
    }
}

/// NumPy's own arrays without the buffer protocol, which costs twice as much as the whole call;
/// false where it must do.
bool Arguments::add_numpy(PyObject* object) {
    if (!is_numpy_array(object)) return false;
    auto* a = reinterpret_cast<NumPyArray*>(object);
    DType dtype{};
    if (a->rank > max_rank || !is_plain(*a, dtype)) return false;
    Held& held = arrays_.emplace_back();
    held.object = object;
    place(held, a->data, size_of(dtype), {a->shape, static_cast<std::size_t>(a->rank)}, a->strides);
    add_array(held, dtype, (a->flags & numpy_writable) != 0);
    return true;
}

/// Where the elements lie; strides are given in bytes.
void Arguments::place(Held& held, const void* data, std::int64_t size,
                      std::span<const Py_ssize_t> shape, const Py_ssize_t* strides) {
    held.rank = static_cast<int>(shape.size());
    std::int64_t low = 0, high = size;
    bool is_empty = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        held.shape[i] = shape[i];
        held.strides[i] = strides[i] / size;
        is_empty = is_empty || shape[i] == 0;
        (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
    }
    if (is_empty) low = high = 0;
    auto address = reinterpret_cast<std::uintptr_t>(data);
    held.memory = {address + static_cast<std::uintptr_t>(low), high - low};
    held.offset = -low;
}

void Arguments::refuse_elements(PyObject* object, const std::string& name) const {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const Ref dtype(PyObject_GetAttrString(object, "dtype"));
    const Ref text(dtype.p ? PyObject_Str(dtype.p) : nullptr);
    if (!text.p) {
        PyErr_Restore(type, value, trace);
        throw PythonError{};
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    const char* elements = PyUnicode_AsUTF8(text.p);
    if (!elements) throw PythonError{};
    const bool is_date =
        std::strstr(elements, "datetime64") || std::strstr(elements, "timedelta64");
    refuse(name, std::string("an array of ") + elements,
           is_date ? "pass its integers, as in x.view(np.int64)"
                   : "convert it, as in x.astype(np.float64)");
}

void Arguments::add_buffer(PyObject* object, const std::string& name) {
    if (!PyObject_CheckBuffer(object)) {
        if (PyCallable_Check(object) && !PyType_Check(object) && !Py_TYPE(object)->tp_dictoffset)
            refuse(name, "a function that is not compiled", "decorate it with @un.jit");
        if (PyFunction_Check(object))
            refuse(name, "a function that is not compiled", "decorate it with @un.jit");
        bool is_plain = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE);
        if (is_plain && !PyType_Check(object))
            refuse(
                name, std::string("an object of the class ") + Py_TYPE(object)->tp_name,
                "make the class a dataclass, compile it with un.jitclass, or convert the object, "
                "as in np.asarray(x)");
        const std::string type = Py_TYPE(object)->tp_name;
        const bool has_vowel = std::string_view("aeiou").find(type[0]) != std::string_view::npos;
        refuse(name, (has_vowel ? "an " : "a ") + type,
               "convert it, as in np.asarray(x), or capture it as a global constant");
    }
    Held& held = arrays_.emplace_back();
    constexpr int flags = PyBUF_STRIDES | PyBUF_FORMAT;
    if (PyObject_GetBuffer(object, &held.buffer, flags | PyBUF_WRITABLE) != 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &held.buffer, flags) != 0) refuse_elements(object, name);
    }
    held.has_buffer = true;
    const Py_buffer& b = held.buffer;
    if (b.ndim > 0 && !b.strides && is_numpy_scalar(object))  // numpy.datetime64 gives its bytes
        refuse(name, std::string("a ") + Py_TYPE(object)->tp_name, "convert it to a number");
    DType t{};
    if (!dtype_of_items(b.format, b.itemsize, t)) {
        const bool is_text = b.format && std::strchr("wsU", b.format[std::strlen(b.format) - 1]);
        refuse(name,
               is_text ? "an array of strings"
                       : std::string("elements of format '") + (b.format ? b.format : "") + "'",
               is_text ? "pass a list of str" : "convert it, as in x.astype(np.float64)");
    }
    auto size = size_of(t);
    if (b.ndim == 0 && is_numpy_scalar(object)) {
        std::uint64_t bits[2] = {};
        std::memcpy(bits, b.buf, static_cast<std::size_t>(size));
        const auto* parts = static_cast<const char*>(b.buf);
        if (is_complex(t)) {
            key_.push_back(complex_code(t, false));
            auto half = static_cast<std::size_t>(size) / 2;
            for (std::size_t k = 0; k < 2; ++k) {
                std::uint64_t part = 0;
                std::memcpy(&part, parts + k * half, half);
                scalars_.push_back(part);
            }
        }
        PyBuffer_Release(&held.buffer);
        arrays_.pop_back();
        return is_complex(t) ? void() : add_scalar(t, Weak::None, bits[0]);
    }
    if (b.ndim > max_rank) refuse(name, "an array of more than 16 axes", "reshape it");
    Py_ssize_t packed[max_rank];  // of ctypes' arrays, which tell none
    const Py_ssize_t* strides = b.strides ? b.strides : packed;
    for (Py_ssize_t i = b.ndim, step = size; !b.strides && i-- > 0; step *= b.shape[i])
        packed[i] = step;
    for (int i = 0; i < b.ndim; ++i) {
        if (strides[i] % size != 0)
            refuse(name, "an array whose strides are not multiples of its item size", "copy it");
    }
    if (reinterpret_cast<std::uintptr_t>(b.buf) %
            static_cast<std::uintptr_t>(size_of(part_dtype(t))) !=
        0)
        refuse(name, "an array that is not aligned", "copy it");
    held.object = object;
    place(held, b.buf, size, {b.shape, static_cast<std::size_t>(b.ndim)}, strides);
    add_array(held, t, !b.readonly);
    if (PyBytes_CheckExact(object) || PyByteArray_CheckExact(object)) key_.back() |= BytesBit;
}

void Arguments::add_bytes(PyObject* object, const std::string& name, DType wanted) {
    Py_ssize_t size = 0;
    const char* bytes = nullptr;  // ends with a zero, and lives as long as the object
    if (PyUnicode_Check(object)) {
        bytes = PyUnicode_AsUTF8AndSize(object, &size);
        if (!bytes) throw PythonError{};
    } else if (PyBytes_Check(object)) {
        bytes = PyBytes_AS_STRING(object);
        size = PyBytes_GET_SIZE(object);
    }
    if (bytes) {
        Held& held = arrays_.emplace_back();
        held.object = object;
        const Py_ssize_t step = 1;
        ++size;  // the zero
        place(held, bytes, 1, {&size, 1}, &step);
        return add_array(held, wanted, false);
    }
    std::size_t before = key_.size();
    add(object, name);
    if (key_.size() != before + 1) return;
    constexpr std::uint32_t code_and_dtype = 0xff;
    auto head = [](DType t) { return array_code(t, 0, false, false) & code_and_dtype; };
    std::uint32_t& code = key_[before];
    if ((code & code_and_dtype) == head(DType::Int8) ||
        (code & code_and_dtype) == head(DType::UInt8))
        code = (code & ~code_and_dtype) | head(wanted);
}

void Arguments::add_array(Held& held, DType t, bool writable) {
    int last = held.rank - 1;
    bool is_last_one = last >= 0 && (held.strides[last] == 1 || held.shape[last] <= 1);
    if (is_last_one) held.strides[last] = 1;
    key_.push_back(array_code(t, held.rank, writable, is_last_one));
}

}  // namespace unisono::python
