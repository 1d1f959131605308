// Reads Python objects as arguments: numbers, texts, tuples, tables, functions and objects; arrays
// are read in jit/values/array_arguments.cpp.
#include "jit/values/arguments.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "array/exchange/numpy_layout.h"
#include "array/object.h"
#include "errors.h"
#include "frontend/syntax/tree.h"
#include "frontend/table_state.h"
#include "jit/dispatch.h"
#include "jit/values/objects.h"
#include "jit/values/table_codes.h"
#include "jit/values/text.h"
#include "reference.h"
#include "tape/record/record.h"

namespace unisono::python {

using frontend::TableKind;
using frontend::Type;
using ir::StrideClass;

std::vector<std::unique_ptr<Arguments::Lists>>& Arguments::free_lists() {
    thread_local std::vector<std::unique_ptr<Lists>> lists;
    return lists;
}

/// The last of the lists, or new ones.
template <class L>
static std::unique_ptr<L> take(std::vector<std::unique_ptr<L>>& free) {
    if (free.empty()) return std::make_unique<L>();
    auto last = std::move(free.back());
    free.pop_back();
    return last;
}

Arguments::Arguments(const std::string& function)
    : function_(function),
      lists_(take(free_lists())),
      arrays_(lists_->arrays),
      scalars_(lists_->scalars),
      key_(lists_->key) {
    key_.push_back(0);
}

Arguments::~Arguments() {
    for (Held& h : arrays_) {
        if (h.has_buffer) PyBuffer_Release(&h.buffer);
    }
    arrays_.clear();
    scalars_.clear();
    key_.clear();
    lists_->args.clear();
    free_lists().push_back(std::move(lists_));
}

void Arguments::refuse(const std::string& name, const std::string& got,
                       const std::string& way_out) const {
    // What was captured has a name that no parameter can have (_jit/captured.py).
    std::size_t dot = name.find(".global");
    refused_captured_ = dot != std::string::npos;
    std::string what = dot == std::string::npos ? "argument '" + name + "'"
                                                : "'" + name.substr(0, dot) + "' around it";
    fail(ErrorKind::Type, function_ + ": " + what + " cannot be used in compiled code; got " + got +
                              "; expected numbers, str, tuples of them, and arrays of bool, "
                              "integers, floats or complex numbers; " +
                              way_out);
}

void Arguments::add_scalar(DType t, Weak weak, std::uint64_t bits) {
    key_.push_back(ScalarCode | static_cast<std::uint32_t>(t) << 4 |
                   static_cast<std::uint32_t>(weak) << 8);
    scalars_.push_back(bits);
}

void Arguments::add(PyObject* object, const std::string& name) {
    if (PyFloat_CheckExact(object)) {
        return add_scalar(DType::Float64, Weak::Float,
                          Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(object)).bits);
    }
    if (Py_TYPE(object) == array_type && add_view(object, name)) return;
    if (PyBool_Check(object)) return add_scalar(DType::Bool, Weak::Bool, object == Py_True);
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            fail(ErrorKind::Overflow,
                 function_ + ": argument '" + name + "' does not fit in 64 bits; got an int of " +
                     std::to_string(_PyLong_NumBits(object)) + " bits; pass a smaller number");
        }
        return add_scalar(DType::Int64, Weak::Int, static_cast<std::uint64_t>(value));
    }
    if (const KnownValue value = known_number(object))
        return add_scalar(value.dtype, Weak::None, value.bits);
    if (PyTuple_Check(object)) {
        if (!PyTuple_CheckExact(object) && add_object(object, name)) return;
        begin_tuple(static_cast<std::size_t>(PyTuple_GET_SIZE(object)));
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
            add(PyTuple_GET_ITEM(object, i), name);
        return;
    }
    if (add_numpy(object) || add_value(object)) return;
    if (PyComplex_Check(object)) {
        bool is_python = PyComplex_CheckExact(object);
        key_.push_back(complex_code(DType::Complex128, is_python));
        for (double part : {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)})
            scalars_.push_back(Scalar::of(DType::Float64, part).bits);
        return;
    }
    if (PyUnicode_CheckExact(object)) return add_text(object);
    if (PyList_CheckExact(object)) return add_list(object, name);
    if (PyDict_CheckExact(object) || PyAnySet_CheckExact(object)) return add_table(object, name);
    if (object == Py_None) return key_.push_back(NoneCode);
    if (Dispatch* function = dispatch_of(object)) {
        if (function->is_kernel()) refuse(name, "a kernel", "pass a function compiled by jit");
        return add_dispatch(*function);
    }
    if (PyMethod_Check(object) && add_bound(object, name)) return;
    if (add_view(object, name)) return;
    if (add_object(object, name) || add_records(object, name) || add_dtype(object)) return;
    if (add_member(object, name)) return;
    if (PyCallable_Check(object) && add_callable(object)) return;
    add_buffer(object, name);
}

