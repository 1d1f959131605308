// What the key of a call says of its arguments, and which objects hold the memory of a result.
#include "jit/values/arguments.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "frontend/syntax/tree.h"
#include "frontend/table_state.h"
#include "jit/values/table_codes.h"
#include "jit/values/text.h"

namespace unisono::python {

using frontend::Type;
using ir::StrideClass;

std::uint32_t Arguments::complex_code(DType t, bool is_python) {
    return ComplexCode | static_cast<std::uint32_t>(is_python) << 4 |
           static_cast<std::uint32_t>(t) << 8;
}

Type Arguments::read_type(const std::vector<std::uint32_t>& key, std::size_t& at) {
    std::uint32_t code = key[at++];
    if (code == NoneCode) return Type::none();
    if ((code & 15) == NoneCode) {
        Type dtype;
        dtype.kind = Type::Kind::DTypeName;
        dtype.dtype = static_cast<DType>((code >> 4) - 1);
        return dtype;
    }
    if ((code & 15) == TextCode) return Type::text();
    if ((code & 15) == TableCode) {
        std::string text(code >> 8, ' ');
        for (std::size_t k = 0; k < text.size(); k += 4)
            std::memcpy(text.data() + k, &key[at++], std::min<std::size_t>(4, text.size() - k));
        std::vector<Type> items;
        for (const char* c = text.c_str(); *c;) items.push_back(type_of_code(c));
        return Type::table(static_cast<frontend::TableKind>(code >> 4 & 15), items);
    }
    if ((code & 15) == ListCode) return Type::list(Type::python(static_cast<Weak>(code >> 4)));
    if ((code & 15) == ComplexCode)
        return code >> 4 & 1 ? Type::python(Weak::Complex)
                             : Type::numpy(static_cast<DType>(code >> 8));
    auto pointer = [&] {
        at += 2;
        return static_cast<std::uintptr_t>(key[at - 2]) | static_cast<std::uintptr_t>(key[at - 1])
                                                              << 32;
    };
    if ((code & 15) == ClassCode || (code & 15) == RecordsCode) {
        // Records live for good.
        const auto* held = reinterpret_cast<const frontend::Record*>(pointer());
        auto record = held->shared_from_this();

        using Form = frontend::Record::Form;
        if (record->form == Form::Instance)
            return Type::of_record(Type::Kind::Instance, record, 0, {});
        std::vector<Type> items;
        for (std::size_t k = 0; k < record->fields.size(); ++k) items.push_back(read_type(key, at));
        auto kind = record->form == Form::Fields  ? Type::Kind::Records
                    : record->form == Form::Named ? Type::Kind::Tuple
                                                  : Type::Kind::Record;
        return Type::of_record(kind, record, static_cast<int>(code >> 4), std::move(items));
    }
    if ((code & 15) == BoundCode) {
        const auto* source = reinterpret_cast<const frontend::Source*>(pointer());
        Type made = Type::of_function(source->shared_from_this(), source->name);
        made.rank = 1;
        made.items = {read_type(key, at)};
        return made;
    }
    if ((code & 15) == BuiltinCode)
        return Type::of_function(nullptr, *reinterpret_cast<const std::string*>(pointer()));
    if ((code & 15) == FunctionCode) {
        std::uintptr_t address = pointer();
        const auto* source = reinterpret_cast<const frontend::Source*>(address);
        Type made = Type::of_function(source->shared_from_this(), source->name);
        for (std::size_t k = 0; k < source->captures; ++k) made.items.push_back(read_type(key, at));
        return made;
    }
    auto t = static_cast<DType>(code >> 4 & 15);
    if ((code & 15) == ScalarCode) {
        auto weak = static_cast<Weak>(code >> 8);
        return weak == Weak::None ? Type::numpy(t) : Type::python(weak);
    }
    if ((code & 15) == ArrayCode) {
        std::vector<StrideClass> strides(code >> 8 & 255, StrideClass::Other);
        if (code >> 16 & 1) strides.back() = StrideClass::One;
        Type array = Type::array(t, std::move(strides), code >> 20 & 1);
        if (code & BytesBit) array.weak = Weak::Int;
        return array;
    }
    std::vector<Type> items;
    for (std::uint32_t n = code >> 4; n > 0; --n) items.push_back(read_type(key, at));
    return Type::tuple(std::move(items));
}

std::vector<Type> Arguments::types() const {
    std::vector<Type> list;
    for (std::size_t at = 1; at < key_.size();) list.push_back(read_type(key_, at));
    return list;
}

/// The array itself, or the field of a structured array.
static Ref held_array(PyObject* object, PyObject* path) {
    Ref found = Ref::of(object);
    for (Py_ssize_t k = 0; path && k < PyTuple_GET_SIZE(path); ++k) {
        found = Ref(PyObject_GetItem(found.get(), PyTuple_GET_ITEM(path, k)));
        if (!found) throw PythonError{};
    }
    return found;
}

Ref Arguments::array_object(int index) const {
    const Held& h = arrays_[static_cast<std::size_t>(index)];
    return held_array(h.object, h.path);
}

PyObject* Arguments::object_of(std::int64_t address) const {
    for (const auto& [known, object] : objects_) {
        if (known == address) return object;
    }
    return nullptr;
}

PyObject* Arguments::object_for(std::int64_t address, const void* cls) const {
    for (const auto& [known, object] : addressed_) {
        if (known == address && Py_TYPE(object) == cls) return object;
    }
    return nullptr;
}

PyObject* Arguments::owner_of_memory(std::uintptr_t address) const {
    for (const Held& h : arrays_) {
        std::uintptr_t end = h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
        if (!h.device && !h.copy && h.memory.handle <= address && address <= end) return h.object;
    }
    return nullptr;
}

PyObject* Arguments::owner_of_records(std::uintptr_t address) const {
    PyObject* nearest = nullptr;
    for (const Held& h : arrays_) {
        if (h.group == 0) continue;
        // A record begins at most its size before its field.
        const std::uintptr_t end = h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
        const bool is_behind = address + static_cast<std::uintptr_t>(h.step) > h.memory.handle;
        if (is_behind && address < end) return h.object;
        if (!nearest) nearest = h.object;  // an empty view
    }
    return nearest;
}

Ref Arguments::object_at(std::uintptr_t address) const {
    const Held* nearest = nullptr;
    for (const Held& h : arrays_) {
        std::uintptr_t end = h.memory.handle + static_cast<std::uintptr_t>(h.memory.bytes);
        if (h.memory.handle <= address && address < end) {
            // Fields of one array lie between each other.
            auto from = static_cast<std::int64_t>(address - h.memory.handle);
            if (h.group == 0 || from % h.step < h.width) return held_array(h.object, h.path);
        }
        if (address == end) nearest = &h;  // an empty view at the end
    }
    const Held* found = nearest ? nearest : arrays_.empty() ? nullptr : &arrays_.front();
    return found ? held_array(found->object, found->path) : Ref();
}

}  // namespace unisono::python
