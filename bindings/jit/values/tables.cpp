// Reads dicts, sets and lists as tables.
#include "jit/values/tables.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "array/exchange/numpy_layout.h"
#include "array/known_values.h"
#include "array/object.h"
#include "core/native/block.h"
#include "errors.h"
#include "frontend/table_state.h"
#include "jit/dispatch.h"
#include "jit/values/objects.h"
#include "jit/values/records.h"
#include "jit/values/table_codes.h"
#include "jit/values/text.h"

namespace unisono::python {

using frontend::Type;

static std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

/// Calls visit(key, value) for each entry until it answers false, of a list from item `first` on;
/// of lists and sets the value is null.
template <class F>
static void each_entry(PyObject* object, Py_ssize_t first, F&& visit) {
    if (PyDict_Check(object)) {
        PyObject *key = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);) {
            if (!visit(key, value)) return;
        }
        return;
    }
    if (PyList_Check(object)) {
        for (Py_ssize_t i = first; i < PyList_GET_SIZE(object); ++i) {
            if (!visit(PyList_GET_ITEM(object, i), static_cast<PyObject*>(nullptr))) return;
        }
        return;
    }
    Ref iterator(PyObject_GetIter(object));
    if (!iterator) throw PythonError{};
    while (Ref key{PyIter_Next(iterator.get())}) {
        if (!visit(key.get(), static_cast<PyObject*>(nullptr))) return;
    }
    if (PyErr_Occurred()) throw PythonError{};
}

static FirstEntry first_entry(PyObject* object) {
    FirstEntry found;
    bool has_none = false;
    each_entry(object, 0, [&](PyObject* key, PyObject* value) {
        auto held = [](PyObject* k, PyObject* v) { return v ? v : k; };
        bool is_none = held(key, value) == Py_None;
        has_none = has_none || is_none;
        bool is_better = !found.key || held(found.key, found.value) == Py_None;
        if (is_better) found = {key, value, false};
        // A set of None and others is of several types.
        return !PyAnySet_Check(object) && !(has_none && found.key && !is_none && !is_better);
    });
    PyObject* first = found.value ? found.value : found.key;
    found.has_none = has_none && first != Py_None && !PyAnySet_Check(object);
    return found;
}

/// D, S or L; 0 for anything else.
static char kind_of(PyObject* object) {
    return PyDict_CheckExact(object)     ? 'D'
           : PyAnySet_CheckExact(object) ? 'S'
           : PyList_CheckExact(object)   ? 'L'
                                         : '\0';
}

bool TableObjects::write_entry(PyObject* key, PyObject* value, bool has_none, std::string& code) {
    if (has_none && !value) code += 'Q';
    if (!write_code(key, code)) return false;
    if (has_none && value) code += 'Q';
    return !value || write_code(value, code);
}

/// The number of ours or NumPy's that has a dtype, but no complex one; nothing for anything else.
static std::optional<Scalar> number_with_dtype(PyObject* object) {
    if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) return std::nullopt;
    std::optional<Scalar> made;
    if (const KnownValue value = known_value(object)) {
        made = Scalar{value.bits, value.dtype};
    } else if (is_array(object) ? array_of(object).is_value() : is_numpy_scalar(object)) {
        const Array a = to_array(object, true);
        if (a.rank() == 0 && !is_complex(a.dtype())) made = item(a);
    }
    return made && !is_complex(made->dtype) ? made : std::nullopt;
}

/// In lists, dicts and sets, float64, int64 and bool are Python's numbers.
static std::string code_of(DType t) {
    if (t == DType::Float64) return "f";
    if (t == DType::Int64) return "i";
    return t == DType::Bool ? "b" : frontend::table_code(Type::numpy(t));
}

static std::int64_t word_of(const Scalar& s) {
    const DType wide = is_float(s.dtype)      ? DType::Float64
                       : is_unsigned(s.dtype) ? DType::UInt64
                                              : DType::Int64;
    return static_cast<std::int64_t>(cast(s, wide).bits);
}

