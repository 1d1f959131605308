// The kernel IR: a typed, structured tree with mutable locals, into which array groups and Python
// functions lower.
//
// How it works. A Module owns Functions; a Function owns its nodes in an arena and its tables
// (params, arrays, vars, fault sites); nodes name table rows by id. Expressions are immutable and
// may be shared; statements are rewritten by building new ones. Control flow is structured: there
// are no phi nodes, a local is declared, assigned and read by id. Nodes come from nodes.def, scalar
// operations from ops/ops.def, dtypes from core/dtype.def; what targets leave open is fixed in
// docs/ir.md.
//
// Arrays are (memory, shape, strides in elements). Until the pass `lower_access` every Load and
// Store has one index per axis and an Access mode; afterwards it has a single linear index and
// Access::Linear. A negative stride is an ordinary stride: memory points at element [0, 0, ...].
//
// Faults. Generated code never throws: `Return` with a fault site ends the function with that site,
// its line and up to four int64 values; the caller turns it into an Error. In a parallel loop the
// lowest failing iteration wins.
//
// Read next: build.h (making nodes), print.cpp (the printed form), ../passes/lower.cpp (what
// happens to a tree).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/scalar.h"
#include "ops/ops.h"

namespace unisono::ir {

enum class ExprKind : std::uint8_t {
#define UNISONO_EXPR(Kind, ...) Kind,
#include "ir/nodes.def"
};

enum class StmtKind : std::uint8_t {
#define UNISONO_EXPR(...)
#define UNISONO_STMT(Kind, ...) Kind,
#include "ir/nodes.def"
};

/// How an access treats its indices.
enum class Access : std::uint8_t {
    Inside,   ///< known to be in range; one index per axis
    Checked,  ///< must be in [0, extent), else a fault
    Wrapped,  ///< Python's: in [-extent, extent), negative counts from the end, else a fault
    Linear,   ///< one linear index in elements, in range
};

enum class Field : std::uint8_t {
    Value,
    Extent,
    Stride
};  ///< of a Param: the scalar, or shape[axis], strides[axis]
enum class WorkItemQuery : std::uint8_t {
    GlobalId,
    LocalId,
    GroupId,
    GlobalSize,
    LocalSize,
    GroupCount,
    GlobalOffset
};

/// What a loop promises. Serial: run in order. Parallel: iterations are independent but for
/// declared reductions, and are shared among threads. Vector: independent, one thread. Unroll: as
/// serial, the trip count is a small constant. Group and Item: the work-groups of an NDRange
/// (independent) and the work-items of a group (independent between barriers); For::axis names the
/// dimension.
enum class LoopKind : std::uint8_t { Serial, Parallel, Vector, Unroll, Group, Item };

enum class Space : std::uint8_t { Global, Local, Private };  ///< Local: shared by a work-group

/// What is known of a stride when the kernel is compiled.
enum class StrideClass : std::uint8_t { Zero, One, MinusOne, Other };

/// 1-based line and 0-based column in file `file` of Function::files; line 0 is unknown.
struct Line {
    std::uint16_t file = 0;
    std::uint16_t column = 0;
    std::int32_t line = 0;
};

struct Expr {
    ExprKind kind;
    DType dtype;
    Op op = Op::Add;             ///< Unary, Binary
    Field field = Field::Value;  ///< Param
    WorkItemQuery query = WorkItemQuery::GlobalId;
    Access access = Access::Inside;  ///< Load
    std::int32_t id = -1;
    std::int32_t axis = 0;
    std::uint64_t bits = 0;  ///< Const: as Scalar::bits
    std::span<const Expr* const> args;
    Line line;
};
using E = const Expr*;

/// A variable combined over a loop's iterations: var = op(var, what the iterations contribute). The
/// variable is declared before the loop; inside, each chunk has its own copy that starts from the
/// identity.
struct Reduction {
    std::int32_t var;
    Op op;
};

struct Stmt {
    StmtKind kind;
    LoopKind loop = LoopKind::Serial;  ///< For
    Access access = Access::Inside;    ///< Store, Atomic
    Op op = Op::Add;                   ///< Atomic
    /// For: sums that its body adds to may be added in another order, one that the trip count
    /// fixes.
    bool any_order = false;
    bool numbers = false;    ///< For: its variable is the iteration's number in faults
    bool streaming = false;  ///< Store: the data is not read again soon, bypass the caches
    bool rare = false;       ///< If: its orelse seldom runs
    std::int32_t id = -1;
    std::int32_t axis = 0;    ///< For of kind Group or Item; Store of a part of complex elements
    std::int32_t fault = -1;  ///< Return
    std::span<const Expr* const> args;
    std::span<const Stmt* const> body;
    std::span<const Stmt* const> orelse;
    std::span<const Reduction> reductions;  ///< For
    std::span<const std::int32_t>
        arrays;  ///< Call: arrays passed, in order of the callee's array params
    std::span<const std::int32_t> outs;  ///< Call: vars that take its results
    Line line;
};
using S = const Stmt*;

struct Param {
    std::string name;
    DType dtype;
    std::int32_t array = -1;  ///< index in Function::arrays, or -1 for a scalar
    bool is_array() const { return array >= 0; }
};

struct Array {
    std::string name;
    DType dtype;
    int rank = 1;
    Space space = Space::Global;
    bool writable = true;
    /// No other array of this function overlaps it, or only with equal index maps (asserted by who
    /// launches it).
    bool noalias = false;
    std::int32_t param =
        -1;  ///< index in Function::params; -1: made by Allocate (contiguous, row-major)
    std::vector<StrideClass> strides;  ///< one per axis
    /// A variable that holds memory: which, statements decide (Make, Point). Not accessed itself.
    bool is_slot = false;
    /// A view: the slot or parameter whose memory it sees, and where, in elements. The expressions
    /// are evaluated at each access, so what they read stays as it is while the view is used.
    std::int32_t base = -1;
    E offset = nullptr;
    std::vector<E> extents, view_strides;  ///< extents: also, as constants, of a kernel's own array
    bool is_view() const { return base >= 0; }
};

struct Var {
    std::string name;
    DType dtype;
};

/// A place where a fault can be raised. In the message, {0}..{3} stand for the fault's values.
struct FaultSite {
    ErrorKind kind;
    std::string message;
    Line line;
    std::int32_t exception =
        0;  ///< Python's class where kind cannot say it (frontend/exceptions.h)
    /// What a Try tells of it.
    std::int64_t code() const {
        return exception ? 64 + exception : static_cast<std::int64_t>(kind);
    }
};

/// Stmt::fault of a Return that raises what a Try has caught: its operands are the number of the
/// site in the module and the four values. A number that no site has ends the trys around, too.
inline constexpr std::int32_t raised_again = -2;

/// Code that was compiled from C text: LLVM bitcode, and a name of its contents.
struct NativeCode {
    std::string bitcode;
    std::string key;
};

class Arena;  // owns nodes and spans; see build.h

struct Function {
    explicit Function(std::string name);
    ~Function();
    Function(Function&&) noexcept;
    Function& operator=(Function&&) noexcept;

