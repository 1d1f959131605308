// Evaluates expressions of parameters on the host: launch sizes of device kernels and the like.
#pragma once

#include <functional>

#include "ir/ir.h"

namespace unisono::ir {

/// The value of one part of a parameter: the scalar's bits, or an extent or stride of an array.
using ParamReader =
    std::function<std::uint64_t(std::int32_t param, Field field, std::int32_t axis)>;

/// True if e reads nothing but constants and parameters, in operations that `evaluate` knows.
bool is_param_expression(E e);

/// The bits of a variable, a load or a Memory.
using ValueReader = std::function<std::uint64_t(E e)>;

/// The value of such an expression; with `read_value`, of one that has such, too.
Scalar evaluate(E e, const ParamReader& read, const ValueReader& read_value = {});

}  // namespace unisono::ir
