// Reads Python objects as arguments: Python and NumPy scalars, tuples, our arrays, anything with a
// buffer.
#include "jit_arguments.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "frontend/table_state.h"
#include "frontend/tree.h"
#include "jit_dispatch.h"
#include "jit_objects.h"
#include "jit_table_codes.h"
#include "jit_text.h"

namespace unisono::python {

using frontend::TableKind;
using frontend::Type;
using ir::StrideClass;

ArrayViewHook array_view_hook = nullptr;

/// The dtype of a PEP 3118 format, native or little-endian.
bool dtype_of_format(const char* format, std::int64_t bytes, DType& t) {
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    static constexpr std::string_view signed_formats = "bhilqn", unsigned_formats = "BHILQN";
    if (*format == 'Z' && (format[1] == 'f' || format[1] == 'd') && format[2] == '\0') {
        t = format[1] == 'f' ? DType::Complex64 : DType::Complex128;
        return size_of(t) == bytes;
    }
    char kind = *format == '?'                                        ? 'b'
                : *format == 'f' || *format == 'd'                    ? 'f'
                : signed_formats.find(*format) != std::string::npos   ? 'i'
                : unsigned_formats.find(*format) != std::string::npos ? 'u'
                                                                      : 0;
    if (!kind || format[1] != '\0') return false;
    t = dtype_of(kind, bytes);
    return size_of(t) == bytes;
}

namespace {

bool is_numpy_scalar(PyObject* object) {
    const char* name = Py_TYPE(object)->tp_name;
    return std::strncmp(name, "numpy.", 6) == 0 && std::strcmp(name, "numpy.ndarray") != 0;
}

}  // namespace

std::vector<std::unique_ptr<Arguments::Lists>>& Arguments::free_lists() {
    thread_local std::vector<std::unique_ptr<Lists>> lists;
    return lists;
}

/// The last of the lists, or new ones.
template <class L>
static std::unique_ptr<L> take(std::vector<std::unique_ptr<L>>& free) {
    if (free.empty()) return std::make_unique<L>();
    auto last = std::move(free.back());
    free.pop_back();
    return last;
}

Arguments::Arguments(const std::string& function)
    : function_(function),
      lists_(take(free_lists())),
      arrays_(lists_->arrays),
      scalars_(lists_->scalars),
      key_(lists_->key) {
    key_.push_back(0);
}

Arguments::~Arguments() {
    for (Held& h : arrays_) {
        if (h.has_buffer) PyBuffer_Release(&h.buffer);
    }
    arrays_.clear();
    scalars_.clear();
    key_.clear();
    lists_->args.clear();
    free_lists().push_back(std::move(lists_));
}

void Arguments::refuse(const std::string& name, const std::string& got,
                       const std::string& way_out) const {
    fail(ErrorKind::Type, function_ + ": argument '" + name +
                              "' cannot be used in compiled code; got " + got +
                              "; expected numbers, str, tuples of them, and arrays of bool, "
                              "integers, float32, float64 or complex numbers; " +
                              way_out);
}

void Arguments::add_scalar(DType t, Weak weak, std::uint64_t bits) {
    key_.push_back(ScalarCode | static_cast<std::uint32_t>(t) << 4 |
                   static_cast<std::uint32_t>(weak) << 8);
    scalars_.push_back(bits);
}

void Arguments::add(PyObject* object, const std::string& name) {
    if (PyFloat_CheckExact(object)) {
        return add_scalar(DType::Float64, Weak::Float,
                          Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(object)).bits);
    }
    if (PyBool_Check(object)) return add_scalar(DType::Bool, Weak::Bool, object == Py_True);
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            fail(ErrorKind::Overflow,
                 function_ + ": argument '" + name + "' does not fit in 64 bits; got an int of " +
                     std::to_string(_PyLong_NumBits(object)) + " bits; pass a smaller number");
        }
        return add_scalar(DType::Int64, Weak::Int, static_cast<std::uint64_t>(value));
    }
    if (PyTuple_Check(object)) {
        if (!PyTuple_CheckExact(object) && add_object(object, name)) return;
        begin_tuple(static_cast<std::size_t>(PyTuple_GET_SIZE(object)));
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
            add(PyTuple_GET_ITEM(object, i), name);
        return;
    }
    if (add_numpy(object)) return;
    if (PyComplex_Check(object)) {
        bool is_python = PyComplex_CheckExact(object);
        key_.push_back(complex_code(DType::Complex128, is_python));
        for (double part : {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)})
            scalars_.push_back(Scalar::of(DType::Float64, part).bits);
        return;
    }
    if (PyUnicode_CheckExact(object)) return add_text(object);
    if (PyList_CheckExact(object)) return add_list(object, name);
    if (PyDict_CheckExact(object) || PySet_CheckExact(object)) return add_table(object, name);
    if (object == Py_None) return key_.push_back(NoneCode);
    if (Dispatch* function = dispatch_of(object)) {
        if (function->is_kernel()) refuse(name, "a kernel", "pass a function compiled by jit");
        return add_function(function->source().get());
    }
    if (PyMethod_Check(object) && add_bound(object, name)) return;
    if (array_view_hook && add_view(object, name)) return;
    if (add_object(object, name) || add_records(object, name)) return;
    add_buffer(object, name);
}

