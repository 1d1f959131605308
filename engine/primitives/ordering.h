// Attributes and rules of primitives that order, search and select elements.
#pragma once

#include "primitives/rule.h"

namespace unisono::primitives {

struct Sorting {
    bool descending;
};
struct Kth {
    std::int64_t place;
};
struct TopK {
    std::int64_t k;
    bool largest;
};
struct Side {
    bool right;
};
/// Of `unique`: with `places` also where each element occurs first, the place of the value of each,
/// and how often it occurs. Without `equal_nan` each NaN is a value of its own.
struct Distinct {
    bool places, equal_nan;
};

namespace rules {
void top_k(const TopK& top, Operands operands, Results& results);
void places_of_values(const Side&, Operands operands, Results& results);
/// Values, then their number, then index, inverse and counts: all but the inverse are as long as
/// the operand, of which the number of distinct values is used.
void distinct(const Distinct& distinct, Operands operands, Results& results);
}  // namespace rules

}  // namespace unisono::primitives
