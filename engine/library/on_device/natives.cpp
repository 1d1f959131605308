// The whole-array functions that compiled code calls by name (runtime/native.cpp), on memory of
// devices: their values with addresses as numbers of memories (backends/host/program.h).
#include <array>
#include <vector>

#include "core/native/native.h"
#include "library/gather/mask.h"
#include "library/on_device/packed.h"
#include "primitives/primitives.h"

namespace unisono::library {

namespace {

/// One call: its values, and what it works with.
class Call {
  public:
    Call(Device& device, std::span<const SlotMemory> memories, std::int64_t* values)
        : values_(values), memories_(memories), work_(device) {}

    std::int64_t operator[](std::size_t k) const { return values_[k]; }
    DType dtype() const { return static_cast<DType>(values_[1]); }
    DeviceWork& work() { return work_; }
    SlotMemory memory(std::size_t k) const { return memory_at(memories_, values_[k]); }
    Packed packed(std::size_t k, DType t, std::initializer_list<std::int64_t> shape) {
        return {work_.device(), memory(k), t, {shape.begin(), shape.size()}};
    }
    Packed scratch(DType t, std::initializer_list<std::int64_t> shape) {
        const Dims dims{shape.begin(), shape.size()};
        return {work_.device(), work_.scratch(t, element_count(dims)), dims};
    }
    /// The same elements in memory of their own.
    Packed copy(std::size_t k, DType t, std::initializer_list<std::int64_t> shape) {
        Packed made = scratch(t, shape);
        const View& v = made;
        const SlotMemory from = memory(k);
        work_.device().copy(v.storage->memory, 0, from.memory, from.offset,
                            v.layout->size() * size_of(t));
        return made;
    }
    template <class... Packs>
    static std::array<View, sizeof...(Packs)> views(const Packs&... packs) {
        return {static_cast<const View&>(packs)...};
    }

