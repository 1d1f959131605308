// Memory, copies and parts of an OpenCL device.
#include "backends/opencl/device.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/c_source/opencl_c.h"
#include "backends/opencl/executable.h"
#include "backends/opencl/query.h"
#include "backends/proven_executable.h"
#include "core/error.h"
#include "core/settings.h"
#include "passes/lower.h"

namespace unisono::opencl {

namespace {

cl_mem buffer(Memory m) { return reinterpret_cast<cl_mem>(m.handle); }
std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

OpenCLDevice::OpenCLDevice(cl_device_id id, cl_platform_id platform, DeviceInfo info)
    : id_(id),
      platform_(platform),
      info_(std::move(info)),
      shares_memory_(info_.kind == "cpu" && query<cl_bool>(id_, CL_DEVICE_HOST_UNIFIED_MEMORY)),
      cache_bytes_(
          static_cast<std::int64_t>(query<cl_ulong>(id_, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE))) {}

void OpenCLDevice::open() {
    require_usable();
    std::call_once(opened_, [this] {
        cl_int code = CL_SUCCESS;
        const cl_context_properties properties[] = {
            CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform_), 0};
        context_ = api().clCreateContext(properties, 1, &id_, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        queue_ = open_queue({});
    });
}

std::unique_ptr<OpenCLQueue> OpenCLDevice::open_queue(const QueueOptions& options) {
    cl_command_queue_properties properties = 0;
    if (options.profiling) properties |= CL_QUEUE_PROFILING_ENABLE;
    if (!options.in_order) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    cl_int code = CL_SUCCESS;
    cl_command_queue made = api().clCreateCommandQueue(context_, id_, properties, &code);
    if (!options.in_order && code == CL_INVALID_QUEUE_PROPERTIES) {
        fail(ErrorKind::Device,
             "Queue: device '" + info_.name + "' has no queues out of order; use order=\"in\"");
    }
    check(code, "clCreateCommandQueue");
    return std::make_unique<OpenCLQueue>(*this, made, options);
}

cl_context OpenCLDevice::context() {
    open();
    return context_;
}
OpenCLQueue* OpenCLDevice::own_queue() {
    open();
    return queue_.get();
}
Queue* OpenCLDevice::copy_queue() {
    open();
    std::call_once(copies_opened_, [this] { copies_ = open_queue({}); });
    return copies_.get();
}
Queue& OpenCLDevice::make_queue(const QueueOptions& options) {
    open();
    return *open_queue(options).release();  // for good: completions name it
}

std::int64_t OpenCLDevice::buffer_bytes(std::int64_t bytes) const {
    // Whole words, because atomics on bytes use the word around them; never empty, because a buffer
    // cannot be.
    const std::int64_t rounded = std::max<std::int64_t>(8, (bytes + 7) / 8 * 8);
    const auto limit =
        static_cast<std::int64_t>(query<cl_ulong>(id_, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    if (limit > 0 && rounded > limit) {
        fail(ErrorKind::Memory,
             "device '" + info_.name + "': an array is too large; got " + std::to_string(bytes) +
                 " bytes; expected at most " + std::to_string(limit) +
                 " for one array on this device; use smaller arrays or another device");
    }
    return rounded;
}

void OpenCLDevice::release(cl_mem buffer) noexcept {
    if (!is_usable()) return;
    released_.fetch_add(1, std::memory_order_release);
    api().clReleaseMemObject(buffer);
}

void OpenCLDevice::copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) {
    if (bytes == 0) return;
    OpenCLQueue& q = here();
    q.submit("clEnqueueWriteBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueWriteBuffer(q.handle(), buffer(to), CL_TRUE, size(offset),
                                          size(bytes), from, n, after, event);
    });
}

void OpenCLDevice::start_copy_in(Memory to, const void* from, std::int64_t bytes) {
    OpenCLQueue& q = here();
    q.submit("clEnqueueWriteBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueWriteBuffer(q.handle(), buffer(to), CL_FALSE, 0, size(bytes), from, n,
                                          after, event);
    });
}

/// A command would go through a thread of the driver and back, which takes longer than a small
/// kernel.
void OpenCLDevice::copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) return;
    OpenCLQueue& q = here();
    if (const char* address = address_of(from)) {
        q.wait_here();
        std::memcpy(to, address + offset, size(bytes));
        return;
    }
    q.submit("clEnqueueReadBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueReadBuffer(q.handle(), buffer(from), CL_TRUE, size(offset),
                                         size(bytes), to, n, after, event);
    });
}

void OpenCLDevice::start_copy_out(void* to, Memory from, std::int64_t bytes) {
    OpenCLQueue& q = here();
    q.submit("clEnqueueReadBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueReadBuffer(q.handle(), buffer(from), CL_FALSE, 0, size(bytes), to, n,
                                         after, event);
    });
}

