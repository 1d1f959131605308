// Reads dicts, sets and lists as tables, and makes Python objects of tables.
#include "jit_tables.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "array_object.h"
#include "core/block.h"
#include "errors.h"
#include "frontend/table_state.h"
#include "jit_dispatch.h"
#include "jit_objects.h"
#include "jit_records.h"
#include "jit_text.h"

namespace unisono::python {

using frontend::TableKind;
using frontend::Type;

// ---- codes

static DType dtype_of_letter(char c) { return static_cast<DType>(c - 'a'); }

/// The record that a code names by its address; records live for good.
static const frontend::Record& record_at(const char*& code) {
    std::uintptr_t address = 0;
    for (++code; *code >= '0' && *code <= '9'; ++code)
        address = 10 * address + static_cast<std::uintptr_t>(*code - '0');
    return *reinterpret_cast<const frontend::Record*>(address);
}

Type type_of_code(const char*& code) {
    char kind = *code++;
    switch (kind) {
        case 'i': return Type::python(Weak::Int);
        case 'f': return Type::python(Weak::Float);
        case 'b': return Type::python(Weak::Bool);
        case 't': return Type::text();
        case 'L':
        case 'D':
        case 'S': {
            std::vector<Type> items{type_of_code(code)};
            if (kind == 'D') items.push_back(type_of_code(code));
            return Type::table(kind == 'L'   ? TableKind::List
                               : kind == 'D' ? TableKind::Dict
                                             : TableKind::Set,
                               std::move(items));
        }
        case 'N': return Type::numpy(dtype_of_letter(*code++));
        case 'A': {
            DType t = dtype_of_letter(*code++);
            auto rank = static_cast<std::size_t>(*code++ - 'a');
            return Type::array(t, std::vector<ir::StrideClass>(rank, ir::StrideClass::Other), true);
        }
        case 'O': {
            --code;
            const frontend::Record& record = record_at(code);
            bool may_be_none = *code++ == '?';
            return Type::of_record(Type::Kind::Instance, record.shared_from_this(), may_be_none,
                                   {});
        }
        case 'R':
        case '(': {
            std::shared_ptr<const frontend::Record> record;
            if (kind == 'R') {
                --code;
                record = record_at(code).shared_from_this();
                ++code;
            }
            std::vector<Type> items;
            while (*code != ')') items.push_back(type_of_code(code));
            ++code;
            if (!record) return Type::tuple(std::move(items));
            bool is_named = record->form == frontend::Record::Form::Named;
            return Type::of_record(is_named ? Type::Kind::Tuple : Type::Kind::Record, record, 0,
                                   std::move(items));
        }
        default: return Type::none();
    }
}

/// Words of what a code tells, and how they compare.
static void measure(const char*& code, TableForm& form, int& words) {
    auto add = [&](WordKind kind) {
        if (words < 31) form.kinds |= static_cast<std::uint64_t>(kind) << (2 * words);
        ++words;
    };
    char kind = *code++;
    if (kind == 'f') return add(WordKind::Float);
    if (kind == 't') return add(WordKind::Text);
    if (kind == 'i' || kind == 'b') return add(WordKind::Whole);
    if (kind == 'D' || kind == 'S' || kind == 'L') {
        TableForm inside;
        int skipped = 0;
        for (int k = 0; k < (kind == 'D' ? 2 : 1); ++k) measure(code, inside, skipped);
        return add(WordKind::Table);
    }
    if (kind == 'N') {
        DType t = dtype_of_letter(*code++);
        if (is_complex(t)) add(WordKind::Float);
        return add(is_float(t) || is_complex(t) ? WordKind::Float : WordKind::Whole);
    }
    if (kind == 'A' || kind == 'O') {
        --code;
        const char* end = code;
        Type t = type_of_code(end);
        code = end;
        if (words + 1 < 31) form.counted |= std::uint64_t{1} << (words + 1);
        for (int k = frontend::words_of(t); k > 0; --k) add(WordKind::Whole);
        return;
    }
    if (kind == 'R') code = std::find(code, code + 32, '(') + 1;
    if (kind == '(' || kind == 'R') {
        while (*code != ')') measure(code, form, words);
        ++code;
    }
}

/// Of what a D, S or L has in it.
static TableForm form_of_code(const char* code, char kind) {
    TableForm form;
    int words = 0;
    form.is_list = kind == 'L';
    if (kind != 'L') measure(code, form, words);
    form.keys = words;
    if (kind != 'S') measure(code, form, words);
    form.values = words - form.keys;
    return form;
}

static std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

/// Calls visit(key, value) for each entry until it answers false; of a set the value is null.
template <class F>
static void each_entry(PyObject* object, F&& visit) {
    if (PyDict_Check(object)) {
        PyObject *key = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);) {
            if (!visit(key, value)) return;
        }
        return;
    }
    if (PyList_Check(object)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) {
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

/// Borrowed from the object; null where it is empty.
static std::pair<PyObject*, PyObject*> first_entry(PyObject* object) {
    std::pair<PyObject*, PyObject*> found{};
    each_entry(object, [&](PyObject* key, PyObject* value) {
        found = {key, value};
        return false;
    });
    return found;
}

/// D, S or L; 0 for anything else.
static char kind_of(PyObject* object) {
    return PyDict_CheckExact(object)   ? 'D'
           : PySet_CheckExact(object)  ? 'S'
           : PyList_CheckExact(object) ? 'L'
                                       : '\0';
}

bool TableObjects::write_code(PyObject* object, std::string& code) {
    if (PyBool_Check(object)) return code += 'b', true;
    if (PyLong_CheckExact(object)) return code += 'i', true;
    if (PyFloat_CheckExact(object)) return code += 'f', true;
    if (PyUnicode_CheckExact(object)) return code += 't', true;
    if (object == Py_None) return code += 'n', true;
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
    auto [key, value] = first_entry(object);
    code += kind;
    return key && write_code(key, code) && (kind != 'D' || write_code(value, code));
}

// ---- in

std::string TableObjects::put(PyObject* object, const char*& code,
                              std::vector<std::int64_t>& words) {
    const std::string mixed = "entries of several types";
    char kind = *code++;
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
        case 't': {
            if (!PyUnicode_CheckExact(object)) return mixed;
            const Text* text = text_from(object);
            if (!text) throw std::bad_alloc();
            words.push_back(handle_of(text));
            return "";
        }
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
            for (int k = 0; k < (kind == 'D' ? 2 : 1); ++k) type_of_code(code);
            for (const auto& [handle, held] : held_) {
                if (held.object.get() != object) continue;
                if (held.code != std::string(inside, code)) return mixed;
                words.push_back(handle);
                return "";
            }
            Table* table = make_table(form_of_code(inside, kind));
            if (!table) throw std::bad_alloc();
            words.push_back(handle_of(table));
            held_[handle_of(table)] = {Ref::of(object), true, std::string(inside, code)};
            return fill(object, inside, *table);
        }
        default: return object == Py_None ? "" : mixed;
    }
}