  private:
    std::int64_t* values_;
    std::span<const SlotMemory> memories_;
    DeviceWork work_;
};

/// Value 0 tells how it ended: what the data is refused for, as the host's functions say it.
template <void (*run)(Call&, std::int64_t*)>
void guarded(Device& device, std::span<const SlotMemory> memories, std::int64_t* values) {
    values[0] = 0;
    try {
        Call call(device, memories, values);
        run(call, values);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::Memory && e.kind() != ErrorKind::Value) throw;
        values[0] = e.kind() == ErrorKind::Memory ? native_out_of_memory : 1;
    }
}

void sort(Call& call, std::int64_t* v) {
    if (v[3] == 0) return;
    const Packed in = call.copy(4, call.dtype(), {v[3] / v[2], v[2]}),
                 out = call.packed(5, call.dtype(), {v[3] / v[2], v[2]});
    on_device::sort({false}, Call::views(in), Call::views(out), call.work().device());
}

void argsort(Call& call, std::int64_t* v) {
    if (v[3] == 0) return;
    const Packed in = call.packed(4, call.dtype(), {v[3] / v[2], v[2]}),
                 out = call.packed(5, DType::Int64, {v[3] / v[2], v[2]});
    on_device::argsort({false}, Call::views(in), Call::views(out), call.work().device());
}

void compress(Call& call, std::int64_t* v) {
    const std::int64_t n = v[3];
    v[1] = 0;
    if (n == 0) return;
    const DType t = v[2] > 8 ? DType::Complex128 : dtype_of('u', v[2]);
    const auto counts = static_cast<std::int64_t>(count_of_counts(n));
    const Packed mask = call.packed(4, DType::Bool, {n}), from = call.packed(5, t, {n}),
                 to = call.packed(6, t, {n}), before = call.scratch(DType::Int64, {counts});
    Device& device = call.work().device();
    on_device::count_true({}, Call::views(mask), Call::views(before), device);
    on_device::select({}, Call::views(from, mask, before), Call::views(to), device);
    v[1] = call.work().read<std::int64_t>(vector_of(before), counts - 1);
}

void histogram(Call& call, std::int64_t* v) {
    const bool weighted = v[5] != 0;
    const Packed x = call.packed(2, DType::Float64, {v[1]}),
                 edges = call.packed(4, DType::Float64, {v[3] + 1}),
                 weights = call.packed(weighted ? 5 : 2, DType::Float64, {v[1]}),
                 out = call.packed(6, weighted ? DType::Float64 : DType::Int64, {v[3]});
    on_device::count_in_bins({weighted, true}, Call::views(x, edges, weights), Call::views(out),
                             call.work().device());
}

void cholesky(Call& call, std::int64_t* v) {
    if (v[2] == 0) return;
    const Packed in = call.copy(3, call.dtype(), {v[2], v[2]}),
                 out = call.packed(3, call.dtype(), {v[2], v[2]});
    on_device::cholesky({false}, Call::views(in), Call::views(out), call.work().device());
}

void inv(Call& call, std::int64_t* v) {
    if (v[2] == 0) return;
    const Packed in = call.packed(3, call.dtype(), {v[2], v[2]}),
                 out = call.packed(4, call.dtype(), {v[2], v[2]});
    on_device::inv({}, Call::views(in), Call::views(out), call.work().device());
}

void solve(Call& call, std::int64_t* v) {
    if (v[2] == 0 || v[3] == 0) return;
    const Packed in = call.packed(4, call.dtype(), {v[2], v[2]}),
                 sides = call.packed(5, call.dtype(), {v[2], v[3]});
    on_device::solve({}, Call::views(in, sides), Call::views(sides), call.work().device());
}

void det(Call& call, std::int64_t* v) {
    const DType t = call.dtype();
    const Packed in = call.packed(3, t, {v[2], v[2]}), out = call.packed(4, t, {1}),
                 sign = call.scratch(t, {1}), size = call.scratch(part_dtype(t), {1});
    on_device::det({}, Call::views(in), Call::views(out, sign, size), call.work().device());
}

/// The elements of a stack of matrices side by side: its own memory where they lie so.
DeviceVector packed_stack(Call& call, std::size_t k, Dims shape, Dims strides) {
    const DType t = call.dtype();
    const SlotMemory at = call.memory(k);
    const DeviceVector all{at.memory, 0, at.memory.bytes / size_of(t), t};
    const std::int64_t first = at.offset / size_of(t), size = element_count(shape);
    bool is_packed = true;
    std::int64_t below = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; below *= shape[axis])
        is_packed = is_packed && (shape[axis] == 1 || strides[axis] == below);
    if (is_packed) return all.from(first, size);
    const DeviceVector offsets = call.work().offsets(shape, strides),
                       made = call.work().scratch(t, size);
    call.work().run("copy_at_offsets", {all, offsets, made, first}, {size});
    return made;
}

void matmul(Call& call, std::int64_t* v) {
    std::vector<std::int64_t> lead, a_strides, b_strides;
    for (std::int64_t axis = 0; axis < v[12]; ++axis) {
        lead.push_back(v[13 + 3 * axis]);
        a_strides.push_back(v[14 + 3 * axis]);
        b_strides.push_back(v[15 + 3 * axis]);
    }
    auto shape_of = [&](std::int64_t rows, std::int64_t columns) {
        std::vector<std::int64_t> shape = lead;
        shape.insert(shape.end(), {rows, columns});
        return shape;
    };
    const auto a_shape = shape_of(v[2], v[4]), b_shape = shape_of(v[4], v[3]),
               out_shape = shape_of(v[2], v[3]);
    if (element_count(out_shape) == 0) return;
    a_strides.insert(a_strides.end(), {v[6], v[7]});
    b_strides.insert(b_strides.end(), {v[9], v[10]});
    Device& device = call.work().device();
    const Packed a(device, packed_stack(call, 5, a_shape, a_strides), a_shape),
        b(device, packed_stack(call, 8, b_shape, b_strides), b_shape),
        out(device, call.memory(11), call.dtype(), out_shape);
    on_device::matmul_into({}, Call::views(a, b), Call::views(out), device);
}

[[maybe_unused]] const bool are_added = add_device_natives({{"matmul", guarded<matmul>},
                                                            {"sort", guarded<sort>},
                                                            {"argsort", guarded<argsort>},
                                                            {"compress", guarded<compress>},
                                                            {"histogram", guarded<histogram>},
                                                            {"cholesky", guarded<cholesky>},
                                                            {"inv", guarded<inv>},
                                                            {"solve", guarded<solve>},
                                                            {"det", guarded<det>}});

}  // namespace

}  // namespace unisono::library
