// DLPack 1.x: zero-copy exchange with other array libraries on the CPU, and of arrays on devices.
//
// On an OpenCL device a tensor's `data` is the buffer (cl_mem), on a CUDA device an address. Memory
// of OpenCL devices is taken from our own tensors only: that of others belongs to other contexts.
// On CUDA devices the consumer names a stream, which the producer lets wait for its work.
#include <cstdint>
#include <cstdlib>

#include "array/exchange/adopt.h"
#include "array/object.h"
#include "backends/stream_source.h"
#include "comm/mesh.h"
#include "comm/partition.h"
#include "comm/place.h"
#include "core/limits.h"
#include "reference.h"
#include "tape/block.h"
#include "tape/run/submission.h"
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
constexpr std::int32_t dl_cpu = 1, dl_cuda = 2, dl_opencl = 4;
constexpr std::uint64_t flag_readonly = 1, flag_copied = 2;

/// Keeps an exported array and its dims alive. Made with the interpreter's lock; may die without
/// it.
struct Exported {
    OwnerRef owner;
    Array array;
    std::vector<std::int64_t> shape, strides;
    bool on_host = false;  ///< the consumer uses the memory as the host's
    DLManagedTensor plain{};
    DLManagedTensorVersioned versioned{};

    ~Exported() {
        Storage* s = array.view().storage;
        --s->exports;
        ++s->version;
        if (!owner.get()) return;
        Context::Scope its(owner.get()->context);
        array = Array();
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

void drop_plain(DLManagedTensor* t) { drop(t->context); }
void drop_versioned(DLManagedTensorVersioned* t) { drop(t->context); }

std::int32_t dl_type(const Device& device) {
    return device.info().name.starts_with("cuda") ? dl_cuda : dl_opencl;
}

/// Where an array's memory lies: on a device by its number among those of its back end. That of a
/// distributed array is the host's.
DLDevice dl_device_of(const Array& a) {
    if (a.is_known() || a.view().storage->addressable() || comm::Place::mesh_of(a.device()))
        return {dl_cpu, 0};
    const Device* device = a.device();
    std::int32_t id = 0;
    for (const Device* d : all_devices()) {
        if (d == device) return {dl_type(*device), id};
        if (!d->info().host_memory && dl_type(*d) == dl_type(*device)) ++id;
    }
    return {dl_type(*device), static_cast<std::int32_t>(device->number())};  // a part of one
}

/// Of a distributed array one of the host with all of its elements, which all ranks ask for: its
/// own memory where every rank has all, else a copy, which is noted.
Array on_host(const Array& a, PyObject* copy_wanted, bool& copied) {
    comm::Mesh* mesh = a.is_known() ? nullptr : comm::Place::mesh_of(a.device());
    if (!mesh) return a;
    comm::Partition& partition = mesh->partition();
    if (mesh->size() == 1) return partition.local_part(a).array;
    const bool may_copy = copy_wanted != Py_False;
    if (copy_wanted != Py_True) {
        if (const auto own = partition.everywhere(a, !may_copy)) return *own;
    }
    if (!may_copy) {
        PyErr_Format(PyExc_BufferError,
                     "__dlpack__: no rank has all elements of the array; got copy=False and %d "
                     "ranks; expected the layout 'replicated', or an array (not a view of a larger "
                     "one) of at most %lld elements; x.local is this rank's part",
                     mesh->size(), static_cast<long long>(limits::few_elements));
        throw PythonError{};
    }
    copied = true;
    return partition.whole(a);
}

bool same_device(DLDevice a, DLDevice b) { return a.type == b.type && a.id == b.id; }

/// One that is not the host; null where there is none of that number.
Device* device_of(DLDevice wanted) {
    std::int32_t id = 0;
    for (Device* d : all_devices()) {
        if (d->info().host_memory || dl_type(*d) != wanted.type) continue;
        if (id++ == wanted.id) return d;
    }
    return nullptr;
}

/// The device that a consumer asks for; null for the host.
Device* wanted_device(DLDevice wanted) {
    if (wanted.type == dl_cpu && wanted.id == 0) return nullptr;
    if (Device* found = device_of(wanted)) return found;
    PyErr_Format(PyExc_BufferError, "__dlpack__: there is no device (%d, %d) of DLPack's here",
                 wanted.type, wanted.id);
    throw PythonError{};
}

/// An array where a consumer wants it.
struct Placed {
    Array array;
    bool copied = false, on_host = false;
};

/// Whether the host sees the array's memory without a copy. Where none is allowed, memory becomes
/// shared if it can.
bool is_seen_by_host(const Array& a, bool may_copy) {
    Storage& s = *a.view().storage;
    return host_address(s) || (!may_copy && become_shared(s));
}

Placed placed(Array a, PyObject* device, bool may_copy) {
    const bool is_here = a.is_known() || a.view().storage->addressable();
    if (device == Py_None) return {a, false, is_here};
    DLDevice wanted{};
    if (!PyArg_ParseTuple(device, "ii", &wanted.type, &wanted.id)) throw PythonError{};
    if (same_device(wanted, dl_device_of(a))) return {a, false, is_here};
    Device* to = wanted_device(wanted);
    if (!to && is_seen_by_host(a, may_copy)) return {a, false, true};
    if (!may_copy) {
        PyErr_Format(PyExc_BufferError,
                     "__dlpack__: an array on %s cannot be seen on %s without a copy; got "
                     "copy=False; use copy=None",
                     device_name(a.device()).c_str(), device_name(to).c_str());
        throw PythonError{};
    }
    return {to_device(a, to), true, !to};
}

/// The stream that a consumer names for an array on that device: null where it wants no order.
struct WantedStream {
    bool is_named = false;
    void* handle = nullptr;
};
constexpr std::uintptr_t legacy_stream = 1;

WantedStream wanted_stream(PyObject* stream, std::int32_t type) {
    if (type != dl_cuda) {
        if (stream == Py_None) return {};
        PyErr_Format(
            PyExc_ValueError,
            "__dlpack__: stream belongs to CUDA devices, and the tensor is not on one; got "
            "%R; expected None",
            stream);
        throw PythonError{};
    }
    if (stream == Py_None) return {true, reinterpret_cast<void*>(legacy_stream)};
    if (!PyLong_Check(stream) || PyBool_Check(stream)) {
        PyErr_Format(PyExc_TypeError,
                     "__dlpack__: stream must be an integer or None; got %R; expected a stream's "
                     "address, 1 (the legacy default stream), 2 (the thread's) or -1 (no order)",
                     stream);
        throw PythonError{};
    }
    const long long value = PyLong_AsLongLong(stream);
    if (value == -1 && !PyErr_Occurred()) return {};
    if (value <= 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError,
                     "__dlpack__: there is no such stream; got %R; expected a stream's address, 1 "
                     "(the legacy default stream), 2 (the thread's) or -1 (no order)",
                     stream);
        throw PythonError{};
    }
    return {true, reinterpret_cast<void*>(value)};
}

/// Memory that is ready for others to use; on a CUDA device, for what the stream is given next.
void make_ready(const Array& a, bool on_host, bool for_write, const WantedStream& stream) {
    Storage* s = a.view().storage;
    if (on_host) {
        host_data(a, for_write);
        return;
    }
    if (for_write)
        Tape::current().complete_for_write(s, FlushReason::Shared);
    else
        Tape::current().complete(s, FlushReason::Shared);
    s->allocate();
    begin_outside_use(*s);
    auto* streams = dynamic_cast<StreamSource*>(s->device);
    if (!streams || s->use->fault) wait_for_memory(*s);
    if (streams && stream.is_named) streams->let_wait(stream.handle);
}

void fill_tensor(DLTensor& t, Exported& e) {
    const Array& a = e.array;
    const Storage& s = *a.view().storage;
    const std::int64_t offset = a.view().offset * size_of(a.dtype());
    t.device = e.on_host ? DLDevice{dl_cpu, 0} : dl_device_of(a);
    t.data = e.on_host ? host_address(s) + offset : reinterpret_cast<void*>(s.memory.handle);
    t.ndim = a.rank();
    t.dtype = dl_dtype(a.dtype());
    t.shape = e.shape.data();
    t.strides = e.strides.data();
    t.byte_offset = e.on_host ? 0 : static_cast<std::uint64_t>(offset);
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

/// Another library's tensor and the capsule that it came in, which stays until the tensor is
/// given back: of some producers the tensor's own memory goes with the capsule. A tensor that
/// cannot be given back belongs to the object that made it.
template <class Tensor>
struct Imported {
    Tensor* tensor;
    Ref capsule, producer;
};

/// Called with the interpreter's lock.
template <class Tensor>
void release_imported(void* owner) {
    const std::unique_ptr<Imported<Tensor>> held(static_cast<Imported<Tensor>*>(owner));
    if (!held->producer) held->tensor->deleter(held->tensor);
}

/// A producer may hand over anything: nothing is read before it is known to be there.
void check_tensor(const DLTensor& t, std::int64_t size) {
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
    if (count > 0) {
        // From the first byte to the last one, in either direction of each axis.
        std::int64_t span = t.strides ? 1 : count;
        for (int k = 0; t.strides && k < t.ndim; ++k) {
            std::int64_t along = 0;
            if (__builtin_mul_overflow(t.shape[k] - 1, t.strides[k], &along) ||
                along == INT64_MIN || __builtin_add_overflow(span, std::abs(along), &span))
                refuse("strides beyond all memory");
        }
        if (__builtin_mul_overflow(span, size, &span)) refuse("more bytes than 2**63");
    }
    if (count > 0 && !t.data) refuse("no memory for " + std::to_string(count) + " elements");
}

/// Of another library, on a device whose streams it shares with us: ours waits for its work.
Array import_from_device(const DLTensor& t, DType dtype, void* owner, void (*release)(void*),
                         bool readonly, Device& device) {
    auto* source = dynamic_cast<BlockSource*>(&device);
    const Dims shape(t.shape, static_cast<std::size_t>(t.ndim));
    const Layout* layout =
        t.strides ? Layout::make(shape, {t.strides, shape.size()}) : Layout::contiguous(shape);
    if (layout->size() == 0) {
        release(owner);
        return empty(shape, dtype, &device);
    }
    const std::int64_t width = size_of(dtype);
    char* lowest = static_cast<char*>(t.data) + t.byte_offset + layout->lowest() * width;
    ForeignMemory theirs;
    theirs.address = lowest;
    theirs.bytes = (layout->highest() - layout->lowest() + 1) * width;
    theirs.owner = {owner, [release](void* held) {
                        const PyGILState_STATE state = PyGILState_Ensure();
                        release(held);
                        PyGILState_Release(state);
                    }};
    const Array made = array_over(source->adopt_block(std::move(theirs)), device, layout, dtype,
                                  -layout->lowest());
    Storage* s = made.view().storage;
    s->readonly = readonly;
    note_outside_use(*s);
    return made;
}

Array import_tensor(const DLTensor& t, void* owner, void (*release)(void*), bool readonly) {
    DType dtype{};
    if (!from_dl_dtype(t.dtype, dtype)) {
        fail(ErrorKind::Type, "from_dlpack: the dtype (code " + std::to_string(t.dtype.code) +
                                  ", " + std::to_string(t.dtype.bits) +
                                  " bits) is not one of this version's");
    }
    Device* device = t.device.type == dl_cuda ? device_of(t.device) : nullptr;
    if (device) {
        check_tensor(t, size_of(dtype));
        return import_from_device(t, dtype, owner, release, readonly, *device);
    }
    if (t.device.type != dl_cpu) {
        fail(ErrorKind::Device,
             "from_dlpack: the tensor is not in host memory, but on DLPack's device (" +
                 std::to_string(t.device.type) + ", " + std::to_string(t.device.id) +
                 "); copy it to the CPU first");
    }
    check_tensor(t, size_of(dtype));
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

/// Of a tensor of ours, which is given back.
template <class Tensor>
Array own_array(Tensor* t) {
    const auto* exported = static_cast<const Exported*>(t->context);
    if (exported->owner.get() != owner_here()) [[unlikely]]
        refuse_owner("from_dlpack: the array", exported->owner.get());
    const Array a = exported->array;
    t->deleter(t);
    return a;
}

/// The array of a capsule's tensor. One that is refused stays the capsule's, which frees it.
template <class Tensor>
Array consume(const Ref& capsule, PyObject* producer, const char* name, const char* used_name,
              void (*our_deleter)(Tensor*), bool (*is_readonly)(const Tensor&)) {
    auto* t = static_cast<Tensor*>(PyCapsule_GetPointer(capsule.get(), name));
    Array a;
    if (t->deleter == our_deleter && t->tensor.device.type != dl_cpu) {
        a = own_array(t);
    } else {
        auto held = std::make_unique<Imported<Tensor>>();
        held->tensor = t;
        held->capsule = Ref::of(capsule.get());
        if (!t->deleter) held->producer = Ref::of(producer);
        a = import_tensor(t->tensor, held.get(), release_imported<Tensor>, is_readonly(*t));
        held.release();
    }
    if (PyCapsule_SetName(capsule.get(), used_name) < 0) python_failed();
    return a;
}

}  // namespace

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        PyObject *version = Py_None, *copy_wanted = Py_None, *device = Py_None, *stream = Py_None;
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
            else if (name == "stream")
                stream = value;
            else
                fail(ErrorKind::Type, "__dlpack__: unexpected keyword '" + std::string(name) + "'");
        }
        Array a = used_array(self);
        bool readonly = a.readonly();
        const WantedStream wanted = wanted_stream(stream, dl_device_of(a).type);
        bool copied = false;
        a = on_host(a, copy_wanted, copied);
        if (a.is_known()) a = full({}, a.scalar(), nullptr);
        const Placed there = placed(a, device, copy_wanted != Py_False);
        a = there.array;
        copied = copied || there.copied;
        if (copy_wanted == Py_True && !copied) {
            const bool is_far = there.on_host && !a.view().storage->addressable();
            a = is_far ? to_device(a, nullptr) : copy(a);
            copied = true;
        }
        readonly = readonly && !copied;
        bool use_version = version != Py_None && PyTuple_Check(version) &&
                           PyTuple_GET_SIZE(version) > 0 &&
                           PyLong_AsLong(PyTuple_GET_ITEM(version, 0)) >= 1;
        if (readonly && !use_version) {
            PyErr_SetString(
                PyExc_BufferError,
                "__dlpack__: a read-only array needs DLPack 1.0; pass max_version=(1, 0), or copy");
            throw PythonError{};
        }
        make_ready(a, there.on_host, !readonly, wanted);
        auto e = std::make_unique<Exported>();
        e->on_host = there.on_host;
        ++a.view().storage->exports;
        e->array = a;
        e->shape.assign(a.shape().begin(), a.shape().end());
        e->strides.assign(a.strides().begin(), a.strides().end());
        if (use_version) {
            auto& t = e->versioned;
            t.major = 1;
            t.minor = 0;
            t.context = e.get();
            t.deleter = drop_versioned;
            t.flags = (readonly ? flag_readonly : 0) | (copied ? flag_copied : 0);
            fill_tensor(t.tensor, *e);
            return PyCapsule_New(&e.release()->versioned, "dltensor_versioned", capsule_unused);
        }
        e->plain.context = e.get();
        e->plain.deleter = drop_plain;
        fill_tensor(e->plain.tensor, *e);
        return PyCapsule_New(&e.release()->plain, "dltensor", capsule_unused);
    });
}

