// Calls of raw kernels, kernel(grid, block, args, shared_mem=0): those whose arguments are passed
// as they are, over sizes that were launched before, without Python; all others by its __call__.
#include "jit/launch/raw_launcher.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "errors.h"
#include "jit/dispatcher.h"
#include "jit/fast_path.h"
#include "jit/launch/call_in_front.h"
#include "jit/launch/raw_arguments.h"
#include "reference.h"

namespace unisono::python {

namespace {

/// Blocks of a grid, or threads of a block, along one to three axes.
struct Sizes {
    std::array<std::int64_t, 3> along{};
    std::size_t axes = 0;

    bool operator==(const Sizes&) const = default;
    /// From a tuple of ints; false where it is anything else.
    bool read(PyObject* object) {
        if (!PyTuple_CheckExact(object)) return false;
        axes = static_cast<std::size_t>(PyTuple_GET_SIZE(object));
        if (axes > along.size()) return false;
        for (std::size_t k = 0; k < axes; ++k) {
            PyObject* size = PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(k));
            if (!pack_number(size, Weak::Int, along[k])) return false;
        }
        return true;
    }
};

/// What a call asks for, but for its arguments.
struct Asked {
    const Device* device = nullptr;  ///< of its arrays
    std::int64_t shared = 0;         ///< bytes
    Sizes grid, block;

    bool operator==(const Asked&) const = default;
    bool read(PyObject* of_grid, PyObject* of_block, PyObject* of_shared) {
        return grid.read(of_grid) && block.read(of_block) &&
               (!of_shared || pack_number(of_shared, Weak::Int, shared));
    }
};

struct KnownLaunch {
    Asked asked;
    Ref kernel;
    NDRange range;
};

struct RawLauncher {
    CallInFront front;
    std::string* types;  ///< raw_types of its parameters; empty: none is passed as it is
    std::vector<KnownLaunch>* known;
};

constexpr std::size_t most_known = 256;

RawLauncher* self_of(PyObject* object) { return reinterpret_cast<RawLauncher*>(object); }

bool is_shared_mem(PyObject* keywords) {
    return PyTuple_GET_SIZE(keywords) == 1 &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "shared_mem") == 0;
}

/// The launch that a call repeats; null where it is another one.
const KnownLaunch* known_launch(RawLauncher& self, PyObject* const* args, std::size_t count,
                                PyObject* keywords) {
    std::vector<KnownLaunch>& known = *self.known;
    if (known.empty() || count != 3 || (keywords && !is_shared_mem(keywords))) return nullptr;
    Asked asked;
    if (!PyTuple_CheckExact(args[2]) || !asked.read(args[0], args[1], keywords ? args[3] : nullptr))
        return nullptr;
    asked.device = raw_device(*self.types, args[2]);
    if (!asked.device) return nullptr;
    if (known.front().asked == asked) return &known.front();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KnownLaunch& k) { return k.asked == asked; });
    if (found == known.end()) return nullptr;
    std::swap(known.front(), *found);  // the next call is most often the same
    return &known.front();
}

PyObject* vectorcall(PyObject* object, PyObject* const* args, size_t flagged, PyObject* keywords) {
    if (is_called_otherwise(Py_TYPE(object))) [[unlikely]]
        return PyObject_Vectorcall(object, args, flagged, keywords);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        if (const KnownLaunch* found = known_launch(*self_of(object), args, count, keywords)) {
            const Ref kernel = Ref::of(found->kernel.get());
            const NDRange range = found->range;
            return launch_kernel(kernel.get(), range, &PyTuple_GET_ITEM(args[2], 0),
                                 static_cast<std::size_t>(PyTuple_GET_SIZE(args[2])));
        }
        return call_in_python(object, args, count, keywords);
    });
}

/// _take_types(((dtype, whether it is a pointer), ...)): of the parameters of the text
PyObject* take_types(PyObject* object, PyObject* parameters) {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        RawLauncher& self = *self_of(object);
        *self.types = raw_types(parameters);
        self.known->clear();
        Py_RETURN_NONE;
    });
}

/// _remember(grid, block, args, shared bytes, kernel, global sizes, local sizes): calls with
/// arguments of the same kinds launch the kernel over these sizes at once
PyObject* remember(PyObject* object, PyObject* const* a, Py_ssize_t count) {
    if (count != 7 || !PyTuple_Check(a[5]) || !PyTuple_Check(a[6]))
        return PyErr_Format(PyExc_TypeError, "expected a call, its kernel and sizes");
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        RawLauncher& self = *self_of(object);
        KnownLaunch made;
        if (self.types->empty() || self.known->size() >= most_known || !PyTuple_CheckExact(a[2]) ||
            !made.asked.read(a[0], a[1], a[3]))
            Py_RETURN_NONE;
        made.asked.device = raw_device(*self.types, a[2]);
        if (!made.asked.device) Py_RETURN_NONE;
        made.kernel = Ref::of(a[4]);
        made.range = launch_range(a[4], a[5], a[6]);
        self.known->push_back(std::move(made));
        Py_RETURN_NONE;
    });
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    return guarded<PyObject*>(nullptr, [&] {
        auto types = std::make_unique<std::string>();
        auto known = std::make_unique<std::vector<KnownLaunch>>();
        PyObject* self = type->tp_alloc(type, 0);
        if (!self) return self;
        self_of(self)->front.vectorcall = vectorcall;
        self_of(self)->types = types.release();
        self_of(self)->known = known.release();
        return self;
    });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    for (const KnownLaunch& k : *self_of(self)->known) Py_VISIT(k.kernel.get());
    return 0;
}

int clear(PyObject* self) {
    std::exchange(*self_of(self)->known, {}).clear();
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    delete self_of(self)->known;
    delete self_of(self)->types;
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"_take_types", take_types, METH_O, nullptr},
    {"_remember", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(remember)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_raw_launcher(PyObject* module) {
    return add_call_in_front(module, {"unisono._engine._RawLauncher", sizeof(RawLauncher), make,
                                      deallocate, traverse, clear, methods});
}

}  // namespace unisono::python
