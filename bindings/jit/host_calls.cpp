// Calls of compiled functions that run elsewhere than their arrays: what a device refuses, by the
// host, on copies; what is spread over a mesh, by its statements.
#include <algorithm>
#include <vector>

#include "array/object.h"
#include "errors.h"
#include "jit/dispatch.h"
#include "jit/values/arguments.h"
#include "tape/record/record.h"

namespace unisono::python {

namespace {

/// Copies of the arguments that lie on a device.
class NearArguments {
  public:
    NearArguments(PyObject* const* args, std::size_t count, Device& device)
        : all(args, args + count), device_(device) {
        for (PyObject*& object : all) {
            if (!is_array(object) || array_of(object).device() != &device) continue;
            const Array& far = array_of(object);
            auto seen = std::find_if(moved_.begin(), moved_.end(),
                                     [&](const Moved& m) { return m.far == object; });
            if (seen == moved_.end()) {
                Array near = to_device(far, nullptr);
                const std::uint64_t version = version_of(near);
                Ref made(wrap_array(std::move(near)));
                if (!made) throw PythonError{};
                seen = moved_.insert(moved_.end(), {object, std::move(made), version});
            }
            object = seen->near.get();
        }
    }

    /// Whether two of them see the same memory, which copies do not.
    bool have_overlap() const {
        for (const Moved& a : moved_) {
            for (const Moved& b : moved_) {
                const bool is_shared =
                    array_of(a.far).view().storage == array_of(b.far).view().storage;
                if (&a != &b && is_shared) return true;
            }
        }
        return false;
    }

    /// What the call wrote, also before it failed.
    void take_back() const {
        for (const Moved& m : moved_) {
            const Array& near = array_of(m.near.get());
            if (version_of(near) == m.version) continue;
            const Array there = to_device(near, &device_);
            assign(array_of(m.far), there.arg());
        }
    }

    /// A result: arguments stay themselves, new arrays go to the device.
    Ref there(PyObject* result) const {
        for (const Moved& m : moved_) {
            if (m.near.get() == result) return Ref(Py_NewRef(m.far));
        }
        if (moved_.empty()) return Ref(Py_NewRef(result));
        if (is_array(result) && !array_of(result).device() && !array_of(result).is_value())
            return Ref(wrap_array(to_device(array_of(result), &device_)));
        if (!PyTuple_CheckExact(result)) return Ref(Py_NewRef(result));
        const Py_ssize_t size = PyTuple_GET_SIZE(result);
        Ref made(PyTuple_New(size));
        if (!made) throw PythonError{};
        for (Py_ssize_t k = 0; k < size; ++k)
            PyTuple_SET_ITEM(made.get(), k, there(PyTuple_GET_ITEM(result, k)).release());
        return made;
    }

    std::vector<PyObject*> all;

  private:
    struct Moved {
        PyObject* far;
        Ref near;
        std::uint64_t version;
    };
    static std::uint64_t version_of(const Array& a) {
        return a.view().storage ? a.view().storage->version : 0;
    }

    Device& device_;
    std::vector<Moved> moved_;
};

}  // namespace

bool Dispatch::is_refused(const Arguments& arguments) const {
    return !refused_.empty() && std::any_of(refused_.begin(), refused_.end(), [&](const auto& r) {
        return r.second == arguments.device() && r.first == arguments.key();
    });
}

bool Dispatch::note_refusal(const Arguments& arguments, const Error& refusal) const {
    const Device* device = arguments.device();
    const bool is_far = device && !device->info().host_memory && !arguments.stays_on_host();
    if (refusal.kind() != ErrorKind::Unsupported || !is_far || !device->info().has_float64)
        return false;
    if (device->info().kind == "mesh") return false;  // a copy would gather what no rank may hold
    refused_.emplace_back(arguments.key(), device);
    if (std::exchange(has_warned_of_refusal_, true)) return true;
    const std::string text = name_ + ": runs on the host, and arrays of " + device->info().name +
                             " are copied there and back, since that device refuses it:\n  " +
                             refusal.what();
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw PythonError{};
    return true;
}

PyObject* Dispatch::call_on_host(const frontend::Source& source, PyObject* const* args,
                                 std::size_t count, PyObject* keywords, Device& device) {
    const auto names = keywords ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    const NearArguments near(args, count + names, device);
    if (near.have_overlap()) {
        fail(ErrorKind::Unsupported,
             name_ + ": runs on the host only, and arguments share memory of " +
                 device.info().name + "; copy one of them, or move them with to_device(\"cpu\")");
    }
    Ref result;
    try {
        result = Ref(call_any(source, near.all.data(), count, keywords, nullptr, false, true));
    } catch (...) {
        near.take_back();
        throw;
    }
    if (!result) throw PythonError{};
    near.take_back();
    return near.there(result.get()).release();
}

PyObject* Dispatch::call_by_statements(PyObject* const* args, std::size_t count, PyObject* keywords,
                                       const Device& mesh) {
    if (!std::exchange(has_warned_of_statements_, true)) {
        Ref module(PyImport_ImportModule("unisono._runtime.parts"));
        Ref loops(
            module ? PyObject_CallMethod(module.get(), "loops_over_elements", "O", function_.get())
                   : nullptr);
        if (!loops) throw PythonError{};
        const std::string text =
            name_ + ": its statements run one by one on " + mesh.info().name +
            ", elements of loops with messages for each; un.map_blocks runs it compiled on the "
            "ranks' parts";
        if (loops.get() == Py_True && PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0)
            throw PythonError{};
    }
    PyObject* made = PyObject_Vectorcall(function_.get(), args, count, keywords);
    if (!made) throw PythonError{};
    return made;
}

}  // namespace unisono::python
