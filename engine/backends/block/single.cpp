// Looks up the loops of single operations.
#include "backends/block/folds.h"
#include "backends/block/loops.h"
#include "tape/eager/block_loops.h"

namespace unisono::block_loops {

Forms operation(Op op, DType t) { return block::loops().operation(op, t); }
Loop cast(DType from, DType to) {
    block::LoopForms forms = block::loops().cast(from, to);
    return forms ? forms[0] : nullptr;
}
Forms select(DType t) { return block::loops().select(t); }
Leaves leaves(Op op, DType t) { return block::loops().leaves(op, t); }
Fold fold(Op op, DType from, DType to) {
    const bool is_truth = is_bool(to) && !is_bool(from);
    return block::fold(op, is_truth ? block::FoldOf::NonZero : block::FoldOf::Value, from, to);
}

}  // namespace unisono::block_loops
