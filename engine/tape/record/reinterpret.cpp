// Views of the same memory as another dtype: the parts of complex arrays, and any other one.
#include "tape/record/reinterpret.h"

#include "core/error.h"
#include "tape/record/record.h"

namespace unisono {

namespace {

std::string sizes_text(DType from, DType to) {
    return "; got " + std::string(name(from)) + " of " + std::to_string(size_of(from)) +
           " bytes, asked for " + std::string(name(to)) + " of " + std::to_string(size_of(to));
}

/// A count of elements of `from` bytes, counted in elements of `to` bytes.
std::int64_t recounted(std::int64_t n, std::int64_t from, std::int64_t to) {
    if (n * from % to != 0) {
        fail(ErrorKind::Value,
             "view: elements of " + std::to_string(to) + " bytes would not be aligned; got " +
                 std::to_string(n * from) +
                 " bytes to the first element or from one to the next: copy the array first");
    }
    return n * from / to;
}

}  // namespace

Array part_view(const Array& a, bool imaginary) {
    UNISONO_ASSERT(is_complex(a.dtype()));
    const View& v = a.view();
    std::vector<std::int64_t> strides(v.layout->strides().begin(), v.layout->strides().end());
    for (auto& stride : strides) stride *= 2;
    Array made = Array::of({v.storage, Layout::make(v.layout->shape(), strides),
                            2 * v.offset + (imaginary ? 1 : 0), part_dtype(v.dtype)},
                           a.is_value());
    if (a.readonly()) made.set_readonly();
    return made;
}

Array view_as(const Array& a, DType dtype) {
    const View& v = a.view();
    std::int64_t from = size_of(v.dtype), to = size_of(dtype);
    std::vector<std::int64_t> shape(v.layout->shape().begin(), v.layout->shape().end());
    std::vector<std::int64_t> strides(v.layout->strides().begin(), v.layout->strides().end());
    std::int64_t offset = v.offset;
    if (from != to) {
        if (shape.empty())
            fail(ErrorKind::Value,
                 "view: a 0-d array can only be seen as a dtype of the same size" +
                     sizes_text(v.dtype, dtype));
        if (shape.back() != 1 && v.layout->size() != 0 && strides.back() != 1)
            fail(ErrorKind::Value,
                 "view: to change to a dtype of a different size, the last axis must be "
                 "contiguous" +
                     sizes_text(v.dtype, dtype) + ": copy the array first");
        if (shape.back() * from % to != 0)
            fail(ErrorKind::Value,
                 "view: when changing to a larger dtype, its size must be a divisor of the total "
                 "size in bytes of the last axis" +
                     sizes_text(v.dtype, dtype) + " and an axis of " +
                     std::to_string(shape.back()) + " elements");
        offset = recounted(offset, from, to);
        for (std::size_t k = 0; k + 1 < strides.size(); ++k) {
            strides[k] = shape[k] == 1 ? 0 : recounted(strides[k], from, to);
        }
        shape.back() = shape.back() * from / to;
        strides.back() = 1;
    }
    // Memory of others may lie anywhere; our own is aligned for every dtype.
    if (v.storage->addressable() && v.storage->borrowed &&
        v.storage->memory.handle % static_cast<std::uintptr_t>(size_of(part_dtype(dtype))) != 0)
        fail(ErrorKind::Value, "view: the memory is not aligned for " + std::string(name(dtype)) +
                                   "; copy the array first");
    Array made = Array::of({v.storage, Layout::make(shape, strides), offset, dtype}, a.is_value());
    if (a.readonly()) made.set_readonly();
    return made;
}

}  // namespace unisono
