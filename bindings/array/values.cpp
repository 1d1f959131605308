// The types of values: Python's numbers below, and the array type's operators and attributes on
// top.
#include "array/values.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "array/known_values.h"
#include "array/object.h"
#include "core/limits.h"
#include "functions/numpy_operators.h"
#include "reference.h"
#include "tape/eager/eager.h"
#include "tape/tape.h"

namespace unisono::python {

PyTypeObject *float_value_type = nullptr, *int_value_type = nullptr, *complex_value_type = nullptr;

namespace {

constexpr int int_digits = 3;  // of 30 bits: enough for 64
static_assert(PyLong_SHIFT * int_digits >= 64);

/// Objects that died, to be used again; each keeps its reference to the type.
struct FreeList {
    static constexpr int most = 64;
    PyObject* objects[most];
    int count = 0;

    PyObject* take() noexcept {
        if (count == 0) return nullptr;
        PyObject* o = objects[--count];
        _Py_NewReference(o);
        return o;
    }
    bool keep(PyObject* o) noexcept {
        if (count == most) return false;
        objects[count++] = o;
        return true;
    }
};
FreeList free_floats, free_ints;

template <FreeList& list>
void deallocate(PyObject* self) noexcept {
    if (list.keep(self)) return;
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

void deallocate_complex(PyObject* self) noexcept {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

#if PY_VERSION_HEX >= 0x030C0000
constexpr std::size_t digits_at = offsetof(PyLongObject, long_value.ob_digit);
#else
constexpr std::size_t digits_at = offsetof(PyLongObject, ob_digit);
#endif

void store(PyObject* self, std::int64_t value) noexcept {
    auto* number = reinterpret_cast<PyLongObject*>(self);
    const bool negative = value < 0;
    auto rest = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                         : static_cast<std::uint64_t>(value);
    int used = 0;
#if PY_VERSION_HEX >= 0x030C0000
    digit* digits = number->long_value.ob_digit;
#else
    digit* digits = number->ob_digit;
#endif
    digits[0] = 0;
    for (; rest; rest >>= PyLong_SHIFT) digits[used++] = static_cast<digit>(rest & PyLong_MASK);
#if PY_VERSION_HEX >= 0x030C0000
    // The tag: the number of digits above three bits, of which the lowest two are the sign.
    number->long_value.lv_tag = static_cast<uintptr_t>(used) << 3 | (used == 0  ? 1u
                                                                     : negative ? 2u
                                                                                : 0u);
#else
    Py_SET_SIZE(number, negative ? -used : used);
#endif
}

}  // namespace

PyObject* float_value(double value) noexcept {
    PyObject* self = free_floats.take();
    if (!self) {
        self = reinterpret_cast<PyObject*>(PyObject_New(PyFloatObject, float_value_type));
        if (!self) return nullptr;
    }
    reinterpret_cast<PyFloatObject*>(self)->ob_fval = value;
    return self;
}

PyObject* int_value(std::int64_t value) noexcept {
    PyObject* self = free_ints.take();
    if (!self) {
        // Room for all digits that an int64 may have, so that an object can be used for any.
        const std::size_t bytes = digits_at + int_digits * sizeof(digit);
        auto* made = static_cast<PyObject*>(PyObject_Malloc(bytes));
        if (!made) return PyErr_NoMemory();
        self = PyObject_Init(made, int_value_type);
    }
    store(self, value);
    return self;
}

PyObject* complex_value(double real, double imaginary) noexcept {
    auto* self = PyObject_New(PyComplexObject, complex_value_type);
    if (self) self->cval = {real, imaginary};
    return reinterpret_cast<PyObject*>(self);
}

/// Whether the last few statements alone make the value, from little that they read and write: then
/// it does not wait for other work that is pending.
static bool is_fed_by_little(const Storage* value, const Tape& tape) {
    constexpr std::size_t most = 8;
    const Storage* wanted[most] = {value};
    std::size_t count = 1;
    const auto is_wanted = [&](const View& v) {
        return std::find(wanted, wanted + count, v.storage) != wanted + count;
    };
    std::int64_t work = 0;
    std::uint32_t unseen = value->pending;  // writes of what is wanted
    const std::span<const Entry> entries = tape.pending();
    for (std::size_t k = 0; k < std::min(most, entries.size()); ++k) {
        const Entry& e = entries[entries.size() - 1 - k];
        if (!any_write(e, is_wanted)) continue;
        for_each_write(e, [&](const View& v) {
            work += v.layout->size();
            unseen -= is_wanted(v);
        });
        for_each_read(e, [&](const View& v) {
            work += v.layout->size();
            if (!v.storage->pending || is_wanted(v)) return;
            unseen += v.storage->pending;
            if (count < most) wanted[count++] = v.storage;
        });
        if (work > limits::eager_value_elements) return false;
        if (unseen == 0) return true;
    }
    return false;
}

PyObject* number_object(const Array& a) {
    if (!a.is_value()) return nullptr;
    const DType t = a.dtype();
    if (a.is_known()) return wrap_value(t, a.scalar().bits);
    Storage* s = a.view().storage;
    if (s->device) return nullptr;
    if (s->pending) {
        // What much work feeds stays pending: it may fuse with what follows, and names that still
        // hold temporaries of the program would have these written.
        Tape& tape = Tape::current();
        if (tape.pending_work() > limits::eager_value_elements && !is_fed_by_little(s, tape))
            return nullptr;
        tape.flush(s, FlushReason::Read);
    }
    if (!eager::is_ready(s)) return nullptr;
    if (t == DType::Complex64) return wrap_scalar(a);
    double parts[2] = {};
    std::memcpy(parts, a.view().data(), static_cast<std::size_t>(size_of(t)));
    return t == DType::Complex128 ? complex_value(parts[0], parts[1])
                                  : wrap_value(t, std::bit_cast<std::uint64_t>(parts[0]));
}

Array array_of_value(PyObject* o) {
    if (KnownValue v = known_number(o)) return Array::known(v.scalar());
    Array made = empty({}, DType::Complex128, nullptr);
    made.view().storage->allocate();
    const Py_complex number = PyComplex_AsCComplex(o);
    std::memcpy(made.view().data(), &number, sizeof number);
    return Array::of(made.view(), true);
}

namespace {

/// An attribute of the array type, asked of the array that a value is.
struct Forwarded {
    PyObject_HEAD PyObject* name;
};

PyObject* look_up(PyObject* self, PyObject* object, PyObject*) noexcept {
    PyObject* name = reinterpret_cast<Forwarded*>(self)->name;
    if (!object || object == Py_None) return Py_NewRef(self);
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Ref array(wrap_array(array_of_value(object)));
        return array.p ? PyObject_GetAttr(array.p, name) : nullptr;
    });
}

/// As a method asked of the type: the first argument is the value.
PyObject* call_forwarded(PyObject* self, PyObject* args, PyObject* names) noexcept {
    if (PyTuple_GET_SIZE(args) == 0 || !is_value_object(PyTuple_GET_ITEM(args, 0))) {
        return PyErr_Format(PyExc_TypeError, "unbound method %U: expected a value of unisono",
                            reinterpret_cast<Forwarded*>(self)->name);
    }
    Ref method(look_up(self, PyTuple_GET_ITEM(args, 0), nullptr));
    Ref rest(PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
    return method.p && rest.p ? PyObject_Call(method.p, rest.p, names) : nullptr;
}

/// Documentation and signature are those of the array type's attribute.
PyObject* attribute_of_forwarded(PyObject* self, PyObject* name) noexcept {
    Ref original(PyObject_GetAttr(reinterpret_cast<PyObject*>(array_type),
                                  reinterpret_cast<Forwarded*>(self)->name));
    return original.p ? PyObject_GetAttr(original.p, name) : nullptr;
}

void deallocate_forwarded(PyObject* self) noexcept {
    PyTypeObject* type = Py_TYPE(self);
    Py_DECREF(reinterpret_cast<Forwarded*>(self)->name);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject* item_of(PyObject* self, PyObject* key) noexcept {
    return guarded<PyObject*>(nullptr, [&] { return wrap(get_index(array_of_value(self), key)); });
}

/// repr and str are those of the array that the value is.
template <reprfunc PyTypeObject::*slot>
PyObject* formatted(PyObject* self) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Ref array(wrap_array(array_of_value(self)));
        return array.p ? (array_type->*slot)(array.p) : nullptr;
    });
}

/// The type called: as Python's number type, then a value.
PyObject* make_new(PyTypeObject* type, PyObject* args, PyObject* names) noexcept {
    Ref number(PyObject_Call(reinterpret_cast<PyObject*>(type->tp_base), args, names));
    if (!number.p) return nullptr;
    if (type == float_value_type) return float_value(PyFloat_AS_DOUBLE(number.p));
    if (type == complex_value_type) {
        const Py_complex c = PyComplex_AsCComplex(number.p);
        return complex_value(c.real, c.imag);
    }
    const long long value = PyLong_AsLongLong(number.p);
    return value == -1 && PyErr_Occurred() ? nullptr : int_value(value);
}

/// What a Python number answers as NumPy's scalars do, or answers faster.
bool stays_pythons(std::string_view name, PyTypeObject* base) {
    using namespace std::string_view_literals;
    // complex(x, y) would lose the sign of y's zero, if x were a number of two parts.
    if (name == "__complex__"sv) return true;
    static constexpr std::string_view kept[] = {"__format__"sv,       "is_integer"sv,
                                                "as_integer_ratio"sv, "bit_count"sv,
                                                "numerator"sv,        "denominator"sv};
    if (std::find(std::begin(kept), std::end(kept), name) != std::end(kept))
        return PyObject_HasAttrString(reinterpret_cast<PyObject*>(base), name.data());
    // Libraries of the array API take what has a namespace for an array that they can write to.
    static constexpr std::string_view absent[] = {
        "__weaklistoffset__"sv, "__doc__"sv, "__new__"sv, "__module__"sv, "__class__"sv, "base"sv,
        "__array_namespace__"sv};
    return std::find(std::begin(absent), std::end(absent), name) != std::end(absent);
}

/// Puts the array type's attributes into the dictionary of a type of values.
bool forward_attributes(PyTypeObject* type, PyTypeObject* base, PyTypeObject* forwarded) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(array_type->tp_dict, &at, &key, &value)) {
        Py_ssize_t length = 0;
        const char* name = PyUnicode_AsUTF8AndSize(key, &length);
        if (!name) return false;
        // Operators have slots of their own.
        if (Py_TYPE(value) == &PyWrapperDescr_Type ||
            stays_pythons({name, static_cast<std::size_t>(length)}, base))
            continue;
        auto* made = PyObject_New(Forwarded, forwarded);
        if (!made) return false;
        made->name = Py_NewRef(key);
        Ref entry(reinterpret_cast<PyObject*>(made));
        if (PyDict_SetItem(type->tp_dict, key, entry.p) != 0) return false;
    }
    return add_numpy_operators(type);
}