/// The numbers of a list, copied: compiled code reads them.
void Arguments::add_list(PyObject* list, const std::string& name) {
    Py_ssize_t size = PyList_GET_SIZE(list);
    PyTypeObject* type = size ? Py_TYPE(PyList_GET_ITEM(list, 0)) : &PyFloat_Type;
    bool is_known = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
    for (Py_ssize_t i = 0; i < size; ++i)
        is_known = is_known && Py_TYPE(PyList_GET_ITEM(list, i)) == type;
    if (!is_known || (changed && changed->count(name))) return add_table(list, name);
    Weak weak = type == &PyFloat_Type ? Weak::Float : type == &PyBool_Type ? Weak::Bool : Weak::Int;
    Held& held = arrays_.emplace_back();
    held.object = list;
    held.copy = std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size) + 1);
    auto* bytes = reinterpret_cast<std::uint8_t*>(held.copy.get());
    for (Py_ssize_t i = 0; i < size; ++i) {
        PyObject* item = PyList_GET_ITEM(list, i);
        auto at = static_cast<std::size_t>(i);
        if (weak == Weak::Bool) {
            bytes[at] = item == Py_True;
        } else if (weak == Weak::Float) {
            held.copy[at] = Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(item)).bits;
        } else {
            held.copy[at] = static_cast<std::uint64_t>(PyLong_AsLongLong(item));
            if (PyErr_Occurred()) throw PythonError{};
        }
    }
    Py_ssize_t item_size = weak == Weak::Bool ? 1 : 8;
    place(held, held.copy.get(), item_size, {&size, 1}, &item_size);
    key_.push_back(ListCode | static_cast<std::uint32_t>(weak) << 4);
}

void Arguments::add_text(PyObject* text) {
    HeapScope scope(heap());
    const Text* made = text_from(text);
    if (!made) throw std::bad_alloc();
    key_.push_back(TextCode);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(made)));
}

/// Dicts and sets, copied; what the function changes is copied back.
void Arguments::add_table(PyObject* object, const std::string& name) {
    HeapScope scope(heap());
    std::string code;
    Table* made = nullptr;
    std::string odd = tables_.add(object, code, made);
    TableKind kind = PyList_Check(object)  ? TableKind::List
                     : PySet_Check(object) ? TableKind::Set
                                           : TableKind::Dict;
    if (!odd.empty()) {
        bool is_list = kind == TableKind::List;
        refuse(name,
               (is_list                  ? "a list with "
                : kind == TableKind::Set ? "a set with "
                                         : "a dict with ") +
                   odd,
               is_list ? "items are numbers, str, tuples, lists, dicts or sets, all of one type"
                       : "keys are int, float, bool, str or tuples of these, all of one type; "
                         "values also lists, dicts and sets");
    }
    add_table_code(static_cast<int>(kind), code);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(made)));
}

void Arguments::add_table_code(int kind, const std::string& code) {
    key_.push_back(TableCode | static_cast<std::uint32_t>(kind) << 4 |
                   static_cast<std::uint32_t>(code.size()) << 8);
    for (std::size_t k = 0; k < code.size(); k += 4) {
        std::uint32_t letters = 0;
        std::memcpy(&letters, code.data() + k, std::min<std::size_t>(4, code.size() - k));
        key_.push_back(letters);
    }
}