bool TableObjects::write_code(PyObject* object, std::string& code) {
    if (PyBool_Check(object)) return code += 'b', true;
    if (PyLong_CheckExact(object)) return code += 'i', true;
    if (PyFloat_CheckExact(object)) return code += 'f', true;
    if (PyUnicode_CheckExact(object)) return code += 't', true;
    if (PyComplex_CheckExact(object)) return code += 'c', true;
    if (PyBytes_CheckExact(object)) return code += 'Y', true;
    if (object == Py_None) return code += 'n', true;
    if (const auto number = number_with_dtype(object)) return code += code_of(number->dtype), true;
    if (PyTuple_CheckExact(object)) {
        code += '(';
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
            if (!write_code(PyTuple_GET_ITEM(object, i), code)) return false;
        }
        return code += ')', true;
    }
    const auto& record = record_of(Py_TYPE(object));
    if (record && record->form == frontend::Record::Form::Instance) {
        std::shared_ptr<const frontend::Record> known = record;
        if (record->is_data && !data_.record_for(object, known).empty()) return false;
        code += frontend::table_code(Type::of_record(Type::Kind::Instance, known, 0, {}));
        return true;
    }
    if (record) {
        code += "R" + std::to_string(reinterpret_cast<std::uintptr_t>(record.get())) + "(";
        for (const auto& field : record->fields) {
            Ref value(PyObject_GetAttrString(object, field.name.c_str()));
            if (!value) throw PythonError{};
            if (!write_code(value.get(), code)) return false;
        }
        return code += ')', true;
    }
    char kind = kind_of(object);
    if (!kind) {
        auto array = ArrayWords::of(object);
        if (!array || !array->is_writable) return false;
        code += frontend::table_code(array->extents.empty() ? Type::numpy(array->dtype)
                                                            : array->type());
        return !array->extents.empty();
    }
    FirstEntry first;
    code += kind;
    return write_entries(object, code, first);
}

/// Bytes are arrays, which items and values may be, but no keys.
static bool holds_bytes(PyObject* key) {
    bool found = PyBytes_CheckExact(key);
    for (Py_ssize_t k = 0; PyTuple_CheckExact(key) && k < PyTuple_GET_SIZE(key); ++k)
        found = found || holds_bytes(PyTuple_GET_ITEM(key, k));
    return found;
}

bool TableObjects::write_entries(PyObject* object, std::string& code, FirstEntry& first) {
    first = first_entry(object);
    std::size_t size = code.size();
    if (!first.key || (kind_of(object) != 'L' && holds_bytes(first.key))) return false;
    if (write_entry(first.key, first.value, first.has_none, code)) return true;
    // Lists, dicts and sets without entries tell nothing: another entry may.
    bool is_told = false;
    if (kind_of(first.value ? first.value : first.key)) {
        each_entry(object, 0, [&](PyObject* key, PyObject* value) {
            code.resize(size);
            is_told = kind_of(value ? value : key) && write_entry(key, value, first.has_none, code);
            return !is_told;
        });
    }
    if (!is_told) code.resize(size);
    return is_told;
}

const std::pair<const std::int64_t, TableObjects::Held>* TableObjects::find(
    PyObject* object) const {
    auto known = handles_.find(object);
    return known == handles_.end() ? nullptr : &*held_.find(known->second);
}

void TableObjects::hold(std::int64_t handle, PyObject* object, bool is_given, std::string code) {
    handles_[object] = handle;
    held_[handle] = {Ref::of(object), is_given, std::move(code)};
}

// ---- in

