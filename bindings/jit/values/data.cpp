// Reads the fields of dataclasses into memory, and assigns what changed.
#include "jit/values/data.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "array/object.h"
#include "errors.h"
#include "frontend/table_state.h"
#include "jit/dispatch.h"
#include "jit/values/objects.h"
#include "jit/values/records.h"
#include "jit/values/table_codes.h"
#include "jit/values/tables.h"

namespace unisono::python {

using frontend::Record;
using frontend::Type;

// ---- arrays

std::unique_ptr<ArrayWords> ArrayWords::of(PyObject* object) {
    if (!PyObject_CheckBuffer(object) || PyBytes_Check(object)) return nullptr;
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) != 0) throw PythonError{};
    struct Release {
        Py_buffer* b;
        ~Release() { PyBuffer_Release(b); }
    } release{&buffer};
    auto made = std::make_unique<ArrayWords>();
    if (!dtype_of_items(buffer.format, buffer.itemsize, made->dtype)) return nullptr;
    made->is_writable = !buffer.readonly;
    made->address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer.buf));
    for (int k = 0; k < buffer.ndim; ++k) {
        if (buffer.strides[k] % buffer.itemsize != 0) return nullptr;
        made->extents.push_back(buffer.shape[k]);
        made->strides.push_back(buffer.strides[k] / buffer.itemsize);
    }
    return made;
}

Type ArrayWords::type() const {
    std::vector<ir::StrideClass> classes(extents.size(), ir::StrideClass::Other);
    if (!classes.empty() && strides.back() == 1) classes.back() = ir::StrideClass::One;
    return Type::array(dtype, std::move(classes), is_writable);
}

PyObject* array_from(Block* block, std::uintptr_t address, DType t,
                     std::span<const std::int64_t> extents, std::span<const std::int64_t> strides) {
    if (PyObject* owner = owner_of_view(block)) {
        auto known = ArrayWords::of(owner);
        if (known && known->address == static_cast<std::int64_t>(address) && known->dtype == t &&
            std::equal(extents.begin(), extents.end(), known->extents.begin(),
                       known->extents.end()) &&
            std::equal(strides.begin(), strides.end(), known->strides.begin()))
            return Py_NewRef(owner);
    }
    retain_block(block);
    Storage* storage = shared_storage(block, address, extents, strides, size_of(t));
    auto offset =
        (static_cast<std::int64_t>(address) - static_cast<std::int64_t>(storage->memory.handle)) /
        size_of(t);
    std::vector<std::int64_t> shape(extents.begin(), extents.end()),
        steps(strides.begin(), strides.end());
    return wrap(Array::of({storage, Layout::make(shape, steps), offset, t}));
}

// ---- types

DataObjects::~DataObjects() {
    for (const Held& h : held_) release_block(h.block);
}

static std::string named(PyObject* value) { return Py_TYPE(value)->tp_name; }

static Ref field_of(PyObject* object, const Record::Field& field) {
    Ref value(PyObject_GetAttrString(object, field.name.c_str()));
    if (!value) throw PythonError{};
    return value;
}

std::string DataObjects::type_of(PyObject* value, Type& type) {
    const auto& record = record_of(Py_TYPE(value));
    if (record && record->form == Record::Form::Instance) {
        std::shared_ptr<const Record> known = record;
        std::string odd = record->is_data ? record_for(value, known) : std::string();
        type = Type::of_record(Type::Kind::Instance, known, 0, {});
        return odd;
    }
    std::string code;
    if (tables_.write_code(value, code)) {
        const char* at = code.c_str();
        type = type_of_code(at);
        return "";
    }
    if (auto array = ArrayWords::of(value)) {
        type = array->extents.empty() ? Type::numpy(array->dtype) : array->type();
        return "";
    }
    bool is_empty = (PyList_Check(value) || PyDict_Check(value) || PySet_Check(value)) &&
                    PyObject_Size(value) == 0;
    if (is_empty) return "an empty " + named(value) + ", whose item type is not annotated";
    return "a " + named(value);
}

