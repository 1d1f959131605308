// Stable sorts by keys on devices, and what is made of them: orders, selections, places of values.
#include "library/on_device/sorting.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.h"
#include "library/lanes.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

constexpr std::int64_t short_lane = 32;  ///< elements, which one work-item sorts
constexpr int digit_bits = 8;
constexpr std::int64_t digits = 1 << digit_bits;
constexpr std::int64_t bucket_elements = 1 << 14;  ///< whose keys, twice, lie in a core's cache
constexpr std::int64_t most_buckets = 1024;
constexpr std::int64_t samples_per_bucket = 16;

int width_of(DType t) { return static_cast<int>(size_of(t)) * 8; }
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

/// Where the elements of each piece go by their digits.
struct Places {
    DeviceVector counts, starts;
};
Places places_for(DeviceWork& work, const Cut& cut, std::int64_t count) {
    return {work.scratch(DType::Int32, cut.items() * count),
            work.scratch(DType::Int32, cut.lanes * count)};
}
/// From how many elements of each piece have each digit.
void find_places(DeviceWork& work, const Places& places, const Cut& cut, std::int64_t count) {
    work.run("radix_prefixes", {places.counts, places.starts, cut.pieces, count},
             {cut.lanes, count});
    work.run("radix_starts", {places.starts, count}, {cut.lanes});
}

/// Keys and, where they are paired, the numbers of their elements.
struct Sorted {
    DeviceVector keys, order;
    bool is_paired;

    /// Memory for as many of them, or for several times as many.
    Sorted another(DeviceWork& work, std::int64_t times = 1) const {
        return {work.scratch(keys.dtype, times * keys.size),
                work.scratch(order.dtype, times * order.size), is_paired};
    }
    std::int64_t paired() const { return is_paired; }
};

/// Buckets of a lane, a power of two.
std::int64_t buckets_for(std::int64_t n) {
    const auto parts = static_cast<std::uint64_t>(std::max<std::int64_t>(1, n / bucket_elements));
    return std::min(most_buckets, static_cast<std::int64_t>(std::bit_floor(parts)));
}

/// Which of the sorted samples of a lane part its buckets, evenly: `window` of them from `first`
/// on.
struct Sampling {
    std::int64_t buckets, count, first, window;
};
Sampling samples_of(std::int64_t n) {
    const std::int64_t buckets = buckets_for(n), count = buckets * samples_per_bucket;
    return {buckets, count, 0, count};
}
/// Small buckets around a place, which lies in one of them but for one lane in 100000, and two
/// large ones.
Sampling samples_around(std::int64_t place, std::int64_t n) {
    constexpr std::int64_t buckets = 8, least = 256, most = 1 << 14, elements_per_sample = 64;
    std::int64_t count = least, root = 16;
    for (; count < most && 4 * count * elements_per_sample <= n; root *= 2) count *= 4;
    // A bucket is one and a half standard deviations of a sample's rank, root / 2 at most.
    const std::int64_t window = buckets * (root * 3 / 4);
    const std::int64_t rank = place * count / n;
    return {buckets, count, std::clamp<std::int64_t>(rank - window / 2, 0, count - window), window};
}

void require_short(std::int64_t n) {
    if (n <= std::numeric_limits<std::int32_t>::max()) return;
    fail(ErrorKind::Unsupported, "sort: on devices a lane has at most 2^31 - 1 elements; got " +
                                     std::to_string(n) +
                                     "; sort parts of it, or move it with .to_device(\"cpu\")");
}

// Groups of work-items on devices of many lanes, which take tiles (engine/algorithms/tiling.py).
constexpr std::int64_t tile = 2048, tile_items = 128;

/// How the lanes are cut for groups: four times as many pieces as run at once, of whole tiles.
Cut cut_for_groups(const DeviceWork& work, std::int64_t all, std::int64_t n) {
    constexpr std::int64_t groups_per_unit = 24;
    const std::int64_t lanes = all / n, tiles = (n + tile - 1) / tile;
    const std::int64_t wanted = work.device().info().compute_units * groups_per_unit / lanes + 1;
    const std::int64_t size = (tiles + wanted - 1) / wanted * tile;
    return {n, lanes, (n + size - 1) / size, size};
}

/// Of `rows` times `pieces` counts: in each row what comes before each piece, and all.
void find_prefixes(DeviceWork& work, const DeviceVector& counts, const DeviceVector& totals,
                   std::int64_t pieces) {
    constexpr std::int64_t few = 16;
    if (pieces <= few)
        work.run("prefixes_of_few", {counts, totals, pieces}, {totals.size});
    else
        work.run("prefixes_of_digits", {counts, totals, pieces}, {totals.size * tile_items},
                 tile_items);
}

