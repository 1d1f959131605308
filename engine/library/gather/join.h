// Arrays side by side in one, and the positions of repeated elements.
#pragma once

#include <optional>
#include <span>

#include "tape/array.h"

namespace unisono::library {

/// The parts one after another along an axis (negative ones count from the end), in `dtype` or the
/// one that holds all. With `out`: there, if it has the shape.
Array concatenate(std::span<const Array> parts, int axis, std::optional<DType> dtype,
                  const Array* out = nullptr);

/// 0 counts[0] times, then 1 counts[1] times, and so on.
Array repeated_positions(const Array& counts);

}  // namespace unisono::library
