// Loads the OpenCL library and turns its error codes into errors that say what to do.
#include "backends/opencl/api.h"

#include <dlfcn.h>

#include <array>
#include <string_view>

#include "core/error.h"

namespace unisono::opencl {

static Api load() {
    Api api;
    // Never closed: drivers keep threads and exit handlers that must find their code.
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = dlerror();
        api.problem = why ? why : "libOpenCL.so.1 cannot be loaded";
        return api;
    }
#define UNISONO_OPENCL_LOAD(name) \
    api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name));
#define UNISONO_OPENCL_NEED(name) \
    if (!api.name) api.problem = "libOpenCL.so.1 has no function " #name;
    UNISONO_OPENCL_FUNCTIONS(UNISONO_OPENCL_LOAD)
    UNISONO_OPENCL_FUNCTIONS(UNISONO_OPENCL_NEED)
    UNISONO_OPENCL_2_FUNCTIONS(UNISONO_OPENCL_LOAD)
#undef UNISONO_OPENCL_NEED
#undef UNISONO_OPENCL_LOAD
    return api;
}

const Api& api() {
    static const Api loaded = load();
    return loaded;
}

namespace {

struct ErrorText {
    cl_int code;
    std::string_view name;
    std::string_view advice;
};

constexpr std::string_view report_it =
    "this is a fault of unisono or of the driver; please report the program";
constexpr std::string_view too_large = "use smaller arrays, free others, or use another device";

constexpr std::array errors = {
    ErrorText{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", "see `python -m unisono doctor`"},
    ErrorText{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE",
              "another process may hold the device; use another device"},
    ErrorText{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE",
              "the driver cannot compile; use another device"},
    ErrorText{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", too_large},
    ErrorText{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", too_large},
    ErrorText{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", too_large},
    ErrorText{CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP", report_it},
    ErrorText{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", "see the build log"},
    ErrorText{CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET", report_it},
    ErrorText{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
              "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "an earlier kernel failed"},
    ErrorText{CL_INVALID_VALUE, "CL_INVALID_VALUE", report_it},
    ErrorText{CL_INVALID_DEVICE, "CL_INVALID_DEVICE", report_it},
    ErrorText{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", report_it},
    ErrorText{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", report_it},
    ErrorText{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT", report_it},
    ErrorText{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", report_it},
    ErrorText{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE", report_it},
    ErrorText{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", report_it},
    ErrorText{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", report_it},
    ErrorText{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX", report_it},
    ErrorText{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", report_it},
    ErrorText{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", report_it},
    ErrorText{CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION", report_it},
    ErrorText{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE",
              "give another local size, or None"},
    ErrorText{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE",
              "give another local size, or None"},
    ErrorText{CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET", report_it},
    ErrorText{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", too_large},
    ErrorText{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE",
              "give a global size of at least 1"},
    ErrorText{-1001, "CL_PLATFORM_NOT_FOUND_KHR", "install a driver, for instance pocl-opencl-icd"},
};

const ErrorText* find(cl_int code) {
    for (const ErrorText& e : errors) {
        if (e.code == code) return &e;
    }
    return nullptr;
}

}  // namespace

std::string error_name(cl_int code) {
    const ErrorText* e = find(code);
    return e ? std::string(e->name) : "OpenCL error " + std::to_string(code);
}

void check(cl_int code, const char* call, const std::string& device) {
    if (code == CL_SUCCESS) return;
    const ErrorText* e = find(code);
    bool is_memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ||
                     code == CL_INVALID_BUFFER_SIZE;
    fail(is_memory ? ErrorKind::Memory : ErrorKind::Device,
         "device '" + device + "': " + call + " failed; got " + error_name(code) + "; " +
             std::string(e ? e->advice : report_it));
}

}  // namespace unisono::opencl
