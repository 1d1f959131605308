// Calls of kernels that are made around an expression of elements. One whose arguments are packed
// arrays of a device and numbers, of the dtypes and shapes of a call before, makes the arrays for
// its results and launches that call's kernel at once; all others go to the class's __call__.
#include "jit/launch/known_calls.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/object.h"
#include "array/view.h"
#include "backends/backend.h"
#include "errors.h"
#include "jit/dispatcher.h"
#include "jit/launch/call_in_front.h"
#include "jit/launch/raw_arguments.h"
#include "reference.h"

namespace unisono::python {

namespace {

constexpr std::size_t most_known = 256, most_arguments = 32;

struct Result {
    DType dtype{};
    std::vector<std::int64_t> shape;
};

enum class Gives : std::uint8_t { Nothing, One, Tuple };

/// How calls with arguments of the same kinds run.
struct KnownCall {
    std::string types;  ///< raw_types of the arguments
    Device* device = nullptr;
    std::vector<std::int64_t> shapes;  ///< of each array its rank and extents
    std::size_t results = 0;           ///< the last so many arguments are results
    bool is_apart = false;  ///< results lie in other memory than the rest, and may be given as out=
    std::vector<Result> made;  ///< results where none are given
    Ref kernel;                ///< takes arguments, results and what is behind them
    NDRange range;
    std::vector<Ref> behind;
    Gives gives = Gives::One;
};

using Calls = std::vector<std::shared_ptr<const KnownCall>>;

struct KnownCalls {
    CallInFront front;
    Calls* calls;  ///< owned
};

KnownCalls& self_of(PyObject* object) { return *reinterpret_cast<KnownCalls*>(object); }

/// Objects of which a call holds a reference each.
class Held {
  public:
    Held() = default;
    ~Held() {
        for (std::size_t k = 0; k < count_; ++k) Py_DECREF(held_[k]);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    /// Takes over the reference; throws where it is null.
    PyObject* take(PyObject* object) {
        if (!object) throw PythonError{};
        return held_[count_++] = object;
    }
    std::size_t size() const { return count_; }
    PyObject* const* data() const { return held_.data(); }
    PyObject* operator[](std::size_t k) const { return held_[k]; }

  private:
    std::array<PyObject*, most_arguments> held_;
    std::size_t count_ = 0;
};

/// Whether the elements follow each other in row-major order.
bool is_packed(const ArrayView& view) {
    std::int64_t stride = 1;
    for (std::size_t k = view.shape.size(); k-- > 0; stride *= view.shape[k]) {
        if (view.strides[k] != stride && view.shape[k] != 1) return false;
    }
    return true;
}

/// Whether the array has the next of the shapes, of which it is taken.
bool takes_shape(const ArrayView& view, const std::int64_t*& shape) {
    if (static_cast<std::int64_t>(view.shape.size()) != *shape) return false;
    if (!std::equal(view.shape.begin(), view.shape.end(), shape + 1)) return false;
    shape += 1 + view.shape.size();
    return true;
}

bool fits(const KnownCall& known, PyObject* const* args, std::size_t count) {
    if (count != known.types.size()) return false;
    const std::int64_t* shape = known.shapes.data();
    const std::size_t first_result = count - known.results;
    std::array<const Storage*, most_arguments> storages;
    for (std::size_t k = 0; k < count; ++k) {
        storages[k] = nullptr;
        const char type = known.types[k];
        if (!is_raw_pointer(type)) {
            if (!is_raw_number(args[k], raw_dtype(type))) return false;
            continue;
        }
        ArrayView view;
        if (Py_TYPE(args[k]) != array_type || !view_of_array(args[k], view)) return false;
        if (view.dtype != raw_dtype(type) || view.device != known.device ||
            !takes_shape(view, shape) || !is_packed(view))
            return false;
        if (k < first_result) {
            storages[k] = view.storage;
        } else if (!view.writable ||
                   (known.is_apart && std::find(storages.begin(), storages.begin() + k,
                                                view.storage) != storages.begin() + k)) {
            return false;
        }
    }
    return true;
}

/// A new reference to the array, or to a view of it along one axis.
PyObject* flat(PyObject* array) {
    const Array& a = array_of(array);
    if (a.rank() == 1) return Py_NewRef(array);
    return wrap_made([&] { return reshape(a, {a.size()}); });
}

PyObject* given_back(const KnownCall& known, PyObject* const* results, std::size_t count) {
    if (known.gives == Gives::Nothing) Py_RETURN_NONE;
    if (known.gives == Gives::One) return Py_NewRef(results[0]);
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
    for (std::size_t k = 0; tuple && k < count; ++k)
        PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(k), Py_NewRef(results[k]));
    return tuple;
}

PyObject* run(const KnownCall& known, PyObject* const* args, std::size_t count) {
    Held results, all;
    for (const Result& r : known.made)
        results.take(wrap_made([&] { return empty(r.shape, r.dtype, known.device); }));
    for (std::size_t k = 0; k < count; ++k)
        all.take(is_raw_pointer(known.types[k]) ? flat(args[k]) : Py_NewRef(args[k]));
    for (std::size_t k = 0; k < results.size(); ++k) all.take(flat(results[k]));
    for (const Ref& one : known.behind) all.take(Py_NewRef(one.get()));
    const Ref done(launch_kernel(known.kernel.get(), known.range, all.data(), all.size()));
    if (!done) return nullptr;
    if (known.made.empty()) return given_back(known, args + count - known.results, known.results);
    return given_back(known, results.data(), results.size());
}

/// Whether a call has arguments by position, and at most the keyword out, which lies behind them.
bool is_plain_call(PyObject* keywords) {
    if (!keywords || PyTuple_GET_SIZE(keywords) == 0) return true;
    return PyTuple_GET_SIZE(keywords) == 1 &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0;
}

std::shared_ptr<const KnownCall> find(Calls& calls, PyObject* const* args, std::size_t count) {
    for (std::size_t k = 0; k < calls.size(); ++k) {
        if (!fits(*calls[k], args, count)) continue;
        if (k > 0) std::swap(calls[0], calls[k]);  // the next call is most often the same
        return calls[0];
    }
    return nullptr;
}

PyObject* vectorcall(PyObject* object, PyObject* const* args, size_t flagged, PyObject* keywords) {
    if (is_called_otherwise(Py_TYPE(object))) [[unlikely]]
        return PyObject_Vectorcall(object, args, flagged, keywords);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
    const std::size_t named = keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (is_plain_call(keywords)) {
            const auto known = find(*self_of(object).calls, args, count + named);
            if (known && (named == 0 || known->is_apart)) return run(*known, args, count + named);
        }
        return call_in_python(object, args, count, keywords);
    });
}

