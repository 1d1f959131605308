// Calls with arrays of the host of functions whose decorator names a device: copies go there, and
// back where the function wrote them.
#include <utility>
#include <vector>

#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "errors.h"
#include "jit/dispatch.h"

namespace unisono::python {

namespace {

struct Copied {
    PyObject* given;  ///< the caller's
    Ref there;
    std::uint64_t version;  ///< before the call
};

Ref checked(PyObject* made) {
    if (!made) throw PythonError{};
    return Ref(made);
}

bool is_host_array(PyObject* object) {
    return is_numpy_array(object) ||
           (is_array(object) && array_of(object).view().storage->addressable());
}

std::uint64_t version_of(PyObject* array) { return array_of(array).view().storage->version; }

/// What the caller gets: its own arrays for those that stood for them, arrays of the host for
/// others.
Ref brought_back(PyObject* result, const std::vector<Copied>& copies) {
    for (const Copied& c : copies) {
        if (c.there.get() == result) return Ref::of(c.given);
    }
    if (is_array(result)) return checked(PyObject_CallMethod(result, "to_device", "s", "cpu"));
    if (!PyTuple_CheckExact(result)) return Ref::of(result);
    Ref tuple = checked(PyTuple_New(PyTuple_GET_SIZE(result)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(result); ++k) {
        Ref item = brought_back(PyTuple_GET_ITEM(result, k), copies);
        PyTuple_SET_ITEM(tuple.get(), k, item.release());
    }
    return tuple;
}

}  // namespace

bool Dispatch::needs_copies(const Arguments& arguments) const {
    return !arguments.device() && !device_name_.empty() && !device_named().info().host_memory;
}

PyObject* Dispatch::call_with_copies(PyObject* const* args, std::size_t count, PyObject* keywords,
                                     const NDRange* range) {
    const std::size_t all =
        count + (keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0);
    Ref package = checked(PyImport_ImportModule("unisono"));
    Ref convert = checked(PyObject_GetAttrString(package.get(), "asarray"));
    Ref names = checked(Py_BuildValue("{s:s}", "device", device_name_.c_str()));
    std::vector<PyObject*> passed(args, args + all);
    std::vector<Copied> copies;
    for (PyObject*& object : passed) {
        if (!is_host_array(object)) continue;
        Ref one = checked(PyTuple_Pack(1, object));
        Ref there = checked(PyObject_Call(convert.get(), one.get(), names.get()));
        PyObject* given = std::exchange(object, there.get());
        copies.push_back({given, std::move(there), version_of(object)});
    }
    if (copies.empty()) {
        fail(ErrorKind::Device, name_ + ": a call without arrays cannot run on '" + device_name_ +
                                    "'; expected at least one array; leave device= out");
    }
    Ref result = checked(call(passed.data(), count, keywords, range));
    for (const Copied& c : copies) {
        if (version_of(c.there.get()) == c.version) continue;
        Ref back = checked(PyObject_CallMethod(c.there.get(), "to_device", "s", "cpu"));
        if (PyObject_SetItem(c.given, Py_Ellipsis, back.get()) < 0) throw PythonError{};
    }
    return brought_back(result.get(), copies).release();
}

}  // namespace unisono::python
