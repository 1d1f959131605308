// Small modules in kernel IR, shared by the golden tests and those that run on a device.
#pragma once

#include <string>
#include <vector>

#include "ir/build.h"

namespace unisono::testing {

struct SampleModule {
    std::string name;
    ir::Module (*make)();
};

ir::Module saxpy();  ///< (a, out, s): out[i] = a[i] * s + out[i]
ir::Module
jacobi();  ///< (u, new): the mean of four neighbours, two parallel axes, inner of stride 1
ir::Module every_second();  ///< (a, out, n): for i in range(n - 1, -1, -2): out[i] = a[i], the step
                            ///< is a scalar
ir::Module four_axes();     ///< (out): out[p, q, r, x] = ((p * 10 + q) * 10 + r) * 10 + x
ir::Module wraps();         ///< (a, b, out) int32: a * b + abs(a) // b, with all that may wrap
ir::Module
checked_gather();  ///< (a, index, out): out[i] = a[index[i]], Python's negative indices, faults
ir::Module checked_call();  ///< as checked_gather, through a called function that raises
ir::Module two_steps();  ///< (a, out, twice): a loop, serial code, a second loop under a condition
ir::Module sum_of_squares();  ///< (a) -> float64: a declared reduction and a result
ir::Module
group_sums();  ///< kernel (a, sums): each work-group of 64 adds its elements in local memory
ir::Module checked_tiles();  ///< group_sums of a[index[gid]] with every access checked: faults
                             ///< before and between barriers
ir::Module histogram();      ///< kernel (bins int32, total int64, peak float32, a): atomics
ir::Module collatz();        ///< (out): while, if, else if, break
ir::Module flags();          ///< (a, b, out) bool: a & ~b | (i == 3), stored as bytes

std::vector<SampleModule> sample_modules();

}  // namespace unisono::testing