void Arguments::add_complex(DType t, std::complex<double> value) {
    key_.push_back(complex_code(t, false));
    for (double part : {value.real(), value.imag()})
        scalars_.push_back(Scalar::of(part_dtype(t), part).bits);
}

/// The dtype that an object names; nothing where arrays have none such.
static std::optional<DType> dtype_named_by(PyObject* object) {
    Ref named(PyObject_GetAttrString(object, "dtype"));
    if (!named) {
        PyErr_Clear();
        return std::nullopt;
    }
    try {
        return to_dtype(named.get());
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

/// Values: arrays of ours without axes that stand for a number, and numbers of a class derived from
/// Python's that have a dtype. As NumPy's scalars they are typed by it. False for anything else.
bool Arguments::add_value(PyObject* object) {
    if (is_array(object)) {
        const Array& a = array_of(object);
        if (!a.is_value() || a.rank() != 0) return false;
        if (is_complex(a.dtype()))
            add_complex(a.dtype(), complex_item(a));
        else
            add_scalar(a.dtype(), Weak::None, item(a).bits);
        return true;
    }
    bool is_number = PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
    if (!is_number || PyComplex_CheckExact(object) || is_numpy_scalar(object)) return false;
    auto t = dtype_named_by(object);
    if (!t) return false;
    if (is_complex(*t)) {
        add_complex(*t, {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)});
    } else if (is_float(*t)) {
        add_scalar(*t, Weak::None, Scalar::of(*t, PyFloat_AsDouble(object)).bits);
    } else {
        const std::uint64_t bits = PyLong_AsUnsignedLongLongMask(object);
        add_scalar(*t, Weak::None, Scalar::of(*t, static_cast<std::int64_t>(bits)).bits);
    }
    if (PyErr_Occurred()) throw PythonError{};
    return true;
}

/// Members of IntEnum and the like are their numbers or texts, as those that a function captures.
bool Arguments::add_member(PyObject* object, const std::string& name) {
    if (!PyLong_Check(object) && !PyFloat_Check(object) && !PyUnicode_Check(object)) return false;
    static PyObject* known = nullptr;
    PyObject* base = kept(known, "enum", "Enum");
    if (!base) throw PythonError{};
    const int is_member = PyObject_IsInstance(object, base);
    if (is_member < 0) throw PythonError{};
    if (!is_member) return false;
    Ref value(PyObject_GetAttrString(object, "value"));
    if (!value) throw PythonError{};
    bool is_plain = PyLong_CheckExact(value.get()) || PyFloat_CheckExact(value.get()) ||
                    PyUnicode_CheckExact(value.get());
    if (is_plain) add(value.get(), name);
    return is_plain;
}

/// A dtype is part of the types that code is compiled for.
bool Arguments::add_dtype(PyObject* object) {
    const std::string kind = PyType_Check(object) ? reinterpret_cast<PyTypeObject*>(object)->tp_name
                                                  : Py_TYPE(object)->tp_name;
    bool is_scalar_type = PyType_Check(object) && kind.rfind("numpy.", 0) == 0;
    bool is_dtype = !PyType_Check(object) && (kind.find("dtype") != std::string::npos ||
                                              kind.find("DType") != std::string::npos);
    if (!is_scalar_type && !is_dtype) return false;
    try {
        key_.push_back(NoneCode | (static_cast<std::uint32_t>(to_dtype(object)) + 1) << 4);
    } catch (const std::exception&) {  // one that arrays do not have
        return false;
    }
    return true;
}

/// The numbers of a list, copied: compiled code reads them.
void Arguments::add_list(PyObject* list, const std::string& name) {
    Py_ssize_t size = PyList_GET_SIZE(list);
    PyTypeObject* type = size ? Py_TYPE(PyList_GET_ITEM(list, 0)) : nullptr;
    bool is_known = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
    for (Py_ssize_t i = 0; i < size; ++i)
        is_known = is_known && Py_TYPE(PyList_GET_ITEM(list, i)) == type;
    bool is_shared = (changed && changed->count(name)) || tables_.holds(list) ||
                     std::find(shared_.begin(), shared_.end(), list) != shared_.end();
    if (!is_known || is_shared) return add_table(list, name);
    Weak weak = type == &PyFloat_Type ? Weak::Float : type == &PyBool_Type ? Weak::Bool : Weak::Int;
    Held& held = arrays_.emplace_back();
    held.object = list;
    held.moves = true;
    held.copy = std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size) + 1);
    auto* bytes = reinterpret_cast<std::uint8_t*>(held.copy.get());
    for (Py_ssize_t i = 0; i < size; ++i) {
        PyObject* item = PyList_GET_ITEM(list, i);
        auto at = static_cast<std::size_t>(i);
        if (weak == Weak::Bool) {
            bytes[at] = item == Py_True;
        } else if (weak == Weak::Float) {
            held.copy[at] = Scalar::of(DType::Float64, PyFloat_AS_DOUBLE(item)).bits;
        } else {
            held.copy[at] = static_cast<std::uint64_t>(PyLong_AsLongLong(item));
            if (PyErr_Occurred()) throw PythonError{};
        }
    }
    Py_ssize_t item_size = weak == Weak::Bool ? 1 : 8;
    place(held, held.copy.get(), item_size, {&size, 1}, &item_size);
    key_.push_back(ListCode | static_cast<std::uint32_t>(weak) << 4);
}

