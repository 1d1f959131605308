// What the CUDA driver tells of its devices.
#include "backends/properties.h"

#include "backends/cuda/device.h"

namespace unisono::cuda {

namespace {

struct Question {
    const char* name;  ///< CUdevice_attribute's, in lower case
    int attribute;
    bool is_flag;
};

constexpr Question questions[] = {
    {"max_threads_per_block", 1, false},
    {"max_block_dim_x", 2, false},
    {"max_block_dim_y", 3, false},
    {"max_block_dim_z", 4, false},
    {"max_grid_dim_x", 5, false},
    {"max_grid_dim_y", 6, false},
    {"max_grid_dim_z", 7, false},
    {"max_shared_memory_per_block", 8, false},
    {"total_constant_memory", 9, false},
    {"warp_size", 10, false},
    {"max_registers_per_block", 12, false},
    {"clock_rate", 13, false},
    {"multiprocessor_count", 16, false},
    {"integrated", 18, true},
    {"can_map_host_memory", 19, true},
    {"concurrent_kernels", 31, true},
    {"pci_bus_id", 33, false},
    {"pci_device_id", 34, false},
    {"memory_clock_rate", 36, false},
    {"global_memory_bus_width", 37, false},
    {"l2_cache_size", 38, false},
    {"max_threads_per_multiprocessor", 39, false},
    {"async_engine_count", 40, false},
    {"unified_addressing", 41, true},
    {"compute_capability_major", 75, false},
    {"compute_capability_minor", 76, false},
    {"max_shared_memory_per_multiprocessor", 81, false},
    {"max_registers_per_multiprocessor", 82, false},
    {"max_shared_memory_per_block_optin", 97, false},
    {"max_blocks_per_multiprocessor", 106, false},
    {"memory_pools_supported", 115, true},
};

}  // namespace

std::vector<DeviceProperty> CudaDevice::properties() {
    require_usable();
    std::vector<DeviceProperty> list{
        {"name", info_.description},
        {"platform", std::string("NVIDIA CUDA")},
        {"driver_version", static_cast<std::int64_t>(driver_)},
        {"ptx", architecture_ + " " + ptx_version_.substr(1)},
        {"aspects", std::vector<std::string>{"queue_profiling", "out_of_order_queue"}},
    };
    for (const Question& q : questions) {
        int value = 0;
        // Older drivers do not know all of them.
        if (api_.device_get_attribute(&value, static_cast<DeviceAttribute>(q.attribute), device_))
            continue;
        if (q.is_flag)
            list.push_back({q.name, value != 0});
        else
            list.push_back({q.name, static_cast<std::int64_t>(value)});
    }
    return list;
}

}  // namespace unisono::cuda