    std::string name;
    std::vector<Param> params;
    std::vector<Array> arrays;
    std::vector<Var> vars;
    std::vector<DType> results;
    std::vector<FaultSite> sites;
    std::vector<std::string> natives;  ///< functions of core/native/native.h that it calls
    std::vector<std::string> files;
    S body = nullptr;
    /// True for work-item functions: the body is one work-item's, launched over an NDRange of
    /// `dimensions` axes.
    bool is_kernel = false;
    bool polls = false;        ///< long loops ask whether the user wants to stop
    bool is_deferred = false;  ///< seldom called: need not be compiled before
    int dimensions = 1;
    /// Non-empty for device kernels made from parallel loops (pass map_to_grid): global size per
    /// axis, expressions of parameters only, evaluated by who launches.
    std::vector<E> grid;
    /// Where set, the body is the function `symbol` of that code: scalars and the result pass as C
    /// passes them, arrays as pointers.
    std::shared_ptr<const NativeCode> native;
    std::string symbol;
    bool is_short = false;  ///< calls of that code are over at once
    std::unique_ptr<Arena> arena;
};

struct NotedLines;  // ir/noted_lines.h

/// Functions that call each other; functions[0] is the entry.
struct Module {
    std::vector<Function> functions;
    /// Of kernels for devices that print (pass note_prints), else null.
    std::shared_ptr<const NotedLines> noted;
    Function& entry() { return functions.front(); }
    const Function& entry() const { return functions.front(); }
};

}  // namespace unisono::ir
