// Resolves an index into views and positions, then records a gather, a scatter or a selection.
//
// How it works. Basic parts are applied first, as views; axes under arrays stay whole. Masks become
// the places of their true elements, except one that covers the whole array: that is selected
// without positions. Index arrays broadcast to one shape, which takes the place of the first of
// them where they stand side by side, else the front. Several of them become one array of offsets.
#include "library/gather/index.h"

#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "library/gather/gather.h"
#include "library/gather/mask.h"
#include "library/lanes.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono::library {

using primitives::Extents;

namespace {

/// An array of indices and the axis of the view that it indexes (-1: none, of a 0-d bool).
struct AxisIndex {
    Array index;
    int axis = -1;        ///< of Resolved::base
    int source_axis = 0;  ///< of the user's array, for messages
    bool checked = false;
    Array given = {};  ///< the index in the user's dtype, where it is not made here
};

struct Resolved {
    Array base;
    std::vector<AxisIndex> indices;
    std::size_t place = 0;                ///< of the broadcast axes among the axes that stay
    std::vector<std::int64_t> broadcast;  ///< shape of the indices
    std::uint64_t indexed = 0;            ///< a bit for each axis of base

    bool is_indexed(std::size_t axis) const { return indexed >> axis & 1; }
    std::size_t rank() const { return base.shape().size(); }
};

/// A parse in progress: what each part does to the axes of the array.
struct Parse {
    std::vector<IndexItem> items;  ///< the basic index that makes the base
    std::vector<AxisIndex> indices;
    std::size_t kept = 0;                           ///< axes of base so far
    std::size_t stay = 0;                           ///< those that no array indexes
    int axis = 0;                                   ///< of the user's array
    enum { Before, Inside, After } state = Before;  ///< of the run of arrays and integers
    std::size_t place = 0;
    bool apart = false;  ///< there is more than one run

