// Tables of the precompiled loops: operations, casts, selects and reduction leaves, per dtype.
//
// Every loop takes addresses and a count. An operand has one of two forms: `count` elements side by
// side, or one element that stands for all (broadcast). The output may be the very address of an
// operand whose elements have the same size, but may not overlap one otherwise.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "ops/ops.h"

namespace unisono::block {

using Loop = void (*)(char* out, const char* a, const char* b, const char* c, std::int64_t count);
/// One loop per form: bit k of the index is set where operand k (a, b, c) is one element.
/// Unary operations and casts have form 0 only, binary ones 0 to 2 (3 never: it runs 0 with count
/// 1).
using LoopForms = const Loop*;
/// Value of one reduction leaf of 1 to 512 elements (ops/reduction_tree.h).
using LeafLoop = void (*)(char* out, const char* x, std::int64_t count);

/// Values of the leaves of `rows` rows of 1 to 512 elements each that lie one after the other.
using LeavesLoop = void (*)(char* out, const char* x, std::int64_t count, std::int64_t rows);

/// The loops built for one instruction set.
struct LoopTable {
    LoopForms (*operation)(Op op, DType t);  ///< t: dtype of the operands; null: not defined on t
    LoopForms (*cast)(DType from, DType to);
    LoopForms (*select)(DType t);
    LeafLoop (*leaf)(Op op, DType t);  ///< null where op does not reduce t
    LeavesLoop (*leaves)(Op op, DType t);
};

/// The loops are compiled in parts, by the dtype of the operands that they read.
enum class Part : std::uint8_t { Narrow, Wide, Float, Complex };
inline constexpr int part_count = 4;
constexpr Part part_of(DType t) {
    if (is_complex(t)) return Part::Complex;
    if (is_float(t)) return Part::Float;
    return size_of(t) <= 2 ? Part::Narrow : Part::Wide;
}

LoopTable loops_x86_64_v3_narrow();
LoopTable loops_x86_64_v3_wide();
LoopTable loops_x86_64_v3_float();
/// One for all processors. Its casts are those from and to complex dtypes.
LoopTable loops_complex();
LoopTable loops_avx512_narrow();
LoopTable loops_avx512_wide();
LoopTable loops_avx512_float();

/// The table that every processor runs for which the engine is built.
const LoopTable& loops_x86_64_v3();
/// The widest table that this processor runs.
const LoopTable& loops();

}  // namespace unisono::block
