// Memory that host and device use, pinned memory, and buffers of others.
#include <algorithm>
#include <utility>

#include "backends/opencl/device.h"
#include "backends/opencl/query.h"
#include "core/error.h"

namespace unisono::opencl {

namespace {

cl_mem buffer(Memory m) { return reinterpret_cast<cl_mem>(m.handle); }
std::uintptr_t handle(cl_mem m) { return reinterpret_cast<std::uintptr_t>(m); }
std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

void CL_CALLBACK free_host_memory(cl_mem, void* data) { delete static_cast<HostMemory*>(data); }

class Block : public MemoryBlock {
  public:
    Block(OpenCLDevice& d, MemoryKind k, cl_mem made, std::int64_t bytes, char* address)
        : device_(d) {
        kind = k;
        memory = {handle(made), bytes};
        host = address;
        device_.note_use(kind, bytes);
    }
    /// The driver keeps the buffer until the commands that use it are done.
    ~Block() override {
        device_.note_use(kind, -memory.bytes);
        device_.release(buffer(memory));
    }

  private:
    OpenCLDevice& device_;
};

/// Memory of the host that the driver has allocated, and mapped for good.
class PinnedBlock final : public MemoryBlock {
  public:
    PinnedBlock(OpenCLDevice& d, cl_context context, std::int64_t bytes)
        : device_(d), bytes_(bytes) {
        cl_int code = CL_SUCCESS;
        buffer_ = api().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                       size(bytes), nullptr, &code);
        device_.check(code, "clCreateBuffer");
        void* mapped = api().clEnqueueMapBuffer(device_.own_queue()->handle(), buffer_, CL_TRUE,
                                                CL_MAP_READ | CL_MAP_WRITE, 0, size(bytes), 0,
                                                nullptr, nullptr, &code);
        if (code != CL_SUCCESS) device_.release(buffer_);
        device_.check(code, "clEnqueueMapBuffer");
        kind = MemoryKind::Pinned;
        host = static_cast<char*>(mapped);
        device_.note_use(kind, bytes_);
    }
    ~PinnedBlock() override {
        device_.note_use(kind, -bytes_);
        if (!device_.is_usable()) return;
        api().clEnqueueUnmapMemObject(device_.own_queue()->handle(), buffer_, host, 0, nullptr,
                                      nullptr);
        device_.release(buffer_);
    }

  private:
    OpenCLDevice& device_;
    cl_mem buffer_ = nullptr;
    std::int64_t bytes_;
};

/// Memory of others, and their queue.
class ForeignBlock final : public MemoryBlock {
  public:
    /// Owns the buffer.
    ForeignBlock(OpenCLDevice& d, ForeignMemory theirs, cl_mem made, std::int64_t bytes)
        : device_(d), theirs_(std::move(theirs)) {
        kind = theirs_.buffer ? MemoryKind::Device : MemoryKind::Shared;
        memory = {handle(made), bytes};
        host = static_cast<char*>(theirs_.address);
        if (theirs_.queue) api().clRetainCommandQueue(queue());
    }
    ~ForeignBlock() override {
        if (!device_.is_usable()) return;
        if (theirs_.queue) api().clReleaseCommandQueue(queue());
        device_.release(buffer(memory));
    }
    void wait_for_others() override {
        if (theirs_.queue) device_.check(api().clFinish(queue()), "clFinish");
    }

  private:
    cl_command_queue queue() const { return static_cast<cl_command_queue>(theirs_.queue); }
    OpenCLDevice& device_;
    ForeignMemory theirs_;
};

template <class T>
T asked(const OpenCLDevice& device, cl_mem memory, cl_mem_info what) {
    T value{};
    device.check(api().clGetMemObjectInfo(memory, what, sizeof value, &value, nullptr),
                 "clGetMemObjectInfo");
    return value;
}

}  // namespace

bool OpenCLDevice::is_on_host() const {
    return info_.kind == "cpu" && query<cl_bool>(id_, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
}

cl_mem OpenCLDevice::buffer_over(HostMemory memory) {
    cl_int code = CL_SUCCESS;
    cl_mem made = api().clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                       size(memory.bytes()), memory.data(), &code);
    check(code, "clCreateBuffer");
    auto kept = std::make_unique<HostMemory>(std::move(memory));
    code = api().clSetMemObjectDestructorCallback(made, free_host_memory, kept.get());
    if (code == CL_SUCCESS)
        static_cast<void>(kept.release());  // the callback's
    else
        release(made);
    check(code, "clSetMemObjectDestructorCallback");
    return made;
}

