// Memory, copies and properties of a CUDA device.
#include "backends/cuda/device.h"

#include <algorithm>
#include <mutex>

#include "backends/cuda/executable.h"
#include "core/error.h"

namespace unisono::cuda {

CudaDevice::CudaDevice(const Api& api, int ordinal) : api_(api) {
    check(api_.device_get(&device_, ordinal), "cuDeviceGet");
    char name[256] = {};
    check(api_.device_get_name(name, sizeof name - 1, device_), "cuDeviceGetName");
    std::size_t bytes = 0;
    check(api_.device_total_mem(&bytes, device_), "cuDeviceTotalMem");
    info_.name = "cuda:" + std::to_string(ordinal);
    info_.kind = "gpu";
    info_.vendor = "NVIDIA";
    info_.description = name;
    info_.compute_units = attribute(multiprocessor_count);
    info_.memory_bytes = static_cast<std::int64_t>(bytes);
    info_.max_work_group_size = attribute(max_threads_per_block);
    info_.max_work_item_sizes = {attribute(max_block_dim_x), attribute(max_block_dim_y),
                                 attribute(max_block_dim_z)};
    info_.local_memory_bytes = attribute(max_shared_memory_per_block);
    choose_architecture(10 * attribute(compute_capability_major) +
                        attribute(compute_capability_minor));
}

int CudaDevice::attribute(DeviceAttribute a) const {
    int value = 0;
    check(api_.device_get_attribute(&value, a, device_), "cuDeviceGetAttribute");
    return value;
}

/// The newest form that both the device and its driver take; the driver compiles PTX of an older
/// form for any newer device.
void CudaDevice::choose_architecture(int capability) {
    int driver = 0;
    check(api_.driver_get_version(&driver), "cuDriverGetVersion");
    struct Form {
        int capability, driver;
        const char *architecture, *ptx_version;
    };
    static constexpr Form forms[] = {{90, 11080, "sm_90", "+ptx78"},
                                     {80, 11000, "sm_80", "+ptx70"},
                                     {75, 10000, "sm_75", "+ptx63"},
                                     {70, 10000, "sm_70", "+ptx63"}};
    for (const Form& f : forms) {
        if (capability < f.capability || driver < f.driver) continue;
        architecture_ = f.architecture;
        ptx_version_ = f.ptx_version;
        return;
    }
    fail(ErrorKind::Device, "cuda: this device or its driver is too old; got compute capability " +
                                std::to_string(capability / 10) + "." +
                                std::to_string(capability % 10) + " and driver " +
                                std::to_string(driver) + "; expected 7.0 and 10000 or later");
}

/// The primary context is made when the device is first used: listing devices takes no memory.
void CudaDevice::enter() const {
    require_usable();
    auto& self = const_cast<CudaDevice&>(*this);
    static std::mutex& mutex = *new std::mutex;
    std::lock_guard lock(mutex);
    if (!context_)
        check(api_.primary_context_retain(&self.context_, device_), "cuDevicePrimaryCtxRetain");
    check(api_.context_set_current(context_), "cuCtxSetCurrent");
}

Memory CudaDevice::allocate(std::int64_t bytes) {
    enter();
    Address address = 0;
    check(
        api_.memory_allocate(&address, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))),
        "cuMemAlloc");
    return {static_cast<std::uintptr_t>(address), bytes};
}

void CudaDevice::free(Memory memory) noexcept {
    if (!memory.handle || !is_usable() || api_.context_set_current(context_) != 0) return;
    api_.memory_free(memory.handle);
}

void CudaDevice::copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) {
    if (bytes <= 0) return;
    enter();
    check(api_.copy_host_to_device(to.handle + static_cast<Address>(offset), from,
                                   static_cast<std::size_t>(bytes)),
          "cuMemcpyHtoD");
}

void CudaDevice::copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) {
    if (bytes <= 0) return;
    enter();
    check(api_.copy_device_to_host(to, from.handle + static_cast<Address>(offset),
                                   static_cast<std::size_t>(bytes)),
          "cuMemcpyDtoH");
}

void CudaDevice::copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
                      std::int64_t bytes) {
    if (bytes <= 0) return;
    enter();
    Address target = to.handle + static_cast<Address>(to_offset);
    Address source = from.handle + static_cast<Address>(from_offset);
    Address distance = target > source ? target - source : source - target;
    auto size = static_cast<std::size_t>(bytes);
    if (distance >= size) {
        check(api_.copy_device_to_device(target, source, size), "cuMemcpyDtoD");
        return;
    }
    // The driver does not define copies between ranges that overlap.
    Memory between = allocate(bytes);
    check(api_.copy_device_to_device(between.handle, source, size), "cuMemcpyDtoD");
    check(api_.copy_device_to_device(target, between.handle, size), "cuMemcpyDtoD");
    free(between);
}

std::unique_ptr<Executable> CudaDevice::compile(ir::Module module, const CompileOptions& options) {
    return std::make_unique<CudaExecutable>(*this, std::move(module), options);
}

void CudaDevice::synchronize() {
    enter();
    check(api_.context_synchronize(), "cuCtxSynchronize");
}

}  // namespace unisono::cuda
