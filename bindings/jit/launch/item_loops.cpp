// _ItemLoops: the base of what vectorize and guvectorize make. A call whose operands are arrays of
// the dtypes of a loop that was added runs that loop at once; all other calls go to the method
// _call of the Python class, which adds the loops.
#include "jit/launch/item_loops.h"

#include <structmember.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "reference.h"

namespace unisono::python {

namespace {

constexpr std::size_t most_arguments = 16, most_axes = 16;

/// What a loop takes or gives: elements of a dtype, axes by the number of their extent; or one
/// number of a Python type.
struct Items {
    DType dtype{};
    std::vector<std::size_t> axes;
    Ref number;         ///< the type, or null
    mutable Ref known;  ///< NumPy's object for the dtype, once one was seen
};

struct ItemLoop {
    Ref function;  ///< takes the operands, then the arrays for the results
    std::vector<Items> operands, results;
    std::size_t extents = 0;  ///< how many there are
    std::int64_t most = 0;    ///< items, the product of all extents; calls of more go to Python
    bool takes_ours = false;  ///< else NumPy's arrays alone: ours are recorded
};

using Loops = std::vector<std::shared_ptr<const ItemLoop>>;

struct ItemLoopsObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    Loops* loops;  ///< owned
};

ItemLoopsObject& self_of(PyObject* object) { return *reinterpret_cast<ItemLoopsObject*>(object); }

/// The extents of a call's items; -1 where none is known yet.
struct Extents {
    std::int64_t of[most_axes];
    std::size_t count;
    explicit Extents(std::size_t n) : count(n) { std::fill_n(of, n, -1); }

    /// The items, as far as extents are known.
    double items() const {
        double all = 1;
        for (std::size_t k = 0; k < count; ++k) all *= of[k] < 0 ? 1 : static_cast<double>(of[k]);
        return all;
    }

    template <class Number>
    bool take(const Items& items, const Number* shape, std::size_t rank) {
        if (rank != items.axes.size()) return false;
        for (std::size_t i = 0; i < rank; ++i) {
            std::int64_t& extent = of[items.axes[i]];
            if (extent >= 0 && extent != shape[i]) return false;
            extent = shape[i];
        }
        return true;
    }
};

/// Whether the number is of that type; ints only as far as every float type rounds them once.
bool is_number_of(PyObject* type, PyObject* object) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type) return false;
    if (!PyLong_CheckExact(object)) return true;
    constexpr long long most = 1LL << 53;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 && value >= -most && value <= most;
}

/// Whether compiled code reads the elements in place, as those of the dtype.
bool has_dtype(const NumPyArray& a, const Items& items) {
    if (a.dtype == items.known.get()) return is_in_place(a, size_of(items.dtype));
    DType dtype{};
    if (!is_plain(a, dtype) || dtype != items.dtype) return false;
    items.known = Ref::of(a.dtype);
    return true;
}

bool fits(const ItemLoop& loop, const Items& items, PyObject* object, Extents& extents) {
    if (items.number) return is_number_of(items.number.get(), object);
    if (is_numpy_array(object)) {
        const auto& a = *reinterpret_cast<const NumPyArray*>(object);
        return has_dtype(a, items) &&
               extents.take(items, a.shape, static_cast<std::size_t>(a.rank));
    }
    if (!loop.takes_ours || Py_TYPE(object) != array_type) return false;
    const View& view = array_of(object).view();
    return view.dtype == items.dtype && view.storage->addressable() &&
           extents.take(items, view.layout->shape().data(), view.layout->shape().size());
}

/// Arrays without a base overlap no other.
bool has_no_base(PyObject* object) {
    return is_numpy_array(object) && !reinterpret_cast<const NumPyArray*>(object)->base;
}

