// Radix sorts on devices, and what is made of them: orders, selections, places of values.
#include "library/on_device/sorting.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "library/lanes.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

constexpr std::int64_t short_lane = 32;  ///< elements, which one work-item sorts
constexpr int digit_bits = 8;
constexpr std::int64_t digits = 1 << digit_bits;

Scalar bits(DType t, std::uint64_t value) { return Scalar::of(t, value); }
int width_of(DType t) { return static_cast<int>(size_of(t)) * 8; }
std::uint64_t all_bits(DType t) { return ~std::uint64_t{0} >> (64 - width_of(t)); }
std::uint64_t sign_of(DType t) { return std::uint64_t{1} << (width_of(t) - 1); }
std::uint64_t infinity_of(DType float_type) {
    switch (size_of(float_type)) {
        case 2: return 0x7C00u;
        case 4: return 0x7F800000u;
        default: return 0x7FF0000000000000u;
    }
}

/// How the lanes are cut for sorts.
struct Cut {
    std::int64_t n, lanes, pieces, size;
    std::int64_t items() const { return lanes * pieces; }
};
Cut cut_of(const DeviceWork& work, std::int64_t all, std::int64_t n) {
    const std::int64_t lanes = all / n;
    const std::int64_t wanted = std::min(n, work.pieces(all, 1 << 13) / lanes + 1);
    const std::int64_t size = (n + wanted - 1) / wanted;
    return {n, lanes, (n + size - 1) / size, size};
}

/// Where the elements of each piece go by one digit of their keys.
struct Places {
    DeviceVector counts, starts;
};
void find_places(DeviceWork& work, const Places& places, const DeviceVector& keys, const Cut& cut,
                 std::int64_t shift) {
    work.run_pieces("radix_counts", {keys, places.counts, shift, cut.n, cut.pieces, cut.size},
                    cut.items());
    work.run("radix_prefixes", {places.counts, places.starts, cut.pieces}, {cut.lanes, digits});
    work.run("radix_starts", {places.starts}, {cut.lanes});
}
Places places_for(DeviceWork& work, const Cut& cut) {
    return {work.scratch(DType::Int32, cut.items() * digits),
            work.scratch(DType::Int32, cut.lanes * digits)};
}

void require_short(std::int64_t n) {
    if (n <= std::numeric_limits<std::int32_t>::max()) return;
    fail(ErrorKind::Unsupported, "sort: on devices a lane has at most 2^31 - 1 elements; got " +
                                     std::to_string(n) +
                                     "; sort parts of it, or move it with .to_device(\"cpu\")");
}

}  // namespace

void sort_pairs(DeviceWork& work, DeviceVector& keys, DeviceVector& order, std::int64_t n,
                int bits) {
    if (n <= short_lane) return work.run("sort_short_lanes", {keys, order, n}, {keys.size / n});
    const Cut cut = cut_of(work, keys.size, n);
    const Places places = places_for(work, cut);
    DeviceVector other = work.scratch(keys.dtype, keys.size),
                 other_order = work.scratch(order.dtype, order.size);
    for (std::int64_t shift = 0; shift < bits; shift += digit_bits) {
        find_places(work, places, keys, cut, shift);
        work.run_pieces("radix_scatter_pairs",
                        {keys, order, other, other_order, places.counts, places.starts, shift,
                         cut.n, cut.pieces, cut.size},
                        cut.items());
        std::swap(keys, other);
        std::swap(order, other_order);
    }
}

DeviceVector first_order(DeviceWork& work, std::int64_t size, std::int64_t n) {
    require_short(n);
    DeviceVector order = work.scratch(DType::Int32, size);
    work.run("number_elements", {order, n}, {size});
    return order;
}

DeviceVector in_order(DeviceWork& work, const DeviceVector& keys, const DeviceVector& order,
                      std::int64_t n) {
    DeviceVector made = work.scratch(keys.dtype, keys.size);
    work.run("take_lanes", {keys, order, made, n, n}, {keys.size});
    return made;
}

namespace {

/// By imaginary parts, then real parts, then by which of them are NaN.
DeviceVector complex_order(DeviceWork& work, const DeviceVector& x, std::int64_t n,
                           bool descending) {
    const DType part = part_dtype(x.dtype);
    DeviceVector order = first_order(work, x.size, n), parts = work.scratch(part, x.size);
    for (std::int64_t k : {1, 0}) {
        work.run("part_bits", {x.as(part), parts, k}, {x.size});
        DeviceVector keys = in_order(work, keys_of(work, parts, descending, false), order, n);
        sort_pairs(work, keys, order, n, width_of(keys.dtype));
    }
    DeviceVector classes = work.scratch(DType::UInt8, x.size);
    work.run("complex_classes", {x, classes}, {x.size});
    DeviceVector keys = in_order(work, keys_of(work, classes, descending, false), order, n);
    sort_pairs(work, keys, order, n, width_of(keys.dtype));
    return order;
}

/// The first `count` elements of each lane in an order.
void take_first(DeviceWork& work, const DeviceVector& x, const DeviceVector& order,
                const View& values, std::int64_t n, std::int64_t count) {
    work.run("take_lanes", {x, order, vector_of(values), n, count}, {x.size / n * count});
}
void take_places(DeviceWork& work, const DeviceVector& order, const View& places, std::int64_t n,
                 std::int64_t count) {
    work.run("take_orders", {order, vector_of(places), n, count}, {order.size / n * count});
}

}  // namespace