std::string TableObjects::fill(PyObject* object, const char* code, Table& table) {
    std::vector<std::int64_t> words;
    std::string odd;
    each_entry(object, [&](PyObject* key, PyObject* value) {
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

std::string TableObjects::add(PyObject* object, std::string& code, Table*& made) {
    char kind = kind_of(object);
    for (auto& [handle, held] : held_) {
        if (held.object.get() != object) continue;
        code = held.code;
        made = &table_at(handle);
        return "";
    }
    auto [key, value] = first_entry(object);
    if (key) {
        if (!write_code(key, code))
            return (kind == 'L' ? "items such as " : "keys such as ") + type_name(key);
        if (kind == 'D' && !write_code(value, code)) return "values such as " + type_name(value);
    }
    TableForm form;
    form.is_list = kind == 'L';
    if (key) form = form_of_code(code.c_str(), kind);
    if (form.keys + form.values > 31) return "entries of more than 31 numbers";
    made = make_table(form);
    if (!made) throw std::bad_alloc();
    held_[handle_of(made)] = {Ref::of(object), true, code};
    return key ? fill(object, code.c_str(), *made) : "";
}

// ---- out

PyObject* TableObjects::object_from(const char*& code, const std::int64_t*& words) {
    char kind = *code++;
    switch (kind) {
        case 'i': return PyLong_FromLongLong(*words++);
        case 'b': return PyBool_FromLong(*words++ != 0);
        case 'f': return PyFloat_FromDouble(std::bit_cast<double>(*words++));
        case 't': return python_from(text_at(*words++));
        case 'L':
        case 'D':
        case 'S': --code; return made(*words++, code);
        case 'N': {
            DType t = dtype_of_letter(*code++);
            if (is_complex(t)) {
                words += 2;
                return PyComplex_FromDoubles(std::bit_cast<double>(words[-2]),
                                             std::bit_cast<double>(words[-1]));
            }
            std::int64_t word = *words++;
            if (is_float(t)) return PyFloat_FromDouble(std::bit_cast<double>(word));
            if (is_bool(t)) return PyBool_FromLong(word != 0);
            return is_unsigned(t) ? PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(word))
                                  : PyLong_FromLongLong(word);
        }
        case 'A': {
            DType t = dtype_of_letter(*code++);
            auto rank = static_cast<std::size_t>(*code++ - 'a');
            auto address = static_cast<std::uintptr_t>(words[0]);
            auto* block = reinterpret_cast<Block*>(static_cast<std::uintptr_t>(words[1]));
            const std::int64_t* sizes = words + 2;
            words += 2 + 2 * rank;
            return array_from(block, address, t, {sizes, rank}, {sizes + rank, rank});
        }
        case 'O': {
            --code;
            const frontend::Record& record = record_at(code);
            ++code;
            words += 2;
            return data_.object_at(record, words[-2]);
        }
        case 'R':
        case '(': {
            const frontend::Record* record = nullptr;
            if (kind == 'R') {
                --code;
                record = &record_at(code);
                ++code;
            }
            std::vector<Ref> items;
            while (*code != ')') {
                items.emplace_back(object_from(code, words));
                if (!items.back()) return nullptr;
            }
            ++code;
            Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
            for (std::size_t k = 0; tuple && k < items.size(); ++k)
                PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), items[k].release());
            return record && tuple ? make_object(*record, tuple.get()) : tuple.release();
        }
        default: return Py_NewRef(Py_None);
    }
}