/// Whether the loop may write to the arrays that the caller gave: they overlap no other.
bool fits_given(const ItemLoop& loop, PyObject* const* args, Extents& extents) {
    std::size_t operands = loop.operands.size(), all = operands + loop.results.size();
    for (std::size_t k = 0; k < all; ++k) {
        bool is_number = k < operands && loop.operands[k].number;
        if (!is_number && !has_no_base(args[k])) return false;
    }
    for (std::size_t k = operands; k < all; ++k) {
        const Items& items = loop.results[k - operands];
        const auto& a = *reinterpret_cast<const NumPyArray*>(args[k]);
        if (!(a.flags & numpy_writable) || items.axes.empty() ||
            std::count(args, args + all, args[k]) != 1 || !fits(loop, items, args[k], extents))
            return false;
    }
    return true;
}

PyObject* make_result(const Items& items, const Extents& extents) {
    std::int64_t shape[most_axes] = {1};
    std::size_t rank = items.axes.size();
    for (std::size_t i = 0; i < rank; ++i) shape[i] = extents.of[items.axes[i]];
    return wrap_made([&] {
        return empty({shape, std::max<std::size_t>(rank, 1)}, items.dtype,
                     to_device_pointer(Py_None));
    });
}

/// What the caller gets of the array that the loop wrote.
PyObject* delivered(const Items& items, PyObject* made) {
    if (!items.axes.empty()) return Py_NewRef(made);
    return PySequence_GetItem(made, 0);
}

/// Objects of which the call holds a reference each.
class Held {
  public:
    explicit Held(PyObject** first) : first_(first) {}
    ~Held() {
        for (std::size_t k = 0; k < count_; ++k) Py_DECREF(first_[k]);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    /// The next of them, a new reference; false where it is null.
    bool add(PyObject* object) {
        if (!object) return false;
        first_[count_++] = object;
        return true;
    }
    PyObject* operator[](std::size_t k) const { return first_[k]; }

  private:
    PyObject** first_;
    std::size_t count_ = 0;
};

/// The results; null without an error where the loop does not take the arguments.
PyObject* run_loop(const ItemLoop& loop, PyObject* const* args, std::size_t count) {
    std::size_t operands = loop.operands.size(), results = loop.results.size();
    bool is_given = count == operands + results;
    if (count != operands && !is_given) return nullptr;
    Extents extents(loop.extents);
    for (std::size_t k = 0; k < operands; ++k) {
        if (!fits(loop, loop.operands[k], args[k], extents)) return nullptr;
    }
    if (extents.items() > static_cast<double>(loop.most) ||
        (is_given && !fits_given(loop, args, extents)))
        return nullptr;
    PyObject* all[most_arguments];
    std::copy_n(args, count, all);
    Held made(all + operands);
    for (std::size_t k = 0; k < results; ++k) {
        if (!made.add(is_given ? Py_NewRef(args[operands + k])
                               : make_result(loop.results[k], extents)))
            return nullptr;
    }
    Ref done(PyObject_Vectorcall(loop.function.get(), all, operands + results, nullptr));
    if (!done) return nullptr;
    if (results == 1) return delivered(loop.results[0], made[0]);
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(results)));
    for (std::size_t k = 0; tuple && k < results; ++k) {
        PyObject* item = delivered(loop.results[k], made[k]);
        if (!item) return nullptr;
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), item);
    }
    return tuple.release();
}

/// f(a, b), f(a, b, out) and f(a, b, out=out), whose arguments lie alike.
bool is_plain_call(PyObject* keywords) {
    if (!keywords || PyTuple_GET_SIZE(keywords) == 0) return true;
    return PyTuple_GET_SIZE(keywords) == 1 &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* keywords) {
    auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
    const Loops& loops = *self_of(self).loops;
    if (is_plain_call(keywords)) {
        std::size_t all =
            count + static_cast<std::size_t>(keywords ? PyTuple_GET_SIZE(keywords) : 0);
        for (std::size_t k = 0; k < loops.size(); ++k) {
            // Its call may run Python code, which may add loops.
            std::shared_ptr<const ItemLoop> loop = loops[k];
            if (all != count && (loop->results.size() != 1 || count != loop->operands.size()))
                continue;
            PyObject* made =
                guarded<PyObject*>(nullptr, [&] { return run_loop(*loop, args, all); });
            if (made || PyErr_Occurred()) return made;
        }
    }
    Ref method(PyObject_GetAttrString(self, "_call"));
    if (!method) return nullptr;
    return PyObject_Vectorcall(method.get(), args, count, keywords);
}

