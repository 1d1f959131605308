// Joins few arrays by assignments on the tape, which fuse with what made the parts; many by copying
// at once, so that the tape does not grow with their number.
#include "library/gather/join.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "core/promotion.h"
#include "core/threads/parallel.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

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

/// All parts packed, of out's dtype and on the host, as is `out`.
void copy_parts(std::span<const Array> parts, std::size_t axis, const Array& out) {
    struct Piece {
        const char* from;
        std::int64_t bytes;  ///< of one row: the axis and all behind it
        std::int64_t at;     ///< of its first row in out's rows
    };
    std::vector<Piece> pieces;
    std::int64_t rows = 1, row_bytes = size_of(out.dtype());
    for (std::size_t d = 0; d < out.shape().size(); ++d)
        (d < axis ? rows : row_bytes) *= out.shape()[d];
    std::int64_t at = 0;
    for (const Array& p : parts) {
        std::int64_t bytes = rows ? p.size() / rows * size_of(out.dtype()) : 0;
        if (bytes > 0) pieces.push_back({host_data(p, false), bytes, at});
        at += bytes;
    }
    char* to = host_data(out, true);
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

}  // namespace

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
    bool host = true;
    for (const Array& p : parts) {
        dtypes.push_back(p.dtype());
        shape[at] += p.shape()[at];
        host = host && p.view().storage->addressable();
    }
    if (out && out->view().layout->packed() != Layout::contiguous(shape)) {
        fail(ErrorKind::Value, "concatenate: out= has the wrong shape; got " +
                                   shape_text(out->shape()) + ", expected " + shape_text(shape));
    }
    Array made = out ? *out : empty(shape, dtype.value_or(promote(dtypes)), parts[0].device());
    if (made.size() == 0) return made;
    for (Array& p : parts) {
        if (out && p.view().storage == out->view().storage) p = copy(p);
    }
    bool packed_out = made.view().layout->contiguous() && !made.readonly();
    if (parts.size() <= most_statements || !host || !packed_out) {
        assign_parts(parts, at, made);
    } else {
        for (Array& p : parts) p = packed(astype(p, made.dtype(), false));
        copy_parts(parts, at, made);
    }
    return made;
}

Array repeated_positions(const Array& given) {
    Array counts = packed(astype(given, DType::Int64, false));
    const auto* count = reinterpret_cast<const std::int64_t*>(host_data(counts, false));
    std::int64_t n = counts.size();
    std::vector<std::int64_t> ends(static_cast<std::size_t>(n));
    std::int64_t total = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        if (count[k] < 0)
            fail(ErrorKind::Value, "repeat: counts must not be negative; got " +
                                       std::to_string(count[k]) + " at position " +
                                       std::to_string(k));
        total += count[k];
        ends[static_cast<std::size_t>(k)] = total;
    }
    std::int64_t shape[] = {total};
    Array made = empty(shape, DType::Int64, nullptr);
    auto* to = reinterpret_cast<std::int64_t*>(host_data(made, true));
    parallel_for(0, n, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            std::int64_t stop = ends[static_cast<std::size_t>(k)];
            std::fill(to + stop - count[k], to + stop, k);
        }
    });
    return made;
}

}  // namespace unisono::library
