// DLPack 1.x: zero-copy exchange with other array libraries on the CPU.
#include "array/exchange/adopt.h"
#include "array/object.h"
#include "tape/tape.h"

namespace unisono::python {

namespace {

// The layout of DLPack's structs, as its header defines them.
struct DLDevice {
    std::int32_t type, id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor tensor;
    void* context;
    void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
    std::uint32_t major, minor;
    void* context;
    void (*deleter)(DLManagedTensorVersioned*);
    std::uint64_t flags;
    DLTensor tensor;
};
constexpr std::int32_t dl_cpu = 1;
constexpr std::uint64_t flag_readonly = 1, flag_copied = 2;

/// Keeps an exported array and its dims alive. Made with the interpreter's lock; may die without
/// it.
struct Exported {
    Array array;
    std::vector<std::int64_t> shape, strides;
    DLManagedTensor plain{};
    DLManagedTensorVersioned versioned{};

    ~Exported() {
        Storage* s = array.view().storage;
        --s->exports;
        ++s->version;
    }
};

void drop(void* context) {
    PyGILState_STATE held = PyGILState_Ensure();
    delete static_cast<Exported*>(context);
    PyGILState_Release(held);
}

DLDataType dl_dtype(DType t) {
    char kind = info(t).kind;
    std::uint8_t code = kind == 'b' ? 6 : kind == 'i' ? 0 : kind == 'u' ? 1 : kind == 'c' ? 5 : 2;
    return {code, static_cast<std::uint8_t>(8 * size_of(t)), 1};
}

bool from_dl_dtype(DLDataType d, DType& t) {
    for (int k = 0; k < dtype_count; ++k) {
        DLDataType have = dl_dtype(static_cast<DType>(k));
        if (have.code == d.code && have.bits == d.bits && d.lanes == 1) {
            t = static_cast<DType>(k);
            return true;
        }
    }
    return false;
}

void fill_tensor(DLTensor& t, Exported& e) {
    const Array& a = e.array;
    t.data = a.view().data();
    t.device = {dl_cpu, 0};
    t.ndim = a.rank();
    t.dtype = dl_dtype(a.dtype());
    t.shape = e.shape.data();
    t.strides = e.strides.data();
    t.byte_offset = 0;
}

void capsule_unused(PyObject* capsule) {
    // A consumer renames the capsule; one that nobody consumed frees its tensor.
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        drop(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"))->context);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        drop(static_cast<DLManagedTensorVersioned*>(
                 PyCapsule_GetPointer(capsule, "dltensor_versioned"))
                 ->context);
    }
}

void release_imported(void* owner) {
    auto* t = static_cast<DLManagedTensor*>(owner);
    if (t->deleter) t->deleter(t);
}
void release_imported_versioned(void* owner) {
    auto* t = static_cast<DLManagedTensorVersioned*>(owner);
    if (t->deleter) t->deleter(t);
}

/// A producer may hand over anything: nothing is read before it is known to be there.
void check_tensor(const DLTensor& t) {
    auto refuse = [](const std::string& got) {
        fail(ErrorKind::Value, "from_dlpack: the capsule holds no tensor that can be read; got " +
                                   got + "; its producer is at fault");
    };
    if (t.ndim < 0 || t.ndim > max_rank)
        refuse(std::to_string(t.ndim) + " axes (at most " + std::to_string(max_rank) + ")");
    if (t.ndim > 0 && !t.shape) refuse("no shape");
    std::int64_t count = 1;
    for (int k = 0; k < t.ndim; ++k) {
        if (t.shape[k] < 0) refuse("extent " + std::to_string(t.shape[k]));
        if (__builtin_mul_overflow(count, t.shape[k], &count)) refuse("more elements than 2**63");
    }
    if (count > 0 && !t.data) refuse("no memory for " + std::to_string(count) + " elements");
}

