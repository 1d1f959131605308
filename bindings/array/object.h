// The Python array type: a heap type written against the C API, so that recording an operation
// costs nanoseconds.
#pragma once

#include <Python.h>

#include <bit>
#include <new>
#include <optional>

#include "array/owner.h"
#include "array/scalars.h"
#include "array/values.h"
#include "errors.h"
#include "tape/array.h"
#include "tape/record/record.h"

namespace unisono::python {

/// Not tracked by the garbage collector: it holds no Python objects, so it dies at a fixed place.
struct PyArray {
    PyObject_HEAD Array array;
    PyObject* weakrefs;
    Owner* owner;  ///< null: the main context
};

/// The array type, and the base that it has in common with the types of scalars (array/scalars.h).
extern PyTypeObject *array_type, *array_base;

/// Whether it is an array or a scalar.
inline bool is_array(PyObject* o) {
    return Py_TYPE(o) == array_type || PyObject_TypeCheck(o, array_base);
}
inline const Array& array_of(PyObject* o) { return reinterpret_cast<PyArray*>(o)->array; }
/// Whether it is an array of a virtual rank other than that of the thread; numbers are nobody's.
inline bool is_elsewhere(PyObject* o) {
    if (!owners_exist) [[likely]]
        return false;
    const auto* a = reinterpret_cast<const PyArray*>(o);
    return a->owner != owner_here() && !a->array.is_known();
}
/// As array_of, for use: throws where the array is elsewhere.
inline const Array& used_array(PyObject* o) {
    if (is_elsewhere(o)) [[unlikely]]
        refuse_owner("array: it", reinterpret_cast<PyArray*>(o)->owner);
    return array_of(o);
}

/// A new reference to a new object that takes the array, or to the number that a value is
/// (array/values.h); null with a Python error.
PyObject* wrap(Array array) noexcept;
/// As wrap, always of the array type.
PyObject* wrap_array(Array array) noexcept;
/// As wrap_array, of a subclass of the array type.
PyObject* wrap_as(PyTypeObject* type, const Array& array) noexcept;

/// Objects that died, to be used again; each keeps its reference to the type.
inline constexpr std::size_t most_free_objects = 256;
extern PyArray* free_objects[most_free_objects];
extern std::size_t free_object_count;

/// An object whose array is not yet there; null with a Python error.
inline PyArray* allocate_object() noexcept {
    PyArray* self;
    if (free_object_count > 0) {
        self = free_objects[--free_object_count];
        // What PyObject_Init does but for the reference to the type, which the object kept.
        _Py_NewReference(reinterpret_cast<PyObject*>(self));
    } else {
        self = PyObject_New(PyArray, array_type);
        if (!self) return nullptr;
    }
    self->weakrefs = nullptr;
    self->owner = owners_exist ? take_owner() : nullptr;
    return self;
}
/// What Storage::first_object is once that object is no more. A number and no address: each array
/// that ends writes it, and an address of ours has to be read first.
inline const void* no_object() { return reinterpret_cast<const void*>(std::uintptr_t{1}); }
/// The object got its array: if it is the first one of the memory, views have it as their base.
inline void note_first(const PyArray* self) {
    Storage* s = self->array.view().storage;
    if (s && !s->first_object) s->first_object = self;
}
/// It ends, or takes other memory.
inline void forget_first(const PyArray* self) {
    Storage* s = self->array.view().storage;
    if (s && s->first_object == self) s->first_object = no_object();
}
/// The one object of each value of bool; borrowed.
extern PyObject* truth_objects[2];
inline PyObject* truth_object(bool value) { return truth_objects[value ? 1 : 0]; }
/// The array type's tp_dealloc.
void deallocate_array(PyObject* self) noexcept;
/// Gives back an object whose array was never made.
void drop_object(PyArray* object) noexcept;
/// The number that the array of a value is, in place of the object, which is given back; the object
/// itself where it stays one.
PyObject* number_instead(PyObject* made);

/// Whether it is a number of ours, computed or not.
inline bool is_number(PyObject* o) {
    return is_value_object(o) || (is_array(o) && array_of(o).is_value());
}

/// The array of an array object or of a value object, for use.
inline Array array_in(PyObject* o) { return is_array(o) ? used_array(o) : array_of_value(o); }

/// As wrap(f()), with the array made in its place.
template <class F>
PyObject* wrap_made(F&& f) {
    PyArray* self = allocate_object();
    if (!self) return nullptr;
    try {
        new (&self->array) Array(f());
    } catch (...) {
        drop_object(self);
        throw;
    }
    note_first(self);
    auto* made = reinterpret_cast<PyObject*>(self);
    return self->array.is_value() ? number_instead(made) : made;
}

/// Creates the type and adds it to the module.
bool add_array_type(PyObject* module);

/// A class derived from the array type, as an ordinary one: the functions of the C API that make
/// classes take no metaclass with a constructor of its own, and that of the array type has one.
PyObject* derived_class(PyType_Spec* spec, PyTypeObject* base) noexcept;

// Slots, by file.
extern PyType_Slot number_slots[];   // array/number.cpp
extern PyType_Slot index_slots[];    // array/index.cpp
extern PyMethodDef array_methods[];  // array/methods.cpp
PyObject* transpose_method(PyObject* self, PyObject* args) noexcept;
// array/shape.cpp
PyObject* reshape_method(PyObject* self, PyObject* args, PyObject* names) noexcept;
PyObject* ravel_method(PyObject* self, PyObject* args, PyObject* names) noexcept;
PyObject* flatten_method(PyObject* self, PyObject* args, PyObject* names) noexcept;
extern PyGetSetDef array_attributes[];                                // array/attributes.cpp
extern PyType_Slot python_slots[];                                    // array/python.cpp
extern PyMethodDef python_methods[];                                  // array/python.cpp
extern PyGetSetDef python_attributes[];                               // array/python.cpp
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept;  // array/exchange/buffer.cpp
void release_buffer(PyObject* self, Py_buffer* view) noexcept;
PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept;
PyObject* dlpack_device(PyObject* self, PyObject*) noexcept;
PyObject* from_dlpack(PyObject* module, PyObject* object) noexcept;

// Operands (array/exchange/from_python.cpp).
/// An operand: our array, a Python number, or anything with the buffer protocol or __array__.
/// `keep` holds what must stay alive. Returns false without a Python error if the object is no
/// operand (slots then return NotImplemented). Throws PythonError or Error.
bool operand(PyObject* o, Arg& arg, Array& keep);
/// As NumPy, a value (its scalars) that is stored as a signed integer must fit: from here on it
/// counts as a Python number.
void refuse_misfit(PyObject* value, Arg& arg, DType target);
/// NumPy's ComplexWarning, which may be set to raise (array/methods.cpp).
void warn_of_lost_part();
/// Before complex elements are stored as real ones; Python's complex numbers are refused there.
inline void warn_if_a_part_is_lost(const Arg& arg, DType to) {
    if (arg.weak == Weak::None && is_complex(arg.view.dtype) && !is_complex(to) && !is_bool(to))
        warn_of_lost_part();
}
/// NumPy's float64, once one was an operand.
extern PyTypeObject* numpy_float64_type;
/// The operands of most programs, without a call: our arrays (of this rank), values of float64,
/// Python floats.
inline bool plain_operand(PyObject* o, Arg& arg) {
    if (Py_TYPE(o) == array_type) {
        if (is_elsewhere(o)) [[unlikely]]
            return false;
        arg.view = array_of(o).view();
        arg.weak = Weak::None;
        return true;
    }
    const bool is_value = Py_TYPE(o) == float_value_type;
    if (!is_value && !PyFloat_CheckExact(o)) {
        if (!is_scalar(o) || is_elsewhere(o)) return false;
        arg = array_of(o).arg();
        return true;
    }
    arg.view.storage = nullptr;
    arg.view.offset = std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(o));
    arg.view.dtype = DType::Float64;
    arg.weak = is_value ? Weak::None : Weak::Float;
    return true;
}
/// asarray: any of the above, nested sequences of numbers too. `shared`: a view of the same memory
/// where possible.
/// dtype: of the elements of sequences; anything else keeps its own.
Array to_array(PyObject* o, bool shared, std::optional<DType> dtype = std::nullopt);

