// Runs hand-built modules on an OpenCL device with arrays that live in test memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "backends/backend.h"
#include "ir/build.h"

namespace unisono::testing {

/// The first OpenCL device, or null where there is none.
inline Device* opencl_device() {
    Backend* backend = find_backend("opencl");
    if (!backend) return nullptr;
    std::vector<Device*> all = backend->devices();
    return all.empty() ? nullptr : all.front();
}

/// An array in device memory: a copy of `bytes` of host data, seen through offset, shape and
/// strides (in elements).
struct DeviceArray {
    std::vector<char> host;
    std::vector<std::int64_t> shape, strides;
    std::int64_t offset = 0;  ///< in bytes
    Memory memory;

    template <class T>
    static DeviceArray of(const std::vector<T>& data, std::vector<std::int64_t> shape = {}) {
        DeviceArray a;
        a.host.resize(data.size() * sizeof(T));
        if (!data.empty()) std::memcpy(a.host.data(), data.data(), a.host.size());
        a.shape = shape.empty() ? std::vector<std::int64_t>{static_cast<std::int64_t>(data.size())}
                                : std::move(shape);
        a.strides.assign(a.shape.size(), 1);
        for (std::size_t i = a.shape.size() - 1; i-- > 0;)
            a.strides[i] = a.strides[i + 1] * a.shape[i + 1];
        return a;
    }
    template <class T>
    std::vector<T> get() const {
        std::vector<T> out(host.size() / sizeof(T));
        if (!out.empty()) std::memcpy(out.data(), host.data(), host.size());
        return out;
    }
};

/// Copies the arrays in, launches, copies them out again.
inline Fault launch(Device& device, Executable& executable, std::vector<DeviceArray*> arrays,
                    const std::vector<Scalar>& scalars = {}, NDRange range = {},
                    std::span<std::uint64_t> results = {}) {
    std::vector<ArrayArg> args;
    std::vector<std::uint64_t> bits;
    for (DeviceArray* a : arrays) {
        a->memory = device.allocate(static_cast<std::int64_t>(a->host.size()));
        device.copy_in(a->memory, 0, a->host.data(), static_cast<std::int64_t>(a->host.size()));
        args.push_back({a->memory, a->offset, a->shape, a->strides});
    }
    for (Scalar s : scalars) bits.push_back(s.bits);
    LaunchArgs launch_args;
    launch_args.arrays = args;
    launch_args.scalars = bits;
    launch_args.range = range;
    launch_args.results = results;
    Fault fault = executable.launch(launch_args);
    device.synchronize();
    for (DeviceArray* a : arrays) {
        device.copy_out(a->host.data(), a->memory, 0, static_cast<std::int64_t>(a->host.size()));
        device.free(a->memory);
    }
    return fault;
}

inline Fault run(Device& device, ir::Module module, std::vector<DeviceArray*> arrays,
                 const std::vector<Scalar>& scalars = {}, NDRange range = {},
                 std::span<std::uint64_t> results = {}) {
    auto executable = device.compile(std::move(module), {});
    return launch(device, *executable, std::move(arrays), scalars, range, results);
}

/// A test that needs an OpenCL device and is skipped where there is none.
class OpenCL : public ::testing::Test {
  protected:
    void SetUp() override {
        device = opencl_device();
        if (!device) GTEST_SKIP() << "no OpenCL device";
    }
    Device* device = nullptr;
};

}  // namespace unisono::testing
