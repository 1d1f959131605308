// Counts, sums at positions and of segments, distinct values on devices.
#include <algorithm>
#include <bit>

#include "core/error.h"
#include "library/gather/combine_at.h"
#include "library/lanes.h"
#include "library/on_device/device_work.h"
#include "library/on_device/functions.h"
#include "library/on_device/sorting.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// As the host cuts numbers (library/gather/histogram.cpp), so that sums of weights have its bits.
std::int64_t parts_for(std::int64_t n, std::int64_t bins) {
    constexpr std::int64_t part_elements = 1 << 16, most_parts = 16, most_elements = 1 << 22;
    const std::int64_t parts = std::min(most_parts, n / part_elements);
    return std::max<std::int64_t>(1, std::min(parts, most_elements / bins));
}

/// Counts numbers below `bins`, or adds their weights, into `cells` of them.
void count(DeviceWork& work, const DeviceVector& numbers, const DeviceVector* weights,
           std::int64_t bins, const DeviceVector& out) {
    const std::int64_t n = numbers.size, pieces = parts_for(n, bins);
    const DType t = weights ? DType::Float64 : DType::Int64;
    const DeviceVector tables = work.filled(pieces * bins, Scalar::of(t, 0));
    if (weights)
        work.run_pieces("add_weights", {numbers, *weights, tables, n, pieces, bins}, pieces);
    else
        work.run_pieces("count_pieces", {numbers, tables, n, pieces, bins}, pieces);
    work.run("add_tables", {tables, out, pieces, bins}, {out.size});
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
    const DeviceVector weights = vector_of(in[1]);
    count(work, vector_of(in[0]), counting.weighted ? &weights : nullptr, counting.bins,
          vector_of(out[0]));
}

void on_device::count_in_bins(const primitives::Binning& binning, Views in, Views out,
                              Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), weights = vector_of(in[2]);
    const std::int64_t bins = out[0].layout->size();
    const DeviceVector numbers = work.scratch(DType::Int64, x.size);
    work.run("bins_of", {x, vector_of(in[1]), numbers, bins, std::int64_t{binning.uniform}},
             {x.size});
    count(work, numbers, binning.weighted ? &weights : nullptr, bins + 1, vector_of(out[0]));
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

void on_device::unique(const primitives::Distinct& distinct, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector x = vector_of(in[0]), values = vector_of(out[0]), total = vector_of(out[1]);
    const std::int64_t n = x.size, equal_nan = distinct.equal_nan;
    const char* before = is_complex(x.dtype) ? "before_complex" : "before_number";
    DeviceVector order, sorted;
    if (distinct.places) {
        order = order_of(work, x, n, false);
        sorted = in_order(work, x, order, n);
    } else {
        sorted = sorted_elements(work, x, n);
    }
    const std::int64_t wanted = work.pieces(n, 1 << 12), size = (n + wanted - 1) / wanted,
                       pieces = (n + size - 1) / size;
    const DeviceVector counts = work.scratch(DType::Int64, pieces);
    work.run_pieces("count_firsts", {sorted, counts, before, equal_nan, n, size}, pieces);
    work.run("sum_counts", {counts, total, pieces}, {1});
    if (!distinct.places) {
        work.run_pieces("write_firsts", {sorted, counts, values, before, equal_nan, n, size},
                        pieces);
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
