// The shortcut of the primitive `take`: one array of integers on the first axis, few elements.
#include <algorithm>

#include "core/limits.h"
#include "library/gather/gather.h"
#include "library/gather/index.h"
#include "tape/eager/eager.h"

namespace unisono::library {

namespace {

/// Whether each index along the first axis names packed elements, which move as one block.
bool has_packed_rows(const View& v) {
    const Dims shape = v.layout->shape(), strides = v.layout->strides();
    std::int64_t step = 1;
    for (std::size_t k = shape.size(); k-- > 1;) {
        if (strides[k] != step) return false;
        step *= shape[k];
    }
    return true;
}

/// Packed integers as int64, in `room` where they are others.
const std::int64_t* as_int64(const View& index, std::int64_t count, std::int64_t* room) {
    if (index.dtype == DType::Int64) return reinterpret_cast<const std::int64_t*>(index.data());
    dispatch(index.dtype, [&]<class T>() {
        if constexpr (std::is_integral_v<T>) {
            const T* from = reinterpret_cast<const T*>(index.data());
            for (std::int64_t k = 0; k < count; ++k) room[k] = static_cast<std::int64_t>(from[k]);
        }
    });
    return room;
}

}  // namespace

bool take_few(const Array& a, const Array& given, Array& made) {
    const View &from = a.view(), &index = given.view();
    if (a.rank() == 0 || !is_integer(index.dtype) || index.dtype == DType::UInt64) return false;
    if (given.rank() == 0 || !index.layout->contiguous() || !has_packed_rows(from)) return false;
    RowMap map;
    map.count = index.layout->size();
    map.extent = a.shape()[0];
    if (map.count == 0 || a.size() == 0) return false;
    const std::int64_t block = a.size() / map.extent;
    if (map.count * block > limits::eager_points || !eager::is_ready(from.storage) ||
        !eager::is_ready(index.storage))
        return false;
    std::int64_t widened[limits::eager_points];
    const std::int64_t* places = as_int64(index, map.count, widened);
    const bool are_rows = a.rank() > 1;
    if (are_rows && !check_index(places, map.count, map.extent).inside) return false;
    const Layout* layout = index.layout->packed();
    if (are_rows) {
        std::vector<std::int64_t> shape(given.shape().begin(), given.shape().end());
        shape.insert(shape.end(), a.shape().begin() + 1, a.shape().end());
        layout = Layout::contiguous(shape);
        map.row_stride = block;
        map.inner.add(block, 1, 1);
    }
    map.stride = a.strides()[0];
    const std::int64_t item = size_of(from.dtype), bytes = map.count * block * item;
    Storage* out = Storage::create(nullptr, bytes);
    made = Array(out, layout, from.dtype, false);
    out->allocate();
    if (!gather(item, map, places, from.data(), out->data(), !are_rows)) return false;
    out->version = 1;
    eager::note(out, bytes, bytes);
    return true;
}

}  // namespace unisono::library