std::vector<std::int64_t> numbers_of(PyObject* tuple) {
    if (!PyTuple_Check(tuple)) fail(ErrorKind::Type, "expected a tuple of ints");
    std::vector<std::int64_t> made;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k)
        made.push_back(to_int64(PyTuple_GET_ITEM(tuple, k)));
    return made;
}

std::vector<Result> results_of(PyObject* list) {
    std::vector<Result> made;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(list); ++k) {
        PyObject *dtype, *shape;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, k), "OO", &dtype, &shape)) throw PythonError{};
        made.push_back({to_dtype(dtype), numbers_of(shape)});
    }
    return made;
}

/// Fills in the device and the shapes; false where an argument is not passed as it is.
bool describe(KnownCall& known, PyObject* args) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
        if (!is_raw_pointer(known.types[static_cast<std::size_t>(k)])) continue;
        ArrayView view;
        PyObject* array = PyTuple_GET_ITEM(args, k);
        if (Py_TYPE(array) != array_type || !view_of_array(array, view)) return false;
        if (known.device && known.device != view.device) return false;
        known.device = view.device;
        known.shapes.push_back(static_cast<std::int64_t>(view.shape.size()));
        known.shapes.insert(known.shapes.end(), view.shape.begin(), view.shape.end());
    }
    std::vector<PyObject*> all;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
        all.push_back(PyTuple_GET_ITEM(args, k));
    return known.device && fits(known, all.data(), all.size());
}

/// _remember(types, args, results, is_apart, made, kernel, global sizes, local sizes, behind,
/// gives): calls with arguments like these run so. types are as of _raw_types, of args, of which
/// the last `results` are given results; made: (dtype, shape) of each that the call makes; gives:
/// 0 nothing, 1 the result, 2 a tuple
PyObject* remember(PyObject* self, PyObject* given) {
    PyObject *types, *args, *made, *kernel, *global, *local, *behind;
    int results, is_apart, gives;
    if (!PyArg_ParseTuple(given, "O!O!ipO!OO!O!O!i", &PyTuple_Type, &types, &PyTuple_Type, &args,
                          &results, &is_apart, &PyTuple_Type, &made, &kernel, &PyTuple_Type,
                          &global, &PyTuple_Type, &local, &PyTuple_Type, &behind, &gives))
        return nullptr;
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        Calls& calls = *self_of(self).calls;
        auto known = std::make_shared<KnownCall>();
        known->types = raw_types(types);
        known->results = static_cast<std::size_t>(results);
        known->is_apart = is_apart != 0;
        known->made = results_of(made);
        const std::size_t count = static_cast<std::size_t>(PyTuple_GET_SIZE(args)),
                          last = static_cast<std::size_t>(PyTuple_GET_SIZE(behind));
        if (known->types.empty() || known->types.size() != count || known->results > count ||
            count + known->made.size() + last > most_arguments || calls.size() >= most_known ||
            !describe(*known, args))
            Py_RETURN_FALSE;
        known->kernel = Ref::of(kernel);
        known->range = launch_range(kernel, global, local);
        for (std::size_t k = 0; k < last; ++k)
            known->behind.push_back(Ref::of(PyTuple_GET_ITEM(behind, static_cast<Py_ssize_t>(k))));
        known->gives = static_cast<Gives>(gives);
        calls.push_back(std::move(known));
        Py_RETURN_TRUE;
    });
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] {
        auto calls = std::make_unique<Calls>();
        PyObject* self = type->tp_alloc(type, 0);
        if (!self) return self;
        self_of(self).front.vectorcall = vectorcall;
        self_of(self).calls = calls.release();
        return self;
    });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    // A call in progress holds what it runs, too: that is then no part of a cycle.
    for (const auto& known : *self_of(self).calls) {
        if (known.use_count() == 1) Py_VISIT(known->kernel.get());
    }
    return 0;
}

int clear(PyObject* self) {
    std::exchange(*self_of(self).calls, {}).clear();
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete self_of(self).calls;
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef methods[] = {{"_remember", remember, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_known_calls(PyObject* module) {
    return add_call_in_front(module, {"unisono._engine._KnownCalls", sizeof(KnownCalls), make,
                                      deallocate, traverse, clear, methods});
}

}  // namespace unisono::python