    void advanced_part() {
        if (state == Before) place = stay;
        if (state == After) apart = true;
        if (state == Before) state = Inside;
    }
    void basic_part() {
        if (state == Inside) state = After;
    }
    void whole_axis() {
        items.push_back({IndexItem::Kind::Slice});
        ++kept;
        ++axis;
    }
};

Array as_indices(const Array& given) {
    if (!is_integer(given.dtype())) {
        fail(ErrorKind::Index,
             "index: arrays used as indices must be of integer or boolean dtype; got " +
                 std::string(name(given.dtype())) + "; convert with .astype(int)");
    }
    return packed(astype(given, DType::Int64, false));
}

void check_mask(const Array& mask, const Array& a, int axis) {
    for (int k = 0; k < mask.rank(); ++k) {
        auto have = a.shape()[static_cast<std::size_t>(axis + k)];
        auto want = mask.shape()[static_cast<std::size_t>(k)];
        if (have == want || want == 0) continue;  // NumPy lets a mask without elements pass
        fail(ErrorKind::Index, "index: boolean index did not match the indexed array along axis " +
                                   std::to_string(axis + k) + "; size of axis is " +
                                   std::to_string(have) + " but size of the boolean axis is " +
                                   std::to_string(want));
    }
}

int axes_used(const IndexPart& p) {
    if (p.is_array) return is_bool(p.array.dtype()) ? p.array.rank() : 1;
    return p.basic.kind == IndexItem::Kind::Integer || p.basic.kind == IndexItem::Kind::Slice;
}

void array_part(Parse& parse, const Array& a, const Array& given) {
    parse.advanced_part();
    if (!is_bool(given.dtype())) {
        parse.indices.push_back(
            {as_indices(given), static_cast<int>(parse.kept), parse.axis, false, given});
        parse.whole_axis();
        return;
    }
    if (given.rank() == 0) {
        std::int64_t shape[] = {item(given).get<bool>() ? 1 : 0};
        parse.indices.push_back(
            {full(shape, Scalar::of(DType::Int64, 0), a.device()), -1, 0, true});
        return;
    }
    check_mask(given, a, parse.axis);
    for (Array& index : nonzero(given)) {
        parse.indices.push_back({std::move(index), static_cast<int>(parse.kept), parse.axis, true});
        parse.whole_axis();
    }
}

Parse parse_parts(const Array& a, std::span<const IndexPart> parts) {
    int used = 0, ellipses = 0;
    for (const IndexPart& p : parts) {
        used += axes_used(p);
        ellipses += !p.is_array && p.basic.kind == IndexItem::Kind::Ellipsis;
    }
    if (ellipses > 1)
        fail(ErrorKind::Index, "index: an index can only have a single ellipsis ('...')");
    if (used > a.rank()) {
        fail(ErrorKind::Index, "index: too many indices; got " + std::to_string(used) +
                                   " for an array of shape " + shape_text(a.shape()) + " with " +
                                   std::to_string(a.rank()) + " axes");
    }
    Parse parse;
    for (const IndexPart& p : parts) {
        if (p.is_array) {
            array_part(parse, a, p.array);
            continue;
        }
        switch (p.basic.kind) {
            case IndexItem::Kind::Integer:
                // Beside arrays an integer is an array of rank 0: it has a place, but no axis.
                parse.advanced_part();
                parse.items.push_back(p.basic);
                ++parse.axis;
                break;
            case IndexItem::Kind::Ellipsis:
                parse.basic_part();
                for (int k = used; k < a.rank(); ++k, ++parse.stay) parse.whole_axis();
                break;
            case IndexItem::Kind::Slice:
            case IndexItem::Kind::NewAxis:
                parse.basic_part();
                parse.items.push_back(p.basic);
                ++parse.kept;
                ++parse.stay;
                parse.axis += p.basic.kind == IndexItem::Kind::Slice;
                break;
        }
    }
    return parse;
}

[[noreturn]] void out_of_range(const View& index, int axis, std::int64_t extent) {
    // The first one that is wrong, as the program would meet it.
    const auto* at = elements<const std::int64_t>(index);
    while (*at >= -extent && *at < extent) ++at;
    fail(ErrorKind::Index, "index " + std::to_string(*at) + " is out of bounds for axis " +
                               std::to_string(axis) + " with size " + std::to_string(extent));
}

const std::int64_t* index_data(const Array& index) {
    Tape::current().complete(index.view().storage, FlushReason::Check);
    return reinterpret_cast<const std::int64_t*>(host_data(index, false));
}

Array arg2(Op op, const Array& a, std::int64_t b) {
    Arg args[] = {a.arg(), {scalar_operand(Scalar::of(DType::Int64, b)), Weak::Int}};
    return apply(op, args);
}

Array index_on_host(const Array& index) {
    Array near = to_device(index, nullptr);
    index_data(near);
    return near;
}

/// Checks an index array against its axis; returns whether it has negative elements.
bool has_negative(const AxisIndex& x, std::int64_t extent) {
    if (x.index.size() == 0) return false;
    if (!x.index.view().storage->addressable()) {
        const auto lowest = item(reduce(Op::Min, x.index, {}, false)).get<std::int64_t>();
        const auto highest = item(reduce(Op::Max, x.index, {}, false)).get<std::int64_t>();
        if (lowest < -extent || highest >= extent)
            out_of_range(index_on_host(x.index).view(), x.source_axis, extent);
        return lowest < 0;
    }
    IndexCheck check = check_index(index_data(x.index), x.index.size(), extent);
    if (!check.inside) out_of_range(x.index.view(), x.source_axis, extent);
    return check.negative;
}

std::vector<std::int64_t> broadcast_indices(std::span<const AxisIndex> indices) {
    if (indices.size() == 1) {
        const Dims shape = indices[0].index.shape();
        return {shape.begin(), shape.end()};
    }
    std::vector<Dims> shapes;
    for (const AxisIndex& x : indices) shapes.push_back(x.index.shape());
    try {
        return broadcast_shapes("index", shapes);
    } catch (const Error& e) {
        fail(ErrorKind::Index, std::string(e.what()) + "; index arrays must broadcast together");
    }
}

Resolved resolve(const Array& a, std::span<const IndexPart> parts) {
    Parse parse = parse_parts(a, parts);
    Resolved r;
    r.base = index(a, parse.items);
    r.place = parse.apart ? 0 : parse.place;
    for (const AxisIndex& x : parse.indices) {
        if (x.axis >= 0) r.indexed |= std::uint64_t{1} << x.axis;
    }
    r.broadcast = broadcast_indices(parse.indices);
    // Indices that broadcast away are not checked, as NumPy does not.
    if (element_count(r.broadcast) == 0) {
        for (AxisIndex& x : parse.indices) x.checked = true;
    }
    r.indices = std::move(parse.indices);
    return r;
}

/// Positions for a RowMap: one index array as it is, or offsets made of several.
struct Positions {
    Array array;
    std::int64_t extent = 0, stride = 0, limit = 0;
};

Positions positions_of(const Resolved& r) {
    Positions made;
    Dims shape = r.base.shape(), strides = r.base.strides();
    const AxisIndex* only = nullptr;
    int with_axis = 0;
    for (const AxisIndex& x : r.indices) {
        if (x.axis < 0) continue;
        ++with_axis;
        only = &x;
    }
    if (with_axis == 1 && r.indices.size() == 1) {
        auto axis = static_cast<std::size_t>(only->axis);
        bool negative = !only->checked && has_negative(*only, shape[axis]);
        return {only->index, negative ? shape[axis] : 0, strides[axis], shape[axis]};
    }
    Array sum;
    for (const AxisIndex& x : r.indices) {
        Array term = x.index;
        if (x.axis >= 0) {
            auto axis = static_cast<std::size_t>(x.axis);
            if (!x.checked && has_negative(x, shape[axis])) {
                Array below = arg2(Op::Lt, term, 0), wrapped = arg2(Op::Add, term, shape[axis]);
                term = where(below.arg(), wrapped.arg(), term.arg());
            }
            term = arg2(Op::Mul, term, strides[axis]);
        }
        Arg both[] = {sum.arg(), term.arg()};
        sum = sum.is_known() ? term : apply(Op::Add, both);
    }
    return {packed(sum), 0, 1, 0};
}

std::vector<std::int64_t> result_shape(const Resolved& r) {
    std::vector<std::int64_t> shape;
    std::size_t stay = 0;
    auto broadcast = [&] {
        if (stay == r.place) shape.insert(shape.end(), r.broadcast.begin(), r.broadcast.end());
    };
    for (std::size_t k = 0; k < r.rank(); ++k) {
        if (r.is_indexed(k)) continue;
        broadcast();
        shape.push_back(r.base.shape()[k]);
        ++stay;
    }
    broadcast();
    if (shape.size() > max_rank)
        fail(ErrorKind::Index, "index: the result has more than " + std::to_string(max_rank) +
                                   " axes; got " + std::to_string(shape.size()));
    return shape;
}

/// How rows with these strides lie beside the table; `row_strides` follow the result's shape.
RowMap row_map(const Resolved& r, const Positions& p, Dims row_strides) {
    RowMap m;
    m.count = element_count(r.broadcast);
    m.extent = p.extent;
    m.limit = p.limit;
    m.stride = p.stride;
    std::size_t stay = 0, row = 0;
    auto skip = [&] {
        if (stay != r.place) return;
        row += r.broadcast.size();
        // Rows are packed or all the same: the innermost axis with extent tells the step.
        m.row_stride = 0;
        for (std::size_t k = 0; k < r.broadcast.size(); ++k) {
            if (r.broadcast[k] != 1) m.row_stride = row_strides[row - r.broadcast.size() + k];
        }
    };
    for (std::size_t k = 0; k < r.rank(); ++k) {
        if (r.is_indexed(k)) continue;
        skip();
        BlockAxes& axes = stay < r.place ? m.outer : m.inner;
        axes.add(r.base.shape()[k], r.base.strides()[k], row_strides[row++]);
        ++stay;
    }
    skip();
    return m;
}

/// The mask, if it alone covers all axes.
const Array* whole_mask(const Array& a, std::span<const IndexPart> parts) {
    const Array* mask = nullptr;
    for (const IndexPart& p : parts) {
        if (p.is_array) {
            if (mask || !is_bool(p.array.dtype()) || p.array.rank() == 0) return nullptr;
            mask = &p.array;
        } else if (p.basic.kind != IndexItem::Kind::Ellipsis) {
            return nullptr;
        }
    }
    return parts.size() <= 2 && mask && mask->rank() == a.rank() ? mask : nullptr;
}

/// How many elements of a packed mask are set before each block; the last one, all of them. On a
/// mesh, whose ranks count for themselves, those of all only.
Array counts_of(const Array& mask) {
    if (windows_of(mask)) return reshape(materialised(reduce(Op::Add, mask, {}, false)), {1});
    return call(primitives::count_true, {&mask, 1}, {});
}

/// The last element of what is computed.
std::int64_t last_of(const Array& counts) {
    Tape::current().complete(counts.view().storage, FlushReason::Count);
    if (counts.view().storage->addressable())
        return elements<const std::int64_t>(counts.view())[counts.size() - 1];
    IndexItem last{IndexItem::Kind::Integer};
    last.start = -1;
    return item(index(counts, {&last, 1})).get<std::int64_t>();
}

/// A value as an array of the target's dtype; a scalar becomes 0-d, where the target is.
Array value_array(const Arg& value, const Array& target) {
    const DType t = target.dtype();
    if (!value.is_scalar() && value.view.dtype == t) return Array::of(value.view);
    Device* device = value.is_scalar() ? target.device() : value.view.storage->device;
    Array made = empty(value.is_scalar() ? Dims{} : value.view.layout->shape(), t, device);
    assign(made, value);
    return made;
}

/// The value in the shape of what is assigned to; leading axes of extent 1 go, as NumPy drops them.
Array fitted(const Array& value, Dims shape) {
    Array v = value;
    while (v.rank() > static_cast<int>(shape.size()) && v.shape()[0] == 1) {
        IndexItem first{IndexItem::Kind::Integer};
        v = index(v, {&first, 1});
    }
    if (std::ranges::equal(v.shape(), shape)) return v;
    Dims shapes[] = {v.shape(), shape};
    bool fits = v.rank() <= static_cast<int>(shape.size());
    for (std::size_t k = 0; fits && k < v.shape().size(); ++k) {
        std::int64_t have = v.shape()[v.shape().size() - 1 - k], want = shape[shape.size() - 1 - k];
        fits = have == want || have == 1;
    }
    if (!fits) {
        fail(ErrorKind::Value,
             "assignment: shape mismatch: a value of shape " + shape_text(shapes[0]) +
                 " could not be broadcast to the indexing result of shape " + shape_text(shape));
    }
    return broadcast_to(v, shape);
}

/// Whether the axes [from, to) can be walked with one step.
bool one_step(Dims shape, Dims strides, std::size_t from, std::size_t to) {
    bool any = false;
    std::int64_t next = 0;
    for (std::size_t k = to; k-- > from;) {
        if (shape[k] == 1) continue;
        if (any && strides[k] != next) return false;
        any = true;
        next = strides[k] * shape[k];
    }
    return true;
}

BlockCounts counts_in(const View& mask, const View& counts) {
    return {
        mask.layout->size(),
        {elements<const std::int64_t>(counts), static_cast<std::size_t>(counts.layout->size())}};
}

/// `a` has memory of its own.
Array select_items(const Array& a, const Array& given) {
    check_mask(given, a, 0);
    Array mask = packed(given);
    Array counts = counts_of(mask);
    const std::int64_t total = last_of(counts);
    Array in[] = {a.view().layout->contiguous() ? a : copy(a), std::move(mask), std::move(counts)};
    return call(primitives::select, in, {total});
}

/// The view and mask of an assignment whose value is the same everywhere: elementwise work.
bool assign_one(const Array& target, std::span<const IndexPart> parts, const Arg& value) {
    if (!value.is_scalar() && value.view.layout->size() != 1) return false;
    const Array* mask = nullptr;
    std::vector<IndexItem> items;
    std::size_t after = 0;  // axes of the view behind the mask's
    int used = 0;
    for (const IndexPart& p : parts) {
        used += axes_used(p);
        if (!p.is_array) continue;
        if (mask || !is_bool(p.array.dtype()) || p.array.rank() == 0) return false;
        mask = &p.array;
    }
    if (!mask || used > target.rank()) return false;
    int axis = 0;
    for (const IndexPart& p : parts) {
        if (p.is_array) {
            check_mask(*mask, target, axis);
            for (int k = 0; k < mask->rank(); ++k) items.push_back({IndexItem::Kind::Slice});
            after = 0;
        } else {
            items.push_back(p.basic);
            if (p.basic.kind == IndexItem::Kind::Ellipsis) {
                after += static_cast<std::size_t>(target.rank() - used);
                axis += target.rank() - used;
            } else if (p.basic.kind != IndexItem::Kind::Integer) {
                ++after;
            }
        }
        axis += axes_used(p);
    }
    Array view = index(target, items);
    std::size_t rank = static_cast<std::size_t>(view.rank());
    bool ellipsis = std::any_of(parts.begin(), parts.end(), [](const IndexPart& p) {
        return !p.is_array && p.basic.kind == IndexItem::Kind::Ellipsis;
    });
    if (!ellipsis) after += static_cast<std::size_t>(target.rank() - used);
    std::vector<std::int64_t> shape(rank, 1);
    for (std::size_t k = 0; k < mask->shape().size(); ++k)
        shape[rank - after - mask->shape().size() + k] = mask->shape()[k];
    Arg single = value;
    Array kept;
    if (!value.is_scalar() && value.view.layout->rank() > 0) {
        kept = reshape(Array::of(value.view), {});
        single = kept.arg();
    }
    if (mask->size() == 0) {
        value_array(single, target);  // a value that does not fit is still refused
        return true;
    }
    assign_where(view, reshape(*mask, shape).arg(), single);
    return true;
}

/// target[mask] = values, one for each true element.
void fill_items(const Array& target, const Array& given, const Arg& value) {
    check_mask(given, target, 0);
    Array mask = packed(given);
    Array counts = counts_of(mask);
    std::int64_t shape[] = {last_of(counts)};
    constexpr std::int64_t fewest = 4;  // one of so many elements: below, picking them pays
    if (!value.is_scalar() && shape[0] >= mask.size() / fewest &&
        assign_under_mask(target, mask, shape[0], value.view))
        return;
    Array values = packed(fitted(value_array(value, target), shape));
    Array in[] = {std::move(values), std::move(mask), std::move(counts)};
    bool direct = target.view().layout->contiguous();
    Array out = direct ? target : copy(target);
    call_into(primitives::fill, in, out, {});
    if (!direct) assign(target, out.arg());
}

/// Devices take positions of 32 bits as they are; elsewhere they have 64.
bool takes_as_given(const AxisIndex& x) {
    const Device* device = x.given.device();
    return device && !device->info().host_memory && device->info().kind != "cpu" &&
           x.given.dtype() == DType::Int32;
}

/// One index array on one axis: tested while the elements move, so it runs now.
Array take_elements(Resolved r, Dims shape) {
    AxisIndex& x = r.indices[0];
    if (takes_as_given(x)) x.index = packed(x.given);
    primitives::Taking taking;
    taking.map.count = x.index.size();
    taking.map.extent = r.base.shape()[0];
    taking.map.stride = r.base.strides()[0];
    taking.shape = Extents::of(shape);
    taking.source_axis = x.source_axis;
    Array in[] = {r.base, x.index};
    return call(primitives::take_checked, in, taking);
}

}  // namespace

