// Dicts and sets between Python and compiled code (runtime/tables.h): copied in, copied back where
// the function changed them, and made anew where it returns others.
#pragma once

#include <Python.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/types.h"
#include "jit/values/data.h"
#include "reference.h"
#include "runtime/tables.h"

namespace unisono::python {

/// An entry that tells the types of all, borrowed from the object.
struct FirstEntry {
    PyObject *key = nullptr, *value = nullptr;  ///< null where it is empty
    bool has_none = false;                      ///< beside values
};

/// The Python objects of one call's tables, by address.
class TableObjects {
  public:
    /// The words of a Python dict or set. `code` becomes what its entries are, as table_code
    /// writes it, and stays empty where there are none; the answer is why it cannot be passed.
    std::string add(PyObject* object, std::string& code, Table*& made);
    /// The object that the words tell; advances both. Null with a Python error set.
    PyObject* object_from(const char*& code, const std::int64_t*& words);
    /// Adds the words of an object; advances the code. The answer is why it does not fit.
    std::string put(PyObject* object, const char*& code, std::vector<std::int64_t>& words);
    /// Adds the code of an object; false where tables hold no such.
    bool write_code(PyObject* object, std::string& code);
    bool write_entry(PyObject* key, PyObject* value, bool has_none, std::string& code);
    DataObjects& data() { return data_; }
    /// Gives the objects that were passed the entries of those that changed.
    void give_back();
    bool holds(PyObject* object) const;

  private:
    struct Held {
        Ref object;
        bool is_given = false;
        std::string code;
    };
    /// What is held of the object; null where nothing is.
    const std::pair<const std::int64_t, Held>* find(PyObject* object) const;
    void hold(std::int64_t handle, PyObject* object, bool is_given, std::string code);
    /// Adds the code of the entries of a container; false where none tells it.
    bool write_entries(PyObject* object, std::string& code, FirstEntry& first);
    std::string fill(PyObject* object, const char* code, Table& table);
    PyObject* made(std::int64_t handle, const char*& code);
    bool fill_list(PyObject* list, const Table& table, const char* code);
    bool fill_back(PyObject* object, const Table& table, const char* code);

    std::map<std::int64_t, Held> held_;
    std::map<PyObject*, std::int64_t> handles_;  ///< of the objects held
    DataObjects data_{*this};
};

/// An object of words that nothing shares, for messages.
PyObject* object_of_words(const std::string& code, const std::int64_t* words);

}  // namespace unisono::python
