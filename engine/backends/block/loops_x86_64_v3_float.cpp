// The loops of floats, for the instruction set that the whole engine is built for.
#define UNISONO_LOOPS_PART Float
#include "backends/block/loops_body.h"

namespace unisono::block {

LoopTable loops_x86_64_v3_float() { return table; }

}  // namespace unisono::block
