// Attributes and rules of primitives that scan, sum and count.
#pragma once

#include "ops/ops.h"
#include "primitives/rule.h"

namespace unisono::primitives {

struct Scanning {
    Op op;
    int axis;  ///< the last one but on devices
};
struct Segments {
    Op op;
};
struct Counting {
    std::int64_t bins;
    bool weighted;
};
struct Binning {
    bool weighted, uniform;
};

namespace rules {
/// Of elements and where the segments begin.
void segments(const Segments&, Operands operands, Results& results);
void numbers(const Counting& counting, Operands operands, Results& results);
/// Of values, edges and weights.
void bins(const Binning& binning, Operands operands, Results& results);
}  // namespace rules

}  // namespace unisono::primitives
