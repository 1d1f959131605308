// Joins few arrays by assignments on the tape, which fuse with what made the parts; many by one
// call, so that the tape does not grow with their number.
#include "library/gather/join.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "core/promotion.h"
#include "core/threads/parallel.h"
#include "library/lanes.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono::library {

namespace {

constexpr std::size_t most_statements = 16;

void check_shapes(std::span<const Array> parts, std::size_t axis) {
    const Array& first = parts[0];
    for (std::size_t k = 1; k < parts.size(); ++k) {
        const Array& p = parts[k];
        if (p.rank() != first.rank()) {
            fail(ErrorKind::Value,
                 "concatenate: all arrays must have the same number of axes; array 0 has " +
                     std::to_string(first.rank()) + ", array " + std::to_string(k) + " has " +
                     std::to_string(p.rank()));
        }
        for (std::size_t d = 0; d < p.shape().size(); ++d) {
            if (d == axis || p.shape()[d] == first.shape()[d]) continue;
            fail(ErrorKind::Value, "concatenate: all extents except along axis " +
                                       std::to_string(axis) + " must be equal; got shapes " +
                                       shape_text(first.shape()) + " and " + shape_text(p.shape()));
        }
    }
}

void assign_parts(std::span<const Array> parts, std::size_t axis, const Array& out) {
    std::vector<IndexItem> items(axis + 1, {IndexItem::Kind::Slice});
    IndexItem& range = items[axis];
    range.has_start = range.has_stop = true;
    for (const Array& p : parts) {
        range.start = range.stop;
        range.stop += p.shape()[axis];
        if (p.size() > 0) assign(index(out, items), p.arg());
    }
}

}  // namespace

void host::join(const primitives::Joining& joining, Views in, Views out) {
    struct Piece {
        const char* from;
        std::int64_t bytes;  ///< of one row: the axis and all behind it
        std::int64_t at;     ///< of its first row in out's rows
    };
    std::vector<Piece> pieces;
    pieces.reserve(in.size());
    const std::int64_t item = size_of(out[0].dtype);
    std::int64_t rows = 1, row_bytes = item;
    const Dims shape = out[0].layout->shape();
    for (std::size_t d = 0; d < shape.size(); ++d)
        (d < static_cast<std::size_t>(joining.along) ? rows : row_bytes) *= shape[d];
    std::int64_t at = 0;
    for (const View& p : in) {
        const std::int64_t bytes = rows ? p.layout->size() / rows * item : 0;
        if (bytes > 0) pieces.push_back({p.data(), bytes, at});
        at += bytes;
    }
    char* to = out[0].data();
    std::int64_t mean =
        std::max<std::int64_t>(1, rows * row_bytes / (std::int64_t(pieces.size()) + 1));
    parallel_for(0, static_cast<std::int64_t>(pieces.size()), limits::thread_bytes / mean + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t k = begin; k < end; ++k) {
                         const Piece& p = pieces[static_cast<std::size_t>(k)];
                         for (std::int64_t r = 0; r < rows; ++r) {
                             std::memcpy(to + r * row_bytes + p.at, p.from + r * p.bytes,
                                         static_cast<std::size_t>(p.bytes));
                         }
                     }
                 });
}

void host::join_into(const primitives::Joining& joining, Views in, Views out) {
    join(joining, in, out);
}

Array concatenate(std::span<const Array> given, int axis, std::optional<DType> dtype,
                  const Array* out) {
    if (given.empty()) fail(ErrorKind::Value, "concatenate: needs at least one array");
    std::vector<Array> parts;
    for (const Array& p : given) parts.push_back(materialised(p));
    int rank = parts[0].rank();
    if (rank == 0)
        fail(ErrorKind::Value,
             "concatenate: arrays of rank 0 cannot be joined; give them an axis, or use stack");
    UNISONO_ASSERT(axis >= -rank && axis < rank);
    auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    check_shapes(parts, at);
    std::vector<DType> dtypes;
    std::vector<std::int64_t> shape(parts[0].shape().begin(), parts[0].shape().end());
    shape[at] = 0;
    for (const Array& p : parts) {
        dtypes.push_back(p.dtype());
        shape[at] += p.shape()[at];
    }
    if (out && out->view().layout->packed() != Layout::contiguous(shape)) {
        fail(ErrorKind::Value, "concatenate: out= has the wrong shape; got " +
                                   shape_text(out->shape()) + ", expected " + shape_text(shape));
    }
    const DType t = out ? out->dtype() : dtype.value_or(promote(dtypes));
    const bool is_packed = !out || (out->view().layout->contiguous() && !out->readonly());
    // Parts of arrays on a mesh are assigned, whatever they lie beside.
    Device* place = parts[0].device();
    for (const Array& p : parts) {
        if (windows_of(p)) place = p.device();
    }
    const bool is_call = parts.size() > most_statements && is_packed && !windows_of(place);
    if (is_call && element_count(shape) > 0) {
        for (Array& p : parts) p = packed(astype(p, t, false));
        if (!out) return call(primitives::join, parts, {static_cast<int>(at)});
        call_into(primitives::join_into, parts, *out, {static_cast<int>(at)});
        return *out;
    }
    Array made = out ? *out : empty(shape, t, place);
    if (made.size() == 0) return made;
    for (Array& p : parts) {
        if (out && p.view().storage == out->view().storage) p = copy(p);
    }
    assign_parts(parts, at, made);
    return made;
}

void host::count_repeats(const NoAttributes&, Views in, Views out) {
    const auto* count = elements<const std::int64_t>(in[0]);
    auto* ends = elements<std::int64_t>(out[0]);
    const std::int64_t n = in[0].layout->size();
    std::int64_t total = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        if (count[k] < 0)
            fail(ErrorKind::Value, "repeat: counts must not be negative; got " +
                                       std::to_string(count[k]) + " at position " +
                                       std::to_string(k));
        total += count[k];
        ends[k] = total;
    }
}

void host::repeat(const primitives::Selecting&, Views in, Views out) {
    const auto* ends = elements<const std::int64_t>(in[0]);
    auto* to = elements<std::int64_t>(out[0]);
    parallel_for(0, in[0].layout->size(), 1 << 13, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t from = begin > 0 ? ends[begin - 1] : 0;
        for (std::int64_t k = begin; k < end; ++k) {
            std::fill(to + from, to + ends[k], k);
            from = ends[k];
        }
    });
}

Array repeated_positions(const Array& given) {
    const Array counts = packed(astype(given, DType::Int64, false));
    const std::int64_t none[] = {0};
    if (counts.size() == 0) return empty(none, DType::Int64, nullptr);
    const Array ends = call(primitives::count_repeats, {&counts, 1}, {});
    return call(primitives::repeat, {&ends, 1},
                {elements<const std::int64_t>(ends.view())[ends.size() - 1]});
}

}  // namespace unisono::library
