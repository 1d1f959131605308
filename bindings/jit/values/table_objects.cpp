// Makes Python objects of tables, and gives those that were passed their entries back.
#include <bit>
#include <utility>
#include <vector>

#include "array/object.h"
#include "core/native/block.h"
#include "errors.h"
#include "frontend/table_state.h"
#include "jit/dispatch.h"
#include "jit/values/objects.h"
#include "jit/values/records.h"
#include "jit/values/table_codes.h"
#include "jit/values/tables.h"
#include "jit/values/text.h"

namespace unisono::python {

PyObject* TableObjects::object_from(const char*& code, const std::int64_t*& words) {
    char kind = *code++;
    switch (kind) {
        case 'i': return PyLong_FromLongLong(*words++);
        case 'b': return PyBool_FromLong(*words++ != 0);
        case 'f': return PyFloat_FromDouble(std::bit_cast<double>(*words++));
        case 't': return python_from(text_at(*words++));
        case 'c':
            words += 2;
            return PyComplex_FromDoubles(std::bit_cast<double>(words[-2]),
                                         std::bit_cast<double>(words[-1]));
        case 'Q': {
            if (*words++) return object_from(code, words);
            words += frontend::words_of(type_of_code(code));
            return Py_NewRef(Py_None);
        }
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
        case 'Y':
            words += 4;
            return bytes_from(static_cast<std::uintptr_t>(words[-4]), words[-2], words[-1]);
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

/// The object of a table: one for each.
PyObject* TableObjects::made(std::int64_t handle, const char*& code) {
    char kind = *code;
    const char* inside = code + 1;
    skip_code(code);
    auto known = held_.find(handle);
    if (known != held_.end()) return Py_NewRef(known->second.object.get());
    Ref object(kind == 'D' ? PyDict_New() : kind == 'S' ? PySet_New(nullptr) : PyList_New(0));
    if (!object) return nullptr;
    hold(handle, object.get(), false, std::string(inside, code));
    return fill_back(object.get(), table_at(handle), inside) ? object.release() : nullptr;
}

/// The items of a list, in place of those that it has.
bool TableObjects::fill_list(PyObject* list, const Table& table, const char* code) {
    Ref items(PyList_New(table.rows()));
    for (std::int64_t k = 0; items && k < table.rows(); ++k) {
        const std::int64_t* words = table.row(k);
        const char* rest = code;
        PyObject* item = object_from(rest, words);
        if (!item) return false;
        PyList_SET_ITEM(items.get(), k, item);
    }
    return items && PyList_SetSlice(list, 0, PyList_GET_SIZE(list), items.get()) == 0;
}

bool TableObjects::fill_back(PyObject* object, const Table& table, const char* code) {
    if (PyList_Check(object)) return fill_list(object, table, code);
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
    data_.give_back();
    std::vector<std::pair<std::int64_t, const Held*>> changed;
    for (auto& [handle, held] : held_) {
        if (held.is_given && table_at(handle).is_changed) changed.emplace_back(handle, &held);
    }
    for (auto& [handle, held] : changed) {
        PyObject* object = held->object.get();
        if (PyFrozenSet_Check(object)) {
            PyErr_SetString(PyExc_AttributeError, "a frozenset was changed by compiled code");
            throw PythonError{};
        }
        if (PyDict_Check(object))
            PyDict_Clear(object);
        else if (PySet_Check(object))
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
