// Steps of the QR algorithm, some at a time, and their rotations applied to the vectors.
#include "library/on_device/shifting.h"

#include <algorithm>

namespace unisono::library {

namespace {

/// Where the rotations of some steps are.
struct Steps {
    DeviceVector bounds, state;
    std::int64_t count, n, steps;
};

/// The rotations are real: a complex number is two real ones of a row.
void turn(DeviceWork& work, const Steps& s, const DeviceVector& turns, const VectorRows& x) {
    const DeviceVector real = x.memory.as(turns.dtype);
    const std::int64_t columns = x.length * (unisono::is_complex(x.memory.dtype) ? 2 : 1);
    // A piece of all rows stays in a core's cache; elsewhere neighbours take neighbouring columns.
    const std::int64_t size = work.has_cores() ? 64 : 1, pieces = (columns + size - 1) / size;
    work.run_pieces("turn_rows",
                    {real, turns, s.bounds, s.state, s.n, s.steps, x.rows, columns, pieces, size},
                    s.count * pieces);
}

}  // namespace

void find_values(DeviceWork& work, const Diagonals& values, const VectorRows* right,
                 const VectorRows* left, const DeviceVector& failed) {
    const DType real = values.d.dtype;
    const std::int64_t n = values.n, count = values.count;
    const Scalar eps = Scalar::of(real, real == DType::Float32 ? 0x1p-23 : 0x1p-52);
    // Half of the steps that matrices of this size take, or those of some thousand rotations.
    const std::int64_t few = std::max<std::int64_t>(16, n / 8);
    const std::int64_t most =
        right ? std::clamp<std::int64_t>((1 << 14) / n, few, 2 * few + n) : 2 * n;
    const std::int64_t room = right ? count * most * n * 2 : count * 2;
    const Steps s{work.scratch(DType::Int64, right ? count * most * 2 : 1),
                  work.scratch(DType::Int64, count * 3), count, n, most};
    const DeviceVector turns = work.scratch(real, room), unfinished = work.scratch(DType::Int64, 1);
    const DeviceVector others = work.scratch(real, values.is_bidiagonal ? room : 1);
    work.run("begin_steps", {s.state, n}, {count});
    std::int64_t left_over = 1;
    while (left_over > 0) {
        work.run("fill_with", {unfinished, std::int64_t{0}}, {1});
        if (values.is_bidiagonal)
            work.run_pieces("turn_bidiagonal",
                            {values.d, values.e, turns, others, s.bounds, s.state, unfinished,
                             failed, n, most, std::int64_t{right != nullptr}, eps},
                            count);
        else
            work.run_pieces("turn_tridiagonal",
                            {values.d, values.e, turns, s.bounds, s.state, unfinished, failed, n,
                             most, std::int64_t{right != nullptr}, eps},
                            count);
        if (right) turn(work, s, turns, *right);
        if (left) turn(work, s, others, *left);
        left_over = work.read<std::int64_t>(unfinished);
    }
}

}  // namespace unisono::library
