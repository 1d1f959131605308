// The operations that users call: dtype and shape rules of NumPy 2, then an entry on the tape.
//
// All throw Error where NumPy raises: Value for shapes, Type for dtypes, Device for mixed devices.
// Nothing runs here, except that operations on known scalars are computed at once.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/ops.h"
#include "tape/array.h"

namespace unisono {

/// op(a) or op(a, b), elementwise and broadcast. With `out`: NumPy's in-place rules (shape of out,
/// same-kind cast).
Array apply(Op op, std::span<const Arg> args, const Array* out = nullptr);
/// The same for known scalars of one dtype (or one and a Python number), computed without the tape:
/// false where there is more to it.
bool apply_known(Op op, std::span<const Arg> args, Scalar& made);
/// f of the elements, broadcast; scalars are cast to the dtypes of f's parameters.
class ElementFunction;
Array apply(const std::shared_ptr<const ElementFunction>& f, std::span<const Arg> args);
Array where(const Arg& condition, const Arg& a, const Arg& b);

/// target[...] = value: broadcast to target's shape, converted to its dtype; overlapping source and
/// target behave as if the source were copied first.
void assign(const Array& target, const Arg& value);
/// target[mask] = value elementwise: mask and value broadcast to target's shape.
void assign_where(const Array& target, const Arg& mask, const Arg& value);

/// target[mask] = value, where value is being computed, element by element, from `total` elements
/// that the same mask picks: computes it on all elements. Returns false, having done nothing, where
/// that is not so. The mask is packed and has target's shape; `total` of its elements are set.
bool assign_under_mask(const Array& target, const Array& mask, std::int64_t total,
                       const View& value);

/// Combines by op over the axes (all axes if not given), innermost first. Sums of bools and
/// integers are int64.
Array reduce(Op op, const Array& a, std::optional<std::vector<int>> axes, bool keepdims,
             std::optional<DType> dtype = {});

// Dtype rules alone, for expressions that are recorded later. Operands count by dtype and `weak`.
DType common_dtype(std::span<const Arg> args);
/// Of op's result; throws as `apply` does.
DType elementwise_dtype(Op op, std::span<const Arg> args);
/// In which a reduction computes.
DType reduced_dtype(Op op, DType t, std::optional<DType> given);
/// Throws as in-place operations do where `result` does not go into `out`.
void check_in_place_cast(std::string_view what, DType result, DType out);

// Creation. A null device is the host.
Array empty(Dims shape, DType dtype, Device* device);
Array full(Dims shape, Scalar value, Device* device);
/// An array over host memory of somebody else; `release(owner)`, if there is one, gives it back.
Array borrow(void* data, const Layout* layout, DType dtype, bool readonly, void* owner,
             void (*release)(void*));
/// 0, 1, 2... as int64.
Array iota(std::int64_t n, Device* device);
Array copy(const Array& a);
Array astype(const Array& a, DType dtype, bool copy_if_same);
/// The array with memory: a value known on the host gets some.
Array materialised(const Array& a);
/// A copy on another device; the array itself where it is there already.
Array to_device(const Array& a, Device* device);

// Views: no entry, no memory.
struct IndexItem {
    enum class Kind : std::uint8_t { Integer, Slice, NewAxis, Ellipsis } kind;
    std::int64_t start = 0, stop = 0, step = 1;  ///< Integer: start. Slice: raw bounds, see has_*
    bool has_start = false, has_stop = false;
};
/// Python's slice.indices, and how many there are.
struct SliceRange {
    std::int64_t start, count, step;
};
SliceRange slice_range(const IndexItem& slice, std::int64_t extent);
/// NumPy's basic indexing. An all-integer index of every axis gives a 0-d view; callers turn it
/// into a value.
Array index(const Array& a, std::span<const IndexItem> items);
Array transpose(const Array& a, std::span<const int> axes);
Array transpose(const Array& a);  ///< all axes the other way round
Array broadcast_to(const Array& a, Dims shape);
/// A view where strides allow it, else a copy. One extent may be -1.
Array reshape(const Array& a, std::vector<std::int64_t> shape);

/// The value of a 0-d array or of one with a single element; waits for it.
Scalar item(const Array& a);
/// The element at a full integer index (negative counts from the end); waits for it.
Array element(const Array& a, std::span<const std::int64_t> index);
/// The same of a complex array, or of any other as a real number.
std::complex<double> complex_item(const Array& a);
/// The real or imaginary parts of a complex array: a view of the same memory.
Array part_view(const Array& a, bool imaginary);
/// Writes a scalar of the array's dtype at such an index where that takes neither tape nor
/// conversion: false where it does.
bool write_element(const Array& a, std::span<const std::int64_t> index, const Arg& value);
/// A value (immutable, a snapshot) of a 0-d view: read at once where the host can, else recorded.
Array to_value(const Array& a);
/// Writes one scalar through a 0-d view: at once on idle host memory, else recorded.
void set_item(const Array& target, const Arg& value);

/// Contents valid and in host memory, for readers (or writers) outside the engine.
char* host_data(const Array& a, bool for_write);

}  // namespace unisono
