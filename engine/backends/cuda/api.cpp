// Finds the driver and its functions.
#include "backends/cuda/api.h"

#include <dlfcn.h>

#include "core/error.h"

namespace unisono::cuda {

namespace {

template <class F>
bool find(void* library, const char* name, F& function, std::string& why) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function) why = std::string("libcuda.so.1 lacks ") + name;
    return function != nullptr;
}

bool load(Api& a, std::string& why) {
    // The driver stays loaded: its own threads may outlive any point at which it could be closed.
    void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        why = "libcuda.so.1 was not found";
        return false;
    }
    bool all = find(lib, "cuInit", a.init, why) &&
               find(lib, "cuDriverGetVersion", a.driver_get_version, why) &&
               find(lib, "cuDeviceGetCount", a.device_get_count, why) &&
               find(lib, "cuDeviceGet", a.device_get, why) &&
               find(lib, "cuDeviceGetName", a.device_get_name, why) &&
               find(lib, "cuDeviceTotalMem_v2", a.device_total_mem, why) &&
               find(lib, "cuDeviceGetAttribute", a.device_get_attribute, why) &&
               find(lib, "cuDevicePrimaryCtxRetain", a.primary_context_retain, why) &&
               find(lib, "cuCtxSetCurrent", a.context_set_current, why) &&
               find(lib, "cuCtxSynchronize", a.context_synchronize, why) &&
               find(lib, "cuStreamQuery", a.stream_query, why) &&
               find(lib, "cuMemAlloc_v2", a.memory_allocate, why) &&
               find(lib, "cuMemFree_v2", a.memory_free, why) &&
               find(lib, "cuMemcpyHtoD_v2", a.copy_host_to_device, why) &&
               find(lib, "cuMemcpyDtoH_v2", a.copy_device_to_host, why) &&
               find(lib, "cuMemcpyDtoD_v2", a.copy_device_to_device, why) &&
               find(lib, "cuModuleLoadDataEx", a.module_load_data, why) &&
               find(lib, "cuModuleUnload", a.module_unload, why) &&
               find(lib, "cuModuleGetFunction", a.module_get_function, why) &&
               find(lib, "cuFuncGetAttribute", a.function_get_attribute, why) &&
               find(lib, "cuLaunchKernel", a.launch_kernel, why) &&
               find(lib, "cuGetErrorName", a.get_error_name, why) &&
               find(lib, "cuGetErrorString", a.get_error_string, why);
    if (!all) return false;
    if (Result r = a.init(0); r != 0) {
        why = "cuInit failed with code " + std::to_string(r);
        return false;
    }
    return true;
}

}  // namespace

const Api* api(std::string& why) {
    static std::string reason;
    static Api functions{};
    static const bool present = load(functions, reason);
    why = reason;
    return present ? &functions : nullptr;
}

void check(const Api& a, Result result, const char* call) {
    if (result == 0) return;
    const char* name = nullptr;
    const char* text = nullptr;
    a.get_error_name(result, &name);
    a.get_error_string(result, &text);
    constexpr Result out_of_memory = 2;
    fail(result == out_of_memory ? ErrorKind::Memory : ErrorKind::Device,
         std::string("cuda: ") + call + " failed; got " + (name ? name : std::to_string(result)) +
             (text ? std::string(": ") + text : ""));
}

}  // namespace unisono::cuda
