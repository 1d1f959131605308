// Elements of strided windows brought side by side, and back; for the few elements of a statement
// that runs at once.
#pragma once

#include "tape/storage.h"

namespace unisono {

/// Copies the view's elements, on the host, side by side to `to`.
void gather_view(char* to, const View& v);
/// Fills the view with elements side by side, or with one element.
void scatter_view(const View& v, const char* from, bool one);

}  // namespace unisono