/// The key holds where the function's source is; the specialisation keeps it alive.
void Arguments::add_function(const frontend::Source* source) {
    auto address = reinterpret_cast<std::uintptr_t>(source);
    key_.push_back(FunctionCode);
    key_.push_back(static_cast<std::uint32_t>(address));
    key_.push_back(static_cast<std::uint32_t>(address >> 32));
}

/// A method of an object that compiled code knows; false for any other.
bool Arguments::add_bound(PyObject* method, const std::string& name) {
    PyObject *function = PyMethod_GET_FUNCTION(method), *self = PyMethod_GET_SELF(method);
    const auto& record = record_of(Py_TYPE(self));
    Dispatch* known = dispatch_of(function);
    std::shared_ptr<const frontend::Source> source;
    if (known) {
        source = known->source();
    } else if (record && record->find_method) {
        Ref text(PyObject_GetAttrString(function, "__name__"));
        const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
        if (!utf8) throw PythonError{};
        if (auto found = record->find_method(utf8)) source = found->source;
    }
    if (!source) return false;
    key_.push_back(BoundCode);
    add_pointer(source.get());
    add(self, name);
    return true;
}

void Arguments::add_pointer(const void* pointer) {
    auto address = reinterpret_cast<std::uintptr_t>(pointer);
    key_.push_back(static_cast<std::uint32_t>(address));
    key_.push_back(static_cast<std::uint32_t>(address >> 32));
}

/// Objects of classes that compiled code knows, by their fields; false for any other.
bool Arguments::add_object(PyObject* object, const std::string& name) {
    const auto& record = record_of(Py_TYPE(object));
    if (!record) {
        return false;
    }
    if (record->is_data) {
        add_data(object, name);
        return true;
    }
    key_.push_back(ClassCode);
    add_pointer(record.get());
    if (std::int64_t address = 0; object_address(object, address)) {
        if (address == 0)
            refuse(name,
                   std::string("an object of ") + Py_TYPE(object)->tp_name + " without memory",
                   "make objects by calling the class");
        objects_.emplace_back(address, object);
        scalars_.push_back(static_cast<std::uint64_t>(address));
        return true;
    }
    for (std::size_t k = 0; k < record->fields.size(); ++k) {
        const std::string& field = record->fields[k].name;
        if (PyTuple_Check(object)) {
            add(PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(k)), name + "." + field);
            continue;
        }
        Ref value(PyObject_GetAttrString(object, field.c_str()));
        if (!value) throw PythonError{};
        add(value.get(), name + "." + field);
        kept_.push_back(std::move(value));
    }
    return true;
}

/// An object of a dataclass, copied; attributes that the function assigns are given back.
void Arguments::add_data(PyObject* object, const std::string& name) {
    HeapScope scope(heap());
    DataObjects& data = tables_.data();
    std::shared_ptr<const frontend::Record> record;
    Block* block = nullptr;
    std::string odd = data.record_for(object, record);
    if (odd.empty()) odd = data.add(object, record, block);
    if (!odd.empty())
        refuse(name, std::string("an object of ") + Py_TYPE(object)->tp_name + " with " + odd,
               "give its fields values that compiled code can take, and annotate what is empty");
    key_.push_back(ClassCode);
    add_pointer(record.get());
    objects_.emplace_back(handle_of(block->data), object);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(block->data)));
}

void Arguments::add_type(const Type& type) {
    switch (type.kind) {
        case Type::Kind::Scalar:
            if (type.is_complex()) return key_.push_back(complex_code(type.dtype, type.is_weak()));
            return add_scalar(type.dtype, type.weak, 0);
        case Type::Kind::Array:
            return key_.push_back(
                array_code(type.dtype, type.rank, type.writable,
                           !type.strides.empty() && type.strides.back() == StrideClass::One));
        case Type::Kind::Tuple:
            begin_tuple(type.items.size());
            for (const Type& item : type.items) add_type(item);
            return;
        case Type::Kind::List:
            return key_.push_back(ListCode | static_cast<std::uint32_t>(type.items[0].weak) << 4);
        case Type::Kind::Text: return key_.push_back(TextCode);
        case Type::Kind::Table: {
            return add_table_code(type.rank, frontend::table_code(type).substr(1));
        }
        case Type::Kind::Function: return add_function(type.function.get());
        default: return key_.push_back(NoneCode);
    }
}

