// Creates the types of scalars.
#include "array/scalars.h"

#include <string>

#include "array/object.h"
#include "functions/numpy_operators.h"
#include "reference.h"

namespace unisono::python {

PyTypeObject* scalar_types[dtype_count] = {};

void deallocate_scalar(PyObject* self) noexcept {
    Py_SET_TYPE(self, array_type);
    deallocate_array(self);
}

PyObject* wrap_scalar(const Array& value) noexcept {
    PyObject* made = wrap_array(value);
    if (made) become_scalar(made, value.dtype());
    return made;
}

namespace {

/// The type called, as its dtype is.
PyObject* make_new(PyTypeObject* type, PyObject* args, PyObject* names) noexcept {
    for (int t = 0; t < dtype_count; ++t) {
        if (scalar_types[t] != type) continue;
        Ref dtype(dtype_object(static_cast<DType>(t)));
        return PyObject_Call(dtype.p, args, names);
    }
    return PyErr_Format(PyExc_TypeError, "%s: expected a type of scalars", type->tp_name);
}

/// Whether a slot of the array type is one of scalars, too.
bool serves_scalars(int slot) {
    switch (slot) {
        // What writes, which rebinds the name instead, and what counts elements.
        case Py_nb_inplace_add:
        case Py_nb_inplace_subtract:
        case Py_nb_inplace_multiply:
        case Py_nb_inplace_matrix_multiply:
        case Py_nb_inplace_true_divide:
        case Py_nb_inplace_floor_divide:
        case Py_nb_inplace_remainder:
        case Py_nb_inplace_power:
        case Py_nb_inplace_and:
        case Py_nb_inplace_or:
        case Py_nb_inplace_xor:
        case Py_nb_inplace_lshift:
        case Py_nb_inplace_rshift:
        case Py_mp_ass_subscript:
        case Py_mp_length:
        case Py_sq_length:
        case Py_sq_item:
        case Py_sq_contains:
        case Py_tp_iter:
        // That of integers alone.
        case Py_nb_index:
        // Those of a type's own.
        case Py_tp_dealloc:
        case Py_tp_new:
        case Py_tp_doc: return false;
        default: return true;
    }
}

constexpr unsigned int base_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
                                    Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION;

PyTypeObject* derived(const std::string& name, PyTypeObject* base, std::vector<PyType_Slot> slots,
                      unsigned int flags) {
    slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(deallocate_scalar)});
    slots.push_back({0, nullptr});
    PyType_Spec spec{name.c_str(), static_cast<int>(sizeof(PyArray)), 0, flags, slots.data()};
    return reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
}

/// The type that all types of scalars have their slots and attributes from.
PyTypeObject* make_common(const std::vector<PyType_Slot>& array_slots) {
    std::vector<PyType_Slot> slots;
    for (const PyType_Slot& s : array_slots) {
        if (s.slot && serves_scalars(s.slot)) slots.push_back(s);
    }
    PyTypeObject* made = derived("unisono._engine._Scalar", array_base, slots, base_flags);
    // Libraries of the array API take what has a namespace for an array that they can write to.
    if (!made || PyDict_DelItemString(made->tp_dict, "__array_namespace__") != 0 ||
        !add_numpy_operators(made))
        return nullptr;
    return made;
}

/// The bases of the types, each named as the class of Python's `numbers` that it is registered with
/// once a program imports those. The types themselves are not: to register is to hash, and their
/// hashes import NumPy (array/values.h).
struct AbstractTypes {
    PyTypeObject *number = nullptr, *integer = nullptr, *real = nullptr, *complex = nullptr;

    bool create(PyObject* module, const std::vector<PyType_Slot>& array_slots) {
        PyTypeObject* common = make_common(array_slots);
        std::vector<PyType_Slot> of_integers;
        for (const PyType_Slot& s : array_slots) {
            if (s.slot == Py_nb_index) of_integers.push_back(s);
        }
        const auto make = [&](const char* name, const std::vector<PyType_Slot>& slots = {}) {
            return derived(std::string("unisono._engine._") + name, common, slots, base_flags);
        };
        if (!common || !(number = make("Number")) || !(integer = make("Integral", of_integers)) ||
            !(real = make("Real")) || !(complex = make("Complex")))
            return false;
        Ref all(PyTuple_Pack(4, number, integer, real, complex));
        return all.p && PyModule_AddObjectRef(module, "_scalar_bases", all.p) == 0;
    }
    PyTypeObject* at(DType t) const {
        // A truth value is a number to numpy.isscalar and pandas, but none that counts.
        return is_complex(t) ? complex : is_float(t) ? real : is_bool(t) ? number : integer;
    }
};

PyTypeObject* make_type(DType t, PyTypeObject* base) {
    const std::string dtype(info(t).name), doc = "A number of " + dtype + ".";
    PyTypeObject* made = derived("unisono." + dtype, base,
                                 {{Py_tp_new, reinterpret_cast<void*>(make_new)},
                                  {Py_tp_doc, const_cast<char*>(doc.c_str())}},
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE);
    PyTypeObject* metaclass = value_metaclass();
    if (!made || !metaclass) return nullptr;
    Py_SET_TYPE(reinterpret_cast<PyObject*>(made), metaclass);  // which has type's layout
    Py_INCREF(metaclass);
    return made;
}

}  // namespace

bool add_scalar_types(PyObject* module, const std::vector<PyType_Slot>& array_slots) {
    AbstractTypes bases;
    Ref all(PyTuple_New(0));
    if (!all.p || !bases.create(module, array_slots)) return false;
    for (int k = 0; k < dtype_count; ++k) {
        const auto t = static_cast<DType>(k);
        if (t == DType::Float64 || t == DType::Int64 || t == DType::Complex128) continue;
        scalar_types[k] = make_type(t, bases.at(t));
        if (!scalar_types[k]) return false;
        Ref one(PyTuple_Pack(1, scalar_types[k]));
        all = Ref(one.p ? PySequence_Concat(all.p, one.p) : nullptr);
        if (!all.p) return false;
    }
    return PyModule_AddObjectRef(module, "_scalars", all.p) == 0;
}

}  // namespace unisono::python