void OpenCLDevice::copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
                        std::int64_t bytes) {
    if (bytes == 0) return;
    bool overlaps = to.handle == from.handle && to_offset < from_offset + bytes &&
                    from_offset < to_offset + bytes;
    if (overlaps && to_offset == from_offset) return;
    if (overlaps) {
        // OpenCL refuses this; a second buffer takes the data on its way.
        Memory between = allocate(bytes);
        try {
            copy(between, 0, from, from_offset, bytes);
            copy(to, to_offset, between, 0, bytes);
        } catch (...) {
            free(between);
            throw;
        }
        free(between);
        return;
    }
    OpenCLQueue& q = here();
    q.submit("clEnqueueCopyBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        return api().clEnqueueCopyBuffer(q.handle(), buffer(from), buffer(to), size(from_offset),
                                         size(to_offset), size(bytes), n, after, event);
    });
}

void* OpenCLDevice::map(Memory memory) {
    void* address = nullptr;
    OpenCLQueue& q = here();
    q.submit("clEnqueueMapBuffer", [&](cl_uint n, const cl_event* after, cl_event* event) {
        cl_int code = CL_SUCCESS;
        address = api().clEnqueueMapBuffer(q.handle(), buffer(memory), CL_TRUE,
                                           CL_MAP_READ | CL_MAP_WRITE, 0, size(memory.bytes), n,
                                           after, event, &code);
        return code;
    });
    return address;
}

void OpenCLDevice::unmap(Memory memory, void* address) noexcept {
    try {
        OpenCLQueue& q = here();
        q.submit("clEnqueueUnmapMemObject", [&](cl_uint n, const cl_event* after, cl_event* event) {
            return api().clEnqueueUnmapMemObject(q.handle(), buffer(memory), address, n, after,
                                                 event);
        });
    } catch (const Error& error) {
        debug_log(error.what());  // the device is lost, which the next command will say
    }
}

std::vector<Device*> OpenCLDevice::divided(std::span<const int> units) {
    std::vector<cl_device_partition_property> wanted{CL_DEVICE_PARTITION_BY_COUNTS};
    wanted.insert(wanted.end(), units.begin(), units.end());
    wanted.insert(wanted.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
    std::vector<cl_device_id> ids(units.size());
    check(api().clCreateSubDevices(id_, wanted.data(), static_cast<cl_uint>(ids.size()), ids.data(),
                                   nullptr),
          "clCreateSubDevices");
    std::vector<Device*> made;
    for (cl_device_id id : ids) {
        DeviceInfo info = describe(id);
        info.name = info_.name + "." + std::to_string(parts_++);
        made.push_back(new OpenCLDevice(id, platform_, std::move(info)));  // for good, as all are
    }
    return made;
}

void OpenCLDevice::synchronize() {
    if (queue_) check(api().clFinish(queue_->handle()), "clFinish");
}

std::unique_ptr<Executable> OpenCLDevice::compile(ir::Module module,
                                                  const CompileOptions& options) {
    passes::Target target;
    target.kind = passes::TargetKind::Device;
    if (info_.kind == "cpu") target.run_length = 128;
    target.has_float64 = info_.has_float64;
    std::shared_ptr<ProvenKernel> proven;
    if (module.entry().is_kernel) proven = std::make_shared<ProvenKernel>(module);
    const auto host = passes::lower(module, target);
    if (proven && (host || module.noted || !proven->lower(target))) proven = nullptr;
    c_source::Program program = write(module, host && host->has_loops, false);
    auto checked = std::make_unique<OpenCLExecutable>(
        *this, std::move(module), host, std::move(program), options,
        OpenCLExecutable::Version{.builds_late = proven != nullptr});
    if (!proven) return checked;
    const auto make = [this, proven, options](bool fills_groups) -> std::unique_ptr<Executable> {
        ir::Module copy;
        ir::append(copy, proven->module);
        c_source::Program text = write(copy, false, fills_groups);
        return std::make_unique<OpenCLExecutable>(
            *this, std::move(copy), nullptr, std::move(text), options,
            OpenCLExecutable::Version{.builds_late = false, .fills_groups = fills_groups});
    };
    const auto fills = [known = checked.get()](const LaunchArgs& args) {
        return known->fills_groups(args);
    };
    return std::make_unique<ProvenExecutable>(std::move(checked), proven, make, fills);
}

c_source::Program OpenCLDevice::write(const ir::Module& module, bool relaunches,
                                      bool fills_groups) const {
    c_source::Program program = c_source::write_opencl_c(
        module, {info_.name, info_.has_float64, info_.has_int64_atomics}, relaunches, fills_groups);
    if (debug_level() >= 4) debug_log("OpenCL C for " + info_.name + "\n" + program.source);
    return program;
}

}  // namespace unisono::opencl