bool Arguments::add_view(PyObject* object, const std::string& name) {
    ArrayView view;
    if (!array_view_hook(object, view)) return false;
    if (is_half(view.dtype)) {
        refuse(name, "an array of float16",
               "convert it, as in x.astype(un.float32), in which float16 computes anyway");
    }
    if (view.shape.size() > max_rank) refuse(name, "an array of more than 16 axes", "reshape it");
    Held& held = arrays_.emplace_back();
    held.object = object;
    held.rank = static_cast<int>(view.shape.size());
    std::copy(view.shape.begin(), view.shape.end(), held.shape);
    std::copy(view.strides.begin(), view.strides.end(), held.strides);
    held.memory = view.memory;
    held.offset = view.offset;
    held.device = view.device;
    add_array(held, view.dtype, view.writable);
    return true;
}

namespace {

/// The head of NumPy's array and dtype objects, whose layout NumPy keeps for good.
struct NumPyArray {
    PyObject_HEAD char* data;
    int rank;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* base;
    PyObject* dtype;
    int flags;
};
struct NumPyDType {
    PyObject_HEAD PyTypeObject* scalar;
    char kind, letter, byte_order, former_flags;
    int number;
};
constexpr int numpy_aligned = 0x100, numpy_writable = 0x400;
constexpr int numpy_numbers = 16;  // bool to complex128
// long double has none of ours.
constexpr std::int8_t numpy_sizes[numpy_numbers] = {1, 1, 1, 2, 2, 4, 4, 8,
                                                    8, 8, 8, 4, 8, 0, 8, 16};

bool is_numpy_array(PyObject* object) {
    static PyTypeObject* known = nullptr;
    PyTypeObject* type = Py_TYPE(object);
    if (known) return type == known;
    if (std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
    known = type;
    return true;
}

}  // namespace

/// Structured arrays; false for anything else.
bool Arguments::add_records(PyObject* object, const std::string& name) {
    PyTypeObject* type = Py_TYPE(object);
    while (type && std::strcmp(type->tp_name, "numpy.ndarray") != 0) type = type->tp_base;
    if (!type) return false;
    auto* a = reinterpret_cast<NumPyArray*>(object);
    const RecordLayout* layout = layout_of(a->dtype);
    if (!layout) return false;
    if (a->rank > max_rank / 2) refuse(name, "an array of more than 8 axes", "reshape it");
    add_fields(object, *layout, static_cast<int>(arrays_.size()) + 1, name);
    return true;
}

void Arguments::add_fields(PyObject* object, const RecordLayout& layout, int group,
                           const std::string& name) {
    auto* a = reinterpret_cast<NumPyArray*>(object);
    auto rank = static_cast<std::size_t>(a->rank);
    key_.push_back(RecordsCode | static_cast<std::uint32_t>(rank) << 4);
    add_pointer(layout.record.get());
    for (const RecordLayout::Place& p : layout.places) {
        if (p.inner) {
            add_fields(object, *p.inner, group, name);
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
    auto* t = reinterpret_cast<NumPyDType*>(a->dtype);
    if (t->number < 0 || t->number >= numpy_numbers || t->byte_order == '>' ||
        !(a->flags & numpy_aligned) || a->rank > max_rank)
        return false;
    std::int64_t size = numpy_sizes[t->number];
    if (size == 0) return false;
    for (int i = 0; i < a->rank; ++i) {
        if (a->strides[i] % size != 0) return false;
    }
    DType dtype = dtype_of(t->kind, size);
    if (size_of(dtype) != size) return false;
    Held& held = arrays_.emplace_back();
    held.object = object;
    place(held, a->data, size, {a->shape, static_cast<std::size_t>(a->rank)}, a->strides);
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
        refuse(name, std::string("a ") + Py_TYPE(object)->tp_name,
               "convert it, as in np.asarray(x), or capture it as a global constant");
    }
    Held& held = arrays_.emplace_back();
    constexpr int flags = PyBUF_STRIDES | PyBUF_FORMAT;
    if (PyObject_GetBuffer(object, &held.buffer, flags | PyBUF_WRITABLE) != 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &held.buffer, flags) != 0) throw PythonError{};
    }
    held.has_buffer = true;
    const Py_buffer& b = held.buffer;
    if (b.ndim > 0 && !b.strides)  // numpy.datetime64 gives its bytes
        refuse(name, std::string("a ") + Py_TYPE(object)->tp_name, "convert it to a number");
    DType t{};
    if (!dtype_of_format(b.format, b.itemsize, t)) {
        refuse(name, std::string("elements of format '") + (b.format ? b.format : "") + "'",
               "convert it, as in x.astype(np.float64)");
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
    for (int i = 0; i < b.ndim; ++i) {
        if (b.strides[i] % size != 0)
            refuse(name, "an array whose strides are no multiples of its item size", "copy it");
    }
    if (reinterpret_cast<std::uintptr_t>(b.buf) %
            static_cast<std::uintptr_t>(size_of(part_dtype(t))) !=
        0)
        refuse(name, "an array that is not aligned", "copy it");
    held.object = object;
    place(held, b.buf, size, {b.shape, static_cast<std::size_t>(b.ndim)}, b.strides);
    add_array(held, t, !b.readonly);
}

std::uint32_t Arguments::complex_code(DType t, bool is_python) {
    return ComplexCode | static_cast<std::uint32_t>(is_python) << 4 |
           static_cast<std::uint32_t>(t) << 8;
}

std::uint32_t Arguments::array_code(DType t, int rank, bool writable, bool is_last_one) {
    return ArrayCode | static_cast<std::uint32_t>(t) << 4 | static_cast<std::uint32_t>(rank) << 8 |
           static_cast<std::uint32_t>(is_last_one) << 16 |
           static_cast<std::uint32_t>(writable) << 20;
}

void Arguments::add_array(Held& held, DType t, bool writable) {
    int last = held.rank - 1;
    bool is_last_one = last >= 0 && (held.strides[last] == 1 || held.shape[last] <= 1);
    if (is_last_one) held.strides[last] = 1;
    key_.push_back(array_code(t, held.rank, writable, is_last_one));
}

void Arguments::finish() {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Held& a = arrays_[i];
        if (i == 0) device_ = a.device;
        if (a.device != device_) {
            auto where = [](Device* d) { return d ? d->info().name : std::string("the host"); };
            fail(ErrorKind::Device, function_ + ": arrays must live on one device; got " +
                                        where(device_) + " and " + where(a.device) +
                                        "; move them with to_device");
        }
        for (std::size_t j = 0; j < i; ++j) {
            const Held& b = arrays_[j];
            auto from = [](const Held& h) { return h.memory.handle; };
            auto end = [](const Held& h) {
                return h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
            };
            bool meet = device_ ? from(a) == from(b) : from(a) < end(b) && from(b) < end(a);
            if (meet && (a.group == 0 || a.group != b.group)) noalias_ = false;
        }
    }
    // What objects refer to may be an array argument, too.
    if (!objects_.empty()) noalias_ = false;
    key_[0] = noalias_;
}

