// Walks a function in program order and finds out what is known of each checked access at each loop
// around it.
#pragma once

#include "ir/rewrite.h"
#include "passes/analysis/affine.h"

namespace unisono::passes {

/// What must hold before a loop for an access in it to stay in range: for each of `conditions` one
/// of its proofs.
struct AccessTest {
    std::vector<std::vector<Proof>> conditions;
    bool is_proven() const { return conditions.empty(); }
};

/// Where an index counts from.
enum class CountsFrom : std::uint8_t {
    Start,
    End,     ///< a negative constant
    Either,  ///< from the end where it is negative
};

/// A Checked or Wrapped access, in the order in which the walk meets them (see AccessWalk).
struct AccessFacts {
    bool is_proven = false;
    std::vector<CountsFrom> counts_from;  ///< per axis
    std::vector<int> loops;  ///< around it, outermost first: indices of FunctionFacts::loops
    std::vector<std::optional<AccessTest>> tests;  ///< per loop around it
};

/// What is known of a % n before it is computed, where it needs no division.
enum class Remainder : std::uint8_t {
    Unknown,
    Itself,  ///< 0 <= a < n
    Above,   ///< 0 <= a < 2 n, or a = n = 0: less n where it is reached
    Below,   ///< -n <= a < n: and n where it is negative
};

struct LoopFacts {
    int parent = -1;
    int first_symbol = 0;  ///< symbols from here on belong to the loop
    std::vector<int> children;
};

struct FunctionFacts {
    std::vector<Symbol> symbols;
    std::vector<AccessFacts> accesses;
    std::vector<Remainder> remainders;  ///< of each int64 a % n, in the order of the walk
    std::vector<bool> never_zero;       ///< of each is_zero_test, in the order of the walk
    std::vector<LoopFacts> loops;       ///< For statements in the order of the walk
};

/// Whether an index may be written several times: at most sums of what is at hand.
bool costs_little(ir::E e);

/// Whether FunctionFacts::remainders has a row for the expression.
bool is_remainder(ir::E e);

/// Whether FunctionFacts::never_zero has a row for the statement: a test that raises where an
/// integer is 0.
bool is_zero_test(ir::S s);

FunctionFacts find_index_ranges(ir::Function& f);

}  // namespace unisono::passes