DeviceVector keys_of(DeviceWork& work, const DeviceVector& x, bool descending, bool zeros_apart) {
    const DType t = bits_dtype(x.dtype);
    DeviceVector keys = work.scratch(t, x.size);
    const std::uint64_t flip = descending ? all_bits(t) : 0;
    if (is_float(x.dtype)) {
        work.run("keys_of_floats",
                 {x.as(t), keys, bits(t, flip), bits(t, sign_of(t)), bits(t, infinity_of(x.dtype)),
                  std::int64_t{zeros_apart}},
                 {x.size});
    } else {
        const std::uint64_t sign = is_signed(x.dtype) ? sign_of(t) : 0;
        work.run("keys_of_unsigned", {x.as(t), keys, bits(t, flip ^ sign)}, {x.size});
    }
    return keys;
}

DeviceVector sorted_keys(DeviceWork& work, DeviceVector keys, std::int64_t n) {
    if (n <= short_lane) {
        DeviceVector order = first_order(work, keys.size, n);
        sort_pairs(work, keys, order, n, width_of(keys.dtype));
        return keys;
    }
    require_short(n);
    const Cut cut = cut_of(work, keys.size, n);
    const Places places = places_for(work, cut);
    DeviceVector other = work.scratch(keys.dtype, keys.size);
    for (std::int64_t shift = 0; shift < width_of(keys.dtype); shift += digit_bits) {
        find_places(work, places, keys, cut, shift);
        work.run_pieces(
            "radix_scatter",
            {keys, other, places.counts, places.starts, shift, cut.n, cut.pieces, cut.size},
            cut.items());
        std::swap(keys, other);
    }
    return keys;
}

DeviceVector order_of(DeviceWork& work, const DeviceVector& x, std::int64_t n, bool descending) {
    if (is_complex(x.dtype)) return complex_order(work, x, n, descending);
    DeviceVector order = first_order(work, x.size, n);
    DeviceVector keys = keys_of(work, x, descending, false);
    sort_pairs(work, keys, order, n, width_of(keys.dtype));
    return order;
}

namespace {

void sort_into(DeviceWork& work, const DeviceVector& x, const DeviceVector& to, std::int64_t n,
               bool descending) {
    if (is_complex(x.dtype)) {
        const DeviceVector order = order_of(work, x, n, descending);
        return work.run("take_lanes", {x, order, to, n, n}, {x.size});
    }
    const DType t = bits_dtype(x.dtype);
    const DeviceVector keys = sorted_keys(work, keys_of(work, x, descending, true), n);
    const std::uint64_t flip = descending ? all_bits(t) : 0;
    if (is_float(x.dtype)) {
        work.run("floats_of_keys", {keys, to.as(t), bits(t, flip), bits(t, sign_of(t))}, {x.size});
    } else {
        const std::uint64_t sign = is_signed(x.dtype) ? sign_of(t) : 0;
        work.run("keys_of_unsigned", {keys, to.as(t), bits(t, flip ^ sign)}, {x.size});
    }
}

}  // namespace

DeviceVector sorted_elements(DeviceWork& work, const DeviceVector& x, std::int64_t n) {
    DeviceVector made = work.scratch(x.dtype, x.size);
    sort_into(work, x, made, n, false);
    return made;
}

void on_device::sort(const primitives::Sorting& sorting, Views in, Views out, Device& device) {
    DeviceWork work(device);
    sort_into(work, vector_of(in[0]), vector_of(out[0]), lane_extent(in[0]), sorting.descending);
}

void on_device::argsort(const primitives::Sorting& sorting, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const std::int64_t n = lane_extent(in[0]);
    take_places(work, order_of(work, vector_of(in[0]), n, sorting.descending), out[0], n, n);
}

void on_device::partition(const primitives::Kth&, Views in, Views out, Device& device) {
    on_device::sort({false}, in, out, device);
}

void on_device::argpartition(const primitives::Kth&, Views in, Views out, Device& device) {
    on_device::argsort({false}, in, out, device);
}

void on_device::top_k(const primitives::TopK& top, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]);
    const std::int64_t n = lane_extent(in[0]);
    const DeviceVector order = order_of(work, x, n, top.largest);
    take_first(work, x, order, out[0], n, top.k);
    take_places(work, order, out[1], n, top.k);
}

void on_device::search_sorted(const primitives::Side& side, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const char* before = is_complex(in[0].dtype) ? "before_complex" : "before_number";
    const DeviceVector values = vector_of(in[1]);
    work.run("search_sorted",
             {vector_of(in[0]), values, vector_of(out[0]), before, std::int64_t{side.right},
              in[0].layout->size()},
             {values.size});
}

}  // namespace unisono::library