/// What makes keys of elements and elements of keys.
struct KeyForm {
    const char *to_key = "key_itself", *from_key = "key_itself";
    Scalar flip, sign, infinity;
    std::int64_t apart = 0;
};
KeyForm keys_alone(const KeyBits& key) {
    return {.flip = key.scalar(0), .sign = key.scalar(0), .infinity = key.scalar(0)};
}
KeyForm form_of(DType t, bool descending, bool zeros_apart) {
    const KeyBits key(t);
    const bool floats = is_float(t);
    return {floats ? "key_of_float" : "key_of_integer",
            floats ? "float_of_key" : "key_of_integer",
            key.scalar((descending ? key.all : 0) ^ key.offset),
            key.scalar(key.sign),
            key.scalar(key.infinity),
            zeros_apart};
}

/// Which numbers move with the keys.
enum class Paired : std::uint8_t { None, Given, Places };

/// Where a pass over a digit reads or writes.
struct Elements {
    DeviceVector keys, order;
};

/// Sorts lanes by digits, the lowest one first: reads `from`, and writes `odd` and `even` in turns.
/// The first pass makes keys of what it reads, the last one elements of what it writes.
void sort_by_passes(DeviceWork& work, Elements from, const Elements& odd, const Elements& even,
                    std::int64_t n, int bits, const KeyForm& form, Paired paired, bool keeps_keys) {
    const Cut cut = cut_for_groups(work, from.keys.size, n);
    const std::int64_t items = cut.items() * tile_items;
    const DeviceVector counts = work.scratch(DType::Int32, cut.items() * digits),
                       totals = work.scratch(DType::Int32, cut.lanes * digits);
    const char* scatter = work.device().info().warp == 32 ? "scatter_by_votes" : "scatter_digits";
    bool is_odd = true;
    for (std::int64_t shift = 0; shift < bits; shift += digit_bits) {
        const bool is_last = shift + digit_bits >= bits;
        const char* to_key = shift == 0 ? form.to_key : "key_itself";
        const char* from_key = is_last ? form.from_key : "key_itself";
        const Elements& to = is_odd ? odd : even;
        work.run("counts_of_digits",
                 {from.keys, counts, to_key, shift, n, cut.pieces, cut.size, form.flip, form.sign,
                  form.infinity, form.apart},
                 {items}, tile_items);
        find_prefixes(work, counts, totals, cut.pieces);
        work.run(scatter,
                 {from.keys, from.order, to.keys, to.order, counts, totals, to_key, from_key,
                  static_cast<std::int64_t>(paired), std::int64_t{keeps_keys || !is_last}, shift, n,
                  cut.pieces, cut.size, form.flip, form.sign, form.infinity, form.apart},
                 {items}, tile_items);
        from = to;
        is_odd = !is_odd;
        if (paired == Paired::Places) paired = Paired::Given;
    }
}
/// Whether the last pass writes `odd`.
bool ends_odd(int bits) { return (bits + digit_bits - 1) / digit_bits % 2 != 0; }

void sort_by_tiles(DeviceWork& work, Sorted& s, std::int64_t n, int bits) {
    if (n <= tile) {
        return work.run("sort_tiles", {s.keys, s.order, s.paired(), n, std::int64_t{bits}},
                        {s.keys.size / n * tile_items}, tile_items);
    }
    Sorted other = s.another(work);
    const Elements own{s.keys, s.order};
    sort_by_passes(work, own, {other.keys, other.order}, own, n, bits,
                   keys_alone(KeyBits(s.keys.dtype)), s.is_paired ? Paired::Given : Paired::None,
                   true);
    if (ends_odd(bits)) std::swap(s, other);
}

/// Whether lanes are sorted by passes that convert elements themselves.
bool sorts_elements_by_passes(const DeviceWork& work, std::int64_t n) {
    return !work.has_cores() && n > tile;
}

void sort_by_digits(DeviceWork& work, Sorted& s, std::int64_t n, int bits) {
    const Cut cut = cut_of(work, s.keys.size, n);
    const Places places = places_for(work, cut, digits);
    Sorted other = s.another(work);
    for (std::int64_t shift = 0; shift < bits; shift += digit_bits) {
        work.run_pieces("radix_counts", {s.keys, places.counts, shift, n, cut.pieces, cut.size},
                        cut.items());
        find_places(work, places, cut, digits);
        if (!s.is_paired && width_of(s.keys.dtype) == digit_bits)
            return work.run("fill_digits", {places.starts, s.keys, n}, {cut.lanes, digits});
        work.run_pieces("radix_scatter",
                        {s.keys, s.order, other.keys, other.order, places.counts, places.starts,
                         s.paired(), shift, n, cut.pieces, cut.size},
                        cut.items());
        std::swap(s, other);
    }
}