/// [(name of a dtype, (number of an extent, ...)) or a type of numbers, ...]
std::vector<Items> items_of(PyObject* list) {
    std::vector<Items> all;
    for (Py_ssize_t k = 0; k < PyList_Size(list); ++k) {
        PyObject *given = PyList_GET_ITEM(list, k), *dtype, *axes;
        Items items;
        if (PyType_Check(given)) {
            items.number = Ref::of(given);
            all.push_back(std::move(items));
            continue;
        }
        if (!PyArg_ParseTuple(given, "OO!", &dtype, &PyTuple_Type, &axes)) python_failed();
        items.dtype = to_dtype(dtype);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axes); ++i) {
            items.axes.push_back(static_cast<std::size_t>(to_int64(PyTuple_GET_ITEM(axes, i))));
            if (items.axes.back() >= most_axes) fail(ErrorKind::Internal, "_add_loop: an axis");
        }
        all.push_back(std::move(items));
    }
    return all;
}

/// _add_loop(function, operands, results, most, takes_ours): whether it can be kept.
PyObject* add_loop(PyObject* self, PyObject* args) {
    PyObject *function, *operands, *results;
    long long most;
    int takes_ours;
    if (!PyArg_ParseTuple(args, "OO!O!Lp", &function, &PyList_Type, &operands, &PyList_Type,
                          &results, &most, &takes_ours))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (static_cast<std::size_t>(PyList_GET_SIZE(operands) + PyList_GET_SIZE(results)) >
            most_arguments)
            Py_RETURN_FALSE;
        auto loop = std::make_shared<ItemLoop>();
        loop->function = Ref::of(function);
        loop->operands = items_of(operands);
        loop->results = items_of(results);
        for (const auto* list : {&loop->operands, &loop->results}) {
            for (const Items& items : *list) {
                for (std::size_t axis : items.axes)
                    loop->extents = std::max(loop->extents, axis + 1);
            }
        }
        loop->most = most;
        loop->takes_ours = takes_ours != 0;
        self_of(self).loops->push_back(std::move(loop));
        Py_RETURN_TRUE;
    });
}

PyObject* clear_loops(PyObject* self, PyObject*) {
    std::exchange(*self_of(self).loops, {}).clear();
    Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    // Python 3.11 does not hand this flag down to classes written in Python.
    if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    self_of(self).vectorcall = vectorcall;
    self_of(self).loops = new Loops;
    return self;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete self_of(self).loops;
    type->tp_free(self);
    Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    // A call in progress holds its loop, too: what it holds is then no part of a cycle.
    for (const auto& loop : *self_of(self).loops) {
        if (loop.use_count() == 1) Py_VISIT(loop->function.get());
    }
    return 0;
}

int clear(PyObject* self) {
    std::exchange(*self_of(self).loops, {}).clear();
    return 0;
}

PyMethodDef methods[] = {{"_add_loop", add_loop, METH_VARARGS, nullptr},
                         {"_clear_loops", clear_loops, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ItemLoopsObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

bool add_item_loops(PyObject* module) {
    PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                           {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_methods, methods},
                           {Py_tp_members, members},
                           {0, nullptr}};
    PyType_Spec spec{
        "unisono._engine._ItemLoops", sizeof(ItemLoopsObject), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
        slots};
    Ref type(PyType_FromSpec(&spec));
    return type && PyModule_AddObjectRef(module, "_ItemLoops", type.get()) == 0;
}

}  // namespace unisono::python
