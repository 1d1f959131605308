// Products of matrices by the vendor's library: how views lie as its matrices of columns.
#include <optional>

#include "backends/device_libraries.h"
#include "library/on_device/vendor/vendor.h"

namespace unisono::library {

namespace {

/// Axes as one, whose points lie `step` apart.
struct Stack1 {
    std::int64_t count = 1, step = 0;
};
std::optional<Stack1> as_one_axis(Dims shape, Dims strides) {
    Stack1 made;
    for (std::size_t k = shape.size(); k-- > 0;) {
        if (shape[k] == 1) continue;
        if (made.count == 1)
            made.step = strides[k];
        else if (strides[k] != made.step * made.count)
            return {};
        made.count *= shape[k];
    }
    if (made.step < 0) return {};
    return made;
}

/// The transpose of each matrix of the view, as the library takes it: rows that lie side by side
/// are columns there. None where the elements have to be packed.
std::optional<LibraryMatrix> transposes_of(const View& v) {
    const Dims shape = v.layout->shape(), strides = v.layout->strides();
    const std::size_t last = shape.size() - 1;
    const std::int64_t rows = shape[last - 1], columns = shape[last];
    const std::int64_t row = strides[last - 1], column = strides[last];
    const auto stack = as_one_axis(shape.first(last - 1), strides.first(last - 1));
    if (!stack) return {};
    LibraryMatrix m{v.storage->memory, v.offset, 0, stack->step, false};
    if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
        m.leading = rows == 1 ? columns : row;
        return m;
    }
    if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
        m.leading = columns == 1 ? rows : column;
        m.is_transposed = true;
        return m;
    }
    return {};
}

LibraryMatrix packed_transposes(const DeviceVector& v, std::int64_t rows, std::int64_t columns) {
    return {v.memory, v.offset, columns, rows * columns, false};
}

LibraryMatrix operand(DeviceWork& work, const View& v) {
    if (const auto m = transposes_of(v)) return *m;
    const Dims shape = v.layout->shape();
    return packed_transposes(work.packed(v), shape[shape.size() - 2], shape.back());
}

LibraryMatrix turned(LibraryMatrix m) {
    m.is_transposed = !m.is_transposed;
    return m;
}

}  // namespace

bool vendor::multiply(DeviceWork& work, const View& a, const View& b, const View& out) {
    DeviceLibraries* libraries = libraries_of(work.device());
    if (!libraries || part_dtype(a.dtype) == DType::Bool || info(part_dtype(a.dtype)).kind != 'f')
        return false;
    const Dims first = a.layout->shape(), second = b.layout->shape();
    const std::int64_t m = first[first.size() - 2], k = first.back(), n = second.back();
    const std::int64_t count = out.layout->size() / (m * n);
    // A result that lacks the axis of rows or columns is a vector; one on elements that lie apart
    // gets copies.
    const bool has_both =
        out.layout->rank() >= 2 && out.layout->rank() == static_cast<int>(first.size());
    const auto direct = has_both && !out.layout->contiguous() ? transposes_of(out) : std::nullopt;
    const bool is_direct = out.layout->contiguous() || (direct && (count == 1 || direct->step > 0));
    DeviceVector made;
    if (!is_direct) made = work.scratch(out.dtype, out.layout->size());
    const LibraryMatrix c = direct && is_direct ? *direct
                            : is_direct         ? packed_transposes(vector_of(out), m, n)
                                                : packed_transposes(made, m, n);
    const LibraryMatrix x = operand(work, a), y = operand(work, b);
    LibraryMatrix to = c;
    to.is_transposed = false;
    // c^T = b^T @ a^T of columns; where the result has columns itself, c = a @ b.
    const bool done =
        c.is_transposed ? libraries->multiply({out.dtype, m, n, k, count, turned(x), turned(y), to})
                        : libraries->multiply({out.dtype, n, m, k, count, y, x, to});
    if (!done || is_direct) return done;
    const DeviceVector at = work.offsets(out.layout->shape(), out.layout->strides());
    work.run("copy_to_offsets", {made, at, storage_of(out), out.offset}, {out.layout->size()});
    return true;
}

}  // namespace unisono::library