/// Sorts each bucket of the first half of the memory; `starts` has `buckets` of them for each lane.
void sort_buckets(DeviceWork& work, const Sorted& twice, const DeviceVector& starts, Wanted wanted,
                  std::int64_t n, std::int64_t buckets) {
    const std::int64_t all = twice.keys.size / 2;
    work.run_pieces("sort_buckets",
                    {twice.keys, twice.order, starts, twice.paired(), wanted.begin,
                     std::min(wanted.end, n), n, buckets, all},
                    all / n * buckets);
}

/// The search tree of sampled keys between buckets, for each lane.
DeviceVector splitters(DeviceWork& work, const DeviceVector& keys, std::int64_t n,
                       const Sampling& sampling) {
    const std::int64_t lanes = keys.size / n, count = sampling.count;
    const Sorted samples{work.scratch(keys.dtype, 2 * lanes * count), work.scratch(DType::Int32, 1),
                         false};
    DeviceVector tree = work.scratch(keys.dtype, lanes * sampling.buckets);
    work.run("sample_keys", {keys, samples.keys, n, count}, {lanes * count});
    sort_buckets(work, samples, work.filled(lanes, Scalar::of(DType::Int32, 0)), {}, count, 1);
    work.run("splitter_tree",
             {samples.keys, tree, count, sampling.first, sampling.window, sampling.buckets},
             {lanes});
    return tree;
}

void sort_by_buckets(DeviceWork& work, Sorted& s, Wanted wanted, std::int64_t n,
                     const Sampling& sampling) {
    const std::int64_t all = s.keys.size, buckets = sampling.buckets;
    const Sorted twice = s.another(work, 2);
    if (buckets == 1) {
        work.run("copy_elements", {s.keys, twice.keys}, {all});
        if (s.is_paired) work.run("copy_elements", {s.order, twice.order}, {all});
        sort_buckets(work, twice, work.filled(all / n, Scalar::of(DType::Int32, 0)), {}, n, 1);
    } else {
        const Cut cut = cut_of(work, all, n);
        const Places places = places_for(work, cut, buckets);
        const DeviceVector tree = splitters(work, s.keys, n, sampling),
                           bucket = work.scratch(DType::UInt16, all);
        work.run_pieces("bucket_counts",
                        {s.keys, tree, bucket, places.counts, n, cut.pieces, cut.size, buckets},
                        cut.items());
        find_places(work, places, cut, buckets);
        work.run_pieces("bucket_scatter",
                        {s.keys, s.order, bucket, twice.keys, twice.order, places.counts,
                         places.starts, s.paired(), n, cut.pieces, cut.size, buckets},
                        cut.items());
        sort_buckets(work, twice, places.starts, wanted, n, buckets);
    }
    s.keys = twice.keys.from(0, all);
    if (s.is_paired) s.order = twice.order.from(0, all);
}

/// Sorts the `bits` lowest bits of the keys of each lane of n, the others being equal.
void sort_lanes(DeviceWork& work, Sorted& s, std::int64_t n, int bits, Wanted wanted = {}) {
    if (n <= short_lane) {
        work.run("sort_short_lanes", {s.keys, s.order, s.paired(), n}, {s.keys.size / n});
        return;
    }
    require_short(n);
    const std::int64_t buckets = buckets_for(n);
    // Of few places, buckets leave all but theirs unsorted.
    const bool is_few = wanted.end - wanted.begin <= 2;
    const int few_bits = (is_few ? 2 : 4) * digit_bits;  // which digits sort sooner
    if (work.has_cores() && (buckets == 1 || bits > few_bits))
        sort_by_buckets(work, s, wanted, n,
                        is_few && buckets > 1 ? samples_around(wanted.begin, n) : samples_of(n));
    else if (work.has_cores())
        sort_by_digits(work, s, n, bits);
    else
        sort_by_tiles(work, s, n, bits);
}

}  // namespace

void sort_pairs(DeviceWork& work, DeviceVector& keys, DeviceVector& order, std::int64_t n,
                int bits) {
    Sorted s{keys, order, true};
    sort_lanes(work, s, n, bits);
    keys = s.keys;
    order = s.order;
}