/// Whether a slot of the array type is one of values, too: in-place operators bind the name anew,
/// and conversions are Python's.
bool serves_values(int slot) {
    switch (slot) {
        case Py_nb_add:
        case Py_nb_subtract:
        case Py_nb_multiply:
        case Py_nb_matrix_multiply:
        case Py_nb_true_divide:
        case Py_nb_floor_divide:
        case Py_nb_remainder:
        case Py_nb_divmod:
        case Py_nb_and:
        case Py_nb_or:
        case Py_nb_xor:
        case Py_nb_lshift:
        case Py_nb_rshift:
        case Py_nb_power:
        case Py_nb_negative:
        case Py_nb_positive:
        case Py_nb_absolute:
        case Py_nb_invert:
        case Py_tp_richcompare: return true;
        default: return false;
    }
}

/// The hash of the dtype, to which the type compares equal: tables that are made with dtypes
/// (`{un.float64: f}`) are asked with types of values (`table[type(v)]`).
Py_hash_t hash_of_dtype(PyObject* type) noexcept {
    return guarded<Py_hash_t>(-1, [&] {
        const char* name = PyUnicode_AsUTF8(reinterpret_cast<PyHeapTypeObject*>(type)->ht_name);
        bool found = false;
        Ref dtype(dtype_object(dtype_from_name(name, found)));
        return PyObject_Hash(dtype.p);
    });
}

}  // namespace