/// The array itself, or the field of a structured array.
static Ref held_array(PyObject* object, PyObject* path) {
    Ref found = Ref::of(object);
    for (Py_ssize_t k = 0; path && k < PyTuple_GET_SIZE(path); ++k) {
        found = Ref(PyObject_GetItem(found.get(), PyTuple_GET_ITEM(path, k)));
        if (!found) throw PythonError{};
    }
    return found;
}

Ref Arguments::array_object(int index) const {
    const Held& h = arrays_[static_cast<std::size_t>(index)];
    return held_array(h.object, h.path);
}

PyObject* Arguments::object_of(std::int64_t address) const {
    for (const auto& [known, object] : objects_) {
        if (known == address) return object;
    }
    return nullptr;
}

PyObject* Arguments::owner_of_memory(std::uintptr_t address) const {
    for (const Held& h : arrays_) {
        std::uintptr_t end = h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
        if (!h.device && !h.copy && h.memory.handle <= address && address <= end) return h.object;
    }
    return nullptr;
}

Ref Arguments::object_at(std::uintptr_t address) const {
    const Held* nearest = nullptr;
    for (const Held& h : arrays_) {
        std::uintptr_t end = h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
        if (h.memory.handle <= address && address < end) {
            // Fields of one array lie between each other.
            auto from = static_cast<std::int64_t>(address - h.memory.handle);
            if (h.group == 0 || from % h.step < h.width) return held_array(h.object, h.path);
        }
        if (address == end) nearest = &h;  // an empty view at the end
    }
    const Held* found = nearest ? nearest : arrays_.empty() ? nullptr : &arrays_.front();
    return found ? held_array(found->object, found->path) : Ref();
}