DeviceVector sorted_keys(DeviceWork& work, const DeviceVector& keys, std::int64_t n,
                         Wanted wanted) {
    Sorted s{keys, work.scratch(DType::Int32, 1), false};
    sort_lanes(work, s, n, width_of(keys.dtype), wanted);
    return s.keys;
}

DeviceVector first_order(DeviceWork& work, std::int64_t size, std::int64_t n) {
    require_short(n);
    DeviceVector order = work.scratch(DType::Int32, size);
    work.run("number_elements", {order, n}, {size / n, n});
    return order;
}

DeviceVector in_order(DeviceWork& work, const DeviceVector& keys, const DeviceVector& order,
                      std::int64_t n) {
    DeviceVector made = work.scratch(keys.dtype, keys.size);
    work.run("take_lanes", {keys, order, made, n, n, n}, {keys.size / n, n});
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

/// The first `count` of `width` places of each lane of an order.
void take_places(DeviceWork& work, const DeviceVector& order, const View& places,
                 std::int64_t width, std::int64_t count) {
    work.run("take_orders", {order, vector_of(places), width, count}, {order.size / width, count});
}

}  // namespace

KeyBits::KeyBits(DType t)
    : dtype(bits_dtype(t)),
      all(~std::uint64_t{0} >> (64 - width_of(t))),
      sign(std::uint64_t{1} << (width_of(t) - 1)),
      infinity(is_float(t) ? infinity_of(t) : 0),
      offset(is_signed(t) && !is_float(t) ? sign : 0) {}

static void convert_keys(DeviceWork& work, const DeviceVector& from, const DeviceVector& to,
                         const char* convert, const KeyForm& form) {
    work.run("convert_keys", {from, to, convert, form.flip, form.sign, form.infinity, form.apart},
             {from.size});
}

DeviceVector keys_of(DeviceWork& work, const DeviceVector& x, bool descending, bool zeros_apart) {
    const KeyForm form = form_of(x.dtype, descending, zeros_apart);
    DeviceVector keys = work.scratch(bits_dtype(x.dtype), x.size);
    convert_keys(work, x.as(keys.dtype), keys, form.to_key, form);
    return keys;
}

DeviceVector order_of(DeviceWork& work, const DeviceVector& x, std::int64_t n, bool descending,
                      Wanted wanted) {
    if (is_complex(x.dtype)) return complex_order(work, x, n, descending);
    if (sorts_elements_by_passes(work, n)) {
        require_short(n);
        const KeyForm form = form_of(x.dtype, descending, false);
        const DeviceVector bits = x.as(bits_dtype(x.dtype));
        const auto made = [&] {
            return Elements{work.scratch(bits.dtype, x.size), work.scratch(DType::Int32, x.size)};
        };
        const Elements odd = made(), even = made();
        const int width = width_of(x.dtype);
        sort_by_passes(work, {bits, even.order}, odd, even, n, width, form, Paired::Places, false);
        return ends_odd(width) ? odd.order : even.order;
    }
    DeviceVector order = first_order(work, x.size, n);
    Sorted s{keys_of(work, x, descending, false), order, true};
    sort_lanes(work, s, n, width_of(s.keys.dtype), wanted);
    return s.order;
}