PyObject* dlpack_device(PyObject* self, PyObject*) noexcept {
    return guarded<PyObject*>(nullptr, [&] {
        const DLDevice d = dl_device_of(array_of(self));
        return Py_BuildValue("(ii)", d.type, d.id);
    });
}

/// What __dlpack__ of the object returns; on a CUDA device the tensor is ready for what our own
/// queue is given next.
static PyObject* tensor_of(PyObject* object) {
    Ref method(PyObject_GetAttrString(object, "__dlpack__"));
    Ref none(PyTuple_New(0)), names(PyDict_New());
    if (!method.p || !none.p || !names.p) python_failed();
    if (PyObject_HasAttrString(object, "__dlpack_device__")) {
        Ref where(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
        DLDevice device{};
        if (!where.p || !PyTuple_Check(where.p) ||
            !PyArg_ParseTuple(where.p, "ii", &device.type, &device.id))
            python_failed();
        // Without such a device here the tensor is refused below.
        if (Device* ours = device.type == dl_cuda ? device_of(device) : nullptr) {
            QueueScope scope(*ours->own_queue(), {});
            Ref stream(PyLong_FromVoidPtr(ours->native().queue));
            if (!stream.p || PyDict_SetItemString(names.p, "stream", stream.p) < 0) python_failed();
        }
    }
    Ref version(Py_BuildValue("(ii)", 1, 0));
    if (!version.p || PyDict_SetItemString(names.p, "max_version", version.p) < 0) python_failed();
    PyObject* capsule = PyObject_Call(method.p, none.p, names.p);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // from before DLPack 1.0
        PyErr_Clear();
        if (PyDict_DelItemString(names.p, "max_version") < 0) python_failed();
        capsule = PyObject_Call(method.p, none.p, names.p);
    }
    if (!capsule) throw PythonError{};
    return capsule;
}

PyObject* from_dlpack(PyObject*, PyObject* object) noexcept {
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
        const Ref capsule(tensor_of(object));
        if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned"))
            return wrap(consume<DLManagedTensorVersioned>(
                capsule, object, "dltensor_versioned", "used_dltensor_versioned", drop_versioned,
                [](const DLManagedTensorVersioned& t) { return (t.flags & flag_readonly) != 0; }));
        if (PyCapsule_IsValid(capsule.get(), "dltensor"))
            return wrap(consume<DLManagedTensor>(capsule, object, "dltensor", "used_dltensor",
                                                 drop_plain,
                                                 [](const DLManagedTensor&) { return false; }));
        fail(ErrorKind::Value,
             "from_dlpack: __dlpack__ did not return an unused DLPack capsule; one cannot be "
             "consumed multiple times: ask for another");
    });
}

}  // namespace unisono::python
