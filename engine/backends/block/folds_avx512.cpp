// The folds for processors with AVX-512: the same source, the same bits, twice the width.
#if defined(__x86_64__)
#define UNISONO_FOLDS_AVX512
#include "backends/block/folds_body.h"

namespace unisono::block {

RowFold fold_avx512(Op op, FoldOf of, DType from, DType to) { return find_fold(op, of, from, to); }

}  // namespace unisono::block

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
