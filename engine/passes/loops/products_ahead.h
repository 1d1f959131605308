// Pass: products of a matrix with vectors, which compiled code calls one by one, become calls that
// share a pass over the matrix.
//
// `data[:, i] @ data[:, i:]` in a loop over i: where the loop changes neither operand, the call of
// one iteration passes the operands of a later one, and computes the products of the iterations in
// between, too; these take their results from it. `r @ A` and then `A @ p`: where nothing in
// between changes what the second reads, the first call passes its operands, too.
//
// The pass proves only that the memory that is read ahead lies there and stays as it is. The
// functions themselves (library/linalg/products_ahead.cpp) compare what they have with what is
// asked for.
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void products_ahead(ir::Module& module);

}  // namespace unisono::passes
