// The loops of integers of four and eight bytes, for the instruction set that the whole engine is
// built for.
#define UNISONO_LOOPS_PART Wide
#include "backends/block/loops_body.h"

namespace unisono::block {

LoopTable loops_x86_64_v3_wide() { return table; }

}  // namespace unisono::block
