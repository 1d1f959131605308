// The loops of bools and integers of one and two bytes, for the instruction set that the whole
// engine is built for.
#define UNISONO_LOOPS_PART Narrow
#include "backends/block/loops_body.h"

namespace unisono::block {

LoopTable loops_x86_64_v3_narrow() { return table; }

}  // namespace unisono::block