bool OpenCLDevice::is_coherent() {
    std::call_once(coherence_asked_, [this] {
        is_coherent_ =
            is_on_host() && query<cl_device_svm_capabilities>(id_, CL_DEVICE_SVM_CAPABILITIES) &
                                CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    });
    return is_coherent_;
}

Memory OpenCLDevice::allocate(std::int64_t bytes) {
    constexpr std::int64_t small = 64 << 10;  // its values are read one by one, maybe
    const std::int64_t rounded = buffer_bytes(bytes);
    HostMemory memory = rounded >= HostMemory::huge_from && is_on_host() ? HostMemory::map(rounded)
                        : rounded <= small && is_coherent()
                            ? HostMemory::allocate_shared(context(), rounded)
                            : HostMemory::none();
    const char* address = memory.data();
    cl_mem made = nullptr;
    if (address) {
        made = buffer_over(std::move(memory));
    } else {
        cl_int code = CL_SUCCESS;
        made = api().clCreateBuffer(context(), CL_MEM_READ_WRITE, size(rounded), nullptr, &code);
        check(code, "clCreateBuffer");
    }
    if (address && is_coherent()) {
        std::lock_guard lock(shared_mutex_);
        addresses_[handle(made)] = address;
    }
    return {handle(made), bytes};
}

void OpenCLDevice::free(Memory memory) noexcept {
    if (!memory.handle) return;
    {
        std::lock_guard lock(shared_mutex_);
        addresses_.erase(memory.handle);
    }
    // The driver keeps the buffer until the commands that use it are done.
    release(buffer(memory));
}

const char* OpenCLDevice::address_of(Memory memory) {
    std::lock_guard lock(shared_mutex_);
    const auto found = addresses_.find(memory.handle);
    return found == addresses_.end() ? nullptr : found->second;
}

std::optional<SharedBytes> OpenCLDevice::take_shared(std::int64_t bytes) {
    if (!is_coherent()) return std::nullopt;
    std::int64_t rounded = 64;
    while (rounded < bytes) rounded *= 2;
    {
        std::lock_guard lock(shared_mutex_);
        std::vector<SharedBytes>& kept = shared_[rounded];
        if (!kept.empty()) {
            const SharedBytes found = kept.back();
            kept.pop_back();
            return found;
        }
    }
    HostMemory memory = HostMemory::allocate_shared(context(), rounded);
    if (!memory.data()) return std::nullopt;
    char* host = memory.data();
    return SharedBytes{buffer_over(std::move(memory)), host, rounded};
}

void OpenCLDevice::give_back(SharedBytes shared) noexcept {
    std::lock_guard lock(shared_mutex_);
    shared_[shared.bytes].push_back(shared);
}

std::unique_ptr<MemoryBlock> OpenCLDevice::make_block(MemoryKind kind, std::int64_t bytes) {
    const std::int64_t rounded = buffer_bytes(bytes);
    if (kind == MemoryKind::Pinned) {
        open();
        return std::make_unique<PinnedBlock>(*this, context_, rounded);
    }
    const auto can = query<cl_device_svm_capabilities>(id_, CL_DEVICE_SVM_CAPABILITIES);
    HostMemory memory = can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                            ? HostMemory::allocate_shared(context(), rounded)
                        : is_on_host() ? HostMemory::map(rounded)
                                       : HostMemory::none();
    if (!memory.data()) {
        fail(ErrorKind::Device,
             "device '" + info_.name +
                 "' has no memory that the host can use too, as fine-grained shared virtual memory "
                 "of OpenCL 2 is; use memory=\"device\", and copy by .to_device(\"cpu\")");
    }
    char* data = memory.data();
    return std::make_unique<Block>(*this, kind, buffer_over(std::move(memory)), rounded, data);
}

std::unique_ptr<MemoryBlock> OpenCLDevice::adopt_block(ForeignMemory theirs) {
    auto* made = static_cast<cl_mem>(theirs.buffer);
    std::int64_t bytes = theirs.bytes;
    if (!made) {
        cl_int code = CL_SUCCESS;
        made = api().clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size(bytes),
                                    theirs.address, &code);
        check(code, "clCreateBuffer");
    } else if (asked<cl_context>(*this, made, CL_MEM_CONTEXT) != context()) {
        fail(ErrorKind::Device, "device '" + info_.name +
                                    "': the buffer belongs to another context; make it in that of "
                                    "unisono.opencl.context(device)");
    } else {
        bytes = static_cast<std::int64_t>(asked<std::size_t>(*this, made, CL_MEM_SIZE));
        check(api().clRetainMemObject(made), "clRetainMemObject");
    }
    return std::make_unique<ForeignBlock>(*this, std::move(theirs), made, bytes);
}

}  // namespace unisono::opencl
