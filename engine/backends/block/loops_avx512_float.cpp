// The loops of floats, for processors with AVX-512: the same source, the same bits, twice the
// width.
#if defined(__x86_64__)
#define UNISONO_LOOPS_AVX512
#define UNISONO_LOOPS_PART Float
#include "backends/block/loops_body.h"

namespace unisono::block {

LoopTable loops_avx512_float() { return table; }

}  // namespace unisono::block
#endif
