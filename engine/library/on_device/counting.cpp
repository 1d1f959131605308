// Counts, sums at positions and of segments, distinct values on devices.
#include <algorithm>
#include <bit>

#include "core/error.h"
#include "library/gather/combine_at.h"
#include "library/lanes.h"
#include "library/on_device/device_work.h"
#include "library/on_device/functions.h"
#include "library/on_device/masking.h"
#include "library/on_device/sorting.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// Pieces with a table each. Sums of weights are cut as on the host (library/gather/histogram.cpp),
/// so that they have its bits; counts are the same however they are cut.
std::int64_t parts_for(const DeviceWork& work, std::int64_t n, std::int64_t bins, bool weighted) {
    constexpr std::int64_t part_elements = 1 << 16, most_parts = 16, most_elements = 1 << 22;
    const std::int64_t parts = weighted || work.has_cores()
                                   ? std::min(most_parts, n / part_elements)
                                   : work.pieces(n, 1 << 10);
    return std::max<std::int64_t>(1, std::min(parts, most_elements / bins));
}

/// Tables of `bins` cells, into which pieces of the elements add their weights, or ones.
struct Tables {
    Tables(DeviceWork& work, std::int64_t n, std::int64_t bins, const View* weights)
        : bins(bins), pieces(parts_for(work, n, bins, weights != nullptr)) {
        const DType t = weights ? DType::Float64 : DType::Int64;
        cells = work.filled(pieces * bins, Scalar::of(t, 0));
        weight = weights ? vector_of(*weights) : work.filled(1, Scalar::of(t, 1));
        step = weights ? 1 : 0;
    }
    /// Of the first cells, for each element of `out`.
    void add(DeviceWork& work, const DeviceVector& out) const {
        work.run("add_tables", {cells, out, pieces, bins}, {out.size});
    }

    std::int64_t bins, pieces, step;
    DeviceVector cells, weight;
};

/// Counts by groups of work-items, whose tables in their memory are added to the result.
struct CountingGroups {
    CountingGroups(const DeviceWork& work, std::int64_t n, std::int64_t bins)
        : copies(std::min(most_copies, cells / bins)) {
        const std::int64_t groups = busy * work.device().info().compute_units;
        share = std::clamp((n + groups - 1) / groups, least, most);
        items = (n + share - 1) / share * group;
    }
    /// Else tables in the device's memory are added.
    static bool serve(const DeviceWork& work, bool weighted) {
        return !weighted && !work.has_cores() && work.device().info().has_int64_atomics;
    }

    static constexpr std::int64_t group = 256, cells = 4096, most_copies = 32, busy = 8,
                                  least = 1 << 12, most = 1 << 24;
    std::int64_t copies;        ///< of a group's table; 0 where it is too large
    std::int64_t share, items;  ///< elements of a group; work-items
};

void clear(DeviceWork& work, const DeviceVector& counts) {
    work.run("fill_with", {counts, Scalar::of(counts.dtype, 0)}, {counts.size});
}

/// How often each number from `lowest` on occurs.
void count_by_groups(DeviceWork& work, const DeviceVector& numbers, std::int64_t lowest,
                     const DeviceVector& counts) {
    const CountingGroups groups(work, numbers.size, counts.size);
    clear(work, counts);
    work.run("count_numbers_by_groups",
             {numbers, lowest, counts, numbers.size, groups.share, counts.size, groups.copies},
             {groups.items}, CountingGroups::group);
}

DeviceVector doubt_of_bins(DeviceWork& work, const DeviceVector& edges, std::int64_t bins) {
    DeviceVector doubt = work.scratch(DType::Float64, 1);
    work.run("doubt_of_bins", {edges, doubt, bins}, {CountingGroups::group}, CountingGroups::group);
    return doubt;
}

}  // namespace

const char* device_function(Op op, DType t) {
    switch (op) {
        case Op::Add:
        case Op::Mul:
        case Op::Min:
        case Op::Max:
        case Op::And:
        case Op::Or:
        case Op::Xor: return combining_function(op, t);
        case Op::Sub: return "subtract";
        case Op::Div: return "divide";
        default: return nullptr;
    }
}

void on_device::count_numbers(const primitives::Counting& counting, Views in, Views out,
                              Device& device) {
    DeviceWork work(device);
    const DeviceVector numbers = vector_of(in[0]), counts = vector_of(out[0]);
    if (CountingGroups::serve(work, counting.weighted))
        return count_by_groups(work, numbers, 0, counts);
    const Tables tables(work, numbers.size, counting.bins, counting.weighted ? &in[1] : nullptr);
    work.run_pieces("add_at_numbers",
                    {numbers, tables.weight, tables.step, tables.cells, numbers.size, tables.pieces,
                     tables.bins},
                    tables.pieces);
    tables.add(work, counts);
}

