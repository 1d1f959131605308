// Makes Python objects of what compiled code returns.
#include "jit/dispatch.h"

#include <cstring>

#include "array/object.h"
#include "backends/host/program.h"
#include "jit/values/objects.h"
#include "jit/values/records.h"
#include "jit/values/text.h"

namespace unisono::python {

PyObject* number(Scalar s) {
    if (is_bool(s.dtype)) return PyBool_FromLong(s.as<bool>());
    return is_float(s.dtype)      ? PyFloat_FromDouble(s.as<double>())
           : is_unsigned(s.dtype) ? PyLong_FromUnsignedLongLong(s.as<std::uint64_t>())
                                  : PyLong_FromLongLong(s.as<std::int64_t>());
}

/// Memory that objects hold, too, and one reference to it.
Storage* shared_storage(Block* block, std::uintptr_t address, std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> strides, std::int64_t size) {
    std::int64_t low = 0, high = size;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        if (extents[k] == 0) high = low;
        (strides[k] < 0 ? low : high) += (extents[k] - 1) * strides[k] * size;
    }
    if (high < low) low = high = 0;
    Storage* storage = Storage::create(nullptr, high - low);
    storage->memory = {address + static_cast<std::uintptr_t>(low), high - low};
    storage->borrowed = true;
    storage->owner = block;
    storage->release_owner = [](void* owner) { release_block(static_cast<Block*>(owner)); };
    return storage;
}

/// The memory of a NumPy array without axes, which the array of ours keeps.
static Storage* borrowed_item(PyObject* object, std::uintptr_t address, std::int64_t bytes) {
    Storage* s = Storage::create(nullptr, bytes);
    s->memory = {address, bytes};
    s->borrowed = true;
    s->owner = Py_NewRef(object);
    s->release_owner = [](void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); };
    return s;
}

Dispatch::Taken::~Taken() {
    if (!device) return;
    for (const auto& [block, storage] : storages) storage->release();
}

/// The same of a device (backends/host/program.h); `argument` keeps what it is a view of.
Dispatch::DeviceResult Dispatch::find_on_device(const std::uint64_t* results,
                                                const Arguments& arguments, Taken& taken,
                                                Array& argument) {
    const auto address = static_cast<std::int64_t>(results[0]);
    auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[1]));
    if (!block) {
        const std::size_t k = argument_at(address);
        const Ref object = arguments.array_object(static_cast<int>(k));
        argument = is_array(object.get()) ? array_of(object.get()) : to_array(object.get(), true);
        const View& v = argument.view();
        return {v.storage, v.offset * size_of(v.dtype) + address - argument_address(k)};
    }
    auto [at, is_new] = taken.storages.emplace(block, nullptr);
    if (is_new) {
        at->second = Storage::create(taken.device, block->bytes);
        at->second->memory = {reinterpret_cast<std::uintptr_t>(block->data), block->bytes};
        at->second->evaluation = taken.evaluation;
        at->second->retain();  // results that go to the host let go of it, one by one
        static_cast<DeviceBlock*>(block)->is_taken = true;
    }
    release_block(block);
    return {at->second, address};
}

