// Functions that come as machine-independent code instead of a syntax tree: those of C text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace unisono::frontend {

struct Record;

/// The message of faults that stand for what a C++ library threw; see core/native/foreign.h.
inline constexpr const char* cpp_exception = "a C++ exception";

/// What C takes for one parameter.
struct NativeParam {
    DType dtype = DType::Float64;  ///< of the number, or of what the pointer points to
    bool is_pointer = false;
    bool writes = true;  ///< through the pointer
    std::string spelling;
    std::string name;  ///< for errors, where it is not the parameter's own: p.x
};

/// What compiled code passes for one parameter of a function that takes more than numbers and
/// pointers to them. The code then takes the leaves of all forms, one after the other: numbers,
/// addresses as integers.
struct NativeForm {
    enum class Kind : std::uint8_t {
        Plain,     ///< a number or an array
        Struct,    ///< by value: a leaf for each number in it
        Items,     ///< an array in a struct
        Complex,   ///< by value: two items, its parts
        Address,   ///< of a struct
        Callback,  ///< the address of a function
        Refused,   ///< compiled code cannot pass it; the spelling says why
    };
    struct Leaf {
        std::string name;  ///< the path of a field: low.x
        std::int64_t offset = 0;
        DType dtype = DType::Float64;
    };
    Kind kind = Kind::Plain;
    std::string name, spelling;
    std::shared_ptr<const Record> record;  ///< Struct: of a named tuple
    std::vector<NativeForm> items;         ///< of a Struct its fields
    DType dtype = DType::Float64;          ///< Plain, in a result
    // Address: what lies there; nothing where only C knows
    std::vector<Leaf> leaves;
    std::int64_t size = 0;
    bool writes = true;
    // Callback
    std::vector<std::string> args;  ///< "float64", "int32*"
    std::string result;             ///< "" for none
};

struct NativeFunction {
    std::shared_ptr<const ir::NativeCode> code;
    std::string symbol;
    std::vector<NativeParam> params;
    std::optional<DType> result;
    std::string declaration;        ///< for errors
    bool is_pure = false;           ///< reads and writes nothing but its arguments
    bool is_short = false;          ///< calls are over at once: nothing repeats or waits
    std::vector<NativeForm> forms;  ///< of its parameters, where params are their leaves
    bool any_order = false;  ///< arrays may lie in Fortran's order, too: they pass as they lie
    bool may_throw = false;  ///< C++, called through guard_cpp of core/native/foreign.h
    /// A struct; the code stores its numbers behind its last pointers.
    std::optional<NativeForm> result_form;
    std::string form_text;  ///< both, as they came
};

/// Whether the order of the calls of a function of core/native/native.h tells.
inline bool has_state(const std::string& native) {
    return native == "print" || native.starts_with("random_") || native.starts_with("comm_");
}

}  // namespace unisono::frontend