void on_device::count_in_bins(const primitives::Binning& binning, Views in, Views out,
                              Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), edges = vector_of(in[1]);
    const std::int64_t bins = out[0].layout->size();
    if (CountingGroups::serve(work, binning.weighted)) {
        const CountingGroups groups(work, x.size, bins);
        const DeviceVector counts = vector_of(out[0]),
                           doubt = binning.uniform ? doubt_of_bins(work, edges, bins) : edges;
        clear(work, counts);
        return work.run("count_in_bins_by_groups",
                        {x, edges, doubt, counts, x.size, groups.share, bins, groups.copies,
                         binning.uniform ? 1 : 0},
                        {groups.items}, CountingGroups::group);
    }
    const Tables tables(work, x.size, bins + 1, binning.weighted ? &in[2] : nullptr);
    if (binning.uniform) {
        const DeviceVector doubt = doubt_of_bins(work, edges, bins),
                           numbers = work.scratch(DType::Int32, tables.pieces * 64);
        work.run_pieces("add_in_even_bins",
                        {x, edges, doubt, tables.weight, tables.step, numbers, tables.cells, x.size,
                         tables.pieces, bins},
                        tables.pieces);
    } else {
        work.run_pieces(
            "add_in_bins",
            {x, edges, tables.weight, tables.step, tables.cells, x.size, tables.pieces, bins},
            tables.pieces);
    }
    tables.add(work, vector_of(out[0]));
}

void on_device::combine_at(const primitives::Combining& combining, Views in, Views out,
                           Device& device) {
    const char* combine = device_function(combining.op, combining.compute);
    if (!combine) {
        fail(ErrorKind::Unsupported, "combine_at: this operation runs on the host only; got " +
                                         std::string(info(combining.op).numpy_name) +
                                         "; move the array with .to_device(\"cpu\") first");
    }
    DeviceWork work(device);
    const DeviceVector positions = vector_of(in[0]), values = vector_of(in[1]);
    const Layout& l = *out[0].layout;
    const auto range = static_cast<std::uint64_t>(l.highest() - l.lowest());
    DeviceVector keys = work.scratch(range >> 32 ? DType::UInt64 : DType::UInt32, positions.size);
    work.run("position_keys", {positions, keys, l.lowest()}, {positions.size});
    DeviceVector order = first_order(work, positions.size, positions.size);
    sort_pairs(work, keys, order, positions.size, static_cast<int>(std::bit_width(range)));
    work.run("combine_runs",
             {keys, order, values, storage_of(out[0]), combine, out[0].offset + l.lowest(),
              positions.size},
             {positions.size});
}

void on_device::reduce_segments(const primitives::Segments& segments, Views in, Views out,
                                Device& device) {
    constexpr std::int64_t together = 4096;  ///< segments, each with lanes and a stack
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), to = vector_of(out[0]);
    const std::int64_t most = std::min(together, to.size);
    const DeviceVector lanes = work.scratch(x.dtype, most * 32),
                       stack = work.scratch(x.dtype, most * 64);
    for (std::int64_t done = 0; done < to.size; done += together) {
        const std::int64_t items = std::min(together, to.size - done);
        work.run("segment_sums",
                 {x, vector_of(in[1]), to, lanes, stack, combining_function(segments.op, x.dtype),
                  x.size, to.size, done},
                 {items});
    }
}

