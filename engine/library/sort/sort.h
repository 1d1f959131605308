// Sorting along an axis: values, and the places that they come from.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/limits.h"
#include "core/threads/parallel.h"
#include "tape/array.h"

namespace unisono::library {

/// Sorted along `axis`, NaN last (first where descending). Zeros of different sign are ordered by
/// it.
Array sort(const Array& a, int axis, bool descending);

/// The int64 indices that sort along `axis`, stable: of equal elements, the first comes first.
Array argsort(const Array& a, int axis, bool descending);

/// The indices of one lane of n elements in one piece, stable; runs on all threads where n is
/// large.
template <class T>
void argsort_lane(const T* x, std::int64_t n, std::int64_t* places, bool descending);

/// The same for values.
template <class T>
void sort_lane(const T* x, std::int64_t n, T* out, bool descending);

/// Sorts n elements where they lie, on the calling thread.
template <class T>
void sort_run(T* x, std::int64_t n);

/// Calls body(lane number) for all lanes of n elements: side by side where they are short, else one
/// after the other, each on all threads.
template <class F>
void for_lanes(std::int64_t lanes, std::int64_t n, F body) {
    if (n >= limits::all_threads_lane) {
        for (std::int64_t k = 0; k < lanes; ++k) body(k);
        return;
    }
    parallel_for(0, lanes,
                 std::max<std::int64_t>(1, limits::thread_elements / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k) body(k);
                 });
}

}  // namespace unisono::library
