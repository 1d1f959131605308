// Asks the driver about a device.
#pragma once

#include <string>
#include <vector>

#include "backends/opencl/api.h"

namespace unisono::opencl {

/// The answer, or `otherwise` where the driver has none.
template <class T>
T query(cl_device_id id, cl_device_info what, T otherwise = {}) {
    T value = otherwise;
    return api().clGetDeviceInfo(id, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value
                                                                                        : otherwise;
}

std::string query_text(cl_device_id id, cl_device_info what);

/// Several numbers: as many as the driver has.
template <class T>
std::vector<T> query_list(cl_device_id id, cl_device_info what) {
    std::size_t size = 0;
    if (api().clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::vector<T> list(size / sizeof(T));
    if (api().clGetDeviceInfo(id, what, size, list.data(), nullptr) != CL_SUCCESS) return {};
    return list;
}

}  // namespace unisono::opencl
