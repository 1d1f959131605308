// Memory of the host under OpenCL buffers: large blocks lie on huge pages, which drivers do not ask
// for, so that their first use costs few page faults.
#pragma once

#include <cstdint>
#include <utility>

#include "backends/opencl/api.h"

namespace unisono::opencl {

class HostMemory {
  public:
    static constexpr std::int64_t huge_from = std::int64_t{4} << 20;

    HostMemory(HostMemory&& o) noexcept
        : data_(std::exchange(o.data_, nullptr)), bytes_(o.bytes_), context_(o.context_) {}
    HostMemory& operator=(HostMemory&&) = delete;
    ~HostMemory();

    static HostMemory none() { return {nullptr, 0, nullptr}; }
    /// Whole pages. Throws a Memory error.
    static HostMemory map(std::int64_t bytes);
    /// Shared virtual memory of a context, in which every byte may be used by host and device;
    /// empty where there is none.
    static HostMemory allocate_shared(cl_context context, std::int64_t bytes);

    char* data() const { return static_cast<char*>(data_); }
    std::int64_t bytes() const { return bytes_; }

  private:
    HostMemory(void* data, std::int64_t bytes, cl_context context)
        : data_(data), bytes_(bytes), context_(context) {}

    void* data_;
    std::int64_t bytes_;
    cl_context context_;  ///< of shared virtual memory; null: mapped
};

}  // namespace unisono::opencl
