// Objects of dataclasses between Python and compiled code: copied into memory when they are passed,
// given back where a field changed, and made anew where compiled code made them.
#pragma once

#include <Python.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/native/block.h"
#include "frontend/records.h"
#include "reference.h"

namespace unisono::python {

class TableObjects;

/// The dtype of a buffer's format, with characters as int8; false where there is none.
bool dtype_of_items(const char* format, std::int64_t bytes, DType& t);

/// A field or item as it lies in memory, of an array that a Python object owns.
struct ArrayWords {
    DType dtype = DType::Int64;
    bool is_writable = true;
    std::int64_t address = 0;
    std::vector<std::int64_t> extents, strides;  ///< in elements
    /// Null if the object is not an array, or not one that compiled code can read.
    static std::unique_ptr<ArrayWords> of(PyObject* object);
    frontend::Type type() const;
};

/// The array of an address: the object that owns the memory where it is the whole of it.
PyObject* array_from(Block* block, std::uintptr_t address, DType t,
                     std::span<const std::int64_t> extents, std::span<const std::int64_t> strides);

class DataObjects {
  public:
    explicit DataObjects(TableObjects& tables) : tables_(tables) {}
    ~DataObjects();
    DataObjects(const DataObjects&) = delete;
    DataObjects& operator=(const DataObjects&) = delete;

    /// The class of the object with the types that its fields have now; the answer is why compiled
    /// code cannot take it.
    std::string record_for(PyObject* object, std::shared_ptr<const frontend::Record>& record);
    /// Of any value that an object or a table can hold.
    std::string type_of(PyObject* value, frontend::Type& type);
    /// Copies the object in, once; the block is the holder's own.
    std::string add(PyObject* object, const std::shared_ptr<const frontend::Record>& record,
                    Block*& block);
    /// The Python object of one in memory, of a dataclass or a compiled class.
    PyObject* object_at(const frontend::Record& record, std::int64_t address);
    /// Assigns the attributes that changed.
    void give_back();

  private:
    struct Held {
        Ref object;
        std::shared_ptr<const frontend::Record> record;
        Block* block;
        std::vector<std::int64_t> words;  ///< as they came
    };
    std::string put_field(PyObject* value, const frontend::Record::Field& field,
                          std::int64_t* words);
    PyObject* field_at(const frontend::Record::Field& field, const std::int64_t* words);

    TableObjects& tables_;
    std::vector<Held> held_;
    std::map<PyObject*, std::size_t> places_;  ///< in held_
    std::map<std::int64_t, Ref> made_;         ///< by address
    std::map<PyObject*, std::shared_ptr<const frontend::Record>> records_;
};

}  // namespace unisono::python
