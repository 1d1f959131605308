// Maps memory on huge pages, or asks the driver for shared virtual memory.
#include "backends/opencl/host_memory.h"

#include <sys/mman.h>

#include "core/error.h"
#include "core/pool.h"

namespace unisono::opencl {

namespace {
std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
}  // namespace

HostMemory HostMemory::map(std::int64_t bytes) {
    void* data = mmap(nullptr, size(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        fail(ErrorKind::Memory, "memory: an array of " + pool::megabytes(bytes) +
                                    " does not fit; delete arrays, or use a smaller dtype");
    }
    if (bytes >= huge_from) madvise(data, size(bytes), MADV_HUGEPAGE);
    return {data, bytes, nullptr};
}

HostMemory HostMemory::allocate_shared(cl_context context, std::int64_t bytes) {
    void* data = nullptr;
    if (api().clSVMAlloc && api().clSVMFree) {
        constexpr cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
        data = api().clSVMAlloc(context, flags, size(bytes), 0);
    }
    return {data, bytes, context};
}

HostMemory::~HostMemory() {
    if (!data_) return;
    if (context_)
        api().clSVMFree(context_, data_);
    else
        munmap(data_, size(bytes_));
}

}  // namespace unisono::opencl