void host::count_true(const NoAttributes&, Views in, Views out) {
    count_mask(elements<const std::uint8_t>(in[0]), in[0].layout->size(),
               {elements<std::int64_t>(out[0]), static_cast<std::size_t>(out[0].layout->size())});
}

void host::nonzero(const primitives::Selecting&, Views in, Views out) {
    places(counts_in(in[0], in[1]), in[0].layout->shape(), elements<const std::uint8_t>(in[0]),
           elements<std::int64_t>(out[0]));
}

void host::select(const primitives::Selecting&, Views in, Views out) {
    library::select(size_of(out[0].dtype), counts_in(in[1], in[2]),
                    elements<const std::uint8_t>(in[1]), in[0].data(), out[0].data());
}

void host::fill(const NoAttributes&, Views in, Views out) {
    library::fill(size_of(out[0].dtype), counts_in(in[1], in[2]),
                  elements<const std::uint8_t>(in[1]), in[0].data(), out[0].data());
}

void host::take(const primitives::Taking& taking, Views in, Views out) {
    gather(size_of(out[0].dtype), taking.map, elements<const std::int64_t>(in[1]), in[0].data(),
           out[0].data());
}

void host::take_checked(const primitives::Taking& taking, Views in, Views out) {
    const bool are_inside =
        gather(size_of(out[0].dtype), taking.map, elements<const std::int64_t>(in[1]), in[0].data(),
               out[0].data(), true);
    if (!are_inside) out_of_range(in[1], taking.source_axis, taking.map.extent);
}

