// The part of the CUDA driver's interface that is used, loaded from libcuda.so.1 at run time.
#pragma once

#include <cstddef>
#include <string>

namespace unisono::cuda {

using Result = int;  ///< 0: success
inline constexpr Result not_ready = 600;
using Device = int;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Address = unsigned long long;

/// CUdevice_attribute and CUfunction_attribute values.
enum DeviceAttribute : int {
    max_threads_per_block = 1,
    max_block_dim_x = 2,
    max_block_dim_y = 3,
    max_block_dim_z = 4,
    max_shared_memory_per_block = 8,
    multiprocessor_count = 16,
    compute_capability_major = 75,
    compute_capability_minor = 76,
};
enum FunctionAttribute : int { function_max_threads_per_block = 0 };

struct Api {
    Result (*init)(unsigned flags);
    Result (*driver_get_version)(int* version);
    Result (*device_get_count)(int* count);
    Result (*device_get)(Device* device, int ordinal);
    Result (*device_get_name)(char* name, int length, Device device);
    Result (*device_total_mem)(std::size_t* bytes, Device device);
    Result (*device_get_attribute)(int* value, DeviceAttribute attribute, Device device);
    Result (*primary_context_retain)(Context* context, Device device);
    Result (*context_set_current)(Context context);
    Result (*context_synchronize)();
    Result (*stream_query)(void* stream);
    Result (*memory_allocate)(Address* address, std::size_t bytes);
    Result (*memory_free)(Address address);
    Result (*copy_host_to_device)(Address to, const void* from, std::size_t bytes);
    Result (*copy_device_to_host)(void* to, Address from, std::size_t bytes);
    Result (*copy_device_to_device)(Address to, Address from, std::size_t bytes);
    Result (*module_load_data)(Module* module, const void* image, unsigned options, int* keys,
                               void** values);
    Result (*module_unload)(Module module);
    Result (*module_get_function)(Function* function, Module module, const char* name);
    Result (*function_get_attribute)(int* value, FunctionAttribute attribute, Function function);
    Result (*launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, Stream stream, void** parameters, void** extra);
    Result (*get_error_name)(Result result, const char** name);
    Result (*get_error_string)(Result result, const char** text);
};

/// The driver, initialised, or null; `why` says what is missing.
const Api* api(std::string& why);

/// Throws a Device error (Memory for "out of memory") that names the call, where result is not 0.
void check(const Api& api, Result result, const char* call);

}  // namespace unisono::cuda