void Arguments::add_text(PyObject* text) {
    HeapScope scope(heap());
    const Text* made = text_from(text);
    if (!made) throw std::bad_alloc();
    key_.push_back(TextCode);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(made)));
}

/// Dicts and sets, copied; what the function changes is copied back.
void Arguments::add_table(PyObject* object, const std::string& name) {
    HeapScope scope(heap());
    std::string code;
    Table* made = nullptr;
    std::string odd = tables_.add(object, code, made);
    TableKind kind = PyList_Check(object)     ? TableKind::List
                     : PyAnySet_Check(object) ? TableKind::Set
                                              : TableKind::Dict;
    if (!odd.empty()) {
        bool is_list = kind == TableKind::List;
        refuse(name,
               (is_list                  ? "a list with "
                : kind == TableKind::Set ? "a set with "
                                         : "a dict with ") +
                   odd,
               is_list ? "items are numbers, str, tuples, lists, dicts or sets, all of one type"
                       : "keys are int, float, bool, str or tuples of these, all of one type; "
                         "values also lists, dicts and sets");
    }
    add_table_code(static_cast<int>(kind), code);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(made)));
}

void Arguments::add_table_code(int kind, const std::string& code) {
    key_.push_back(TableCode | static_cast<std::uint32_t>(kind) << 4 |
                   static_cast<std::uint32_t>(code.size()) << 8);
    for (std::size_t k = 0; k < code.size(); k += 4) {
        std::uint32_t letters = 0;
        std::memcpy(&letters, code.data() + k, std::min<std::size_t>(4, code.size() - k));
        key_.push_back(letters);
    }
}

void Arguments::add_pointer(const void* pointer) {
    auto address = reinterpret_cast<std::uintptr_t>(pointer);
    key_.push_back(static_cast<std::uint32_t>(address));
    key_.push_back(static_cast<std::uint32_t>(address >> 32));
}

/// Objects of classes that compiled code knows, by their fields; false for any other.
bool Arguments::add_object(PyObject* object, const std::string& name) {
    const auto& record = record_of(Py_TYPE(object));
    if (!record) {
        return false;
    }
    if (record->is_data) {
        add_data(object, name);
        return true;
    }
    key_.push_back(ClassCode);
    add_pointer(record.get());
    if (std::int64_t address = 0; object_address(object, address)) {
        if (address == 0)
            refuse(name,
                   std::string("an object of ") + Py_TYPE(object)->tp_name + " without memory",
                   "make objects by calling the class");
        objects_.emplace_back(address, object);
        scalars_.push_back(static_cast<std::uint64_t>(address));
        return true;
    }
    for (std::size_t k = 0; k < record->fields.size(); ++k) {
        const std::string& field = record->fields[k].name;
        if (record->form == frontend::Record::Form::Named) {
            add(PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(k)), name + "." + field);
            continue;
        }
        Ref value(PyObject_GetAttrString(object, field.c_str()));
        if (!value) throw PythonError{};
        add(value.get(), name + "." + field);
        kept_.push_back(std::move(value));
    }
    if (record->is_address)
        addressed_.emplace_back(static_cast<std::int64_t>(scalars_.back()), object);
    return true;
}

/// An object of a dataclass, copied; attributes that the function assigns are given back.
void Arguments::add_data(PyObject* object, const std::string& name) {
    HeapScope scope(heap());
    DataObjects& data = tables_.data();
    std::shared_ptr<const frontend::Record> record;
    Block* block = nullptr;
    std::string odd = data.record_for(object, record);
    if (odd.empty()) odd = data.add(object, record, block);
    if (!odd.empty())
        refuse(name, std::string("an object of ") + Py_TYPE(object)->tp_name + " with " + odd,
               "give its fields values that compiled code can take, and annotate what is empty");
    key_.push_back(ClassCode);
    add_pointer(record.get());
    objects_.emplace_back(handle_of(block->data), object);
    scalars_.push_back(static_cast<std::uint64_t>(handle_of(block->data)));
}

