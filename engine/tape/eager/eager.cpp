// Brings the operands of one entry side by side, calls its loop and stores the result.
#include "tape/eager/eager.h"

#include <algorithm>
#include <cstring>

#include "core/limits.h"
#include "ops/reduction_tree.h"
#include "tape/eager/window_copy.h"
#include "tape/tape.h"

namespace unisono::eager {

namespace {

constexpr std::size_t long_tape = 128;  ///< entries: where the tape is cut anyway (tape.cpp)

/// Whether all points of the view are one element.
bool is_one(const Layout& l) {
    if (l.contiguous()) return l.size() == 1;
    for (std::size_t k = 0; k < l.shape().size(); ++k) {
        if (l.strides()[k] != 0 && l.shape()[k] != 1) return false;
    }
    return true;
}

/// Whether writing one view may change what the other reads, but for equal views.
bool may_share(const View& in, const View& out) {
    return in.storage == out.storage ||
           (in.storage->shared_outside() && out.storage->shared_outside());
}

struct Operation {
    block_loops::Forms forms = nullptr;
    DType result{};
};

/// What block_loops answers, looked up instead of derived.
struct LoopTables {
    Operation operations[op_count][dtype_count];
    block_loops::Loop casts[dtype_count][dtype_count];

    LoopTables() {
        for (int t = 0; t < dtype_count; ++t) {
            const auto dtype = static_cast<DType>(t);
            for (int o = 0; o < op_count; ++o) {
                const Op op = static_cast<Op>(o);
                operations[o][t] = {block_loops::operation(op, dtype),
                                    result_dtype(op, dtype).value_or(dtype)};
            }
            for (int to = 0; to < dtype_count; ++to)
                casts[t][to] = block_loops::cast(dtype, static_cast<DType>(to));
        }
    }
    static const LoopTables& instance() {
        static const LoopTables tables;
        return tables;
    }
};

const Operation& operation(Op op, DType t) {
    return LoopTables::instance().operations[static_cast<int>(op)][static_cast<int>(t)];
}

block_loops::Loop cast_loop(DType from, DType to) {
    return LoopTables::instance().casts[static_cast<int>(from)][static_cast<int>(to)];
}

/// An operand as loops take it: elements of one dtype side by side, or one that stands for all.
struct Operand {
    const char* data;
    bool one;
};

/// Room for what an operand becomes.
struct Room {
    alignas(64) char gathered[limits::eager_bytes];
    alignas(64) char converted[limits::eager_bytes];
};

/// `apart`: not where it lies, since that is about to be written.
Operand prepare(const View& in, DType t, bool apart, Room& room) {
    Operand made{nullptr, !in.storage || is_one(*in.layout)};
    if (!in.storage) {
        // A scalar is the low bytes of its bits: its first bytes, since hosts are little-endian.
        made.data = reinterpret_cast<const char*>(&in.offset);
    } else if (made.one) {
        std::memcpy(room.gathered, in.data(), static_cast<std::size_t>(size_of(in.dtype)));
        made.data = room.gathered;
    } else if (in.layout->contiguous() && !apart) {
        made.data = in.data();
    } else {
        gather_view(room.gathered, in);
        made.data = room.gathered;
    }
    if (in.dtype != t) {
        cast_loop(in.dtype, t)(room.converted, made.data, made.data, made.data,
                               made.one ? 1 : in.layout->size());
        made.data = room.converted;
    }
    return made;
}

/// The elements of every point side by side.
const char* all_points(const View& in, DType t, Room& room) {
    const char* data = in.data();
    if (!in.layout->contiguous()) {
        gather_view(room.gathered, in);
        data = room.gathered;
    }
    if (in.dtype == t) return data;
    cast_loop(in.dtype, t)(room.converted, data, data, data, in.layout->size());
    return room.converted;
}

void run_copy(const Entry& e) {
    const View &in = e.in[0], &out = e.out;
    const bool shares = in.storage && may_share(in, out);
    if (in.storage && in.dtype == out.dtype && out.layout->contiguous() && !shares)
        return gather_view(out.data(), in);
    Room room;
    Operand from = prepare(in, out.dtype, shares, room);
    scatter_view(out, from.data, from.one);
}

/// Map and Select: `forms` for operands of dtype `take`, a result of dtype `give`.
void run_loop(const Entry& e, block_loops::Forms forms, const DType* take, DType give) {
    const View& out = e.out;
    Room rooms[3];
    alignas(64) char result[limits::eager_bytes];
    const bool straight = out.layout->contiguous() && give == out.dtype;
    const char* data[3] = {};
    unsigned form = 0;
    for (unsigned k = 0; k < e.inputs; ++k) {
        const View& in = e.in[k];
        const bool apart = straight && in.storage && may_share(in, out) && !in.same_as(out);
        Operand o = prepare(in, take[k], apart, rooms[k]);
        data[k] = o.data;
        form |= static_cast<unsigned>(o.one) << k;
    }
    for (unsigned k = e.inputs; k < 3; ++k) data[k] = data[0];
    const bool once = form + 1 == 1u << e.inputs;
    const std::int64_t count = once ? 1 : out.layout->size();
    char* to = straight && !once ? out.data() : result;
    forms[once ? 0 : form](to, data[0], data[1], data[2], count);
    if (to != result) return;
    if (give != out.dtype) {
        cast_loop(give, out.dtype)(rooms[0].converted, to, to, to, count);
        to = rooms[0].converted;
    }
    scatter_view(out, to, once);
}

/// The values of leaves, folded by the tree.
void fold_rows(const char* x, char* to, std::int64_t rows, std::int64_t width_bytes,
               std::int64_t width, block_loops::Loop merge) {
    using reduction::leaf_rows;
    alignas(64) char stack[2 * limits::eager_bytes];
    const auto bytes = static_cast<std::size_t>(width_bytes);
    char* top = stack;
    auto join = [&] {
        top -= bytes;
        merge(top - bytes, top - bytes, top, top, width);
    };
    for (std::int64_t leaf = 0; leaf * leaf_rows < rows; ++leaf) {
        const std::int64_t first = leaf * leaf_rows, end = std::min(rows, first + leaf_rows);
        std::memcpy(top, x + first * width_bytes, bytes);
        for (std::int64_t r = first + 1; r < end; ++r) {
            const char* row = x + r * width_bytes;
            merge(top, top, row, row, width);
        }
        top += bytes;
        for (int merges = reduction::tree_merges(leaf); merges > 0; --merges) join();
    }
    while (top - bytes > stack) join();
    std::memcpy(to, stack, bytes);
}

/// Rows whose result does not depend on the order, if they are long enough for the call to pay.
bool fold_long_rows(const Entry& e, std::int64_t extent, std::int64_t rows) {
    constexpr std::int64_t shortest = 64;
    const View& in = e.in[0];
    if (extent < shortest || !in.layout->contiguous()) return false;
    const block_loops::Fold fold = block_loops::fold(e.op, in.dtype, e.compute);
    const char* from = in.data();
    char* to = e.out.data();
    for (std::int64_t k = 0; fold && k < rows; ++k, to += size_of(e.compute)) {
        if (!fold(to, from + k * extent * size_of(in.dtype), extent)) return false;
    }
    return fold != nullptr;
}

bool run_reduce(const Entry& e) {
    const View& in = e.in[0];
    const Dims shape = in.layout->shape();
    const auto axis = static_cast<std::size_t>(e.axis);
    const std::int64_t extent = shape[axis];
    std::int64_t inner = 1;
    for (std::size_t k = axis + 1; k < shape.size(); ++k) inner *= shape[k];
    const std::int64_t outer = in.layout->size() / (extent * inner);
    if (inner == 1 && fold_long_rows(e, extent, outer)) return true;
    auto leaves = block_loops::leaves(e.op, e.compute);
    if (!leaves || (inner == 1 && extent > reduction::leaf_elements)) return false;
    Room room;
    const char* from = all_points(in, e.compute, room);
    const std::int64_t bytes = size_of(e.compute);
    char* to = e.out.data();
    if (inner == 1) {
        leaves(to, from, extent, outer);
        return true;
    }
    block_loops::Loop merge = operation(e.op, e.compute).forms[0];
    for (std::int64_t k = 0; k < outer; ++k, to += inner * bytes)
        fold_rows(from + k * extent * inner * bytes, to, extent, inner * bytes, inner, merge);
    return true;
}

/// Whether it fits the rooms and every dtype that it meets has a loop.
bool fits(const Entry& e) {
    const std::int64_t points =
        e.kind == EntryKind::Reduce ? e.in[0].layout->size() : e.out.layout->size();
    // float16 is computed in float32: what plans make of it (write_group.cpp).
    auto fits_dtype = [&](DType t) {
        return points * size_of(t) <= limits::eager_bytes && !is_half(t);
    };
    if (points == 0 || e.out.layout->size() == 0 || !fits_dtype(e.out.dtype)) return false;
    if (!fits_dtype(e.compute)) return false;
    for (int k = 0; k < e.inputs; ++k) {
        if (is_half(e.in[k].dtype) || (e.in[k].storage && !fits_dtype(e.in[k].dtype))) return false;
    }
    return true;
}

/// Completes what is pending on the memory where that is little: it would be recorded after it
/// otherwise, and all that follows after that. Much waits until the tape is long, and so does what
/// a call makes that later ones may join.
bool settle(Storage* s, bool write) {
    if (s->device || s->flight_writers || (write && s->flight_readers) || s->poison) return false;
    if (s->pending || (write && s->readers)) {
        Tape& tape = Tape::current();
        const bool is_much = (s->pending && s->waits) || s->bytes > limits::settled_bytes ||
                             tape.pending_work() > limits::settled_elements;
        if (is_much && tape.length() < long_tape) return false;
        if (write)
            tape.complete_for_write(s, FlushReason::Write);
        else
            tape.complete(s, FlushReason::Read);
    }
    s->allocate();  // it may have been read before it was ever written
    return true;
}

bool is_runnable(const Entry& e) {
    if (e.kind == EntryKind::Opaque || e.kind == EntryKind::Function || e.kind == EntryKind::Iota ||
        !fits(e))
        return false;
    if (e.out.layout->overlaps_itself() || !settle(e.out.storage, true)) return false;
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage && !settle(e.in[k].storage, false)) return false;
    }
    // Other threads may have run while pending work did.
    if (!is_idle(e.out.storage)) return false;
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage && !is_ready(e.in[k].storage)) return false;
    }
    return true;
}

bool run_kind(const Entry& e) {
    switch (e.kind) {
        case EntryKind::Map: {
            const Operation& o = operation(e.op, e.compute);
            const DType take[] = {e.compute, e.compute};
            if (!o.forms) return false;
            run_loop(e, o.forms, take, o.result);
            return true;
        }
        case EntryKind::Select: {
            auto forms = block_loops::select(e.compute);
            const DType take[] = {DType::Bool, e.compute, e.compute};
            if (!forms) return false;
            run_loop(e, forms, take, e.compute);
            return true;
        }
        case EntryKind::Copy: run_copy(e); return true;
        case EntryKind::Reduce: return run_reduce(e);
        default: return false;
    }
}

}  // namespace

bool run(const Entry& e) {
    if (!is_runnable(e) || !run_kind(e)) return false;
    Storage* out = e.out.storage;
    ++out->version;
    std::int64_t read = 0;
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage) read += e.in[k].layout->size() * size_of(e.in[k].dtype);
    }
    note(out, read, e.out.layout->size() * size_of(e.out.dtype));
    return true;
}

}  // namespace unisono::eager
