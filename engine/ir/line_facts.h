// What the kernel IR says of each of the user's lines: how deep in loops it stands, what it
// computes, which index tests it has, and why those that stay do.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace unisono::ir {

struct LineFacts {
    std::uint16_t file = 0;
    std::int32_t line = 0;
    int depth = 0;        ///< greatest loop depth, a loop on the line included
    int accesses = 0;     ///< of elements
    int tested = 0;       ///< of these, those whose index is not known to be in range
    int tests = 0;        ///< index tests as statements (of lowered IR)
    int test_depth = 0;   ///< loops around such a test, at most
    int arithmetic = 0;   ///< operations of one or a few cycles
    int costly = 0;       ///< divisions, roots, mathematical functions
    int calls = 0;        ///< of compiled functions
    int natives = 0;      ///< of functions of the engine
    int interpreted = 0;  ///< calls of the interpreter
    int arrays = 0;       ///< arrays made
    int computed = 0;     ///< operations that compute stored elements
    std::string loops;    ///< kinds of loops that start here: "parallel", "serial"...
    std::string why;      ///< why an index must be tested at each access
};

/// Ordered by file and line. Deferred functions, which seldom run, do not count.
std::vector<LineFacts> line_facts(const ir::Module& module);

}  // namespace unisono::ir