/// An array that the function made, or a view of an argument.
PyObject* Dispatch::build_array(const frontend::ResultShape& shape, const Arguments& arguments,
                                const std::uint64_t* results, Taken& taken) const {
    auto rank = static_cast<std::size_t>(shape.rank);
    auto address = static_cast<std::uintptr_t>(results[0]);
    auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[1]));
    std::vector<std::int64_t> extents, strides;
    for (std::size_t k = 0; k < rank; ++k) {
        extents.push_back(static_cast<std::int64_t>(results[2 + k]));
        strides.push_back(static_cast<std::int64_t>(results[2 + rank + k]));
    }
    if (!shape.code.empty() && !taken.device) {
        Ref made(bytes_from(address, extents[0], strides[0]));
        if (made && shape.code == "bytearray") made = Ref(PyByteArray_FromObject(made.get()));
        if (block) release_block(block);
        return made.release();
    }
    Array argument;
    Storage* storage = nullptr;
    if (taken.device) {
        const DeviceResult found = find_on_device(results, arguments, taken, argument);
        Ref made(wrap(Array::of({found.storage, Layout::make(extents, strides),
                                 found.bytes / size_of(shape.dtype), shape.dtype})));
        if (!made || !taken.goes_to_host || found.storage->addressable()) return made.release();
        return PyObject_CallMethod(made.get(), "to_device", "s", "cpu");
    }
    if (block && (block->drop || block->refs > taken.references[block])) {
        storage = shared_storage(block, address, extents, strides, size_of(shape.dtype));
        storage->evaluation = taken.evaluation;
    } else if (block) {
        auto [at, is_new] = taken.storages.emplace(block, nullptr);
        if (is_new) {
            at->second = Storage::create(nullptr, block->bytes);
            at->second->memory = {reinterpret_cast<std::uintptr_t>(block->data), block->bytes};
            at->second->evaluation = taken.evaluation;
        }
        forget_block(block);
        storage = at->second;
    } else {
        Ref owner = arguments.object_at(address);
        PyObject* object = owner.get();
        UNISONO_ASSERT(object != nullptr);
        argument = is_array(object) ? array_of(object) : to_array(object, true);
        storage = argument.view().storage;
        // What NumPy has without axes, ours holds as a number.
        const Memory& m = storage->memory;
        bool is_inside =
            m.handle <= address && address <= m.handle + static_cast<std::uintptr_t>(m.bytes);
        if (!is_inside) storage = borrowed_item(object, address, size_of(shape.dtype));
    }
    auto offset =
        (static_cast<std::int64_t>(address) - static_cast<std::int64_t>(storage->memory.handle)) /
        size_of(shape.dtype);
    return wrap(Array::of({storage, Layout::make(extents, strides), offset, shape.dtype}));
}

/// A list of numbers, from memory that the function hands over.
static PyObject* build_list(const frontend::ResultShape& shape, const std::uint64_t* results,
                            Device* device) {
    const auto* data = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(results[0]));
    auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[1]));
    auto count = static_cast<Py_ssize_t>(results[2]);
    std::vector<char> copy;
    if (device && block) {  // the address is an offset (backends/host/program.h)
        const std::int64_t bytes = count * size_of(shape.dtype);
        copy.resize(static_cast<std::size_t>(bytes));
        device->copy_out(copy.data(), {reinterpret_cast<std::uintptr_t>(block->data), block->bytes},
                         static_cast<std::int64_t>(results[0]), bytes);
        data = copy.data();
    }
    if (!shape.code.empty()) {
        Ref made(shape.code == "bytes" ? PyBytes_FromStringAndSize(data, count)
                                       : PyByteArray_FromStringAndSize(data, count));
        if (block) release_block(block);
        return made.release();
    }
    Ref list(PyList_New(count));
    auto size = static_cast<std::size_t>(size_of(shape.dtype));
    for (Py_ssize_t i = 0; list && i < count; ++i) {
        const DType part = part_dtype(shape.dtype);
        const auto bytes = static_cast<std::size_t>(size_of(part));
        auto read = [&](std::size_t k) {
            Scalar s{0, part};
            std::memcpy(&s.bits, data + static_cast<std::size_t>(i) * size + k * bytes, bytes);
            return s;
        };
        PyObject* item = is_complex(shape.dtype)
                             ? PyComplex_FromDoubles(read(0).as<double>(), read(1).as<double>())
                             : number(read(0));
        if (!item) return nullptr;
        PyList_SET_ITEM(list.get(), i, item);
    }
    if (block) release_block(block);
    return list.release();
}

