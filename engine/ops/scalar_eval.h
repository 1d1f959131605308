// Evaluates one scalar operation or cast exactly as docs/ir.md says: the reference for every
// executor.
//
// Used by constant folding, by 0-d values of the array type and by the interpreter. Back ends with
// compiled loops have their own code for the same rules and are tested against this.
#pragma once

#include "core/scalar.h"
#include "ops/ops.h"

namespace unisono {

/// op(a) or op(a, b); operands have one dtype, on which the operation is defined (result_dtype),
/// else an Internal error.
Scalar eval(Op op, Scalar a, Scalar b = {});

/// The value converted to dtype t.
Scalar cast(Scalar a, DType t);

/// a * b + c rounded once; floats only.
Scalar fused_multiply_add(Scalar a, Scalar b, Scalar c);

/// The same as functions over Scalar::bits, for callers that resolve the operation once. The second
/// operand of a unary operation is ignored. Null where the operation is not defined on the dtype.
using ScalarFunction = std::uint64_t (*)(std::uint64_t a, std::uint64_t b);
using CastFunction = std::uint64_t (*)(std::uint64_t a);
ScalarFunction scalar_function(Op op, DType t);
CastFunction cast_function(DType from, DType to);

}  // namespace unisono