// Conversions (array/exchange/convert.cpp).
/// A Python scalar of the value (bool, int, float).
PyObject* to_python(Scalar s);
PyObject* to_python(const Array& a);  ///< of size 1; complex dtypes too
DType to_dtype(PyObject* o);
PyObject* dtype_object(DType t);
/// Null for the host. None: the default device; an array: where it lives.
Device* to_device_pointer(PyObject* o);
PyObject* device_object(Device* device);
std::vector<std::int64_t> to_shape(PyObject* o);
std::int64_t to_int64(PyObject* o);
bool add_conversions(PyObject* module);

// Indices (array/index.cpp).
constexpr int most_index_items = 64;
/// Room for the items of a key, left uninitialised: clearing it would cost as much as a small
/// operation.
class IndexItems {
  public:
    IndexItems() {}
    IndexItem* data() { return items_; }
    std::span<const IndexItem> first(int n) const { return {items_, static_cast<std::size_t>(n)}; }

  private:
    union {
        IndexItem items_[most_index_items];
    };
};
/// Parses a key of basic indexing into at most most_index_items items; `integers` counts integer
/// ones. -1 where the key holds arrays, lists or bools.
int parse_index(PyObject* key, IndexItem* items, int& integers);
/// The element, view or copy that NumPy's a[key] is; and a[key] = value.
Array get_index(const Array& a, PyObject* key);
void set_index(const Array& a, PyObject* key, PyObject* value);

// Meshes (mesh/bind_mesh.cpp).
/// The device that a Python mesh is; null for other objects.
Device* mesh_place(PyObject* o);
/// The Python mesh that the device is, a new reference; null for other devices.
PyObject* mesh_object(Device* device);
/// An array that all ranks have alike, split over the mesh along its first axis.
Array spread_over(Device* device, const Array& host, DType dtype);

// Lines (lines.cpp).
/// Notes the Python line that runs as the place of what is recorded next.
void note_line() noexcept;

/// Whether a loop that timeit makes around a statement has recorded anything.
extern bool has_timed_statements;
/// Whether the innermost frame is such a loop.
bool in_timed_statement() noexcept;
void install_hooks();

}  // namespace unisono::python