void host::put(const RowMap& map, Views in, Views out) {
    scatter(size_of(out[0].dtype), map, elements<const std::int64_t>(in[1]), out[0].data(),
            in[0].data());
}

namespace {

/// On a mesh: positions by axis, wrapped, in the shape that they broadcast to; and the base with
/// the indexed axes first.
struct Apart {
    std::vector<Array> positions;
    std::vector<int> axes;  ///< of the base, the indexed ones first
};

Apart apart(const Resolved& r) {
    Apart made;
    const std::int64_t count[] = {element_count(r.broadcast)};
    for (const AxisIndex& x : r.indices) {
        if (x.axis < 0) continue;
        Array at = x.index;
        const std::int64_t extent = r.base.shape()[static_cast<std::size_t>(x.axis)];
        if (!x.checked && has_negative(x, extent)) {
            const Array below = arg2(Op::Lt, at, 0), wrapped = arg2(Op::Add, at, extent);
            at = where(below.arg(), wrapped.arg(), at.arg());
        }
        made.positions.push_back(reshape(broadcast_to(at, r.broadcast), {count[0]}));
        made.axes.push_back(x.axis);
    }
    for (int k = 0; k < r.base.rank(); ++k) {
        if (!r.is_indexed(static_cast<std::size_t>(k))) made.axes.push_back(k);
    }
    return made;
}

/// The broadcast axes, which come first, moved to their place.
std::vector<int> axes_in_place(const Resolved& r, std::size_t rank) {
    const std::size_t many = r.broadcast.size();
    std::vector<int> axes;
    for (std::size_t k = many; k < many + r.place; ++k) axes.push_back(static_cast<int>(k));
    for (std::size_t k = 0; k < many; ++k) axes.push_back(static_cast<int>(k));
    for (std::size_t k = many + r.place; k < rank; ++k) axes.push_back(static_cast<int>(k));
    return axes;
}

Array take_apart(Windows& windows, const Resolved& r) {
    const Apart at = apart(r);
    std::vector<std::int64_t> shape(r.broadcast);
    if (at.positions.empty()) {
        // 0-d bools: an axis of extent 1 or 0.
        shape.insert(shape.end(), r.base.shape().begin(), r.base.shape().end());
        const Array rows = element_count(r.broadcast) == 0
                               ? empty(shape, r.base.dtype(), r.base.device())
                               : copy(reshape(r.base, shape));
        return transpose(rows, axes_in_place(r, shape.size()));
    }
    const Array made = windows.take(transpose(r.base, at.axes), at.positions);
    shape.insert(shape.end(), made.shape().begin() + 1, made.shape().end());
    const Array rows = reshape(made, shape);
    return transpose(rows, axes_in_place(r, shape.size()));
}

void put_apart(Windows& windows, const Resolved& r, const Array& value) {
    const Apart at = apart(r);
    const std::vector<int> axes = axes_in_place(r, static_cast<std::size_t>(value.rank()));
    std::vector<int> back(axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k)
        back[static_cast<std::size_t>(axes[k])] = static_cast<int>(k);
    const Array first = transpose(value, back);
    std::vector<std::int64_t> shape{element_count(r.broadcast)};
    for (std::size_t k = r.broadcast.size(); k < first.shape().size(); ++k)
        shape.push_back(first.shape()[k]);
    if (at.positions.empty()) {
        if (shape[0] > 0) assign(r.base, reshape(first, {shape.begin() + 1, shape.end()}).arg());
        return;
    }
    windows.put(transpose(r.base, at.axes), at.positions, reshape(first, shape));
}

/// Of an array that is spread, or that spread indices name elements of; else null.
Windows* windows_of_items(const Array& a, const Resolved& r) {
    Windows* windows = windows_of(a);
    for (const AxisIndex& x : r.indices) {
        if (!windows && x.axis >= 0) windows = windows_of(x.index);
    }
    return windows;
}

}  // namespace