PyTypeObject* value_metaclass() noexcept {
    static PyTypeObject* made = nullptr;
    if (made) return made;
    PyType_Slot slots[] = {{Py_tp_hash, reinterpret_cast<void*>(hash_of_dtype)}, {0, nullptr}};
    PyType_Spec spec = {"unisono._engine._ValueType", 0, 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    made = reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(&PyType_Type)));
    return made;
}

namespace {

PyTypeObject* make_type(const char* name, PyTypeObject* base, destructor deallocator,
                        PyTypeObject* forwarded, PyTypeObject* metaclass) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_dealloc, reinterpret_cast<void*>(deallocator)},
        {Py_tp_hash, reinterpret_cast<void*>(base->tp_hash)},
        {Py_tp_new, reinterpret_cast<void*>(make_new)},
        {Py_tp_repr, reinterpret_cast<void*>(formatted<&PyTypeObject::tp_repr>)},
        {Py_tp_str, reinterpret_cast<void*>(formatted<&PyTypeObject::tp_str>)},
        {Py_mp_subscript, reinterpret_cast<void*>(item_of)},
    };
    for (PyType_Slot* table : {number_slots, python_slots}) {
        for (PyType_Slot* s = table; s->slot; ++s) {
            if (serves_values(s->slot)) slots.push_back(*s);
        }
    }
    slots.push_back({0, nullptr});
    PyType_Spec spec{name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots.data()};
    auto* made = reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
    if (!made || !forward_attributes(made, base, forwarded)) return nullptr;
    Py_SET_TYPE(reinterpret_cast<PyObject*>(made), metaclass);  // which has type's layout
    Py_INCREF(metaclass);
    return made;
}

}  // namespace

