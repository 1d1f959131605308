// Reads dicts and sets as tables, and makes Python objects of tables.
#include "jit_tables.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "array_object.h"
#include "core/block.h"
#include "errors.h"
#include "jit_dispatch.h"
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
        case 'D':
        case 'S': {
            std::vector<Type> items{type_of_code(code)};
            if (kind == 'D') items.push_back(type_of_code(code));
            return Type::table(kind == 'D' ? TableKind::Dict : TableKind::Set, std::move(items));
        }
        case '(': {
            std::vector<Type> items;
            while (*code != ')') items.push_back(type_of_code(code));
            ++code;
            return Type::tuple(std::move(items));
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
    if (kind == 'D' || kind == 'S') {
        TableForm inside;
        int skipped = 0;
        for (int k = 0; k < (kind == 'D' ? 2 : 1); ++k) measure(code, inside, skipped);
        return add(WordKind::Table);
    }
    if (kind == '(') {
        while (*code != ')') measure(code, form, words);
        ++code;
    }
}

static TableForm form_of_code(const char* code, bool is_dict) {
    TableForm form;
    int words = 0;
    measure(code, form, words);
    form.keys = words;
    if (is_dict) measure(code, form, words);
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

/// Adds the code of an object; false where compiled code has no such.
static bool write_code(PyObject* object, std::string& code) {
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
    bool is_dict = PyDict_CheckExact(object);
    if (!is_dict && !PySet_CheckExact(object)) return false;
    auto [key, value] = first_entry(object);
    code += is_dict ? 'D' : 'S';
    return key && write_code(key, code) && (!is_dict || write_code(value, code));
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
        case 'D':
        case 'S': {
            bool is_dict = kind == 'D';
            if (is_dict ? !PyDict_CheckExact(object) : !PySet_CheckExact(object)) return mixed;
            const char* inside = code;
            Table* table = make_table(form_of_code(inside, is_dict));
            if (!table) throw std::bad_alloc();
            for (int k = 0; k < (is_dict ? 2 : 1); ++k) type_of_code(code);
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
        if (odd.empty()) table.set(words.data(), words.data() + table.form().keys);
        return odd.empty();
    });
    table.is_changed = false;
    return odd;
}

std::string TableObjects::add(PyObject* object, std::string& code, Table*& made) {
    bool is_dict = PyDict_Check(object);
    for (auto& [handle, held] : held_) {
        if (held.object.get() != object) continue;
        code = held.code;
        made = &table_at(handle);
        return "";
    }
    auto [key, value] = first_entry(object);
    if (key) {
        if (!write_code(key, code)) return "keys such as " + type_name(key);
        if (is_dict && !write_code(value, code)) return "values such as " + type_name(value);
    }
    TableForm form;
    if (key) form = form_of_code(code.c_str(), is_dict);
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
            retain_block(block);
            Storage* storage = shared_storage(block, address, {words + 2, rank},
                                              {words + 2 + rank, rank}, size_of(t));
            std::vector<std::int64_t> extents(words + 2, words + 2 + rank),
                strides(words + 2 + rank, words + 2 + 2 * rank);
            words += 2 + 2 * rank;
            auto offset = (static_cast<std::int64_t>(address) -
                           static_cast<std::int64_t>(storage->memory.handle)) /
                          size_of(t);
            return wrap(Array::of({storage, Layout::make(extents, strides), offset, t}));
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
    if (kind == 'D' || kind == 'S') {
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
    bool is_dict = *code == 'D';
    const char* inside = code + 1;
    skip(code);
    auto known = held_.find(handle);
    if (known != held_.end()) return Py_NewRef(known->second.object.get());
    Ref object(is_dict ? PyDict_New() : PySet_New(nullptr));
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
    std::vector<std::pair<std::int64_t, const Held*>> changed;
    for (auto& [handle, held] : held_) {
        if (held.is_given && table_at(handle).is_changed) changed.emplace_back(handle, &held);
    }
    for (auto& [handle, held] : changed) {
        PyObject* object = held->object.get();
        if (PyDict_Check(object))
            PyDict_Clear(object);
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
