// Lowers one Python function at given argument types to one IR function.
//
// How it works. One walk over the tree both infers types and emits IR. The environment maps each
// name to what it holds at this point: an expression of parameters and constants that needs no
// variable, an IR variable, an array or a tuple. Where paths meet, values that differ move into an
// IR variable of the joined type (named after the Python variable and kept per dtype). A loop's
// head is a guess: when the back edges need more, the guess grows and the loop is walked again from
// a checkpoint; the guess is kept, so nested loops stay cheap. What only the whole function tells
// (the result's type, whether a loop's target is read after it) asks for another attempt, which
// starts with what the one before has learnt (environment.h).
//
// A local is declared in its home, the innermost block that holds all its occurrences, so that what
// one iteration of a parallel loop writes is private by construction. Statements that an expression
// needs (a call, a test for zero, a short circuit) are emitted before the statement that uses it;
// operands already made are then kept in temporaries.
//
// The walk stands on floors, each a class on top of the one before, with a header that says what it
// offers to those above; what is private to a floor only its own files use:
//
//     emission.h         statements, variables and frames, faults; what the ground needs of the top
//     arrays.h           views, array expressions, what may share memory
//     numbers.h          arithmetic of scalars, complex numbers
//     selections.h       subscripts: views, index arrays, masks
//     array_functions.h  creation, shapes, reductions, products
//     objects.h          lists, structured arrays, instances of classes
//     operators.h        operators, comparisons and choices over every kind of value
//     bindings.h         what names hold; where paths meet; expressions that wait for their reads
//     calls.h            calls of compiled, built-in, array and C functions
//     expressions.h      any expression
//     assignments.h      stores to names, elements, fields and members
//     control_flow.h     branches, loops, parallel regions, exceptions, returns
//
// Beside them, texts.h and tables.h lower expressions of texts, dicts and sets.
#pragma once

#include "frontend/control_flow.h"

namespace unisono::frontend {

/// One attempt.
class FunctionLowerer final : public ControlFlow {
  public:
    FunctionLowerer(ModuleLowerer& module, const Source& source, Instance& instance, int dimensions,
                    Learnt& learnt)
        : ControlFlow(module, source, instance, dimensions, learnt) {}
    /// The function, or null where what was learnt asks for another attempt.
    std::unique_ptr<ir::Function> run();
    /// Whether there is no function because a result of one further out is not known yet.
    bool waits() const { return waits_; }
    FunctionLowerer& lowerer() override { return *this; }

  private:
    void open_function(std::vector<S>& list);
    void statements(const Node& block) override;
    void try_statement(const Node& node) override;
    void statement(const Node& node);
    bool learns_by_survey() override;
    void survey(const Node& node);

    bool waits_ = false;

    friend class Texts;   ///< texts.cpp
    friend class Tables;  ///< tables.cpp
};

}  // namespace unisono::frontend