/// Whether a field declared so takes the value, converted if need be.
static bool is_fit(const Type& wanted, PyObject* value, DataObjects& objects) {
    auto of_kind = [&](Weak most) {
        if (PyBool_Check(value)) return most == Weak::Bool;
        if (most == Weak::Bool) return false;
        if (PyLong_CheckExact(value)) return true;
        return most != Weak::Int && PyFloat_CheckExact(value);
    };
    if (wanted.is_scalar() && !wanted.is_complex())
        return of_kind(is_bool(wanted.dtype)    ? Weak::Bool
                       : is_float(wanted.dtype) ? Weak::Float
                                                : Weak::Int);
    if (wanted.is_optional()) return value == Py_None || is_fit(wanted.items[1], value, objects);
    if (wanted.is_text()) return PyUnicode_CheckExact(value);
    if (wanted.is_table())
        return wanted.is_object_list() ? PyList_CheckExact(value)
               : wanted.rank == 0      ? PyDict_CheckExact(value)
                                       : PySet_CheckExact(value);
    if (wanted.is_instance() && value == Py_None) return wanted.rank == 1;
    Type given;
    if (!objects.type_of(value, given).empty()) return false;
    auto joined = join(wanted, given);
    return joined && *joined == wanted;
}

std::string DataObjects::record_for(PyObject* object, std::shared_ptr<const Record>& record) {
    const auto& base = record_of(Py_TYPE(object));
    if (auto it = records_.find(object); it != records_.end()) {
        record = it->second;
        return "";
    }
    records_[object] = base;  // of one that refers to itself
    std::vector<Type> types;
    for (const Record::Field& f : base->fields) {
        Ref value = field_of(object, f);
        if (!f.is_open && is_fit(f.type, value.get(), *this)) {
            types.push_back(f.type);
            continue;
        }
        std::string odd = type_of(value.get(), types.emplace_back());
        if (!odd.empty()) return odd + " in its field '" + f.name + "'";
    }
    record = frontend::with_types(*base, types);
    records_[object] = record;
    return "";
}

// ---- in

std::string DataObjects::put_field(PyObject* value, const Record::Field& field,
                                   std::int64_t* words) {
    const Type& t = field.type;
    if (t.is_optional() && (value == Py_None || t.items[1].is_scalar())) {
        words[field.word] = value != Py_None;
        if (value == Py_None) return "";
        Record::Field there = field;
        there.type = t.items[1];
        ++there.word;
        return put_field(value, there, words);
    }
    if (t.is_scalar() && !t.is_complex()) {
        double x = 0;
        std::int64_t n = 0;
        Ref number = Ref::of(value);
        if (!PyFloat_Check(value) && !PyLong_Check(value))  // a NumPy scalar
            number = Ref(PyObject_CallMethod(value, "item", nullptr));
        if (!number) throw PythonError{};
        if (is_float(t.dtype)) {
            x = PyFloat_AsDouble(number.get());
        } else if (is_unsigned(t.dtype)) {
            n = static_cast<std::int64_t>(PyLong_AsUnsignedLongLong(number.get()));
        } else {
            n = PyLong_AsLongLong(number.get());
        }
        if (PyErr_Occurred()) throw PythonError{};
        if (is_half(t.dtype)) {
            words[field.word] = static_cast<std::int64_t>(Scalar::of(t.dtype, x).bits);
        } else if (t.dtype == DType::Float32) {
            words[field.word] = std::bit_cast<std::int32_t>(static_cast<float>(x));
        } else {
            words[field.word] = is_float(t.dtype) ? std::bit_cast<std::int64_t>(x) : n;
        }
        return "";
    }
    if (t.is_array()) {
        auto array = ArrayWords::of(value);
        UNISONO_ASSERT(array != nullptr);
        words[field.word] = array->address;
        words[field.block] = handle_of(view_block(value));
        auto rank = array->extents.size();
        for (std::size_t k = 0; k < rank; ++k) {
            words[static_cast<std::size_t>(field.word) + 1 + k] = array->extents[k];
            words[static_cast<std::size_t>(field.word) + 1 + rank + k] = array->strides[k];
        }
        return "";
    }
    if (t.is_instance()) {
        if (value == Py_None) return "";
        Block* block = nullptr;
        if (t.record->is_data) {
            std::string odd = add(value, t.record, block);
            if (!odd.empty()) return odd;
        } else {
            std::int64_t address = 0;
            object_address(value, address);
            block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(
                *reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(address))));
        }
        retain_block(block);
        words[field.block] = handle_of(block);
        words[field.word] = handle_of(block->data);
        return "";
    }
    std::string code = frontend::table_code(t);
    std::vector<std::int64_t> made;
    const char* at = code.c_str();
    std::string odd = tables_.put(value, at, made);
    std::copy(made.begin(), made.end(), words + field.word);
    return odd;
}

