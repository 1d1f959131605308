// Counting: how often each number occurs, and how many elements fall into each bin.
#pragma once

#include "tape/array.h"

namespace unisono::library {

/// How often each of 0 .. bins - 1 occurs among int64 numbers (which are in that range); with
/// `weights` (float64, null if none) the sum of the weights there.
Array count_numbers(const Array& numbers, const Array* weights, std::int64_t bins);

/// Elements of x (float64) between neighbouring `edges` (float64, rising), the last bin closed;
/// int64, or float64 sums of `weights`. `uniform`: the edges are evenly spaced. NaN and what lies
/// outside is not counted.
Array count_in_bins(const Array& x, const Array& edges, const Array* weights, bool uniform);

/// The same for evenly spaced bins over memory: `out` gets int64, or float64 sums of `weights`
/// (null if none).
void count_evenly(const double* x, std::int64_t n, const double* edges, std::int64_t bins,
                  const double* weights, void* out);

}  // namespace unisono::library
