// Stores past the caches, on devices that are CPUs.
//
// Compilers of such devices make no vectors of a loop with stores past the caches, and a part of a
// cache line that is stored so costs more than the whole line. So a loop stores what is to go past
// them in an array of the work-item, which stays in a core's cache; a loop behind it, which does
// nothing else, moves the elements on. Writers of text make whole lines of that one
// (ir/streaming.h).
#pragma once

#include "ir/build.h"

namespace unisono::passes {

/// The loop, of plain statements and at most `length` iterations from the variable `first` on, with
/// its streaming stores staged; the loop itself where there are none, or none of them goes to
/// neighbouring elements in each iteration.
ir::S stage_streams(ir::Function& f, ir::S loop, std::int32_t first, std::int64_t length);

}  // namespace unisono::passes
