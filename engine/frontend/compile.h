// Compiles a Python function for given argument types: syntax tree in, kernel IR out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/syntax/tree.h"
#include "frontend/types.h"

namespace unisono::frontend {

/// How the caller puts a call's result together from the entry's results and arguments.
struct ResultShape {
    enum class Kind : std::uint8_t {
        None,
        Scalar,
        Argument,
        Array,
        Tuple,
        List,
        Complex,
        Record,
        Owner,
        Object,
        Text,
        Table,
        DTypeName,
        Optional,  ///< its items: a bool that tells whether there is a value, and that
        Records    ///< its item: an array of bytes, whose last axis is a record
    };
    Kind kind = Kind::None;
    /// Object: of the results that hold its address and its block.
    /// Owner: of the array parameter that is one field of the structured array meant.
    /// Scalar: of the entry's results; Argument: of its array parameters; Array: of the results
    /// that hold its address, its block, its extents and its strides.
    int index = 0;
    int rank = 0;      ///< Array
    std::string code;  ///< Table: table_code of its type; List, Array: bytes, bytearray or empty
    DType dtype = DType::Int64;  ///< List: of its items, which are told as an array's
    std::vector<ResultShape> items;
    std::shared_ptr<const frontend::Record> record;  ///< Record; named Tuple
};

struct Compiled {
    ir::Module module;
    ResultShape result;
    std::string report;  ///< what was inferred of each prange
    std::vector<std::string> warnings;
};

struct CompileRequest {
    std::shared_ptr<const Source> source;
    std::vector<Type>
        args;  ///< one per parameter; tuples are flattened into the entry's parameters in order
    bool noalias = false;             ///< no two array arguments overlap
    int dimensions = 0;               ///< of the launch, for kernels
    bool counts_at_barriers = false;  ///< a barrier that some of a group miss raises an exception
};

/// Throws a Compile error where the function cannot be compiled; the module is verified.
Compiled compile(const CompileRequest& request);

}  // namespace unisono::frontend