/// Moves a code behind what it tells.
static void skip(const char*& code) {
    char kind = *code++;
    if (kind == 'N') ++code;
    if (kind == 'A') code += 2;
    if (kind == 'O') {
        while (*code >= '0' && *code <= '9') ++code;
        ++code;
    }
    if (kind == 'D' || kind == 'S' || kind == 'L') {
        skip(code);
        if (kind == 'D') skip(code);
    }
    if (kind == 'R') code = std::find(code, code + 32, '(') + 1;
    if (kind == '(' || kind == 'R') {
        while (*code != ')') skip(code);
        ++code;
    }
}

/// The object of a table: one for each.
PyObject* TableObjects::made(std::int64_t handle, const char*& code) {
    char kind = *code;
    const char* inside = code + 1;
    skip(code);
    auto known = held_.find(handle);
    if (known != held_.end()) return Py_NewRef(known->second.object.get());
    Ref object(kind == 'D' ? PyDict_New() : kind == 'S' ? PySet_New(nullptr) : PyList_New(0));
    if (!object) return nullptr;
    held_[handle] = {Ref::of(object.get()), false, std::string(inside, code)};
    return fill_back(object.get(), table_at(handle), inside) ? object.release() : nullptr;
}

bool TableObjects::fill_back(PyObject* object, const Table& table, const char* code) {
    for (std::int64_t k = 0; k < table.rows(); ++k) {
        const std::int64_t* words = table.row(k);
        const char* rest = code;
        if (!words) continue;
        Ref key(object_from(rest, words));
        if (!key) return false;
        if (PyList_Check(object)) {
            if (PyList_Append(object, key.get()) != 0) return false;
            continue;
        }
        if (PySet_Check(object)) {
            if (PySet_Add(object, key.get()) != 0) return false;
            continue;
        }
        Ref value(object_from(rest, words));
        if (!value || PyDict_SetItem(object, key.get(), value.get()) != 0) return false;
    }
    return true;
}

void TableObjects::give_back() {
    data_.give_back();
    std::vector<std::pair<std::int64_t, const Held*>> changed;
    for (auto& [handle, held] : held_) {
        if (held.is_given && table_at(handle).is_changed) changed.emplace_back(handle, &held);
    }
    for (auto& [handle, held] : changed) {
        PyObject* object = held->object.get();
        if (PyDict_Check(object))
            PyDict_Clear(object);
        else if (PyList_Check(object))
            PyList_SetSlice(object, 0, PyList_GET_SIZE(object), nullptr);
        else
            PySet_Clear(object);
        const Table& table = table_at(handle);
        const std::string& code = held->code.empty() ? table.code : held->code;
        if (!fill_back(object, table, code.c_str())) throw PythonError{};
    }
}

PyObject* object_of_words(const std::string& code, const std::int64_t* words) {
    TableObjects objects;
    const char* at = code.c_str();
    return objects.object_from(at, words);
}

}  // namespace unisono::python
