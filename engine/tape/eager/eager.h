// Runs single entries on a few elements at once, without a plan: what the tape does with small
// statements of places that repeat (call_sites.h), where recording costs more than computing.
//
// The loops are those of backends/block and reductions follow the same tree, so the bits are those
// that a plan gives. Nothing here fails: what is out of the ordinary is left to the tape.
#pragma once

#include "context/context.h"
#include "tape/array.h"
#include "tape/eager/block_loops.h"

namespace unisono {

struct Entry;

namespace eager {

/// Whether the memory may be read now: nothing that is pending or in flight writes it.
inline bool is_ready(const Storage* s) {
    return !s->device && !s->pending && !s->flight_writers && s->memory.handle && !s->poison;
}
/// Whether it may be written now: nor does anything read it.
inline bool is_idle(const Storage* s) { return is_ready(s) && !s->readers && !s->flight_readers; }

/// Runs the entry; false, having done nothing, where it must be recorded.
bool run(const Entry& entry);

/// Counts a kernel that wrote `out`.
inline void note(Storage* out, std::int64_t read, std::int64_t written) {
    out->evaluation = Storage::unrecorded;
    Counters& c = counters();
    count(c.kernels_launched);
    count(c.bytes_read, read);
    count(c.bytes_written, written);
}

}  // namespace eager
}  // namespace unisono
