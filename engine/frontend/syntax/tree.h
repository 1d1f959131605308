// The neutral syntax tree of a compiled Python function: what the Python side hands over, free of
// Python objects.
//
// Names are resolved before they come here: a local stays a Name, a captured value is a Const or a
// Tuple of Consts, a known function a Builtin ("len", "math.sqrt", "np.sqrt", "un.prange"), a
// compiled function a Function, and anything else an Opaque whose text says what it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/scalar.h"
#include "frontend/native.h"
#include "frontend/types.h"

namespace unisono::frontend {

enum class NodeKind : std::uint8_t {
#define UNISONO_NODE(kind, holds) kind,
#include "frontend/syntax/nodes.def"
#undef UNISONO_NODE
};
/// "BinOp"; and the kind of that name, nothing where there is none.
std::string_view name_of(NodeKind kind);
std::optional<NodeKind> kind_named(std::string_view name);

/// 1-based lines and 0-based columns (in characters) of the user's file.
struct Place {
    int line = 0;
    int column = 0;
    int end_line = 0;
    int end_column = 0;
};

struct Node {
    NodeKind kind = NodeKind::Pass;
    Place place;
    std::string text;
    std::string note;
    Scalar value;
    Weak weak = Weak::None;  ///< Const: a Python scalar's kind, or None for a NumPy scalar
    int index = 0;
    std::vector<Node> children;
};

/// A type that the program declares: of a parameter, a local, a result.
struct Declared {
    Type type;                 ///< an array's strides: One where its elements must lie side by side
    bool is_given = false;     ///< the program says nothing where it is not
    bool is_optional = false;  ///< None will do as well
    std::vector<Declared> items;  ///< of a tuple
};

/// Argument types for which a function is compiled at once.
struct Signature {
    std::vector<Declared> args;
    Declared result;
};

struct Options {
    bool checks_bounds = true;
    bool counts_at_barriers = false;   ///< those that not all of a group reach are errors
    bool trusts_indices = false;       ///< all are inside and none is negative
    bool counts_from_end = true;       ///< negative indices do, as Python's
    bool numpy_errors = false;         ///< division by zero gives inf, NaN or 0
    bool fastmath = false;             ///< floats may be re-associated and contracted
    bool runs_serially = false;        ///< prange is range
    bool refuses_interpreter = false;  ///< calls that only the interpreter can make are errors
    bool by_elements = false;  ///< of vectorize: given arrays, it is called for each element
    std::string schedule;      ///< of prange where it names none: static, dynamic, guided or none
    std::int64_t chunk = 0;    ///< iterations that belong together; 0: as the schedule decides
    int threads = 0;           ///< of a launch; 0: the setting

    bool operator==(const Options&) const = default;
};

/// A class that a function names.
struct ClassUse {
    std::shared_ptr<const Record> record;
    std::map<std::size_t, Node> defaults;  ///< by field: captured values
};

/// A Python function as its author wrote it.
struct Source : std::enable_shared_from_this<Source> {
    std::string name;
    std::string file;
    int first_line = 1;
    std::vector<std::string>
        lines;  ///< text of the function, for carets; lines[0] is line first_line
    std::vector<std::string> params;
    std::map<std::size_t, Node> defaults;  ///< by parameter: captured values
    std::size_t positional = 0;            ///< so many parameters can be given by position
    int vararg = -1;                       ///< the parameter that takes the others as a tuple
    std::size_t captures = 0;              ///< the last params: names around a function inside
    std::vector<Declared> declared;        ///< of the parameters
    Declared result;
    std::map<std::string, Declared> locals;
    std::vector<Signature> signatures;  ///< where there are any, others are refused
    Options options;
    std::vector<std::shared_ptr<Source>> nested;
    std::weak_ptr<const Source> around;  ///< of a function inside
    Node body;                           ///< a Block
    bool is_kernel = false;
    std::vector<std::shared_ptr<const Source>> callees;
    /// By the same numbers where `callees` has none: functions that call this one, and own it.
    std::map<std::size_t, std::weak_ptr<const Source>> callers;
    std::vector<ClassUse> classes;
    std::shared_ptr<const NativeFunction> native;  ///< instead of a body: a function of C text
    /// Compiles the function for C at these types ("float64", "int32*"; a result or ""), and gives
    /// the number by which compiled code finds its address (core/native/callbacks.h). Null for
    /// functions that are no objects of their own.
    std::function<std::int64_t(const std::vector<std::string>&, const std::string&)> as_callback;
    int self = -1;  ///< index among the callees of the function itself, where it calls itself
    mutable std::set<std::string>
        changed;  ///< names whose items or length it changes, if they are lists
};

/// The function that the source calls by this number; null where it is gone.
inline const Source* callee_of(const Source& source, std::size_t index) {
    if (const Source* known = source.callees.at(index).get()) return known;
    auto caller = source.callers.find(index);
    return caller == source.callers.end() ? nullptr : caller->second.lock().get();
}

/// The function that a Function node names; null where it is gone.
const Source* function_of(const Source& source, const Node& node);

/// Makes the functions inside know the one around and call the same ones.
void link_nested(Source& source);

/// Fills Source::changed of the function and of those inside of it; its callees have theirs, but
/// for those that call it in turn.
void note_changed_lists(const Source& source);

}  // namespace unisono::frontend