Type Arguments::read_type(const std::vector<std::uint32_t>& key, std::size_t& at) {
    std::uint32_t code = key[at++];
    if ((code & 15) == NoneCode) return Type::none();
    if ((code & 15) == TextCode) return Type::text();
    if ((code & 15) == TableCode) {
        std::string text(code >> 8, ' ');
        for (std::size_t k = 0; k < text.size(); k += 4)
            std::memcpy(text.data() + k, &key[at++], std::min<std::size_t>(4, text.size() - k));
        std::vector<Type> items;
        for (const char* c = text.c_str(); *c;) items.push_back(type_of_code(c));
        return Type::table(static_cast<frontend::TableKind>(code >> 4 & 15), items);
    }
    if ((code & 15) == ListCode) return Type::list(Type::python(static_cast<Weak>(code >> 4)));
    if ((code & 15) == ComplexCode)
        return code >> 4 & 1 ? Type::python(Weak::Complex)
                             : Type::numpy(static_cast<DType>(code >> 8));
    auto pointer = [&] {
        at += 2;
        return static_cast<std::uintptr_t>(key[at - 2]) | static_cast<std::uintptr_t>(key[at - 1])
                                                              << 32;
    };
    if ((code & 15) == ClassCode || (code & 15) == RecordsCode) {
        // Records live for good.
        const auto* held = reinterpret_cast<const frontend::Record*>(pointer());
        auto record = held->shared_from_this();

        using Form = frontend::Record::Form;
        if (record->form == Form::Instance)
            return Type::of_record(Type::Kind::Instance, record, 0, {});
        std::vector<Type> items;
        for (std::size_t k = 0; k < record->fields.size(); ++k) items.push_back(read_type(key, at));
        auto kind = record->form == Form::Fields  ? Type::Kind::Records
                    : record->form == Form::Named ? Type::Kind::Tuple
                                                  : Type::Kind::Record;
        return Type::of_record(kind, record, static_cast<int>(code >> 4), std::move(items));
    }
    if ((code & 15) == BoundCode) {
        const auto* source = reinterpret_cast<const frontend::Source*>(pointer());
        Type made = Type::of_function(source->shared_from_this(), source->name);
        made.rank = 1;
        made.items = {read_type(key, at)};
        return made;
    }
    if ((code & 15) == FunctionCode) {
        std::uintptr_t address = pointer();
        const auto* source = reinterpret_cast<const frontend::Source*>(address);
        return Type::of_function(source->shared_from_this(), source->name);
    }
    auto t = static_cast<DType>(code >> 4 & 15);
    if ((code & 15) == ScalarCode) {
        auto weak = static_cast<Weak>(code >> 8);
        return weak == Weak::None ? Type::numpy(t) : Type::python(weak);
    }
    if ((code & 15) == ArrayCode) {
        std::vector<StrideClass> strides(code >> 8 & 255, StrideClass::Other);
        if (code >> 16 & 1) strides.back() = StrideClass::One;
        return Type::array(t, std::move(strides), code >> 20 & 1);
    }
    std::vector<Type> items;
    for (std::uint32_t n = code >> 4; n > 0; --n) items.push_back(read_type(key, at));
    return Type::tuple(std::move(items));
}

std::vector<Type> Arguments::types() const {
    std::vector<Type> list;
    for (std::size_t at = 1; at < key_.size();) list.push_back(read_type(key_, at));
    return list;
}

std::span<const ArrayArg> Arguments::array_args() {
    auto& args = lists_->args;
    args.clear();
    for (const Held& h : arrays_) {
        auto rank = static_cast<std::size_t>(h.rank);
        args.push_back({h.memory, h.offset, {h.shape, rank}, {h.strides, rank}});
    }
    return args;
}

}  // namespace unisono::python
