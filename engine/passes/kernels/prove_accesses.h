// Pass: a version of a kernel for launches whose numbers show that nothing is out of range.
//
// Contract. The entry, a kernel, loses the tests of its accesses and of statements that only raise,
// as far as an interval program covers them; where the program finds, with the numbers of a launch,
// that all hold, this version does what the kernel does. What depends on elements of arrays keeps
// its test. Indices that are computed in 32 bits are computed in 64, which hold the same. Fault
// sites stay.
#pragma once

#include <memory>

#include "passes/analysis/intervals/interval_program.h"

namespace unisono::passes {

/// Null where the kernel has no tests that a launch's numbers may cover; it is unchanged then.
std::unique_ptr<const IntervalProgram> prove_accesses(ir::Module& module);

}  // namespace unisono::passes
