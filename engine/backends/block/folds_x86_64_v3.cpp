// The folds for the instruction set that the whole engine is built for.
#if defined(__x86_64__)
#include "backends/block/folds_body.h"

namespace unisono::block {

RowFold fold_x86_64_v3(Op op, FoldOf of, DType from, DType to) {
    return find_fold(op, of, from, to);
}

}  // namespace unisono::block
#endif