namespace {

void sort_into(DeviceWork& work, const DeviceVector& x, const DeviceVector& to, std::int64_t n,
               bool descending, Wanted wanted = {}) {
    if (is_complex(x.dtype)) {
        const DeviceVector order = order_of(work, x, n, descending);
        return work.run("take_lanes", {x, order, to, n, n, n}, {x.size / n, n});
    }
    const KeyForm form = form_of(x.dtype, descending, true);
    const DType t = bits_dtype(x.dtype);
    const int width = width_of(x.dtype);
    if (sorts_elements_by_passes(work, n) &&
        !(ends_odd(width) && x.memory.handle == to.memory.handle)) {
        require_short(n);
        const DeviceVector other = work.scratch(t, ends_odd(width) ? 1 : x.size),
                           order = work.scratch(DType::Int32, 1);
        const Elements last{to.as(t), order}, before{other, order};
        sort_by_passes(work, {x.as(t), order}, ends_odd(width) ? last : before,
                       ends_odd(width) ? before : last, n, width, form, Paired::None, true);
        return;
    }
    const DeviceVector keys = sorted_keys(work, keys_of(work, x, descending, true), n, wanted);
    convert_keys(work, keys, to.as(t), form.from_key, form);
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

void on_device::partition(const primitives::Kth& kth, Views in, Views out, Device& device) {
    DeviceWork work(device);
    sort_into(work, vector_of(in[0]), vector_of(out[0]), lane_extent(in[0]), false,
              {kth.place, kth.place + 1});
}

void on_device::argpartition(const primitives::Kth& kth, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const std::int64_t n = lane_extent(in[0]);
    const DeviceVector order =
        order_of(work, vector_of(in[0]), n, false, {kth.place, kth.place + 1});
    take_places(work, order, out[0], n, n);
}

namespace {

/// The keys of each lane that are no larger than a sample behind which the `k` least surely lie,
/// with their places in the lane; empty where there are too few or many of them.
std::optional<Sorted> candidates(DeviceWork& work, const DeviceVector& keys, std::int64_t n,
                                 std::int64_t k) {
    constexpr std::int64_t count = tile;  // of samples
    // Four standard deviations above the rank among the samples that is expected.
    const double expected = static_cast<double>(k) * count / static_cast<double>(n);
    const auto rank = static_cast<std::int64_t>(expected + 4 * std::sqrt(expected)) + 4;
    const std::int64_t room = 2 * (rank + 1) * (n / count + 1);
    if (n < 8 * tile || 4 * room > n) return std::nullopt;
    const Cut cut = cut_for_groups(work, keys.size, n);
    Sorted samples{work.scratch(keys.dtype, cut.lanes * count), work.scratch(DType::Int32, 1),
                   false};
    work.run("sample_keys", {keys, samples.keys, n, count}, {cut.lanes * count});
    sort_by_tiles(work, samples, count, width_of(keys.dtype));
    const DeviceVector counts = work.scratch(DType::Int32, cut.items()),
                       totals = work.scratch(DType::Int32, cut.lanes);
    const std::int64_t items = cut.items() * tile_items;
    work.run("counts_up_to", {keys, samples.keys, counts, n, cut.pieces, cut.size, rank, count},
             {items}, tile_items);
    find_prefixes(work, counts, totals, cut.pieces);
    Sorted found{work.filled(cut.lanes * room, KeyBits(keys.dtype).scalar(~std::uint64_t{0})),
                 work.scratch(DType::Int32, cut.lanes * room), true};
    work.run("take_up_to",
             {keys, samples.keys, counts, found.keys, found.order, n, cut.pieces, cut.size, rank,
              count, room},
             {items}, tile_items);
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(cut.lanes));
    work.read(totals, std::span(sizes));
    const bool fit = std::all_of(sizes.begin(), sizes.end(),
                                 [&](std::int32_t size) { return size >= k && size <= room; });
    return fit ? std::optional(found) : std::nullopt;
}

/// The order of each lane, of which the first `k` places are true, and how many places it has. Few
/// of many elements are the first of pieces, in their order.
std::pair<DeviceVector, std::int64_t> top_order(DeviceWork& work, const DeviceVector& x,
                                                std::int64_t n, std::int64_t k, bool largest) {
    constexpr std::int64_t few = 32;
    const std::int64_t lanes = x.size / n, pieces = work.pieces(x.size, 1 << 13) / lanes + 1;
    const std::int64_t width = pieces * k;
    if (!work.has_cores() && !is_complex(x.dtype)) {
        require_short(n);
        if (auto found = candidates(work, keys_of(work, x, largest, false), n, k)) {
            const std::int64_t room = found->keys.size / lanes;
            sort_lanes(work, *found, room, width_of(found->keys.dtype));
            return {found->order, room};
        }
        return {order_of(work, x, n, largest), n};
    }
    if (is_complex(x.dtype) || k > few || 4 * width > n)
        return {order_of(work, x, n, largest, {0, k}), n};
    require_short(n);
    const DeviceVector keys = keys_of(work, x, largest, false);
    Sorted s{work.scratch(keys.dtype, lanes * width), work.scratch(DType::Int32, lanes * width),
             true};
    work.run_pieces("least_of_pieces", {keys, s.keys, s.order, n, pieces, k}, lanes * pieces);
    sort_lanes(work, s, width, width_of(keys.dtype), {0, k});
    return {s.order, width};
}

}  // namespace

void on_device::top_k(const primitives::TopK& top, Views in, Views out, Device& device) {
    if (top.k == 0) return;
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]);
    const std::int64_t n = lane_extent(in[0]);
    const auto [order, width] = top_order(work, x, n, top.k, top.largest);
    work.run("take_lanes", {x, order, vector_of(out[0]), n, width, top.k}, {x.size / n, top.k});
    take_places(work, order, out[1], width, top.k);
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
