// Types and values of compiled Python: scalars that know whether they are Python's or NumPy's,
// arrays, tuples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace unisono::frontend {

struct Source;
struct Record;

/// Type::rank of a Table: a dict, a set, what a dict's methods of these names give, or a list whose
/// items are no numbers, or which others hold.
enum class TableKind : std::uint8_t { Dict, Set, Keys, Values, Items, List };

/// A Python scalar is weak (it adapts to the dtype that it meets, as NEP 50 says); a NumPy scalar,
/// such as an element of an array, is not.
struct Type {
    enum class Kind : std::uint8_t {
        None,
        Scalar,
        Array,
        Tuple,
        DTypeName,
        Text,
        Function,
        List,
        Table,     ///< a dict, a set or a list of objects, see TableKind
        Record,    ///< an object known by the values of its fields
        Records,   ///< a structured array; of rank 0 one of its elements
        Instance,  ///< of a class: its fields lie in memory
        Exception,
        Optional  ///< None, or a value of a type
    };
    Kind kind = Kind::None;
    DType dtype = DType::Int64;
    Weak weak = Weak::None;
    int rank = 0;  ///< Instance: 1 where it may be None; Table: its TableKind; Function: 1 for a
                   ///< method with its object
    bool writable = true;
    std::vector<ir::StrideClass> strides;
    std::vector<Type> items;                 ///< Tuple; List: of its items; Table: of keys and
                                             ///< values, none where it came empty; Function: of the
                                             ///< values that it captured; Record, Records: of
                                             ///< the fields; Exception: what a Try tells;
                                             ///< Optional: whether it is there (bool), and of
                                             ///< what is there
    std::shared_ptr<const Source> function;  ///< Function, compiled
    std::string name;                        ///< Function: known to the front end by this name
    std::shared_ptr<const struct Record> record;  ///< Record, Records, Instance; named Tuple

    static Type none() { return {}; }
    static Type python(Weak w) {
        Type t;
        t.kind = Kind::Scalar;
        t.dtype = default_dtype(w);
        t.weak = w;
        return t;
    }
    static Type numpy(DType d) {
        Type t;
        t.kind = Kind::Scalar;
        t.dtype = d;
        return t;
    }
    static Type array(DType d, std::vector<ir::StrideClass> strides, bool writable) {
        Type t;
        t.kind = Kind::Array;
        t.dtype = d;
        t.rank = static_cast<int>(strides.size());
        t.strides = std::move(strides);
        t.writable = writable;
        return t;
    }
    static Type tuple(std::vector<Type> items) {
        Type t;
        t.kind = Kind::Tuple;
        t.items = std::move(items);
        return t;
    }
    static Type of_function(std::shared_ptr<const Source> function, std::string name) {
        Type t;
        t.kind = Kind::Function;
        t.function = std::move(function);
        t.name = std::move(name);
        return t;
    }
    static Type list(Type item) {
        Type t;
        t.kind = Kind::List;
        t.dtype = item.dtype;
        t.items = {std::move(item)};
        return t;
    }
    static Type table(TableKind kind, std::vector<Type> items) {
        Type t;
        t.kind = Kind::Table;
        t.rank = static_cast<int>(kind);
        t.items = std::move(items);
        return t;
    }
    static Type optional(Type there) {
        Type t;
        t.kind = Kind::Optional;
        t.items = {python(Weak::Bool), std::move(there)};
        return t;
    }
    bool is_none() const { return kind == Kind::None; }
    bool is_optional() const { return kind == Kind::Optional; }
    bool is_table() const { return kind == Kind::Table; }
    bool is_object_list() const {
        return kind == Kind::Table && rank == static_cast<int>(TableKind::List);
    }
    static Type of_record(Kind kind, std::shared_ptr<const struct Record> record, int rank,
                          std::vector<Type> items) {
        Type t;
        t.kind = kind;
        t.record = std::move(record);
        t.rank = rank;
        t.items = std::move(items);
        return t;
    }
    bool is_record() const { return kind == Kind::Record; }
    bool is_records() const { return kind == Kind::Records; }
    bool is_instance() const { return kind == Kind::Instance; }
    /// A str that is known when the program runs only.
    static Type text() {
        Type t;
        t.kind = Kind::Text;
        return t;
    }
    bool is_text() const { return kind == Kind::Text; }
    /// One IR value holds it: a number, or where an object lies.
    bool is_word() const { return kind == Kind::Scalar || is_text() || is_table(); }
    bool is_complex() const { return kind == Kind::Scalar && unisono::is_complex(dtype); }
    bool is_list() const { return kind == Kind::List; }
    bool is_function() const { return kind == Kind::Function; }
    /// A method with its object, the only item.
    bool is_bound() const { return kind == Kind::Function && rank == 1; }
    bool is_scalar() const { return kind == Kind::Scalar; }
    bool is_array() const { return kind == Kind::Array; }
    bool is_tuple() const { return kind == Kind::Tuple; }
    bool is_weak() const { return weak != Weak::None; }
    bool operator==(const Type&) const = default;
};