std::string DataObjects::add(PyObject* object, const std::shared_ptr<const Record>& record,
                             Block*& block) {
    auto [known, is_new] = places_.emplace(object, held_.size());
    if (!is_new) {
        const Held& h = held_[known->second];
        block = h.block;
        return h.record == record ? "" : "fields whose types differ from those of others";
    }
    block = unisono::make_object(record->words, record->counted);
    if (!block) throw std::bad_alloc();
    const std::size_t place = held_.size();
    held_.push_back({Ref::of(object), record, block, {}});
    auto* words = static_cast<std::int64_t*>(block->data);
    made_.emplace(handle_of(words), Ref::of(object));
    for (const Record::Field& f : record->fields) {
        Ref value = field_of(object, f);
        std::string odd = put_field(value.get(), f, words);
        if (!odd.empty()) return odd + " in its field '" + f.name + "'";
    }
    held_[place].words.assign(words, words + record->words);
    return "";
}

// ---- out

PyObject* DataObjects::field_at(const Record::Field& field, const std::int64_t* words) {
    const Type& t = field.type;
    const std::int64_t* own = words + field.word;
    if (t.is_scalar() && !t.is_complex()) {
        if (is_half(t.dtype)) {
            const auto bits = static_cast<std::uint64_t>(*own & 0xFFFF);
            return PyFloat_FromDouble(Scalar{bits, t.dtype}.as<double>());
        }
        if (t.dtype == DType::Float32)
            return PyFloat_FromDouble(
                static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(*own))));
        if (is_float(t.dtype)) return PyFloat_FromDouble(std::bit_cast<double>(*own));
        if (is_bool(t.dtype)) return PyBool_FromLong(*own != 0);
        return is_unsigned(t.dtype) ? PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(*own))
                                    : PyLong_FromLongLong(*own);
    }
    if (t.is_array()) {
        auto rank = static_cast<std::size_t>(t.rank);
        auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(words[field.block]));
        if (!block) return Py_NewRef(Py_None);
        return array_from(block, static_cast<std::uintptr_t>(*own), t.dtype, {own + 1, rank},
                          {own + 1 + rank, rank});
    }
    if (t.is_instance()) return object_at(*t.record, *own);
    std::string code = frontend::table_code(t);
    const char* at = code.c_str();
    return tables_.object_from(at, own);
}

PyObject* DataObjects::object_at(const Record& record, std::int64_t address) {
    if (address == 0) return Py_NewRef(Py_None);
    if (auto it = made_.find(address); it != made_.end()) return Py_NewRef(it->second.get());
    const auto* words = reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(address));
    if (!record.is_data) {
        auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(words[0]));
        retain_block(block);
        PyObject* found = wrap_object(record, block);
        if (found) made_.emplace(address, Ref::of(found));
        return found;
    }
    auto* cls = static_cast<PyObject*>(const_cast<void*>(record.python));
    Ref made(
        PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__new__", "O", cls));
    if (!made) return nullptr;
    made_.emplace(address, Ref::of(made.get()));
    for (const Record::Field& f : record.fields) {
        Ref value(field_at(f, words));
        if (!value || PyObject_SetAttrString(made.get(), f.name.c_str(), value.get()) < 0)
            return nullptr;
    }
    return made.release();
}

void DataObjects::give_back() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        const auto* words = static_cast<const std::int64_t*>(held_[i].block->data);
        const auto& before = held_[i].words;
        if (before.empty()) continue;
        for (const Record::Field& f : held_[i].record->fields) {
            int count = f.type.is_array()      ? 1 + 2 * f.type.rank
                        : f.type.is_instance() ? 1
                                               : frontend::words_of(f.type);
            if (std::equal(words + f.word, words + f.word + count, before.begin() + f.word))
                continue;
            Ref value(field_at(f, words));
            if (!value ||
                PyObject_SetAttrString(held_[i].object.get(), f.name.c_str(), value.get()) < 0)
                throw PythonError{};
        }
    }
}

}  // namespace unisono::python
