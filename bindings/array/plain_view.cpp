// Reads slices of plain integers, and keeps the layouts of vectors at hand that it made last.
#include "array/plain_view.h"

#include <algorithm>

#include "array/elements.h"

namespace unisono::python {

namespace {

/// The part of an axis that a slice selects.
struct Range {
    std::int64_t start, count, step;
};

/// A bound from 0 to the extent; false if it is not a plain integer.
bool bound(PyObject* o, std::int64_t extent, std::int64_t fallback, std::int64_t& at) {
    if (o == Py_None) {
        at = fallback;
        return true;
    }
    std::int64_t value;
    if (!plain_integer(o, value)) return false;
    if (value < 0) value = std::max<std::int64_t>(value + extent, 0);
    at = std::min(value, extent);
    return true;
}

bool whole(PyObject* o, std::int64_t& value, bool& given) {
    given = o != Py_None;
    return !given || plain_integer(o, value);
}

bool stepped_range(PySliceObject* s, std::int64_t extent, Range& range) {
    IndexItem item{IndexItem::Kind::Slice};
    bool has_step;
    if (!whole(s->start, item.start, item.has_start) || !whole(s->stop, item.stop, item.has_stop) ||
        !whole(s->step, item.step, has_step) || item.step == 0)
        return false;
    const SliceRange made = slice_range(item, extent);
    range = {made.start, made.count, made.step};
    return true;
}

bool range_of(PyObject* o, std::int64_t extent, Range& range) {
    if (!PySlice_Check(o)) return false;
    auto* s = reinterpret_cast<PySliceObject*>(o);
    if (s->step != Py_None) return stepped_range(s, extent, range);
    std::int64_t stop;
    if (!bound(s->start, extent, 0, range.start) || !bound(s->stop, extent, extent, stop))
        return false;
    range.count = std::max<std::int64_t>(stop - range.start, 0);
    range.step = 1;
    return true;
}

/// A vector's layout. Those made last are looked up by place: loops take the same slices again.
/// Virtual ranks have layouts of their own.
const Layout* vector_layout(std::int64_t extent, std::int64_t stride) {
    struct Row {
        std::int64_t extent, stride;
        const Layout* layout;
        std::uint32_t generation;
    };
    if (owners_exist && owner_here()) [[unlikely]]
        return Layout::make({&extent, 1}, {&stride, 1});
    static Row rows[512];
    Row& row = rows[static_cast<std::uint64_t>(extent + stride * 37) % std::size(rows)];
    const std::uint32_t now = Layout::generation();  // layouts made before the last may be gone
    if (row.extent != extent || row.stride != stride || row.generation != now || !row.layout)
        row = {extent, stride, Layout::make({&extent, 1}, {&stride, 1}), now};
    return row.layout;
}

}  // namespace

bool plain_view(PyObject* key, const Array& a, View& view) {
    PyObject* const* parts = &key;
    Py_ssize_t n = 1;
    if (PyTuple_CheckExact(key)) {
        parts = reinterpret_cast<PyTupleObject*>(key)->ob_item;
        n = PyTuple_GET_SIZE(key);
    }
    view = a.view();
    if (!view.storage || n + view.layout->rank() > max_rank) return false;
    const std::int64_t* extents = view.layout->shape().data();
    const std::int64_t* steps = view.layout->strides().data();
    const std::int64_t* end = extents + view.layout->rank();
    std::int64_t shape[max_rank], strides[max_rank];
    std::size_t rank = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
        std::int64_t i;
        Range range;
        if (parts[k] == Py_None) {
            shape[rank] = 1;
            strides[rank++] = 0;
            continue;
        }
        if (extents == end) return false;
        const std::int64_t extent = *extents++, step = *steps++;
        if (plain_integer(parts[k], i)) {
            if (i < 0) i += extent;
            if (i < 0 || i >= extent) return false;
            view.offset += i * step;
        } else if (range_of(parts[k], extent, range)) {
            if (range.count > 0) view.offset += range.start * step;
            shape[rank] = range.count;
            strides[rank++] = step * range.step;
        } else {
            return false;
        }
    }
    while (extents != end) {
        shape[rank] = *extents++;
        strides[rank++] = *steps++;
    }
    if (rank == 0) return false;
    view.layout = rank == 1 ? vector_layout(shape[0], strides[0])
                            : Layout::make({shape, rank}, {strides, rank});
    return true;
}

}  // namespace unisono::python
