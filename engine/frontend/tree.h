// The neutral syntax tree of a compiled Python function: what the Python side hands over, free of
// Python objects.
//
// Names are resolved before they come here: a local stays a Name, a captured value is a Const or a
// Tuple of Consts, a known function a Builtin ("len", "math.sqrt", "np.sqrt", "un.prange"), a
// compiled function a Function, and anything else an Opaque whose text says what it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/scalar.h"
#include "frontend/native.h"

namespace unisono::frontend {

enum class NodeKind : std::uint8_t {
    // statements
    Block,      // children: statements
    Assign,     // children: targets..., value
    AugAssign,  // text: operator; children: target, value
    For,        // children: target, iterable, Block; a Block more: else
    While,      // children: test, Block; a Block more: else
    If,         // children: test, Block, Block
    Return,     // children: value or none
    Break,
    Continue,
    Pass,
    Evaluate,  // children: an expression for its effect
    Raise,     // text: exception class; children: message as Text, or none
    Assert,    // children: test, message as Text, or none
    // expressions
    Name,
    Const,  // value, weak
    Text,   // a string constant
    NoneValue,
    Builtin,
    Function,  // index into Source::callees
    Opaque,
    BinOp,      // text: + - * / // % ** & | ^ << >> @; children: left, right
    UnaryOp,    // text: - + ~ not; children: operand
    BoolOp,     // text: and, or; children: operands
    Compare,    // text: operators separated by blanks; children: operands
    IfExp,      // children: test, value, alternative
    Call,       // children: function, arguments (keywords last, as Keyword)
    Keyword,    // text: name; children: value
    Attribute,  // text: name; children: object
    Subscript,  // children: object, indices...
    Tuple,      // children: items
    Let,        // children: Block, expression: the value after the statements
    Slice,
    Unsupported,  // text: what it is; note: what to do instead
};

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

/// A Python function as its author wrote it.
struct Source {
    std::string name;
    std::string file;
    int first_line = 1;
    std::vector<std::string>
        lines;  ///< text of the function, for carets; lines[0] is line first_line
    std::vector<std::string> params;
    std::vector<Node> defaults;  ///< of the last params: captured values
    Node body;                   ///< a Block
    bool is_kernel = false;
    std::vector<std::shared_ptr<const Source>> callees;
    std::shared_ptr<const NativeFunction> native;  ///< instead of a body: a function of C text
    int self = -1;  ///< index among the callees of the function itself, where it calls itself
};

}  // namespace unisono::frontend