std::string TableObjects::put(PyObject* object, const char*& code,
                              std::vector<std::int64_t>& words) {
    const std::string mixed = "entries of several types";
    char kind = *code++;
    if (kind == 'b' || kind == 'i' || kind == 'f' || kind == 'N') {
        if (const auto number = number_with_dtype(object)) {
            const std::string wanted = code_of(number->dtype);
            if (wanted.compare(0, wanted.size(), code - 1, wanted.size()) != 0) return mixed;
            code += wanted.size() - 1;
            words.push_back(word_of(*number));
            return "";
        }
    }
    switch (kind) {
        case 'b':
            if (!PyBool_Check(object)) return mixed;
            words.push_back(object == Py_True);
            return "";
        case 'i':
            if (!PyLong_CheckExact(object)) return mixed;
            words.push_back(PyLong_AsLongLong(object));
            if (words.back() == -1 && PyErr_Occurred()) throw PythonError{};
            return "";
        case 'f':
            if (!PyFloat_CheckExact(object)) return mixed;
            words.push_back(std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(object)));
            return "";
        case 'c':
            if (!PyComplex_CheckExact(object)) return mixed;
            words.push_back(std::bit_cast<std::int64_t>(PyComplex_RealAsDouble(object)));
            words.push_back(std::bit_cast<std::int64_t>(PyComplex_ImagAsDouble(object)));
            return "";
        case 'Q': {
            words.push_back(object != Py_None);
            if (object != Py_None) return put(object, code, words);
            words.insert(words.end(), static_cast<std::size_t>(words_of(type_of_code(code))), 0);
            return "";
        }
        case 't': {
            if (!PyUnicode_CheckExact(object)) return mixed;
            const Text* text = text_from(object);
            if (!text) throw std::bad_alloc();
            words.push_back(handle_of(text));
            return "";
        }
        case 'Y':
            if (!PyBytes_CheckExact(object)) return mixed;
            words.push_back(static_cast<std::int64_t>(
                reinterpret_cast<std::uintptr_t>(PyBytes_AS_STRING(object))));
            words.push_back(handle_of(view_block(object)));
            words.push_back(PyBytes_GET_SIZE(object));
            words.push_back(1);
            return "";
        case 'A': {
            --code;
            Type wanted = type_of_code(code);
            auto array = ArrayWords::of(object);
            if (!array || array->dtype != wanted.dtype ||
                array->extents.size() != static_cast<std::size_t>(wanted.rank) ||
                !array->is_writable)
                return mixed;
            words.push_back(array->address);
            words.push_back(handle_of(view_block(object)));
            words.insert(words.end(), array->extents.begin(), array->extents.end());
            words.insert(words.end(), array->strides.begin(), array->strides.end());
            return "";
        }
        case 'O': {
            --code;
            Type wanted = type_of_code(code);
            if (object == Py_None && wanted.rank == 1) {
                words.insert(words.end(), 2, 0);
                return "";
            }
            const auto& class_of = record_of(Py_TYPE(object));
            if (!class_of || !frontend::same_class(class_of.get(), wanted.record.get()))
                return mixed;
            Block* block = nullptr;
            if (wanted.record->is_data) {
                std::shared_ptr<const frontend::Record> own;
                std::string odd = data_.record_for(object, own);
                if (!odd.empty()) return odd;
                if (own != wanted.record) return "objects whose fields are of several types";
                odd = data_.add(object, own, block);
                if (!odd.empty()) return odd;
            } else {
                std::int64_t address = 0;
                object_address(object, address);
                block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(
                    *reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(address))));
            }
            retain_block(block);
            words.push_back(handle_of(block->data));
            words.push_back(handle_of(block));
            return "";
        }
        case 'R': {
            --code;
            const frontend::Record& record = record_at(code);
            ++code;
            if (record_of(Py_TYPE(object)).get() != &record) return mixed;
            for (const auto& field : record.fields) {
                Ref value(PyObject_GetAttrString(object, field.name.c_str()));
                if (!value) throw PythonError{};
                std::string odd = put(value.get(), code, words);
                if (!odd.empty()) return odd;
            }
            ++code;
            return "";
        }
        case '(': {
            if (!PyTuple_CheckExact(object)) return mixed;
            Py_ssize_t i = 0;
            for (; *code != ')'; ++i) {
                if (i >= PyTuple_GET_SIZE(object)) return mixed;
                std::string odd = put(PyTuple_GET_ITEM(object, i), code, words);
                if (!odd.empty()) return odd;
            }
            ++code;
            return i == PyTuple_GET_SIZE(object) ? "" : mixed;
        }
        case 'L':
        case 'D':
        case 'S': {
            if (kind_of(object) != kind) return mixed;
            const char* inside = code;
            for (int k = 0; k < (kind == 'D' ? 2 : 1); ++k) skip_code(code);
            std::string own(inside, code);
            if (const auto* known = find(object)) {
                if (known->second.code != own) return mixed;
                words.push_back(known->first);
                return "";
            }
            Table* table = make_table(form_of_code(inside, kind));
            if (!table) throw std::bad_alloc();
            words.push_back(handle_of(table));
            hold(handle_of(table), object, true, std::move(own));
            return fill(object, inside, *table);
        }
        default: return object == Py_None ? "" : mixed;
    }
}

