// Finds the driver and its functions, and turns its results into errors that say what to do.
#include "backends/cuda/api.h"

#include <dlfcn.h>

#include "core/error.h"

namespace unisono::cuda {

namespace {

bool load(Api& a, std::string& why) {
    // The driver stays loaded: its own threads may outlive any point at which it could be closed.
    void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        why = "libcuda.so.1 was not found";
        return false;
    }
    auto find = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(lib, name));
        return function != nullptr;
    };
#define UNISONO_CUDA_FIND(member, name, parameters) \
    if (!find(#name, a.member)) why = "libcuda.so.1 lacks " #name;
    UNISONO_CUDA_FUNCTIONS(UNISONO_CUDA_FIND)
#undef UNISONO_CUDA_FIND
    if (!why.empty()) return false;
    find("cuMemAllocAsync", a.memory_allocate_async);
    find("cuMemFreeAsync", a.memory_free_async);
    const bool has_graphs = find("cuGraphCreate", a.graph_create) &&
                            find("cuGraphDestroy", a.graph_destroy) &&
                            find("cuGraphAddKernelNode", a.graph_add_kernel) &&
                            find("cuGraphAddMemcpyNode", a.graph_add_copy) &&
                            find("cuGraphInstantiateWithFlags", a.graph_instantiate) &&
                            find("cuGraphExecDestroy", a.graph_exec_destroy) &&
                            find("cuGraphExecKernelNodeSetParams", a.graph_exec_set_kernel) &&
                            find("cuGraphExecMemcpyNodeSetParams", a.graph_exec_set_copy);
    if (has_graphs) find("cuGraphLaunch", a.graph_launch);
    find("unisonoDriverTakesKernels", a.take_kernels);
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

std::string error_name(const Api& a, Result result) {
    const char* name = nullptr;
    a.get_error_name(result, &name);
    return name ? name : "CUDA error " + std::to_string(result);
}

bool is_lost(Result result) {
    switch (result) {
        case 201:  // the context is none: another library destroyed it
        case 214:  // memory that the hardware found wrong
        case 219:
        case 220:
        case 700:  // from here on: a kernel did what no kernel may
        case 702:
        case 709:  // the context is destroyed
        case 710:
        case 714:
        case 715:
        case 716:
        case 717:
        case 718:
        case 719:
        case 721:
        case 999: return true;
        default: return false;
    }
}

void check(const Api& a, Result result, const char* call, const std::string& device) {
    if (result == 0) return;
    const std::string got =
        "device '" + device + "': " + call + " failed; got " + error_name(a, result) + "; ";
    if (result == out_of_memory)
        fail(ErrorKind::Memory, got + "use smaller arrays, free others, or use another device");
    if (is_lost(result)) {
        fail(ErrorKind::Device,
             got +
                 "the device is lost for this process, and what its arrays hold; start a new "
                 "process, or use another device");
    }
    fail(ErrorKind::Device,
         got + "this is a fault of unisono or of the driver; please report the program");
}

}  // namespace unisono::cuda
