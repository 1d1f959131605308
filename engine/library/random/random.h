// Random numbers over arrays: each element's value follows from the key and its index, so neither
// threads nor the order of evaluation matter.
#pragma once

#include <span>

#include "library/random/philox.h"
#include "tape/array.h"

namespace unisono::library {

enum class Distribution : std::uint8_t {
#define UNISONO_DISTRIBUTION(Name, name, parameters, whole, expression) Name,
#include "library/random/distributions.def"
};
Distribution distribution_named(std::string_view name);
/// The function of NumPy's that draws from a bit generator of NumPy's: `random_gamma` of "gamma"...
void tell_numpy_sampler(std::string_view name, void* function);

/// A parameter: a number, or an array of float64 that broadcasts to the shape.
struct Parameter {
    double value = 0;
    Array array;  ///< without a layout if `value` is meant
    bool is_array = false;
};

/// Elements of that distribution; float64 (or float32 on request), whole numbers as int64. They
/// are drawn where parameters of each element lie, else on `place` (null: the host).
Array draw(Distribution what, std::span<const Parameter> parameters, Dims shape, DType dtype,
           const RandomKey& key, Device* place);
/// Integers low, ..., low + span (as many as fit in 64 bits), each equally likely, as `dtype`.
Array draw_integers(std::int64_t low, std::uint64_t span, Dims shape, DType dtype,
                    const RandomKey& key, Device* place);
/// `count` permutations of 0, ..., n - 1 as rows of int64.
Array draw_permutations(std::int64_t count, std::int64_t n, const RandomKey& key, Device* place);

}  // namespace unisono::library
