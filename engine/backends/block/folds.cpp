// Folds of packed rows: the choice of the instruction set, and pieces that threads share.
#include "backends/block/folds.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "backends/block/program.h"
#include "core/processor.h"
#include "core/threads/parallel.h"
#include "tape/run/block_program.h"

namespace unisono {

namespace block {

RowFold fold([[maybe_unused]] Op op, [[maybe_unused]] FoldOf of, [[maybe_unused]] DType from,
             [[maybe_unused]] DType to) {
#if defined(__x86_64__)
    return has_avx512() ? fold_avx512(op, of, from, to) : fold_x86_64_v3(op, of, from, to);
#else
    return nullptr;
#endif
}

namespace {

constexpr std::int64_t piece_bytes = 256 * 1024;  ///< of what a thread reads at once

/// Long rows in pieces, whose values are folded in turn. What decides any or all stops the rest.
bool fold_long_row(const OutputInfo& output, RowFold fold, char* to, const char* from,
                   std::int64_t count, std::int64_t bytes) {
    const std::int64_t length = piece_bytes / bytes, pieces = (count + length - 1) / length;
    std::vector<char> values(static_cast<std::size_t>(pieces * output.bytes));
    const bool stops = is_bool(output.dtype);
    const bool wants = output.op == Op::Or || output.op == Op::Max;
    std::atomic<bool> decided = false, fails = false;
    parallel_for(0, pieces, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
            char* value = values.data() + piece * output.bytes;
            if (stops && decided.load(std::memory_order_relaxed)) {
                *value = wants;
                continue;
            }
            const std::int64_t first = piece * length;
            if (!fold(value, from + first * bytes, std::min(length, count - first)))
                fails.store(true, std::memory_order_relaxed);
            else if (stops && (*value != 0) == wants)
                decided.store(true, std::memory_order_relaxed);
        }
    });
    const RowFold rest = block::fold(output.op, FoldOf::Value, output.dtype, output.dtype);
    return !fails && rest(to, values.data(), pieces);
}

}  // namespace

}  // namespace block

bool BlockProgram::fold_packed(const PackedRows& rows) const {
    const block::Program& p = *program_;
    if (!p.fold) return false;
    const block::OutputInfo& output = p.outputs[0];
    const std::int64_t bytes = p.input_bytes[0];
    if (rows.count * bytes > block::piece_bytes) {
        for (std::int64_t k = 0; k < rows.rows; ++k) {
            if (!block::fold_long_row(output, p.fold, rows.out + k * output.bytes,
                                      rows.in + k * rows.stride * bytes, rows.count, bytes))
                return false;
        }
        return true;
    }
    std::atomic<bool> fails = false;
    const std::int64_t grain = block::piece_bytes / (rows.count * bytes);
    parallel_for(0, rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            if (!p.fold(rows.out + k * output.bytes, rows.in + k * rows.stride * bytes, rows.count))
                return fails.store(true, std::memory_order_relaxed);
        }
    });
    return !fails;
}

}  // namespace unisono
