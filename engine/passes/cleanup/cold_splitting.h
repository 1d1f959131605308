// Pass: moves what seldom runs into functions of their own.
// The orelse of an If that is marked as rare becomes a deferred function, which a back end compiles
// when it is first called, and a call of it: the way that is taken nearly always is compiled alone.
// What the statements use goes in as arguments, what they assign comes out as results. Statements
// that leave the function otherwise than by a fault, or use arrays that are variables or views,
// stay where they are.
#pragma once

#include <string>

#include "ir/ir.h"

namespace unisono::passes {

/// The functions are named after those that call them, and by `suffix`.
void cold_splitting(ir::Module& module, const std::string& suffix);

}  // namespace unisono::passes