/// As messages name it: "int", "float32 (NumPy)", "float64 array of rank 2", "tuple (int, float)".
std::string describe(const Type& t);

/// The type of a variable that holds a on one path and b on another, or nothing where no type holds
/// both exactly. int joins float; a Python scalar joins a NumPy scalar of at least its kind.
std::optional<Type> join(const Type& a, const Type& b);

/// How deep a type nests. What is wrapped once more in each iteration, or in each call of a
/// function by itself, has no type: beyond this depth it is refused.
int depth_of(const Type& t);
constexpr int deepest_type = 16;

/// The type of a binary operation's operands after promotion; both are scalars.
Type promote_types(const Type& a, const Type& b);

struct Lazy;

/// A value during lowering: an expression, an array of the function, or a tuple of values.
struct Value {
    Type type;
    ir::E expr = nullptr;     ///< Scalar
    std::int32_t array = -1;  ///< Array; List: a view of its items; Instance: of its memory
    std::int32_t list = -1;   ///< List: a row of the lowerer's table; -1: it cannot grow. Table:
                              ///< where it was made (table_state.h), or -1
    std::shared_ptr<const Lazy> lazy;  ///< Array: an expression that no memory holds yet
    std::string text;                  ///< Text
    std::vector<Value> items;
};

/// Structural equality: the same constant, parameter or variable, or the same operation of such.
bool same_expr(ir::E a, ir::E b);
bool same_value(const Value& a, const Value& b);

/// Constants, parameters and work-item ids only, cheap: holds whenever and wherever it is
/// evaluated.
bool is_invariant(ir::E e);
/// Reading it twice costs nothing.
bool is_trivial(ir::E e);
bool has_load(ir::E e);
/// The type of an item of bytes or bytearray, as `name` says: an int in a byte of memory.
inline Type byte_type(const std::string& name) {
    Type t = Type::python(Weak::Int);
    t.dtype = DType::UInt8;
    t.name = name;
    return t;
}
/// Bytes are a list of such items, or, as an argument, an array of them.
inline bool is_byte(const Type& item) { return item.is_scalar() && !item.name.empty(); }
inline bool is_byte_list(const Type& t) { return t.is_list() && is_byte(t.items[0]); }
inline bool is_byte_array(const Type& t) {
    return t.is_array() && t.dtype == DType::UInt8 && t.weak == Weak::Int && t.rank == 1;
}
inline bool are_bytes(const Type& t) { return is_byte_list(t) || is_byte_array(t); }
inline bool is_constant(ir::E e) { return e->kind == ir::ExprKind::Const; }
inline Scalar constant_of(ir::E e) { return Scalar{e->bits, e->dtype}; }
/// The constant's value, if it is an integer or bool constant.
std::optional<std::int64_t> constant_int(ir::E e);

}  // namespace unisono::frontend