/// Records that the function made, or a view of those of an argument; the item holds their bytes.
PyObject* Dispatch::build_records(const frontend::ResultShape& shape, const Arguments& arguments,
                                  const std::uint64_t* results, Taken& taken) const {
    const frontend::ResultShape& item = shape.items[0];
    const std::uint64_t* words = results + item.index;
    static PyObject* made_here = nullptr;
    static PyObject* of_argument = nullptr;
    if (words[1] != 0) {
        PyObject* make = kept(made_here, "unisono._records.results", "made");
        Ref bytes(make ? build(item, arguments, results, taken) : nullptr);
        if (!bytes) return nullptr;
        return PyObject_CallFunction(make, "Os", bytes.get(), shape.record->dtype.c_str());
    }
    auto tuple_of = [](const std::uint64_t* first, int count) {
        Ref made(PyTuple_New(count));
        for (int k = 0; made && k < count; ++k)
            PyTuple_SET_ITEM(made.get(), k,
                             PyLong_FromLongLong(static_cast<std::int64_t>(first[k])));
        return made;
    };
    PyObject* make = kept(of_argument, "unisono._records.results", "view_of");
    PyObject* owner = arguments.owner_of_records(static_cast<std::uintptr_t>(words[0]));
    UNISONO_ASSERT(owner != nullptr);
    const int rank = item.rank - 1;  // without the bytes of a record
    Ref extents = tuple_of(words + 2, rank), strides = tuple_of(words + 2 + item.rank, rank);
    if (!make || !extents || !strides) return nullptr;
    return PyObject_CallFunction(make, "OsKOO", owner, shape.record->dtype.c_str(),
                                 static_cast<unsigned long long>(words[0]), extents.get(),
                                 strides.get());
}

/// A Generator of NumPy: the one that was given.
static PyObject* address_object(const frontend::ResultShape& shape, const Arguments& arguments,
                                const std::uint64_t* results) {
    const frontend::ResultShape* inner = &shape;
    while (!inner->items.empty()) inner = &inner->items[0];
    auto address = static_cast<std::int64_t>(results[inner->index]);
    if (PyObject* known = arguments.object_for(address, shape.record->python))
        return Py_NewRef(known);
    fail(ErrorKind::Type, "a " + shape.record->name +
                              " that is not an argument cannot be returned; "
                              "draw its numbers in the function");
}

PyObject* Dispatch::build(const frontend::ResultShape& shape, const Arguments& arguments,
                          const std::uint64_t* results, Taken& taken) const {
    using Kind = frontend::ResultShape::Kind;
    switch (shape.kind) {
        case Kind::None: Py_RETURN_NONE;
        case Kind::DTypeName: return dtype_object(shape.dtype);
        case Kind::Optional: {
            bool is_there = results[shape.items[0].index] != 0;
            if (!is_there) Py_RETURN_NONE;
            return build(shape.items[1], arguments, results, taken);
        }
        case Kind::Argument: return arguments.array_object(shape.index).release();
        case Kind::Owner: return Py_NewRef(arguments.owner(shape.index));
        case Kind::Array: return build_array(shape, arguments, results + shape.index, taken);
        case Kind::Scalar: return number(Scalar{results[shape.index], shape.dtype});
        case Kind::Records: return build_records(shape, arguments, results, taken);
        case Kind::List: return build_list(shape, results + shape.index, taken.device);
        case Kind::Complex: {
            auto part = [&](std::size_t k) {
                const frontend::ResultShape& p = shape.items[k];
                return Scalar{results[p.index], p.dtype}.as<double>();
            };
            return PyComplex_FromDoubles(part(0), part(1));
        }
        case Kind::Object: {
            auto* block =
                reinterpret_cast<Block*>(static_cast<std::uintptr_t>(results[shape.index + 1]));
            if (!block) Py_RETURN_NONE;
            auto address = static_cast<std::int64_t>(results[shape.index]);
            if (PyObject* known = arguments.object_of(address)) {
                release_block(block);
                return Py_NewRef(known);
            }
            if (shape.record->is_data) {
                PyObject* found = arguments.tables().data().object_at(*shape.record, address);
                release_block(block);
                return found;
            }
            return wrap_object(*shape.record, block);
        }
        case Kind::Text:
            return python_from(text_at(static_cast<std::int64_t>(results[shape.index])));
        case Kind::Table: {
            const char* code = shape.code.c_str();
            const auto* words = reinterpret_cast<const std::int64_t*>(results + shape.index);
            return arguments.tables().object_from(code, words);
        }
        case Kind::Record:
            if (shape.record->is_address) return address_object(shape, arguments, results);
            break;
        case Kind::Tuple: break;
    }
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(shape.items.size())));
    if (!tuple) return nullptr;
    for (std::size_t i = 0; i < shape.items.size(); ++i) {
        PyObject* item = build(shape.items[i], arguments, results, taken);
        if (!item) return nullptr;
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
    }
    return shape.record ? make_object(*shape.record, tuple.get()) : tuple.release();
}

}  // namespace unisono::python
