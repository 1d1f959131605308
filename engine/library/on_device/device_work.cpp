// Scratch memory and launches.
#include "library/on_device/device_work.h"

#include <algorithm>

#include "algorithms/algorithms.h"
#include "core/error.h"

namespace unisono::library {

std::optional<bool> DeviceWork::test_cores_;

DeviceWork::~DeviceWork() {
    for (const Memory& m : memory_) device_.pool().give(m);
}

DeviceVector DeviceWork::scratch(DType t, std::int64_t size) {
    const std::int64_t count = std::max<std::int64_t>(size, 1);
    memory_.push_back(device_.pool().take(count * size_of(t)));
    return {memory_.back(), 0, count, t};
}

DeviceVector DeviceWork::filled(std::int64_t size, Scalar value) {
    DeviceVector made = scratch(value.dtype, size);
    run("fill_with", {made, value}, {made.size});
    return made;
}

void DeviceWork::run(std::string_view kernel, std::initializer_list<DeviceArgument> args,
                     std::initializer_list<std::int64_t> items, std::int64_t local) {
    if (std::any_of(items.begin(), items.end(), [](auto n) { return n == 0; })) return;
    static constexpr std::int64_t step = 1;
    std::vector<frontend::Type> types;
    std::vector<ArrayArg> arrays;
    std::vector<std::uint64_t> scalars;
    for (const DeviceArgument& a : args) {
        if (a.is_vector) {
            const DeviceVector& v = a.vector;
            types.push_back(frontend::Type::array(v.dtype, {ir::StrideClass::One}, true));
            arrays.push_back({v.memory, v.offset * size_of(v.dtype), {&v.size, 1}, {&step, 1}});
        } else if (a.function) {
            types.push_back(algorithms::function_type(a.function, device_));
        } else {
            types.push_back(a.is_typed ? frontend::Type::numpy(a.number.dtype)
                                       : frontend::Type::python(Weak::Int));
            scalars.push_back(a.number.bits);
        }
    }
    NDRange range;
    range.dimensions = static_cast<int>(items.size());
    std::copy(items.begin(), items.end(), range.global.begin());
    range.local[0] = local;
    const Fault fault = algorithms::compiled(kernel, types, range.dimensions, device_)
                            .launch({arrays, scalars, {}, range, 0});
    UNISONO_ASSERT(fault.site < 0);
}

DeviceVector DeviceWork::offsets(Dims shape, Dims strides) {
    const std::int64_t size = element_count(shape);
    DeviceVector made = filled(size, Scalar::of(DType::Int64, 0));
    std::int64_t below = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
        run("add_axis", {made, below, shape[k], strides[k]}, {size});
        below *= shape[k];
    }
    return made;
}

DeviceVector DeviceWork::packed(const View& v) {
    if (v.layout->contiguous()) return vector_of(v);
    const DeviceVector at = offsets(v.layout->shape(), v.layout->strides());
    DeviceVector made = scratch(v.dtype, v.layout->size());
    run("copy_at_offsets", {storage_of(v), at, made, v.offset}, {v.layout->size()});
    return made;
}

void DeviceWork::run_pieces(std::string_view kernel, std::initializer_list<DeviceArgument> args,
                            std::int64_t items) {
    run(kernel, args, {items}, has_cores() ? 1 : 0);
}

std::int64_t DeviceWork::pieces(std::int64_t size, std::int64_t least) const {
    const DeviceInfo& info = device_.info();
    const std::int64_t most = info.compute_units * (has_cores() ? 4 : 256);
    return std::clamp<std::int64_t>(size / least, 1, most);
}

DeviceVector vector_of(const View& v) {
    const std::int64_t all = v.storage->bytes / size_of(v.dtype);
    const bool is_packed = v.layout->contiguous();
    return {v.storage->memory, v.offset, is_packed ? v.layout->size() : all - v.offset, v.dtype};
}

DeviceVector storage_of(const View& v) {
    return {v.storage->memory, 0, v.storage->bytes / size_of(v.dtype), v.dtype};
}

DType bits_dtype(DType t) { return dtype_of('u', size_of(t)); }

}  // namespace unisono::library
