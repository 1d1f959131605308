// The OpenCL functions that the back end calls, loaded from the ICD loader (libOpenCL.so.1) at run
// time.
#pragma once

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>

namespace unisono::opencl {

// One row per function: it becomes a member of Api and is looked up by its name.
#define UNISONO_OPENCL_FUNCTIONS(X)     \
    X(clGetPlatformIDs)                 \
    X(clGetPlatformInfo)                \
    X(clGetDeviceIDs)                   \
    X(clGetDeviceInfo)                  \
    X(clCreateSubDevices)               \
    X(clCreateContext)                  \
    X(clCreateCommandQueue)             \
    X(clCreateBuffer)                   \
    X(clRetainMemObject)                \
    X(clReleaseMemObject)               \
    X(clGetMemObjectInfo)               \
    X(clSetMemObjectDestructorCallback) \
    X(clEnqueueMapBuffer)               \
    X(clEnqueueUnmapMemObject)          \
    X(clRetainCommandQueue)             \
    X(clReleaseCommandQueue)            \
    X(clEnqueueReadBuffer)              \
    X(clEnqueueWriteBuffer)             \
    X(clEnqueueCopyBuffer)              \
    X(clCreateProgramWithSource)        \
    X(clCreateProgramWithBinary)        \
    X(clGetProgramInfo)                 \
    X(clBuildProgram)                   \
    X(clGetProgramBuildInfo)            \
    X(clReleaseProgram)                 \
    X(clCreateKernel)                   \
    X(clReleaseKernel)                  \
    X(clSetKernelArg)                   \
    X(clGetKernelWorkGroupInfo)         \
    X(clEnqueueNDRangeKernel)           \
    X(clEnqueueMarkerWithWaitList)      \
    X(clEnqueueBarrierWithWaitList)     \
    X(clGetEventProfilingInfo)          \
    X(clFlush)                          \
    X(clGetEventInfo)                   \
    X(clRetainEvent)                    \
    X(clReleaseEvent)                   \
    X(clSetEventCallback)               \
    X(clWaitForEvents)                  \
    X(clFinish)

// The same, of functions that a loader of OpenCL 1.2 does not have: null then.
#define UNISONO_OPENCL_2_FUNCTIONS(X) \
    X(clSVMAlloc)                     \
    X(clSVMFree)

struct Api {
#define UNISONO_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    UNISONO_OPENCL_FUNCTIONS(UNISONO_OPENCL_MEMBER)
    UNISONO_OPENCL_2_FUNCTIONS(UNISONO_OPENCL_MEMBER)
#undef UNISONO_OPENCL_MEMBER
    std::string problem;  ///< why the library cannot be used; empty if it can
};

/// The loaded functions; loads the library on the first call. It stays loaded until the process
/// ends.
const Api& api();

/// Name of an error code, such as "CL_OUT_OF_RESOURCES".
std::string error_name(cl_int code);

/// Throws a Device (or Memory) error that names the call, unless code is CL_SUCCESS.
void check(cl_int code, const char* call, const std::string& device);

}  // namespace unisono::opencl
