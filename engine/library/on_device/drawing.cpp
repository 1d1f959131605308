// Random numbers on devices, those of the host: each element's follow from the key and its index.
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/threads/fork.h"
#include "library/on_device/device_work.h"
#include "library/on_device/host_step.h"
#include "library/on_device/vendor/vendor.h"
#include "library/random/random.h"
#include "library/random/ziggurat.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

constexpr std::size_t layers = 256;

/// Limits, widths and heights of the layers of both ziggurats, then their edges. All limits are
/// below 2^53.
std::vector<double> ziggurat_tables() {
    std::vector<double> made;
    for (const Ziggurat* z : {&Ziggurat::normal(), &Ziggurat::exponential()}) {
        for (std::uint64_t limit : z->inside) made.push_back(static_cast<double>(limit));
        made.insert(made.end(), z->width, z->width + layers);
        made.insert(made.end(), z->height, z->height + layers);
    }
    made.push_back(Ziggurat::normal().edge);
    made.push_back(Ziggurat::exponential().edge);
    return made;
}

/// The tables on a device, copied there once. They live as long as the process.
DeviceVector ziggurats(Device& device) {
    static LongMutex& mutex = *new LongMutex;
    static auto& known = *new std::map<Device*, DeviceVector>;
    std::lock_guard lock(mutex);
    DeviceVector& tables = known[&device];
    if (!tables.memory.handle) {
        const std::vector<double> values = ziggurat_tables();
        const auto count = static_cast<std::int64_t>(values.size());
        const Memory memory = device.allocate(count * std::int64_t{sizeof(double)});
        device.copy_in(memory, 0, values.data(), memory.bytes);
        tables = {memory, 0, count, DType::Float64};
    }
    return tables;
}

/// The function of engine/algorithms/drawing.py.
const char* sampler_of(Distribution what) {
    static constexpr const char* samplers[] = {
#define UNISONO_DISTRIBUTION(Name, name, ...) "draw_" name,
#include "library/random/distributions.def"
    };
    return samplers[static_cast<std::size_t>(what)];
}

Scalar word(std::uint64_t bits) { return Scalar::of(DType::UInt64, bits); }
Scalar real(double x) { return Scalar::of(DType::Float64, x); }

/// Blocks of two draws that the first draws of elements come from.
std::int64_t blocks_of(const primitives::RandomKey& key, std::int64_t n) {
    return (n + static_cast<std::int64_t>(key.next & 1) + 1) / 2;
}

/// One draw for each element, half a block.
void fill_uniform(DeviceWork& work, const primitives::Drawing& d, const DeviceVector& out) {
    const bool is_single = d.dtype == DType::Float32;
    const std::int64_t blocks = blocks_of(d.key, out.size);
    auto real = [&](double x) { return Scalar::of(d.dtype, x); };
    const Scalar scale = real(is_single ? 0x1p-24 : 0x1p-53), low = real(d.value[0]),
                 width = real(d.value[1] - d.value[0]);
    const Scalar key = word(d.key.key), stream = word(d.key.stream), next = word(d.key.next);
    if (work.has_cores()) {
        constexpr std::int64_t size = 4096;  // blocks of a work-item
        work.run_pieces("fill_uniform_in_lanes",
                        {out, is_single ? "unit_single" : "unit_double", key, stream, next,
                         out.size, blocks, size, scale, low, width},
                        (blocks + size - 1) / size);
        return;
    }
    constexpr std::int64_t size = 4;
    work.run_pieces("fill_uniform",
                    {out, is_single ? "to_single" : "to_double", key, stream, next, out.size,
                     blocks, size, is_single ? 40 : 11, scale, low, width},
                    (blocks + size - 1) / size);
}

}  // namespace

void on_device::random_numbers(const primitives::Drawing& d, Views in, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector to = vector_of(out[0]);
    if (d.key.library) return vendor::draw(work, d, to);
    if (d.what == Distribution::Uniform && in.empty()) return fill_uniform(work, d, to);
    if (!device.info().has_float64) {  // others than uniform numbers are computed in float64
        return step_on_host(in, out, device,
                            [&](Views near, Views made) { host::random_numbers(d, near, made); });
    }
    const DeviceVector tables = ziggurats(device);
    DeviceVector given[3] = {tables, tables, tables};
    std::int64_t is_given[3] = {0, 0, 0};
    for (std::size_t k = 0; k < 3; ++k) {
        if (d.input[k] < 0) continue;
        given[k] = vector_of(in[static_cast<std::size_t>(d.input[k])]);
        is_given[k] = 1;
    }
    work.run("draw_numbers",
             {to, sampler_of(d.what), tables, given[0], given[1], given[2], is_given[0],
              is_given[1], is_given[2], real(d.value[0]), real(d.value[1]), real(d.value[2]),
              word(d.key.key), word(d.key.stream), word(d.key.next)},
             {to.size});
}

void on_device::random_integers(const primitives::Range& range, Views, Views out, Device& device) {
    DeviceWork work(device);
    const DeviceVector to = vector_of(out[0]);
    work.run("draw_integers",
             {to.as(bits_dtype(to.dtype)), word(range.key.key), word(range.key.stream),
              word(range.key.next), to.size, word(static_cast<std::uint64_t>(range.low)),
              word(range.span)},
             {blocks_of(range.key, to.size)});
}

void on_device::random_permutations(const primitives::Permuting& permuting, Views, Views out,
                                    Device& device) {
    DeviceWork work(device);
    const std::int64_t n = permuting.n, rows = permuting.count;
    const DeviceVector swaps = work.scratch(DType::Int64, rows * n);
    work.run(
        "draw_swaps",
        {swaps, word(permuting.key.key), word(permuting.key.stream), word(permuting.key.next), n},
        {rows, n});
    work.run_pieces("swap_in_rows", {swaps, vector_of(out[0]), n}, rows);
}

}  // namespace unisono::library
