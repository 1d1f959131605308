// Moves the elements of views between ranks: from who has them to who wants them.
#pragma once

#include <functional>

#include "comm/block.h"

namespace unisono::comm {

/// What this rank wants of the view, as a local array with the shape of its box. Collective, with
/// messages only between ranks whose boxes meet. `settle`: a value leaves the program's arrays.
Array fetch(const Block& block, const View& view, const Steps& steps, const Held& wanted,
            const std::string& why, bool settle = false);

/// The same of a local array that is this rank's part of an array of that shape, held so.
Array move_parts(Mesh& mesh, const Array& part, Dims shape, const Held& held, const Held& wanted,
                 const std::string& what, bool settle = false);

/// This rank's part of an array that is yet to be computed, in runs of its rows.
struct ComputedRows {
    DType dtype;
    std::int64_t at_once;                ///< rows of a run
    std::function<Array(Range)> record;  ///< these rows of the part, counted from its first
};
/// The same of such a part: what a run of rows gives is moved while caches hold it.
Array move_parts(Mesh& mesh, const ComputedRows& part, Dims shape, const Held& held,
                 const Held& wanted, const std::string& what);

/// What this rank wants of an array that it has as a whole.
Array taken(const Array& whole, const Held& wanted, int rank);

/// Part of an array of that shape, in row-major order cut into even pieces along the first axis
/// (`from`), as the same elements in another shape, cut so, too.
Array move_flat(Mesh& mesh, const Array& part, Dims from, Dims to, const std::string& what);

}  // namespace unisono::comm
