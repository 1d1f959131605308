// Pass: a short loop that only shifts and combines bits looks its result up in tables.
//
// A checksum takes a byte bit by bit: `for _ in range(8): crc = (crc >> 1) ^ poly if crc & 1 else
// crc >> 1`. Each step waits for the one before it, but over the field of two elements the whole
// loop is a linear function of what it starts from: f(a ^ b) is f(a) ^ f(b). So the bits that
// decide which way its branches go, or that several bits of the result depend on, choose rows of
// tables, a few bytes of them at most; for all other bits the loop runs with no branch taken, which
// is a shift. The loop itself makes the tables, bit by bit, in front of the loop around it, where
// that has iterations enough.
//
// What is not understood as linear, and what stays the same in the loop but is not combined with a
// bit, is left alone. Requires accesses as they were written (before lower_access).
#pragma once

#include "ir/ir.h"

namespace unisono::passes {

void bits_by_table(ir::Module& module);

}  // namespace unisono::passes