/// Python's floats, or ints, at the begin of a list, as words; stops at what is none, which `put`
/// takes or refuses.
static std::vector<std::int64_t> leading_numbers(PyObject* list, char code) {
    std::vector<std::int64_t> words;
    const Py_ssize_t count = PyList_GET_SIZE(list);
    words.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* item = PyList_GET_ITEM(list, i);
        int overflow = 0;
        if (code == 'f' && PyFloat_CheckExact(item))
            words.push_back(std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(item)));
        else if (code == 'i' && PyLong_CheckExact(item))
            words.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
        else
            break;
        if (overflow) {
            words.pop_back();
            break;
        }
    }
    return words;
}

std::string TableObjects::fill(PyObject* object, const char* code, Table& table) {
    std::vector<std::int64_t> words;
    std::string odd;
    Py_ssize_t taken = 0;
    if (table.form().is_list && (*code == 'f' || *code == 'i')) {
        words = leading_numbers(object, *code);
        taken = static_cast<Py_ssize_t>(words.size());
        table.append_numbers(words.data(), taken, false);
    }
    each_entry(object, taken, [&](PyObject* key, PyObject* value) {
        words.clear();
        const char* rest = code;
        odd = put(key, rest, words);
        if (odd.empty() && value) odd = put(value, rest, words);
        if (odd.empty() && table.form().is_list) {
            table.insert(table.rows(), words.data());
        } else if (odd.empty()) {
            table.set(words.data(), words.data() + table.form().keys);
        }
        return odd.empty();
    });
    table.is_changed = false;
    return odd;
}

bool TableObjects::holds(PyObject* object) const { return find(object) != nullptr; }

std::string TableObjects::add(PyObject* object, std::string& code, Table*& made) {
    char kind = kind_of(object);
    if (const auto* known = find(object)) {
        code = known->second.code;
        made = &table_at(known->first);
        return "";
    }
    FirstEntry first;
    bool is_told = write_entries(object, code, first);
    auto [key, value, has_none] = first;
    if (key && !is_told) {
        std::string ignored;
        if (value && !holds_bytes(key) && write_code(key, ignored))
            return "values such as " + type_name(value);
        return (kind == 'L' ? "items such as " : "keys such as ") + type_name(key);
    }
    TableForm form;
    form.is_list = kind == 'L';
    if (key) form = form_of_code(code.c_str(), kind);
    if (form.keys + form.values > 31) return "entries of more than 31 numbers";
    made = make_table(form);
    if (!made) throw std::bad_alloc();
    hold(handle_of(made), object, true, code);
    return key ? fill(object, code.c_str(), *made) : "";
}

}  // namespace unisono::python
