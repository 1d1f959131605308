// Makes IR nodes: an arena that owns them, and short functions that infer dtypes.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>

#include "ir/ir.h"

namespace unisono::ir {

/// Owns nodes and their operand lists for the life of a Function.
class Arena {
  public:
    Expr* expr(Expr e);
    Stmt* stmt(Stmt s);
    template <class T>
    std::span<const T> copy(std::span<const T> items) {
        if (items.empty()) return {};
        auto block = std::make_shared<std::vector<T>>(items.begin(), items.end());
        lists_.push_back(block);
        return {block->data(), block->size()};
    }

  private:
    std::deque<Expr> exprs_;
    std::deque<Stmt> stmts_;
    std::deque<std::shared_ptr<void>> lists_;
};

/// Builds into one function. `line` is stamped on every node made until it is changed.
class Builder {
  public:
    explicit Builder(Function& f) : f_(f) {}
    Function& function() { return f_; }
    Line line;

    // Tables
    std::int32_t var(std::string name, DType t);
    std::int32_t scalar_param(std::string name, DType t);  ///< returns the param's index
    /// Returns the array's id; strides default to Other for each axis.
    std::int32_t array_param(std::string name, DType t, int rank, bool writable,
                             std::vector<StrideClass> strides = {});
    std::int32_t local_array(std::string name, DType t, int rank, Space space);
    std::int32_t slot(std::string name, DType t, bool writable);
    /// A view of a slot or parameter; strides of a known class need no expression.
    std::int32_t view(std::string name, std::int32_t base, E offset, std::vector<E> extents,
                      std::vector<E> strides, std::vector<StrideClass> classes, bool writable);
    std::int32_t site(ErrorKind kind, std::string message, std::int32_t exception = 0);

    // Expressions; operands must already have the dtype that the operation wants (the verifier
    // insists).
    E constant(Scalar value);
    E i64(std::int64_t value);
    E boolean(bool value);
    E zero(DType t);
    E number(DType t, double value);  ///< a constant, of complex dtypes too
    E identity(Op op, DType t);       ///< of a reduction; of complex dtypes too
    E read(std::int32_t var);
    E param(std::int32_t param);
    E extent(std::int32_t array, int axis);  ///< of a parameter, a view, or a kernel's own array
    E stride(std::int32_t array, int axis);
    E load(std::int32_t array, std::span<const E> indices, Access access = Access::Inside);
    E load(std::int32_t array, std::initializer_list<E> indices, Access access = Access::Inside);
    /// A part of an element of a complex array.
    E load_part(std::int32_t array, std::span<const E> indices, int part, Access access);
    E part(E a, int part);   ///< of a complex number: 0 real, 1 imaginary
    E pair(E real, E imag);  ///< the complex number of two floats
    E unary(Op op, E a);
    E binary(Op op, E a, E b);
    E select(E c, E a, E b);
    E cast(E a, DType t);  ///< a itself if it has that dtype
    E bitcast(E a, DType t);
    E fma(E a, E b, E c);
    E work_item(WorkItemQuery q, int axis);
    E address(std::int32_t array);  ///< of a slot or parameter
    E block_of(std::int32_t slot);
    E add(E a, E b) { return binary(Op::Add, a, b); }
    E sub(E a, E b) { return binary(Op::Sub, a, b); }
    E mul(E a, E b) { return binary(Op::Mul, a, b); }

    // Statements
    S block(std::span<const S> body);
    S block(std::initializer_list<S> body);
    S declare(std::int32_t var, E value);  ///< value may be null
    S assign(std::int32_t var, E value);
    S store(std::int32_t array, std::span<const E> indices, E value, Access access = Access::Inside,
            bool streaming = false);
    S store_part(std::int32_t array, std::span<const E> indices, E value, int part, Access access);
    S prefetch(E load);
    S atomic(std::int32_t array, Op op, std::span<const E> indices, E value,
             Access access = Access::Inside);
    S allocate(std::int32_t array, std::span<const E> extents);
    S make(std::int32_t slot, E elements);
    S point(std::int32_t slot, std::int32_t source);
    S adopt(std::int32_t slot, E address, E block);
    S retain(std::int32_t slot);
    S loop(LoopKind kind, std::int32_t var, E begin, E end, E step, S body,
           std::span<const Reduction> reductions = {}, int axis = 0);
    S loop_while(E condition, S body);
    S branch(E condition, S body, S orelse = nullptr);
    S leave();  ///< break
    S next();   ///< continue
    S ret(std::span<const E> results);
    S raise(std::int32_t site, std::span<const E> values);
    S again(std::span<const E> values);                     ///< the site in the module, four values
    S attempt(S body, std::span<const std::int32_t> outs);  ///< try
    S barrier();
    /// A call of a function of core/native/native.h: int64 values, of which the first come back in
    /// `outs`.
    S native(const std::string& name, std::span<const E> values,
             std::span<const std::int32_t> outs);
    S call(std::int32_t function, std::span<const E> scalars, std::span<const std::int32_t> arrays,
           std::span<const std::int32_t> outs);

    /// Copies a node, with changes made by the caller before it is owned.
    E own(Expr e) { return f_.arena->expr(e); }
    S own(Stmt s) { return f_.arena->stmt(s); }
    std::span<const E> list(std::span<const E> items) { return f_.arena->copy(items); }
    std::span<const S> list(std::span<const S> items) { return f_.arena->copy(items); }

  private:
    E narrowed(Op op, E wide);
    Expr node(ExprKind kind, DType t, std::initializer_list<E> args = {});
    Stmt node(StmtKind kind);
    Function& f_;
};

/// The printed form (golden tests, dumps).
std::string print(const Module& module);
std::string print(const Function& function);
std::string print(const Function& function, E e);

/// Bytes that differ where two modules differ in anything but the names of files; the same in every
/// process: what caches compare.
std::string identity(const Module& module);

/// Throws an Internal error that names the first broken rule: dtypes, declared-before-use, ids,
/// access modes, loop kinds.
void verify(const Module& module);

}  // namespace unisono::ir
