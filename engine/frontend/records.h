// What compiled functions know of classes and structured dtypes: the fields by name, where they
// lie, and how methods are found.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/syntax/tree.h"

namespace unisono::frontend {

/// One per class or dtype: types that hold the same record are of the same class.
struct Record : std::enable_shared_from_this<Record> {
    enum class Form : std::uint8_t {
        Fields,   ///< a structured dtype
        Data,     ///< a frozen dataclass: an object is its fields' values
        Named,    ///< a named tuple
        Instance  ///< a class whose objects lie in memory and are shared
    };
    struct Field {
        std::string name;
        DType dtype = DType::Int64;  ///< Fields, in pieces: of the number
        int pieces = 0;   ///< Fields: a number is so many unsigned integers that follow each other;
                          ///< 0: it lies as the elements of an array do
        std::string odd;  ///< why compiled code cannot read it
        std::int64_t offset = 0;              ///< Fields: bytes from where a record begins
        std::vector<std::int64_t> shape;      ///< Fields: of its own axes
        std::shared_ptr<const Record> inner;  ///< Fields: of a field that is a structure
        Type type;                            ///< Instance
        bool is_open = false;  ///< of a dataclass: its annotation tells no type, its values do
        std::string made;      ///< of a dataclass: list, dict or set makes its value
        int word = 0;  ///< Instance: where it lies, and the block of what it refers to or -1
        int block = -1;
    };
    struct Method {
        enum class Kind : std::uint8_t { Plain, Property, Static };
        Kind kind = Kind::Plain;
        std::shared_ptr<const Source> source;
    };

    Form form = Form::Fields;
    std::string name;
    std::vector<Field> fields;
    std::size_t positional = 0;  ///< Data: so many fields can be given by position
    std::string no_call;         ///< why compiled code cannot make one
    bool compares = true;        ///< == compares the fields
    bool orders = false;         ///< and < does
    /// Nothing where the class has no such method; throws where it cannot be compiled.
    std::function<std::optional<Method>(const std::string&)> find_method;
    std::function<std::set<std::string>()> changed;  ///< attributes that methods assign
    int words = 0, counted = 0;                      ///< Instance: of its memory
    std::int64_t step = 0;                           ///< Fields: bytes of a whole record
    std::string dtype;                               ///< Fields: as NumPy writes it; empty inside
    bool is_address =
        false;             ///< Data: the one field leads to an address, by which a result is found
    bool is_data = false;  ///< Instance: a dataclass, copied when it is passed and given back
    std::shared_ptr<const Record> base;  ///< of a dataclass with these types of fields: the class
    mutable std::vector<std::shared_ptr<const Record>> variants;
    /// Data: a slice, or Ellipsis: they stand for themselves where they are an index.
    enum class Index : std::uint8_t { No, Slice, Ellipsis } index = Index::No;
    const void* python = nullptr;  ///< the class, for those who make Python objects

    std::optional<std::size_t> find(const std::string& field) const {
        for (std::size_t k = 0; k < fields.size(); ++k) {
            if (fields[k].name == field) return k;
        }
        return std::nullopt;
    }
    std::string field_names() const {
        std::string text;
        for (const Field& f : fields) text += (text.empty() ? "" : ", ") + f.name;
        return text;
    }
};

/// Finds a place for each field of an Instance.
void lay_out(Record& record);
/// The dataclass with fields of these types; one for each list of them.
std::shared_ptr<const Record> with_types(const Record& known, const std::vector<Type>& types);
/// Whether every field can be read, of records inside too.
bool is_readable(const Record& record);
/// The dtype of records whose fields lie apart, which the caller cannot put together.
std::shared_ptr<const Record> without_dtype(const Record& record);
/// Whether it is a structured array, or a tuple that holds one.
bool holds_records(const Type& t);
/// Whether two records are of one class.
inline bool same_class(const Record* a, const Record* b) {
    auto base = [](const Record* r) { return r && r->base ? r->base.get() : r; };
    return base(a) == base(b);
}

}  // namespace unisono::frontend
