// The part of the CUDA driver's interface that is used, loaded from libcuda.so.1 at run time.
#pragma once

#include <cstddef>
#include <string>

namespace unisono::cuda {

using Result = int;  ///< CUresult
inline constexpr Result out_of_memory = 2, not_ready = 600, peer_access_already_enabled = 704;
using Device = int;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using MemoryPool = struct MemoryPoolHandle*;
using Link = struct LinkHandle*;
using GraphHandle = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using GraphExec = struct GraphExecObject*;
using Address = unsigned long long;

/// CUdevice_attribute values.
enum DeviceAttribute : int {
    max_threads_per_block = 1,
    max_block_dim_x = 2,
    max_block_dim_y = 3,
    max_block_dim_z = 4,
    max_shared_memory_per_block = 8,
    warp_size = 10,
    multiprocessor_count = 16,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    memory_pools_supported = 115,
};
/// CUfunction_attribute values.
enum FunctionAttribute : int {
    function_max_threads_per_block = 0,
    function_shared_bytes = 1,
    function_constant_bytes = 2,
    function_local_bytes = 3,
    function_registers = 4,
    function_ptx_version = 5,
    function_binary_version = 6,
};
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0, event_disable_timing = 2;
inline constexpr int input_is_ptx = 1;                    // CU_JIT_INPUT_PTX
inline constexpr int error_log = 5, error_log_bytes = 6;  // CU_JIT_ERROR_LOG_BUFFER, its size
inline constexpr int pool_release_threshold = 4;          // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
inline constexpr int pointer_device_ordinal = 9;          // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr int memory_of_host = 1, memory_of_device = 2;  // CUmemorytype

/// CUDA_KERNEL_NODE_PARAMS, in its first form, which all drivers take.
struct KernelNode {
    Function function = nullptr;
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared_bytes = 0;
    void **parameters = nullptr, **extra = nullptr;
};
static_assert(sizeof(KernelNode) == 56);

/// CUDA_MEMCPY3D of one row.
struct CopyNode {
    struct Side {
        std::size_t x = 0, y = 0, z = 0, level = 0;
        int memory_type = memory_of_device;
        void* host = nullptr;
        Address device = 0;
        void *array = nullptr, *reserved = nullptr;
        std::size_t pitch = 0, height = 0;
    };
    Side from, to;
    std::size_t width = 0, height = 1, depth = 1;
};
static_assert(sizeof(CopyNode) == 200);

// One row per function: its member in Api, its name in the library, its parameters.
#define UNISONO_CUDA_FUNCTIONS(X)                                                                  \
    X(init, cuInit, (unsigned flags))                                                              \
    X(driver_get_version, cuDriverGetVersion, (int* version))                                      \
    X(device_get_count, cuDeviceGetCount, (int* count))                                            \
    X(device_get, cuDeviceGet, (Device * device, int ordinal))                                     \
    X(device_get_name, cuDeviceGetName, (char* name, int length, Device device))                   \
    X(device_total_mem, cuDeviceTotalMem_v2, (std::size_t * bytes, Device device))                 \
    X(device_get_attribute, cuDeviceGetAttribute,                                                  \
      (int* value, DeviceAttribute attribute, Device device))                                      \
    X(primary_context_retain, cuDevicePrimaryCtxRetain, (Context * context, Device device))        \
    X(context_get_current, cuCtxGetCurrent, (Context * context))                                   \
    X(context_push, cuCtxPushCurrent_v2, (Context context))                                        \
    X(context_pop, cuCtxPopCurrent_v2, (Context * context))                                        \
    X(context_synchronize, cuCtxSynchronize, ())                                                   \
    X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                            \
    X(stream_get_context, cuStreamGetCtx, (Stream stream, Context * context))                      \
    X(pointer_get_attribute, cuPointerGetAttribute, (void* value, int attribute, Address address)) \
    X(can_access_peer, cuDeviceCanAccessPeer, (int* can, Device device, Device peer))              \
    X(enable_peer_access, cuCtxEnablePeerAccess, (Context peer, unsigned flags))                   \
    X(copy_to_peer, cuMemcpyPeerAsync,                                                             \
      (Address to, Context to_context, Address from, Context from_context, std::size_t bytes,      \
       Stream stream))                                                                             \
    X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                    \
    X(stream_wait_event, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))          \
    X(event_create, cuEventCreate, (Event * event, unsigned flags))                                \
    X(event_destroy, cuEventDestroy_v2, (Event event))                                             \
    X(event_record, cuEventRecord, (Event event, Stream stream))                                   \
    X(event_query, cuEventQuery, (Event event))                                                    \
    X(stream_query, cuStreamQuery, (Stream stream))                                                \
    X(event_synchronize, cuEventSynchronize, (Event event))                                        \
    X(event_elapsed_time, cuEventElapsedTime, (float* ms, Event begin, Event end))                 \
    X(memory_allocate, cuMemAlloc_v2, (Address * address, std::size_t bytes))                      \
    X(memory_free, cuMemFree_v2, (Address address))                                                \
    X(host_allocate, cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))          \
    X(copy_host_to_device, cuMemcpyHtoDAsync_v2,                                                   \
      (Address to, const void* from, std::size_t bytes, Stream stream))                            \
    X(copy_device_to_host, cuMemcpyDtoHAsync_v2,                                                   \
      (void* to, Address from, std::size_t bytes, Stream stream))                                  \
    X(copy_device_to_device, cuMemcpyDtoDAsync_v2,                                                 \
      (Address to, Address from, std::size_t bytes, Stream stream))                                \
    X(module_load_data, cuModuleLoadDataEx,                                                        \
      (Module * module, const void* image, unsigned options, int* keys, void** values))            \
    X(module_unload, cuModuleUnload, (Module module))                                              \
    X(module_get_function, cuModuleGetFunction,                                                    \
      (Function * function, Module module, const char* name))                                      \
    X(function_get_attribute, cuFuncGetAttribute,                                                  \
      (int* value, FunctionAttribute attribute, Function function))                                \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                      \
      (int* blocks, Function function, int threads, std::size_t shared_bytes))                     \
    X(launch_kernel, cuLaunchKernel,                                                               \
      (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream,                   \
       void** parameters, void** extra))                                                           \
    X(link_create, cuLinkCreate_v2, (unsigned options, int* keys, void** values, Link* link))      \
    X(link_add_data, cuLinkAddData_v2,                                                             \
      (Link link, int type, void* data, std::size_t bytes, const char* name, unsigned options,     \
       int* keys, void** values))                                                                  \
    X(link_complete, cuLinkComplete, (Link link, void** cubin, std::size_t* bytes))                \
    X(link_destroy, cuLinkDestroy, (Link link))                                                    \
    X(get_error_name, cuGetErrorName, (Result result, const char** name))                          \
    X(get_error_string, cuGetErrorString, (Result result, const char** text))

