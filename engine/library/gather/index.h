// Indexing by arrays of integers and masks, mixed with basic indices, as NumPy's.
//
// Indices are checked before these functions return; the elements move when they are wanted.
#pragma once

#include <span>

#include "tape/array.h"
#include "tape/record/record.h"

namespace unisono::library {

/// A part of an index: a basic one, or an array of integers or bools (a 0-d bool is one too).
struct IndexPart {
    IndexItem basic{};
    bool is_array = false;
    Array array;
};

/// a[parts], a copy; at least one part is an array.
Array get_items(const Array& a, std::span<const IndexPart> parts);

/// a[index] of few elements, all ready: the primitive `take` at once, without what resolves an
/// index in general. False, having done nothing, where there is more to it, as an index out of
/// range.
bool take_few(const Array& a, const Array& index, Array& made);

/// target[parts] = value; of equal places the last one counts.
void set_items(const Array& target, std::span<const IndexPart> parts, const Arg& value);

/// Indices of the true elements (not equal to zero), one array per axis.
std::vector<Array> nonzero(const Array& a);

/// How many elements are not zero.
std::int64_t count_nonzero(const Array& a);

}  // namespace unisono::library