Array get_items(const Array& given, std::span<const IndexPart> parts) {
    Array a = materialised(given);
    if (const Array* mask = whole_mask(a, parts)) return select_items(a, *mask);
    Resolved r = resolve(a, parts);
    std::vector<std::int64_t> shape = result_shape(r);
    if (Windows* windows = windows_of_items(a, r)) return take_apart(*windows, r);
    if (r.indices.size() == 1 && r.base.rank() == 1 && !r.indices[0].checked)
        return take_elements(std::move(r), shape);
    Positions p = positions_of(r);
    Array in[] = {r.base, p.array};
    RowMap m = row_map(r, p, Layout::contiguous(shape)->strides());
    return call(primitives::take, in, {m, Extents::of(shape)});
}

void set_items(const Array& target, std::span<const IndexPart> parts, const Arg& value) {
    if (target.readonly()) {
        fail(ErrorKind::Value,
             "assignment: the destination is read-only; make a copy with .copy() and write into "
             "that");
    }
    bool sole_mask = parts.size() == 1 && is_bool(parts[0].array.dtype()) &&
                     parts[0].array.rank() == target.rank();
    if (sole_mask && !value.is_scalar() && value.view.layout->rank() > 1) {
        fail(ErrorKind::Type,
             "assignment: under a mask the value has at most one axis; got shape " +
                 shape_text(value.view.layout->shape()) + "; pass value.ravel()");
    }
    // Both store what the mask leaves out as it was: that may lie where others are to change.
    if (!target.view().layout->overlaps_itself()) {
        if (assign_one(target, parts, value)) return;
        if (const Array* mask = whole_mask(target, parts)) return fill_items(target, *mask, value);
    }
    Resolved r = resolve(target, parts);
    std::vector<std::int64_t> shape = result_shape(r);
    if (Windows* windows = windows_of(target))
        return put_apart(*windows, r, fitted(value_array(value, target), shape));
    Positions p = positions_of(r);
    Array rows = fitted(value_array(value, target), shape);
    Storage* s = target.view().storage;
    // Copied here where it may lie in what is written: the map of rows follows its strides.
    const bool meets =
        rows.view().storage == s || (rows.view().storage->shared_outside() && s->shared_outside());
    if (meets || !one_step(shape, rows.strides(), r.place, r.place + r.broadcast.size()))
        rows = copy(rows);
    const RowMap m = row_map(r, p, rows.strides());
    Array in[] = {std::move(rows), std::move(p.array)};
    call_into(primitives::put, in, r.base, m);
}

std::vector<Array> nonzero(const Array& a) {
    Array mask = packed(astype(a, DType::Bool, false));
    Array counts = counts_of(mask);
    const std::int64_t total = last_of(counts);
    Array in[] = {std::move(mask), std::move(counts)};
    Array all = call(primitives::nonzero, in, {total});
    std::vector<Array> made;
    for (int k = 0; k < a.rank(); ++k) {
        IndexItem row{IndexItem::Kind::Integer};
        row.start = k;
        made.push_back(index(all, {&row, 1}));
    }
    return made;
}

std::int64_t count_nonzero(const Array& a) {
    return last_of(counts_of(packed(astype(a, DType::Bool, false))));
}

}  // namespace unisono::library
