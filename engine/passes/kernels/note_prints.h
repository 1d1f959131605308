// Pass, for devices: kernels and parallel loops note what they print, for the host to print it
// behind them.
//
// Contract. A call of the native function print in code that runs on the device, of numbers only,
// becomes an addition to Module::noted: it takes room for its words by an atomic addition and
// stores them; where there is none left it counts the line as lost. Its status becomes 0. Prints of
// the host program around the loops stay, and those of texts and arrays, which only the host has.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void note_prints(ir::Module& module);

}  // namespace unisono::passes