struct Api {
#define UNISONO_CUDA_MEMBER(member, name, parameters) Result(*member) parameters = nullptr;
    UNISONO_CUDA_FUNCTIONS(UNISONO_CUDA_MEMBER)
#undef UNISONO_CUDA_MEMBER
    // Since CUDA 11.2; null in older drivers.
    Result (*memory_allocate_async)(Address* address, std::size_t bytes, Stream stream) = nullptr;
    Result (*memory_free_async)(Address address, Stream stream) = nullptr;
    // Graphs, since CUDA 11.4; all or none of them.
    Result (*graph_create)(GraphHandle* graph, unsigned flags) = nullptr;
    Result (*graph_destroy)(GraphHandle graph) = nullptr;
    Result (*graph_add_kernel)(GraphNode* node, GraphHandle graph, const GraphNode* before,
                               std::size_t count, const KernelNode* made) = nullptr;
    Result (*graph_add_copy)(GraphNode* node, GraphHandle graph, const GraphNode* before,
                             std::size_t count, const CopyNode* made, Context context) = nullptr;
    Result (*graph_instantiate)(GraphExec* exec, GraphHandle graph,
                                unsigned long long flags) = nullptr;
    Result (*graph_exec_destroy)(GraphExec exec) = nullptr;
    Result (*graph_exec_set_kernel)(GraphExec exec, GraphNode node,
                                    const KernelNode* made) = nullptr;
    Result (*graph_exec_set_copy)(GraphExec exec, GraphNode node, const CopyNode* made,
                                  Context context) = nullptr;
    Result (*graph_launch)(GraphExec exec, Stream stream) = nullptr;
    /// A driver without a GPU, as tests have one, runs kernels as the LLVM IR that their PTX was
    /// made of; null in NVIDIA's.
    void (*take_kernels)(const char* ptx, const char* llvm_ir) = nullptr;
};

/// The driver, initialised, or null; `why` says what is missing.
const Api* api(std::string& why);

/// Name of a result, such as "CUDA_ERROR_INVALID_VALUE".
std::string error_name(const Api& api, Result result);
/// Whether no call for the device works any more behind such a result.
bool is_lost(Result result);

/// Throws a Device error (Memory for "out of memory") that names the call, where result is not 0.
void check(const Api& api, Result result, const char* call, const std::string& device);

}  // namespace unisono::cuda