Array import_tensor(const DLTensor& t, void* owner, void (*release)(void*), bool readonly) {
    DType dtype{};
    if (!from_dl_dtype(t.dtype, dtype)) {
        fail(ErrorKind::Type, "from_dlpack: the dtype (code " + std::to_string(t.dtype.code) +
                                  ", " + std::to_string(t.dtype.bits) +
                                  " bits) is not one of this version's");
    }
    if (t.device.type != dl_cpu) {
        fail(ErrorKind::Device,
             "from_dlpack: the tensor is not in host memory; copy it to the CPU first");
    }
    check_tensor(t);
    Dims shape(t.shape, static_cast<std::size_t>(t.ndim));
    const Layout* layout =
        t.strides ? Layout::make(shape, {t.strides, shape.size()}) : Layout::contiguous(shape);
    if (dtype == DType::Bool &&
        !are_truth_bytes(static_cast<char*>(t.data) + t.byte_offset, *layout))
        fail(ErrorKind::Value,
             "from_dlpack: a bool of the tensor is neither 0 nor 1; export it as uint8 and compare "
             "it with 0");
    return borrow(static_cast<char*>(t.data) + t.byte_offset, layout, dtype, readonly, owner,
                  release);
}

}  // namespace

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject *version = Py_None, *copy_wanted = Py_None, *device = Py_None;
        Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t k = 0; k < named; ++k) {
            const char* key = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, k));
            std::string_view name = key ? key : "";
            PyObject* value = args[n + k];
            if (name == "max_version")
                version = value;
            else if (name == "copy")
                copy_wanted = value;
            else if (name == "dl_device")
                device = value;
            else if (name != "stream")
                fail(ErrorKind::Type, "__dlpack__: unexpected keyword '" + std::string(name) + "'");
        }
        (void)device;  // this array is on the CPU, the one device that can be asked for
        Array a = array_of(self);
        if (a.is_known()) a = full({}, a.scalar(), nullptr);
        bool copied = copy_wanted == Py_True;
        if (copied) a = copy(a);
        bool readonly = a.readonly();
        bool use_version = version != Py_None && PyTuple_Check(version) &&
                           PyTuple_GET_SIZE(version) > 0 &&
                           PyLong_AsLong(PyTuple_GET_ITEM(version, 0)) >= 1;
        if (readonly && !use_version) {
            PyErr_SetString(
                PyExc_BufferError,
                "__dlpack__: a read-only array needs DLPack 1.0; pass max_version=(1, 0), or copy");
            throw PythonError{};
        }
        host_data(a, !readonly);
        auto e = std::make_unique<Exported>();
        ++a.view().storage->exports;
        e->array = a;
        e->shape.assign(a.shape().begin(), a.shape().end());
        e->strides.assign(a.strides().begin(), a.strides().end());
        if (use_version) {
            auto& t = e->versioned;
            t.major = 1;
            t.minor = 0;
            t.context = e.get();
            t.deleter = [](DLManagedTensorVersioned* v) { drop(v->context); };
            t.flags = (readonly ? flag_readonly : 0) | (copied ? flag_copied : 0);
            fill_tensor(t.tensor, *e);
            return PyCapsule_New(&e.release()->versioned, "dltensor_versioned", capsule_unused);
        }
        e->plain.context = e.get();
        e->plain.deleter = [](DLManagedTensor* v) { drop(v->context); };
        fill_tensor(e->plain.tensor, *e);
        return PyCapsule_New(&e.release()->plain, "dltensor", capsule_unused);
    });
}

PyObject* dlpack_device(PyObject* self, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const Array& a = array_of(self);
        if (!a.is_known() && !a.view().storage->addressable()) {
            fail(ErrorKind::Unsupported, "__dlpack_device__: arrays on " + device_name(a.device()) +
                                             " cannot be exported; use .to_device(\"cpu\")");
        }
        return Py_BuildValue("(ii)", dl_cpu, 0);
    });
}

PyObject* from_dlpack(PyObject*, PyObject* object) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject* method = PyObject_GetAttrString(object, "__dlpack__");
        if (!method) throw PythonError{};
        PyObject* names = Py_BuildValue("{s(ii)}", "max_version", 1, 0);
        PyObject* empty_args = PyTuple_New(0);
        PyObject* capsule = PyObject_Call(method, empty_args, names);
        if (!capsule &&
            PyErr_ExceptionMatches(PyExc_TypeError)) {  // a producer from before DLPack 1.0
            PyErr_Clear();
            capsule = PyObject_Call(method, empty_args, nullptr);
        }
        Py_DECREF(method);
        Py_DECREF(names);
        Py_DECREF(empty_args);
        if (!capsule) throw PythonError{};
        Array a;
        if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
            auto* t = static_cast<DLManagedTensorVersioned*>(
                PyCapsule_GetPointer(capsule, "dltensor_versioned"));
            a = import_tensor(t->tensor, t, release_imported_versioned, t->flags & flag_readonly);
            PyCapsule_SetName(capsule, "used_dltensor_versioned");
        } else if (PyCapsule_IsValid(capsule, "dltensor")) {
            auto* t = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
            a = import_tensor(t->tensor, t, release_imported, false);
            PyCapsule_SetName(capsule, "used_dltensor");
        } else {
            Py_DECREF(capsule);
            fail(ErrorKind::Value,
                 "from_dlpack: __dlpack__ did not return an unused DLPack capsule");
        }
        Py_DECREF(capsule);
        return wrap(std::move(a));
    });
}

}  // namespace unisono::python