bool add_value_types(PyObject* module) {
    PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(look_up)},
                           {Py_tp_call, reinterpret_cast<void*>(call_forwarded)},
                           {Py_tp_getattro, reinterpret_cast<void*>(attribute_of_forwarded)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_forwarded)},
                           {0, nullptr}};
    PyType_Spec spec = {"unisono._engine._ValueAttribute", sizeof(Forwarded), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    Ref kind(PyType_FromSpec(&spec));
    if (!kind.p) return false;
    auto* forwarded = reinterpret_cast<PyTypeObject*>(kind.p);
    PyTypeObject* metaclass = value_metaclass();
    if (!metaclass) return false;
    float_value_type =
        make_type("unisono.float64", &PyFloat_Type, deallocate<free_floats>, forwarded, metaclass);
    int_value_type =
        make_type("unisono.int64", &PyLong_Type, deallocate<free_ints>, forwarded, metaclass);
    complex_value_type =
        make_type("unisono.complex128", &PyComplex_Type, deallocate_complex, forwarded, metaclass);
    if (!float_value_type || !int_value_type || !complex_value_type) return false;
    Ref all(PyTuple_Pack(3, float_value_type, int_value_type, complex_value_type));
    return all.p && PyModule_AddObjectRef(module, "_values", all.p) == 0;
}

}  // namespace unisono::python
