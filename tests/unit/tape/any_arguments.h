// Arguments for any function, so that one test runs many modules on two devices.
#pragma once

#include <cstring>
#include <vector>

#include "backends/backend.h"
#include "unit/tape/host_arrays.h"

namespace unisono::testing {

/// Arguments made for any function: arrays of 96 elements per axis-product, filled by a fixed rule.
struct AnyArguments {
    std::vector<std::vector<std::uint64_t>> data;  // 8 bytes per element suffice for every dtype
    HostArrays arrays;
    std::vector<std::uint64_t> scalars, results;

    explicit AnyArguments(const ir::Function& f) {
        data.reserve(f.params.size());
        for (const ir::Param& p : f.params) {
            if (!p.is_array()) {
                scalars.push_back(Scalar::of(p.dtype, 37).bits);
                continue;
            }
            int rank = f.arrays[static_cast<std::size_t>(p.array)].rank;
            std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), rank == 1   ? 192
                                                                            : rank == 2 ? 14
                                                                                        : 4);
            std::int64_t count = 1;
            for (auto n : shape) count *= n;
            auto& bytes = data.emplace_back(static_cast<std::size_t>(count));
            auto* raw = reinterpret_cast<char*>(bytes.data());
            for (std::int64_t i = 0; i < count; ++i) {
                Scalar s = Scalar::of(p.dtype, is_bool(p.dtype) ? i % 2 : (i * 7 + 3) % 61);
                std::memcpy(raw + i * size_of(p.dtype), &s.bits,
                            static_cast<std::size_t>(size_of(p.dtype)));
            }
            // Strides of the classes that the array was declared with; others are contiguous.
            std::vector<std::int64_t> strides(shape.size());
            std::int64_t step = 1, first = 0;
            for (std::size_t k = shape.size(); k-- > 0; step *= shape[k]) {
                ir::StrideClass c = f.arrays[static_cast<std::size_t>(p.array)].strides[k];
                strides[k] = c == ir::StrideClass::Zero       ? 0
                             : c == ir::StrideClass::MinusOne ? -1
                                                              : step;
                if (strides[k] < 0) first = shape[k] - 1;
            }
            arrays.add(bytes, shape, strides, first * size_of(p.dtype) / 8);
        }
        results.resize(f.results.size());
    }

    /// Runs on device memory: host memory itself where the device can use it, else copies.
    Fault run(Device& device, ir::Module module, int threads) {
        auto executable = device.compile(std::move(module), {});
        std::vector<ArrayArg> copies(arrays.args().begin(), arrays.args().end());
        bool on_host = device.info().host_memory;
        for (ArrayArg& a : copies) {
            if (on_host) continue;
            Memory host = a.memory;
            a.memory = device.allocate(host.bytes);
            device.copy_in(a.memory, 0, reinterpret_cast<void*>(host.handle), host.bytes);
        }
        LaunchArgs args;
        args.arrays = copies;
        args.scalars = scalars;
        args.results = results;
        args.range.dimensions = 1;
        args.range.global = {192, 1, 1};
        args.range.local = {64, 1, 1};
        args.threads = threads;
        Fault fault = executable->launch(args);
        for (std::size_t k = 0; k < copies.size() && !on_host; ++k) {
            Memory host = arrays.args()[k].memory;
            device.copy_out(reinterpret_cast<void*>(host.handle), copies[k].memory, 0, host.bytes);
            device.free(copies[k].memory);
        }
        return fault;
    }
};

}  // namespace unisono::testing