namespace {

/// Distinct integers of a small range by marks, as on the host; false where the range is large.
/// Waits for the range.
bool mark_integers(DeviceWork& work, const DeviceVector& x, const DeviceVector& values,
                   const DeviceVector& total) {
    constexpr std::uint64_t most_values = 1 << 20, most_marks = 1 << 24;
    const std::int64_t n = x.size, pieces = work.pieces(n, 1 << 12);
    const DeviceVector low = work.scratch(x.dtype, pieces), high = work.scratch(x.dtype, pieces);
    if (work.has_cores()) {
        work.run_pieces("range_of_pieces", {x, low, high, n, pieces}, pieces);
        work.run("range_of_all", {low, high, pieces}, {1});
    } else {
        constexpr std::int64_t group = 256;
        const std::int64_t share = (n + pieces - 1) / pieces, groups = (n + share - 1) / share;
        work.run("range_by_groups", {x, x, low, high, n, share}, {groups * group}, group);
        work.run("range_by_groups", {low, high, low, high, groups, groups}, {group}, group);
    }
    std::uint64_t range = 0;
    std::int64_t lowest = 0;
    dispatch_all(x.dtype, [&]<class T>() {
        if constexpr (std::integral<T>) {
            lowest = static_cast<std::int64_t>(work.read<T>(low));
            range =
                static_cast<std::uint64_t>(work.read<T>(high)) - static_cast<std::uint64_t>(lowest);
        }
    });
    if (range >= std::min(static_cast<std::uint64_t>(n), most_values)) return false;
    const auto bins = static_cast<std::int64_t>(range) + 1;
    const bool counts_each = CountingGroups::serve(work, false);
    const std::int64_t tables = counts_each ? 1 : std::min<std::int64_t>(pieces, most_marks / bins);
    const DeviceVector marks = work.filled(tables * bins, Scalar::of(DType::UInt8, 0));
    if (counts_each) {
        const DeviceVector occurrences = work.scratch(DType::Int64, bins);
        count_by_groups(work, x, lowest, occurrences);
        work.run("mark_counted", {occurrences, marks}, {bins});
    } else {
        work.run_pieces("mark_values", {x, low, marks, n, tables, bins}, tables);
        work.run("merge_marks", {marks, tables, bins}, {bins});
    }
    const MaskOfDevice marked(work, marks.from(0, bins));
    const std::int64_t blocks = marked.blocks();
    const DeviceVector counts = work.scratch(DType::Int64, blocks + 1);
    count_set(work, marked, counts);
    if (work.has_cores()) {
        work.run_pieces("write_marked", {marks, low, counts, values, total, bins, blocks}, blocks);
    } else {
        const DeviceVector places = work.scratch(DType::Int64, bins);
        find_set(work, marked, counts, places);
        work.run("write_marked_places", {places, low, counts, values, total, blocks}, {bins});
    }
    return true;
}

/// The first elements of runs of equal sorted ones, and where they are.
void find_runs(DeviceWork& work, const DeviceVector& sorted, const DeviceVector& order,
               const char* before, std::int64_t equal_nan, Views out) {
    const std::int64_t n = sorted.size;
    const DeviceVector total = vector_of(out[1]), marks = work.scratch(DType::UInt8, n);
    work.run("mark_firsts", {sorted, marks, before, equal_nan}, {n});
    const MaskOfDevice firsts(work, marks);
    const std::int64_t blocks = firsts.blocks();
    const DeviceVector counts = work.scratch(DType::Int64, blocks + 1);
    count_set(work, firsts, counts);
    work.run("copy_elements", {counts.from(blocks, 1), total}, {1});
    select_set(work, firsts, counts, sorted, vector_of(out[0]));
    if (out.size() == 2) return;
    const DeviceVector begins = work.scratch(DType::Int64, n);
    find_set(work, firsts, counts, begins);
    work.run("index_runs", {order, begins, total, vector_of(out[2])}, {n});
    work.run("number_runs_by_tiles",
             {firsts.bytes, firsts.words, counts, order, vector_of(out[3]), n},
             {blocks * mask_group}, mask_group);
    work.run("lengths_of_runs", {begins, vector_of(out[4]), total, n}, {n});
}

}  // namespace

void on_device::unique(const primitives::Distinct& distinct, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), values = vector_of(out[0]), total = vector_of(out[1]);
    const std::int64_t n = x.size, equal_nan = distinct.equal_nan;
    const char* before = is_complex(x.dtype) ? "before_complex" : "before_number";
    if (!distinct.places && is_integer(x.dtype) && !is_bool(x.dtype) &&
        mark_integers(work, x, values, total))
        return;
    DeviceVector order, sorted;
    if (distinct.places) {
        order = order_of(work, x, n, false);
        sorted = in_order(work, x, order, n);
    } else {
        sorted = sorted_elements(work, x, n);
    }
    if (!work.has_cores()) return find_runs(work, sorted, order, before, equal_nan, out);
    const std::int64_t wanted = work.pieces(n, 1 << 12), size = (n + wanted - 1) / wanted,
                       pieces = (n + size - 1) / size;
    const DeviceVector counts = work.scratch(DType::Int64, pieces);
    work.run_pieces("count_firsts", {sorted, counts, before, equal_nan, n, size}, pieces);
    work.run("sum_counts", {counts, total, pieces}, {1});
    if (!distinct.places) {
        work.run_pieces("write_firsts",
                        {sorted, counts, total, values, before, equal_nan, pieces, size}, pieces);
        return;
    }
    const DeviceVector begins = work.scratch(DType::Int64, n);
    work.run_pieces("write_runs",
                    {sorted, order, counts, values, vector_of(out[2]), vector_of(out[3]), begins,
                     before, equal_nan, n, size},
                    pieces);
    work.run("lengths_of_runs", {begins, vector_of(out[4]), total, n}, {n});
}

}  // namespace unisono::library