void Arguments::add_type(const Type& type) {
    switch (type.kind) {
        case Type::Kind::Scalar:
            if (type.is_complex()) return key_.push_back(complex_code(type.dtype, type.is_weak()));
            return add_scalar(type.dtype, type.weak, 0);
        case Type::Kind::Array:
            return key_.push_back(
                array_code(type.dtype, type.rank, type.writable,
                           !type.strides.empty() && type.strides.back() == StrideClass::One) |
                (type.is_weak() ? std::uint32_t{BytesBit} : 0));
        case Type::Kind::Tuple:
            begin_tuple(type.items.size());
            for (const Type& item : type.items) add_type(item);
            return;
        case Type::Kind::List:
            return key_.push_back(ListCode | static_cast<std::uint32_t>(type.items[0].weak) << 4);
        case Type::Kind::Text: return key_.push_back(TextCode);
        case Type::Kind::Table: {
            return add_table_code(type.rank, frontend::table_code(type).substr(1));
        }
        case Type::Kind::Function: return add_function(type.function.get());
        default: return key_.push_back(NoneCode);
    }
}

void Arguments::finish() {
    const Held* first = nullptr;
    for (Held& h : arrays_) {
        h.moves = h.moves || !h.storage;  // what is no array of ours has no place
        if (!first || (first->moves && (!h.moves || (!first->device && h.device)))) first = &h;
    }
    device_ = first ? first->device : nullptr;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Held& a = arrays_[i];
        if (a.device != device_ && (a.device || !a.moves)) {
            auto where = [](Device* d) { return d ? d->info().name : std::string("the host"); };
            fail(ErrorKind::Device, function_ + ": arrays must live on one device; got " +
                                        where(device_) + " and " + where(a.device) +
                                        "; move them with to_device");
        }
        for (std::size_t j = 0; j < i; ++j) {
            const Held& b = arrays_[j];
            auto from = [](const Held& h) { return h.memory.handle; };
            auto end = [](const Held& h) {
                return h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
            };
            bool meet = a.storage && a.storage == b.storage;
            if (!meet && from(a) && from(b) && a.device == b.device)
                meet = a.device ? from(a) == from(b) : from(a) < end(b) && from(b) < end(a);
            if (meet && (a.group == 0 || a.group != b.group)) noalias_ = false;
        }
    }
    // What objects refer to may be an array argument, too.
    if (!objects_.empty()) noalias_ = false;
    key_[0] = noalias_;
}

bool Arguments::are_others() const {
    return !arrays_.empty() &&
           std::none_of(arrays_.begin(), arrays_.end(), [](const Held& h) { return h.storage; });
}

bool Arguments::are_plain() const {
    auto is_ours = [this](const Held& h) { return h.storage && h.device == device_; };
    return !heap_ && objects_.empty() && addressed_.empty() &&
           std::all_of(arrays_.begin(), arrays_.end(), is_ours);
}

bool Arguments::may_launch(std::span<const passes::ArrayEffect> effects) const {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const Storage* s = arrays_[k].storage;
        if (s && !unisono::may_launch(*s, effects[k].reads, effects[k].writes)) return false;
    }
    return true;
}

void Arguments::note_launch(std::span<const passes::ArrayEffect> effects,
                            const LaunchedCode& code) const {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        Storage* s = arrays_[k].storage;
        if (s && effects[k].writes) unisono::note_launch(*s, code);
    }
}

void Arguments::add_operands(std::span<const passes::ArrayEffect> effects, Entry& entry) const {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const Held& h = arrays_[k];
        const auto [reads, writes] = effects[k];
        // One that the code does not use must be in place, too.
        if (h.storage) add_operand(entry, array_of(h.object).view(), reads || !writes, writes);
    }
}

void Arguments::add_operands(std::span<const passes::ArrayEffect> effects,
                             LaunchOperands& to) const {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const Held& h = arrays_[k];
        if (h.storage) to.add(array_of(h.object).view(), effects[k].reads, effects[k].writes);
    }
}

std::span<const ArrayArg> Arguments::array_args() {
    auto& args = lists_->args;
    args.clear();
    for (Held& h : arrays_) {
        auto rank = static_cast<std::size_t>(h.rank);
        if (h.storage) {
            h.storage->allocate();
            h.memory = h.storage->memory;
        }
        const bool is_copied = h.there.handle != 0;
        args.push_back({is_copied ? h.there : h.memory,
                        is_copied ? h.there_offset : h.offset,
                        {h.shape, rank},
                        {h.strides, rank}});
    }
    return args;
}

}  // namespace unisono::python
